"""The dialects of OpenAI's protocol, and which to try when a server refuses a setting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from hvr.models.model import Request
from hvr.models.schema import with_instruction


@dataclass(frozen=True)
class Dialect:
    """The settings that a server accepts, as far as they are known.

    Args:
        limit: the name of the limit of the answer's length.
        form: how JSON is asked for: by schema, as any object with the schema in words, or in
            words only.
        temperature: a temperature is accepted.
        seed: a seed is accepted.
        stop: texts that end the answer are accepted; else the answer is cut here.
    """

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    form: Literal["json_schema", "json_object", "words"] = "json_schema"
    temperature: bool = True
    seed: bool = True
    stop: bool = True

    def cut(self, text: str, stop: tuple[str, ...]) -> str:
        """Return the text up to the first of some texts, where the server did not cut it."""
        if self.stop:
            return text
        ends = [at for s in stop if s and (at := text.find(s)) >= 0]
        return text[: min(ends)] if ends else text


def arguments(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Return the arguments of `chat.completions.create` for a request."""
    messages = request.messages if dialect.form == "json_schema" else with_instruction(request)
    given: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.text} for m in messages],
        dialect.limit: request.max_tokens,
    }
    if dialect.temperature:
        given["temperature"] = request.temperature
    if dialect.seed and request.seed is not None:
        given["seed"] = request.seed
    if dialect.stop and request.stop:
        given["stop"] = list(request.stop)
    if request.schema is not None and dialect.form != "words":
        form: dict[str, Any] = {"type": dialect.form}
        if dialect.form == "json_schema":
            form["json_schema"] = {"name": "answer", "schema": dict(request.schema)}
        given["response_format"] = form
    return given


def other(dialect: Dialect, complaint: str, request: Request) -> Dialect | None:
    """Return the dialect to try after a refusal; None if the refusal is about something else.

    Every step leaves something out or goes from the first spelling to the second, so this
    comes to an end.

    Args:
        dialect: what was refused.
        complaint: what the server says.
        request: what was asked.
    """
    text = complaint.lower()
    return next((d for words, d in _steps(dialect, request) if any(w in text for w in words)), None)


def _steps(dialect: Dialect, request: Request) -> Iterator[tuple[tuple[str, ...], Dialect]]:
    if request.schema is not None and dialect.form == "json_schema":
        words = ("response_format", "json_schema", "guided", "schema")
        yield words, replace(dialect, form="json_object")
    if request.schema is not None and dialect.form == "json_object":
        yield ("response_format", "json_object", "json_schema"), replace(dialect, form="words")
    if dialect.limit == "max_tokens":
        yield _REFUSED_LIMIT, replace(dialect, limit="max_completion_tokens")
    if dialect.temperature:
        yield ("temperature",), replace(dialect, temperature=False)
    if dialect.seed and request.seed is not None:
        yield ("seed",), replace(dialect, seed=False)
    if dialect.stop and request.stop:
        yield ("'stop'", "`stop`", '"stop"', "stop "), replace(dialect, stop=False)


_REFUSED_LIMIT = ("max_completion_tokens", "'max_tokens'", "`max_tokens`", '"max_tokens"')

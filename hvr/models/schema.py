"""Answers that must be JSON and satisfy a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hvr.base.extras import load
from hvr.base.texts import check_value, parse_json
from hvr.errors import UsageError
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, Request

_FENCE = re.compile(r"```[A-Za-z0-9_-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_SHOWN = 120
_READ = 200_000
"""Characters of an answer in which JSON is looked for."""
# Chat in front of the JSON may hold many brackets; each costs an attempt to read from there.
_STARTS = 200


def checked(answer: Answer, request: Request) -> Answer:
    """Return an answer that can be used: with text, and with `data` when a schema was asked for.

    Raises:
        ModelError: of kind `empty` or `schema`, with the usage of the answer.
    """
    if not answer.text.strip():
        limit = (
            f": all {request.max_tokens} tokens went elsewhere, raise max_tokens"
            if answer.finish == "length"
            else ""
        )
        name = f"{answer.model}: " if answer.model else ""
        raise ModelError(
            f"{name}the model's answer is empty{limit}", kind="empty", usage=answer.usage
        )
    if request.schema is None:
        return answer
    try:
        return replace(answer, data=find_json(answer.text, request.schema))
    except ValueError as error:
        cut = (
            f" (it was cut off at max_tokens = {request.max_tokens})"
            if answer.finish == "length"
            else ""
        )
        raise ModelError(
            f"the model's answer is not the JSON that was asked for: {error}{cut}; "
            f"it begins with {_begin(answer.text)}",
            kind="schema",
            usage=answer.usage,
        ) from None


def find_json(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the first value in a text that satisfies a schema; code fences and chat may be around
    it.

    Raises:
        ValueError: there is none; the message says what is wrong with the best candidate.
        UsageError: the schema itself is no JSON schema.
        MissingExtraError: the package jsonschema is not installed.
    """
    validator = _validator(schema)
    complaint = "there is no complete JSON value in it"
    for value in _values(text[:_READ]):
        # The outermost error: what is wrong inside follows from it, or is reported next time.
        problem = min(validator.iter_errors(value), key=_depth, default=None)
        if problem is None:
            return value
        if complaint.startswith("there is"):  # of several values the first is likeliest meant
            where = "/".join(map(str, problem.absolute_path))
            complaint = (
                f"{'at ' + where + ': ' if where else ''}{_begin(problem.message, quote='')}"
            )
    raise ValueError(complaint)


def instruction(schema: Mapping[str, Any]) -> str:
    """Return the instruction for a model whose server takes no schema."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer only with JSON that satisfies this JSON schema, without any other text:\n{text}"


def with_instruction(request: Request) -> tuple[Message, ...]:
    """Return the messages of a request, the last one with the schema in words."""
    if request.schema is None:
        return request.messages
    *before, last = request.messages
    return (*before, Message(last.role, f"{last.text}\n\n{instruction(request.schema)}"))


def _validator(schema: Mapping[str, Any]) -> Any:
    jsonschema = load("jsonschema", "jsonschema", "llm")
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise UsageError(f"the schema of the request is no JSON schema: {error.message}") from None
    return jsonschema.Draft202012Validator(schema)


def _values(text: str) -> Iterator[Any]:
    """Yield JSON values in a text: all of it, then fenced parts, then from each bracket on."""
    for part in (text, *_FENCE.findall(text)):
        try:
            value = parse_json(part, strict=False)
        except ValueError:
            continue
        yield value
    decoder = json.JSONDecoder()
    position = tries = 0
    while tries < _STARTS and (bracket := re.compile(r"[{\[]").search(text, position)):
        tries += 1
        try:
            value, position = decoder.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            position = bracket.start() + 1
            continue
        try:
            check_value(value, strict=False)
        except ValueError:
            continue
        yield value


def _depth(problem: Any) -> int:
    return len(problem.absolute_path)


def _begin(text: str, quote: str = "'") -> str:
    short = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return repr(short) if quote else " ".join(short.split())

"""Replies of models: plain JSON of providers, and answers that must satisfy a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvr.base.extras import load
from hvr.base.texts import check_value, parse_json
from hvr.errors import UsageError
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, Request

# Replies ------------------------------------------------------------------------------------------
# Replies of providers as plain JSON, and the complaints in them.
#
# Providers, and what stands in front of them, report errors in many shapes, and not always with a
# status of HTTP that says so.

_MESSAGES = ("message", "msg", "detail", "error_description", "error_message", "description")
_CODES = ("code", "type", "status", "reason", "error_code", "err_code", "errorType", "status_code")
_INNER = ("error", "errors", "innererror", "inner_error", "details", "metadata")
_FAILED = ("error", "failed", "failure")
# What lies deeper tells nothing more; what comes first counts.
_DEPTH = 5
_MOST = 5


@dataclass(frozen=True)
class Complaint:
    """What a server says is wrong.

    Args:
        message: in words; may be empty.
        codes: its codes, types and states, as they come.
    """

    message: str
    codes: tuple[str, ...] = ()


def json_at(value: Any, *path: str | int) -> Any:
    """Return what is at a place of a JSON value; None when there is no such place."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def complaint_of(error: Any) -> Complaint:
    """Return what an error says, whatever its shape: text, object, list, one in the other."""
    messages: list[str] = []
    codes: list[str] = []
    for part in _parts(error, _DEPTH):
        if isinstance(part, str):
            messages.append(part)
            continue
        messages += [m for n in _MESSAGES if isinstance(m := part.get(n), str) and m.strip()]
        found = (part.get(name) for name in _CODES)
        codes += [str(c) for c in found if isinstance(c, str | int) and c != ""]
    return Complaint(messages[0] if messages else "", tuple(dict.fromkeys(codes)))


def complaint_in(body: Any) -> Complaint | None:
    """Return what a reply without an answer complains of; None when it does not complain."""
    for part in body[:_MOST] if isinstance(body, list) else [body]:
        if isinstance(part, Mapping):
            failed = part.get("success") is False or any(
                part.get(name) in _FAILED for name in ("object", "type", "status")
            )
            spoken = any(isinstance(part.get(name), str) for name in _MESSAGES)
            if part.get("error") or part.get("errors") or failed or spoken:
                return complaint_of(part)
    return None


def _parts(error: Any, depth: int) -> Iterator[Mapping[str, Any] | str]:
    """Yield the texts and objects of an error, the outer ones first."""
    if isinstance(error, str) and error.strip():
        yield error
    elif isinstance(error, list) and depth:
        for item in error[:_MOST]:
            yield from _parts(item, depth - 1)
    elif isinstance(error, Mapping):
        yield error
        if depth:
            for name in _INNER:
                yield from _parts(error.get(name), depth - 1)


# Schema -------------------------------------------------------------------------------------------
# Answers that must be JSON and satisfy a schema.

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

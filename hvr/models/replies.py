"""Replies of models: providers' error messages, and answers that must satisfy a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.base.registry import load
from hvr.base.texts import check_value, parse_json
from hvr.errors import UsageError
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Message, ModelTool, ModelToolCall, Request

# Replies ------------------------------------------------------------------------------------------
# Providers and the gateways in front of them report errors in many shapes, and not always with a
# matching HTTP status.

_MESSAGES = ("message", "msg", "detail", "error_description", "error_message", "description")
_CODES = ("code", "type", "status", "reason", "error_code", "err_code", "errorType", "status_code")
_INNER = ("error", "errors", "innererror", "inner_error", "details", "metadata")
_FAILED = ("error", "failed", "failure")
# Limit the search: the first messages matter, and deeper ones add nothing.
_DEPTH = 5
_MOST = 5


@dataclass(frozen=True)
class Complaint:
    message: str
    codes: tuple[str, ...] = ()


def json_at(value: Any, *path: str | int) -> Any:
    """Return the value at a path in JSON; None if the path does not exist."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def complaint_of(error: Any) -> Complaint:
    """Return the message and codes of an error, which may be a string, an object or a list."""
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
    """Return the error that a reply reports instead of an answer, if any."""
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


# Schemas ------------------------------------------------------------------------------------------

_FENCE = re.compile(r"```[A-Za-z0-9_-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_SHOWN = 120
_READ = 200_000
"""Maximum number of characters of an answer that are searched for JSON."""
# Prose before the JSON may contain many brackets, each of which costs a parse attempt.
_STARTS = 200


def checked(answer: Answer, request: Request) -> Answer:
    """Return the answer, with its JSON decoded in `data` if the request has a schema.

    An answer with tool calls is returned unchanged.

    Raises:
        ModelError: The answer has no text (kind `empty`) or does not satisfy the schema (`schema`).
    """
    if answer.calls:
        return answer
    if not answer.text.strip():
        limit = (
            f": all {request.max_tokens} tokens were used before any text; raise max_tokens"
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
        schema = request.schema if request.accept is None else request.accept
        return replace(answer, data=find_json(answer.text, schema))
    except ValueError as error:
        cut = (
            f" (it was cut off at max_tokens = {request.max_tokens})"
            if answer.finish == "length"
            else ""
        )
        raise ModelError(
            f"the model's answer is not the requested JSON: {error}{cut}; "
            f"it begins with {_begin(answer.text)}",
            kind="schema",
            usage=answer.usage,
        ) from None


def find_json(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the first JSON value in the text that satisfies a schema; skip code fences and prose.

    Raises:
        ValueError: No value satisfies the schema; the message says why the best candidate fails.
        UsageError: The schema is not a valid JSON schema.
    """
    validator = _validator(schema)
    complaint = ""
    for value in _values(text[:_READ]):
        # Report the outermost error, since inner errors usually follow from it.
        problem = min(validator.iter_errors(value), key=_depth, default=None)
        if problem is None:
            return value
        # the first of several values is the most likely one
        if not complaint:
            where = "/".join(map(str, problem.absolute_path))
            complaint = f"{f'at {where}: ' if where else ''}{_begin(problem.message, quote='')}"
    raise ValueError(complaint or "it contains no complete JSON value")


def satisfies(text: str, schema: Mapping[str, Any]) -> bool:
    try:
        find_json(text, schema)
    except ValueError:
        return False
    return True


_UNSUPPORTED = frozenset({"maxLength", "minLength", "pattern", "minimum", "maximum"})
"""Keywords that providers do not support in strict schemas."""


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema suits strict mode.

    That is, it describes an object, and every object in it requires all its properties and permits
    no others.
    """
    if schema.get("type") != "object":
        return False
    parts: list[Any] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += part
        elif isinstance(part, Mapping):
            properties = part.get("properties")
            if part.get("type") == "object" and isinstance(properties, Mapping):
                exact = part.get("additionalProperties") is False
                if not exact or set(part.get("required", ())) != set(properties):
                    return False
            parts += part.values()
    return True


def strict_schema(schema: Any) -> Any:
    """Return a schema without the keywords that providers' strict mode does not support."""
    if isinstance(schema, list):
        return [strict_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {k: v for k, v in schema.items() if k not in _UNSUPPORTED}
    # Properties and definitions may have any name, including a keyword's.
    return {
        k: {name: strict_schema(part) for name, part in v.items()}
        if k in ("properties", "$defs") and isinstance(v, Mapping)
        else strict_schema(v)
        for k, v in kept.items()
    }


def cut_at(text: str, stop: Iterable[str]) -> str:
    ends = [at for s in stop if s and (at := text.find(s)) >= 0]
    return text[: min(ends, default=None)]


def arguments_of(value: Any) -> dict[str, Any]:
    """Return the arguments of a tool call, sent as an object or as JSON text; empty if invalid."""
    if isinstance(value, str):
        try:
            value = parse_json(value, strict=False)
        except ValueError:
            return {}
    return dict(value) if isinstance(value, Mapping) else {}


def instruction(schema: Mapping[str, Any]) -> str:
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer only with JSON that satisfies this JSON schema, without any other text:\n{text}"


def with_instruction(request: Request) -> tuple[Message, ...]:
    if request.schema is None:
        return request.messages
    *before, last = request.messages
    return (*before, Message(last.role, f"{last.text}\n\n{instruction(request.schema)}"))


def _validator(schema: Mapping[str, Any]) -> Any:
    jsonschema = load("jsonschema", "jsonschema", "llm")
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise UsageError(
            f"the schema of the request is not a valid JSON schema: {error.message}"
        ) from None
    return jsonschema.Draft202012Validator(schema)


def _values(text: str) -> Iterator[Any]:
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


# Tool calls ---------------------------------------------------------------------------------------
# For models without tool calls, hvr asks for the call as JSON that follows a schema.

TOOL = "tool"
"""Key of the tool's name in the JSON answer."""


def without_tools(request: Request) -> Request:
    """Return a request for the tool call as JSON: `{"tool": "look", "names": ["mug-1"]}`.

    A request without tools is returned unchanged.
    """
    if not request.tools:
        return request
    messages = [_plain(message) for message in request.messages]
    lines = [f"{tool.name}: {tool.description}" for tool in request.tools]
    text = "\n".join(["You act by calling tools, one in each answer:", *lines])
    if messages and messages[0].role == "system":
        messages[0] = replace(messages[0], text=f"{messages[0].text}\n\n{text}")
    else:
        messages.insert(0, Message("system", text))
    schema = {"anyOf": [_call_schema(tool) for tool in request.tools]}
    merged = tuple(_merged(messages))
    return replace(request, messages=merged, tools=(), schema=schema, accept=_ANY_CALL)


def with_calls(answer: Answer, data: Any) -> Answer:
    """Convert the JSON answer to a request from `without_tools` into a tool call."""
    arguments = {key: value for key, value in data.items() if key != TOOL}
    return replace(answer, text="", calls=(ModelToolCall("call", str(data[TOOL]), arguments),))


_ANY_CALL: Mapping[str, Any] = {
    "type": "object",
    "properties": {TOOL: {"type": "string"}},
    "required": [TOOL],
}


def _call_schema(tool: ModelTool) -> dict[str, Any]:
    parameters = tool.parameters
    return {
        "type": "object",
        "properties": {
            TOOL: {"type": "string", "enum": [tool.name]},
            **parameters.get("properties", {}),
        },
        "required": [TOOL, *parameters.get("required", ())],
        "additionalProperties": False,
    }


def _plain(message: Message) -> Message:
    if message.role == "tool":
        return Message("user", f"Result:\n{message.text}")
    if message.calls:
        calls = [json.dumps({TOOL: c.name, **c.arguments}) for c in message.calls]
        return Message("assistant", "\n".join(calls))
    return message


def _merged(messages: Sequence[Message]) -> list[Message]:
    """Merge adjacent turns of one role, since some chat templates require roles to alternate."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            text = f"{joined[-1].text}\n\n{message.text}"
            joined[-1] = replace(joined[-1], text=text)
        else:
            joined.append(message)
    return joined

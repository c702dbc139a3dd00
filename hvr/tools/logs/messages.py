"""Messages in agents' logs, the events they contain, and calls written as Python code."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvr.tools.tool_plans import LoggedCall

# Events -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UserMessage:
    text: str


@dataclass(frozen=True)
class CallEvent:
    """A tool call in a log.

    Args:
        arguments: JSON values by parameter; None if the log does not contain them.
        unnamed: Positional arguments.
        key: Identifier that the result repeats; empty if the format has none.
    """

    tool: str
    arguments: Mapping[str, Any] | None = None
    unnamed: tuple[Any, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class ResultEvent:
    """The result of a call.

    Args:
        key: Identifier of the call; empty if the format has no identifiers.
        tool: Name of the tool, for formats without identifiers; empty if the result belongs to the
            earliest open call.
        failed: Whether the log marks the result as an error.
    """

    value: Any
    key: str = ""
    tool: str = ""
    failed: bool = False


@dataclass(frozen=True)
class SkippedPart:
    what: str


@dataclass(frozen=True)
class Format:
    """Marks that the log format of the following events is `name`."""

    name: str


Event = UserMessage | CallEvent | ResultEvent | SkippedPart | Format


@dataclass(frozen=True)
class Trace:
    """The user's messages and the calls in a log; `skipped` counts skipped parts by kind."""

    said: tuple[str, ...]
    calls: tuple[LoggedCall, ...]
    formats: tuple[str, ...]
    skipped: tuple[str, ...]


def trace(events: Iterable[Event]) -> Trace:
    said: list[str] = []
    calls: list[LoggedCall] = []
    keys: list[str] = []
    formats: dict[str, None] = {}
    skipped: Counter[str] = Counter()
    for event in events:
        match event:
            case UserMessage(text):
                # Some frameworks repeat the request at the start of the messages.
                if text and (not said or text != said[-1]):
                    said.append(text)
            case CallEvent(tool, arguments, unnamed, key):
                calls.append(LoggedCall(tool, arguments, unnamed, turn=len(said)))
                keys.append(key)
            case ResultEvent():
                place = _answered(event, calls, keys)
                if place is None:
                    skipped["result without a call"] += 1
                else:
                    failed = event.failed or reports_error(event.value)
                    calls[place] = replace(
                        calls[place], result=event.value, returned=True, failed=failed
                    )
            case SkippedPart(what):
                skipped[what] += 1
            case Format(name):
                formats[name] = None
    counted = tuple(f"{what} ({count})" if count > 1 else what for what, count in skipped.items())
    return Trace(tuple(said), tuple(calls), tuple(formats), counted)


def reports_error(value: Any) -> bool:
    """Return whether a result looks like an error.

    Errors are objects with an `error` and at most one other key, and strings that begin with
    "error".
    """
    if isinstance(value, dict):
        return any(value.get(k) for k in ("error", "Error")) and len(value) <= _ERROR_KEYS
    return isinstance(value, str) and value.lstrip().lower().startswith(("error:", "error "))


_ERROR_KEYS = 2
"""Maximum size of an error object: the error and at most a code."""


def _answered(event: ResultEvent, calls: list[LoggedCall], keys: list[str]) -> int | None:
    waiting = [at for at, call in enumerate(calls) if not call.returned]
    same_key = [at for at in waiting if event.key and keys[at] == event.key]
    same_tool = [at for at in waiting if not event.tool or event.tool == calls[at].tool]
    return next(iter(same_key or same_tool), None)


# Call text ----------------------------------------------------------------------------------------
# Calls written as Python text: BFCL's `[f(a=1), g(b="x")]`, and the programs of code agents. The
# text is parsed, never executed; arguments other than literals stay unknown.

_JSON_WORDS = {"true": True, "false": False, "null": None}
FENCE = re.compile(r"^\s*```\w*\n|\n```\s*$")
_BUILTINS = frozenset(dir(builtins))


def calls_in_text(text: str) -> tuple[CallEvent, ...] | None:
    """Return the calls in text that consists only of calls; None for any other text.

    Several calls are in square brackets, or separated by line breaks or semicolons.
    """
    parsed = _parsed(FENCE.sub("", text).strip())
    if parsed is None:
        return None
    found: list[CallEvent] = []
    for statement in parsed.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for part in parts:
            if not isinstance(part, ast.Call) or not _name(part.func):
                return None
            found.append(_called(part))
    return tuple(found)


def calls_in_code(code: str) -> tuple[CallEvent, ...] | None:
    """Return the tool calls in Python code, in textual order; None if it is not valid Python.

    Calls of methods, of built-in functions, and of functions that the code itself defines or
    imports are not tool calls.
    """
    parsed = _parsed(FENCE.sub("", code))
    if parsed is None:
        return None
    own = set(_BUILTINS)
    for node in ast.walk(parsed):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return tuple(
        _called(node)
        for node in _in_order(parsed)
        if isinstance(node.func, ast.Name) and node.func.id not in own
    )


def _in_order(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
    if isinstance(node, ast.Call):
        yield node


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _name(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""


def _called(call: ast.Call) -> CallEvent:
    values = [*call.args, *(k.value for k in call.keywords)]
    known, literals = True, []
    for value in values:
        try:
            literals.append(_literal(value))
        except (ValueError, TypeError, RecursionError):
            known = False
    if not known or any(k.arg is None for k in call.keywords):
        return CallEvent(_name(call.func))
    count = len(call.args)
    named = {k.arg: v for k, v in zip(call.keywords, literals[count:], strict=True) if k.arg}
    return CallEvent(_name(call.func), named, tuple(literals[:count]))


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Name) and node.id in _JSON_WORDS:
        return _JSON_WORDS[node.id]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_literal(e) for e in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_literal(k)): _literal(v)
            for k, v in zip(node.keys, node.values, strict=True)
            if k is not None
        }
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError("not a JSON value")
    return value


# Messages -----------------------------------------------------------------------------------------

Record = Mapping[str, Any]

OPENAI = "OpenAI messages"
ANTHROPIC = "Anthropic messages"
GEMINI = "Gemini contents"
LANGCHAIN = "LangChain messages"
VERCEL = "AI SDK messages"

_NAMES = {
    "user": "user human humanmessage humanmessagechunk",
    "assistant": "assistant ai aimessage aimessagechunk gpt model bot tool-call",
    "tool": "tool function toolmessage functionmessage ipython observation tool-response "
    "tool_response",
    "system": "system developer systemmessage",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
"""The names that frameworks give the four roles."""

_BODIES = ("content", "value", "parts", "data", "tool_calls", "function_call", "tool_messages")
_HERMES = "<tool_call>", "</tool_call>"
_REACT = "\nAction:", "\nAction Input:", "\nObservation"
_OBSERVATION_PREFIX = "Observation:"
"""Start of a user message that reports a result in ReAct prompts."""


def role_of(value: Record) -> str | None:
    """Return a message's role (user, assistant, tool or system), or None for any other record."""
    for key in ("role", "from", "type"):
        name = value.get(key)
        if isinstance(name, str) and name.lower() in _ROLES:
            return _ROLES[name.lower()] if any(body in value for body in _BODIES) else None
    return None


def decoded(text: Any) -> Any:
    """Decode a string that is JSON or a Python list or dict; return any other value unchanged."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = ast.literal_eval(text.strip())
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value


def arguments_of(given: Any) -> tuple[Mapping[str, Any] | None, tuple[Any, ...]]:
    """Return the named and the positional arguments of a call.

    A value that is not an object is a single positional argument; the named arguments are then
    None.
    """
    value = decoded(given)
    if value is None or value == "":
        return {}, ()
    if isinstance(value, dict):
        return value, ()
    return None, (value,)


def called(name: Any, given: Any, key: Any = "") -> Iterator[Event]:
    if not isinstance(name, str) or not name:
        yield SkippedPart("call without a name")
        return
    arguments, unnamed = arguments_of(given)
    yield CallEvent(name, arguments, unnamed, key if isinstance(key, str) else "")


def message(value: Record) -> Iterator[Event]:
    role = role_of(value)
    inner = value.get("data")
    if isinstance(inner, dict) and "role" not in value:
        yield Format(LANGCHAIN)
        value = inner
    elif "role" not in value and "from" not in value and "type" in value:
        yield Format(LANGCHAIN)
    if role == "system":
        yield SkippedPart("system message")
    elif role == "assistant":
        yield from _assistant(value)
    elif role == "tool":
        yield from _tool(value)
    else:
        yield from _user(value)


def _content(value: Record) -> Any:
    for key in ("content", "parts", "value"):
        if value.get(key) is not None:
            return value[key]
    return None


def _blocks(value: Record) -> list[Record]:
    content = _content(value)
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def text_of(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return " ".join(text for text in texts if isinstance(text, str))


def _user(value: Record) -> Iterator[Event]:
    for part in _blocks(value):
        if is_block(part):
            yield from block(part)
        elif "text" not in part:
            yield SkippedPart(f"{part.get('type') or next(iter(part), 'empty')} part")
    text = text_of(_content(value))
    if text.startswith(_OBSERVATION_PREFIX):
        yield ResultEvent(decoded(text.removeprefix(_OBSERVATION_PREFIX).strip()))
    elif text:
        yield UserMessage(text)


def _assistant(value: Record) -> Iterator[Event]:
    extra = value.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    found = list(_listed_calls(value) or _listed_calls(extra))
    blocks = [b for b in _blocks(value) if is_block(b)]
    text = text_of(_content(value))
    repeated = _has_call(found)
    for part in blocks:
        found += [e for e in block(part) if not (repeated and isinstance(e, CallEvent))]
    if not _has_call(found):
        found += _calls_in_prose(text)
    invalid = value.get("invalid_tool_calls")
    found += [SkippedPart("invalid tool call")] * len(invalid if isinstance(invalid, list) else ())
    if text and not _has_call(found):
        found.append(SkippedPart("assistant message"))
    yield from found


def _has_call(found: list[Event]) -> bool:
    return any(isinstance(event, CallEvent) for event in found)


def _listed_calls(value: Record) -> list[Event]:
    listed = value.get("tool_calls")
    older = value.get("function_call")
    found: list[Event] = []
    for call in [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []:
        function = call.get("function", call.get("custom"))
        key = call.get("id", "")
        if isinstance(function, dict):
            given = function.get("arguments", function.get("input"))
            found += [Format(OPENAI), *called(function.get("name"), given, key)]
        else:
            given = call.get("args", call.get("arguments"))
            found += [Format(LANGCHAIN if "args" in call else OPENAI)]
            found += called(call.get("name"), given, key)
    if not _has_call(found) and isinstance(older, dict):
        found += [Format(OPENAI), *called(older.get("name"), older.get("arguments"))]
    return found


def _calls_in_prose(text: str) -> list[Event]:
    found: list[Event] = []
    for call_text in _hermes(text):
        call = decoded(call_text)
        if isinstance(call, dict):
            found += [Format("Hermes tool calls"), *called(call.get("name"), call.get("arguments"))]
    if found:
        return found
    for name, given in _react(text):
        found += [Format("ReAct text"), *called(name, given)]
    if found:
        return found
    listed = text.partition("Calling tools:")[2]
    if listed:
        calls = decoded(listed.strip())
        return _listed_calls({"tool_calls": calls}) if isinstance(calls, list) else []
    if text.strip().startswith("[") and (calls := calls_in_text(text)):
        return [Format("BFCL calls"), *calls]
    return []


def _hermes(text: str) -> Iterator[str]:
    start, end = _HERMES
    begin = text.find(start)
    while begin >= 0 and (stop := text.find(end, begin)) >= 0:
        yield text[begin + len(start) : stop].strip()
        begin = text.find(start, stop)


def _react(text: str) -> Iterator[tuple[str, str]]:
    # Linear in the length of the text.
    action, given, seen = _REACT
    text = f"\n{text}"
    begin = text.find(action)
    while begin >= 0 and (middle := text.find(given, begin)) >= 0:
        name = text[begin + len(action) : middle].strip(" \t")
        stop = text.find(seen, middle + len(given))
        stop = len(text) if stop < 0 else stop
        if name:
            yield name, text[middle + len(given) : stop].strip()
        begin = text.find(action, stop)


def _tool(value: Record) -> Iterator[Event]:
    inner = value.get("tool_messages")
    if isinstance(inner, list):
        for one in inner:
            if isinstance(one, dict):
                yield from _tool(one)
        return
    blocks = [b for b in _blocks(value) if is_block(b)]
    if blocks:
        for part in blocks:
            yield from block(part)
        return
    keys = [value.get(k) for k in ("tool_call_id", "toolCallId", "call_id", "id")]
    key = next((k for k in keys if isinstance(k, str)), "")
    name = value.get("name")
    failed = value.get("status") == "error" or value.get("error") is True
    content = _content(value)
    plain = decoded(text_of(content)) if isinstance(content, list) else decoded(content)
    yield ResultEvent(plain, key, name if isinstance(name, str) else "", failed)


def is_block(part: Record) -> bool:
    kind = part.get("type")
    if isinstance(kind, str) and (
        kind.endswith(("tool_use", "tool_result"))
        or kind in ("tool-call", "tool-result", "tool-invocation", "dynamic-tool")
        or (kind.startswith("tool-") and "toolCallId" in part)
    ):
        return True
    return "role" not in part and any(isinstance(part.get(k), dict) for k in _GEMINI)


_GEMINI = ("functionCall", "function_call", "functionResponse", "function_response")


def block(part: Record) -> Iterator[Event]:
    kind = str(part.get("type") or "")
    if kind.endswith("tool_use"):
        yield Format(ANTHROPIC)
        yield from called(part.get("name"), part.get("input"), part.get("id"))
    elif kind.endswith("tool_result"):
        yield Format(ANTHROPIC)
        content = part.get("content")
        plain = content if isinstance(content, dict) else decoded(text_of(content))
        yield ResultEvent(
            plain, str(part.get("tool_use_id") or ""), "", part.get("is_error") is True
        )
    elif kind.startswith(("tool-", "dynamic-tool")):
        yield Format(VERCEL)
        yield from _vercel(part, kind)
    else:
        yield Format(GEMINI)
        yield from _gemini(part)


def _gemini(part: Record) -> Iterator[Event]:
    for name in _GEMINI:
        held = part.get(name)
        if not isinstance(held, dict):
            continue
        key = held.get("id")
        if name in ("functionCall", "function_call"):
            yield from called(held.get("name"), held.get("args", held.get("arguments")), key)
        else:
            value = held.get("response")
            plain = value
            if isinstance(value, dict) and len(value) == 1 and set(value) <= {"result", "output"}:
                plain = next(iter(value.values()))
            yield ResultEvent(decoded(plain), str(key or ""), str(held.get("name") or ""))


def _vercel(part: Record, kind: str) -> Iterator[Event]:
    inner = part.get("toolInvocation")
    part = inner if isinstance(inner, dict) else part
    key = str(part.get("toolCallId") or "")
    name = part.get("toolName") or kind.removeprefix("tool-")
    if kind != "tool-result":
        yield from called(name, part.get("input", part.get("args")), key)
    result = part.get("output", part.get("result"))
    error = part.get("errorText")
    if isinstance(result, dict) and set(result) == {"type", "value"}:
        error = error or (str(result["type"]).startswith("error") and result["value"])
        result = result["value"]
    if error or result is not None or kind == "tool-result":
        yield ResultEvent(error or result, key, str(name), bool(error))

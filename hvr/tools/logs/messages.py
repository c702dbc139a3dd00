"""Messages with roles, and the blocks or parts that their contents consist of."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.logs.call_text import calls_in_text
from hvr.tools.logs.events import Called, Event, Format, Returned, Said, Skipped

Record = Mapping[str, Any]

OPENAI = "OpenAI messages"
ANTHROPIC = "Anthropic messages"
GEMINI = "Gemini contents"
LANGCHAIN = "LangChain messages"
VERCEL = "AI SDK messages"

_ROLES = {
    "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "gpt": "assistant", "model": "assistant", "bot": "assistant", "tool-call": "assistant",
    "function": "tool", "toolmessage": "tool", "functionmessage": "tool", "ipython": "tool",
    "observation": "tool", "tool-response": "tool", "tool_response": "tool",
    "developer": "system", "systemmessage": "system",
    **{name: name for name in ("user", "assistant", "tool", "system")},
}  # fmt: skip
"""The names that frameworks give the four roles."""

_BODIES = ("content", "value", "parts", "data", "tool_calls", "function_call", "tool_messages")
_HERMES = "<tool_call>", "</tool_call>"
_REACT = "\nAction:", "\nAction Input:", "\nObservation"
_SEEN = "Observation:"
"""ReAct prompts give a result as a message of the user that begins so."""


def role_of(value: Record) -> str | None:
    """Return the role of a message: user, assistant, tool or system; None if it is not one."""
    for key in ("role", "from", "type"):
        name = value.get(key)
        if isinstance(name, str) and name.lower() in _ROLES:
            return _ROLES[name.lower()] if any(body in value for body in _BODIES) else None
    return None


def decoded(text: Any) -> Any:
    """Return the value of a text of JSON, or of a Python literal; other texts as they are."""
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
    """Return arguments by name and by position; None and () if they are unreadable."""
    value = decoded(given)
    if value is None or value == "":
        return {}, ()
    if isinstance(value, dict):
        return value, ()
    return None, (value,)


def called(name: Any, given: Any, key: Any = "") -> Iterator[Event]:
    """Yield a call, or what is wrong with it."""
    if not isinstance(name, str) or not name:
        yield Skipped("call without a name")
        return
    arguments, unnamed = arguments_of(given)
    yield Called(name, arguments, unnamed, key if isinstance(key, str) else "")


def message(value: Record) -> Iterator[Event]:
    """Yield the events of a message."""
    role = role_of(value)
    inner = value.get("data")
    if isinstance(inner, dict) and "role" not in value:
        yield Format(LANGCHAIN)
        value = inner
    elif "role" not in value and "from" not in value and "type" in value:
        yield Format(LANGCHAIN)
    if role == "system":
        yield Skipped("system message")
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
    """Return the text of a content, which is a text or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return " ".join(text for text in texts if isinstance(text, str))


def _user(value: Record) -> Iterator[Event]:
    for part in _blocks(value):
        if is_block(part):
            yield from block(part)
        elif "text" not in part:
            yield Skipped(f"{part.get('type') or next(iter(part), 'empty')} part")
    text = text_of(_content(value))
    if text.startswith(_SEEN):
        yield Returned(decoded(text.removeprefix(_SEEN).strip()))
    elif text:
        yield Said(text)


def _assistant(value: Record) -> Iterator[Event]:
    """Yield the calls of a message: frameworks may repeat them in a second form."""
    extra = value.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    found = list(_listed_calls(value) or _listed_calls(extra))
    blocks = [b for b in _blocks(value) if is_block(b)]
    text = text_of(_content(value))
    repeated = _has_call(found)
    for part in blocks:
        found += [e for e in block(part) if not (repeated and isinstance(e, Called))]
    if not _has_call(found):
        found += _calls_in_prose(text)
    invalid = value.get("invalid_tool_calls")
    found += [Skipped("invalid tool call")] * len(invalid if isinstance(invalid, list) else ())
    if text and not _has_call(found):
        found.append(Skipped("assistant message"))
    yield from found


def _has_call(found: list[Event]) -> bool:
    return any(isinstance(event, Called) for event in found)


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
    """Return the calls that an assistant wrote into its text, in one of three known ways."""
    found: list[Event] = []
    for told in _hermes(text):
        call = decoded(told)
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
    """Yield the texts in the tags of Hermes models, in time linear in the text."""
    start, end = _HERMES
    begin = text.find(start)
    while begin >= 0 and (stop := text.find(end, begin)) >= 0:
        yield text[begin + len(start) : stop].strip()
        begin = text.find(start, stop)


def _react(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and the inputs of actions in ReAct's form, in time linear in the text."""
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
    yield Returned(plain, key, name if isinstance(name, str) else "", failed)


def is_block(part: Record) -> bool:
    """Return whether a part of a content is a call or a result."""
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
    """Yield the call or the result in a part of a content."""
    kind = str(part.get("type") or "")
    if kind.endswith("tool_use"):
        yield Format(ANTHROPIC)
        yield from called(part.get("name"), part.get("input"), part.get("id"))
    elif kind.endswith("tool_result"):
        yield Format(ANTHROPIC)
        content = part.get("content")
        plain = content if isinstance(content, dict) else decoded(text_of(content))
        yield Returned(plain, str(part.get("tool_use_id") or ""), "", part.get("is_error") is True)
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
            yield Returned(decoded(plain), str(key or ""), str(held.get("name") or ""))


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
        yield Returned(error or result, key, str(name), bool(error))

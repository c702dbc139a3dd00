"""Tool calls for models without them: hvr asks for the call as JSON by a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hvr.models.model import Answer, Message, ModelTool, ModelToolCall, Request

TOOL = "tool"
"""Key of the tool's name in such an answer."""


def without_tools(request: Request) -> Request:
    """Return a request whose answer is a call as JSON: `{"tool": "look", "names": ["mug-1"]}`."""
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
    """Return an answer to `without_tools` as one with a tool call."""
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
    """Join neighbouring turns of one role: some chat templates demand that roles alternate."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            text = f"{joined[-1].text}\n\n{message.text}"
            joined[-1] = replace(joined[-1], text=text)
        else:
            joined.append(message)
    return joined

"""Parts of logs that are no messages: items, steps of agents, actions, runs and plain calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.logs.call_text import calls_in_code
from hvr.tools.logs.events import Called, Event, Format, Returned, Said, Skipped
from hvr.tools.logs.messages import arguments_of, called, decoded, text_of

Record = Mapping[str, Any]

RESPONSES = "OpenAI Responses"
SMOLAGENTS = "smolagents steps"
INTERMEDIATE = "LangChain intermediate steps"
PLAIN = "plain calls"

_SILENT_ITEMS = ("reasoning", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
                 "item_reference", "compaction")  # fmt: skip
_OUTPUTS = ("_call_output",)
_CODE_TOOLS = ("python_interpreter", "python", "code_interpreter")
_ARGUMENTS = ("arguments", "args", "parameters", "kwargs", "input", "tool_input", "action_input")
_NAMES = ("name", "tool", "tool_name", "toolName", "function", "api", "action", "func")
_RESULTS = ("result", "output", "observation", "response", "error")


# OpenAI's Responses -------------------------------------------------------------------------------


def is_item(value: Record) -> bool:
    """Return whether a value is an item of OpenAI's Responses, other than a message."""
    kind = value.get("type")
    if not isinstance(kind, str) or "function" in value:
        return False
    return kind in _SILENT_ITEMS or kind.endswith("_call_output") or (
        kind.endswith("_call") and kind != "tool_call"
    )  # fmt: skip


def item(value: Record) -> Iterator[Event]:
    """Yield the events of an item."""
    kind, key = str(value["type"]), value.get("call_id") or value.get("id") or ""
    yield Format(RESPONSES)
    if kind in _SILENT_ITEMS:
        yield Skipped(f"{kind} item")
    elif kind.endswith("_output"):
        output = value.get("output")
        yield Returned(
            decoded(text_of(output) if isinstance(output, list) else output),
            str(key),
            failed=value.get("status") == "incomplete",
        )
    else:
        name = value.get("name") or kind.removesuffix("_call")
        given = value.get("arguments", value.get("input", value.get("action")))
        yield from called(name, given, key)
        if value.get("error"):
            yield Returned(value["error"], str(key), failed=True)
        elif value.get("output") is not None:
            yield Returned(decoded(value["output"]), str(key))


# smolagents ---------------------------------------------------------------------------------------


def is_agent_step(value: Record) -> bool:
    """Return whether a value is a step of a smolagents' memory."""
    return ("step_number" in value and "role" not in value) or "task_images" in value


def agent_step(value: Record) -> Iterator[Event]:
    """Yield the events of a step: its calls, or the calls in its code, and what was observed."""
    yield Format(SMOLAGENTS)
    if isinstance(value.get("task"), str):
        yield Said(value["task"])
    found: list[Event] = []
    listed = value.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function", call) if isinstance(call, dict) else {}
        name, given = function.get("name"), function.get("arguments")
        if name in _CODE_TOOLS:
            found += _code(given if isinstance(given, str) else value.get("code_action"))
        else:
            found += called(name, given)
    if not found and isinstance(value.get("code_action"), str):
        found += _code(value["code_action"])
    calls = []
    for event in found:
        if isinstance(event, Called) and event.tool == "final_answer":
            yield Skipped("final answer")
        else:
            calls += [event] if isinstance(event, Called) else []
            yield event
    failed = bool(value.get("error"))
    seen = value.get("error") if failed else value.get("observations")
    # One observation is printed for all calls of a step.
    if seen is not None:
        yield from (Returned(decoded(seen), "", call.tool, failed) for call in calls)


def _code(code: Any) -> list[Event]:
    found = calls_in_code(code) if isinstance(code, str) else None
    return [Skipped("code that is not Python")] if found is None else list(found)


# LangChain's agents and LangSmith -----------------------------------------------------------------


def action_of(value: Any) -> Called | None:
    """Return the call of a LangChain AgentAction, plain or dumped; None for anything else."""
    if isinstance(value, dict) and value.get("lc") == 1:
        value = value.get("kwargs")
    if not isinstance(value, dict) or "tool_input" not in value:
        return None
    name = value.get("tool")
    arguments, unnamed = arguments_of(value["tool_input"])
    return Called(name, arguments, unnamed) if isinstance(name, str) and name else None


def observed(action: Called, observation: Any) -> Iterator[Event]:
    """Yield the call of an action and what was observed, if anything was."""
    if action.tool.startswith("_"):  # LangChain's `_Exception`: the answer could not be parsed
        yield Skipped("unparsed answer")
        return
    yield action
    if observation is not None:
        yield Returned(decoded(observation), tool=action.tool)


def tool_run(value: Record) -> Iterator[Event]:
    """Yield the call and the result of a LangSmith run of a tool."""
    inputs = value.get("inputs")
    if isinstance(inputs, dict) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    yield from called(value.get("name"), inputs)
    outputs = value.get("outputs")
    if isinstance(outputs, dict) and set(outputs) == {"output"}:
        outputs = outputs["output"]
    if value.get("error"):
        yield Returned(value["error"], failed=True)
    elif outputs is not None:
        yield Returned(decoded(outputs))


# Plain calls --------------------------------------------------------------------------------------


def plain_call(value: Any) -> Called | None:
    """Return the call that an object with a name and arguments is; None for anything else."""
    if not isinstance(value, dict) or "description" in value:
        return None  # a tool's schema has a name and parameters, too
    function = value.get("function")
    if isinstance(function, dict):
        return plain_call({"id": value.get("id"), **function})
    name = next((value[k] for k in _NAMES if isinstance(value.get(k), str)), None)
    given = next((value[k] for k in _ARGUMENTS if k in value), None)
    arguments = decoded(given)
    if not name or not isinstance(arguments, dict):
        return None
    key = value.get("id") or value.get("call_id") or ""
    return Called(name, arguments, (), key if isinstance(key, str) else "")


def plain_result(value: Record) -> Iterator[Event]:
    """Yield the result that stands beside the arguments of a plain call, if any does."""
    for key in _RESULTS:
        if value.get(key) is not None or (key == "result" and key in value):
            yield Returned(decoded(value[key]), failed=key == "error" or value.get("ok") is False)
            return

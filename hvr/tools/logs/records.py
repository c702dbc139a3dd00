"""Records in agents' logs other than messages: items, steps, actions, runs and plain calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.logs import messages
from hvr.tools.logs.messages import (
    CallEvent,
    Event,
    Format,
    ResultEvent,
    SkippedPart,
    UserMessage,
    arguments_of,
    called,
    calls_in_code,
    calls_in_text,
    decoded,
    text_of,
)

Record = Mapping[str, Any]

RESPONSES = "OpenAI Responses"
SMOLAGENTS = "smolagents steps"
INTERMEDIATE = "LangChain intermediate steps"
PLAIN = "plain calls"

_SILENT_ITEMS = tuple(
    """
    reasoning mcp_list_tools mcp_approval_request mcp_approval_response item_reference
    compaction
    """.split()
)
_CODE_TOOLS = ("python_interpreter", "python", "code_interpreter")
_ARGUMENTS = ("arguments", "args", "parameters", "kwargs", "input", "tool_input", "action_input")
_NAMES = ("name", "tool", "tool_name", "toolName", "function", "api", "action", "func")
_RESULTS = ("result", "output", "observation", "response", "error")


# OpenAI's Responses -------------------------------------------------------------------------------


def is_item(value: Record) -> bool:
    """Return whether a record is an item of OpenAI's Responses API other than a message."""
    kind = value.get("type")
    if not isinstance(kind, str) or "function" in value:
        return False
    return (
        kind in _SILENT_ITEMS
        or kind.endswith("_call_output")
        or (kind.endswith("_call") and kind != "tool_call")
    )


def item(value: Record) -> Iterator[Event]:
    kind, key = str(value["type"]), value.get("call_id") or value.get("id") or ""
    yield Format(RESPONSES)
    if kind in _SILENT_ITEMS:
        yield SkippedPart(f"{kind} item")
    elif kind.endswith("_output"):
        output = value.get("output")
        yield ResultEvent(
            decoded(text_of(output) if isinstance(output, list) else output),
            str(key),
            failed=value.get("status") == "incomplete",
        )
    else:
        name = value.get("name") or kind.removesuffix("_call")
        given = value.get("arguments", value.get("input", value.get("action")))
        yield from called(name, given, key)
        if value.get("error"):
            yield ResultEvent(value["error"], str(key), failed=True)
        elif value.get("output") is not None:
            yield ResultEvent(decoded(value["output"]), str(key))


# smolagents ---------------------------------------------------------------------------------------


def is_agent_step(value: Record) -> bool:
    return ("step_number" in value and "role" not in value) or "task_images" in value


def agent_step(value: Record) -> Iterator[Event]:
    """Yield the events of a smolagents step: its calls, listed or in code, and its observation."""
    yield Format(SMOLAGENTS)
    if isinstance(value.get("task"), str):
        yield UserMessage(value["task"])
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
        if isinstance(event, CallEvent) and event.tool == "final_answer":
            yield SkippedPart("final answer")
        else:
            calls += [event] if isinstance(event, CallEvent) else []
            yield event
    failed = bool(value.get("error"))
    seen = value.get("error") if failed else value.get("observations")
    # A step prints a single observation for all its calls.
    if seen is not None:
        yield from (ResultEvent(decoded(seen), "", call.tool, failed) for call in calls)


def _code(code: Any) -> list[Event]:
    found = calls_in_code(code) if isinstance(code, str) else None
    return [SkippedPart("code that is not Python")] if found is None else list(found)


# LangChain's agents and LangSmith -----------------------------------------------------------------


def action_of(value: Any) -> CallEvent | None:
    """Return the call in a LangChain AgentAction, plain or serialised; None for any other value."""
    if isinstance(value, dict) and value.get("lc") == 1:
        value = value.get("kwargs")
    if not isinstance(value, dict) or "tool_input" not in value:
        return None
    name = value.get("tool")
    arguments, unnamed = arguments_of(value["tool_input"])
    return CallEvent(name, arguments, unnamed) if isinstance(name, str) and name else None


def observed(action: CallEvent, observation: Any) -> Iterator[Event]:
    if action.tool.startswith("_"):  # LangChain's `_Exception`: the answer could not be parsed
        yield SkippedPart("unparsed answer")
        return
    yield action
    if observation is not None:
        yield ResultEvent(decoded(observation), tool=action.tool)


def tool_run(value: Record) -> Iterator[Event]:
    inputs = value.get("inputs")
    if isinstance(inputs, dict) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    yield from called(value.get("name"), inputs)
    outputs = value.get("outputs")
    if isinstance(outputs, dict) and set(outputs) == {"output"}:
        outputs = outputs["output"]
    if value.get("error"):
        yield ResultEvent(value["error"], failed=True)
    elif outputs is not None:
        yield ResultEvent(decoded(outputs))


# Plain calls --------------------------------------------------------------------------------------


def plain_call(value: Any) -> CallEvent | None:
    """Return the call in an object that has a name and arguments; None for any other value."""
    if not isinstance(value, dict) or "description" in value:
        return None  # a tool's schema also has a name and parameters
    function = value.get("function")
    if isinstance(function, dict):
        return plain_call({"id": value.get("id"), **function})
    name = next((value[k] for k in _NAMES if isinstance(value.get(k), str)), None)
    given = next((value[k] for k in _ARGUMENTS if k in value), None)
    arguments = decoded(given)
    if not name or not isinstance(arguments, dict):
        return None
    key = value.get("id") or value.get("call_id") or ""
    return CallEvent(name, arguments, (), key if isinstance(key, str) else "")


def plain_result(value: Record) -> Iterator[Event]:
    for key in _RESULTS:
        if value.get(key) is not None or (key == "result" and key in value):
            yield ResultEvent(
                decoded(value[key]), failed=key == "error" or value.get("ok") is False
            )
            return


# Records by shape ---------------------------------------------------------------------------------
# Frameworks wrap a few shapes differently: messages with roles, items with types, contents with
# parts, agent steps, plain calls. Shapes are recognised by their keys at any depth, so one reader
# covers a framework's responses, states, dumps and conversations.

CALL_TEXT = "BFCL calls"

_REQUESTS = tuple("task user_request instruction query question prompt user goal input".split())
"""Keys whose text is the user's request."""

_HOLDERS = (
    *"request body kwargs data values channel_values state inputs system_prompt".split(),
    *_REQUESTS,
    *"""
        contents automatic_function_calling_history chat_history history messages
        conversation conversations traj trajectory turns dialog message raw_item steps items
        new_items intermediate_steps events calls gold_calls tool_calls function_calls
        answers actions action response choices candidates generations content output
        outputs result results ground_truth
    """.split(),
)
"""Keys that may hold a part of a log, in chronological order."""

_CALLS_AS_TEXT = ("result", "ground_truth", "answers", "tool_calls")
_DEEPEST = 24


def events(value: Any, depth: int = 0) -> Iterator[Event]:
    if depth > _DEEPEST:
        yield SkippedPart("part nested too deeply")
    elif isinstance(value, list):
        yield from _listed(value, depth)
    elif isinstance(value, dict):
        yield from _object(value, depth)


def is_event(value: Any) -> bool:
    """Return whether a value is only one part of a log, rather than a complete log."""
    if isinstance(value, str):
        return calls_in_text(value) is not None
    if not isinstance(value, dict):
        return False
    return (
        messages.role_of(value) is not None
        or messages.is_block(value)
        or isinstance(value.get("parts"), list)
        or is_item(value)
        or is_agent_step(value)
        or action_of(value) is not None
        or plain_call(value) is not None
        or value.get("lc") == 1
        or _is_update(value)
        or (isinstance(value.get("message"), dict) and is_event(value["message"]))
    )


def _listed(values: list[Any], depth: int) -> Iterator[Event]:
    action = action_of(values[0]) if len(values) == 2 else None
    if action is not None and action_of(values[1]) is None:
        # LangChain's intermediate steps are pairs of an action and its observation.
        yield Format(INTERMEDIATE)
        yield from observed(action, values[1])
        return
    if (named := _bfcl(values)) is not None:
        yield Format(CALL_TEXT)
        yield from named
        return
    for value in values:
        if isinstance(value, str):
            found = calls_in_text(value)
            if found is not None:
                yield Format(CALL_TEXT)
                yield from found
        else:
            yield from events(value, depth + 1)


def _object(value: Record, depth: int) -> Iterator[Event]:
    if value.get("lc") == 1:
        yield from _constructed(value, depth)
    elif "run_type" in value:
        yield from _run(value, depth)
    elif is_item(value):
        yield from item(value)
    elif is_agent_step(value):
        yield from agent_step(value)
    elif messages.is_block(value):
        yield from messages.block(value)
    elif messages.role_of(value) is not None or isinstance(value.get("parts"), list):
        yield from messages.message(value)
    elif (action := action_of(value)) is not None:
        yield Format(INTERMEDIATE)
        yield from observed(action, value.get("observation"))
    elif (call := plain_call(value)) is not None:
        yield Format(PLAIN)
        yield call
        yield from plain_result(value)
    else:
        yield from _wrapped(value, depth)


def _wrapped(value: Record, depth: int) -> Iterator[Event]:
    if _is_update(value):
        yield Format(messages.LANGCHAIN)
        for update in value.values():
            yield from events(update, depth + 1)
        return
    if isinstance(value.get("system"), str | list) or isinstance(value.get("system_prompt"), str):
        yield SkippedPart("system message")
    for key in _HOLDERS:
        held = value.get(key)
        if key in _CALLS_AS_TEXT and isinstance(held, str):
            found = calls_in_text(held)
            if found is None:
                yield from events(messages.decoded(held), depth + 1)
            else:
                yield Format(CALL_TEXT)
                yield from found
        elif isinstance(held, str) and key in _REQUESTS:
            yield UserMessage(held)
        elif key in _REQUESTS and isinstance(held, list) and all(isinstance(v, str) for v in held):
            yield UserMessage(" ".join(held))
        elif isinstance(held, list | dict):
            yield from events(held, depth + 1)


def _bfcl(values: list[Any]) -> list[CallEvent] | None:
    # Each call is an object with one key; any other list is not BFCL.
    calls = []
    for value in values:
        if not isinstance(value, dict) or len(value) != 1 or _is_update(value):
            return None
        ((name, given),) = value.items()
        arguments = messages.decoded(given)
        if not isinstance(arguments, dict) or name in _HOLDERS or is_event(value):
            return None
        calls.append(CallEvent(name, _first_choices(arguments)))
    return calls or None


def _first_choices(arguments: Record) -> Record:
    if arguments and all(isinstance(v, list) and v for v in arguments.values()):
        return {name: values[0] for name, values in arguments.items() if values[0] != ""}
    return arguments


def _is_update(value: Record) -> bool:
    return len(value) == 1 and all(
        isinstance(v, dict) and isinstance(v.get("messages"), list) for v in value.values()
    )


def _constructed(value: Record, depth: int) -> Iterator[Event]:
    name = str((value.get("id") or [""])[-1])
    inner = value.get("kwargs")
    if not isinstance(inner, dict):
        yield SkippedPart(f"{name or 'object'} that LangChain did not serialise")
        return
    yield Format(messages.LANGCHAIN)
    if messages.role_of({"role": name, "content": ""}) is not None:
        yield from messages.message({**inner, "role": name})
    elif (action := action_of(inner)) is not None:
        yield from observed(action, None)
    else:
        yield from events(inner, depth + 1)


def _run(value: Record, depth: int) -> Iterator[Event]:
    yield Format("LangSmith runs")
    inner = value.get("child_runs") or []
    if value["run_type"] == "tool":
        yield from tool_run(value)
    elif inner:
        asked = events(value.get("inputs"), depth + 1)
        yield from (event for event in asked if isinstance(event, UserMessage))
        runs = [run for run in inner if isinstance(run, dict)]
        for run in sorted(runs, key=lambda r: str(r.get("dotted_order") or r.get("start_time"))):
            within = events(run, depth + 1) if "run_type" in run else iter(())
            if run.get("run_type") == "tool" or run.get("child_runs"):
                yield from (e for e in within if not isinstance(e, UserMessage))
    else:
        yield from events(value.get("inputs"), depth + 1)
        yield from events(value.get("outputs"), depth + 1)

"""Plans from agents' logs and planners' plan files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.texts import read_text
from hvr.errors import DataFileError
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
    role_of,
    text_of,
    trace,
)
from hvr.tools.tool_plans import Link, LoggedCall, ToolPlan
from hvr.values import JsonObject

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
    """Return whether a value is only a part of a log rather than a complete log."""
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


# TaskBench ----------------------------------------------------------------------------------------
# Language models do not always keep to TaskBench's format, so these variants are accepted; anything
# else is skipped, and nothing is corrected.
#
# task_steps   sentences; or objects with a `description`, else with all values as the sentence
# task_nodes   {"task": id}, {"task": [ids]}, {"name": id}, or ids; `arguments` beside the id
# task_links   {"source": id, "target": id}, or two 1-based step numbers
#
# TaskBench's own files call them tool_steps, tool_nodes and tool_links and may hold them as JSON
# texts; its predictions hold them in `result`.


TASKBENCH = "TaskBench's fields"
_FIELDS = ("steps", "nodes", "links")


def is_taskbench(record: Record) -> bool:
    return any(f"{kind}_{field}" in _fields(record) for kind in _KINDS for field in _FIELDS)


_KINDS = ("task", "tool")


def _fields(record: Record) -> Record:
    inner = decoded(record.get("result"))
    if isinstance(inner, dict) and any(f"{k}_nodes" in inner for k in _KINDS):
        return {**record, **inner}
    return record


def taskbench_plan(record: Record, name: str) -> tuple[ToolPlan, tuple[str, ...]]:
    """Return the plan `name` in a TaskBench record, and descriptions of the skipped parts."""
    fields = _fields(record)
    nodes = list(_nodes(_list(fields, "nodes")))
    tools = tuple(call.tool for call in nodes)
    links = tuple(_links(_list(fields, "links"), tools))
    steps = tuple(_steps(_list(fields, "steps")))
    known = any(call.arguments is not None for call in nodes)
    skipped = []
    for field, count in (("nodes", len(nodes)), ("links", len(links)), ("steps", len(steps))):
        lost = len(_list(fields, field)) - count
        skipped += [f"unreadable {field} ({lost})"] if lost > 0 else []
    request = str(fields.get("user_request") or fields.get("instruction") or "")
    calls = tuple(nodes) if known else ()
    return ToolPlan(name, request, steps, tools, links, calls), tuple(skipped)


def _list(record: Record, field: str) -> list[Any]:
    for kind in _KINDS:
        value = record.get(f"{kind}_{field}")
        value = decoded(value) if isinstance(value, str) else value
        if isinstance(value, list):
            return value
    return []


def _steps(listed: list[Any]) -> Iterator[str]:
    for step in listed:
        if isinstance(step, str):
            yield step
        elif isinstance(step, dict) and step:
            description = step.get("description")
            whole = ". ".join(map(str, step.values()))
            yield description if isinstance(description, str) else whole
        elif isinstance(step, list) and step and isinstance(step[0], str):
            yield step[0]


def _nodes(listed: list[Any]) -> Iterator[LoggedCall]:
    for node in listed:
        name, arguments = node, None
        if isinstance(node, dict):
            name = node["task"] if "task" in node else node.get("name")
            arguments = _arguments(node.get("arguments"))
        many = name if isinstance(name, list) and isinstance(node, dict) else [name]
        yield from (LoggedCall(n, arguments) for n in many if isinstance(n, str))


def _arguments(given: Any) -> Mapping[str, Any] | None:
    if isinstance(given, dict):
        return given
    if isinstance(given, list) and given:
        pairs = [a for a in given if isinstance(a, dict) and isinstance(a.get("name"), str)]
        if len(pairs) == len(given):
            return {pair["name"]: pair.get("value") for pair in pairs}
    return None


def _links(listed: list[Any], nodes: tuple[str, ...]) -> Iterator[Link]:
    for link in listed:
        if isinstance(link, dict):
            source, target = link.get("source"), link.get("target")
            if isinstance(source, str) and isinstance(target, str) and source and target:
                yield source, target
        elif isinstance(link, list) and len(link) == 2:
            ends = [_number(end) for end in link]
            if all(1 <= end <= len(nodes) for end in ends):
                yield nodes[ends[0] - 1], nodes[ends[1] - 1]


def _number(end: Any) -> int:
    match = re.fullmatch(r"\s*(?:step)?\s*(\d+)\s*", str(end), re.IGNORECASE)
    return int(match[1]) if match else 0


def to_record(plan: ToolPlan) -> Record:
    """Return a plan as a TaskBench record, which has no results and no positional arguments."""
    known = plan.calls if len(plan.calls) == len(plan.tools) else ()
    given = [call.arguments for call in known] or [None] * len(plan.tools)
    return {
        "id": plan.id,
        "user_request": plan.request,
        "task_steps": list(plan.steps),
        "task_nodes": [
            {"task": tool} if arguments is None else {"task": tool, "arguments": dict(arguments)}
            for tool, arguments in zip(plan.tools, given, strict=True)
        ],
        "task_links": [{"source": a, "target": b} for a, b in plan.links],
    }


# Logs ---------------------------------------------------------------------------------------------

KNOWN = (
    "OpenAI messages and Responses, Anthropic messages, Gemini contents, LangChain and LangGraph "
    "messages, states, dumps and intermediate steps, LangSmith runs, smolagents steps, AI SDK "
    "messages, BFCL calls, plain calls (name, arguments), TaskBench's fields (user_request, "
    "task_steps, task_nodes, task_links)"
)
"""The supported formats, for messages."""

_IDS = ("id", "task_id", "custom_id", "thread_id", "trace_id", "question_id")
_COLLECTIONS = tuple(
    """
    simulations records plans logs trajectories samples threads conversations runs
    """.split()
)


@dataclass(frozen=True)
class ReadPlan(JsonObject):
    """A plan read from a record.

    Args:
        place: File name and record number, for error messages.
        plan: The plan; without tools if none could be read.
        format: Names of the record's formats; empty if none is known.
        skipped: Descriptions of the skipped parts, with counts.
        fault: Reason why no plan could be read; empty if one was.
        numbered: Whether the plan's id is its record's number, because the record has no id.
    """

    place: str
    plan: ToolPlan
    format: str = ""
    skipped: tuple[str, ...] = ()
    fault: str = ""
    numbered: bool = False

    json_shape = "format? calls=call_count results=result_count skipped fault?"

    @property
    def call_count(self) -> int:
        return len(self.plan.tools)

    @property
    def result_count(self) -> int:
        return sum(call.returned for call in self.plan.calls)

    def __str__(self) -> str:
        if self.fault:
            return f"not read: {self.fault}"
        results = sum(call.returned for call in self.plan.calls)
        parts = [_counted(len(self.plan.tools), "call")]
        parts += [_counted(results, "result")] if self.plan.calls else []
        skipped = f"; skipped {', '.join(self.skipped)}" if self.skipped else ""
        return f"read {', '.join(parts)} ({self.format}){skipped}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def read_log(path: Path) -> tuple[ReadPlan, ...]:
    """Read the plans of a file in any known format, one plan per record.

    A record that cannot be read yields a plan with its `fault`; the other records are unaffected.
    If most records are single messages or calls, the whole file is one log.

    Raises:
        DataFileError: The file cannot be read, or none of its records can be.
    """
    found = tuple(
        _read(value, number, f"{path}: record {number}")
        for number, value in enumerate(_records(path), 1)
    )
    if found and all(read.fault for read in found):
        raise DataFileError(f"{found[0].place}: {found[0].fault}; supported formats: {KNOWN}")
    return found


@dataclass(frozen=True)
class _Broken:
    fault: str


def _read(value: Any, number: int, place: str) -> ReadPlan:
    record: Mapping[str, Any] = value if isinstance(value, dict) else {}
    ids = [record[k] for k in _IDS if isinstance(record.get(k), str | int)]
    own = next((str(i) for i in ids if not isinstance(i, bool) and i != ""), "")
    name, numbered = own or str(number), not own
    if isinstance(value, _Broken):
        return ReadPlan(place, ToolPlan(name, "", (), ()), fault=value.fault, numbered=True)
    if is_taskbench(record):
        plan, skipped = taskbench_plan(record, name)
        return ReadPlan(place, plan, TASKBENCH, skipped, numbered=numbered)
    found = trace(events(value))
    request = found.said[0] if found.said else ""
    plan = ToolPlan(
        name, request, (), tuple(c.tool for c in found.calls), calls=found.calls, said=found.said
    )
    if found.calls or found.said or found.formats:
        form = ", ".join(found.formats) or "messages without calls"
        return ReadPlan(place, plan, form, found.skipped, numbered=numbered)
    return ReadPlan(place, plan, fault=_unknown(value), numbered=numbered)


def _unknown(value: Any) -> str:
    if isinstance(value, dict):
        keys = ", ".join(map(repr, list(value)[:_SHOWN])) or "none"
        return f"has neither messages nor calls; its keys are {keys}"
    return f"has neither messages nor calls; it is a {type(value).__name__}"


_SHOWN = 6


def _records(path: Path) -> Iterator[Any]:
    values = _values(path)
    parts = [v for v in values if not isinstance(v, _Broken)]
    if len(values) == 1 and isinstance(values[0], dict):
        yield from _collected(values[0])
    elif 2 * sum(map(is_event, parts)) > len(parts) and not _are_answers(parts):
        yield parts
        yield from (v for v in values if isinstance(v, _Broken))
    else:
        yield from values


def _collected(value: dict[str, Any]) -> Iterator[Any]:
    for key in _COLLECTIONS:
        some = value.get(key)
        if isinstance(some, list) and some and not any(map(is_event, some)):
            yield from some
            return
    yield value


def _are_answers(values: list[Any]) -> bool:
    return len(values) > 1 and all(
        isinstance(v, dict) and role_of(v) == "assistant" and "stop_reason" in v for v in values
    )


def _values(path: Path) -> list[Any]:
    text = read_text(path)
    if not text.strip():
        return []
    try:
        whole = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        values = _lines(path, text)
        if any(not isinstance(v, _Broken) for v in values):
            return values
        if calls_in_text(text) is not None:
            return [[text]]
        raise DataFileError(
            f"{path}: not valid JSON: {error}; supported formats: {KNOWN}"
        ) from None
    return whole if isinstance(whole, list) else [whole]


def _lines(path: Path, text: str) -> list[Any]:
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line, strict=False))
        except (ValueError, RecursionError) as error:
            calls = calls_in_text(line)
            fault = f"{path}:{number}: not valid JSON: {error}"
            values.append(_Broken(fault) if calls is None else [line])
    return values

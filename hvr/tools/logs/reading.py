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
from hvr.tools.logs.messages import calls_in_text, decoded, role_of, trace
from hvr.tools.logs.records import events, is_event
from hvr.tools.tool_plans import Link, LoggedCall, ToolPlan
from hvr.values import JsonObject

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

Record = Mapping[str, Any]

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
    """Return a plan as a record of TaskBench's format, without results and positional arguments."""
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
        DataFileError: The file cannot be read, or none of its records.
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

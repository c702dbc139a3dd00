"""Plans in TaskBench's fields, as data sets and planners write them.

Language models do not always keep to the format, so the following variants are accepted; anything
else is skipped, and nothing is corrected.

task_steps   sentences; or objects, whose `description`, else all values, make the sentence
task_nodes   {"task": id}, {"task": [ids]}, {"name": id}, or ids; `arguments` beside the id
task_links   {"source": id, "target": id}, or two numbers of steps, counted from 1

TaskBench's own files call them tool_steps, tool_nodes and tool_links and may hold them as texts of
JSON; its predictions hold them in `result`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.logs.messages import decoded
from hvr.tools.tool_plan import Link, LoggedCall, ToolPlan

Record = Mapping[str, Any]

TASKBENCH = "TaskBench's fields"
_FIELDS = ("steps", "nodes", "links")


def is_taskbench(record: Record) -> bool:
    """Return whether a record has TaskBench's fields."""
    return any(f"{kind}_{field}" in _fields(record) for kind in _KINDS for field in _FIELDS)


_KINDS = ("task", "tool")


def _fields(record: Record) -> Record:
    """Return the object that has the fields: the record, or the prediction in it."""
    inner = decoded(record.get("result"))
    if isinstance(inner, dict) and any(f"{k}_nodes" in inner for k in _KINDS):
        return {**record, **inner}
    return record


def taskbench_plan(record: Record, name: str) -> tuple[ToolPlan, tuple[str, ...]]:
    """Return the plan of a record with this id, and what was skipped; missing fields are empty."""
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
            yield (
                description
                if isinstance(description, str)
                else ". ".join(str(v) for v in step.values())
            )
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
    """Return arguments by name: an object, or TaskBench's list of names and values."""
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
    """Return the number of a step, such as 2, "2" or "Step 2"; 0 if it is none."""
    match = re.fullmatch(r"\s*(?:step)?\s*(\d+)\s*", str(end), re.IGNORECASE)
    return int(match[1]) if match else 0


def to_record(plan: ToolPlan) -> Record:
    """Return a plan as a JSON object, the inverse of `taskbench_plan`."""
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

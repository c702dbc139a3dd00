"""Lenient reading of the plan files that planners write.

One JSON object per line (or one JSON list): `id`, `user_request`, `task_steps`, `task_nodes`,
`task_links`. Language models do not always keep to the format, so the following variants are
accepted; anything else is skipped, and nothing is corrected.

task_steps   sentences; or objects, whose `description`, else all values, make the sentence
task_nodes   {"task": id}, {"task": [ids]}, {"name": id}, or ids
task_links   {"source": id, "target": id}, or two numbers of steps, counted from 1

A conversation with calls (`messages`, or the list of messages alone) is a plan, too: the first
thing that the user says is the request, the calls are the tools. A call is one of a message's
`tool_calls`, its `function_call` (both OpenAI's, the latter older), or a block of type `tool_use`
in its content (Anthropic's). A message that has several of these forms says the same in each, so
the first one in this order counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hvr.errors import DataFileError
from hvr.texts import read_json, read_json_lines, read_text
from hvr.tools.tool_plan import Link, ToolPlan

Record = Mapping[str, Any]


def read_records(path: Path) -> tuple[Record, ...]:
    """Read the objects of a file: one JSON object a line, a list, or one over several lines.

    Raises:
        DataFileError: the file is missing or unreadable, or a line is no JSON object; the
            message has its number.
    """
    first = read_text(path).lstrip().partition("\n")[0].rstrip()
    if first.startswith("["):
        listed = read_json(path, strict=False)
        if listed and all(isinstance(v, dict) and "role" in v for v in listed):
            listed = [listed]  # the messages of one conversation
        records = [{"messages": v} if isinstance(v, list) else v for v in listed]
        values = list(enumerate(records, 1))
    elif first.startswith("{") and not first.endswith("}"):
        values = [(1, read_json(path, strict=False))]
    else:
        values = read_json_lines(path, strict=False)
    for number, value in values:
        if not isinstance(value, dict):
            raise DataFileError(f"{path}: record {number} is no JSON object")
    return tuple(value for _, value in values)


def read_plans(path: Path) -> tuple[ToolPlan, ...]:
    """Read the plans of a file, true or predicted.

    Raises:
        DataFileError: the file cannot be read, or a record has no `id`.
    """
    return tuple(
        # Conversations are seldom numbered.
        to_plan({"id": number} | dict(record) if "messages" in record else record,
                f"{path}: record {number}")
        for number, record in enumerate(read_records(path), 1)
    )  # fmt: skip


def to_record(plan: ToolPlan) -> Record:
    """Return a plan as a JSON object, the inverse of `to_plan`."""
    return {
        "id": plan.id,
        "user_request": plan.request,
        "task_steps": list(plan.steps),
        "task_nodes": [{"task": tool} for tool in plan.tools],
        "task_links": [{"source": a, "target": b} for a, b in plan.links],
    }


def to_plan(record: Record, place: str = "record") -> ToolPlan:
    """Return the plan of one record; missing steps, nodes or links are empty.

    Args:
        record: the JSON object.
        place: its position, for the message.

    Raises:
        DataFileError: it has no `id`.
    """
    if isinstance(record.get("id"), bool) or not isinstance(record.get("id"), str | int):
        raise DataFileError(f"{place}: has no id that is a text or a whole number")
    if isinstance(record.get("messages"), list):
        return _conversation(str(record["id"]), record["messages"])
    nodes = tuple(_nodes(record))
    return ToolPlan(
        id=str(record["id"]),
        request=str(record.get("user_request") or record.get("instruction") or ""),
        steps=tuple(_steps(record)),
        tools=nodes,
        links=tuple(_links(record, nodes)),
    )


def _conversation(number: str, messages: list[Any]) -> ToolPlan:
    said = [m for m in messages if isinstance(m, dict)]
    request = next((_content(m) for m in said if m.get("role") == "user"), "")
    return ToolPlan(number, request, (), tuple(name for m in said for name in _called(m)))


def _called(message: Record) -> Iterator[str]:
    """Yield the names of the tools that a message calls."""
    blocks = [b for b in _list(message, "content") if isinstance(b, dict)]
    older = message.get("function_call")
    forms = (_list(message, "tool_calls"), [older] if older else [],
             [b for b in blocks if b.get("type") == "tool_use"])  # fmt: skip
    for call in next(filter(None, forms), []):
        if isinstance(call, dict):
            function = call.get("function")
            name = (function if isinstance(function, dict) else call).get("name")
            if isinstance(name, str):
                yield name


def _content(message: Record) -> str:
    """Return the text of a message, whose content is a text or a list of parts."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return " ".join(text for text in texts if isinstance(text, str))


def _list(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def _steps(record: Record) -> Iterator[str]:
    for step in _list(record, "task_steps"):
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


def _nodes(record: Record) -> Iterator[str]:
    for node in _list(record, "task_nodes"):
        name = node
        if isinstance(node, dict):
            name = node["task"] if "task" in node else node.get("name")
        many = name if isinstance(name, list) and isinstance(node, dict) else [name]
        yield from (n for n in many if isinstance(n, str))


def _links(record: Record, nodes: tuple[str, ...]) -> Iterator[Link]:
    for link in _list(record, "task_links"):
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

"""Plan files of data sets: every record has an id, and a damaged one refuses the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json, read_json_lines, read_text
from hvr.errors import DataFileError
from hvr.tools.logs.reading import read_log
from hvr.tools.logs.taskbench import TASKBENCH, taskbench_plan, to_record
from hvr.tools.tool_plan import ToolPlan

__all__ = ["read_plans", "read_records", "to_plan", "to_record"]

Record = Mapping[str, Any]


def read_records(path: Path) -> tuple[Record, ...]:
    """Read the objects of a file: one JSON object a line, a list, or one over several lines.

    Raises:
        DataFileError: the file is missing or unreadable, or a line is no JSON object; the
            message has its number.
    """
    first = read_text(path).lstrip().partition("\n")[0].rstrip()
    if first.startswith("["):
        values = list(enumerate(read_json(path, strict=False), 1))
    elif first.startswith("{") and not first.endswith("}"):
        values = [(1, read_json(path, strict=False))]
    else:
        values = read_json_lines(path, strict=False)
    for number, value in values:
        if not isinstance(value, dict):
            raise DataFileError(f"{path}: record {number} is no JSON object")
    return tuple(value for _, value in values)


def read_plans(path: Path) -> tuple[ToolPlan, ...]:
    """Read the plans of a file, true or predicted, in any format of `hvr.tools.logs`.

    Raises:
        DataFileError: the file cannot be read, a record is in no known format, or a record in
            TaskBench's fields has no `id`.
    """
    found = read_log(path)
    for read in found:
        if read.fault:
            raise DataFileError(f"{read.place}: {read.fault}")
        if read.numbered and read.format == TASKBENCH:
            raise DataFileError(f"{read.place}: {_NO_ID}")
    return tuple(read.plan for read in found)


_NO_ID = "has no id that is a text or a whole number"


def to_plan(record: Record, place: str = "record") -> ToolPlan:
    """Return the plan of one record; missing steps, nodes or links are empty.

    Args:
        record: the JSON object.
        place: its position, for the message.

    Raises:
        DataFileError: it has no `id`.
    """
    if isinstance(record.get("id"), bool) or not isinstance(record.get("id"), str | int):
        raise DataFileError(f"{place}: {_NO_ID}")
    return taskbench_plan(record, str(record["id"]))[0]

"""Data sets of tools, links, requests and plans, in GNN4TaskPlan's format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json, read_json_lines, read_text
from hvr.errors import DataFileError, UsageError
from hvr.tools.catalogue.reading import read_links, read_tool_graph
from hvr.tools.logs.reading import TASKBENCH, read_log, taskbench_plan, to_record
from hvr.tools.tool_plans import Link, Tool, ToolGraph, ToolPlan

# Plan files ---------------------------------------------------------------------------------------
# Every record in a data set's plan file needs an id, and a damaged record is an error.

__all__ = ["read_plans", "read_records", "to_plan", "to_record"]

Record = Mapping[str, Any]


def read_records(path: Path) -> tuple[Record, ...]:
    """Read the JSON objects in a file: JSON Lines, a list, or one object over several lines.

    Raises:
        DataFileError: The file cannot be read, or a record is not a JSON object.
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
            raise DataFileError(f"{path}: record {number}: expected a JSON object")
    return tuple(value for _, value in values)


def read_plans(path: Path) -> tuple[ToolPlan, ...]:
    """Read the plans in a file, true or predicted, in any log format that hvr knows.

    Raises:
        DataFileError: A record cannot be read, or is in TaskBench's format but has no id.
    """
    found = read_log(path)
    for read in found:
        if read.fault:
            raise DataFileError(f"{read.place}: {read.fault}")
        if read.numbered and read.format == TASKBENCH:
            raise DataFileError(f"{read.place}: {_NO_ID}")
    return tuple(read.plan for read in found)


_NO_ID = "the id must be a string or an integer"


def to_plan(record: Record, place: str = "record") -> ToolPlan:
    """Return the plan in a record of TaskBench's format; missing steps and links become empty.

    Raises:
        DataFileError: The record has no id; the message begins with `place`.
    """
    if isinstance(record.get("id"), bool) or not isinstance(record.get("id"), str | int):
        raise DataFileError(f"{place}: {_NO_ID}")
    return taskbench_plan(record, str(record["id"]))[0]


# Data sets ----------------------------------------------------------------------------------------
# TaskBench, UltraTool and RestBench come in two layouts; only tools and graph are required:
#
# as published   tool_desc.json, graph_desc.json, data.json, user_requests.json, split_ids.json;
#                plans outside the test ids are the split `train`
# per split      tools.json, graph.json, requests.jsonl, and plans in train.jsonl, val.jsonl, …

_SPLITS = ("train", "val", "dev", "test")


@dataclass(frozen=True)
class ToolData:
    """A data set of tool plans.

    Args:
        plans: Reference plans by split. `train` is the public training sample, `train_extra`
            contains the other training plans, and `single` RestBench's plans with one tool.
        requests: Request of each plan, by its id.
    """

    name: str
    graph: ToolGraph
    plans: Mapping[str, tuple[ToolPlan, ...]] = field(default_factory=dict)
    requests: Mapping[str, str] = field(default_factory=dict)

    def split(self, name: str) -> tuple[ToolPlan, ...]:
        if name not in self.plans:
            there = ", ".join(self.plans) or "none"
            raise UsageError(f"{self.name} has no split named {name!r} (splits: {there})")
        return self.plans[name]


def load_data(folder: Path) -> ToolData:
    """Read a data set from its folder, as published (with `data.json`) or with a file per split.

    Raises:
        DataFileError: The folder or the file of tools or links is missing, or a file is invalid.
        UsageError: A tool is duplicated, or a link names an unknown tool.
    """
    if not folder.is_dir():
        raise DataFileError(f"{folder}: no such folder")
    tools_file = _first(folder, "tools.json", "tool_desc.json")
    graph = read_graph(tools_file, _first(folder, "graph.json", "graph_desc.json"))
    plans = _published(folder) if (folder / "data.json").exists() else _per_split(folder)
    requests = {p.id: p.request for some in plans.values() for p in some}
    for name in ("requests.jsonl", "user_requests.json"):
        if (folder / name).exists():
            requests |= {p.id: p.request for p in read_plans(folder / name)}
    return ToolData(folder.name, graph, plans, requests)


def read_graph(tools_file: Path, graph_file: Path | None = None) -> ToolGraph:
    """Read a tool graph.

    If `graph_file` is None, the links come from the file of tools or, if its tools have schemas,
    from these: each tool is linked to every other tool that takes one of its results.

    Raises:
        DataFileError: A file cannot be read, or has no valid tool.
        UsageError: A tool is duplicated, or a link names an unknown tool.
    """
    try:
        graph = read_tool_graph(tools_file)
        if graph_file is None:
            return graph
        listed = read_json(graph_file)
        links = listed.get("links") if isinstance(listed, dict) else None
        return graph.with_links(read_links(links, graph_file))
    except UsageError as error:
        files = f"{tools_file} and {graph_file}" if graph_file else f"{tools_file}"
        raise UsageError(f"{files}: {error}") from None


def tool_text(tool: Tool) -> str:
    """Return the text that describes a tool to an encoder (option n+d of GNN4Plan)."""
    return f"{tool.id} # Description # {tool.description}"


def seen_links(plans: Iterable[ToolPlan]) -> tuple[Link, ...]:
    """Return the links between consecutive tools of the plans, in order of first appearance."""
    return tuple(dict.fromkeys(link for plan in plans for link in plan.chain))


def only_seen(graph: ToolGraph, plans: Iterable[ToolPlan]) -> ToolGraph:
    """Return the graph with only the links that occur in given plans, such as training plans.

    A published graph may be built from all plans and so leak the links of test plans. A graph
    without links gets all links of the given plans.
    """
    seen = [(a, b) for a, b in seen_links(plans) if a in graph and b in graph]
    if not graph.links:
        return graph.with_links(seen)
    kept = set(seen)
    return graph.with_links(link for link in graph.links if link in kept)


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise DataFileError(f"{folder}: expected {' or '.join(names)}, found neither")


def _per_split(folder: Path) -> dict[str, tuple[ToolPlan, ...]]:
    plans: dict[str, list[ToolPlan]] = {}
    for split in _SPLITS:
        path = folder / f"{split}.jsonl"
        if not path.exists():
            continue
        for number, record in enumerate(read_records(path), 1):
            name = str(record.get("part") or split)
            if record.get("in_3000") is False:
                name = f"{split}_extra"
            plans.setdefault(name, []).append(to_plan(record, f"{path}: record {number}"))
    return {name: tuple(some) for name, some in plans.items()}


def _published(folder: Path) -> dict[str, tuple[ToolPlan, ...]]:
    split_of: dict[str, str] = {}
    if (folder / "split_ids.json").exists():
        listed = read_json(folder / "split_ids.json")
        tests = listed.get("test_ids") if isinstance(listed, dict) else None
        if not isinstance(tests, dict) or not all(isinstance(v, list) for v in tests.values()):
            raise DataFileError(
                f"{folder / 'split_ids.json'}: test_ids must be an object of lists of ids"
            )
        split_of = {str(i): f"test_{kind}" for kind, ids in tests.items() for i in ids}
    plans: dict[str, list[ToolPlan]] = {}
    path = folder / "data.json"
    for number, record in enumerate(read_records(path), 1):
        plan = to_plan(record, f"{path}: record {number}")
        plans.setdefault(split_of.get(plan.id, "train"), []).append(plan)
    return {name: tuple(some) for name, some in plans.items()}

"""Both layouts of data, and plans written by language models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import DataFileError, UsageError
from hvr.tools.datasets import (
    load_data,
    only_seen,
    read_plans,
    read_records,
    seen_links,
    to_plan,
    tool_text,
)
from hvr.tools.tool_plans import ToolPlan

_TOOLS = [{"id": "a", "desc": "does a", "input-type": ["text"]}, {"id": "b", "desc": "does b"}]
_LINKS = [{"source": "a", "target": "b"}, {"source": "a", "target": "b"}]
_PLAN = {
    "id": 7,
    "user_request": "do it",
    "task_steps": ["Step 1 Call a to x", "Step 2 Call b to y"],
    "task_nodes": [{"task": "a"}, {"task": "b"}],
    "task_links": [{"source": "a", "target": "b"}],
}


def _write(path: Path, value: Any) -> None:
    lines = value if isinstance(value, list) and path.suffix == ".jsonl" else [value]
    path.write_text("\n".join(json.dumps(v) for v in lines) + "\n", encoding="utf-8")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    _write(tmp_path / "tool_desc.json", {"nodes": _TOOLS})
    _write(tmp_path / "graph_desc.json", {"nodes": _TOOLS, "links": _LINKS})
    lines = [_PLAN, _PLAN | {"id": 8}]
    (tmp_path / "data.json").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    _write(tmp_path / "user_requests.json", {"id": 9, "user_request": "another"})
    _write(tmp_path / "split_ids.json", {"test_ids": {"chain": [8]}})
    return tmp_path


@pytest.fixture
def per_split(tmp_path: Path) -> Path:
    folder = tmp_path / "split"
    folder.mkdir()
    _write(folder / "tools.json", _TOOLS)
    _write(folder / "graph.json", {"nodes": ["a", "b"], "links": _LINKS[:1]})
    _write(folder / "train.jsonl", [_PLAN, _PLAN | {"id": "x", "in_3000": False}])
    _write(folder / "dev.jsonl", [_PLAN | {"part": "single"}])
    return folder


def test_the_published_layout(published: Path) -> None:
    data = load_data(published)
    assert [t.id for t in data.graph.tools] == ["a", "b"]
    assert data.graph.tool("a").inputs == ("text",)
    assert data.graph.links == (("a", "b"),)
    assert [p.id for p in data.split("train")] == ["7"]
    assert [p.id for p in data.split("test_chain")] == ["8"]
    assert data.requests["9"] == "another"


def test_the_layout_per_split(per_split: Path) -> None:
    data = load_data(per_split)
    assert {name: len(plans) for name, plans in data.plans.items()} == {
        "train": 1, "train_extra": 1, "single": 1,
    }  # fmt: skip
    plan = data.split("train")[0]
    assert plan == ToolPlan("7", "do it", tuple(_PLAN["task_steps"]), ("a", "b"), (("a", "b"),))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no split named 'val'"):
        data.split("val")


def test_text_of_a_tool(per_split: Path) -> None:
    tool = load_data(per_split).graph.tool("a")
    assert tool_text(tool) == "a # Description # does a"


def test_links_that_plans_have_shown(per_split: Path) -> None:
    graph = load_data(per_split).graph
    plans = [ToolPlan("1", "", (), ("b", "a", "b"))]
    assert seen_links(plans) == (("b", "a"), ("a", "b"))
    assert only_seen(graph, plans).links == (("a", "b"),)
    assert only_seen(graph, []).links == ()


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([{"task": "a"}, {"task": ["b", "c"]}, {"name": "d"}, "e"], ("a", "b", "c", "d", "e")),
        ([{"task": 3}, None, 4, {"other": "x"}, ["f"]], ()),
        ("a", ()),
        (None, ()),
    ],
)
def test_nodes_of_odd_shapes(nodes: Any, expected: tuple[str, ...]) -> None:
    assert to_plan({"id": "1", "task_nodes": nodes}).tools == expected


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([{"source": "a", "target": "b"}], (("a", "b"),)),
        ([{"source": "a", "target": ["b"]}, {"source": "", "target": "b"}, {"source": "a"}], ()),
        ([["Step 1", "2"]], (("a", "b"),)),
        ([[1, 3], [0, 1], ["x", "y"], [1]], ()),
        ([{"source": "a", "target": "none"}], (("a", "none"),)),
    ],
)
def test_links_of_odd_shapes(links: Any, expected: tuple[tuple[str, str], ...]) -> None:
    record = {"id": "1", "task_nodes": ["a", "b"], "task_links": links}
    assert to_plan(record).links == expected


def test_steps_of_odd_shapes() -> None:
    steps = ["one", {"description": "two", "no": 2}, {"no": 3, "do": "three"}, ["four"], 5]
    assert to_plan({"id": 1, "task_steps": steps}).steps == ("one", "two", "3. three", "four")


def test_damaged_files_say_where(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_text('{"id": "1"}\n{"id": \n', encoding="utf-8")
    with pytest.raises(DataFileError, match="jsonl:2:8: not valid JSON"):
        read_records(path)
    path.write_text('{"id": "1", "task_nodes": []}\n\n{"task_nodes": []}\n', encoding="utf-8")
    with pytest.raises(DataFileError, match="record 2: the id must be"):
        read_plans(path)
    with pytest.raises(DataFileError, match="no such file"):
        read_plans(tmp_path / "none")
    with pytest.raises(DataFileError, match="no such folder"):
        load_data(tmp_path / "none")
    with pytest.raises(DataFileError, match="expected tools"):
        load_data(tmp_path)


def test_a_list_of_plans_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "plans.json"
    path.write_text(json.dumps([_PLAN]), encoding="utf-8")
    assert read_plans(path)[0].tools == ("a", "b")


def test_a_plan_over_several_lines_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"id": "1", "task_nodes": ["a"]}, indent=2) + "\n")
    assert [plan.tools for plan in read_plans(path)] == [("a",)]


def test_links_to_unknown_tools_are_refused(per_split: Path) -> None:
    _write(per_split / "graph.json", {"links": [{"source": "a", "target": "z"}]})
    with pytest.raises(UsageError, match="'z'"):
        load_data(per_split)
    _write(per_split / "graph.json", {"links": [{"source": "a"}]})
    with pytest.raises(DataFileError, match="lacks its source or target"):
        load_data(per_split)

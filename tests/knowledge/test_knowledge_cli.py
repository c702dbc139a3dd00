from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.scene_graph import SceneGraph
from tests.command_line import Hvr
from tests.knowledge.knowledge_kitchen import PIECES


@pytest.fixture
def run(tmp_path: Path, scene: SceneGraph, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run under ./runs, and an older empty one."""
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate(("old", "new")):
        folder = tmp_path / "runs" / name
        with KnowledgeGraph.create(folder / "graph") as graph:
            if name == "new":
                graph.add_scene(scene, PIECES)
        os.utime(folder, (1000 + i, 1000 + i))
    return tmp_path / "runs" / "new"


def test_query_the_newest_run(run: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hvr_("kg", "query", "SELECT ?mug ?p { ?mug a k:Mug ; k:on ?p }")
    assert found.code == 0
    assert found.out.split() == ["mug", "p", "-----", "------------", "mug-1", "countertop-1"]
    text = "SELECT ?d { o:mug-1 k:isDirty ?d }"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    as_json = hvr_("kg", "query", "-", "--json", "--run", run)
    assert json.loads(as_json.out) == [{"d": True}]


@pytest.mark.usefixtures("run")
def test_show(hvr_: Hvr) -> None:
    found = hvr_("kg", "show", "mug-1")
    assert "mug-1 (Mug)" in found.out and "countertop-1" in found.out
    as_json = json.loads(hvr_("kg", "show", "mug-1", "--json").out)
    assert as_json["type"] == "Mug" and as_json["state"]["isDirty"] is True


@pytest.mark.slow
def test_export(run: Path, hvr_: Hvr) -> None:
    found = hvr_("kg", "export")
    assert "o:mug-1" in found.out
    target = run / "out.trig"
    assert hvr_("kg", "export", "--all", "-o", str(target)).code == 0
    assert "k:Drinkware" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["query", "SELECT"], "line 1"),
        (["show", "mug-9"], "mug-9"),
        (["show", "mug-1", "--run", "nowhere"], "folder does not exist"),
        (["show", "mug-1", "--run", "."], "not a run folder"),
        (["show", "mug-1", "--run", "runs/new", "--scene", "FloorPlan1"], "not both"),
    ],
)
@pytest.mark.usefixtures("run")
def test_bad_input(args: list[str], message: str, hvr_: Hvr) -> None:
    ended = hvr_("kg", *args)
    assert ended.code == 2 and message in ended.err


def test_no_run(tmp_path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = hvr_("kg", "show", "mug-1")
    assert result.code == 2 and "no run under" in result.err


def test_check_without_java(hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = hvr_("kg", "check")
    assert result.code == 0 and "java was not found" in result.out
    data = json.loads(hvr_("kg", "check", "--json").out)
    assert data["checked"] is False


def test_scene(hvr_: Hvr) -> None:
    query = "SELECT ?m { ?m a k:CoffeeMachine }"
    found = hvr_("kg", "query", query, "--scene", "FloorPlan16", "--json")
    assert json.loads(found.out) == [{"m": "coffeemachine-1"}]


def test_help_has_examples(hvr_: Hvr) -> None:
    for command in ("query", "show", "export", "check"):
        assert f"hvr kg {command}" in hvr_("kg", command, "--help").out

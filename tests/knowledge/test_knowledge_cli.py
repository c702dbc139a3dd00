from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hvr.cli.kg import app
from hvr.errors import StoreError, UnknownObjectError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.scene_graph import SceneGraph
from tests.knowledge.knowledge_kitchen import PIECES

runner = CliRunner()


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


def test_query_the_newest_run(run: Path) -> None:
    found = runner.invoke(app, ["query", "SELECT ?mug ?p { ?mug a k:Mug ; k:on ?p }"])
    assert found.exit_code == 0
    assert found.output.split() == ["mug", "p", "-----", "------------", "mug-1", "countertop-1"]
    text = "SELECT ?d { o:mug-1 k:isDirty ?d }"
    as_json = runner.invoke(app, ["query", "-", "--json", "--run", str(run)], input=text)
    assert json.loads(as_json.output) == [{"d": True}]


@pytest.mark.usefixtures("run")
def test_show() -> None:
    found = runner.invoke(app, ["show", "mug-1"])
    assert "mug-1 (Mug)" in found.output and "countertop-1" in found.output
    as_json = json.loads(runner.invoke(app, ["show", "mug-1", "--json"]).output)
    assert as_json["type"] == "Mug" and as_json["state"]["isDirty"] is True


def test_export(run: Path) -> None:
    found = runner.invoke(app, ["export"])
    assert "o:mug-1" in found.output
    target = run / "out.trig"
    assert runner.invoke(app, ["export", "--all", "-o", str(target)]).exit_code == 0
    assert "k:Drinkware" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (["query", "SELECT"], StoreError, "line 1"),
        (["show", "mug-9"], UnknownObjectError, "mug-9"),
        (["show", "mug-1", "--run", "nowhere"], UsageError, "no such folder"),
        (["show", "mug-1", "--run", "."], UsageError, "no folder of a run"),
        (["show", "mug-1", "--run", "runs/new", "--scene", "FloorPlan1"], UsageError, "not both"),
    ],
)
@pytest.mark.usefixtures("run")
def test_bad_input(args: list[str], error: type[Exception], message: str) -> None:
    result = runner.invoke(app, args)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


def test_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["show", "mug-1"])
    assert isinstance(result.exception, UsageError)


def test_check_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = runner.invoke(app, ["check"])
    assert result.exit_code == 0 and "java was not found" in result.output
    data = json.loads(runner.invoke(app, ["check", "--json"]).output)
    assert data["checked"] is False


def test_scene() -> None:
    query = "SELECT ?m { ?m a k:CoffeeMachine }"
    found = runner.invoke(app, ["query", query, "--scene", "FloorPlan16", "--json"])
    assert json.loads(found.output) == [{"m": "coffeemachine-1"}]


def test_help_has_examples() -> None:
    for command in ("query", "show", "export", "check"):
        assert f"hvr kg {command}" in runner.invoke(app, [command, "--help"]).output

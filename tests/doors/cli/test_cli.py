"""The command line: documented exit codes, one clear message, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.doors.cli.main import run

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hvr", *args])
    with pytest.raises(SystemExit) as ending:
        run()
    return int(ending.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["plan", ""], 2, ["empty"]),
        (["plan"], 2, ["request", "task"]),
        (["plan", "make coffee", "--task", "T2"], 2, ["either"]),
        (["plan", "xqzt frobnicate"], 2, ["xqzt", "docs/reference/language.md"]),
        (["plan", "make cofvaxe"], 2, ["cofvaxe", "coffee"]),
        (["plan", "toast the mug"], 1, ["Toastable", "mug"]),
        (["plan", "fill the kettle", "--scene", "FloorPlan16"], 1, ["kettle", "scenes"]),
        (["plan", "make coffee", "--scene", "FloorPlan99"], 2, ["FloorPlan99"]),
        (["plan", "--task", "T99"], 2, ["T99", "T1"]),
        (["plan", "--task", "T1", "--scene", "FloorPlan2"], 1, ["FloorPlan2", "scenes"]),
        (["plan", "make coffee", "--policy", "oracle"], 2, ["oracle", "symbolic"]),
        (["plan", "make coffee", "--planner", "magic"], 2, ["magic", "fast-downward"]),
        (["plan", "make coffee", "--budget", "0"], 2, ["positive"]),
        (["plan", "make coffee", "--max-replans", "-1"], 2, ["negative"]),
        (["plan", "make coffee", "--budget", "soon"], 2, ["budget"]),
        (["plan", "make coffee", "--save", "/proc/nowhere"], 2, ["/proc/nowhere", "--save"]),
        (["validate", "no.pddl", "no.pddl", "no.txt"], 2, ["no.pddl"]),
        (["kg", "show", "unicorn-1", "--scene", "FloorPlan1"], 2, ["unicorn-1"]),
        (["kg", "query", "SELECT WHERE", "--scene", "FloorPlan1"], 2, ["SPARQL"]),
        (["nonsense"], 2, ["nonsense"]),
    ],
)
def test_bad_input_gives_a_message_and_its_exit_code(
    args: list[str],
    code: int,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(monkeypatch, *args) == code
    captured = capsys.readouterr()
    for word in words:
        assert word in captured.err
    assert "Traceback" not in captured.err
    assert not list(Path().iterdir()), "nothing half-written"


def test_a_run_folder_with_something_in_it_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = tmp_path / "mine" / "notes.txt"
    keep.parent.mkdir()
    keep.write_text("mine")
    assert invoke(monkeypatch, "plan", "make coffee", "--save", "mine") == 2
    assert "empty" in capsys.readouterr().err
    assert keep.read_text() == "mine"
    assert [p.name for p in keep.parent.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_an_empty_run_folder_stays_when_the_request_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    assert invoke(monkeypatch, "plan", "toast the mug", "--save", "mine") == 1
    assert not list((tmp_path / "mine").iterdir())


@pytest.mark.slow
def test_plan_prints_steps_and_saves_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, "plan", "make coffee", "--save", "coffee") == 0
    out = capsys.readouterr().out
    assert "(toggle_on coffeemachine-1)" in out
    assert "goal reached" in out
    names = {path.name for path in Path("coffee").iterdir()}
    assert names >= {
        "task.json", "subgraph.json", "domain.pddl", "problem.pddl", "plan.pddl", "plan.json",
        "trace.jsonl", "graph", "graph.ttl",
    }  # fmt: skip
    events = [json.loads(line) for line in Path("coffee/trace.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events[:2]] == ["understood", "plan"]
    assert events[-1]["event"] == "finished"
    assert events[-1]["reached"] is True

    assert invoke(
        monkeypatch, "validate", "coffee/domain.pddl", "coffee/problem.pddl", "coffee/plan.pddl"
    ) == 0  # fmt: skip
    assert "valid" in capsys.readouterr().out

    assert invoke(monkeypatch, "kg", "show", "mug-1", "--run", "coffee", "--json") == 0
    assert "coffee" in capsys.readouterr().out


@pytest.mark.slow
def test_json_is_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, "plan", "open the fridge", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["reached"] is True
    assert document["plans"][0]["validation"]["outcome"] == "valid"


@pytest.mark.slow
def test_an_error_is_json_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, "plan", "toast the mug", "--json") == 1
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1


@pytest.mark.slow
def test_dry_run_plans_without_executing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, "plan", "open the fridge", "--dry-run", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["reached"] is None
    assert document["steps"] == []


@pytest.mark.slow
def test_an_invalid_plan_has_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, "plan", "open the fridge", "--save", "run", "--quiet") == 0
    broken = tmp_path / "broken.txt"
    broken.write_text("(open_obj fridge-1)\n")
    code = invoke(monkeypatch, "validate", "run/domain.pddl", "run/problem.pddl", str(broken))
    assert code == 1
    assert "near fridge-1" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["--help"], ["plan", "--help"], ["kg", "--help"]])
def test_help(
    args: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(monkeypatch, *args) == 0
    assert "hvr" in capsys.readouterr().out


def test_catalogue(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(monkeypatch, "scenes", "--having", "Kettle", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found
    assert all("Kettle" in entry["types"] for entry in found)
    assert invoke(monkeypatch, "tasks") == 0
    assert "T5bis" in capsys.readouterr().out


@pytest.mark.slow
def test_a_corrupt_ontology_or_task_is_one_clear_line(tmp_path: Path) -> None:
    """Uses a copy of the checkout with damaged data files in a separate process."""
    for name in ("hvr", "domains", "worlds"):
        (tmp_path / name).symlink_to(ROOT / name)
    # The package finds its data next to itself, so it must be a real folder here.
    (tmp_path / "hvr").unlink()
    subprocess.run(["cp", "-r", str(ROOT / "hvr"), str(tmp_path / "hvr")], check=True)
    subprocess.run(["cp", "-r", str(ROOT / "ontology"), str(tmp_path / "ontology")], check=True)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "T1.toml").write_text("id = [broken\n")

    def hvr(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hvr", *args], cwd=tmp_path, capture_output=True, text=True,
            check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip

    broken = hvr("plan", "--task", "T1")
    assert broken.returncode == 2
    assert "T1.toml" in broken.stderr
    assert len(broken.stderr.strip().splitlines()) == 1

    with (tmp_path / "ontology" / "language.ttl").open("a") as file:
        file.write("\nk:broken a [ .\n")
    broken = hvr("plan", "make coffee")
    assert broken.returncode == 2
    assert "language.ttl" in broken.stderr
    assert "Traceback" not in broken.stderr
    assert not (tmp_path / "runs").exists()

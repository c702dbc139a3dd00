"""`hvr plan` with faults, with limited sight, and as a page, from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hvr.doors.cli.main import run

COFFEE = ("plan", "make coffee")
DROP = {"seed": 0, "faults": [{"kind": "drop", "when": {"actions": ["TeleportFull"], "nth": 2}}]}


def events(folder: Path) -> list[dict]:
    text = (folder / "trace.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def hvr(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs the command in its own folder and returns the exit code."""
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> int | str | None:
        monkeypatch.setattr(sys, "argv", ["hvr", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        return ended.value.code or 0

    return command


@pytest.mark.slow
def test_what_falls_is_noticed_and_picked_up_and_the_run_says_so(hvr, tmp_path, capsys) -> None:
    (tmp_path / "drop.json").write_text(json.dumps(DROP))
    assert hvr(*COFFEE, "--faults", "drop.json", "--save", "r", "--html", "r.html") == 0
    said = capsys.readouterr().out
    assert "dropped: mug-1 is no longer in the hand" in said
    assert "goal reached in 12 steps" in said
    (played,) = json.loads((tmp_path / "r" / "faults.json").read_text())
    assert (played["kind"], played["objects"]) == ("drop", ["mug-1"])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "mug-1 is no longer in the hand" in page
    trace = events(tmp_path / "r")
    assert [f["kind"] for e in trace for f in e.get("failures", ()) if e["event"] == "step"] == [
        "dropped"
    ]


@pytest.mark.slow
def test_without_faults_nothing_is_noticed_and_no_log_is_written(hvr, tmp_path) -> None:
    assert hvr(*COFFEE, "--save", "r") == 0
    assert not (tmp_path / "r" / "faults.json").exists()
    trace = events(tmp_path / "r")
    assert not any(e.get("failures") for e in trace)


@pytest.mark.slow
def test_a_robot_that_sees_little_and_badly_reaches_the_goal(hvr, tmp_path) -> None:
    assert hvr(*COFFEE, "--sight", "visible", "--error-rate", "0.05", "--save", "r") == 0
    about = json.loads((tmp_path / "r" / "task.json").read_text())
    assert (about["sight"], about["error_rate"], about["faults"]) == ("visible", 0.05, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sight", "blind"), "unknown --sight 'blind' (sights: omniscient, visible, doors)"),
        (("--error-rate", "0.7"), "--error-rate must be at least 0 and below 0.5, got 0.7"),
        (("--error-rate", "nan"), "'nan' is not a number"),
        (("--env", "moon"), "unknown environment 'moon' (environments: kitchen, thor, "),
        (("--faults", "none.json"), "none.json"),
        (("--faults", "bad.json"), "bad.json:1:1: not valid JSON"),
        (("--html", "no/such/x.html"), "does not exist"),
    ],
)
def test_a_bad_option_gets_one_line_and_leaves_nothing(hvr, tmp_path, capsys, words, said) -> None:
    (tmp_path / "bad.json").write_text("nonsense")
    assert hvr(*COFFEE, *words) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not (tmp_path / "runs").exists()

"""`hvr bench` with a stand-in for the planning function."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hvr.bench import runner
from hvr.doors.cli import bench
from tests.bench import bench_cells
from tests.command_line import Ended, Hvr

Invoke = Callable[..., Ended]
FEW = ("--tasks", "T1,T5", "--settings", "HVR,LLM", "--seeds", "2")


@pytest.fixture(autouse=True)
def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "run_cell", bench_cells.quick)
    monkeypatch.setattr(runner, "check_models", lambda *_: None)
    monkeypatch.setattr(runner, "prompt_digests", lambda _: {"macro": "123"})


@pytest.fixture
def invoke(hvr_: Hvr) -> Invoke:
    return lambda *arguments: hvr_("bench", *arguments)


@pytest.mark.slow
def test_a_bench_is_run_shown_and_gone_on_with(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke(*FEW, "--save", "b", "--per-task")
    assert done.code == 0, done.out
    assert "8 of 8 cells" in done.out
    assert "simulated" in done.out
    log = (tmp_path / "b" / "log").read_text()
    assert len(log.splitlines()) == 8
    assert invoke(*FEW, "--save", "b").code == 0
    assert (tmp_path / "b" / "log").read_text() == log
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert manifest["subject"]["prompts"] == {"macro": "123"}
    shown = invoke("show", "b", "--html", "b.html", "--csv", "b.csv")
    assert shown.code == 0, shown.out
    assert "table 16" in (tmp_path / "b.html").read_text()
    assert len((tmp_path / "b.csv").read_text().splitlines()) == 9


@pytest.mark.slow
def test_json_alone_is_on_standard_output(invoke: Invoke) -> None:
    done = invoke(*FEW, "--json", "--save", "b")
    document = json.loads(done.out)
    assert len(document["cells"]) == 8
    assert document["summary"]["rows"][0]["simulated"] is True
    Path("old.json").write_text(done.out, encoding="utf-8")
    again = invoke("show", "b", "--json", "--compare", "old.json")
    assert {d["difference"] for d in json.loads(again.out)["compared"]} == {0.0}
    assert "Compared" in invoke("show", "b", "--compare", "old.json").out


@pytest.mark.slow
def test_errors_in_cells_give_an_exit_code_of_theirs(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "run_cell", bench_cells.failing)
    done = invoke(*FEW, "--save", "b")
    assert done.code == 4
    assert "the server closed the connection" in done.out
    Path("b/healed").touch()
    assert invoke(*FEW, "--save", "b").code == 0


def test_an_interrupt_says_how_to_go_on(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run_cell", bench_cells.interrupted)
    done = invoke(*FEW, "--save", "b")
    assert done.code == 130
    assert "--save b" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tasks", "T99"), "T99"),
        (("--settings", "ABC"), "ABC"),
        (("--settings", ","), "at least one"),
        (("--seeds", "many"), "--seeds"),
        (("--seeds", "0"), "--seeds"),
        (("--jobs", "-2"), "--jobs"),
        (("--scene", "FloorPlan99"), "FloorPlan99"),
        (("--html", "no/such/page.html"), "no/such"),
        (("--compare", "none.json"), "none.json"),
        (("show", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_used_is_said_first(
    arguments: tuple[str, ...], words: str, invoke: Invoke
) -> None:
    ended = invoke(*arguments)
    assert words in ended.err
    assert ended.code == 2


@pytest.mark.slow
def test_another_bench_is_not_mixed_in(invoke: Invoke) -> None:
    assert invoke(*FEW, "--save", "b").code == 0
    assert invoke(*FEW, "--save", "b", "--no-execute").code == 2
    Path("full").mkdir()
    Path("full/x").touch()
    assert invoke(*FEW, "--save", "full").code == 2


def test_specs_with_commas() -> None:
    text = "scripted:error=0.3,improve=0.7, openai:gpt-4o-mini,scripted,gemini:x"
    assert bench.split_models(text) == [
        "scripted:error=0.3,improve=0.7", "openai:gpt-4o-mini", "scripted", "gemini:x",
    ]  # fmt: skip


def test_seeds() -> None:
    assert bench.split_seeds("3") == [0, 1, 2]
    assert bench.split_seeds("7,0,7") == [7, 0]


def test_help_has_examples(invoke: Invoke) -> None:
    text = invoke("--help").out
    assert "hvr bench --tasks T1,T2" in text

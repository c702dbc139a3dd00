"""`hvr library`: output, files and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hvr.planning.library import Library, read_library, write_library
from tests.command_line import Ended, Hvr
from tests.planning.library.library_worlds import learnt

COMMANDS = ["list", "show", "merge", "export", "import", "clusters"]
Run = Callable[..., Ended]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_library(learnt("T2", "T8"), tmp_path / "library.ttl")
    return tmp_path / "library.ttl"


@pytest.fixture
def run(path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("HVR_LIBRARY", str(path))
    return lambda *args: hvr_("library", *args)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples(command: str, run: Run) -> None:
    text = run(command, "--help").out
    assert f"hvr library {command}" in text
    assert "--library" in text


def test_the_list_has_every_macro_action(run: Run) -> None:
    output = run("list").out
    for entry in learnt("T2", "T8"):
        assert entry.id in output
    assert "slice ?bread1" in output
    assert "T8" in output


def test_the_list_as_json(run: Run) -> None:
    found = json.loads(run("list", "--json").out)
    assert {e["id"] for e in found} == {e.id for e in learnt("T2", "T8")}
    assert json.loads(run("list", "--agent", "pusher", "--json").out) == []


def test_a_library_that_is_not_there_yet_is_empty(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HVR_LIBRARY", str(tmp_path / "none.ttl"))
    assert "no macro actions" in run("list").out
    ended = run("list", "--library", tmp_path / "none.ttl")
    assert ended.code == 2 and "no such file" in ended.err


def test_one_macro_action_is_shown_with_all_that_is_known(run: Run) -> None:
    entry = next(e for e in learnt("T2") if e.name.startswith("brew coffee"))
    output = run("show", entry.id[:8]).out
    for text in (*entry.precondition, *entry.postcondition, *map(str, entry.steps),
                 "T2", "run-T2", "cluster", "single-arm"):  # fmt: skip
        assert text in output
    found = json.loads(run("show", entry.id, "--json").out)
    assert found["id"] == entry.id
    assert entry.id in found["cluster"]["members"]


def test_an_unknown_id_is_an_error(run: Run) -> None:
    ended = run("show", "nope")
    assert ended.code == 2 and "no macro action with the id 'nope'" in ended.err


def test_an_unknown_agent_is_an_error(run: Run) -> None:
    ended = run("list", "--agent", "octopus")
    assert ended.code == 2 and "agents: single-arm" in ended.err


@pytest.mark.parametrize("form", ["shared.ttl", "shared.json"])
def test_what_is_exported_can_be_imported(form: str, run: Run, tmp_path: Path) -> None:
    out, mine = tmp_path / form, tmp_path / "mine.ttl"
    run("export", out)
    assert read_library(out) == learnt("T2", "T8")
    assert f"{len(learnt('T2', 'T8'))} of them new" in run("import", out, "--library", mine).out
    assert "0 of them new" in run("import", out, "--library", mine).out
    assert read_library(mine) == learnt("T2", "T8")


def test_one_agent_is_exported(run: Run, tmp_path: Path) -> None:
    run("export", tmp_path / "p.json", "--agent", "pusher")
    assert read_library(tmp_path / "p.json") == Library()


@pytest.mark.slow
def test_libraries_are_merged(run: Run, path: Path, tmp_path: Path) -> None:
    write_library(learnt("T1"), tmp_path / "a.ttl")
    write_library(learnt("T5"), tmp_path / "b.json")
    run("merge", tmp_path / "a.ttl", tmp_path / "b.json")
    assert read_library(path) == learnt("T1", "T2", "T5", "T8")


def test_a_damaged_library_spoils_nothing(run: Run, path: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("this is no turtle", encoding="utf-8")
    before = path.read_bytes()
    ended = run("merge", tmp_path / "bad.ttl")
    assert ended.code == 2 and "bad.ttl" in ended.err
    assert path.read_bytes() == before


def test_clusters_are_shown(run: Run) -> None:
    found = json.loads(run("clusters", "--json").out)
    assert sum(len(c["members"]) for c in found) == len(learnt("T2", "T8"))
    output = run("clusters").out
    assert all(c["id"] in output for c in found)

"""Ambiguous requests lead to a question, or are rejected with a list of their readings."""

from __future__ import annotations

import io
import json

import pytest

from hvr.doors.cli import output
from hvr.doors.cli.main import main

TWO_WAYS = ["plan", "wash the mug and the plate or the cup", "--scene", "FloorPlan1"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_elsewhere_it_is_refused_with_both_readings(capsys):
    assert main([*TWO_WAYS, "--json"]) == 2
    printed = json.loads(capsys.readouterr().out)
    assert printed["exit_code"] == 2
    assert len(printed["readings"]) == 2
    assert all(reading in printed["error"] for reading in printed["readings"])


@pytest.mark.slow
def test_a_reading_is_chosen_by_its_number(capsys):
    assert main([*TWO_WAYS, "--reading", "2", "--dry-run", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["request"] == TWO_WAYS[1]
    assert main([*TWO_WAYS, "--reading", "3", "--dry-run"]) == 2
    assert "must be between 1 and 2" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("1", 0), ("", 2)])
def test_on_a_terminal_one_question_is_asked(monkeypatch, answer, code):
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(output, "on_terminal", lambda: True)

    def which(readings):
        asked.append(readings)
        return int(answer) if answer else None

    monkeypatch.setattr(output, "ask_reading", which)
    assert main([*TWO_WAYS, "--dry-run"]) == code
    assert len(asked) == 1


@pytest.mark.parametrize(("answer", "number"), [("2", 2), (" 1 ", 1), ("3", None), ("x", None)])
def test_the_question_names_the_readings(answer, number):
    told: list[str] = []
    assert output.ask_reading(("a", "b"), lambda _prompt: answer, told.append) == number
    assert told[1:] == ["  1  a", "  2  b"]


def test_a_reading_is_chosen_in_words():
    readings = ("the mug is clean", "the cup is clean")
    assert output.ask_reading(readings, lambda _prompt: "the cup", lambda _line: None) == 2
    assert output.ask_reading(readings, lambda _prompt: "neither", lambda _line: None) is None


@pytest.mark.slow
def test_chat_from_a_pipe_prints_one_object_per_reply(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("open the fridge\nis it open?\nbye\nundo\n"))
    assert main(["chat", "--json", "--scene", "FloorPlan1"]) == 0
    replies = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(reply["kind"], reply["text"]) for reply in replies] == [
        ("done", "done in 2 steps: the fridge is open"),
        ("answer", "yes"),
    ]

"""Schedules: JSON round trips, and faults in schedules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError, UsageError
from hvr.worlds.faults import Fault, FaultEffect, FaultKind, FaultTiming, Schedule
from hvr.worlds.faults.fault import Trigger

_SHARE = st.floats(0.0, 1.0)
_NAME = st.text(max_size=8)
_WHEN = st.builds(
    FaultTiming, st.integers(0, 9), st.lists(_NAME, max_size=2).map(tuple), _NAME,
    st.integers(1, 9), st.none() | st.integers(0, 9), _SHARE,
)  # fmt: skip
_WHAT = st.builds(
    FaultEffect,
    _NAME,
    _NAME,
    _NAME,
    _NAME,
    st.none() | st.booleans() | _NAME,
    _NAME,
    _SHARE,
    _SHARE,
)
_FAULT = st.builds(Fault, st.sampled_from(FaultKind), _WHEN, _WHAT)
_SCHEDULE = st.builds(Schedule, st.lists(_FAULT, max_size=3).map(tuple), st.integers())


@pytest.mark.slow
@given(_SCHEDULE)
def test_json_and_back(schedule: Schedule) -> None:
    assert Schedule.from_json(schedule.to_json()) == schedule


def test_file_and_back(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    schedule = Schedule((Fault(FaultKind.DROP, FaultTiming(nth=2), FaultEffect("mug-1")),), 4)
    schedule.save(path)
    assert Schedule.load(path) == schedule


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "1:2"),
        ("[]", "must be an object"),
        ('{"faults": [], "sed": 1}', "unknown key 'sed'; did you mean 'seed'?"),
        ('{"faults": [], "seed": "x"}', "seed must be an integer"),
        ('{"faults": [{"kind": "drop"}, {"kind": "dorp"}]}', "faults[1].kind must be one of drop"),
        ('{"faults": [7]}', "faults[0] must be an object"),
        ('{"faults": [{"kind": "drop", "who": {}}]}', "unknown key 'who'"),
        (
            '{"faults": [{"kind": "drop", "when": {"stp": 1}}]}',
            "unknown key 'stp'; did you mean 'step'?",
        ),
        ('{"faults": [{"kind": "drop", "when": 1}]}', "faults[0].when must be an object"),
        (
            '{"faults": [{"kind": "drop", "when": {"step": true}}]}',
            "faults[0].when.step must be an integer",
        ),
        (
            '{"faults": [{"kind": "drop", "when": {"actions": [1]}}]}',
            "when.actions[0] must be a string",
        ),
        ('{"faults": [{"kind": "drop", "when": {"probability": 2}}]}', "between 0 and 1"),
        ('{"faults": [{"kind": "drop", "when": {"nth": 0}}]}', "nth"),
        ('{"faults": [{"kind": "drop", "what": 3}]}', "faults[0].what must be an object"),
    ],
)
def test_bad_files(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError) as error:
        Schedule.load(path)
    assert str(error.value).startswith(str(path)) and says in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        Schedule.load(tmp_path / "none.json")
    with pytest.raises(DataFileError, match="cannot be written"):
        Schedule().save(tmp_path / "none" / "faults.json")
    (tmp_path / "bad.json").write_bytes(b"\xff")
    with pytest.raises(DataFileError, match="UTF-8"):
        Schedule.load(tmp_path / "bad.json")


@pytest.mark.slow
@given(_WHEN, st.integers(1, 9), st.integers(1, 40))
def test_when_a_fault_is_due(when: FaultTiming, start: int, steps: int) -> None:
    """Counting from the nth matching action at or after `step`, `times` times."""
    when = replace(when, step=start, probability=1.0)
    trigger = Trigger(Fault(FaultKind.FAILED, when), "0")
    action = when.actions[0] if when.actions else "OpenObject"
    due = []
    for step in range(1, steps + 1):
        if trigger.due(step, action, when.target):
            trigger.fired()
            due.append(step)
    first = when.step + when.nth - 1
    times = 1 if when.times is None else when.times
    last = steps if times == 0 else min(steps, first + times - 1)
    assert due == list(range(first, last + 1))


def test_what_does_not_match_does_not_count() -> None:
    when = FaultTiming(actions=("OpenObject",), target="fridge-1", nth=2)
    trigger = Trigger(Fault(FaultKind.FAILED, when), "0")
    asked = [("OpenObject", "mug-1"), ("CloseObject", "fridge-1"), ("OpenObject", "fridge-1"),
             ("OpenObject", "fridge-1")]  # fmt: skip
    assert [trigger.due(i, *a) for i, a in enumerate(asked, 1)] == [False, False, False, True]


def test_the_start_is_for_some_kinds_only() -> None:
    assert Trigger(Fault(FaultKind.MOVED, FaultTiming(0)), "0").due(0, "", "")
    assert not Trigger(Fault(FaultKind.MOVED, FaultTiming(1)), "0").due(0, "", "")
    assert not Trigger(Fault(FaultKind.DROP, FaultTiming(0)), "0").due(0, "", "")
    with pytest.raises(UsageError):
        FaultTiming(step=-1)


def test_the_example_of_the_page_is_a_schedule(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "faults.md").read_text(encoding="utf-8")
    path = tmp_path / "faults.json"
    path.write_text(page.split("```json\n")[1].split("```")[0], encoding="utf-8")
    moved, slippery = Schedule.load(path).faults
    assert moved == Fault(FaultKind.MOVED, FaultTiming(3), FaultEffect("mug-1"))
    assert slippery == Fault(FaultKind.SLIPPERY, FaultTiming(times=0, probability=0.1))
    for kind in FaultKind:
        assert f"| `{kind.value}` |" in page

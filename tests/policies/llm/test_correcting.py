"""Correction prompts of long plans, shortened until they fit."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from hvr.policies.llm.conditions import Values, correction_values
from tests.policies.llm.llm_worlds import macro

MACROS = [macro(f"Take cup {n}", f"(on cup-{n} table-1)", f"(holding cup-{n})") for n in range(20)]
PROBLEM = "\n".join(f"macro action {n} (Take cup) cannot follow" for n in (9, 12, 15))


def length(values: Values) -> int:
    return sum(map(len, values.values()))


def objects(words: Iterable[str]) -> str:
    spoken = set(words)
    return "\n".join(f"cup-{n} (Cup): on table-1" for n in range(20) if f"cup-{n}" in spoken)


def cut(room: int) -> Values:
    world = {"objects": "\n".join(f"cup-{n} (Cup): on table-1" for n in range(60))}
    return correction_values(
        world, MACROS, PROBLEM, 1, objects=objects, fits=lambda values: length(values) <= room
    )


def test_with_room_everything_is_told() -> None:
    full = cut(10**6)
    assert full["problem"] == f"{PROBLEM}\n(correction 1)"
    assert "cup-59" in full["objects"] and full["conditions"].count("Preconditions") == 20


def test_problems_go_first_then_objects_then_conditions() -> None:
    full = length(cut(10**6))
    fewer = cut(full - 1)
    assert "action 12" in fewer["problem"] and "action 15" not in fewer["problem"]
    assert "cup-59" in fewer["objects"]
    named = cut(full - 200)
    assert "cup-59" not in named["objects"] and named["conditions"].count("Preconditions") == 20
    least = cut(0)
    assert least["conditions"].count("Preconditions") == 3, "the one with the problem, two before"
    assert "20. Take cup 19" in least["conditions"] and "action 9" in least["problem"]


@given(st.integers(0, 5_000))
def test_what_fits_is_told_and_one_problem_always_is(room: int) -> None:
    told = cut(room)
    assert length(told) <= max(room, length(cut(0)))
    assert "macro action 9" in told["problem"]

"""Streams of plans: the verdicts of `validate`, in order, lazily, for any row."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.validation import Outcome, stream, validate

DOMAIN = """(define (domain lamps) (:predicates (lit ?l))
 (:action light :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))"""


def problem(count: int) -> str:
    lamps = " ".join(f"l{i}" for i in range(count))
    goal = " ".join(f"(lit l{i})" for i in range(count))
    return f"(define (problem p) (:domain lamps) (:objects {lamps}) (:init) (:goal (and {goal})))"


ROWS = st.tuples(
    st.integers(1, 3),
    st.lists(st.integers(0, 3).map(lambda i: f"(light l{i})"), max_size=4).map("\n".join),
)


@pytest.mark.slow
@given(st.lists(ROWS, max_size=6))
def test_verdicts_are_those_of_one_plan_at_a_time(rows: list[tuple[int, str]]) -> None:
    texts = [(DOMAIN, problem(count), plan) for count, plan in rows]
    together = [judged.report for judged in stream(texts)]
    alone = [next(stream([row])).report for row in texts]
    assert together == alone
    for (domain, task, plan), report in zip(texts, together, strict=True):
        if plan:
            assert validate(domain, task, plan).outcome == report.outcome


def test_what_cannot_be_used_stops_nothing() -> None:
    good = (DOMAIN, problem(1), "(light l0)")
    bad = [("(define", problem(1), "(light l0)"), (DOMAIN, "(", "(light l0)"), (*good[:2], ")(")]
    bad += bad
    outcomes = [judged.report.outcome for judged in stream([good, *bad, good])]
    assert outcomes == [Outcome.VALID, *[Outcome.UNKNOWN] * len(bad), Outcome.VALID]


def test_no_file_is_opened(tmp_path: Path) -> None:
    names = tmp_path / "d.pddl", tmp_path / "p.pddl", tmp_path / "plan.txt"
    for name, text in zip(names, (DOMAIN, problem(1), "(light l0)"), strict=True):
        name.write_text(text)
    (judged,) = stream([(str(names[0]), str(names[1]), str(names[2]))])
    assert judged.report.outcome is Outcome.UNKNOWN
    (judged,) = stream([(DOMAIN, problem(1), str(names[2]))])
    assert judged.report.outcome is not Outcome.VALID


def test_a_row_that_is_none_is_named() -> None:
    good = (DOMAIN, problem(1), "(light l0)")
    verdicts = stream([good, (DOMAIN, problem(1), None)])  # type: ignore[list-item]
    assert next(verdicts).report.outcome is Outcome.VALID
    with pytest.raises(UsageError, match="row 2: plan must be a string"):
        next(verdicts)


@pytest.mark.slow
def test_memory_stays_and_rows_are_read_when_needed() -> None:
    taken = 0

    def rows() -> Iterator[tuple[str, str, str]]:
        nonlocal taken
        while True:
            taken += 1
            yield DOMAIN, problem(1 + taken % 40), "(light l0)"

    verdicts = stream(rows())
    for _ in range(100):
        next(verdicts)
    assert taken == 100
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(2):
            for _ in range(80):
                next(verdicts)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[1] < sizes[0] * 1.2 + 50_000

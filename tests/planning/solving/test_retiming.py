"""Retimed plans are valid and as early as possible."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl import GroundAction, Step, Task, TimedAction, parse_domain, parse_problem
from hvr.planning.solving.race import retimed
from hvr.validation import Validator

DOMAIN = """(define (domain d) (:requirements :typing :durative-actions :timed-initial-literals)
  (:types robot place) (:predicates (at ?r - robot ?p - place) (open))
  (:functions (taken ?r - robot))
  (:durative-action go :parameters (?r - robot ?p ?q - place) :duration (= ?duration 2)
    :condition (and (at start (at ?r ?p)) (over all (open)))
    :effect (and (at start (not (at ?r ?p))) (at end (at ?r ?q))
                 (at end (increase (taken ?r) 1)))))"""


def validator(opens: int) -> Validator:
    domain = parse_domain(DOMAIN)
    init = "(open)" if opens < 0 else f"(at {opens} (open))"
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects r s - robot a b c - place)"
        f" (:init (at r a) (at s a) (= (taken r) 0) (= (taken s) 0) {init})"
        " (:goal (= (taken r) (taken s))))",
        domain,
    )
    return Validator(Task(domain, problem))


def chain(robot: str, count: int, start: Fraction, gap: Fraction) -> list[TimedAction]:
    names = "abc" * 3
    return [
        TimedAction(
            GroundAction("go", (robot, names[n], names[n + 1])), start + n * (2 + gap), Fraction(2)
        )
        for n in range(count)
    ]


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(1, 4),
    gap=st.sampled_from([Fraction(0), Fraction(1, 100_000), Fraction(1)]),
    start=st.integers(0, 9),
    opens=st.integers(-1, 3),
)
def test_steps_with_too_small_gaps_or_idle_times_become_as_early_as_possible(
    count: int, gap: Fraction, start: int, opens: int
) -> None:
    judge = validator(opens)
    begin = Fraction(max(start, opens + 1))
    plan: list[Step] = [*chain("r", count, begin, gap), *chain("s", count, begin, gap)]
    moved = retimed(judge, plan)
    assert moved is not None
    report = judge.check(moved)
    assert report.valid, report.explain()
    # Sequential with a gap; both robots in parallel; after the opening.
    least = 2 * count + (count - 1) * judge.tolerance + max(opens + judge.tolerance, 0)
    if opens < 0:
        least = 2 * count + (count - 1) * judge.tolerance
    assert max(s.start + 2 for s in moved if isinstance(s, TimedAction)) == least


def test_a_plan_without_times_is_left_alone() -> None:
    assert retimed(validator(-1), [GroundAction("go", ("r", "a", "b"))]) is None


def test_an_action_without_length_starts_before_it_ends() -> None:
    domain = parse_domain(DOMAIN.replace("(= ?duration 2)", "(= ?duration 0)"))
    text = (
        "(define (problem p) (:domain d) (:objects r - robot a b - place) (:init (at r a) (open)"
        " (= (taken r) 0)) (:goal (at r b)))"
    )
    judge = Validator(Task(domain, parse_problem(text, domain)))
    plan = [TimedAction(GroundAction("go", ("r", "a", "b")), Fraction(1), Fraction(0))]
    assert retimed(judge, plan) == (plan[0].replace(start=Fraction(0)),)


def test_what_cannot_be_kept_before_a_timed_literal_has_no_times() -> None:
    domain = parse_domain(DOMAIN)
    text = (
        "(define (problem p) (:domain d) (:objects r - robot a b c - place) (:init (at r a)"
        " (= (taken r) 0) (open) (at 3 (not (open)))) (:goal (= (taken r) 2)))"
    )
    judge = Validator(Task(domain, parse_problem(text, domain)))
    late: list[Step] = [
        s.replace(start=s.start * Fraction(1, 4)) for s in chain("r", 2, Fraction(0), Fraction(0))
    ]
    moved = retimed(judge, late)
    assert moved is None or not judge.check(moved).valid

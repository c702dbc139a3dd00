"""Trajectory constraints and preferences: boundary cases of Gerevini & Long's definitions."""

import pytest

from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import FailureKind, ValidationReport, Validator

DOMAIN = """
(define (domain lamps) (:requirements :constraints :preferences :durative-actions)
  (:predicates (a) (b) (on ?x) (lit ?x)) (:functions (n))
  (:action a :effect (a)) (:action na :effect (not (a)))
  (:action b :effect (b)) (:action nb :effect (not (b)))
  (:action ab :effect (and (a) (b)))
  (:action wait :precondition (preference calm (not (a))) :effect (and))
  (:action use :parameters (?x) :precondition (forall (?y) (preference all (on ?y)))
    :effect (on ?x)))
"""
TIMED = (
    DOMAIN.rstrip()[:-1]
    + """
  (:durative-action hold :parameters () :duration (>= ?duration 1)
    :condition (and (over all (preference steady (a))) (at start (preference begun (a)))
      (preference whole (and (at start (a)) (at end (a)))))
    :effect (at end (b))))
"""
)


def check(constraint: str, plan: str, *, timed: bool = False, goal: str = "()") -> ValidationReport:
    """Judge a plan; one letter or word is a step, `2.5:b` a timed step."""
    text = "\n".join(
        (f"{step.partition(':')[0]}: ({step.partition(':')[2]})" if ":" in step else f"({step})")
        for step in plan.split()
    ).replace("_", " ")
    domain = parse_domain(TIMED if timed else DOMAIN)
    problem = parse_problem(
        f"(define (problem p) (:domain lamps) (:objects x y) (:init) (:goal {goal})"
        f" (:constraints {constraint}))",
        domain,
    )
    return Validator(domain, problem).check(read_plan(text).steps)


@pytest.mark.parametrize(
    ("constraint", "plan", "step"),
    [
        # step at which the violation is known; -1: at the end; None: satisfied
        ("(always (not (a)))", "b", None),
        ("(always (not (a)))", "b a", 2),
        ("(always (a))", "a", 0),  # the initial state counts
        ("(sometime (a))", "b a na", None),
        ("(sometime (a))", "b", -1),
        ("(sometime (not (a)))", "", None),
        ("(at end (a))", "a na a", None),
        ("(at end (a))", "a na", -1),
        ("(within 2 (a))", "b a", None),  # exactly at the bound
        ("(within 2 (a))", "b b a", -1),
        ("(at-most-once (a))", "a a b na b", None),
        ("(at-most-once (a))", "a na a", 3),
        ("(at-most-once (not (a)))", "a b na", 3),
        ("(sometime-after (a) (b))", "a b", None),
        ("(sometime-after (a) (b))", "ab", None),  # the same state suffices
        ("(sometime-after (a) (b))", "b a", None),  # b still holds
        ("(sometime-after (a) (b))", "b nb a", -1),
        ("(sometime-after (a) (b))", "", None),
        ("(sometime-before (a) (b))", "b nb a", None),
        ("(sometime-before (a) (b))", "ab", 1),  # the same state does not suffice
        ("(sometime-before (a) (b))", "a", 1),
        ("(always-within 1 (a) (b))", "a b", None),
        ("(always-within 1 (a) (b))", "a na b", 3),
        ("(always-within 1 (a) (b))", "a na", -1),
        ("(always-within 1 (a) (b))", "ab nb", -1),
        ("(hold-during 1 3 (a))", "a b na", None),  # the end of the window is open
        ("(hold-during 1 3 (a))", "a na", 2),
        ("(hold-during 1 3 (a))", "b a b", 1),
        ("(hold-during 5 6 (a))", "a", None),  # the last state persists
        ("(hold-during 5 6 (a))", "b", -1),
        ("(hold-after 2 (a))", "b a b", None),
        ("(hold-after 2 (a))", "b b a", 2),
        ("(hold-after 2 (a))", "b a na", 3),
        ("(hold-after 5 (a))", "b a", None),
        ("(and (sometime (a)) (forall (?x) (sometime (on ?x))))", "a use_x use_y", None),
        ("(and (sometime (a)) (forall (?x) (sometime (on ?x))))", "a use_x", -1),
    ],
)
def test_constraints_on_sequences(constraint: str, plan: str, step: int | None) -> None:
    report = check(constraint, plan)
    if step is None:
        assert report.valid
        return
    assert report.failure is not None
    assert report.failure.kind is FailureKind.CONSTRAINT
    last = len(plan.split())
    assert (report.failure.step or 0) == (last if step == -1 else step)
    assert report.failure.condition is not None
    assert report.explain()


@pytest.mark.parametrize(
    ("constraint", "plan", "valid"),
    [
        ("(within 2 (a))", "2:a", True),
        ("(within 2 (a))", "2.01:a", False),
        ("(always-within 1.5 (a) (b))", "1:a 2.5:b", True),
        ("(always-within 1.5 (a) (b))", "1:a 2.6:b", False),
        ("(hold-during 1 2.5 (a))", "1:a 2.5:na", True),
        ("(hold-during 1 2.5 (a))", "1:a 2.4:na", False),
        # The state at the opening of the window counts.
        ("(hold-during 1 2.5 (a))", "1.5:a 3:b", False),
        ("(hold-during 1 2.5 (a))", "0.5:a 3:b", True),
        ("(hold-after 3 (a))", "2:a 5:b", True),
        ("(hold-after 3 (a))", "4:a 5:b", False),
        ("(hold-after 3 (a))", "3:a", True),
    ],
)
def test_constraints_in_time(constraint: str, plan: str, valid: bool) -> None:
    assert check(constraint, plan, timed=True).valid == valid


def violated(report: ValidationReport) -> dict[str, int]:
    assert report.valid
    return dict(report.violated)


def test_preferences_of_constraints_and_goals_are_counted_by_instance() -> None:
    wish = "(preference s (sometime (a)))"
    assert violated(check(wish, "a"))["s"] == 0
    assert violated(check(wish, "b"))["s"] == 1
    each = "(forall (?x) (preference s (sometime (on ?x))))"
    assert violated(check(each, "use_x"))["s"] == 1
    together = "(preference s (and (sometime (a)) (sometime (b))))"
    assert violated(check(together, "wait"))["s"] == 1
    goal = "(and (preference g (a)) (forall (?x) (preference h (on ?x))))"
    found = violated(check("(and)", "use_x", goal=goal))
    assert (found["g"], found["h"]) == (1, 1)


def test_preferences_of_preconditions_are_counted_once_per_application() -> None:
    assert violated(check("(and)", "wait a wait wait"))["calm"] == 2
    assert violated(check("(and)", "use_x use_y use_x"))["all"] == 2 + 1 + 0


@pytest.mark.parametrize(
    ("plan", "steady", "begun", "whole"),
    [
        ("0: (a)\n1: (hold) [3]", 0, 0, 0),
        ("1: (hold) [3]", 1, 1, 1),
        # Not (a) in three states of the time between: one violation.
        ("0: (a)\n1: (hold) [8]\n2: (na)\n3: (nb)\n4: (nb)\n5: (a)", 1, 0, 0),
        ("0: (a)\n1: (hold) [3]\n2: (na)\n7: (hold) [1]", 2, 1, 2),
    ],
)
def test_preferences_of_durative_actions_are_counted_once_per_application(
    plan: str, steady: int, begun: int, whole: int
) -> None:
    domain = parse_domain(TIMED)
    problem = parse_problem(
        "(define (problem p) (:domain lamps) (:init) (:goal ())"
        " (:metric minimize (+ (* 100 (is-violated steady)) (is-violated whole))))",
        domain,
    )
    report = Validator(domain, problem).check(read_plan(plan).steps)
    found = violated(report)
    assert (found["steady"], found["begun"], found["whole"]) == (steady, begun, whole)
    assert report.cost == 100 * steady + whole


def test_past_states_count_when_a_plan_goes_on() -> None:
    domain = parse_domain(DOMAIN)
    problem = parse_problem(
        "(define (problem p) (:domain lamps) (:init) (:goal ()) (:constraints (at-most-once (a))))",
        domain,
    )
    validator = Validator(domain, problem)
    for text in ("(a)", "(na)"):
        (step,) = read_plan(text).steps
        assert validator.apply(step).ok  # type: ignore[arg-type]
    assert validator.check(()).valid
    assert not validator.check(read_plan("(a)").steps).valid

"""Minimisation of plans: a law for every valid plan, and examples of each kind."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.pddl import (
    GroundAction,
    Step,
    TimedAction,
    parse_domain,
    parse_plan,
    parse_problem,
    read_plan,
)
from hvr.validation import ValidationReport, Validator
from hvr.validation.minimise import minimise
from tests.work import lines_run

LAW = settings(max_examples=80, suppress_health_check=list(HealthCheck))

# Features that the fast path must handle: conditional effects, negative and disjunctive
# conditions, numbers, derived predicates.
DOMAIN = """
(define (domain mixed) (:requirements :adl :numeric-fluents :derived-predicates)
  (:predicates (p ?x) (q ?x) (d ?x) (r))
  (:functions (n) (total-cost))
  (:derived (d ?x) (or (q ?x) (exists (?y) (and (p ?y) (not (= ?x ?y)) (r)))))
  (:action make :parameters (?x) :precondition (not (p ?x))
    :effect (and (p ?x) (increase (total-cost) 2)))
  (:action move :parameters (?x ?y) :precondition (p ?x)
    :effect (and (not (p ?x)) (p ?y) (increase (n) 1)))
  (:action turn :effect (and (when (r) (not (r))) (when (not (r)) (r))
    (forall (?x) (when (p ?x) (q ?x)))))
  (:action spend :parameters (?x) :precondition (and (>= (n) 1) (or (d ?x) (p ?x)))
    :effect (and (decrease (n) 1) (q ?x) (increase (total-cost) 1)))
  (:action clear :parameters (?x) :precondition (d ?x) :effect (not (q ?x))))
"""
WISHES = ("(p a)", "(q b)", "(d a)", "(not (q a))", "(r)", "(>= (n) 1)", "(or (q a) (p b))")
ACTIONS = [
    GroundAction(name, args)
    for name, arity in (("make", 1), ("move", 2), ("turn", 0), ("spend", 1), ("clear", 1))
    for args in ([()] if arity == 0 else [("a",), ("b",)] if arity == 1 else
                 [("a", "b"), ("b", "a"), ("a", "a")])
]  # fmt: skip


def mixed(goal: str, metric: str = "", more: str = "") -> Validator:
    domain = parse_domain(DOMAIN)
    return Validator(
        domain,
        parse_problem(
            f"(define (problem x) (:domain mixed) (:objects a b) (:init (= (n) 0) (= (total-cost) "
            f"0)) (:goal {goal}) {metric} {more})",
            domain,
        ),
    )


@st.composite
def cases(draw: st.DrawFn, more: str = "") -> tuple[Validator, tuple[GroundAction, ...]]:
    """Draw a valid plan with many redundant steps."""
    wishes = draw(st.lists(st.sampled_from(WISHES), max_size=3, unique=True))
    metric = draw(st.sampled_from(("", "(:metric minimize (total-cost))",
                                   "(:metric maximize (total-cost))")))  # fmt: skip
    validator = mixed(f"(and {' '.join(wishes)})", metric, more)
    plan: list[GroundAction] = []
    ahead = validator.fork()
    for action in draw(st.lists(st.sampled_from(ACTIONS), max_size=14)):
        if ahead.apply(action).ok:
            plan.append(action)
    assume(validator.check(plan).valid)
    return validator, tuple(plan)


def worse(validator: Validator, new: ValidationReport, old: ValidationReport) -> bool:
    assert new.cost is not None and old.cost is not None
    metric = validator.task.problem.metric
    if metric is not None and metric.direction == "maximize":
        return new.cost < old.cost
    return new.cost > old.cost


def assert_minimal(validator: Validator, plan: tuple[Step, ...]) -> tuple[Step, ...]:
    """Minimise a plan and check the law."""
    shorter, removed = minimise(validator, plan)
    assert shorter == tuple(s for i, s in enumerate(plan, 1) if i not in removed)
    report = validator.check(shorter)
    assert report.valid
    assert not worse(validator, report, validator.check(plan))
    for i in range(len(shorter)):
        without = validator.check(shorter[:i] + shorter[i + 1 :])
        assert not without.valid or worse(validator, without, report)
    return shorter


@pytest.mark.slow
@LAW
@given(cases())
def test_the_minimised_plan_is_valid_and_no_step_of_it_can_go(
    case: tuple[Validator, tuple[GroundAction, ...]],
) -> None:
    assert_minimal(*case)


@pytest.mark.slow
@LAW
@given(cases("(:constraints (and (at-most-once (r)) (preference w (always (not (q b))))))"))
def test_constraints_and_preferences_are_respected(
    case: tuple[Validator, tuple[GroundAction, ...]],
) -> None:
    assert_minimal(*case)


def test_steps_go_with_those_that_depend_on_them() -> None:
    validator = mixed("(p a)")
    plan = parse_plan("(make a) (make b) (move b b) (spend b)")
    assert minimise(validator, plan) == (plan[:1], (2, 3, 4))


def test_a_plan_may_be_left_with_no_step() -> None:
    validator = mixed("(not (p a))")
    assert minimise(validator, parse_plan("(make b) (turn)")) == ((), (1, 2))
    assert minimise(validator, ()) == ((), ())


def test_a_step_stays_whose_loss_would_violate_a_preference() -> None:
    wish = "(:metric minimize (* 10 (is-violated w)))"
    validator = mixed("(and (p a) (preference w (q b)))", wish)
    plan = parse_plan("(make b) (turn) (make a) (turn)")
    shorter, removed = minimise(validator, plan)
    assert [str(step) for step in shorter] == ["(make b)", "(make a)", "(turn)"]
    assert removed == (2,)


def test_a_plan_with_step_times_keeps_its_order() -> None:
    validator = mixed("(p b)")
    plan = read_plan("2: (move a b)\n1: (make a)\n3: (turn)").steps
    assert minimise(validator, plan) == (plan[:2], (3,))


def test_an_invalid_plan_is_refused() -> None:
    with pytest.raises(UsageError):
        minimise(mixed("(p a)"), ())
    with pytest.raises(UsageError):
        minimise(mixed("(and (p a) (preference w (q b)))"), ())


TEMPORAL = """
(define (domain lamps) (:requirements :durative-actions :negative-preconditions)
  (:predicates (lit) (warm) (seen))
  (:durative-action burn :duration (= ?duration 4) :condition (at start (not (lit)))
    :effect (and (at start (lit)) (at end (not (lit)))))
  (:durative-action look :duration (= ?duration 1) :condition (over all (lit))
    :effect (at end (seen)))
  (:durative-action heat :duration (= ?duration 1) :condition (over all (lit))
    :effect (at end (warm))))
"""


def test_a_temporal_plan_loses_steps_with_those_that_depend_on_them() -> None:
    domain = parse_domain(TEMPORAL)
    problem = parse_problem("(define (problem x) (:domain lamps) (:init) (:goal (seen)))", domain)
    validator = Validator(domain, problem)
    text = "0: (burn) [4]\n1: (look) [1]\n2: (heat) [1]\n10: (burn) [4]\n11: (look) [1]"
    plan = read_plan(text).steps
    shorter = assert_minimal(validator, plan)
    assert [str(s.action) for s in shorter if isinstance(s, TimedAction)] == ["(burn)", "(look)"]


def swinging(steps: int) -> list[GroundAction]:
    """Return a plan in which all but three steps move back and forth."""
    swing = [GroundAction("move", args) for args in (("a", "b"), ("b", "a"))] * (steps // 2)
    return [GroundAction("make", ("a",)), GroundAction("turn"), *swing, swing[0]]


@pytest.mark.slow
def test_of_many_steps_the_needed_ones_stay() -> None:
    validator = mixed("(and (p b) (q a))")
    shorter, removed = minimise(validator, swinging(400))
    assert len(shorter) == 3
    assert len(removed) == 400
    assert validator.check(shorter).cost == Fraction(3)


@pytest.mark.slow
def test_the_work_grows_with_the_square_of_the_steps_and_no_faster() -> None:
    validator = mixed("(and (p b) (q a))")

    def work(steps: int) -> int:
        return lines_run(lambda: minimise(validator, swinging(steps)))

    assert work(200) < 5 * work(100)

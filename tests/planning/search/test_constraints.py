"""Trajectory constraints in search: plans satisfy them, and are shortest among those that do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.errors import PlannerError
from hvr.pddl import GroundAction, Task, ground_all, parse_domain, parse_problem
from hvr.planning.search.fast_downward import solve
from hvr.planning.search.ground import build, plan_actions
from hvr.validation import Validator
from tests.planning.search.planning_worlds import ROOM, cheapest

MOST_STEPS = 4


@st.composite
def watched_tasks(draw: st.DrawFn) -> Task:
    """Draw propositional tasks with one to three trajectory constraints."""
    names = ["p", "q", "r"]

    def literals(most: int) -> str:
        chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True))
        return " ".join(f"({n})" if draw(st.booleans()) else f"(not ({n}))" for n in chosen)

    def condition() -> str:
        kind = draw(st.sampled_from(["and", "and", "or"]))
        return f"({kind} {literals(2)})"

    actions = []
    for number in range(draw(st.integers(2, 3))):
        effects = literals(2)
        if draw(st.booleans()):
            effects += f" (when {condition()} (and {literals(2)}))"
        needs = condition() if draw(st.booleans()) else "(and)"
        actions.append(f"(:action a{number} :precondition {needs} :effect (and {effects}))")
    constraints = []
    for _ in range(draw(st.integers(1, 3))):
        operator = draw(st.sampled_from(
            ["always", "sometime", "at-most-once", "sometime-before", "sometime-after", "at end"]
        ))  # fmt: skip
        formulas = 2 if operator.startswith("sometime-") else 1
        constraints.append(f"({operator} {' '.join(condition() for _ in range(formulas))})")
    start = " ".join(f"({n})" for n in names if draw(st.booleans()))
    domain = parse_domain(
        "(define (domain d) (:requirements :adl :constraints) (:predicates (p) (q) (r)) "
        f"{' '.join(actions)})"
    )
    problem = (
        f"(define (problem p) (:domain d) (:init {start}) (:goal (and {literals(1)})) "
        f"(:constraints (and {' '.join(constraints)})))"
    )
    return Task(domain, parse_problem(problem, domain))


def sequences(task: Task) -> Iterator[tuple[GroundAction, ...]]:
    """Yield all sequences of a few actions, short ones first."""
    actions = tuple(ground_all(task))
    for length in range(MOST_STEPS + 1):
        yield from product(actions, repeat=length)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(watched_tasks())
def test_plans_are_as_short_as_the_shortest_that_the_validator_accepts(task: Task) -> None:
    judge = Validator(task)
    shortest = next((way for way in sequences(task) if judge.check(way).valid), None)
    for reduce in (False, True):
        problem = build(task, reduce=reduce)
        numbers = cheapest(problem)
        plan = None if numbers is None else tuple(plan_actions(problem, numbers))
        assert plan is None or judge.check(plan).valid
        if shortest is None:
            assert plan is None or len(plan) > MOST_STEPS
        else:
            assert plan is not None
            assert len(plan) == len(shortest)


def room(goal: str, constraints: str) -> Task:
    domain = parse_domain(ROOM.replace(":adl", ":adl :constraints"))
    text = (
        "(define (problem p) (:domain room) (:objects knife loaf - thing table shelf box - place)"
        "  (:init (free) (at table) (on knife shelf) (on loaf box) (door box) (tool knife)"
        f"   (lamp table) (lamp shelf)) (:goal {goal}) (:constraints {constraints}))"
    )
    return Task(domain, parse_problem(text, domain))


@pytest.mark.parametrize(
    ("constraint", "more"),
    [
        ("(always (not (lit shelf)))", 0),
        ("(sometime (lit shelf))", 2),
        ("(sometime-before (held loaf) (held knife))", 4),
        ("(sometime-after (held loaf) (lit shelf))", 2),
        ("(at end (open box))", 0),
        ("(at-most-once (at box))", 0),
        ("(forall (?p - place) (sometime (at ?p)))", 1),
        ("(preference tidy (always (open box)))", 0),
    ],
)
def test_a_constraint_costs_the_steps_that_it_takes(constraint: str, more: int) -> None:
    goal = "(on loaf table)"
    free, bound = solve(room(goal, "(and)"), 600), solve(room(goal, constraint), 600)
    assert free.optimal
    assert bound.optimal
    assert bound.plan is not None
    assert len(bound.plan) - len(free.plan or ()) == more
    assert Validator(room(goal, constraint)).check(bound.plan).valid


@pytest.mark.parametrize(
    "constraint",
    [
        "(always (not (open box)))",
        "(always (held knife))",  # violated from the start
        "(sometime-before (open box) (held loaf))",
        "(sometime (and (lit table) (dusty table)))",
    ],
)
def test_what_a_constraint_makes_impossible_is_proven(constraint: str) -> None:
    result = solve(room("(on loaf table)", constraint), 600)
    assert (result.plan, result.optimal) == (None, True)


def test_times_are_refused() -> None:
    with pytest.raises(PlannerError, match="constraints with times"):
        build(room("(on loaf table)", "(within 3 (held loaf))"))

"""Searches find plans that avoid unwanted conditional effects."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.pddl import Task, ground_all, parse_domain, parse_problem
from hvr.planning.search.ground import build
from hvr.planning.solving.forward import forward
from hvr.validation import Validator
from tests.planning.search.planning_worlds import cheapest

PUDDLE = """(define (domain puddle) (:requirements :adl) (:predicates (wet) (roofed))
  (:action roof :parameters () :precondition (and) :effect (roofed))
  (:action dry :parameters () :precondition (and)
    :effect (and (not (wet)) (when (not (roofed)) (wet)))))"""
TANK = """(define (domain tank) (:requirements :adl :numeric-fluents)
  (:predicates (open) (unlocked)) (:functions (level))
  (:action unlock :parameters () :precondition (and) :effect (unlocked))
  (:action turn :parameters () :precondition (unlocked) :effect (open))
  (:action pump :parameters () :precondition (and) :effect (when (open) (increase (level) 1))))"""


@pytest.mark.parametrize(
    ("domain", "rest", "steps"),
    [
        (PUDDLE, "(:init (wet)) (:goal (not (wet)))", 2),
        (TANK, "(:init (= (level) 0)) (:goal (>= (level) 1))", 3),
    ],
    ids=["an effect to avoid", "the condition of a numeric effect"],
)
def test_what_changes_the_condition_of_an_effect_is_relevant(
    domain: str, rest: str, steps: int
) -> None:
    parsed = parse_domain(domain)
    task = Task(
        parsed, parse_problem(f"(define (problem p) (:domain {parsed.name}) {rest})", parsed)
    )
    plan = forward(task, 20).plan
    assert plan is not None and len(plan) == steps and Validator(task).check(plan).valid


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Draw propositional tasks whose actions have conditional effects."""
    names = ["p", "q", "r", "s"]

    def literals() -> str:
        chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        return " ".join(f"({n})" if draw(st.booleans()) else f"(not ({n}))" for n in chosen)

    def condition() -> str:
        return f"({draw(st.sampled_from(['and', 'and', 'or']))} {literals()})"

    actions = []
    for number in range(draw(st.integers(2, 4))):
        effects = literals() if draw(st.booleans()) else ""
        for _ in range(draw(st.integers(0, 2))):
            effects += f" (when {condition()} (and {literals()}))"
        needs = condition() if draw(st.booleans()) else "(and)"
        actions.append(f"(:action a{number} :precondition {needs} :effect (and {effects}))")
    start = " ".join(f"({n})" for n in names if draw(st.booleans()))
    domain = parse_domain(
        "(define (domain d) (:requirements :adl) "
        f"(:predicates {' '.join(f'({n})' for n in names)}) {' '.join(actions)})"
    )
    problem = f"(define (problem p) (:domain d) (:init {start}) (:goal (and {literals()})))"
    return Task(domain, parse_problem(problem, domain))


def length_of_shortest(task: Task) -> int | None:
    """Return the shortest plan length by exhaustive search, or None without a plan."""
    actions = tuple(ground_all(task))
    known = {task.initial.bits: 0}
    waiting = deque([Validator(task)])
    while waiting:
        validator = waiting.popleft()
        depth = known[validator.state.bits]
        if task.goal.holds(validator.state.bits, validator.state.values):
            return depth
        for action in actions:
            after = validator.fork()
            if after.apply(action).ok and after.state.bits not in known:
                known[after.state.bits] = depth + 1
                waiting.append(after)
    return None


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(tasks())
def test_no_search_misses_a_plan(task: Task) -> None:
    shortest = length_of_shortest(task)
    plan = forward(task, 60).plan
    assert (plan is None) is (shortest is None)
    assert plan is None or Validator(task).check(plan).valid
    for reduce in (False, True):
        numbers = cheapest(build(task, reduce=reduce))
        assert (None if numbers is None else len(numbers)) == shortest or reduce
        assert (numbers is None) is (shortest is None)

"""Constraints of a stage: the plan satisfies them, and the problem contains their objects."""

from __future__ import annotations

import pytest

from hvr.errors import ImpossibleGoalError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.pddl import parse_plan, parse_problem, print_plan, print_problem
from hvr.planning.plans import Planned
from hvr.policies.symbolic import SymbolicPolicy
from hvr.validation import Validator
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.thor.observe import Names
from hvr.worlds.thor.skills import perform
from tests.execution.execution_worlds import symbolic

ONE_DOOR = "(always (not (exists (?a ?b - item) (and (not (= ?a ?b)) (opened ?a) (opened ?b)))))"


@pytest.fixture(scope="module")
def policy() -> SymbolicPolicy:
    return symbolic()


def planned(policy: SymbolicPolicy, request: str, *constraints: str) -> Planned:
    world = World(Kitchen("FloorPlan1"), KnowledgeGraph.create(None, policy.ontology))
    inventory = world.inventory()
    (stage,) = policy.reader.goal(request, inventory).stages
    return policy.plan(stage.replace(constraints=constraints), world.graph, inventory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "constraint", "without"),
    [
        ("slice the bread", "(always (not (holding knife-1)))", "knife-1"),
        ("cook the potato", "(always (forall (?m - microwave) (not (toggled ?m))))", "microwave-1"),
        ("cook the potato", "(always (not (exists (?x - item) (on ?x stoveburner-3))))",
         "stoveburner-3"),
    ],
)  # fmt: skip
def test_something_else_is_used(
    policy: SymbolicPolicy, request_: str, constraint: str, without: str
) -> None:
    plan = planned(policy, request_, constraint).plan
    assert all(without not in action.args for action in plan.actions)


@pytest.mark.slow
def test_doors_are_closed_before_others_are_opened(policy: SymbolicPolicy) -> None:
    free = planned(policy, "cool the apple and put a mug in a cabinet")
    bound = planned(policy, "cool the apple and put a mug in a cabinet", ONE_DOOR)
    assert not Validator(bound.task).check(free.plan.actions).valid
    assert Validator(bound.task).check(bound.plan.actions).valid


def test_the_problem_of_a_run_says_what_was_to_be_kept(policy: SymbolicPolicy) -> None:
    made = planned(policy, "cool the apple", ONE_DOOR)
    problem = parse_problem(print_problem(made.problem), policy.domain)
    steps = parse_plan(print_plan(made.plan.actions))
    assert Validator(policy.domain, problem).check(steps).valid
    assert "constraints" in print_problem(problem)


def test_what_stands_open_counts_though_the_goal_has_no_use_for_it(policy: SymbolicPolicy) -> None:
    kitchen = Kitchen("FloorPlan1")
    names = Names.from_metadata(kitchen.last_event.metadata)
    for skill in ("navigate_to_obj", "open_obj"):
        assert perform(kitchen, names, skill, ("cabinet-1",)).success
    world = World(kitchen, KnowledgeGraph.create(None, policy.ontology))
    inventory = world.inventory()
    (stage,) = policy.reader.goal("cool the apple", inventory).stages
    made = policy.plan(stage.replace(constraints=(ONE_DOOR,)), world.graph, inventory)
    closed = [a.args[0] for a in made.plan.actions if a.name == "close_obj"]
    assert closed == ["cabinet-1", "fridge-1"]


@pytest.mark.slow
def test_what_cannot_be_kept_is_said(policy: SymbolicPolicy) -> None:
    with pytest.raises(ImpossibleGoalError, match="that keeps"):
        planned(policy, "cool the apple", "(always (not (opened fridge-1)))")

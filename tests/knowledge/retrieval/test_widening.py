"""hvr never reports a missing plan because its choice of objects was too narrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.errors import ImpossibleGoalError
from hvr.execution.world import World
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Stage
from hvr.pddl import Atom, Problem, Task, parse_domain, parse_problem
from hvr.pddl.formulas import walk
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import (
    SymbolicPolicy,
    is_unreachable,
    relaxed_plan_objects,
    widening_choices,
)
from hvr.validation import Validator
from hvr.validation.minimise import reaches_goal
from tests.planning.search.planning_worlds import loose_tasks, room_tasks, shortest

SLOW = settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)


def with_more(chosen: Relevant, names: Iterable[str]) -> Relevant:
    return Relevant({**dict.fromkeys(names, "more"), **chosen.reasons})


def among(problem: Problem, names: Iterable[str]) -> Problem:
    objects = tuple(o for o in problem.objects if o.name in {*names})
    known = {o.name for o in objects}
    return problem.replace(
        objects=objects, init=frozenset(a for a in problem.init if known.issuperset(a.args))
    )


def named(task: Task) -> Iterator[str]:
    for part in walk(task.problem.goal):
        if isinstance(part, Atom):
            yield from (arg for arg in part.args if not arg.startswith("?"))


@pytest.mark.slow
@SLOW
@given(st.one_of(room_tasks(), loose_tasks()))
def test_what_is_said_to_be_out_of_reach_is(task: Task) -> None:
    if is_unreachable(task, 10.0) or relaxed_plan_objects(task, 10.0) is None:
        assert shortest(task) is None


@pytest.mark.slow
@SLOW
@given(st.one_of(room_tasks(), loose_tasks()))
def test_a_plan_is_found_with_a_choice_that_is_widened_exactly_where_there_is_one(
    task: Task,
) -> None:
    chosen = Relevant(dict.fromkeys(named(task), "named"))
    found = False
    for relevant in widening_choices(chosen, lambda: task, with_more, 10.0):
        plan = shortest(Task(task.domain, among(task.problem, relevant.names)))
        if plan is not None and reaches_goal(task, plan):
            found = True
            break
    assert found is (shortest(task) is not None)


NEEDED = ("mug-1", "sinkbasin-1", "faucet-1", "countertop-1", "coffeemachine-1")
"""Objects required for coffee on the counter when the mug is in the basin."""


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
@given(chosen=st.sets(st.sampled_from(NEEDED)))
def test_a_choice_that_lacks_something_still_gets_a_plan(chosen: set[str], kitchen: World) -> None:
    inventory = kitchen.inventory()
    kept = {*NEEDED, "sink-1", "plate-1", "fridge-1", "egg-1", "toaster-1"}
    inventory = inventory.without([name for name in inventory.classes if name not in kept])
    narrow = Narrow(chosen)
    wanted = "(exists (?m - mug) (and (contains ?m coffee) (on ?m countertop-1) (hand_empty)))"
    planned = narrow.plan(Stage(wanted), kitchen.graph, inventory)
    assert Validator(planned.task).check(planned.plan.actions).valid


@pytest.mark.slow
def test_only_what_all_objects_cannot_do_is_impossible(kitchen: World) -> None:
    inventory = kitchen.inventory()
    keep = {"mug-1", "sinkbasin-1", "countertop-1", "fridge-1"}
    inventory = inventory.without([name for name in inventory.classes if name not in keep])
    for wanted in ("(on fridge-1 countertop-1)", "(and (holding mug-1) (hand_empty))"):
        with pytest.raises(ImpossibleGoalError, match="or anything else"):
            Narrow(()).plan(Stage(wanted), kitchen.graph, inventory)


class Narrow(SymbolicPolicy):
    """Chooses fixed objects, whatever the goal."""

    def __init__(self, names: Iterable[str]) -> None:
        place = load_world()
        super().__init__(place.scene_ontology, place.agent.domain(), FastDownward(patience=0.2))
        self.names = tuple(names)

    def _chosen(self, *_: object) -> Relevant:
        return Relevant(dict.fromkeys(self.names, "chosen"))


LAMPS = """(define (domain lamps) (:requirements :adl :typing) (:types lamp switch)
  (:predicates (lit ?l - lamp) (of ?s - switch ?l - lamp) (near ?s - switch ?l - lamp))
  (:action light :parameters (?l - lamp)
    :precondition (exists (?s - switch) (of ?s ?l)) :effect (lit ?l)))"""
TWO_LAMPS = """(define (problem two) (:domain lamps)
  (:objects l1 l2 - lamp s1 s2 s3 - switch)
  (:init (of s1 l1) (of s2 l2) (near s3 l1) (near s3 l2)) (:goal (lit l2)))"""


def test_what_an_action_needs_and_does_not_name_is_chosen_with_its_objects() -> None:
    domain = parse_domain(LAMPS)
    problem = parse_problem(TWO_LAMPS, domain)
    chosen = relaxed_plan_objects(Task(domain, problem), 10.0)
    assert chosen is not None and {*chosen} == {"l2", "s2"}

"""The navigation heuristic: laws, and the ground truth of the paper's tasks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.files import data_path
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import Domain, GroundAction, Task, TypedName, ground_all, parse_domain, parse_formula
from hvr.planning.search.navigation import (
    Navigation,
    drop_useless,
    find_navigation,
    insert_navigation,
    repair_navigation,
)
from hvr.runs.tasks import load_task, paper_task_ids
from hvr.validation import Validator
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene
from tests.planning.search.planning_worlds import ROOM, plans

KITCHEN = data_path("domains") / "kitchen" / "domain.pddl"


@pytest.fixture(scope="module")
def domain() -> Domain:
    return parse_domain(KITCHEN)


def truth(domain: Domain, name: str) -> tuple[Task, tuple[GroundAction, ...]]:
    """Return a task of the paper, restricted to the objects of its plan, and the plan."""
    task = load_task(name)
    graph = KnowledgeGraph.create(None, load_ontology())
    scene = load_scene(task.ground_truth.scene)
    inventory = World(Kitchen(scene, 0), graph).inventory()
    steps = task.ground_truth.steps
    # Include their supports and pieces.
    names = {arg for step in steps for arg in step.args}
    names |= {inventory.parents[n] for n in names if n in inventory.parents}
    names |= {
        n for n in inventory.classes if n.startswith(("stoveknob", "floor", "faucet", "sink"))
    }
    objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
    goal = parse_formula(task.goal, domain, objects)
    return Task(domain, graph.problem(domain, "task", sorted(names), goal)), steps


def valid(task: Task, plan: Sequence[GroundAction]) -> bool:
    return Validator(task).check(plan).valid


def action(text: str) -> GroundAction:
    name, *args = text.split()
    return GroundAction(name, tuple(args))


def test_navigation_is_found_by_what_it_does(domain: Domain) -> None:
    assert find_navigation(domain) == Navigation((("navigate_to_obj", "near"),))
    assert find_navigation(parse_domain(ROOM)) == Navigation(
        (("go", "at"), ("navigate_to_obj", "near"))
    )
    text = KITCHEN.read_text().replace("navigate_to_obj", "wander").replace("near", "beneath")
    assert find_navigation(parse_domain(text)) == Navigation((("wander", "beneath"),))


def test_a_domain_without_navigation_is_left_alone(domain: Domain) -> None:
    text = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    assert find_navigation(parse_domain(text)) is None
    assert domain.actions


@pytest.mark.parametrize("name", paper_task_ids())
def test_ground_truth_without_navigation_is_made_valid_again(domain: Domain, name: str) -> None:
    task, steps = truth(domain, name)
    assert valid(task, steps)
    navigation = find_navigation(domain)
    assert navigation is not None
    bare = [step for step in steps if step.name not in navigation.actions]
    assert len(bare) < len(steps) and not valid(task, bare)
    repaired = repair_navigation(task, task.initial, bare)
    assert valid(task, repaired)
    assert [s for s in repaired if s.name not in navigation.actions] == bare
    # A shortest plan may reach two objects from one place.
    assert len(repaired) <= len(steps) + 2
    assert repair_navigation(task, task.initial, repaired) == repaired


@pytest.mark.parametrize("name", ["T2", "T7"])
def test_needless_navigation_is_dropped(domain: Domain, name: str) -> None:
    task, steps = truth(domain, name)
    wandering = [action("navigate_to_obj countertop-1"), *steps[:1], steps[0], *steps[1:]]
    task_has = [a for a in wandering if task.misfit(a) is None]
    assert drop_useless(task, task.initial, task_has) == steps


def test_the_example_of_the_paper(domain: Domain) -> None:
    task, _ = truth(domain, "T7")
    bare = [action("pick_up bowl-1"), action("put_on bowl-1 countertop-2")]
    assert repair_navigation(task, task.initial, bare) == (
        action("navigate_to_obj bowl-1"),
        action("pick_up bowl-1"),
        action("navigate_to_obj countertop-2"),
        action("put_on bowl-1 countertop-2"),
    )


def test_what_is_wrong_otherwise_is_left_alone(domain: Domain) -> None:
    task, _ = truth(domain, "T2")
    assert insert_navigation(task, task.initial, action("put_on mug-1 countertop-2")) is None or (
        # Then no nearness condition is unmet.
        repair_navigation(task, task.initial, [action("put_on mug-1 countertop-2")])[0].name
        == "navigate_to_obj"
    )
    assert insert_navigation(task, task.initial, action("slice_obj unicorn-1")) is None
    unknown = [action("fly mug-1"), action("pick_up mug-1")]
    assert repair_navigation(task, task.initial, unknown) == (
        action("fly mug-1"),
        action("navigate_to_obj mug-1"),
        action("pick_up mug-1"),
    )


@pytest.mark.slow
@settings(max_examples=20)
@given(plans())
def test_a_valid_plan_stays_valid(found: tuple[Task, tuple[GroundAction, ...]]) -> None:
    task, plan = found
    repaired = repair_navigation(task, task.initial, plan)
    assert valid(task, repaired)
    assert len(repaired) <= len(plan)


@pytest.mark.slow
@settings(max_examples=20)
@given(plans(), st.data())
def test_repair_is_idempotent_and_keeps_all_other_steps(
    found: tuple[Task, tuple[GroundAction, ...]], data: st.DataObject
) -> None:
    task, _ = found
    navigation = find_navigation(task.domain)
    assert navigation is not None
    block = data.draw(st.lists(st.sampled_from(list(ground_all(task))), max_size=8))
    repaired = repair_navigation(task, task.initial, block)
    assert repair_navigation(task, task.initial, repaired) == repaired
    others = [a for a in repaired if a.name not in navigation.actions]
    assert others == [a for a in block if a.name not in navigation.actions]

"""Planner-assisted repair: reaching conditions, and making blocks applicable."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import PlannerError
from hvr.pddl import GroundAction, State, Task
from hvr.planning.plans import block_conditions
from hvr.planning.search.fast_downward import SearchResult
from hvr.policies.llm.conditions import conjunction, describe_macros
from hvr.policies.llm.prediction import PredictedWorld, count_applicable, run_actions
from hvr.policies.llm.record import BlockRecord
from hvr.policies.llm.repair import PlannerRepair
from hvr.runs.tasks import load_task, paper_task_ids
from tests.policies.llm.llm_worlds import (
    PLANNER,
    Fake,
    answer_of,
    domain,
    macro,
    policy,
    predicted_scene,
    scene,
    steps,
)

SHORT = tuple(i for i in paper_task_ids() if len(load_task(i).ground_truth.steps) <= 20)
"""Tasks with short plans; searches for the others take longer."""


@cache
def truth(task_id: str) -> tuple[PredictedWorld, tuple[tuple[GroundAction, ...], ...]]:
    found = load_task(task_id).ground_truth
    return predicted_scene(found.scene), found.blocks


@st.composite
def places(draw: st.DrawFn) -> tuple[PredictedWorld, State, tuple[GroundAction, ...]]:
    """Draw a world after some blocks of a ground truth, and the next block."""
    world, blocks = truth(draw(st.sampled_from(SHORT)))
    number = draw(st.integers(0, len(blocks) - 1))
    prefix = [a for block in blocks[:number] for a in block]
    return world, run_actions(world.task, world.task.initial, prefix), blocks[number]


@pytest.mark.slow
@settings(max_examples=6)
@given(places(), st.data())
def test_it_leads_to_the_postcondition_of_the_next_block(
    place: tuple[PredictedWorld, State, tuple[GroundAction, ...]], data: st.DataObject
) -> None:
    world, before, block = place
    task = world.task
    _, post, _ = block_conditions(task, before.bits, block)
    goal = conjunction(task, post)
    # Also from any place within the block.
    now = run_actions(task, before, block[: data.draw(st.integers(0, len(block)))])
    way = PlannerRepair(PLANNER).to(now, goal, world)
    assert way is not None
    assert count_applicable(task, now, way) == len(way)
    assert run_actions(task, now, way).holds(goal)


@st.composite
def mutants(draw: st.DrawFn) -> tuple[PredictedWorld, State, tuple[GroundAction, ...]]:
    """Draw a block with steps dropped, swapped, doubled, or with another object or action."""
    world, state, block = draw(places())
    found = list(block)
    names = [*sorted({n for a in block for n in a.args}), "apple-1", "unicorn-1", "water"]
    for _ in range(draw(st.integers(1, 3))):
        if not found:
            break
        i, j = (draw(st.integers(0, len(found) - 1)) for _ in range(2))
        match draw(st.integers(0, 4)):
            case 0:
                del found[i]
            case 1:
                found[i], found[j] = found[j], found[i]
            case 2:
                found.insert(j, found[i])
            case 3:
                args = list(found[i].args)
                args[draw(st.integers(0, len(args) - 1))] = draw(st.sampled_from(names))
                found[i] = GroundAction(found[i].name, tuple(args))
            case _:
                name = draw(st.sampled_from(["fly", *domain().actions]))
                found[i] = GroundAction(name, found[i].args)
    return world, state, tuple(found)


@pytest.mark.slow
@settings(max_examples=6)
@given(mutants())
def test_any_block_can_be_carried_out_afterwards(
    mutant: tuple[PredictedWorld, State, tuple[GroundAction, ...]],
) -> None:
    world, state, block = mutant
    through = PlannerRepair(PLANNER).through(state, block, world)
    assert count_applicable(world.task, state, through) == len(through)
    good = block[: count_applicable(world.task, state, block)]
    assert through[: len(good)] == good, "what works is kept"


class Failing:
    """A planner that never finds a plan."""

    def solve(self, task: Task) -> SearchResult:
        del task
        raise PlannerError("no plan was found in 0 s")


class Lying:
    """A planner with invalid plans."""

    def solve(self, task: Task) -> SearchResult:
        del task
        plan = steps("pick_up egg-1", "put_on egg-1 diningtable-1")
        return SearchResult(plan, False, 0.0, "lying", 1)


class Hopeless:
    """A planner that always proves unsolvability."""

    def solve(self, task: Task) -> SearchResult:
        del task
        return SearchResult(None, True, 0.0, "hopeless", 1)


@pytest.mark.slow
@pytest.mark.parametrize("planner", [Failing(), Lying(), Hopeless()])
def test_without_a_plan_that_works_there_is_no_way(planner: Failing | Lying | Hopeless) -> None:
    world = predicted_scene()
    bridge = PlannerRepair(planner)
    goal = conjunction(world.task, ["(holding egg-1)"])
    assert bridge.to(world.state, goal, world) is None
    assert bridge.calls == 1
    block = steps("pick_up egg-1", "navigate_to_obj cup-1", "fly cup-1", "pick_up cup-1")
    assert bridge.through(world.state, block, world) == (block[1], block[3])


def test_a_condition_that_holds_needs_no_planner() -> None:
    world = predicted_scene()
    bridge = PlannerRepair(Failing())
    goal = conjunction(world.task, ["(hand_empty)", "(not (opened fridge-1))"])
    assert bridge.to(world.state, goal, world) == ()
    assert bridge.calls == 0


def test_what_can_never_be_is_not_reached() -> None:
    world = predicted_scene()
    bridge = PlannerRepair(PLANNER)
    for texts in (["(holding cup-1)", "(hand_empty)"], ["(holding fridge-1)"]):
        goal = conjunction(world.task, texts)
        assert bridge.to(world.state, goal, world) is None


@pytest.mark.slow
def test_a_step_that_is_not_applicable_gets_what_it_needs() -> None:
    world = predicted_scene()
    bridge = PlannerRepair(PLANNER)
    through = bridge.through(world.state, steps("pick_up egg-1"), world)
    assert through == steps("navigate_to_obj fridge-1", "open_obj fridge-1", "pick_up egg-1")


def test_a_step_in_the_middle_of_a_kitchen_gets_what_it_needs() -> None:
    world = predicted_scene()
    block = steps("navigate_to_obj apple-1", "pick_up apple-1", "put_on apple-1 countertop-1")
    through = PlannerRepair(PLANNER).through(world.state, block, world)
    assert through == (*block[:2], *steps("navigate_to_obj countertop-1"), block[2])


# In the pipeline ----------------------------------------------------------------------------


FULL_HAND = ("navigate_to_obj cup-1", "pick_up cup-1", "navigate_to_obj fridge-1")


def bridged(setting: str) -> tuple[Fake, BlockRecord]:
    wrong = answer_of(*FULL_HAND, "open_obj fridge-1")
    conditions = describe_macros([macro("Open the fridge", "", "(opened fridge-1)")])
    fake = Fake({
        "select": "Fridge, Cup", "macro_plan": "1. Open the fridge", "conditions": conditions,
        "block": wrong, "correct_block": wrong,
    })  # fmt: skip
    return fake, policy(fake, setting).write("Open it", *scene()).blocks[0]


@pytest.mark.slow
def test_the_planner_writes_on_from_where_the_block_works_when_the_tries_are_spent() -> None:
    fake, block = bridged("HVR+planner_repair")
    assert fake.asked("correct_block") == block.tries == 8
    assert block.repaired and block.verified_after and block.achieved
    assert block.actions[:3] == steps(*FULL_HAND)
    assert block.actions[-1] == steps("open_obj fridge-1")[0]


@pytest.mark.slow
def test_without_repair_the_block_stays_as_the_model_left_it() -> None:
    _, block = bridged("HVR")
    assert not block.repaired
    assert block.verified_after is False
    assert block.actions == steps(*FULL_HAND, "open_obj fridge-1")

"""Elimination of redundant steps keeps the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl import Atom, GroundAction, State
from hvr.policies.llm.mapper import ActionSet
from hvr.policies.llm.prediction import PredictedWorld, count_applicable, run_actions
from hvr.policies.llm.repair import needed_steps, plan_outcome
from hvr.runs.tasks import load_task, paper_task_ids
from tests.policies.llm.llm_worlds import predicted_scene, steps

WORLD = predicted_scene()
TASK = WORLD.task
ROUND_TRIP = steps(
    "navigate_to_obj apple-1", "pick_up apple-1", "navigate_to_obj diningtable-1",
    "put_on apple-1 diningtable-1",
)  # fmt: skip
"""The apple ends in its initial place."""
TAKE_CUP = steps("navigate_to_obj cup-1", "pick_up cup-1")


def end(world: PredictedWorld, state: State, actions: Sequence[GroundAction]) -> set[Atom]:
    """Return the final state of a plan, without nearness."""
    found = run_actions(world.task, state, actions).atoms()
    return {a for a in found if a.predicate not in world.nearness}


def leaner(
    actions: Sequence[GroundAction], state: State | None = None, world: PredictedWorld = WORLD
) -> tuple[GroundAction, ...]:
    """Return the reduced plan after checking the law."""
    start = state or world.task.initial
    numbers = needed_steps(world.task, start, actions, world.nearness)
    assert list(numbers) == sorted(set(numbers)), "a subsequence"
    kept = tuple(actions[n] for n in numbers)
    assert count_applicable(world.task, start, kept) == len(kept)
    assert end(world, start, kept) == end(world, start, actions)
    return kept


@cache
def moves() -> tuple[GroundAction, ...]:
    """Return the actions on a few objects around the sink and the stove."""
    names = {
        "mug-1", "plate-1", "apple-1", "knife-1", "sinkbasin-1", "faucet-1", "countertop-1",
        "pan-1", "stoveburner-1", "stoveknob-1", "egg-1", "fridge-1", "coffeemachine-1",
    }  # fmt: skip
    return tuple(a for a in ActionSet(TASK) if names.issuperset(a.args))


@st.composite
def walks(draw: st.DrawFn) -> tuple[GroundAction, ...]:
    """Draw a wandering plan that prefers other actions to walking."""
    state = TASK.initial
    found: list[GroundAction] = []
    for _ in range(draw(st.integers(0, 9))):
        able = [a for a in moves() if TASK.ground(a).applicable(state.bits)]
        doing = [a for a in able if a.name != "navigate_to_obj"]
        rather: bool = draw(st.booleans())
        action = draw(st.sampled_from(doing if doing and rather else able))
        found.append(action)
        state = run_actions(TASK, state, (action,))
    return tuple(found)


@pytest.mark.slow
@settings(max_examples=6)
@given(walks())
def test_the_end_stays_the_same(plan: tuple[GroundAction, ...]) -> None:
    kept = leaner(plan)
    assert leaner(kept) == kept, "nothing is left to leave out"


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["T2", "T10"])
def test_a_ground_truth_with_detours_gets_shorter_by_them(task_id: str) -> None:
    truth = load_task(task_id).ground_truth
    world = predicted_scene(truth.scene)
    start = world.task.initial
    held = start
    plan: list[GroundAction] = []
    added = 0
    parents = {a.args[0]: a for a in start.atoms() if a.predicate in {"on", "in"}}
    used = {name for a in truth.steps for name in a.args}
    thing = next(
        t for t, a in sorted(parents.items())
        if a.predicate == "on" and t not in used and a.args[1].startswith(("countertop", "dining"))
        and Atom("pickupable", (t,)) in start.atoms(static=True)
    )  # fmt: skip
    place = parents[thing].args[1]
    detour = steps(
        f"navigate_to_obj {thing}", f"pick_up {thing}", f"navigate_to_obj {place}",
        f"put_on {thing} {place}",
    )  # fmt: skip
    for action in truth.steps:
        if action.name == "navigate_to_obj" and count_applicable(world.task, held, detour) == 4:
            plan += detour
            added += 1
        plan.append(action)
        held = run_actions(world.task, held, (action,))
    assert added and count_applicable(world.task, start, plan) == len(plan)
    kept = leaner(plan, world=world)
    assert len(kept) <= len(truth.steps)
    assert not any(thing in action.args for action in kept)


@pytest.mark.slow
def test_a_thing_that_is_picked_up_and_put_back_is_left_alone() -> None:
    assert leaner([*ROUND_TRIP, *TAKE_CUP]) == TAKE_CUP
    assert leaner(ROUND_TRIP * 3) == ()


@pytest.mark.slow
def test_a_thing_that_ends_elsewhere_is_moved_once() -> None:
    away = steps(
        "navigate_to_obj apple-1", "pick_up apple-1", "navigate_to_obj countertop-2",
        "put_on apple-1 countertop-2",
    )  # fmt: skip
    assert leaner([*ROUND_TRIP, *away]) == away


@pytest.mark.slow
def test_nothing_is_left_out_of_a_plan_that_needs_all() -> None:
    for task_id in paper_task_ids()[:2]:
        truth = load_task(task_id).ground_truth
        world = predicted_scene(truth.scene)
        assert leaner(truth.steps, world=world) == truth.steps


COOK = steps("navigate_to_obj stoveknob-1", "toggle_on stoveknob-1", "toggle_off stoveknob-1")


@pytest.mark.slow
@settings(max_examples=6)
@given(walks(), st.integers(0, 14))
def test_nothing_is_left_on_that_the_plan_turns_off(
    plan: tuple[GroundAction, ...], place: int
) -> None:
    actions = (*plan[:place], *COOK, *plan[place:])
    actions = tuple(
        a for i, a in enumerate(actions)
        if TASK.ground(a).applicable(run_actions(TASK, TASK.initial, actions[:i]).bits)
    )  # fmt: skip
    kept = leaner(actions)
    on = {a for a in end(WORLD, TASK.initial, kept) if a.predicate == "toggled"}
    assert on == {a for a in end(WORLD, TASK.initial, actions) if a.predicate == "toggled"}


@pytest.mark.slow
def test_what_a_toggle_has_done_keeps_it_with_its_toggle_off() -> None:
    plate = steps(
        "navigate_to_obj plate-1", "pick_up plate-1", "navigate_to_obj sinkbasin-1",
        "put_in plate-1 sinkbasin-1",
    )  # fmt: skip
    wash = steps("navigate_to_obj faucet-1", "toggle_on faucet-1", "toggle_off faucet-1")
    kept = leaner([*plate, *wash])
    assert set(wash[1:]) <= set(kept)


@pytest.mark.slow
def test_what_was_on_at_the_start_is_still_turned_off() -> None:
    start = run_actions(TASK, TASK.initial, COOK[:2])
    assert leaner([*ROUND_TRIP, *COOK[::2]], start)[-1] == COOK[-1]


@pytest.mark.slow
def test_what_is_spared_by_a_detour_is_still_spared() -> None:
    # The mug is outside the basin while the plate is washed; otherwise it would fill with water.
    start = run_actions(TASK, TASK.initial, steps(
        "navigate_to_obj plate-1", "pick_up plate-1", "navigate_to_obj sinkbasin-1",
        "put_in plate-1 sinkbasin-1",
    ))  # fmt: skip
    plan = steps(
        "pick_up mug-1", "navigate_to_obj faucet-1", "toggle_on faucet-1", "toggle_off faucet-1",
        "navigate_to_obj sinkbasin-1", "put_in mug-1 sinkbasin-1",
    )  # fmt: skip
    assert count_applicable(TASK, start, plan) == len(plan)
    kept = leaner(plan, start)
    assert Atom("washed", ("mug-1",)) not in end(WORLD, start, kept)


@pytest.mark.slow
def test_the_way_to_where_a_plan_ends_is_no_unnecessary_step() -> None:
    there = steps("navigate_to_obj mug-1", "pick_up mug-1", "navigate_to_obj fridge-1")
    assert needed_steps(TASK, TASK.initial, there, WORLD.nearness) == (0, 1, 2)
    more = steps("navigate_to_obj mug-1", "navigate_to_obj fridge-1", "open_obj fridge-1")
    assert needed_steps(TASK, TASK.initial, more, WORLD.nearness) == (1, 2)


@pytest.mark.slow
def test_a_plan_that_does_not_work_is_left_as_it_is() -> None:
    plan = steps("pick_up egg-1", *(str(a)[1:-1] for a in ROUND_TRIP))
    assert needed_steps(TASK, TASK.initial, plan, WORLD.nearness) == (0, 1, 2, 3, 4)
    assert needed_steps(TASK, TASK.initial, (), WORLD.nearness) == ()


@pytest.mark.slow
@settings(max_examples=6)
@given(walks())
def test_the_outcome_holds_after_a_plan_and_is_fleeting_only_about_its_last_step(
    plan: tuple[GroundAction, ...],
) -> None:
    goal = plan_outcome(TASK, TASK.initial, plan, WORLD.nearness)
    assert run_actions(TASK, TASK.initial, plan).holds(goal)
    fleeting = [a for a in goal.operands if isinstance(a, Atom) and a.predicate in WORLD.nearness]
    assert all(set(a.args) <= set(plan[-1].args) for a in fleeting)
    if end(WORLD, TASK.initial, plan) != end(WORLD, TASK.initial, ()):
        assert not TASK.initial.holds(goal)

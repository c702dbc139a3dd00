"""The monitoring executor: reactions to an unexpected world."""

from __future__ import annotations

from typing import Any

import pytest

from hvr.execution.deviations import compare_states
from hvr.execution.events import PlanReady, Replanning
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl import Atom
from hvr.worlds.kitchen import Kitchen
from tests.execution.execution_worlds import drop, just_before, run, the


@pytest.mark.slow
def test_a_plain_run_goes_as_expected_and_is_recorded() -> None:
    ran = run("make coffee")
    assert ran.finished.reached
    assert all(e.as_expected for e in ran.steps)
    objects = ran.world.env.last_event.metadata["objects"]
    assert next(o for o in objects if o["objectType"] == "Mug")["fillLiquid"] == "coffee"
    recorded = ran.world.graph.query("SELECT ?e { ?e a k:Action }")
    assert len(recorded) == len(ran.steps)


@pytest.mark.slow
def test_a_drop_from_the_hand_is_noticed_and_mended() -> None:
    ran = run("put the spoon on the dining table", just_before("PutObject", drop))
    assert ran.finished.reached
    assert ran.finished.replans == 1
    wrong = next(e for e in ran.steps if not e.as_expected)
    assert not wrong.success
    changed = (*wrong.difference.missing, *wrong.difference.unexpected)
    assert any(atom.predicate in ("holding", "on") for atom in changed)
    assert sum(isinstance(e, PlanReady) for e in ran.events) == 2


@pytest.mark.slow
def test_a_silent_failure_is_seen_in_the_state() -> None:
    """The mug is emptied right after brewing while every action reports success."""
    emptied = False

    def spill(kitchen: Kitchen, action: str, _count: int, _args: dict[str, Any]) -> None:
        nonlocal emptied
        mug = the(kitchen, "Mug")
        full = kitchen.last_event.get_object(mug)["isFilledWithLiquid"]
        if action == "PickupObject" and full and not emptied:
            emptied = True
            kitchen.step("EmptyLiquidFromObject", objectId=mug, forceAction=True)

    ran = run("make coffee", spill)
    assert ran.finished.reached
    assert ran.finished.replans >= 1
    assert any(e.success and e.difference.missing for e in ran.steps if not e.as_expected)


def test_harmless_differences_do_not_cost_a_new_plan() -> None:
    def soil(kitchen: Kitchen) -> None:
        kitchen.step("DirtyObject", objectId=the(kitchen, "Mug"), forceAction=True)

    ran = run("make coffee", just_before("PutObject", soil))
    assert ran.finished.reached
    assert ran.finished.replans == 0
    assert any(e.difference for e in ran.steps)


@pytest.mark.slow
def test_the_number_of_new_plans_is_limited() -> None:
    def slip(kitchen: Kitchen, action: str, _count: int, _args: dict[str, Any]) -> None:
        if action == "PutObject":
            drop(kitchen)

    ran = run("put the spoon on the dining table", slip, max_replans=2)
    assert not ran.finished.reached
    assert ran.finished.replans == 2
    assert "gave up" in ran.finished.reason
    assert ran.finished.unmet
    assert sum(isinstance(e, Replanning) for e in ran.events) == 2


def scene(**reach: bool) -> SceneGraph:
    objects = {n: SceneObject(n, "Mug", n, in_reach=r, distance=9.0) for n, r in reach.items()}
    return SceneGraph("FloorPlan1", objects)


def test_difference_names_what_is_missing_and_what_is_new() -> None:
    a, b, c = (Atom("hot", (name,)) for name in "abc")
    found = compare_states([a, b], [b, c], scene())
    assert found.missing == (a,)
    assert found.unexpected == (c,)
    assert "(hot a)" in found.explain()
    assert not compare_states([a], [a], scene())


def test_nearness_is_one_sided() -> None:
    near = Atom("near", ("a",))
    assert not compare_states([near], [], scene(a=True))
    assert compare_states([near], [], scene(a=False)).missing == (near,)
    assert not compare_states([], [near], scene(a=True))

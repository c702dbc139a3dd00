"""Faults: their effect on the world and on reports, and the log."""

from __future__ import annotations

import pytest

from hvr.errors import UnknownObjectError
from hvr.worlds import Kitchen, Names, perform
from hvr.worlds.faults import (
    Fault,
    FaultEffect,
    FaultKind,
    FaultTiming,
    FaultyEnvironment,
    Schedule,
    noise,
)
from hvr.worlds.faults.fault import PERCEPTION_KINDS
from hvr.worlds.faults.injector import statements

COFFEE = (
    "navigate_to_obj mug-1", "pick_up mug-1", "navigate_to_obj coffeemachine-1",
    "put_on mug-1 coffeemachine-1", "toggle_on coffeemachine-1",
)  # fmt: skip
GO, TAKE, CARRY, PUT, BREW = 1, 2, 3, 4, 5
"""Numbers of the five AI2-THOR actions of this plan."""


def faulty(*faults: Fault, seed: int = 0) -> FaultyEnvironment:
    return FaultyEnvironment(Kitchen("FloorPlan16"), Schedule(faults, seed))


def play(env: FaultyEnvironment, plan: tuple[str, ...] = COFFEE) -> list[bool]:
    """Return whether each atomic action was reported as done."""
    return [perform(env, NAMES, *_split(step)).success for step in plan]


def _split(step: str) -> tuple[str, tuple[str, ...]]:
    name, *args = step.split()
    return name, tuple(args)


NAMES = Names.from_metadata(Kitchen("FloorPlan16").last_event.metadata)


def facts(env: FaultyEnvironment | Kitchen) -> frozenset[tuple[str, str, str | bool]]:
    return statements(env.last_event.metadata, NAMES)


def test_without_faults_it_is_the_environment() -> None:
    env, plain = faulty(), Kitchen("FloorPlan16")
    names = Names.from_metadata(plain.last_event.metadata)
    for step in COFFEE:
        action, args = _split(step)
        assert perform(env, NAMES, action, args) == perform(plain, names, action, args)
        assert env.last_event.metadata == plain.last_event.metadata
    assert env.log == () and env.steps == BREW
    assert env.reset().metadata == Kitchen("FloorPlan16").last_event.metadata
    assert env.steps == 0


@pytest.mark.parametrize("step", [TAKE, CARRY, PUT])
def test_what_is_dropped_falls(step: int) -> None:
    env = faulty(Fault(FaultKind.DROP, FaultTiming(step)))
    play(env, COFFEE[:PUT])
    assert ("mug-1", "in", "floor-1") in facts(env)
    (injection,) = env.log
    assert injection.step == step and injection.objects == ("mug-1",)
    assert ("mug-1", "in", "floor-1") in injection.added
    assert (("mug-1", "heldBy", "robot") in injection.removed) == (step != PUT)


def test_a_drop_waits_until_something_is_held() -> None:
    env = faulty(Fault(FaultKind.DROP))
    assert play(env)[:3] == [True, True, True]
    assert [injection.step for injection in env.log] == [TAKE]


@pytest.mark.parametrize("step", range(GO, BREW + 1))
@pytest.mark.parametrize(
    "kind", [FaultKind.SILENT, FaultKind.FAILED, FaultKind.MISSING_STEP], ids=str
)
def test_an_action_that_is_not_done(kind: FaultKind, step: int) -> None:
    env = faulty(Fault(kind, FaultTiming(step)))
    done = play(env, COFFEE[: step - 1])
    before = facts(env)
    reported = env.last_event.metadata["lastAction"] if step != CARRY else "PickupObject"
    done += play(env, COFFEE[step - 1 : step])
    if step in (GO, CARRY) and kind is FaultKind.FAILED:  # the robot arrives elsewhere
        assert env.steps > step and done[-1]
        return
    assert facts(env) == before
    injection = env.log[0]
    assert injection.step == step and injection.kind is kind and injection.changed
    now = env.last_event.metadata
    if kind is FaultKind.MISSING_STEP:
        assert now["lastAction"] == reported and done[-1]
    else:
        assert now["lastAction"] == injection.action and done[-1] == (kind is FaultKind.SILENT)
        assert bool(now["errorMessage"]) == (kind is FaultKind.FAILED)


def test_the_way_is_blocked_as_often_as_it_says() -> None:
    env = faulty(Fault(FaultKind.BLOCKED, FaultTiming(times=3)))
    assert play(env, COFFEE[:1]) == [False]
    assert "Collided with" in env.last_event.metadata["errorMessage"]
    assert [injection.step for injection in env.log] == [1, 2, 3]
    assert play(env) == [True] * 5


def test_what_hides_an_object_blocks_until_it_is_moved() -> None:
    env = faulty(
        Fault(FaultKind.BLOCKED, FaultTiming(actions=("PickupObject",)), FaultEffect(other="cup-1"))
    )
    assert play(env, COFFEE[:2]) == [True, False]
    assert play(env, COFFEE[1:2]) == [False]
    assert env.log[0].objects == ("mug-1", "cup-1")
    away = ("navigate_to_obj cup-1", "pick_up cup-1", "navigate_to_obj diningtable-1",
            "put_on cup-1 diningtable-1")  # fmt: skip
    assert all(perform(env, NAMES, *_split(step)).success for step in away)
    assert play(env) == [True] * 5


@pytest.mark.parametrize("start", [True, False])
def test_an_occupied_receptacle(start: bool) -> None:
    what = FaultEffect("coffeemachine-1", "cup-1") if start else FaultEffect(other="cup-1")
    env = faulty(Fault(FaultKind.OCCUPIED, FaultTiming(0 if start else 1), what))
    assert play(env, COFFEE[:PUT]) == [True, True, True, False]
    assert env.last_event.metadata["errorMessage"] == "No valid positions to place object found"
    now = facts(env)
    assert ("cup-1", "in", "coffeemachine-1") in now and ("mug-1", "heldBy", "robot") in now
    assert env.log[0].step == (0 if start else PUT)
    assert env.log[0].objects == ("coffeemachine-1", "cup-1")


def test_even_a_large_receptacle_can_be_occupied() -> None:
    env = faulty(Fault(FaultKind.OCCUPIED, what=FaultEffect(other="apple-1")))
    plan = (*COFFEE[:2], "navigate_to_obj diningtable-1", "put_on mug-1 diningtable-1")
    assert play(env, plan)[-1] is False
    assert env.env.step("PutObject", objectId=NAMES.object_id("diningtable-1"), forceAction=True)


def test_an_object_taken_for_another() -> None:
    env = faulty(Fault(FaultKind.WRONG_OBJECT, what=FaultEffect("mug-1", "cup-1")))
    assert play(env, COFFEE[:2]) == [True, True]
    assert ("cup-1", "heldBy", "robot") in facts(env)
    (injection,) = env.log
    assert injection.objects == ("mug-1", "cup-1") and injection.step == TAKE


def test_swapped_knobs() -> None:
    env = faulty(Fault(FaultKind.SWAPPED, what=FaultEffect(other="stoveknob-2")))
    plan = ("navigate_to_obj stoveburner-1", "toggle_on stoveburner-1")
    assert play(env, plan) == [True, True]
    knob, other = env.log[0].objects
    on = {s[0] for s in facts(env) if s[1] == "isToggled" and "stove" in s[0]}
    assert other == "stoveknob-2" in on and knob not in on
    assert play(env, ("toggle_off stoveburner-1",)) == [True]
    assert not any(s[1] == "isToggled" and "stove" in s[0] for s in facts(env))


def test_somebody_moves_an_object_while_the_hand_is_full() -> None:
    env = faulty(
        Fault(FaultKind.MOVED, FaultTiming(TAKE), FaultEffect("apple-1", place="countertop-1"))
    )
    play(env, COFFEE[:2])
    now = facts(env)
    assert ("apple-1", "in", "countertop-1") in now and ("mug-1", "heldBy", "robot") in now
    assert env.last_event.metadata["lastAction"] == "PickupObject"
    (injection,) = env.log
    assert injection.step == TAKE and injection.objects == ("apple-1", "countertop-1")
    assert {s[0] for s in (*injection.added, *injection.removed)} <= {"apple-1", "mug-1"}


@pytest.mark.parametrize(
    ("target", "field", "value"),
    [("mug-1", "isDirty", True), ("mug-1", "isFilledWithLiquid", "coffee"),
     ("fridge-1", "isOpen", True), ("faucet-1", "isToggled", True), ("egg-1", "isBroken", True)],
)  # fmt: skip
def test_somebody_changes_a_state(target: str, field: str, value: str | bool) -> None:
    env = faulty(
        Fault(FaultKind.CHANGED, FaultTiming(0), FaultEffect(target, field=field, value=value))
    )
    assert any(s[:2] == (target, field) and s[2] for s in env.log[0].added)
    assert env.log[0].objects == (target,) and env.log[0].step == 0
    assert env.last_event.metadata["lastAction"] == "Initialize"


def test_a_change_that_is_none_is_not_injected() -> None:
    env = faulty(
        Fault(
            FaultKind.CHANGED, FaultTiming(0), FaultEffect("fridge-1", field="isOpen", value=False)
        )
    )
    assert env.log == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("objectType", "Cup"), ("isDirty", True), ("parentReceptacles", "diningtable-1")],
)
def test_perception_alone_is_wrong(field: str, value: str | bool) -> None:
    env = faulty(
        Fault(
            FaultKind.MISPERCEIVED, FaultTiming(0), FaultEffect("mug-1", field=field, value=value)
        )
    )
    shown = "in" if field == "parentReceptacles" else field
    assert ("mug-1", shown, value) in facts(env) - facts(env.env)
    assert ("mug-1", shown, value) in env.log[0].added
    assert env.env.last_event.metadata == Kitchen("FloorPlan16").last_event.metadata
    assert all(play(env))


def test_a_wrong_place_is_wrong_from_both_ends() -> None:
    what = FaultEffect("mug-1", field="parentReceptacles", value="diningtable-1")
    env = faulty(Fault(FaultKind.MISPERCEIVED, FaultTiming(0), what))
    mug = NAMES.object_id("mug-1")
    holding = [o["objectType"] for o in env.last_event.metadata["objects"]
               if mug in (o["receptacleObjectIds"] or ())]  # fmt: skip
    assert holding == ["DiningTable"]


def test_noise_is_drawn_for_each_look_and_stays_within_view() -> None:
    env = faulty(noise(0.5), seed=3)
    seen = []
    for _ in range(6):
        event = env.step("Pass")
        assert event.metadata == env.last_event.metadata == event.metadata
        seen.append(facts(env) - facts(env.env))
        true = {o["objectId"]: o for o in env.env.last_event.metadata["objects"]}
        for entry in event.metadata["objects"]:
            assert true[entry["objectId"]]["visible"] or entry == true[entry["objectId"]]
    assert len(set(seen)) > 1 and env.steps == 0
    assert {s for injection in env.log for s in injection.added} >= set().union(*seen)


def test_noise_comes_about_as_often_as_it_says() -> None:
    env, wrong, all_seen = faulty(noise(0.2)), 0, 0
    for _ in range(300):
        reported = env.step("Pass").metadata["objects"]
        for a, b in zip(env.env.last_event.metadata["objects"], reported, strict=True):
            if a["visible"]:
                all_seen += 1
                wrong += not b["visible"]
    assert all_seen > 1000
    assert 0.15 < wrong / all_seen < 0.25


def test_a_slippery_hand() -> None:
    schedule = Schedule.random([FaultKind.SLIPPERY], 0.5, seed=1)
    env = FaultyEnvironment(Kitchen("FloorPlan16"), schedule)
    for _ in range(10):
        play(env, COFFEE[:3])
    drops = [injection.step for injection in env.log]
    assert 1 < len(drops) < env.steps and all(f.objects == ("mug-1",) for f in env.log)


@pytest.mark.parametrize("kind", FaultKind, ids=str)
def test_the_same_seed_gives_the_same_run(kind: FaultKind) -> None:
    schedule = Schedule.random([kind], 0.5, seed=7)
    runs = []
    for _ in range(2):
        env = FaultyEnvironment(Kitchen("FloorPlan16"), schedule)
        play(env)
        play(env, ("navigate_to_obj stoveburner-1", "toggle_on stoveburner-1"))
        runs.append((env.last_event.metadata, env.log))
    assert runs[0] == runs[1]
    assert all(injection.kind is kind for injection in runs[0][1])


@pytest.mark.parametrize("kind", sorted(set(FaultKind) - PERCEPTION_KINDS), ids=str)
def test_whatever_fires_leaves_a_sound_world(kind: FaultKind) -> None:
    """Every kind on every action leaves held and contained objects consistent."""
    env = FaultyEnvironment(Kitchen("FloorPlan16"), Schedule.random([kind], 1.0, seed=2))
    play(env)
    metadata = env.last_event.metadata
    held = [o["objectId"] for o in metadata["inventoryObjects"]]
    assert held == [o["objectId"] for o in metadata["objects"] if o["isPickedUp"]]
    by_id = {o["objectId"]: o for o in metadata["objects"]}
    for entry in by_id.values():
        for inner in entry["receptacleObjectIds"] or ():
            assert entry["objectId"] in by_id[inner]["parentReceptacles"]


def test_questions_have_no_number_and_what_is_no_action_is_refused_as_ever() -> None:
    env = faulty(Fault(FaultKind.FAILED))
    env.step("GetReachablePositions")
    assert env.steps == 0 and env.last_event.metadata["actionReturn"]
    assert not env.step("RotateLeft")
    with pytest.raises(ValueError, match="Invalid action"):
        env.step("Fly")
    assert "Invalid action" in env.last_event.metadata["errorMessage"]


def test_an_object_that_is_not_there() -> None:
    with pytest.raises(UnknownObjectError, match="mug-9"):
        faulty(Fault(FaultKind.CHANGED, what=FaultEffect("mug-9")))

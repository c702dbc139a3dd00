"""Recoveries that need another look at the room: no space, misperception, swapped switches."""

from __future__ import annotations

import pytest

from hvr.execution.belief import Sight
from hvr.execution.deviations import DeviationKind
from hvr.execution.events import PlanReady
from hvr.execution.perception import Sensors
from hvr.language.goal_builder import Stage
from hvr.runs.tasks import load_task
from hvr.worlds.faults import Fault, FaultEffect, FaultKind, FaultTiming
from tests.execution.execution_worlds import Ran, run_with, symbolic


def played(task: str, scene: str, fault: Fault) -> Ran:
    """Run a task of the paper in a scene with a fault."""
    return run_with(symbolic(), [symbolic().with_ends(load_task(task).goal)], (fault,), scene)


def plans(ran: Ran) -> list[list[str]]:
    return [[str(a) for a in e.plan.actions] for e in ran.events if isinstance(e, PlanReady)]


@pytest.mark.slow
def test_what_somebody_put_into_the_microwave_is_taken_out_again() -> None:
    fault = Fault(
        FaultKind.OCCUPIED,
        FaultTiming(actions=("PutObject",), nth=2),
        FaultEffect(other="lettuce-1"),
    )
    ran = played("T5", "FloorPlan3", fault)
    assert ran.finished.reached
    assert dict(ran.finished.recoveries)["make room"] == 1
    assert "(pick_up lettuce-1)" in plans(ran)[1]
    assert plans(ran)[1][-1] == "(put_on lettuce-1 countertop-1)", "not back, nor kept in the hand"


@pytest.mark.slow
def test_what_was_there_before_is_moved_only_if_there_is_no_other_way() -> None:
    fault = Fault(
        FaultKind.OCCUPIED,
        FaultTiming(actions=("PutObject",), nth=1),
        FaultEffect(other="dishsponge-1"),
    )
    ran = played("T5", "FloorPlan1", fault)  # the only basin
    assert ran.finished.reached
    used = [r.strategy for r in ran.recoveries if r.outcome.startswith(("worked", "a new plan"))]
    assert "make room" in used and used[-1] == "satisfy"


@pytest.mark.slow
def test_what_cannot_be_is_looked_at_again() -> None:
    """A bottle looks empty for a while, so there is no plan until the robot looks again."""
    wrong = Fault(FaultKind.MISPERCEIVED, FaultTiming(step=3, times=3), FaultEffect("winebottle-1"))
    ran = played("T1", "FloorPlan1", wrong)
    assert ran.finished.reached
    looked = [r for r in ran.recoveries if r.strategy == "look around"]
    assert [r.outcome for r in looked] == ["found winebottle-1"]


@pytest.mark.slow
def test_a_burner_that_cannot_be_switched_is_replaced_with_what_stands_on_it() -> None:
    swapped = Fault(FaultKind.SWAPPED, FaultTiming(actions=("ToggleObjectOn",)))
    ran = played("T3", "FloorPlan2", swapped)
    assert ran.finished.reached
    assert {f.kind for f in ran.failures} == {DeviationKind.WRONG_OBJECT}
    last = plans(ran)[-1]
    assert last[0] == "(pick_up pan-1)", "what stands there can be taken from there"
    assert not any("toggle" in a and "stoveburner-3" in a for a in last)


@pytest.mark.slow
def test_a_door_that_somebody_closed_puts_its_content_out_of_reach() -> None:
    put = FaultTiming(actions=("PutObject",), target="microwave-1")
    fault = Fault(FaultKind.CHANGED, put, FaultEffect("microwave-1", field="isOpen", value=False))
    ran = played("T5", "FloorPlan2", fault)
    assert ran.finished.reached and ran.finished.replans == 1
    assert "(open_obj microwave-1)" in plans(ran)[1]


def test_clearing_a_place_is_a_goal_of_its_own() -> None:
    stage = symbolic().clearing(("spoon-1",), "plate-1")
    assert isinstance(stage, Stage)
    assert "(not (on spoon-1 plate-1))" in stage.text and "(hand_empty)" in stage.text


@pytest.mark.slow
def test_a_refusal_retracts_what_it_contradicts_and_the_lost_object_is_searched_for() -> None:
    fault = Fault(
        FaultKind.MOVED, FaultTiming(step=1), FaultEffect(target="mug-1", place="diningtable-1")
    )
    stage = symbolic().with_ends("(on mug-1 countertop-2)")
    ran = run_with(symbolic(), [stage], (fault,), sensors=Sensors(Sight.VISIBLE))
    (refused,) = [step for step in ran.steps if not step.success]
    assert ran.finished.reached and len(ran.steps) < 20
    retracted = [f for f in refused.failures if f.kind is DeviationKind.MISPERCEIVED]
    assert [str(literal) for f in retracted for literal in f.literals] == ["(near mug-1)"]


@pytest.mark.slow
def test_a_wrong_burner_does_not_stay_on_after_the_right_one_was_used() -> None:
    policy = symbolic()
    stages = [policy.with_ends("(exists (?e - eggcracked) (and (cooked ?e) (stove_heated ?e)))")]
    fault = Fault(FaultKind.WRONG_OBJECT, FaultTiming(actions=("ToggleObjectOn",), times=1))
    ran = run_with(policy, stages, (fault,), "FloorPlan13")
    assert ran.finished.reached and ran.failures
    objects = ran.world.env.last_event.metadata["objects"]
    assert not [
        o["objectId"] for o in objects if o["objectType"] == "StoveBurner" and o["isToggled"]
    ]

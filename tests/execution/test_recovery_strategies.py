"""Recovery strategies: applied where they help, within their bounds, and reported."""

from __future__ import annotations

from typing import Any

import pytest

from hvr.execution.belief import Sight
from hvr.execution.deviations import DeviationKind
from hvr.execution.events import Replanning
from hvr.execution.perception import Sensors
from hvr.execution.recovery import Impasse, renavigate, retry, satisfy
from hvr.execution.world import open_world
from hvr.pddl import GroundAction
from hvr.worlds.kitchen import Kitchen
from tests.execution.execution_worlds import drop, just_before, refused, run, silent, symbolic, the

HIDDEN = "NullReferenceException: Target object not found within the specified visibility."


@pytest.mark.slow
def test_retry_mends_what_did_not_take() -> None:
    ran = run("make coffee", silent("ToggleObjectOn"))
    assert ran.finished.reached
    assert dict(ran.finished.recoveries) == {"retry": 1}
    assert ran.finished.steps == run("make coffee").finished.steps + 1


@pytest.mark.slow
def test_what_is_out_of_sight_is_gone_to_again() -> None:
    ran = run("make coffee", refused("PickupObject", HIDDEN))
    assert ran.finished.reached and ran.finished.replans == 0
    assert [(r.strategy, r.outcome) for r in ran.recoveries] == [("re-navigate", "worked")]
    assert [s.action.name for s in ran.steps[1:4]] == ["pick_up", "navigate_to_obj", "pick_up"]


@pytest.mark.slow
def test_strategies_are_tried_one_after_another_and_end() -> None:
    ran = run("make coffee", silent("PickupObject", 99), max_replans=2)
    assert not ran.finished.reached
    assert [r.strategy for r in ran.recoveries] == ["retry", "re-navigate", "satisfy", "satisfy"]
    assert [r.outcome for r in ran.recoveries[:2]] == ["failed", "failed"]
    assert dict(ran.finished.recoveries) == {"retry": 1, "re-navigate": 1, "satisfy": 2}
    assert sum(isinstance(e, Replanning) for e in ran.events) == ran.finished.replans == 2
    assert "gave up" in ran.finished.reason
    assert any("contains no coffee" in sentence for sentence in ran.finished.remains)
    assert len(ran.finished.remains) == len(ran.finished.unmet)


@pytest.mark.slow
def test_without_tries_a_new_plan_is_made_at_once() -> None:
    ran = run("make coffee", silent("PickupObject"), max_tries=0)
    assert ran.finished.reached and ran.finished.replans == 1
    assert [r.strategy for r in ran.recoveries] == ["satisfy"]


@pytest.mark.slow
def test_an_equivalent_object_stands_in_for_one_that_cannot_be_had() -> None:
    def blocked(kitchen: Kitchen, action: str, _count: int, args: dict[str, Any]) -> Any:
        if action == "PickupObject" and args["objectId"] == stuck:
            event = kitchen.step(action, objectId="nothing", forceAction=True)
            event.metadata["errorMessage"] = "it is blocked by a pot"
            return event
        return None

    plain = run("put a statue on the dining table", scene="FloorPlan7")
    taken = next(s.action.args[0] for s in plain.steps if s.action.name == "pick_up")
    stuck = plain.world.names.object_id(taken)
    ran = run("put a statue on the dining table", blocked, "FloorPlan7")
    assert taken == "statue-1"
    assert ran.finished.reached
    assert [r.strategy for r in ran.recoveries] == ["re-navigate", "satisfy", "replace"]
    assert str(ran.steps[-1].action) == "(put_on statue-2 diningtable-1)"


@pytest.mark.slow
def test_a_dropped_thing_out_of_sight_is_looked_for() -> None:
    ran = run("make coffee", just_before("PutObject", drop), sensors=Sensors(Sight.VISIBLE))
    assert ran.finished.reached
    assert (ran.recoveries[0].strategy, ran.recoveries[0].outcome) == ("look around", "found mug-1")


@pytest.mark.slow
def test_what_remains_is_told_when_nothing_helps() -> None:
    def smash(kitchen: Kitchen) -> None:
        kitchen.step("BreakObject", objectId=the(kitchen, "Mug"), forceAction=True)

    ran = run("make coffee", just_before("PutObject", smash))
    assert not ran.finished.reached
    assert ran.finished.unmet and ran.finished.remains
    assert DeviationKind.DROPPED in {f.kind for f in ran.failures}
    assert any(r.outcome.startswith("no plan") for r in ran.recoveries)


def trouble(done: int, action: int, *, is_done: bool = False) -> Impasse:
    """Return an impasse at a step of the coffee plan after some steps are done."""
    policy = symbolic()
    world = open_world(Kitchen("FloorPlan16"))
    inventory = world.inventory()
    stage = policy.reader.goal("make coffee", inventory).stages[0]
    planned = policy.plan(stage, world.graph, inventory)
    actions = planned.plan.actions
    from hvr.validation import Validator

    validator = Validator(planned.task)
    for step in actions[:done]:
        assert validator.apply(step).ok
    return Impasse(
        (), actions[action], is_done, actions[action + 1 :], planned.task, validator.state
    )


@pytest.mark.slow
def test_strategies_propose_only_what_reaches_the_goal() -> None:
    stuck = trouble(3, 3)
    assert retry(stuck) == (stuck.action, *stuck.rest)
    skipped = trouble(2, 3)  # the step to the machine is missing
    assert skipped.action is not None
    assert retry(skipped) is None
    move = GroundAction("navigate_to_obj", (skipped.action.args[-1],))
    assert renavigate(skipped) == (move, skipped.action, *skipped.rest)
    mended = satisfy(skipped)
    assert mended is not None and mended[-len(skipped.rest) :] == skipped.rest
    from hvr.validation import Validator

    assert Validator(skipped.task, state=skipped.state).check(mended).valid
    assert satisfy(stuck) is None, "nothing is missing"

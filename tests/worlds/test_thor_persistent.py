"""Retries: their conditions, their end, and their reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.worlds import Environment, Event, Kitchen, Names, perform
from hvr.worlds.thor.environment import (
    MAX_RETRY_DISTANCE,
    POSE_FAILURES,
    RetriedEvent,
    RetryingEnvironment,
)

OCCLUDED = f"object is visible but {POSE_FAILURES[2]}: Kettle"
Refuse = Callable[[dict[str, Any], int], str]


class Stubborn:
    """A kitchen that refuses some interactions with AI2-THOR's messages."""

    def __init__(self, refuse: Refuse, moving: int = 0) -> None:
        self.kitchen = Kitchen("FloorPlan1")
        self.refuse = refuse
        self.moving = moving  # events until the scene is at rest
        self.sent: list[dict[str, Any]] = []
        self.event = self.kitchen.last_event

    @property
    def last_event(self) -> Event:
        return self.event

    def reset(self, scene: Any = None) -> Event:
        self.event = self.kitchen.reset(scene)
        return self.event

    def step(self, action: Any = None, **kwargs: Any) -> Event:
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        self.sent.append(request)
        number = sum(1 for r in self.sent if r["action"] == request["action"])
        message = self.refuse(request, number)
        if message:
            event = self.kitchen.step("Pass")
            changes = {
                "lastAction": request["action"], "lastActionSuccess": False,
                "errorMessage": message,
            }  # fmt: skip
        else:
            event, changes = self.kitchen.step(request), {}
        rest = self.moving <= 0
        self.moving -= 1
        self.event = Event({**event.metadata, **changes, "isSceneAtRest": rest})
        return self.event

    def pose(self) -> tuple[float, ...]:
        agent = self.event.metadata["agent"]
        at = agent["position"]
        return (at["x"], at["z"], agent["rotation"]["y"], agent["cameraHorizon"])

    def actions(self) -> list[str]:
        return [r["action"] for r in self.sent if not r["action"].startswith("Get")]


def at_mug(
    refuse: Refuse, moving: int = 0, tries: int = 3
) -> tuple[Stubborn, RetryingEnvironment, str]:
    env = Stubborn(lambda *_: "")
    names = Names.from_metadata(env.last_event.metadata)
    assert perform(env, names, "navigate_to_obj", ["mug-1"]).success
    env.sent.clear()
    env.refuse, env.moving = refuse, moving
    return env, RetryingEnvironment(env, tries), names.object_id("mug-1")


def picks_fail(times: int, message: str = OCCLUDED) -> Refuse:
    return lambda r, n: message if r["action"] == "PickupObject" and n <= times else ""


def test_it_is_an_environment_and_is_silent_when_all_goes_well() -> None:
    env, persistent, mug = at_mug(picks_fail(0))
    assert isinstance(persistent, Environment)
    event = persistent.step(action="PickupObject", objectId=mug)
    assert event
    assert not isinstance(event, RetriedEvent)
    assert env.actions() == ["PickupObject"]
    assert persistent.last_event is event


def test_another_place_helps() -> None:
    env, persistent, mug = at_mug(picks_fail(1))
    start = env.pose()
    event = persistent.step({"action": "PickupObject", "objectId": mug})
    assert event
    assert env.actions() == ["PickupObject", "TeleportFull", "PickupObject"]
    assert 0 < math.dist(start[:2], env.pose()[:2]) <= MAX_RETRY_DISTANCE
    assert isinstance(event, RetriedEvent)
    assert [(s.action["action"], s.success) for s in event.attempts] == [
        ("PickupObject", False), ("TeleportFull", True),
    ]  # fmt: skip
    assert event.attempts[0].error == OCCLUDED
    assert event.metadata["inventoryObjects"][0]["objectId"] == mug


@pytest.mark.slow
@settings(max_examples=25)
@given(
    failures=st.integers(0, 6), tries=st.integers(1, 4), moving=st.integers(0, 8),
    message=st.sampled_from([*(f"x {r} y" for r in POSE_FAILURES), "hand is full"]),
)  # fmt: skip
def test_tries_are_bounded_all_told_and_leave_the_robot_where_it_was_when_in_vain(
    failures: int, tries: int, moving: int, message: str
) -> None:
    env, persistent, mug = at_mug(picks_fail(failures, message), moving, tries)
    start = env.pose()
    event = persistent.step(action="PickupObject", objectId=mug)
    assert persistent.last_event is event
    assert event.metadata["lastAction"] == "PickupObject"
    actions = env.actions()
    assert actions.count("PickupObject") <= tries + 2
    assert actions.count("Pass") <= 5
    tried = [s.action["action"] for s in event.attempts] if isinstance(event, RetriedEvent) else []
    assert [*tried, "PickupObject"] == actions
    if moving == 0 and (message == "hand is full" or tries == 1):
        assert actions == ["PickupObject"]
    if not event:
        assert env.pose() == start
        assert event.metadata["errorMessage"] == message
    assert bool(event) == (actions.count("PickupObject") > failures)


def test_places_that_cannot_be_reached_do_not_end_the_search() -> None:
    def refuse(request: dict[str, Any], number: int) -> str:
        if request["action"] == "TeleportFull" and number == 1:
            return "blocked"
        return picks_fail(1)(request, number)

    env, persistent, mug = at_mug(refuse)
    assert persistent.step(action="PickupObject", objectId=mug)
    assert env.actions() == ["PickupObject", "TeleportFull", "TeleportFull", "PickupObject"]


def test_questions_moves_and_unknown_requests_pass_through() -> None:
    env, persistent, mug = at_mug(lambda *_: OCCLUDED)
    assert not persistent.step(action="GetInteractablePoses", objectId=mug)
    assert not persistent.step(action="MoveAhead")
    assert len(env.sent) == 2
    env.refuse = lambda *_: ""
    with pytest.raises(ValueError, match="Fly"):
        persistent.step(action="Fly", objectId=mug)
    assert persistent.reset()
    assert persistent.last_event is env.last_event

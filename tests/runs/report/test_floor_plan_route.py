"""The robot's route, derived from the sent actions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.runs.report.floor_plan.plan import Pose, floor_plan, joined_numbers, route, stops
from hvr.worlds import Kitchen

START = Pose(1.0, -0.5, 90.0)
MOVES = ["MoveAhead", "MoveBack", "MoveLeft", "MoveRight", "RotateLeft", "RotateRight"]
BACK = {"MoveAhead": "MoveBack", "MoveLeft": "MoveRight", "RotateLeft": "RotateRight"}
BACK |= {b: a for a, b in BACK.items()}


def step(number: int, *sent: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": "step", "step": number, "success": True, "sent": list(sent), **more}


def after(*names: str, start: Pose = START) -> Pose:
    way = route(start, [step(1, *({"action": n, "success": True} for n in names))])
    return way.visits[-1].pose


@pytest.mark.slow
@given(st.lists(st.sampled_from(MOVES), max_size=30))
def test_the_way_back_ends_at_the_start(names: list[str]) -> None:
    end = after(*names, *(BACK[n] for n in reversed(names)))
    assert math.dist(end, START) < 1e-6


def test_the_robot_goes_as_the_kitchens_agent_does() -> None:
    kitchen = Kitchen("FloorPlan7")
    start = floor_plan(kitchen.last_event.metadata).agent
    steps = []
    names = [
        "MoveAhead",
        "RotateRight",
        "MoveAhead",
        "MoveLeft",
        "RotateLeft",
        "MoveBack",
        "LookUp",
    ]
    for number, name in enumerate(names * 4, start=1):
        event = kitchen.step(name)
        steps.append(step(number, {"action": name, "success": event.success}))
        there = route(start, steps).visits[-1].pose
        assert math.dist(there, floor_plan(event.metadata).agent) < 1e-3, (number, name)
    assert {s["sent"][0]["success"] for s in steps} >= {True}


def test_a_teleport_is_a_jump_and_a_failed_one_is_none() -> None:
    there = {"action": "TeleportFull", "position": {"x": 3.0, "y": 0.9, "z": 4.0},
             "rotation": {"x": 0.0, "y": 450.0, "z": 0.0}}  # fmt: skip
    visits = route(
        START,
        [step(1, {**there, "success": False}), step(2, there), step(3, {"action": "PickupObject"})],
    ).visits
    assert [v.pose for v in visits] == [START, Pose(3.0, 4.0, 90.0), Pose(3.0, 4.0, 90.0)]
    assert [v.jumped for v in visits] == [False, True, False]


def test_flat_arguments_of_teleport_are_understood() -> None:
    sent = {"action": "Teleport", "x": 2.0, "y": 0.9, "z": 1.0, "rotation": 180}
    assert route(START, [step(1, sent)]).visits[0].pose == Pose(2.0, 1.0, 180.0)


@pytest.mark.parametrize(
    "agent",
    [
        {"x": 5.0, "z": 6.0, "yaw": 30.0},
        {"position": {"x": 5.0, "y": 0.9, "z": 6.0}, "rotation": {"x": 0, "y": 30.0, "z": 0}},
    ],
)
def test_what_the_trace_says_of_the_agent_counts(agent: dict[str, Any]) -> None:
    assert route(START, [step(1, {"action": "MoveAhead"}, agent=agent)]).visits[0].pose == Pose(
        5.0, 6.0, 30.0
    )


def test_failures_are_marked() -> None:
    way = route(START, [step(1), step(2, success=False), step(3)], failed=[3])
    assert [v.failed for v in way.visits] == [False, True, True]
    (only,) = stops(way)
    assert (only.text, only.failed) == ("1–3", (2, 3))


@pytest.mark.slow
@given(st.sets(st.integers(1, 60)))
def test_joined_numbers_say_the_same(numbers: set[int]) -> None:
    named: set[int] = set()
    for part in filter(None, joined_numbers(sorted(numbers)).split(", ")):
        first, _, last = part.partition("–")
        named |= set(range(int(first), int(last or first) + 1))
    assert named == numbers


@pytest.mark.slow
@given(st.lists(st.sampled_from(MOVES), max_size=40))
def test_every_step_has_one_stop(names: list[str]) -> None:
    way = route(START, [step(i, {"action": n}) for i, n in enumerate(names, start=1)])
    numbers = [n for stop in stops(way) for n in stop.steps]
    assert sorted(numbers) == list(range(1, len(names) + 1))

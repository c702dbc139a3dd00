"""Actions beyond a robot's usual ones: the hand, pushing, paths, and changes of the scene."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from hvr.worlds import Kitchen
from hvr.worlds.kitchen.actions import ACTIONS, UNSUPPORTED
from hvr.worlds.thor.observe import Names

KITCHEN = Kitchen("FloorPlan1")
NAMES = Names.from_metadata(KITCHEN.last_event.metadata)
FIRST = KITCHEN.snapshot()


@pytest.fixture
def kitchen() -> Kitchen:
    KITCHEN.restore(FIRST)
    return KITCHEN


def do(kitchen: Kitchen, action: str, name: str = "", **args: Any) -> dict[str, Any]:
    if name:
        args["objectId"] = NAMES.object_id(name)
    event = kitchen.step(action, **args)
    assert event, event.metadata["errorMessage"]
    return event.metadata


def entry(kitchen: Kitchen, name: str) -> dict[str, Any] | None:
    return kitchen.last_event.get_object(NAMES.object_id(name))


def test_the_hand_moves_and_turns_and_returns_after_a_move(kitchen: Kitchen) -> None:
    before = do(kitchen, "PickupObject", "mug-1", forceAction=True)["heldObjectPose"]
    moved = do(kitchen, "MoveHeldObject", ahead=0.1, up=-0.1)["heldObjectPose"]
    assert math.dist(moved["position"].values(), before["position"].values()) == pytest.approx(
        math.hypot(0.1, 0.1), abs=1e-3
    )
    assert do(kitchen, "RotateHeldObject", yaw=90)["heldObjectPose"]["localRotation"]["y"] == 90.0
    assert not kitchen.step("MoveHeldObject", ahead=3.0)
    turned = do(kitchen, "RotateRight")["heldObjectPose"]
    assert turned["localPosition"] == before["localPosition"]
    assert set(turned["localRotation"].values()) == {0.0}


def test_a_vessel_turned_over_is_empty(kitchen: Kitchen) -> None:
    do(kitchen, "FillObjectWithLiquid", "mug-1", fillLiquid="water", forceAction=True)
    do(kitchen, "PickupObject", "mug-1", forceAction=True)
    do(kitchen, "RotateHeldObject", pitch=60)
    mug = entry(kitchen, "mug-1")
    assert mug is not None and mug["isFilledWithLiquid"]
    do(kitchen, "RotateHeldObject", pitch=60)
    mug = entry(kitchen, "mug-1")
    assert mug is not None and not mug["isFilledWithLiquid"]


def test_a_pushed_object_slides_or_falls_and_a_gentle_push_moves_it_less(kitchen: Kitchen) -> None:
    start = entry(kitchen, "tomato-1")
    assert start is not None
    lengths = []
    for force in (2.0, 8.0):
        kitchen.restore(FIRST)
        do(kitchen, "PushObject", "tomato-1", moveMagnitude=force, forceAction=True)
        end = entry(kitchen, "tomato-1")
        assert end is not None and end["parentReceptacles"]
        lengths.append(math.dist(start["position"].values(), end["position"].values()))
    assert 0.0 < lengths[0] < lengths[1]
    assert not kitchen.step("PushObject", objectId=NAMES.object_id("fridge-1"), moveMagnitude=9)


def test_a_pushed_object_slides_along_a_turned_one() -> None:
    kitchen = Kitchen("FloorPlan28")
    names = Names.from_metadata(kitchen.last_event.metadata)
    loaf, tomato = (names.object_id(name) for name in ("bread-1", "tomato-1"))
    start = kitchen.last_event.get_object(tomato)
    aside = kitchen.last_event.get_object(loaf)
    assert start is not None and aside is not None and aside["rotation"]["y"] % 90.0
    angle = (270.0 - kitchen.last_event.metadata["agent"]["rotation"]["y"]) % 360.0
    assert kitchen.step(
        "DirectionalPush", objectId=tomato, pushAngle=angle, moveMagnitude=25, forceAction=True
    )
    end = kitchen.last_event.get_object(tomato)
    assert end is not None and end["parentReceptacles"] == start["parentReceptacles"]
    assert end["position"]["x"] < aside["position"]["x"]  # past the loaf
    assert abs(end["position"]["z"] - start["position"]["z"]) > 0.05


def test_removed_and_disabled_objects_are_gone_and_what_they_held_falls(kitchen: Kitchen) -> None:
    inside = entry(kitchen, "fridge-1")
    assert inside is not None and inside["receptacleObjectIds"]
    do(kitchen, "DisableObject", "fridge-1")
    assert entry(kitchen, "fridge-1") is None
    for object_id in inside["receptacleObjectIds"]:
        fallen = kitchen.last_event.get_object(object_id)
        assert fallen is not None and inside["objectId"] not in fallen["parentReceptacles"]
    do(kitchen, "EnableObject", "fridge-1")
    assert entry(kitchen, "fridge-1") is not None
    do(kitchen, "RemoveFromScene", "fridge-1")
    assert not kitchen.step("EnableObject", objectId=inside["objectId"])


def test_spawn_coordinates_are_places_for_an_object(kitchen: Kitchen) -> None:
    table = "countertop-1"
    points = do(kitchen, "GetSpawnCoordinatesAboveReceptacle", table)["actionReturn"]
    assert points
    placed = 0
    for point in points[:: max(1, len(points) // 10)]:
        kitchen.restore(FIRST)
        event = kitchen.step(
            "PlaceObjectAtPoint", objectId=NAMES.object_id("egg-1"), position=point
        )
        if event:
            egg = entry(kitchen, "egg-1")
            assert egg is not None and NAMES.object_id(table) in egg["parentReceptacles"]
            placed += 1
    assert placed


def test_a_path_leads_over_reachable_points_to_the_object(kitchen: Kitchen) -> None:
    grid = {(p["x"], p["z"]) for p in do(kitchen, "GetReachablePositions")["actionReturn"]}
    corners = do(kitchen, "GetShortestPath", "fridge-1")["actionReturn"]["corners"]
    assert all((c["x"], c["z"]) in grid for c in corners)
    assert all(a["x"] == b["x"] or a["z"] == b["z"] for a, b in pairwise(corners))
    first, end = corners[0], corners[-1]
    poses = do(kitchen, "GetInteractablePoses", "fridge-1")["actionReturn"]
    assert (end["x"], end["z"]) in {(p["x"], p["z"]) for p in poses}
    back = do(kitchen, "GetShortestPathToPoint", target=first, position=end)["actionReturn"]
    last = back["corners"][-1]
    assert (last["x"], last["z"]) == (first["x"], first["z"])


def test_states_are_set_for_all_objects_of_a_type(kitchen: Kitchen) -> None:
    do(
        kitchen,
        "SetObjectStates",
        SetObjectStates={"objectType": "Cabinet", "stateChange": "openable", "isOpen": True},
    )
    assert all(o["isOpen"] for o in kitchen.last_event.objects_by_type("Cabinet"))
    wrong = kitchen.step("SetObjectStates", SetObjectStates={"stateChange": "colour"})
    assert not wrong and "toggleable" in wrong.metadata["errorMessage"]


def test_time_stands_still_while_physics_is_paused(kitchen: Kitchen) -> None:
    assert not kitchen.step("AdvancePhysicsStep")
    start = do(kitchen, "PausePhysicsAutoSim")["currentTime"]
    assert do(kitchen, "RotateRight")["currentTime"] == start
    assert do(kitchen, "AdvancePhysicsStep", simSeconds=2.0)["currentTime"] == start + 2.0
    assert do(kitchen, "UnpausePhysicsAutoSim")["currentTime"] > start + 2.0


def test_the_map_view_shows_the_room_from_above(kitchen: Kitchen) -> None:
    camera = do(kitchen, "GetMapViewCameraProperties")["actionReturn"]
    seen = do(kitchen, "ToggleMapView")
    assert seen["cameraPosition"] == camera["position"]
    assert seen["cameraOrthSize"] == camera["orthographicSize"]
    assert do(kitchen, "ToggleMapView")["cameraOrthSize"] == -1.0


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_refused_actions_say_why(kitchen: Kitchen, name: str) -> None:
    assert name not in ACTIONS
    with pytest.raises(ValueError, match=rf"Invalid action: {name} \(hvr's kitchen "):
        kitchen.step(name)

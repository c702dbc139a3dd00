"""Scene set-up: Initialize, poses, random places, temperatures, crouching, pointing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.worlds import Event, Kitchen, Names
from hvr.worlds.kitchen.state import KitchenSettings
from hvr.worlds.thor.observe import load_facts

Act = Callable[..., Event]
Look = Callable[[str], dict[str, Any]]


def metadata_of(event: Event) -> dict[str, Any]:
    assert event, event.metadata["errorMessage"]
    return event.metadata


def test_initialize_sets_grid_and_reach(kitchen: Kitchen) -> None:
    answer = metadata_of(
        kitchen.step("Initialize", gridSize=0.1, visibilityDistance=0.5, someNewOption=1)
    )
    assert answer["actionReturn"] == {"cameraNearPlane": 0.01, "cameraFarPlane": 20.0}
    wide = sum(o["visible"] for o in Kitchen("FloorPlan1").last_event.metadata["objects"])
    assert sum(o["visible"] for o in answer["objects"]) < wide
    assert metadata_of(kitchen.step("MoveAhead"))["agent"]["position"]["x"] == -1.1
    assert (
        metadata_of(kitchen.step("MoveRight", moveMagnitude=0.37))["agent"]["position"]["z"] == 1.4
    )
    fine = metadata_of(kitchen.step("GetReachablePositions"))["actionReturn"]
    assert len(fine) > 4 * len(Kitchen("FloorPlan1").scene.grid)
    assert not kitchen.step("Initialize", gridSize="small")
    again = kitchen.reset().metadata
    assert again["agent"]["position"]["x"] == -1.0 and kitchen.step("MoveAhead")
    assert kitchen.last_event.metadata["agent"]["position"]["x"] == -1.25


def test_settings_hold_over_a_reset() -> None:
    kitchen = Kitchen("FloorPlan1", settings=KitchenSettings(grid_size=0.5, rotate_step=45.0))
    for _ in range(2):
        assert metadata_of(kitchen.step("RotateRight"))["agent"]["rotation"]["y"] == 315.0
        kitchen.step("RotateLeft")
        assert metadata_of(kitchen.step("MoveRight"))["agent"]["position"]["z"] == 1.5
        kitchen.reset()


def test_every_fine_step_ends_where_the_agent_can_stand() -> None:
    kitchen = Kitchen("FloorPlan1", settings=KitchenSettings(grid_size=0.05))
    points = {
        (p["x"], p["z"]) for p in metadata_of(kitchen.step("GetReachablePositions"))["actionReturn"]
    }
    for turn in (45, 90, 30, 135):
        kitchen.step("RotateRight", degrees=turn)
        while kitchen.step("MoveAhead", moveMagnitude=0.2):
            at = kitchen.last_event.metadata["agent"]["position"]
            assert (at["x"], at["z"]) in points


def test_crouching_lowers_the_camera(kitchen: Kitchen) -> None:
    high = kitchen.last_event.metadata["cameraPosition"]["y"]
    assert metadata_of(kitchen.step("Crouch"))["cameraPosition"]["y"] == pytest.approx(high - 0.22)
    assert kitchen.last_event.metadata["agent"]["isStanding"] is False
    assert not kitchen.step("Crouch")
    kitchen.step("RotateRight")
    assert kitchen.last_event.metadata["agent"]["isStanding"] is False
    assert metadata_of(kitchen.step("Stand"))["cameraPosition"]["y"] == pytest.approx(high)
    assert not kitchen.step("Stand")


@pytest.mark.slow
def test_a_point_of_the_image_names_an_object(kitchen: Kitchen, names: Names) -> None:
    mug = names.object_id("mug-1")
    pose = kitchen.step("GetInteractablePoses", objectId=mug, horizons=[30]).metadata
    kitchen.step("TeleportFull", **pose["actionReturn"][0])
    hits = set()
    for i in range(1, 40):
        for j in range(1, 40):
            moment = kitchen.snapshot()
            if kitchen.step("PickupObject", x=i / 40, y=j / 40):
                hits.add(kitchen.last_event.metadata["actionReturn"])
            kitchen.restore(moment)
    assert mug in hits
    assert "no object is at" in kitchen.step("OpenObject", x=1.5, y=2).metadata["errorMessage"]


# SetObjectPoses


def poses(kitchen: Kitchen) -> list[dict[str, Any]]:
    return [
        {"objectName": o["name"], "position": o["position"], "rotation": o["rotation"]}
        for o in kitchen.last_event.metadata["objects"]
        if o["pickupable"] or o["moveable"]
    ]


def test_poses_that_are_left_out_are_gone_and_doubles_are_copies(
    kitchen: Kitchen, names: Names, look: Look
) -> None:
    mug = look("mug-1")
    wanted = [p for p in poses(kitchen) if not p["objectName"].startswith("Apple")]
    twin = {**mug["position"], "z": round(mug["position"]["z"] + 0.2, 5)}
    wanted.append({"objectName": mug["name"], "position": twin})
    ids = {
        o["objectId"]: o
        for o in metadata_of(kitchen.step("SetObjectPoses", objectPoses=wanted))["objects"]
    }
    assert names.object_id("apple-1") not in ids
    copies = [i for i in ids if i.startswith(mug["objectId"]) and i != mug["objectId"]]
    assert copies == [f"{mug['objectId']}_copy_1"]
    copy = ids[copies[0]]
    assert copy["position"] == twin and copy["parentReceptacles"] == mug["parentReceptacles"]
    assert kitchen.step("PickupObject", objectId=copies[0], forceAction=True)


def test_setting_the_present_poses_changes_no_place(kitchen: Kitchen) -> None:
    before = {o["objectId"]: o["position"] for o in kitchen.last_event.metadata["objects"]}
    after = metadata_of(kitchen.step("SetObjectPoses", objectPoses=poses(kitchen)))["objects"]
    assert {o["objectId"]: o["position"] for o in after} == before


@pytest.mark.parametrize(
    "bad", [3, [7], [{"objectName": "Unicorn_1"}], [{"objectName": None}], [{"position": {"x": 1}}]]
)
def test_poses_that_make_no_sense(kitchen: Kitchen, bad: Any) -> None:
    before = json.dumps(kitchen.last_event.metadata["objects"])
    assert not kitchen.step("SetObjectPoses", objectPoses=bad)
    assert json.dumps(kitchen.last_event.metadata["objects"]) == before


# InitialRandomSpawn


def spawned(seed: int, scene: str = "FloorPlan1", **more: Any) -> list[dict[str, Any]]:
    kitchen = Kitchen(scene)
    return metadata_of(kitchen.step("InitialRandomSpawn", randomSeed=seed, **more))["objects"]


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from(["FloorPlan1", "FloorPlan16", "FloorPlan28"]))
def test_random_places_are_allowed_and_keep_ids(seed: int, scene: str) -> None:
    before = {o["objectId"]: o for o in Kitchen(scene).last_event.metadata["objects"]}
    after = {o["objectId"]: o for o in spawned(seed, scene)}
    assert set(after) == set(before)
    types = load_facts().types
    moved = 0
    for object_id, entry in after.items():
        if not entry["pickupable"]:
            assert entry["position"] == before[object_id]["position"]
        elif entry["parentReceptacles"] != before[object_id]["parentReceptacles"]:
            moved += 1
            parent = after[entry["parentReceptacles"][0]]
            assert parent["objectType"] in types[entry["objectType"]].placeable_in
    assert moved > 5


def test_a_seed_is_a_scene() -> None:
    assert spawned(5) == spawned(5)
    assert spawned(5) != spawned(6)


def test_what_spawning_is_told(names: Names) -> None:
    still = [names.object_id("knife-1")]
    after = spawned(
        4,
        excludedReceptacles=["CounterTop", "Fridge"],
        excludedObjectIds=still,
        forceVisible=True,
        numDuplicatesOfType=[{"objectType": "Apple", "count": 3}],
    )
    first = {o["objectId"]: o for o in Kitchen("FloorPlan1").last_event.metadata["objects"]}
    by_id = {o["objectId"]: o for o in after}
    assert by_id[still[0]]["position"] == first[still[0]]["position"]
    assert sum(o["objectType"] == "Apple" for o in after) == 3
    for entry in after:
        old = first.get(entry["objectId"], entry)
        if entry["pickupable"] and entry["parentReceptacles"] != old["parentReceptacles"]:
            kind = entry["parentReceptacles"][0].split("|")[0]
            assert kind not in ("CounterTop", "Fridge", "Drawer", "Cabinet")


# temperatures


def test_decay_can_be_set_and_stopped(kitchen: Kitchen, act: Act, look: Look) -> None:
    metadata_of(kitchen.step("DisableTemperatureDecay"))
    act("PickupObject", "egg-1")
    for _ in range(800):
        kitchen.step("Pass")
    assert look("egg-1")["temperature"] == "Cold"
    metadata_of(kitchen.step("EnableTemperatureDecay"))
    metadata_of(kitchen.step("SetTemperatureDecayTime", decayTime=0.1))
    for _ in range(8):
        kitchen.step("Pass")
    assert look("egg-1")["temperature"] == "RoomTemp"
    event = kitchen.step("SetTemperatureDecayTime", decayTime=-1)
    assert "decayTime must be >= 0. You gave -1" in event.metadata["errorMessage"]


# profiles


def test_put_and_pieces_of_2_1_0(names: Names) -> None:
    kitchen = Kitchen("FloorPlan1", profile="2.1.0")
    bread, mug = names.object_id("bread-1"), names.object_id("mug-1")
    counter = names.object_id("countertop-1")
    pieces = [
        o["objectId"]
        for o in metadata_of(kitchen.step("SliceObject", objectId=bread, forceAction=True))[
            "objects"
        ]
        if o["objectType"] == "BreadSliced"
    ]
    assert pieces == [f"{bread}|BreadSliced_{k}" for k in range(1, 9)]
    assert kitchen.step("PickupObject", objectId=mug, forceAction=True)
    with pytest.raises(ValueError, match="receptacleObjectId"):
        kitchen.step("PutObject", objectId=counter, forceAction=True)
    wrong = kitchen.step("PutObject", objectId=bread, receptacleObjectId=counter, forceAction=True)
    assert not wrong and "isn't holding" in wrong.metadata["errorMessage"]
    assert kitchen.step("PutObject", objectId=mug, receptacleObjectId=counter, forceAction=True)
    found = kitchen.last_event.get_object(mug)
    assert found and found["parentReceptacles"] == [counter]
    assert Names.from_metadata(kitchen.last_event.metadata).name(pieces[0]) == "breadsliced-1"


def test_profiles_are_named() -> None:
    assert Kitchen("FloorPlan1").profile == "5"
    with pytest.raises(UsageError, match=r"profiles: 5, 2\.1\.0"):
        Kitchen("FloorPlan1", profile="3")

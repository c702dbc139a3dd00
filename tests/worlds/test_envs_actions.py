"""Each action: its effects, and its failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hvr.worlds import Event, Kitchen, Names

Act = Callable[..., Event]
Look = Callable[[str], dict[str, Any]]


def message(event: Event) -> str:
    assert not event
    assert event.metadata["lastActionSuccess"] is False
    return str(event.metadata["errorMessage"])


def test_event_of_the_reset(kitchen: Kitchen) -> None:
    metadata = kitchen.last_event.metadata
    assert kitchen.last_event
    assert metadata["sceneName"] == "FloorPlan1_physics"
    assert metadata["agent"]["position"] == {"x": -1.0, "y": 0.901, "z": 1.0}
    assert metadata["agent"]["rotation"]["y"] == 270.0
    assert metadata["inventoryObjects"] == []
    assert len(metadata["objects"]) == 77


# requests that AI2-THOR's client refuses


def test_unknown_action_raises_and_is_reported(kitchen: Kitchen) -> None:
    with pytest.raises(ValueError, match="Invalid action: Fly"):
        kitchen.step("Fly")
    assert kitchen.last_event.metadata["errorCode"] == "InvalidAction"
    assert not kitchen.last_event


def test_unknown_argument(kitchen: Kitchen) -> None:
    with pytest.raises(ValueError, match="invalid argument: speed"):
        kitchen.step("MoveAhead", speed=3)
    assert kitchen.last_event.metadata["errorCode"] == "InvalidArgument"


def test_missing_argument(kitchen: Kitchen) -> None:
    text = "action: PickupObject is missing the following arguments: objectId"
    with pytest.raises(ValueError, match=text):
        kitchen.step("PickupObject")
    assert kitchen.last_event.metadata["errorCode"] == "MissingArguments"
    with pytest.raises(ValueError, match="horizon,standing"):
        kitchen.step("TeleportFull", position={"x": -1, "y": 0.9, "z": 1}, rotation=0)


def test_dict_and_keywords_mean_the_same(kitchen: Kitchen) -> None:
    assert kitchen.step({"action": "RotateRight", "degrees": 90})
    assert kitchen.last_event.metadata["agent"]["rotation"]["y"] == 0.0
    assert kitchen.step({"action": "RotateLeft"}, degrees=180)
    assert kitchen.last_event.metadata["agent"]["rotation"]["y"] == 180.0


# target lookup


def test_lookup_of_an_unknown_id(kitchen: Kitchen) -> None:
    text = message(kitchen.step("PickupObject", objectId="Mug|1|2|3"))
    assert "objectId: Mug|1|2|3 is not the objectId on any object in the scene!" in text


def test_lookup_of_something_out_of_sight(act: Act) -> None:
    text = message(act("PickupObject", "mug-1", force=False))
    assert "Target object not found within the specified visibility." in text


def test_contents_of_a_closed_fridge_are_only_forced(act: Act, look: Look) -> None:
    assert "visibility" in message(act("PickupObject", "egg-1", force=False))
    assert act("PickupObject", "egg-1")
    assert look("egg-1")["isPickedUp"]


# moving


def test_moves_and_walls(kitchen: Kitchen) -> None:
    assert kitchen.step("MoveAhead")
    assert kitchen.last_event.metadata["agent"]["position"]["x"] == -1.25
    while kitchen.step("MoveAhead"):
        pass
    assert "is blocking Agent 0 from moving by" in message(kitchen.last_event)
    assert "moveMagnitude must be > 0" in message(kitchen.step("MoveAhead", moveMagnitude=0))


def test_moves_snap_to_the_grid(kitchen: Kitchen) -> None:
    assert kitchen.step("MoveRight", moveMagnitude=0.45)
    assert kitchen.last_event.metadata["agent"]["position"]["z"] == 1.5


def test_looking_up_and_down_has_limits(kitchen: Kitchen) -> None:
    assert kitchen.step("LookDown") and kitchen.step("LookDown")
    event = kitchen.step("LookDown")
    assert "can't look down beyond 60 degrees" in message(event)
    assert event.metadata["errorCode"] == "LookDownCantExceedMin"
    for _ in range(3):
        assert kitchen.step("LookUp")
    assert "can't look up beyond 30 degrees" in message(kitchen.step("LookUp"))


def test_teleport_checks(kitchen: Kitchen) -> None:
    def go(x: float, z: float, horizon: float = 0.0, **more: Any) -> Event:
        return kitchen.step(
            "Teleport", position={"x": x, "y": 0.901, "z": z}, horizon=horizon, **more
        )

    assert "out of scene bounds" in message(go(30, 1))
    assert "is not on the grid of size 0.25" in message(go(-1.1, 1))
    assert "Collided with" in message(go(0.0, 0.0))
    assert "Each horizon must be in [-30:60]. You gave 80" in message(go(-1, 1, 80))
    assert go(0.0, 0.0, forceAction=True)
    assert kitchen.last_event.metadata["agent"]["position"]["x"] == 0.0


def test_interactable_poses_are_usable(kitchen: Kitchen, names: Names) -> None:
    mug = names.object_id("mug-1")
    poses = kitchen.step("GetInteractablePoses", objectId=mug).metadata["actionReturn"]
    assert poses
    for pose in poses[::7]:
        assert kitchen.step("TeleportFull", **pose)
        found = kitchen.last_event.get_object(mug)
        assert found and found["visible"] and found["isInteractable"]
    egg = names.object_id("egg-1")
    assert kitchen.step("GetInteractablePoses", objectId=egg).metadata["actionReturn"] == []
    few = kitchen.step("GetInteractablePoses", objectId=mug, horizons=[30], maxPoses=2)
    assert [p["horizon"] for p in few.metadata["actionReturn"]] == [30.0, 30.0]


def test_reachable_positions(kitchen: Kitchen) -> None:
    points = kitchen.step("GetReachablePositions").metadata["actionReturn"]
    assert {"x": -1.0, "y": 0.901, "z": 1.0} in points and len(points) == 152


# taking and putting


def test_pickup_and_its_refusals(names: Names, act: Act, look: Look) -> None:
    assert "must have the property CanPickup" in message(act("PickupObject", "fridge-1"))
    event = act("PickupObject", "mug-1")
    assert event.metadata["actionReturn"] == names.object_id("mug-1")
    assert event.metadata["inventoryObjects"] == [
        {"objectId": names.object_id("mug-1"), "objectType": "Mug"}
    ]
    mug = look("mug-1")
    assert mug["isPickedUp"] and mug["parentReceptacles"] is None and mug["visible"]
    assert mug["objectId"] not in look("countertop-3")["receptacleObjectIds"]
    assert "hand has something in it already" in message(act("PickupObject", "apple-1"))


def test_put_checks_in_order(act: Act) -> None:
    assert "isn't holding anything" in message(act("PutObject", "fridge-1"))
    act("PickupObject", "apple-1")
    assert "not found within" in message(act("PutObject", "countertop-1", force=False))
    assert "NOT a receptacle" in message(act("PutObject", "knife-1"))
    assert "is CLOSED" in message(act("PutObject", "fridge-1"))
    assert "is not a valid Object Type to be placed in CoffeeMachine_" in message(
        act("PutObject", "coffeemachine-1")
    )
    act("Teleport", position={"x": -1.0, "y": 0.901, "z": -1.5}, rotation=270, horizon=60)
    act("OpenObject", "cabinet-7")
    assert act("PutObject", "sinkbasin-1")


def test_placement_table_and_its_switch(names: Names) -> None:
    for table in (True, False):
        kitchen = Kitchen("FloorPlan1", placement_table=table)
        kitchen.step("OpenObject", objectId=names.object_id("microwave-1"), forceAction=True)
        kitchen.step("PickupObject", objectId=names.object_id("tomato-1"), forceAction=True)
        oven = names.object_id("microwave-1")
        pose = kitchen.step("GetInteractablePoses", objectId=oven).metadata["actionReturn"][0]
        kitchen.step("TeleportFull", **pose)
        event = kitchen.step("PutObject", objectId=oven)
        if table:
            assert "cannot be placed in Microwave_" in message(event)
            event = kitchen.step("PutObject", objectId=oven, forceAction=True)
        assert event


def test_object_specific_receptacle_is_full(act: Act, look: Look) -> None:
    act("PickupObject", "pan-1")
    assert act("PutObject", "stoveburner-1")
    act("PickupObject", "pot-1")
    assert "is full right now" in message(act("PutObject", "stoveburner-1"))
    assert act("PutObject", "stoveburner-2")
    assert look("pot-1")["parentReceptacles"] == [look("stoveburner-2")["objectId"]]


def test_a_drawer_gets_full(act: Act) -> None:
    act("OpenObject", "drawer-1")
    act("PickupObject", "book-1")
    assert "No valid positions to place object found" in message(act("PutObject", "drawer-1"))


@pytest.mark.parametrize("vessel", ["plate-1", "bowl-1", "pan-1", "pot-1"])
def test_three_pieces_always_fit(vessel: str, act: Act, look: Look) -> None:
    act("SliceObject", "potato-1")
    act("SliceObject", "apple-1")
    pieces = ["applesliced-1", "applesliced-2", "potatosliced-1"]
    for piece in pieces:
        act("PickupObject", piece)
        assert act("PutObject", vessel), piece
    boxes = [look(piece)["axisAlignedBoundingBox"]["center"] for piece in pieces]
    assert len({tuple(b.values()) for b in boxes}) == 3
    assert len(look(vessel)["receptacleObjectIds"]) == 3


@pytest.mark.parametrize("vessel", ["plate-1", "bowl-1", "pan-1", "pot-1"])
def test_six_pieces_fit_beside_a_fork(vessel: str, act: Act, look: Look) -> None:
    act("SliceObject", "bread-1")
    things = ["fork-1", *(f"breadsliced-{i}" for i in range(1, 7))]
    for thing in things:
        act("PickupObject", thing)
        assert act("PutObject", vessel), thing
    assert len(look(vessel)["receptacleObjectIds"]) == 7


def test_garbage_can_reports_the_floor_too(act: Act, look: Look) -> None:
    act("PickupObject", "egg-1")
    assert act("PutObject", "garbagecan-1")
    kinds = sorted(p.split("|")[0] for p in look("egg-1")["parentReceptacles"])
    assert kinds == ["Floor", "GarbageCan"]


def test_held_receptacle_carries_its_contents(kitchen: Kitchen, act: Act, look: Look) -> None:
    act("PickupObject", "apple-1")
    act("PutObject", "bowl-1")
    act("PickupObject", "bowl-1")
    assert look("bowl-1")["receptacleObjectIds"] == []
    assert look("apple-1")["parentReceptacles"] is None and not look("apple-1")["isPickedUp"]
    before = look("apple-1")["position"]
    kitchen.step("RotateRight")
    assert look("apple-1")["position"] != before
    assert act("PutObject", "countertop-1")
    assert look("bowl-1")["receptacleObjectIds"] == [look("apple-1")["objectId"]]
    gap = [abs(look("apple-1")["position"][a] - look("bowl-1")["position"][a]) for a in ("x", "z")]
    assert max(gap) < 0.1


def test_contents_leave_where_they_lay_with_their_vessel() -> None:
    kitchen = Kitchen("FloorPlan14")
    names = Names.from_metadata(kitchen.last_event.metadata)
    ids = {name: names.object_id(name) for name in ("spatula-1", "pot-1", "countertop-1")}

    def where() -> set[str]:
        spatula = kitchen.last_event.get_object(ids["spatula-1"])
        assert spatula is not None
        return {names.name(i).rpartition("-")[0] for i in spatula["parentReceptacles"]}

    assert where() == {"pot", "stoveburner"}
    assert kitchen.step("PickupObject", objectId=ids["pot-1"], forceAction=True)
    assert kitchen.step("PutObject", objectId=ids["countertop-1"], forceAction=True)
    assert where() == {"pot"}


def test_nothing_is_put_into_itself_or_its_contents(act: Act) -> None:
    act("PickupObject", "bowl-1")
    assert "No valid Receptacle found" in message(act("PutObject", "bowl-1"))


def test_drop_and_throw(act: Act, look: Look) -> None:
    assert "Nothing is in the agent's hand to drop!" in message(act("DropHandObject"))
    assert "Nothing in Hand to Throw!" in message(act("ThrowObject"))
    act("PickupObject", "apple-1")
    event = act("DropHandObject")
    assert event.metadata["actionReturn"] == look("apple-1")["position"]
    assert look("apple-1")["parentReceptacles"] == [look("floor-1")["objectId"]]
    act("PickupObject", "plate-1")
    assert act("ThrowObject", moveMagnitude=200)
    assert look("plate-1")["isBroken"] and not look("plate-1")["visible"]


def test_a_dropped_egg_breaks(act: Act, look: Look) -> None:
    act("PickupObject", "egg-1")
    assert act("DropHandObject")
    assert look("egg-1")["isBroken"]
    assert look("eggcracked-1")["parentReceptacles"] == [look("floor-1")["objectId"]]


# opening and switching


def test_open_and_close(act: Act, look: Look) -> None:
    assert "is not an Openable object" in message(act("OpenObject", "mug-1"))
    assert "openness must be in [0:1]" in message(act("OpenObject", "fridge-1", openness=2))
    assert act("OpenObject", "fridge-1", openness=0.5)
    assert look("fridge-1")["isOpen"] and look("fridge-1")["openness"] == 0.5
    assert act("CloseObject", "fridge-1")
    assert not look("fridge-1")["isOpen"] and look("fridge-1")["openness"] == 0.0


def test_an_open_drawer_comes_out_with_its_contents(act: Act, look: Look) -> None:
    spoon, drawer = look("spoon-1")["position"]["z"], look("drawer-5")["position"]["z"]
    act("OpenObject", "drawer-5")
    moved = look("drawer-5")["position"]["z"] - drawer
    assert moved == pytest.approx(0.318, abs=0.001)
    assert look("spoon-1")["position"]["z"] - spoon == pytest.approx(moved, abs=1e-4)
    act("CloseObject", "drawer-5")
    assert look("spoon-1")["position"]["z"] == pytest.approx(spoon, abs=1e-4)


def test_toggle_refusals(act: Act) -> None:
    assert "object is not toggleable." in message(act("ToggleObjectOn", "mug-1"))
    assert "is controlled by another sim object" in message(act("ToggleObjectOn", "stoveburner-1"))
    assert "already off" in message(act("ToggleObjectOff", "faucet-1"))
    assert act("ToggleObjectOn", "faucet-1")
    assert "already on" in message(act("ToggleObjectOn", "faucet-1"))


def test_microwave_and_its_door(act: Act) -> None:
    act("OpenObject", "microwave-1")
    assert "Target must be closed to Toggle On!" in message(act("ToggleObjectOn", "microwave-1"))
    act("CloseObject", "microwave-1")
    assert act("ToggleObjectOn", "microwave-1")
    assert "Target must be OFF to open!" in message(act("OpenObject", "microwave-1"))


def test_knob_switches_its_burner(act: Act, look: Look) -> None:
    act("ToggleObjectOn", "stoveknob-3")
    assert look("stoveknob-3")["isToggled"] and look("stoveburner-4")["isToggled"]
    act("ToggleObjectOff", "stoveknob-3")
    assert not look("stoveburner-4")["isToggled"]


# cutting and breaking


def test_slices_lie_where_the_source_lay(act: Act, look: Look) -> None:
    home = look("bread-1")["parentReceptacles"]
    where = look("bread-1")["position"]
    assert act("SliceObject", "bread-1")
    bread = look("bread-1")
    assert bread["isSliced"] and bread["parentReceptacles"] is None
    assert bread["position"] == where and not bread["visible"]
    for n in range(1, 9):
        piece = look(f"breadsliced-{n}")
        assert piece["objectId"] == f"{bread['objectId']}|BreadSliced_{n - 1}"
        assert piece["parentReceptacles"] == home and piece["pickupable"] and piece["cookable"]
        assert abs(piece["position"]["z"] - where["z"]) < 0.15
    assert "not found within" in message(act("SliceObject", "bread-1", force=False))
    assert act("SliceObject", "bread-1")


def test_slicing_refusals(act: Act) -> None:
    assert "Does not have the CanBeSliced property!" in message(act("SliceObject", "mug-1"))
    act("PickupObject", "apple-1")
    assert "cannot be sliced if it is in the agent's hand" in message(act("SliceObject", "apple-1"))


def test_cooked_source_gives_cooked_pieces(act: Act, look: Look) -> None:
    act("CookObject", "potato-1")
    act("SliceObject", "potato-1")
    assert all(look(f"potatosliced-{n}")["isCooked"] for n in range(1, 9))


def test_egg_breaks_in_the_hand(kitchen: Kitchen, act: Act, look: Look) -> None:
    act("PickupObject", "egg-1")
    assert act("BreakObject", "egg-1")
    assert kitchen.last_event.metadata["inventoryObjects"] == []
    egg, cracked = look("egg-1"), look("eggcracked-1")
    assert egg["isBroken"] and not egg["isSliced"] and egg["parentReceptacles"] is None
    assert cracked["parentReceptacles"] and cracked["cookable"]


def test_broken_bowl_leaves_its_contents(act: Act, look: Look) -> None:
    assert "does not have the CanBreak property!!" in message(act("BreakObject", "apple-1"))
    act("PickupObject", "apple-1")
    act("PutObject", "bowl-1")
    act("BreakObject", "bowl-1")
    assert look("bowl-1")["isBroken"]
    assert look("apple-1")["parentReceptacles"] == [look("countertop-2")["objectId"]]


# states


def test_direct_state_actions(act: Act, look: Look) -> None:
    assert act("DirtyObject", "mug-1") and look("mug-1")["isDirty"]
    assert "is already dirty!" in message(act("DirtyObject", "mug-1"))
    assert act("CleanObject", "mug-1") and not look("mug-1")["isDirty"]
    assert "is already Clean!" in message(act("CleanObject", "mug-1"))
    assert "does not have CanBeDirty property!" in message(act("DirtyObject", "apple-1"))
    assert "does not have dirtyable property!" in message(act("CleanObject", "apple-1"))
    assert "target object is not cookable" in message(act("CookObject", "apple-1"))
    assert act("CookObject", "potato-1")
    assert "is already Toasted!" in message(act("CookObject", "potato-1"))
    assert "CanBeUsedUp" in message(act("UseUpObject", "papertowelroll-1"))


def test_filling_and_emptying(act: Act, look: Look) -> None:
    def fill(name: str, liquid: str | None) -> Event:
        return act("FillObjectWithLiquid", name, fillLiquid=liquid)

    assert "Missing Liquid string" in message(fill("mug-1", None))
    assert "CanBeFilled" in message(fill("apple-1", "water"))
    assert "milk is not a valid Liquid Type" in message(fill("mug-1", "milk"))
    assert "object already empty" in message(act("EmptyLiquidFromObject", "mug-1"))
    assert fill("mug-1", "Coffee")
    assert look("mug-1")["fillLiquid"] == "coffee" and look("mug-1")["temperature"] == "Hot"
    assert "is already Filled!" in message(fill("mug-1", "water"))
    assert act("EmptyLiquidFromObject", "mug-1")
    assert not look("mug-1")["isFilledWithLiquid"] and look("mug-1")["fillLiquid"] is None
    assert fill("cup-1", "water") and look("cup-1")["temperature"] == "RoomTemp"


def test_a_failed_action_changes_nothing(kitchen: Kitchen, act: Act) -> None:
    before = kitchen.last_event.metadata["objects"]
    act("PutObject", "fridge-1")
    after = kitchen.last_event.metadata["objects"]
    assert before == after
    assert all(a is b for a, b in zip(before, after, strict=True)), "dicts are not shared"

"""Side effects, time, determinism, snapshots, metadata."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.worlds import Event, Kitchen, Names
from tests.work import lines_run

Act = Callable[..., Event]
Look = Callable[[str], dict[str, Any]]


def test_fridge_makes_cold_also_when_closed(act: Act, look: Look) -> None:
    assert look("egg-1")["temperature"] == "Cold"
    act("OpenObject", "fridge-1")
    act("PickupObject", "apple-1")
    act("PutObject", "fridge-1")
    assert look("apple-1")["temperature"] == "Cold"


def test_temperature_decays_after_ten_seconds(kitchen: Kitchen, act: Act, look: Look) -> None:
    act("PickupObject", "egg-1")
    start = kitchen.last_event.metadata["currentTime"]
    while look("egg-1")["temperature"] == "Cold":
        kitchen.step("Pass")
    assert kitchen.last_event.metadata["currentTime"] - start == pytest.approx(10.0, abs=0.1)


def test_egg_in_a_pan_cooks_on_a_lit_burner(act: Act, look: Look) -> None:
    act("SliceObject", "egg-1")
    act("PickupObject", "eggcracked-1")
    act("PutObject", "pan-1")
    act("PickupObject", "pan-1")
    act("PutObject", "stoveburner-1")
    assert not look("eggcracked-1")["isCooked"]
    act("ToggleObjectOn", "stoveknob-1")
    assert look("eggcracked-1")["isCooked"] and look("eggcracked-1")["temperature"] == "Hot"
    assert look("pan-1")["temperature"] == "Hot"


def test_microwave_heats_bread_without_toasting_it(act: Act, look: Look) -> None:
    act("SliceObject", "bread-1")
    act("OpenObject", "microwave-1")
    act("PickupObject", "breadsliced-2")
    act("PutObject", "microwave-1")
    act("PickupObject", "potato-1")
    act("PutObject", "microwave-1")
    act("CloseObject", "microwave-1")
    act("ToggleObjectOn", "microwave-1")
    assert look("breadsliced-2")["temperature"] == "Hot" and not look("breadsliced-2")["isCooked"]
    assert look("potato-1")["isCooked"]
    act("ToggleObjectOff", "microwave-1")
    act("OpenObject", "microwave-1")
    act("PickupObject", "breadsliced-2")
    act("PutObject", "toaster-1")
    act("ToggleObjectOn", "toaster-1")
    assert look("breadsliced-2")["isCooked"]


def test_faucet_cleans_and_fills_at_any_depth(act: Act, look: Look) -> None:
    act("DirtyObject", "mug-1")
    act("PickupObject", "butterknife-1")
    act("PutObject", "mug-1")
    act("PickupObject", "mug-1")
    act("PutObject", "sinkbasin-1")
    assert look("mug-1")["isDirty"]
    act("ToggleObjectOn", "faucet-1")
    mug = look("mug-1")
    assert not mug["isDirty"] and mug["fillLiquid"] == "water"
    act("DirtyObject", "cup-1")
    act("PickupObject", "cup-1")
    act("PutObject", "sinkbasin-1")
    assert not look("cup-1")["isDirty"] and look("cup-1")["isFilledWithLiquid"]


def test_coffee_machine_fills_an_empty_mug_only(act: Act, look: Look) -> None:
    act("FillObjectWithLiquid", "mug-1", fillLiquid="water")
    act("PickupObject", "mug-1")
    act("PutObject", "coffeemachine-1")
    act("ToggleObjectOn", "coffeemachine-1")
    assert look("mug-1")["fillLiquid"] == "water" and look("mug-1")["temperature"] == "RoomTemp"
    act("EmptyLiquidFromObject", "mug-1")
    assert look("mug-1")["fillLiquid"] == "coffee" and look("mug-1")["temperature"] == "Hot"


SCRIPT = [
    ("SliceObject", "bread-1"),
    ("PickupObject", "breadsliced-3"),
    ("PutObject", "toaster-1"),
    ("ToggleObjectOn", "toaster-1"),
    ("PickupObject", "plate-1"),
    ("RotateLeft", None),
    ("ThrowObject", None),
    ("RotateRight", None),
    ("MoveAhead", None),
    ("PickupObject", "mug-1"),
    ("BreakObject", "mug-1"),
]


def run(kitchen: Kitchen, names: Names) -> str:
    lines = []
    for action, name in SCRIPT:
        kwargs = {"objectId": names.object_id(name)} if name else {}
        event = kitchen.step(action=action, forceAction=True, **kwargs)
        lines.append(json.dumps(event.metadata))
    return "\n".join(lines)


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(names: Names) -> None:
    first, second = (run(Kitchen("FloorPlan1", seed=7), names) for _ in range(2))
    assert first == second
    assert run(Kitchen("FloorPlan1", seed=8), names) != first


def test_reset_starts_again(kitchen: Kitchen, names: Names) -> None:
    start = json.dumps(kitchen.last_event.metadata)
    run(kitchen, names)
    assert json.dumps(kitchen.reset().metadata) == start
    assert kitchen.reset("FloorPlan2").metadata["sceneName"] == "FloorPlan2_physics"


@pytest.mark.slow
def test_snapshot_and_restore(kitchen: Kitchen, names: Names) -> None:
    run(kitchen, names)
    moment = kitchen.snapshot()
    seen = json.dumps(kitchen.last_event.metadata)
    first = run(kitchen, names)
    kitchen.restore(moment)
    assert json.dumps(kitchen.last_event.metadata) == seen
    assert run(kitchen, names) == first
    with pytest.raises(UsageError, match="the snapshot is of FloorPlan1"):
        Kitchen("FloorPlan2").restore(moment)


def test_an_old_event_still_tells_its_own_moment(kitchen: Kitchen, names: Names) -> None:
    early = kitchen.step("Pass")
    kitchen.step("PickupObject", objectId=names.object_id("mug-1"), forceAction=True)
    assert early.metadata["inventoryObjects"] == []
    found = early.get_object(names.object_id("mug-1"))
    assert found and not found["isPickedUp"]


def test_a_step_does_not_get_slower_with_history(kitchen: Kitchen) -> None:
    def turn(times: int = 4) -> None:
        for _ in range(times):
            kitchen.step("RotateRight")

    turn()
    early = lines_run(turn)
    turn(400)
    assert lines_run(turn) == early


def test_metadata_has_every_field_of_the_schema(shared: Path, kitchen: Kitchen) -> None:
    schema = json.loads((shared / "ai2thor" / "metadata_schema.json").read_text())
    kitchen.step("SliceObject", objectId="Bread|-00.52|+01.17|-00.03", forceAction=True)
    problems: list[str] = []
    check(kitchen.last_event.metadata, schema, "metadata", problems)
    assert not problems, problems[:5]
    allowed = set(schema["properties"])
    assert set(kitchen.last_event.metadata) <= allowed
    fields = set(schema["properties"]["objects"]["items"]["properties"])
    assert all(set(o) == fields for o in kitchen.last_event.metadata["objects"])


TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def check(value: Any, schema: dict[str, Any], path: str, problems: list[str]) -> None:
    """Check a value against a subset of JSON Schema: type, enum, required, properties, items."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[kind]) for kind in kinds):
        problems.append(f"{path} is {value!r}, not {kinds}")
    if isinstance(value, bool) and kinds and "boolean" not in kinds:
        problems.append(f"{path} is a boolean")
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{path} is {value!r}")
    if isinstance(value, dict):
        problems += [f"{path} lacks {k}" for k in schema.get("required", ()) if k not in value]
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                check(value[key], inner, f"{path}.{key}", problems)
    if isinstance(value, list) and "items" in schema:
        for i, entry in enumerate(value):
            check(entry, schema["items"], f"{path}[{i}]", problems)


WHOLE = ["apple-1", "bread-1", "egg-1", "mug-1", "plate-1", "bowl-1", "pan-1", "knife-1", "pot-1"]
PARTS = ["applesliced-1", "breadsliced-2", "eggcracked-1"]
PLACES = ["fridge-1", "microwave-1", "sinkbasin-1", "countertop-1", "coffeemachine-1", "toaster-1"]
MORE = ["stoveknob-1", "stoveburner-1", "faucet-1", "drawer-5", "cabinet-1", "garbagecan-1"]
ON_OBJECTS = [
    "PickupObject",
    "PutObject",
    "OpenObject",
    "CloseObject",
    "ToggleObjectOn",
    "ToggleObjectOff",
    "SliceObject",
    "BreakObject",
    "DirtyObject",
    "CleanObject",
    "EmptyLiquidFromObject",
]
MOVES = st.tuples(
    st.sampled_from(ON_OBJECTS + ON_OBJECTS[:2] * 3), st.sampled_from(WHOLE + PARTS + PLACES + MORE)
) | st.tuples(
    st.sampled_from(["DropHandObject", "ThrowObject", "RotateLeft", "MoveAhead", "Pass"]), st.none()
)
START = Kitchen("FloorPlan1")
NAMES = Names.from_metadata(START.last_event.metadata)
FIRST = START.snapshot()


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(MOVES, max_size=25))
def test_the_world_stays_consistent(moves: list[tuple[str, str | None]]) -> None:
    kitchen = START
    kitchen.restore(FIRST)
    for action, name in moves:
        kwargs = {"objectId": NAMES.object_id(name)} if name else {}
        before = kitchen.last_event.metadata
        event = kitchen.step(action=action, forceAction=True, **kwargs)
        metadata = event.metadata
        objects = {o["objectId"]: o for o in metadata["objects"]}
        assert bool(event) == (metadata["errorMessage"] == "")
        if not event:
            assert metadata["inventoryObjects"] == before["inventoryObjects"]
        held = [o["objectId"] for o in metadata["objects"] if o["isPickedUp"]]
        assert held == [o["objectId"] for o in metadata["inventoryObjects"]]
        for entry in metadata["objects"]:
            for parent in entry["parentReceptacles"] or ():
                assert entry["objectId"] in objects[parent]["receptacleObjectIds"]
            for content in entry["receptacleObjectIds"] or ():
                assert entry["objectId"] in objects[content]["parentReceptacles"]
            if entry["pickupable"] and not entry["isBroken"] and not entry["isSliced"]:
                rests = bool(entry["parentReceptacles"]) or bool(held)
                assert rests, f"{entry['objectId']} floats"
            assert entry["fillLiquid"] is None or entry["isFilledWithLiquid"]

"""Floor plans: their contents, and lossless conversion to JSON and back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import DataFileError, SceneError
from hvr.runs.report.floor_plan.plan import (
    FloorPlan,
    ObjectKind,
    Pose,
    floor_plan,
    kind_of,
    scene_plan,
)
from hvr.worlds import Event, Kitchen, Names
from hvr.worlds.scenes import load_scene, scene_names


def shape(plan: FloorPlan, name: str) -> Any:
    return next(s for s in plan.shapes if s.name == name)


@pytest.mark.parametrize("name", [*scene_names("kitchen"), *scene_names("home")[::9]])
def test_a_plan_has_every_object_and_point_of_its_scene(name: str) -> None:
    plan, scene = scene_plan(name), load_scene(name)
    assert plan.scene == name
    assert {s.object_id for s in plan.shapes} == {o.object_id for o in scene.objects}
    assert plan.grid == scene.grid
    x0, z0, x1, z1 = plan.bounds
    assert all(x0 < s.box.x0 and s.box.x1 < x1 and z0 < s.box.z0 and s.box.z1 < z1
               for s in plan.shapes)  # fmt: skip
    assert all(x0 < x < x1 and z0 < z < z1 for x, z in plan.grid)


def test_a_plan_is_the_same_after_json() -> None:
    plan = scene_plan("FloorPlan5")
    again = FloorPlan.from_json(json.loads(json.dumps(plan.to_json())), "here")
    assert again.to_json() == plan.to_json()
    assert [s.caption for s in again.shapes] == [s.caption for s in plan.shapes]


def test_state_and_place_are_told(
    kitchen: Kitchen, names: Names, act: Callable[..., Event]
) -> None:
    before = floor_plan(kitchen.last_event.metadata, names)
    egg = next(s for s in before.shapes if s.object_type == "Egg")
    assert egg.enclosed
    assert shape(before, egg.place).object_type == "Fridge"
    assert act("OpenObject", "fridge-1")
    assert act("ToggleObjectOn", "faucet-1")
    assert act("PickupObject", "mug-1")
    plan = floor_plan(kitchen.last_event.metadata, names)
    assert not shape(plan, egg.name).enclosed
    assert "open" in shape(plan, "fridge-1").state
    assert "on" in shape(plan, "faucet-1").state
    assert plan.held == "mug-1"
    assert "held" in shape(plan, "mug-1").state
    assert shape(plan, "mug-1").place == ""


def test_what_was_sliced_makes_room_for_its_pieces(
    kitchen: Kitchen, names: Names, act: Callable[..., Event]
) -> None:
    assert act("SliceObject", "tomato-1")
    drawn = {s.name for s in floor_plan(kitchen.last_event.metadata, names).shapes}
    assert "tomato-1" not in drawn
    assert set(names.pieces("tomato-1")) <= drawn


def test_the_pose_is_that_of_the_agent(kitchen: Kitchen) -> None:
    start = floor_plan(kitchen.last_event.metadata).agent
    kitchen.step("RotateLeft")
    assert floor_plan(kitchen.last_event.metadata).agent == Pose(
        start.x, start.z, (start.yaw - 90.0) % 360.0
    )


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"objectType": "Floor", "receptacle": True}, ObjectKind.FLOOR),
        ({"objectType": "SinkBasin", "receptacle": True}, ObjectKind.BASIN),
        ({"objectType": "Mug", "pickupable": True, "receptacle": True}, ObjectKind.SMALL),
        ({"objectType": "Laptop", "pickupable": True, "toggleable": True}, ObjectKind.SMALL),
        ({"objectType": "Microwave", "moveable": True, "toggleable": True, "openable": True,
          "receptacle": True}, ObjectKind.APPLIANCE),
        ({"objectType": "Fridge", "isColdSource": True, "openable": True, "receptacle": True},
         ObjectKind.APPLIANCE),
        ({"objectType": "Drawer", "openable": True, "receptacle": True}, ObjectKind.STORAGE),
        ({"objectType": "DiningTable", "moveable": True, "receptacle": True}, ObjectKind.SURFACE),
        ({"objectType": "Chair", "moveable": True, "receptacle": True}, ObjectKind.FURNITURE),
        ({"objectType": "Blinds", "openable": True}, ObjectKind.FIXTURE),
    ],
)  # fmt: skip
def test_kinds(entry: dict[str, Any], kind: ObjectKind) -> None:
    assert kind_of(entry) is kind


def test_recorded_events_of_ai2thor_have_a_plan(shared: Path) -> None:
    for file in sorted((shared / "ai2thor" / "traces").glob("*.jsonl.gz")):
        lines = gzip.decompress(file.read_bytes()).decode("utf-8").splitlines()
        events = [json.loads(line)["metadata"] for line in (lines[0], lines[-1])]
        names = Names.from_metadata(events[0])
        for metadata in events:
            plan = floor_plan(metadata, names)
            whole = [o for o in metadata["objects"] if not o["isSliced"]]
            assert len(plan.shapes) == len(whole), file.name
            assert plan.agent.x == metadata["agent"]["position"]["x"]


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.pop("objects"),
        lambda raw: raw.update(agent=None),
        lambda raw: raw["objects"][0].update(kind="soft"),
        lambda raw: raw["objects"][0].update(box=[0, 0, 0]),
        lambda raw: raw["objects"][0].update(box=[0, 0, 0, 1, 1, float("nan")]),
        lambda raw: raw.update(grid=[[1]]),
    ],
)
def test_a_damaged_plan_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    raw = scene_plan("FloorPlan28").to_json()
    change(raw)
    with pytest.raises(DataFileError, match=r"here\.json is not a floor plan"):
        FloorPlan.from_json(raw, "here.json")


def test_an_unknown_scene_is_named() -> None:
    with pytest.raises(SceneError, match="FloorPlan99"):
        scene_plan("FloorPlan99")

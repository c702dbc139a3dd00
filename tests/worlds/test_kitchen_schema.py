"""Events match AI2-THOR's: all metadata validates against its schema at any moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hvr.worlds import Kitchen, Names, scene_names

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

SCHEMA = json.loads(
    (Path(__file__).parent / "metadata_schema" / "thor_5.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def valid(metadata: dict[str, Any]) -> None:
    """Check that metadata fits the schema without extra fields, also after a JSON round trip."""
    document = json.loads(json.dumps(metadata, allow_nan=False))
    problems = [
        f"{list(e.absolute_path)}: {e.message}"[:200] for e in VALIDATOR.iter_errors(document)
    ]
    assert not problems, problems[:3]
    assert set(document) <= set(SCHEMA["properties"])
    fields = set(SCHEMA["properties"]["objects"]["items"]["properties"])
    assert all(set(entry) <= fields for entry in document["objects"])


@pytest.mark.parametrize("scene", scene_names()[::12])
def test_first_event_of_a_scene(scene: str) -> None:
    valid(Kitchen(scene).last_event.metadata)


@pytest.mark.slow
def test_events_of_all_kinds(kitchen: Kitchen, names: Names) -> None:
    def on(name: str) -> dict[str, Any]:
        return {"objectId": names.object_id(name), "forceAction": True}

    steps: list[tuple[str, dict[str, Any]]] = [
        ("Initialize", {"gridSize": 0.1, "width": 64, "height": 48, "renderDepthImage": True}),
        ("MoveAhead", {}),
        ("Crouch", {}),
        ("Crouch", {}),
        ("Teleport", {"position": {"x": 99, "y": 0, "z": 0}}),
        ("GetReachablePositions", {}),
        ("GetInteractablePoses", {"objectId": names.object_id("mug-1"), "maxPoses": 3}),
        ("SliceObject", on("bread-1")),
        ("BreakObject", on("egg-1")),
        ("PickupObject", on("mug-1")),
        ("PutObject", on("fridge-1")),
        ("FillObjectWithLiquid", {**on("mug-1"), "fillLiquid": "coffee"}),
        ("DropHandObject", {}),
        ("OpenObject", {**on("fridge-1"), "openness": 0.3}),
        ("InitialRandomSpawn", {"randomSeed": 3}),
        ("SetTemperatureDecayTime", {"decayTime": 1}),
    ]
    for action, arguments in steps:
        valid(kitchen.step(action, **arguments).metadata)
    with pytest.raises(ValueError, match="Invalid action"):
        kitchen.step("Juggle")
    valid(kitchen.last_event.metadata)
    assert kitchen.last_event.metadata["screenWidth"] == 64

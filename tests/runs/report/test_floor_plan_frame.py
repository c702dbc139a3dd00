"""The rendered frame in place of a camera image."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import MissingExtraError, UsageError
from hvr.runs.report.floor_plan.drawing import LIGHT
from hvr.runs.report.floor_plan.renderings import frame
from hvr.worlds import Kitchen
from tests.extras import needs

needs("numpy")

AGENT = bytes.fromhex(LIGHT["agent"].fill[1:])


def metadata(scene: str = "FloorPlan16") -> dict[str, Any]:
    return Kitchen(scene).last_event.metadata


def rows_with(image: bytes, width: int, colour: bytes) -> list[int]:
    line = 3 * width
    rows = [image[i : i + line] for i in range(0, len(image), line)]
    return [
        number for number, row in enumerate(rows)
        if any(row[i : i + 3] == colour for i in range(0, line, 3))
    ]  # fmt: skip


SIZES = st.integers(1, 120)


@pytest.mark.slow
@settings(max_examples=50)
@given(width=SIZES, height=SIZES, scene=st.sampled_from(["FloorPlan16", "FloorPlan3"]))
def test_any_size_gives_that_many_pixels(width: int, height: int, scene: str) -> None:
    assert len(frame(metadata(scene), width, height)) == width * height * 3


def test_the_bottom_row_comes_first() -> None:
    low = metadata("FloorPlan7")
    high = copy.deepcopy(low)
    zs = [o["position"]["z"] for o in low["objects"]]
    low["agent"]["position"]["z"] = min(zs) + 0.5
    high["agent"]["position"]["z"] = max(zs) - 0.5
    first = rows_with(frame(low, 200, 200), 200, AGENT)
    second = rows_with(frame(high, 200, 200), 200, AGENT)
    assert first
    assert second
    assert max(first) < min(second)


def test_the_same_scene_gives_the_same_bytes_and_is_left_alone() -> None:
    seen = metadata()
    before = copy.deepcopy(seen)
    assert frame(seen, 300, 300) == frame(seen, 300, 300) == frame(before, 300, 300)
    assert seen == before


def test_sizes_and_scenes_do_not_get_mixed_up() -> None:
    """Cached parts of a scene never appear in another one."""
    fresh = frame(metadata("FloorPlan2"), 64, 48)
    frame(metadata("FloorPlan5"), 64, 48)
    frame(metadata("FloorPlan2"), 48, 64)
    moved = metadata("FloorPlan2")
    moved["objects"] = [o for o in moved["objects"] if o["objectType"] != "Fridge"]
    assert frame(moved, 64, 48) != fresh
    assert frame(metadata("FloorPlan2"), 64, 48) == fresh


@pytest.mark.parametrize("action", ["MoveAhead", "RotateLeft"])
def test_what_the_robot_does_is_seen(action: str) -> None:
    kitchen = Kitchen("FloorPlan7")
    before = frame(kitchen.last_event.metadata, 300, 300)
    assert kitchen.step(action)
    assert frame(kitchen.last_event.metadata, 300, 300) != before


@pytest.mark.parametrize("change", ["ToggleObjectOn", "OpenObject", "SliceObject", "PickupObject"])
def test_what_happens_to_things_is_seen(change: str) -> None:
    kinds = {"ToggleObjectOn": "Faucet", "OpenObject": "Fridge", "SliceObject": "Tomato",
             "PickupObject": "Apple"}  # fmt: skip
    kitchen = Kitchen("FloorPlan16")
    before = frame(kitchen.last_event.metadata, 300, 300)
    thing = next(o for o in kitchen.last_event.metadata["objects"]
                 if o["objectType"] == kinds[change])  # fmt: skip
    assert kitchen.step(change, objectId=thing["objectId"], forceAction=True)
    assert frame(kitchen.last_event.metadata, 300, 300) != before


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1e12])
def test_odd_places_do_no_harm(bad: float) -> None:
    seen = copy.deepcopy(metadata())
    for entry in seen["objects"][::7]:
        entry["axisAlignedBoundingBox"]["center"]["x"] = bad
    seen["objects"][1]["axisAlignedBoundingBox"] = None
    seen["agent"]["position"]["z"] = bad
    assert len(frame(seen, 90, 60)) == 90 * 60 * 3


def test_a_scene_without_anything_is_a_plain_frame() -> None:
    image = frame({"objects": [], "sceneName": "Nowhere"}, 4, 3)
    assert image == bytes.fromhex(LIGHT["ground"].fill[1:]) * 12


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (-1, 5), (9000, 5)])
def test_impossible_sizes_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="pixels"):
        frame(metadata(), *size)


def test_without_numpy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtraError, match=r"\.\[pictures\]"):
        frame(metadata(), 10, 10)

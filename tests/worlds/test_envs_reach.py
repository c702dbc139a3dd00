"""In every kitchen every object is reachable, and every pickupable object can be picked up."""

from __future__ import annotations

import pytest

from hvr.worlds import Kitchen, Names, perform, scene_names
from hvr.worlds.kitchen.visibility import Room
from hvr.worlds.scenes import VISIBILITY_DISTANCE, load_scene


@pytest.mark.slow
@pytest.mark.parametrize("scene", scene_names("kitchen"))
def test_everything_can_be_picked_up(scene: str) -> None:
    kitchen = Kitchen(scene)
    names = Names.from_metadata(kitchen.last_event.metadata)
    start = kitchen.snapshot()
    shut_in = 0
    for entry in kitchen.last_event.metadata["objects"]:
        if not entry["pickupable"]:
            continue
        kitchen.restore(start)
        name = names.name(entry["objectId"])
        result = perform(kitchen, names, "navigate_to_obj", [name])
        if not result.success and "which is closed" in result.error:
            shut_in += 1
            around = result.error.split("inside ")[1].split(",")[0]
            assert perform(kitchen, names, "navigate_to_obj", [around]).success
            assert perform(kitchen, names, "open_obj", [around]).success
            result = perform(kitchen, names, "navigate_to_obj", [name])
        assert result.success, (name, result)
        assert perform(kitchen, names, "pick_up", [name]).success, name
    assert shut_in < 15


def test_what_needs_a_longer_reach() -> None:
    """Only one object of 2088 is farther than 1.5 m from every grid point."""
    far = []
    for name in scene_names("kitchen"):
        scene = load_scene(name)
        room = Room(scene)
        far += [o.object_id for o in scene.objects if room.reach(o.box) > VISIBILITY_DISTANCE]
    assert far == ["Window|-02.57|+01.80|-00.82"]

"""Atomic actions end to end, and their refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hvr.errors import UnknownObjectError, UsageError
from hvr.worlds import SKILLS, Environment, Event, Kitchen, Names, SkillResult, perform, scene_graph

Do = Callable[..., SkillResult]


@pytest.fixture
def do(kitchen: Kitchen, names: Names) -> Do:
    def run(action: str, *args: str, **kwargs: bool) -> SkillResult:
        return perform(kitchen, names, action, args, **kwargs)

    return run


def well(result: SkillResult) -> list[str]:
    assert result.success, result
    assert result.error == ""
    return [step.action["action"] for step in result.steps]


def ill(result: SkillResult) -> str:
    assert not result.success
    return result.error


def test_the_kitchen_is_an_environment(kitchen: Kitchen) -> None:
    assert isinstance(kitchen, Environment)
    assert len(SKILLS) == 13


def test_make_coffee(kitchen: Kitchen, names: Names, do: Do) -> None:
    assert well(do("navigate_to_obj", "mug-1")) == ["TeleportFull"]
    assert well(do("pick_up", "mug-1")) == ["PickupObject"]
    well(do("navigate_to_obj", "coffeemachine-1"))
    assert well(do("put_in", "mug-1", "coffeemachine-1")) == ["PutObject"]
    assert well(do("toggle_on", "coffeemachine-1")) == ["ToggleObjectOn"]
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.objects["mug-1"].attributes["fillLiquid"] == "coffee"


def test_fry_an_egg(kitchen: Kitchen, names: Names, do: Do) -> None:
    assert "egg-1 is inside fridge-1, which is closed" in ill(do("navigate_to_obj", "egg-1"))
    well(do("navigate_to_obj", "fridge-1"))
    well(do("open_obj", "fridge-1"))
    well(do("pick_up", "egg-1"))
    well(do("navigate_to_obj", "pan-1"))
    assert well(do("crack_obj", "egg-1")) == ["BreakObject", "PickupObject"]
    well(do("put_in", "eggcracked-1", "pan-1"))
    well(do("pick_up", "pan-1"))
    well(do("navigate_to_obj", "stoveburner-1"))
    well(do("put_on", "pan-1", "stoveburner-1"))
    result = do("toggle_on", "stoveburner-1")
    assert well(result)[-1] == "ToggleObjectOn"
    assert result.steps[-1].action["objectId"] == names.object_id("stoveknob-1")
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.objects["eggcracked-1"].attributes["isCooked"]
    assert graph.objects["stoveburner-1"].attributes["isToggled"]
    well(do("toggle_off", "stoveburner-1"))


def test_slice_needs_a_knife(do: Do) -> None:
    well(do("navigate_to_obj", "bread-1"))
    assert "slicing bread-1 needs a knife in the hand" in ill(do("slice_obj", "bread-1"))
    well(do("pick_up", "butterknife-1"))
    assert well(do("slice_obj", "bread-1"))[-1] == "SliceObject"
    assert "bread-1 has been sliced: use breadsliced-1" in ill(do("slice_obj", "bread-1"))
    assert "applesliced-1 does not exist yet: slice or crack apple-1 first" in ill(
        do("navigate_to_obj", "applesliced-1")
    )


def test_crack_an_egg_where_it_rests(do: Do) -> None:
    well(do("navigate_to_obj", "fridge-1"))
    well(do("open_obj", "fridge-1"))
    assert well(do("crack_obj", "egg-1")) == ["SliceObject"]
    assert "only an egg" in ill(do("crack_obj", "apple-1"))


def test_pour(do: Do) -> None:
    well(do("navigate_to_obj", "cabinet-4"))
    well(do("open_obj", "cabinet-4"))
    well(do("pick_up", "winebottle-1"))
    well(do("navigate_to_obj", "mug-1"))
    assert well(do("pour", "winebottle-1", "mug-1")) == ["FillObjectWithLiquid"]
    assert "already Filled" in ill(do("pour", "winebottle-1", "mug-1"))
    assert "is not in the hand: the hand holds winebottle-1" in ill(do("pour", "mug-1", "cup-1"))
    well(do("put_on", "winebottle-1", "countertop-3"))
    well(do("pick_up", "mug-1"))
    well(do("navigate_to_obj", "sinkbasin-1"))
    assert well(do("pour", "mug-1", "sinkbasin-1")) == ["EmptyLiquidFromObject"]
    assert "mug-1 is empty" in ill(do("pour", "mug-1", "sinkbasin-1"))


def test_a_basin_is_approached_with_its_faucet(do: Do, kitchen: Kitchen, names: Names) -> None:
    well(do("navigate_to_obj", "sinkbasin-1"))
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.objects["faucet-1"].in_reach
    assert well(do("toggle_on", "faucet-1")) == ["ToggleObjectOn"]


def test_small_shuffles_are_recorded_and_far_things_refused(do: Do) -> None:
    assert "knife-1 is inside drawer-9, which is closed" in ill(do("pick_up", "knife-1"))
    far = ill(do("pick_up", "kettle-1"))
    assert far.startswith("too far: kettle-1 is ") and "navigate_to_obj kettle-1 first" in far
    result = do("pick_up", "apple-1")
    assert well(result) == ["TeleportFull", "PickupObject"]
    assert well(do("navigate_to_obj", "apple-1")) == []


def test_holding_is_checked(do: Do) -> None:
    assert "mug-1 is not in the hand: the hand is empty" in ill(
        do("put_on", "mug-1", "countertop-3")
    )
    well(do("navigate_to_obj", "mug-1"))
    well(do("pick_up", "mug-1"))
    assert "mug-1 is already in the hand" in ill(do("pick_up", "mug-1"))
    assert "it holds mug-1" in ill(do("pick_up", "lettuce-1"))
    assert "apple-1 is not in the hand: the hand holds mug-1" in ill(do("drop_obj", "apple-1"))
    assert well(do("drop_obj", "mug-1")) == ["RotateRight", "DropHandObject"]


def test_throw_away_and_forced_puts(do: Do) -> None:
    well(do("navigate_to_obj", "mug-1"))
    well(do("pick_up", "mug-1"))
    assert "fridge-1 is not a garbage can" in ill(do("throw_away", "mug-1", "fridge-1"))
    well(do("navigate_to_obj", "garbagecan-1"))
    refused = do("throw_away", "mug-1", "garbagecan-1")
    assert "cannot be placed in" in ill(refused) and not refused.steps[-1].success
    assert well(do("throw_away", "mug-1", "garbagecan-1", force_put=True)) == ["PutObject"]


def test_bad_requests_raise(kitchen: Kitchen, names: Names) -> None:
    with pytest.raises(UsageError, match="unknown atomic action 'fly'"):
        perform(kitchen, names, "fly", [])
    with pytest.raises(UsageError, match="put_on takes 2 objects, not 1"):
        perform(kitchen, names, "put_on", ["mug-1"])
    with pytest.raises(UnknownObjectError, match="'mug-7'"):
        perform(kitchen, names, "put_on", ["mug-1", "mug-7"])


def test_no_knob_no_flame(do: Do) -> None:
    assert "object is not toggleable" in ill(do("toggle_on", "fridge-1"))


class Deaf(Kitchen):
    """An environment without PickupObject."""

    def step(self, action: object = None, **kwargs: object) -> Event:
        if action == "PickupObject":
            raise ValueError("Invalid action: PickupObject")
        return super().step(action, **kwargs)  # type: ignore[arg-type]


def test_a_refused_request_is_a_failed_step() -> None:
    kitchen = Deaf("FloorPlan1")
    names = Names.from_metadata(kitchen.last_event.metadata)
    result = perform(kitchen, names, "pick_up", ["apple-1"])
    assert "Invalid action: PickupObject" in ill(result)
    assert [step.success for step in result.steps] == [True, False]

"""Object names: stable, and predictable for pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UnknownObjectError
from hvr.worlds import Kitchen, Names, load_scene

TWO = {"Bread|a": "Bread", "Bread|b": "Bread", "Egg|a": "Egg", "Mug|a": "Mug"}


def test_numbers_follow_the_ids(kitchen: Kitchen, names: Names) -> None:
    ids = sorted(o["objectId"] for o in kitchen.last_event.metadata["objects"])
    cabinets = [i for i in ids if i.startswith("Cabinet|")]
    assert [names.name(i) for i in cabinets] == [f"cabinet-{n}" for n in range(1, 10)]
    assert all(names.object_id(names.name(i)) == i for i in ids)
    assert names.type_of("stoveburner-2") == "StoveBurner"
    assert len(names.all) == 77 and "mug-1" in names and "mug-2" not in names


def test_pieces_are_named_beforehand(kitchen: Kitchen, names: Names) -> None:
    expected = names.pieces("bread-1")
    assert expected == tuple(f"breadsliced-{n}" for n in range(1, 9))
    assert names.pieces("mug-1") == () and names.pieces("egg-1") == ("eggcracked-1",)
    kitchen.step("SliceObject", objectId=names.object_id("bread-1"), forceAction=True)
    ids = [o["objectId"] for o in kitchen.last_event.metadata["objects"]]
    cut = [i for i in ids if "BreadSliced" in i]
    assert tuple(names.name(i) for i in cut) == expected
    later = Names.from_metadata(kitchen.last_event.metadata)
    assert [later.name(i) for i in ids] == [names.name(i) for i in ids]


def test_pieces_of_the_second_loaf() -> None:
    names = Names(TWO)
    assert names.pieces("bread-2") == tuple(f"breadsliced-{n}" for n in range(9, 17))
    assert names.name("Bread|b|BreadSliced_0") == "breadsliced-9"
    assert names.object_id("breadsliced-16") == "Bread|b|BreadSliced_7"
    assert names.source("breadsliced-16") == "bread-2" and names.source("bread-2") is None
    assert names.type_of("breadsliced-16") == "BreadSliced"


def test_ids_that_look_like_pieces() -> None:
    things = {"Egg|a": "Egg", "Egg|a|copy_2": "Egg"}
    names = Names.from_metadata(
        {"objects": [{"objectId": i, "objectType": t} for i, t in (TWO | things).items()]}
    )
    assert names.name("Egg|a|copy_2") == "egg-2"
    assert names.name("Egg|a|copy_2|EggCracked_0") == "eggcracked-2"
    assert names.name("Bread|a|BreadSliced_0") == "breadsliced-1"


def test_pieces_counted_from_one() -> None:
    cut = TWO | {f"Bread|a|BreadSliced_{k}": "BreadSliced" for k in range(1, 9)}
    names = Names.from_metadata(
        {"objects": [{"objectId": i, "objectType": t} for i, t in cut.items()]}
    )
    assert names.name("Bread|a|BreadSliced_1") == "breadsliced-1"
    assert names.object_id("breadsliced-9") == "Bread|b|BreadSliced_1"
    assert names.name("Egg|a|EggCracked_0") == names.name("Egg|a|EggCracked_1") == "eggcracked-1"


@pytest.mark.slow
@given(st.sampled_from(["a", "b"]), st.integers(0, 40), st.integers(0, 1))
def test_name_and_id_are_inverse_for_any_piece(loaf: str, k: int, base: int) -> None:
    names = Names(TWO, slice_base=base)
    object_id = f"Bread|{loaf}|BreadSliced_{k + base}"
    assert names.object_id(names.name(object_id)) == object_id


def test_no_two_pieces_share_a_name() -> None:
    names = Names(TWO)
    found = [names.name(f"Bread|{x}|BreadSliced_{k}") for x in "ab" for k in range(12)]
    assert len(set(found)) == 24


@pytest.mark.parametrize("name", ["mugg-1", "mug-0", "mug-2", "breadsliced-0", "", "eggcracked-2"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UnknownObjectError, match="no object of this scene is called"):
        Names(TWO).object_id(name)


def test_unknown_names_list_near_ones(names: Names) -> None:
    with pytest.raises(UnknownObjectError, match="did you mean fridge-1"):
        names.object_id("frigde-1")
    with pytest.raises(UnknownObjectError, match="no object of this scene has the id"):
        names.name("Mug|0|0|0")
    with pytest.raises(UnknownObjectError):
        names.source("nothing-1")


def test_every_scene_can_be_named() -> None:
    scene = load_scene("FloorPlan30")
    names = Names({o.object_id: o.object_type for o in scene.objects})
    assert len(names.all) == len(scene.objects)

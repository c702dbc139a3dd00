"""Dependencies of chosen objects."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.execution.world import World, open_world
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.selection import expand
from hvr.pddl.formulas import Atom
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene


@pytest.mark.parametrize(
    ("chosen", "needed"),
    [
        ({"tomato-1"}, {"knife-1", "tomatosliced-1", "countertop-1"}),
        ({"tomatosliced-2"}, {"tomato-1", "knife-1", "countertop-1"}),
        ({"faucet-1"}, {"sinkbasin-1"}),
        ({"sinkbasin-1"}, {"faucet-1"}),
        ({"stoveknob-3"}, {"stoveburner-4"}),
        ({"stoveburner-4", "pan-1"}, {"stoveknob-3"}),
        ({"pan-1"}, {"stoveburner-1", "stoveknob-1"}),
        ({"egg-1"}, {"eggcracked-1", "pan-1", "stoveburner-1", "fridge-1"}),
        ({"potato-1"}, {"microwave-1", "knife-1", "countertop-2"}),
        ({"potato-1", "pan-1"}, {"stoveburner-1", "stoveknob-1", "knife-1"}),
        ({"potato-1", "stoveburner-2"}, {"pan-1", "stoveknob-2"}),
        ({"coffeemachine-1"}, {"mug-1"}),
        ({"mug-1"}, {"coffeemachine-1", "faucet-1", "sinkbasin-1"}),
        ({"toaster-1"}, {"breadsliced-1", "bread-1", "knife-1"}),
        ({"pot-1"}, {"cabinet-1"}),
        ({"fork-1"}, {"countertop-1"}),
        ({"fridge-1"}, {"countertop-1"}),
    ],
)
def test_dependencies(inventory: Inventory, chosen: set[str], needed: set[str]) -> None:
    found = expand(chosen, inventory)
    assert needed <= set(found)
    assert not chosen & set(found)
    assert all(found.values())


@pytest.mark.parametrize(
    ("chosen", "unneeded"),
    [
        ({"tomato-1", "butterknife-1"}, {"knife-1"}),
        ({"potato-1", "stoveburner-2", "pan-1"}, {"microwave-1"}),
        ({"egg-1", "pot-1"}, {"pan-1", "microwave-1"}),
        ({"winebottle-1", "cup-1"}, {"faucet-1", "coffeemachine-1"}),
        ({"diningtable-1"}, {"countertop-1"}),
        ({"fork-1"}, {"knife-1", "microwave-1", "fridge-1"}),
    ],
)
def test_nothing_that_is_not_needed(
    inventory: Inventory, chosen: set[str], unneeded: set[str]
) -> None:
    assert not unneeded & set(expand(chosen, inventory))


def test_what_is_dirty_held_or_in_the_way(inventory: Inventory) -> None:
    facts = inventory.facts | {
        Atom("dirty", ("plate-1",)),
        Atom("holding", ("spoon-1",)),
        Atom("on", ("pot-1", "stoveburner-2")),
        Atom("in", ("pen-9", "bowl-1")),
    }
    changed = replace(inventory, facts=facts - {Atom("in", ("pot-1", "cabinet-1"))})
    assert {"faucet-1", "sinkbasin-1"} <= set(expand({"plate-1"}, changed))
    assert expand({"fork-1"}, changed)["spoon-1"] == "in the hand"
    assert expand({"stoveburner-2", "pan-1"}, changed)["pot-1"] == "is on or in stoveburner-2"
    assert expand({"bowl-1"}, changed)["pen-9"] == "is on or in bowl-1"
    # A pan needs a free burner; a pot already on a burner stays there.
    assert "stoveburner-2" not in expand({"pan-1"}, changed)
    assert "stoveburner-2" in expand({"pot-1"}, changed)


def test_nothing_depends_on_the_names(inventory: Inventory) -> None:
    """Renamed objects in the same places are retrieved equally."""
    renamed = {n: f"thing{i}-{n.rsplit('-', 1)[1]}" for i, n in enumerate(inventory.classes)}
    other = Inventory(
        inventory.scene,
        inventory.ontology,
        {renamed[n]: c for n, c in inventory.classes.items()},
        frozenset(
            Atom(a.predicate, tuple(renamed.get(x, x) for x in a.args)) for a in inventory.facts
        ),
        {renamed[n]: d for n, d in inventory.distances.items()},
    )
    for chosen in ({"egg-1"}, {"tomato-1", "mug-1"}, {"toaster-1"}):
        found = expand({renamed[n] for n in chosen}, other)
        expected = {renamed[n] for n in expand(chosen, inventory)}
        assert {other.classes[n] for n in found} == {other.classes[n] for n in expected}


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data())
def test_expansion_is_closed_and_small(kitchen: World, data: st.DataObject) -> None:
    inventory = kitchen.inventory()
    names = sorted(inventory.classes)
    chosen = data.draw(st.lists(st.sampled_from(names), max_size=8, unique=True))
    found = expand(chosen, inventory)
    assert set(found) <= set(names) - set(chosen)
    assert len(found) <= 2 * len(chosen) + 10
    together = {*chosen, *found}
    for name in together:
        parent = inventory.parents.get(name)
        if parent is not None and inventory.true("pickupable", name):
            assert parent in together
        if inventory.true("holds_one", name):
            assert set(inventory.contents.get(name, ())) <= together
    for control, controlled in (*inventory.pairs("knob_of"), *inventory.pairs("faucet_of")):
        assert (control in together) == (controlled in together)
    if any(inventory.true("sliceable", n) for n in together):
        assert any(inventory.true("cutting_tool", n) for n in together)
    assert any(inventory.ontology.is_a(inventory.classes[n], "WorkSurface") for n in together)


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["FloorPlan3", "FloorPlan8", "FloorPlan20"])
def test_other_kitchens(scene: str) -> None:
    inventory = open_world(Kitchen(load_scene(scene), 0)).inventory()
    for name in inventory.classes:
        assert len(expand([name], inventory)) <= 12

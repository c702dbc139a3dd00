"""Predicted room: from the sizes of things and places."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.long_goals import play
from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.scene_graph import Extent
from hvr.pddl import Atom, Exists, TypedName
from hvr.policies.placing import Capacity, Placing

SIDES = st.floats(0.03, 0.5)


def cabinet(width: float, sizes: dict[str, tuple[float, float, float]], *inside: str) -> Inventory:
    """Return an empty cabinet 0.4 m high and deep, and things far away or at its left side."""
    extents: dict[str, Extent] = {"cabinet-1": (0.0, 0.0, 0.0, width, 0.4, 0.4)}
    for name, (w, h, d) in sizes.items():
        x = 0.02 if name in inside else 5.0
        extents[name] = (x, 0.01, 0.02, x + w, 0.01 + h, 0.02 + d)
    classes = {"cabinet-1": "Cabinet", **dict.fromkeys(sizes, "Mug"), "plate-1": "Plate"}
    facts = {Atom("openable", ("cabinet-1",)), Atom("container", ("cabinet-1",))}
    facts |= {Atom("in", (name, "cabinet-1")) for name in inside}
    return Inventory("room", load_ontology(), classes, frozenset(facts), {}, extents=extents)


def test_things_stand_side_by_side() -> None:
    mugs = {f"mug-{n}": (0.15, 0.1, 0.3) for n in (1, 2, 3)}
    assert Capacity(cabinet(0.5, mugs)).takes("cabinet-1", ("mug-1",))
    assert not Capacity(cabinet(0.5, mugs)).takes("cabinet-1", tuple(mugs))
    crowds = [c.things for c in Capacity(cabinet(0.3, mugs)).crowds(mugs, "cabinet-1")]
    assert crowds == [frozenset(pair) for pair in (("mug-1", "mug-2"), ("mug-1", "mug-3"),
                                                   ("mug-2", "mug-3"))]  # fmt: skip


def test_the_crowd_names_only_what_is_in_the_way() -> None:
    sizes = {"mug-1": (0.3, 0.1, 0.3), "mug-2": (0.05, 0.1, 0.05), "mug-3": (0.3, 0.1, 0.3)}
    crowd = Capacity(cabinet(0.5, sizes, "mug-1", "mug-2")).crowd(
        "mug-3", "cabinet-1", ("mug-1", "mug-2")
    )
    assert crowd is not None
    assert crowd.things == {"mug-1", "mug-3"}


def test_flat_things_lie_on_one_another_and_dishes_hold_a_pile() -> None:
    plates = {f"mug-{n}": (0.3, 0.02, 0.3) for n in range(1, 13)}
    room = Capacity(cabinet(0.4, plates))
    assert room.takes("cabinet-1", tuple(plates))
    assert room.takes("plate-1", tuple(plates)[:10])
    assert not room.takes("plate-1", tuple(plates)[:11])


def test_a_refusal_by_a_place_that_is_avoided_since_counts_no_more() -> None:
    inventory = cabinet(0.2, {"mug-1": (0.3, 0.1, 0.3)})
    refused = replace(inventory, did_not_fit=frozenset({("mug-1", "cabinet-1")}))
    wanted = Exists((TypedName("?c", ("cabinet",)),), Atom("in", ("mug-1", "?c")))
    for names, crowds in ((set(), 1), ({"cabinet-1"}, 0)):
        placing = Placing(wanted, refused.without(names))
        placing.expect(["mug-1", "cabinet-1"])
        assert len(placing.confirmed()) == crowds


@given(st.lists(st.tuples(SIDES, SIDES, SIDES), min_size=1, max_size=4), st.floats(0.1, 1.0))
def test_fewer_and_wider_never_hurt_a_single_thing(
    sizes: list[tuple[float, float, float]], width: float
) -> None:
    things = {f"mug-{n}": size for n, size in enumerate(sizes, 1)}
    room = Capacity(cabinet(width, things))
    wider = Capacity(cabinet(width + 0.1, things))
    for crowd in room.crowds(things, "cabinet-1"):
        assert not room.takes("cabinet-1", sorted(crowd.things))
        if len(crowd.things) == 1:
            continue
        assert all(room.takes("cabinet-1", (thing,)) for thing in crowd.things)
        assert all(wider.takes("cabinet-1", (thing,)) for thing in crowd.things)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4])
def test_domain_and_kitchen_agree_on_random_long_goals(seed: int) -> None:
    row = play(seed)
    assert row["reached"], row["why"]
    assert not row["unexplained"]


def rooms(*widths: float, refused: tuple[str, ...] = ()) -> Inventory:
    """Return cabinets of some widths, some of which refused a mug that is 0.3 m wide."""
    names = {f"cabinet-{n}": width for n, width in enumerate(widths, 1)}
    extents: dict[str, Extent] = {n: (0.0, 0.0, 0.0, w, 0.4, 0.4) for n, w in names.items()}
    extents["mug-1"] = (5.0, 0.0, 5.0, 5.3, 0.1, 5.3)
    facts = {Atom(kind, (n,)) for n in names for kind in ("openable", "container")}
    facts |= {Atom("fits", ("mug-1", n)) for n in names if n not in refused}
    classes = {**dict.fromkeys(names, "Cabinet"), "mug-1": "Mug"}
    tried = frozenset(("mug-1", n) for n in refused)
    return Inventory(
        "room", load_ontology(), classes, frozenset(facts), {}, extents=extents, did_not_fit=tried
    )


IN_A_CABINET = Exists((TypedName("?c", ("cabinet",)),), Atom("in", ("mug-1", "?c")))


def test_a_thing_without_predicted_room_is_tried_where_it_nearly_fits() -> None:
    inventory = rooms(0.2, 0.31, 0.25)
    left = Placing(IN_A_CABINET, inventory).misfits(inventory.classes)
    assert left == {Atom("fits", ("mug-1", name)) for name in ("cabinet-1", "cabinet-3")}
    inventory = rooms(0.2, 0.31, 0.25, refused=("cabinet-2",))
    placing = Placing(IN_A_CABINET, inventory)
    with pytest.raises(ImpossibleGoalError, match="did not fit in cabinet-2, and the others are"):
        placing.check(inventory.classes)


def test_a_refusal_says_nothing_about_larger_places() -> None:
    inventory = rooms(0.2, 0.31, 0.25, refused=("cabinet-3",))
    placing = Placing(IN_A_CABINET, inventory)
    placing.check(inventory.classes)
    assert Atom("fits", ("mug-1", "cabinet-2")) not in placing.misfits(inventory.classes)
    assert {c.place for c in placing.confirmed()} == {"cabinet-1", "cabinet-3"}


def test_things_of_the_goal_make_room_for_each_other() -> None:
    sizes = {"mug-1": (0.3, 0.1, 0.3), "mug-2": (0.3, 0.1, 0.3)}
    (crowd,) = Capacity(cabinet(0.4, sizes, "mug-1")).crowds(sizes, "cabinet-1")
    assert crowd.things == set(sizes), "the first could be moved away"

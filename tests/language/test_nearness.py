"""Nearness: properties of the distance, and the sides of objects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.meaning import Nearness
from hvr.language.spatial import nearest, parts_of
from hvr.language.syntax import PART_OF

ONTOLOGY = load_ontology()
SINK = Nearness("next to", ("SinkBasin",), None, "sink")
_METRES = st.integers(-30, 30).map(lambda tenths: tenths / 10)
_PLACES = st.tuples(_METRES, _METRES, _METRES)


def _scene(mugs, sinks):
    positions = {f"mug-{n}": p for n, p in enumerate(mugs, 1)}
    positions |= {f"sinkbasin-{n}": p for n, p in enumerate(sinks, 1)}
    classes = {n: "Mug" if n.startswith("mug") else "SinkBasin" for n in positions}
    return Inventory("here", ONTOLOGY, classes, frozenset(), {}, positions=positions)


@given(st.lists(_PLACES, min_size=1, max_size=5), st.lists(_PLACES, min_size=1, max_size=2),
       st.integers(0, 5))  # fmt: skip
def test_no_other_thing_is_nearer(mugs, sinks, count):
    scene = _scene(mugs, sinks)
    chosen = nearest(scene, scene.of("Mug"), SINK, count)

    def apart(name):
        x, _, z = scene.positions[name]
        return min(((x - a) ** 2 + (z - b) ** 2) ** 0.5 for a, _, b in sinks)

    assert set(chosen) <= set(scene.of("Mug"))
    assert len(chosen) >= min(max(count, 1), len(mugs))
    rest = set(scene.of("Mug")) - set(chosen)
    assert all(apart(c) <= apart(r) + 0.02 for c in chosen for r in rest)


def test_sides_are_seen_from_the_middle_of_the_room():
    """The sink is at the far wall; from the middle of the room the first mug is on the left."""
    scene = _scene([(-1, 0, 3), (1.5, 0, 3), (0, 1, 2), (0, -1, 3.5), (0, 0, -20)], [(0, 0, 3)])

    def one(word):
        return nearest(scene, scene.of("Mug"), Nearness(word, ("SinkBasin",), None, "sink"), 1)[0]

    assert [one(w) for w in ("left of", "to the right of", "above", "under", "in front of")] == [
        "mug-1", "mug-2", "mug-3", "mug-4", "mug-3",
    ]  # fmt: skip


def test_near_what_is_not_there_is_nothing():
    scene = _scene([(0, 0, 0)], [])
    assert nearest(scene, scene.of("Mug"), SINK, 1) == ()


def test_parts_of_furniture_stand_within_its_outline():
    classes = {"desk-1": "Desk", "drawer-1": "Drawer", "drawer-2": "Drawer"}
    places = {"desk-1": (0, 0, 0), "drawer-1": (0.4, 0.3, 0.1), "drawer-2": (2.0, 0.3, 0)}
    outline = {"desk-1": (-0.5, 0, -0.5, 0.5, 1, 0.5)}
    scene = Inventory("here", ONTOLOGY, classes, frozenset(), {}, positions=places, extents=outline)
    desk = Nearness(PART_OF, ("Desk",), None, "desk")
    assert parts_of(scene, scene.of("Drawer"), desk) == ("drawer-1",)

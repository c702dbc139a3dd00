"""What a request names: things, places, states, liquids, and how many.

This is no goal, and less than `hvr.language` reads: every word of the ontology that
occurs counts, whatever stands around it, so that something comes of any sentence. Of what stands
around it only the nearest words are heeded: the preposition before a name, the verb or the
adjective that a name comes with. `mention_reader.py` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FAMILIES: Mapping[str, str] = {
    "hot": "heat", "microwaved": "heat", "stove_heated": "heat", "toasted": "heat",
    "cooked": "heat", "warm_liquid": "heat", "cold": "cold", "chilled": "cold",
    "washed": "wash", "dirty": "wash", "sliced": "slice", "cracked": "crack",
    "filled": "fill", "contains": "fill", "opened": "open", "toggled": "switch",
    "holding": "hold",
}  # fmt: skip
"""Predicates of states, and what they have in common."""

REMEMBERED = frozenset({"washed", "microwaved", "stove_heated", "toasted", "chilled"})
"""Predicates of what happened to a thing: of no thing are they true from the start."""

IN, FROM, WITH, NEAR = "in", "from", "with", "near"
"""Roles of names: where something goes, comes from, what goes along, what is close by."""

State = tuple[str, bool]
"""A family of states, and whether it is to be so or not so."""


@dataclass(frozen=True)
class Named:
    """Something that is named.

    Args:
        classes: of the ontology; it is of one of them.
        count: how many; 0 for all, -1 for several.
        optional: it is not said but needed, such as the mug of a coffee or the bin of rubbish.
        role: by the preposition before it; empty without one.
        states: what verbs and adjectives say of it.
    """

    classes: frozenset[str]
    count: int = 1
    optional: bool = False
    role: str = ""
    states: frozenset[State] = frozenset()


@dataclass(frozen=True)
class Mentions:
    """What a request names.

    Args:
        things: in the order of the words.
        states: families of states, and whether they are to be so or not so.
        lasting: those of `states` that a thing may have had from the start: "clean" asks for no
            washing, "washed" does.
        liquids: water, coffee, wine.
        frame: the words of the request, with `thing` for each name of something to carry.
    """

    things: tuple[Named, ...] = ()
    states: frozenset[State] = frozenset()
    lasting: frozenset[State] = frozenset()
    liquids: frozenset[str] = frozenset()
    frame: str = ""

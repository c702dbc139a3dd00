"""AI2-THOR's object types by meaning, and the packaged facts about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from hvr.errors import DataFileError
from hvr.values import Value
from hvr.worlds.geometry import Vec

# Types --------------------------------------------------------------------------------------------
# AI2-THOR's object types and fields that matter outside this folder, by what they mean there.

FLOOR = "Floor"

SILENT = frozenset({"StoveKnob"})
"""Switches that make no sound themselves; their burner does."""

LIDDED = frozenset({"Toilet"})
"""Receptacles that open and carry things on their lid: closed, they hide nothing."""

BASINS = frozenset({"Sink", "SinkBasin", "Bathtub", "BathtubBasin"})
"""What water runs into."""

TABLES = frozenset(
    {"CoffeeTable", "CounterTop", "Desk", "DiningTable", "Dresser", "Shelf", "SideTable", "TVStand"}
)
"""Furniture that things are put on, moveable or not."""

OPEN_PLACES = frozenset({"CounterTop", "DiningTable", "SideTable", "SinkBasin", "Shelf", "Stool"})
"""Where somebody else puts a thing."""

PUT_ASIDE_PLACES = ("CounterTop", "DiningTable", "SideTable", "ShelvingUnit", "Shelf", "Floor")
"""Where something is put aside, the first that takes it."""

USUAL_LIQUID = "water"
"""What something is filled with where nothing is said."""

SLICEABLE = "sliceable"
"""The property field of what can be cut."""

PROPERTIES = (
    "receptacle",
    "toggleable",
    "breakable",
    "canFillWithLiquid",
    "dirtyable",
    "canBeUsedUp",
    "cookable",
    "isHeatSource",
    "isColdSource",
    SLICEABLE,
    "openable",
    "pickupable",
    "moveable",
)
"""Fields that say what an object can do."""

STATES = (
    "isToggled",
    "isBroken",
    "isFilledWithLiquid",
    "fillLiquid",
    "isDirty",
    "isUsedUp",
    "isCooked",
    "temperature",
    "isSliced",
    "isOpen",
)
"""Metadata fields that change."""


# Object types -------------------------------------------------------------------------------------
# Facts about object types: where they may be put, what they are cut into, how they stand.
#
# They come from AI2-THOR's placement table and from the measured scenes; see
# `data/README.md` for the sources.


class TypeFacts(Value):
    """Facts about one object type.

    Args:
        properties: AI2-THOR's property fields that are true for it (`pickupable`, …).
        placeable_in: receptacle types of the placement table.
        slices_into: type of the pieces, None when it cannot be sliced.
        pieces: how many pieces.
        mass: kilograms.
        materials: `salientMaterials`.
        size: usual size of its axis aligned box, metres.
        pivot_height: usual height of `position` above the bottom of the box, metres.
    """

    properties: frozenset[str]
    placeable_in: frozenset[str]
    slices_into: str | None = None
    pieces: int = 0
    mass: float = 0.0
    materials: tuple[str, ...] = ()
    size: Vec = (0.1, 0.1, 0.1)
    pivot_height: float = 0.0


class ObjectTypeFacts(Value):
    """All type facts.

    Args:
        types: by type name.
        accepts_only: receptacles that take one object of these types and no other.
        must_be_open: receptacles that must stand open to put something in.
        fully_inside: receptacles that must contain the whole box of what is put in.
    """

    types: Mapping[str, TypeFacts]
    accepts_only: Mapping[str, frozenset[str]]
    must_be_open: frozenset[str]
    fully_inside: frozenset[str]

    def pieces_of(self, object_type: str) -> tuple[str, int] | None:
        """Return type and number of the pieces of a sliceable type, None for any other."""
        facts = self.types.get(object_type)
        if facts is None or facts.slices_into is None:
            return None
        return facts.slices_into, facts.pieces


@lru_cache(maxsize=1)
def load_facts() -> ObjectTypeFacts:
    """Return the packaged facts.

    Raises:
        DataFileError: the package data is missing or damaged.
    """
    path = files("hvr.worlds") / "data" / "object_types.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        types = {
            name: TypeFacts(
                properties=frozenset(entry.get("properties", ())),
                placeable_in=frozenset(entry.get("placeable_in", ())),
                slices_into=entry.get("slices_into"),
                pieces=entry.get("pieces", 0),
                mass=entry.get("mass", 0.0),
                materials=tuple(entry.get("materials", ())),
                size=_vec(entry.get("size", (0.1, 0.1, 0.1))),
                pivot_height=entry.get("pivot_height", 0.0),
            )
            for name, entry in raw["types"].items()
        }
        return ObjectTypeFacts(
            types=MappingProxyType(types),
            accepts_only=MappingProxyType(
                {k: frozenset(v) for k, v in raw["accepts_only"].items()}
            ),
            must_be_open=frozenset(raw["must_be_open"]),
            fully_inside=frozenset(raw["fully_inside"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataFileError(
            f"hvr's own file {path} is missing or damaged ({error}): install hvr again"
        ) from error


def _vec(numbers: Any) -> Vec:
    x, y, z = numbers
    return float(x), float(y), float(z)

"""AI2-THOR's object types, grouped by use, and packaged facts about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from hvr.errors import DataFileError
from hvr.values import Value
from hvr.worlds.geometry import Vec, vector

# Types --------------------------------------------------------------------------------------------
# AI2-THOR's object types and fields that other folders use, named by meaning.

FLOOR = "Floor"

SILENT = frozenset({"StoveKnob"})
"""Switches that make no sound; their burners do."""

LIDDED = frozenset({"Toilet"})
"""Receptacles that hold objects on their lid and hide nothing when closed."""

BASINS = frozenset({"Sink", "SinkBasin", "Bathtub", "BathtubBasin"})
"""Receptacles for running water."""

TABLES = frozenset(
    {"CoffeeTable", "CounterTop", "Desk", "DiningTable", "Dresser", "Shelf", "SideTable", "TVStand"}
)
"""Furniture that holds objects on top, moveable or not."""

OPEN_PLACES = frozenset({"CounterTop", "DiningTable", "SideTable", "SinkBasin", "Shelf", "Stool"})
"""Places where another agent may put objects."""

PUT_ASIDE_PLACES = ("CounterTop", "DiningTable", "SideTable", "ShelvingUnit", "Shelf", "Floor")
"""Places for putting objects aside, in order of preference."""

USUAL_LIQUID = "water"
"""The liquid used if none is named."""

SLICEABLE = "sliceable"
"""The property field of objects that can be cut."""

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
"""Metadata fields that say what can be done with an object."""

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
"""Metadata fields that actions can change."""


# Type facts ---------------------------------------------------------------------------------------
# From AI2-THOR's placement table and from measured scenes; `data/README.md` lists the sources.


class TypeFacts(Value):
    """Facts about one object type.

    Args:
        properties: AI2-THOR's property fields that are true (`pickupable`, …).
        placeable_in: Receptacle types in the placement table.
        slices_into: Type of the pieces, or None if it cannot be sliced.
        size: Usual size of the axis-aligned box in metres.
        pivot_height: Usual height of `position` above the bottom of the box in metres.
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
    """Facts about all object types.

    Args:
        accepts_only: For receptacles that hold exactly one object: the accepted types.
        must_be_open: Receptacles that must be open to put something in.
        fully_inside: Receptacles that must enclose the whole box of an object.
    """

    types: Mapping[str, TypeFacts]
    accepts_only: Mapping[str, frozenset[str]]
    must_be_open: frozenset[str]
    fully_inside: frozenset[str]

    def pieces_of(self, object_type: str) -> tuple[str, int] | None:
        """Return the type and the number of pieces of a sliceable type, or None for other types."""
        facts = self.types.get(object_type)
        if facts is None or facts.slices_into is None:
            return None
        return facts.slices_into, facts.pieces


@lru_cache(maxsize=1)
def load_facts() -> ObjectTypeFacts:
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
                size=vector(entry.get("size", (0.1, 0.1, 0.1))),
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
            f"hvr's own file {path} is missing or damaged ({error}): reinstall hvr"
        ) from error

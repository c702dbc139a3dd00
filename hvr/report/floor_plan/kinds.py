"""Kinds of objects on a floor plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Kinds of objects, in the order in which they are drawn: later ones lie on top."""

    FLOOR = "floor"
    SURFACE = "surface"
    FURNITURE = "furniture"
    STORAGE = "storage"
    BASIN = "basin"
    APPLIANCE = "appliance"
    FIXTURE = "fixture"
    SMALL = "small"


DESCRIPTIONS: Mapping[Kind, str] = {
    Kind.FLOOR: "floor",
    Kind.SURFACE: "surface (counter, table, shelf)",
    Kind.FURNITURE: "furniture and other moveable things",
    Kind.STORAGE: "container (cabinet, drawer, box)",
    Kind.BASIN: "sink",
    Kind.APPLIANCE: "appliance, knob, tap, switch",
    Kind.FIXTURE: "fixture (window, blinds)",
    Kind.SMALL: "small thing that can be picked up",
}
"""Descriptions for legends."""

_BASINS = frozenset({"Sink", "SinkBasin", "Bathtub", "BathtubBasin"})


def kind_of(entry: Mapping[str, Any]) -> Kind:
    """Return the kind of an object.

    Args:
        entry: its metadata; only `objectType` and property fields are read.
    """
    kind = Kind.FIXTURE
    if entry["objectType"] == "Floor":
        kind = Kind.FLOOR
    elif entry["objectType"] in _BASINS:
        kind = Kind.BASIN
    elif entry.get("pickupable"):
        kind = Kind.SMALL
    elif entry.get("toggleable") or entry.get("isHeatSource") or entry.get("isColdSource"):
        kind = Kind.APPLIANCE
    elif entry.get("openable") and entry.get("receptacle"):
        kind = Kind.STORAGE
    elif entry.get("moveable") and entry["objectType"] not in _TABLES:
        kind = Kind.FURNITURE
    elif entry.get("receptacle"):
        kind = Kind.SURFACE
    return kind


_TABLES = frozenset(
    {"CoffeeTable", "CounterTop", "Desk", "DiningTable", "Dresser", "Shelf", "SideTable", "TVStand"}
)

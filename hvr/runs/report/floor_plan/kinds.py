"""Kinds of objects on a floor plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from hvr.worlds.thor.types import BASINS, FLOOR, TABLES


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
    Kind.SURFACE: "surface",
    Kind.FURNITURE: "furniture and other moveable things",
    Kind.STORAGE: "container with a door or lid",
    Kind.BASIN: "basin",
    Kind.APPLIANCE: "appliance or switch",
    Kind.FIXTURE: "fixture",
    Kind.SMALL: "small thing that can be picked up",
}
"""Descriptions for legends."""


def kind_of(entry: Mapping[str, Any]) -> Kind:
    """Return the kind of an object.

    Args:
        entry: its metadata; only `objectType` and property fields are read.
    """
    kind = Kind.FIXTURE
    if entry["objectType"] == FLOOR:
        kind = Kind.FLOOR
    elif entry["objectType"] in BASINS:
        kind = Kind.BASIN
    elif entry.get("pickupable"):
        kind = Kind.SMALL
    elif entry.get("toggleable") or entry.get("isHeatSource") or entry.get("isColdSource"):
        kind = Kind.APPLIANCE
    elif entry.get("openable") and entry.get("receptacle"):
        kind = Kind.STORAGE
    elif entry.get("moveable") and entry["objectType"] not in TABLES:
        kind = Kind.FURNITURE
    elif entry.get("receptacle"):
        kind = Kind.SURFACE
    return kind

"""Metadata as statements, so that what a fault has changed can be written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hvr.errors import UnknownObjectError
from hvr.worlds.naming import Names
from hvr.worlds.thor.types import STATES

Statement: TypeAlias = tuple[str, str, str | bool]
"""Name of an object, property and value: `("mug-1", "in", "sinkbasin-1")`."""

ROBOT = "robot"
"""Subject of where the robot stands, and object of what it holds."""


def statements(metadata: Mapping[str, Any], names: Names) -> frozenset[Statement]:
    """Return what an event says of types, states, places, the hand, and where the robot stands."""
    facts: set[Statement] = set()
    for entry in metadata["objects"]:
        name = called(names, entry["objectId"])
        facts.add((name, "objectType", str(entry["objectType"])))
        for field in STATES:
            value = entry.get(field)
            if value is not None and value is not False:
                facts.add((name, field, value))
        for parent in entry.get("parentReceptacles") or ():
            facts.add((name, "in", called(names, parent)))
    for entry in metadata.get("inventoryObjects") or ():
        facts.add((called(names, entry["objectId"]), "heldBy", ROBOT))
    agent = metadata["agent"]
    at, yaw = agent["position"], agent["rotation"]["y"]
    pose = f"{at['x']:.2f} {at['z']:.2f} facing {yaw:.0f} {agent['cameraHorizon']:.0f}"
    facts.add((ROBOT, "at", pose))
    return frozenset(facts)


def called(names: Names, object_id: str) -> str:
    """Return hvr's name of an object, or its id if it has none."""
    try:
        return names.name(object_id)
    except UnknownObjectError:
        return object_id

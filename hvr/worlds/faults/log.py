"""The log of injected faults, for scoring their detection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hvr.errors import UnknownObjectError
from hvr.worlds.faults.fault import FaultKind
from hvr.worlds.naming import Names
from hvr.worlds.thor.types import STATES

# Statements ---------------------------------------------------------------------------------------
# Metadata as statements, so that what a fault has changed can be written down.

Statement: TypeAlias = tuple[str, str, str | bool]
"""Name of an object, property and value: `("mug-1", "in", "sinkbasin-1")`."""

ROBOT = "robot"
"""Subject of where the robot stands, and object of what it holds."""


def statements(metadata: Mapping[str, Any], names: Names) -> frozenset[Statement]:
    """Return what an event says of types, states, places, the hand, and where the robot stands."""
    facts: set[Statement] = set()
    for entry in metadata["objects"]:
        name = name_of(names, entry["objectId"])
        facts.add((name, "objectType", str(entry["objectType"])))
        for field in STATES:
            value = entry.get(field)
            if value is not None and value is not False:
                facts.add((name, field, value))
        for parent in entry.get("parentReceptacles") or ():
            facts.add((name, "in", name_of(names, parent)))
    for entry in metadata.get("inventoryObjects") or ():
        facts.add((name_of(names, entry["objectId"]), "heldBy", ROBOT))
    agent = metadata["agent"]
    at, yaw = agent["position"], agent["rotation"]["y"]
    pose = f"{at['x']:.2f} {at['z']:.2f} facing {yaw:.0f} {agent['cameraHorizon']:.0f}"
    facts.add((ROBOT, "at", pose))
    return frozenset(facts)


def name_of(names: Names, object_id: str) -> str:
    """Return hvr's name of an object, or its id if it has none."""
    try:
        return names.name(object_id)
    except UnknownObjectError:
        return object_id


# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Injection:
    """A fault that has happened.

    Args:
        step: number of the action, 0 for the start of the scene.
        kind: what kind.
        action: name of the AI2-THOR action; empty at the start.
        objects: names of the objects that it happened to, the most affected first.
        added: statements that are true, or reported, only because of the fault.
        removed: statements that would be true, or reported, without it.
        fault: its place in the schedule, from 0.
    """

    step: int
    kind: FaultKind
    action: str
    objects: tuple[str, ...]
    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    fault: int = 0

    @property
    def changed(self) -> bool:
        """Some statement differs from the state without the fault."""
        return bool(self.added or self.removed)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "step": self.step,
            "kind": self.kind.value,
            "action": self.action,
            "objects": list(self.objects),
            "added": [list(s) for s in self.added],
            "removed": [list(s) for s in self.removed],
            "fault": self.fault,
        }


def ordered(facts: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return statements sorted by subject, property and value."""
    return tuple(sorted(facts, key=lambda s: (s[0], s[1], str(s[2]))))

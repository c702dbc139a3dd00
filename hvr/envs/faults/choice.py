"""What a fault leaves open, chosen by seed: which object, which place, which state."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from hvr.envs.faults.others import CHANGEABLE, contents

_SUITS: Mapping[str, str] = {
    "PickupObject": "pickupable",
    "PutObject": "receptacle",
    "OpenObject": "openable",
    "CloseObject": "openable",
    "SliceObject": "sliceable",
    "BreakObject": "breakable",
    "FillObjectWithLiquid": "canFillWithLiquid",
    "EmptyLiquidFromObject": "canFillWithLiquid",
}
_PLACES = frozenset({"CounterTop", "DiningTable", "SideTable", "SinkBasin", "Shelf", "Stool"})

Entries = Mapping[str, Mapping[str, Any]]


def mistaken_for(
    known: Entries, object_id: str, action: str, chance: random.Random
) -> list[str]:  # fmt: skip
    """Return other objects in reach that the action suits: those of the same type first."""
    thing = known[object_id]
    prop = _SUITS.get(action)
    others = [
        o for o in known.values()
        if o["objectId"] != object_id and o["visible"] and not o["isPickedUp"] and not gone(o)
    ]  # fmt: skip
    same = _ids(o for o in others if o["objectType"] == thing["objectType"])
    fit = [i for i in _ids(o for o in others if prop is not None and o[prop]) if i not in same]
    chance.shuffle(same)
    chance.shuffle(fit)
    return same + fit


def other_switch(known: Entries, object_id: str, chance: random.Random) -> str | None:
    """Return another object of the same type that can be switched."""
    kind = known[object_id]["objectType"]
    found = _ids(
        o for o in known.values()
        if o["objectType"] == kind and o["toggleable"] and o["objectId"] != object_id
    )  # fmt: skip
    return chance.choice(found) if found else None


def movable(known: Entries, hand: str | None, chance: random.Random) -> list[str]:
    """Return ids of what somebody can take away, in random order."""
    carried = {hand, *contents(known, hand)}
    found = _ids(
        o for o in known.values()
        if o["pickupable"] and o["objectId"] not in carried and not gone(o)
    )  # fmt: skip
    chance.shuffle(found)
    return found


def places(known: Entries, chance: random.Random) -> list[str]:
    """Return ids of open places where somebody can put something, in random order."""
    found = _ids(o for o in known.values() if o["objectType"] in _PLACES)
    chance.shuffle(found)
    return found


def other_state(
    known: Entries, object_id: str, chance: random.Random
) -> tuple[str, str | bool] | None:
    """Return a state field that the object can have, and the value that it has not."""
    thing = known[object_id]
    found = [(field, not thing[field]) for field, prop in CHANGEABLE.items() if thing[prop]]
    return chance.choice(found) if found and not gone(thing) else None


def gone(entry: Mapping[str, Any]) -> bool:
    """Nothing can be done with it any more: it was sliced or broken."""
    return bool(entry["isSliced"] or entry["isBroken"])


def _ids(found: Any) -> list[str]:
    return sorted(str(o["objectId"]) for o in found)

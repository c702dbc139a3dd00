"""Seeded choice of what a fault leaves open: which object, which place, which state."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from hvr.worlds.faults.others import CHANGEABLE, contents
from hvr.worlds.thor.types import OPEN_PLACES, SLICEABLE

_SUITS: Mapping[str, str] = {
    "PickupObject": "pickupable",
    "PutObject": "receptacle",
    "OpenObject": "openable",
    "CloseObject": "openable",
    "SliceObject": SLICEABLE,
    "BreakObject": "breakable",
    "FillObjectWithLiquid": "canFillWithLiquid",
    "EmptyLiquidFromObject": "canFillWithLiquid",
}

Entries = Mapping[str, Mapping[str, Any]]


def mistaken_for(known: Entries, object_id: str, action: str, chance: random.Random) -> list[str]:
    """Return other objects in reach that the action suits: those of the same type first."""
    thing = known[object_id]
    prop = _SUITS.get(action)
    in_view = (o for o in known.values() if o["visible"] and not o["isPickedUp"])
    others = [o for o in in_view if o["objectId"] != object_id and not gone(o)]
    same = _ids(o for o in others if o["objectType"] == thing["objectType"])
    fit = [i for i in _ids(o for o in others if prop is not None and o[prop]) if i not in same]
    chance.shuffle(same)
    chance.shuffle(fit)
    return same + fit


def other_switch(known: Entries, object_id: str, chance: random.Random) -> str | None:
    """Return another object of the same type that can be switched."""
    kind = known[object_id]["objectType"]
    alike = (o for o in known.values() if o["objectType"] == kind and o["toggleable"])
    switches = _ids(o for o in alike if o["objectId"] != object_id)
    return chance.choice(switches) if switches else None


def movable(known: Entries, hand: str | None, chance: random.Random) -> list[str]:
    """Return ids of what somebody can take away, in random order."""
    carried = {hand, *contents(known, hand)}
    loose = (o for o in known.values() if o["pickupable"] and not gone(o))
    things = _ids(o for o in loose if o["objectId"] not in carried)
    chance.shuffle(things)
    return things


def places(known: Entries, chance: random.Random) -> list[str]:
    """Return ids of open places where somebody can put something, in random order."""
    open_places = _ids(o for o in known.values() if o["objectType"] in OPEN_PLACES)
    chance.shuffle(open_places)
    return open_places


def other_state(
    known: Entries, object_id: str, chance: random.Random
) -> tuple[str, str | bool] | None:
    """Return a state field of the object and the value that it does not have now."""
    thing = known[object_id]
    changes = [(field, not thing[field]) for field, prop in CHANGEABLE.items() if thing[prop]]
    return chance.choice(changes) if changes and not gone(thing) else None


def gone(entry: Mapping[str, Any]) -> bool:
    """Return whether nothing can be done with it any more: it was sliced or broken."""
    return bool(entry["isSliced"] or entry["isBroken"])


def _ids(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    # Sorted, so that a seed chooses the same object whatever the order of the metadata.
    return sorted(str(o["objectId"]) for o in objects)

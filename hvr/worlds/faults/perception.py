"""Misreported observations: one wrong object, or noise on all."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from hvr.worlds.base import Environment
from hvr.worlds.faults import choice, others
from hvr.worlds.faults.fault import What
from hvr.worlds.faults.trigger import Trigger
from hvr.worlds.naming import Names
from hvr.worlds.thor.types import USUAL_LIQUID

NOISY: Mapping[str, str] = {
    "isOpen": "openable",
    "isToggled": "toggleable",
    "isDirty": "dirtyable",
    "isFilledWithLiquid": "canFillWithLiquid",
    "isCooked": "cookable",
}
"""States that noise flips, and the property that an object needs to have the state."""


def mistaken(metadata: Mapping[str, Any], object_id: str, field: str, value: Any) -> dict[str, Any]:
    """Return the metadata with one object misreported.

    Args:
        metadata: as it is.
        object_id: the object.
        field: what is wrong: a field of its metadata. `parentReceptacles` puts it into
            another receptacle, whose list of contents has it then, too.
        value: what is reported; for `parentReceptacles` the id of the receptacle.
    """
    objects = []
    for entry in metadata["objects"]:
        wrong: dict[str, Any] = {}
        here = entry["objectId"] == object_id
        held = entry["receptacleObjectIds"]
        if field == "parentReceptacles":
            if here:
                wrong = {field: [value]}
            elif held is not None and (object_id in held) != (entry["objectId"] == value):
                inside = [i for i in held if i != object_id]
                inside += [object_id] if entry["objectId"] == value else []
                wrong = {"receptacleObjectIds": inside}
        elif here:
            wrong = with_value(field, value)
        objects.append(entry | wrong if wrong else entry)
    return {**metadata, "objects": objects}


def with_value(field: str, value: Any) -> dict[str, Any]:
    """Return a field with its value, and the fields that follow from it."""
    if field == "isOpen":
        return {field: value, "openness": 1.0 if value else 0.0}
    if field == "isFilledWithLiquid":
        liquid = value if isinstance(value, str) else USUAL_LIQUID
        return {field: bool(value), "fillLiquid": liquid if value else None}
    return {field: value}


def noisy(metadata: Mapping[str, Any], what: What, seed: str) -> dict[str, Any]:
    """Return the metadata with noise: flipped states of objects in view, objects out of view.

    Each state in `NOISY` that an object in view can have is wrong with probability
    `what.flip`; each object in view is reported as neither visible nor in reach with
    probability `what.unseen`. What is in the hand is felt, and never unseen.

    Args:
        metadata: as it is.
        what: the probabilities.
        seed: the same seed and metadata give the same noise.
    """
    chance = random.Random(seed)
    held = {o["objectId"] for o in metadata.get("inventoryObjects") or ()}
    objects = []
    for entry in metadata["objects"]:
        if not entry["visible"]:
            objects.append(entry)
            continue
        wrong: dict[str, Any] = {}
        for field, prop in NOISY.items():
            if entry[prop] and chance.random() < what.flip:
                wrong |= with_value(field, not entry[field])
        if chance.random() < what.unseen and entry["objectId"] not in held:
            wrong |= {"visible": False, "isInteractable": False}
        objects.append(entry | wrong if wrong else entry)
    return {**metadata, "objects": objects}


def mistake(env: Environment, names: Names, trigger: Trigger) -> tuple[str, str, Any] | None:
    """Return the id, field and value that a fault of perception reports, chosen by seed if open.

    Args:
        env: where.
        names: the names of its scene.
        trigger: of a fault of the kind MISPERCEIVED.

    Returns:
        None when there is nothing that could be misperceived.
    """
    what, known = trigger.fault.what, others.entries(env)
    if what.target:
        options = [names.object_id(what.target)]
    else:
        options = [i for i in choice.movable(known, None, trigger.chance) if known[i]["visible"]]
    for object_id in (i for i in options if i in known):
        if what.field == "parentReceptacles":
            return object_id, what.field, names.object_id(str(what.value))
        if what.field:
            value = not known[object_id].get(what.field) if what.value is None else what.value
            return object_id, what.field, value
        if (state := choice.other_state(known, object_id, trigger.chance)) is not None:
            return (object_id, *state)
    return None

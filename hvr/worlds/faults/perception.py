"""Faulty perception: misreported objects, sensor noise and fabricated replies."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.errors import UsageError
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.environment import Environment, Event
from hvr.worlds.faults import other_agent
from hvr.worlds.faults.fault import FaultEffect, Trigger
from hvr.worlds.thor.observe import USUAL_LIQUID, Names

# Misreported metadata -----------------------------------------------------------------------------

NOISY_STATES: Mapping[str, str] = {
    "isOpen": "openable",
    "isToggled": "toggleable",
    "isDirty": "dirtyable",
    "isFilledWithLiquid": "canFillWithLiquid",
    "isCooked": "cookable",
}
"""State fields that noise inverts, and the property of objects that have each of them."""


def misreported(
    metadata: Mapping[str, Any], object_id: str, field: str, value: Any
) -> dict[str, Any]:
    """Return the metadata with one misreported object.

    Args:
        field: Metadata field to misreport. `parentReceptacles` also changes the contents lists of
            the receptacles.
        value: The reported value; for `parentReceptacles`, the id of the receptacle.
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
    if field == "isOpen":
        return {field: value, "openness": 1.0 if value else 0.0}
    if field == "isFilledWithLiquid":
        liquid = value if isinstance(value, str) else USUAL_LIQUID
        return {field: bool(value), "fillLiquid": liquid if value else None}
    return {field: value}


def with_noise(metadata: Mapping[str, Any], what: FaultEffect, seed: str) -> dict[str, Any]:
    """Return the metadata with inverted states and unseen objects.

    Each state in `NOISY_STATES` of a visible object is wrong with probability `what.flip`. Each
    visible object is reported as neither visible nor in reach with probability `what.unseen`,
    except the held object, which the robot always feels.
    """
    chance = random.Random(seed)
    held = {o["objectId"] for o in metadata.get("inventoryObjects") or ()}
    objects = []
    for entry in metadata["objects"]:
        if not entry["visible"]:
            objects.append(entry)
            continue
        wrong: dict[str, Any] = {}
        for field, prop in NOISY_STATES.items():
            if entry[prop] and chance.random() < what.flip:
                wrong |= with_value(field, not entry[field])
        if chance.random() < what.unseen and entry["objectId"] not in held:
            wrong |= {"visible": False, "isInteractable": False}
        objects.append(entry | wrong if wrong else entry)
    return {**metadata, "objects": objects}


def choose_misreport(
    env: Environment, names: Names, trigger: Trigger
) -> tuple[str, str, Any] | None:
    """Return the object id, field and value of a misreport, or None if none is possible.

    The fault names them, or its seed selects them.
    """
    what, known = trigger.fault.what, other_agent.entries(env)
    if what.target:
        options = [names.object_id(what.target)]
    else:
        options = [
            i
            for i in other_agent.movable_objects(known, None, trigger.chance)
            if known[i]["visible"]
        ]
    for object_id in (i for i in options if i in known):
        if what.field == "parentReceptacles":
            return object_id, what.field, names.object_id(str(what.value))
        if what.field:
            value = not known[object_id].get(what.field) if what.value is None else what.value
            return object_id, what.field, value
        if (state := other_agent.other_state(known, object_id, trigger.chance)) is not None:
            return (object_id, *state)
    return None


# Composed events ----------------------------------------------------------------------------------
# The reply to an action, combined with the room as a faulty sensor reports it.

Lens = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Converts metadata to the report of a faulty sensor."""

_ANSWER = ("lastAction", "lastActionSuccess", "errorMessage", "errorCode", "actionReturn")


def fabricated_event(name: str, success: bool, message: str) -> Event:
    """Return a made-up reply to an action, without metadata of the room."""
    values = (name, success, message, None, None)
    return Event(dict(zip(_ANSWER, values, strict=True)), success)


def combined_event(now: Event, answer: Event) -> Event:
    """Return an event with the room of the event `now` and the reply of the event `answer`."""

    def metadata() -> dict[str, Any]:
        return {**now.metadata, **{key: answer.metadata.get(key) for key in _ANSWER}}

    return Event(metadata, answer.success)


def misreporting_lens(wrong: tuple[str, str, Any]) -> Lens:
    return lambda metadata: misreported(metadata, *wrong)


def event_through(event: Event, lens: Lens) -> Event:
    """Return an event whose metadata `lens` converts on first access."""
    return Event(lambda: lens(event.metadata), event.success)


# Sensor noise -------------------------------------------------------------------------------------
# Noise on scene graphs, for readers of scene graphs instead of metadata.


class NoisySensor:
    """A sensor that misreports scene graphs, each independently of the others.

    Each state in `NOISY_STATES` is inverted with probability `flip`, and each object is omitted
    with probability `unseen` (`flip` if None), except the held object, which the robot feels. The
    robot still acts on the true scene, so that only sensor errors are tested. The same seed gives
    the same errors for the same observations.

    Raises:
        UsageError: A probability is not between 0 and 1.
    """

    def __init__(self, flip: float, unseen: float | None = None, seed: int = 0) -> None:
        self.flip = flip
        self.unseen = flip if unseen is None else unseen
        for value in (self.flip, self.unseen):
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"a share of wrong readings must be between 0 and 1, got {value}")
        self.errors = 0
        """Number of wrong readings so far."""
        self._chance = random.Random(seed)

    def __call__(self, scene: SceneGraph) -> SceneGraph:
        objects: dict[str, SceneObject] = {}
        for name, thing in scene.objects.items():
            if name != scene.held and self._chance.random() < self.unseen:
                self.errors += 1
                continue
            objects[name] = self._read(thing)
        return scene.replace(objects=MappingProxyType(objects))

    def _read(self, thing: SceneObject) -> SceneObject:
        wrong: dict[str, object] = {}
        states: Mapping[str, object] = thing.attributes
        for field, prop in NOISY_STATES.items():
            if states.get(prop) and self._chance.random() < self.flip:
                self.errors += 1
                wrong |= with_value(field, not states.get(field))
        if not wrong:
            return thing
        return replace(thing, attributes=MappingProxyType({**states, **wrong}))

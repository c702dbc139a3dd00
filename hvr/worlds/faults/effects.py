"""Effects of faults: unseen actions of another agent, and faulty perception."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from hvr.errors import UsageError
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.environment import Environment, Event
from hvr.worlds.faults.fault import FaultEffect, FaultKind, Trigger
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.kitchen.placement import surface_height
from hvr.worlds.thor.observe import OPEN_PLACES, PUT_ASIDE_PLACES, SLICEABLE, USUAL_LIQUID, Names

# Forced actions -----------------------------------------------------------------------------------
# If a change needs the hand, the held object is put aside and taken again afterwards. All changes
# use AI2-THOR's own actions, except that hvr's kitchen can place an object on a receptacle that
# PutObject refuses even when forced.

_SETTERS: Mapping[tuple[str, bool], str] = {
    ("isOpen", True): "OpenObject",
    ("isOpen", False): "CloseObject",
    ("isToggled", True): "ToggleObjectOn",
    ("isToggled", False): "ToggleObjectOff",
    ("isDirty", True): "DirtyObject",
    ("isDirty", False): "CleanObject",
    ("isFilledWithLiquid", True): "FillObjectWithLiquid",
    ("isFilledWithLiquid", False): "EmptyLiquidFromObject",
    ("isBroken", True): "BreakObject",
    ("isSliced", True): "SliceObject",
    ("isCooked", True): "CookObject",
    ("isUsedUp", True): "UseUpObject",
}
"""The action that sets a state field to a value."""

CHANGEABLE: Mapping[str, str] = {
    "isOpen": "openable",
    "isToggled": "toggleable",
    "isDirty": "dirtyable",
    "isFilledWithLiquid": "canFillWithLiquid",
}
"""State fields that can change in both directions, and the property that they require."""


def entries(env: Environment) -> dict[str, dict[str, Any]]:
    return {o["objectId"]: o for o in env.last_event.metadata["objects"]}


def held(env: Environment) -> str | None:
    inventory = env.last_event.metadata["inventoryObjects"]
    return str(inventory[0]["objectId"]) if inventory else None


def drop(env: Environment) -> bool:
    """Drop the held object; return whether there was one."""
    return held(env) is not None and bool(env.step("DropHandObject", forceAction=True))


def change(env: Environment, object_id: str, field: str, value: str | bool) -> bool:
    """Set a state field; return whether the value changed."""
    before = entries(env)[object_id]
    setter = _SETTERS.get((field, bool(value)))
    if setter is None or bool(before[field]) == bool(value):
        return False
    more = {}
    if setter == "FillObjectWithLiquid":
        more["fillLiquid"] = value if isinstance(value, str) else USUAL_LIQUID
    return bool(env.step(setter, objectId=object_id, forceAction=True, **more))


def move(env: Environment, object_id: str, receptacle: str) -> bool:
    """Move an object into a receptacle; return whether the object was moved.

    The held object and its contents cannot be moved. A closed receptacle is opened and closed
    again.
    """
    known = entries(env)
    thing, place = known[object_id], known[receptacle]
    there = thing["parentReceptacles"] or ()
    inside = [object_id, *contents(known, object_id)]
    if not thing["pickupable"] or receptacle in there or receptacle in inside:
        return False
    in_hand = held(env)
    if in_hand in inside or object_id in contents(known, in_hand):
        return False
    closed = place["openable"] and not place["isOpen"]
    # A running microwave cannot be opened.
    if closed and place["toggleable"] and place["isToggled"]:
        return False
    if closed:
        env.step("OpenObject", objectId=receptacle, forceAction=True)
    aside = _put_aside(env, avoid=(receptacle,)) if in_hand else True
    done = aside and _carry(env, object_id, receptacle)
    if in_hand and aside:
        env.step("PickupObject", objectId=in_hand, forceAction=True)
    if closed:
        env.step("CloseObject", objectId=receptacle, forceAction=True)
    return done


def occupy(env: Environment, object_id: str, receptacle: str) -> bool:
    """Ensure that an object is in a receptacle; return whether it is."""
    there = entries(env)[object_id]["parentReceptacles"] or ()
    return receptacle in there or move(env, object_id, receptacle)


def contents(known: Mapping[str, Mapping[str, Any]], object_id: str | None) -> set[str]:
    """Return the ids of all objects in or on an object, at any depth."""
    inside: set[str] = set()
    todo = [object_id] if object_id else []
    while todo:
        for inner in known.get(todo.pop(), {}).get("receptacleObjectIds") or ():
            if inner not in inside:
                inside.add(inner)
                todo.append(inner)
    return inside


def _carry(env: Environment, object_id: str, receptacle: str) -> bool:
    home = entries(env)[object_id]["parentReceptacles"] or ()
    if not env.step("PickupObject", objectId=object_id, forceAction=True):
        return False
    if env.step("PutObject", objectId=receptacle, forceAction=True):
        return True
    if stand(env, object_id, receptacle):
        return True
    _put_aside(env, first=home)
    return False


def _put_aside(env: Environment, first: Iterable[str] = (), avoid: Sequence[str] = ()) -> bool:
    known = entries(env)
    places = [i for kind in PUT_ASIDE_PLACES for i, o in known.items() if o["objectType"] == kind]
    return any(
        bool(env.step("PutObject", objectId=i, forceAction=True))
        for i in (*first, *places)
        if i not in avoid
    )


def stand(env: Environment, object_id: str, receptacle: str) -> bool:
    """Place the held object in the centre of a receptacle, which should be empty.

    Return whether the object was placed, which is possible only in hvr's kitchen.
    """
    if not isinstance(env, Kitchen):
        return False
    now = env.snapshot()
    thing, place = now.world.things[object_id], now.world.things[receptacle]
    if now.world.held != object_id or not place.can("receptacle"):
        return False
    x, _, z = place.box.center
    tall = thing.box.y1 - thing.box.y0
    there = thing.moved_to((x, surface_height(place) + tall / 2, z))
    world = now.world.changed(there.replace(parents=(receptacle,)))
    env.restore(replace(now, world=replace(world, held=None)))
    return True


# Choice -------------------------------------------------------------------------------------------
# Seeded choice of objects, places and states that a fault leaves open.

_REQUIRED_PROPERTY: Mapping[str, str] = {
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


def similar_objects(
    known: Entries, object_id: str, action: str, chance: random.Random
) -> list[str]:
    """Return the other objects in view for which an action's object may be mistaken.

    Objects of the same type come first, in random order. Then come objects with the property that
    the action requires, if it requires one, also in random order.
    """
    thing = known[object_id]
    prop = _REQUIRED_PROPERTY.get(action)
    in_view = (o for o in known.values() if o["visible"] and not o["isPickedUp"])
    others = [o for o in in_view if o["objectId"] != object_id and not is_destroyed(o)]
    same = _ids(o for o in others if o["objectType"] == thing["objectType"])
    fit = [i for i in _ids(o for o in others if prop is not None and o[prop]) if i not in same]
    chance.shuffle(same)
    chance.shuffle(fit)
    return same + fit


def other_switch(known: Entries, object_id: str, chance: random.Random) -> str | None:
    kind = known[object_id]["objectType"]
    alike = (o for o in known.values() if o["objectType"] == kind and o["toggleable"])
    switches = _ids(o for o in alike if o["objectId"] != object_id)
    return chance.choice(switches) if switches else None


def movable_objects(known: Entries, hand: str | None, chance: random.Random) -> list[str]:
    carried = {hand, *contents(known, hand)}
    loose = (o for o in known.values() if o["pickupable"] and not is_destroyed(o))
    things = _ids(o for o in loose if o["objectId"] not in carried)
    chance.shuffle(things)
    return things


def open_places(known: Entries, chance: random.Random) -> list[str]:
    open_places = _ids(o for o in known.values() if o["objectType"] in OPEN_PLACES)
    chance.shuffle(open_places)
    return open_places


def other_state(
    known: Entries, object_id: str, chance: random.Random
) -> tuple[str, str | bool] | None:
    """Return a random state field of an object and the opposite of its value, or None.

    None means that the object has no such field or is destroyed.
    """
    thing = known[object_id]
    changes = [(field, not thing[field]) for field, prop in CHANGEABLE.items() if thing[prop]]
    return chance.choice(changes) if changes and not is_destroyed(thing) else None


def is_destroyed(entry: Mapping[str, Any]) -> bool:
    return bool(entry["isSliced"] or entry["isBroken"])


def _ids(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    # Sorted, so that a seed chooses the same object for any order of the metadata.
    return sorted(str(o["objectId"]) for o in objects)


# Another agent ------------------------------------------------------------------------------------

_TRIES = 6


@runtime_checkable
class Restorable(Protocol):
    """An environment whose state can be saved and restored."""

    def snapshot(self) -> Any: ...

    def restore(self, snapshot: Any) -> Event: ...


def interfere(env: Environment, names: Names, trigger: Trigger, target: str) -> tuple[str, ...]:
    """Move, change or occupy an object, as another agent would.

    The fault names the object, or its seed selects one. Returns the ids of the changed objects,
    most affected first, or () if nothing could be done.

    Args:
        trigger: Trigger of a fault of kind MOVED, CHANGED or OCCUPIED.
        target: Id of the object of the robot's action; empty if it has none.
    """
    options = {
        FaultKind.OCCUPIED: _occupations,
        FaultKind.MOVED: _moves,
        FaultKind.CHANGED: _changes,
    }[trigger.fault.kind]
    return next(
        (
            ids
            for ids, intervention, args in options(env, names, trigger, target)
            if _try(env, intervention, *args)
        ),
        (),
    )


_Option = tuple[tuple[str, ...], Callable[..., bool], tuple[Any, ...]]


def _occupations(
    env: Environment, names: Names, trigger: Trigger, target: str
) -> Iterator[_Option]:
    what, known = trigger.fault.what, entries(env)
    place = names.object_id(what.target) if what.target else target
    if place not in known or not known[place]["receptacle"]:
        return
    things = _named(names, what.other) or movable_objects(known, held(env), trigger.chance)
    for thing in things[:_TRIES]:
        if thing in known:
            yield (place, thing), occupy, (thing, place)


def _moves(env: Environment, names: Names, trigger: Trigger, _target: str) -> Iterator[_Option]:
    what, known, chance = trigger.fault.what, entries(env), trigger.chance
    things = _named(names, what.target) or movable_objects(known, held(env), chance)
    places = _named(names, what.place) or open_places(known, chance)
    for thing in things[:_TRIES]:
        for place in places[:_TRIES]:
            if thing in known and place in known:
                yield (thing, place), move, (thing, place)


def _changes(env: Environment, names: Names, trigger: Trigger, _target: str) -> Iterator[_Option]:
    what, known, chance = trigger.fault.what, entries(env), trigger.chance
    for thing in _named(names, what.target) or movable_objects(known, held(env), chance):
        if thing not in known:
            continue
        if what.field:
            yield (thing,), change, (thing, what.field, _value(what.value))
        elif (state := other_state(known, thing, chance)) is not None:
            yield (thing,), change, (thing, *state)


def _named(names: Names, name: str) -> list[str]:
    return [names.object_id(name)] if name else []


def _value(value: str | bool | None) -> str | bool:
    return True if value is None else value


def _try(env: Environment, intervention: Callable[..., bool], *args: Any) -> bool:
    before = env.snapshot() if isinstance(env, Restorable) else None
    done = intervention(env, *args)
    if not done and isinstance(env, Restorable):
        env.restore(before)
    return done


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

    The fault names these, or its seed selects them.
    """
    what, known = trigger.fault.what, entries(env)
    if what.target:
        options = [names.object_id(what.target)]
    else:
        options = [i for i in movable_objects(known, None, trigger.chance) if known[i]["visible"]]
    for object_id in (i for i in options if i in known):
        if what.field == "parentReceptacles":
            return object_id, what.field, names.object_id(str(what.value))
        if what.field:
            value = not known[object_id].get(what.field) if what.value is None else what.value
            return object_id, what.field, value
        if (state := other_state(known, object_id, trigger.chance)) is not None:
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
    """Return an event that combines the room in `now` with the reply in `answer`."""

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

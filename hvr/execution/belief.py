"""The robot's belief about the scene, and its updates by sight, by sounds and by prediction."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from hvr.execution.observation import AudioEvent, Fields, SoundKind
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl.model import Atom
from hvr.worlds.naming import Names
from hvr.worlds.thor.types import LIDDED, SILENT

# Belief -------------------------------------------------------------------------------------------
# The robot's belief about the scene: what it sees now, and of the rest what it saw last.
#
# A belief never contradicts what is seen now. What is not seen keeps the state it was seen or
# is expected in: an action that was reported as done is believed to have had its effects.


class Sight(StrEnum):
    """The part of an event's metadata that the robot is allowed to see."""

    OMNISCIENT = "omniscient"
    """Everything, wherever it is: AI2-THOR's metadata lists the whole scene."""
    VISIBLE = "visible"
    """What AI2-THOR calls visible (in view, within 1.5 m, not shut in), what is in the hand,
    and what is in or on a compact open receptacle that is visible."""
    DOORS = "doors"
    """Everything but what is behind a closed door; that is not known at the beginning, either."""


@dataclass(frozen=True)
class Belief:
    """A scene graph of which some parts were seen now and others earlier.

    Args:
        scene: every known object as it is believed to be.
        seen: names of the objects seen now.
        last_seen: step in which each object was last seen, 0 before the first step; what has
            never been seen is not in it.
    """

    scene: SceneGraph
    seen: frozenset[str]
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def initial_belief(scene: SceneGraph, sight: Sight = Sight.OMNISCIENT) -> Belief:
    """Return the belief at the start of a run: the robot has been shown the room.

    With `Sight.DOORS` nobody has opened anything for it: it knows which things there are, and not
    where those are that it does not see.
    """
    names = frozenset(scene.objects)
    if sight is Sight.DOORS:
        names = not_enclosed(scene)
        unseen = {
            name: replace(o, parents=(), in_reach=False)
            for name, o in scene.objects.items()
            if name not in names
        }
        scene = scene.replace(objects=MappingProxyType({**scene.objects, **unseen}))
    return Belief(scene, names, MappingProxyType(dict.fromkeys(names, 0)))


def not_enclosed(scene: SceneGraph) -> frozenset[str]:
    """Return the objects that are behind no closed door."""
    return frozenset(name for name in scene.objects if not scene.shut_in(name))


def seen_objects(
    scene: SceneGraph, visible: Collection[str], large: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the objects that are seen, and the receptacles that the robot sees into.

    Args:
        scene: all that is there.
        visible: names of what is in view.
        large: names of receptacles that are too long to be seen as a whole.

    Returns:
        names of the objects seen, and of the receptacles whose whole content is seen.
    """
    seen = set(visible)
    if scene.held is not None:
        seen.add(scene.held)
    whole: set[str] = set()
    todo = [n for n in seen if n in scene.objects]
    inside: dict[str, list[str]] = {}
    for name, o in scene.objects.items():
        for parent in o.parents[:1]:
            inside.setdefault(parent, []).append(name)
    # What is in a bowl in an open drawer is seen with the drawer: hence at any depth.
    while todo:
        name = todo.pop()
        attributes = scene.objects[name].attributes
        shut = attributes.get("openable") and not attributes.get("isOpen")
        shut = shut and scene.objects[name].object_type not in LIDDED
        if not attributes.get("receptacle") or shut or name in large or name in whole:
            continue
        whole.add(name)
        new = [n for n in inside.get(name, ()) if n not in seen]
        seen.update(new)
        todo += inside.get(name, ())
    return frozenset(seen), frozenset(whole)


def update_belief(
    earlier: Belief,
    predicted: SceneGraph,
    observed: SceneGraph,
    seen: frozenset[str],
    whole: frozenset[str],
    step: int,
    robot: tuple[float, float, float],
) -> Belief:
    """Return the belief after an action.

    What is seen is as observed. What is not stays as predicted; but if the robot sees all that a
    receptacle holds, what it believed to be there and does not see is known to be nowhere.
    What the hand holds is always felt.

    Args:
        earlier: the belief before.
        predicted: the believed scene with the effects of the action.
        observed: all that is there.
        seen: names of what is seen of it.
        whole: receptacles whose whole content is seen.
        step: number of the step.
        robot: where the robot stands, (x, y, z) in metres.
    """
    objects: dict[str, SceneObject] = {}
    for name, o in observed.objects.items():
        if name in seen:
            objects[name] = o
    for name, o in predicted.objects.items():
        if name in seen:
            continue
        gone = bool(o.parents) and o.parents[0] in whole
        carried = name == predicted.held  # it was in the hand, and the hand feels it no more
        objects[name] = replace(
            o,
            parents=() if gone or carried else o.parents,
            in_reach=False,  # what is not seen cannot be used from here
            distance=round(math.dist(robot, o.position), 5),
        )
    scene = observed.replace(objects=MappingProxyType(objects))
    last = {**earlier.last_seen, **dict.fromkeys(seen, step)}
    return Belief(scene, seen, MappingProxyType(last))


# Audio events -------------------------------------------------------------------------------------
# The belief corrected by audio events, which tell of things out of sight.


def belief_after_sounds(
    predicted: SceneGraph, before: SceneGraph, heard: Iterable[AudioEvent], room: SceneGraph
) -> SceneGraph:
    """Return the believed scene after listening.

    What should have been switched and was not heard is believed to be as before. A sound of
    which there is but one source in the room tells of that source; where there are several
    it confirms what was expected of one of them, and says nothing else.

    Args:
        predicted: the believed scene with the effects of the action.
        before: the believed scene before it.
        heard: the sounds.
        room: names of objects and their types; their states are not looked at.
    """
    sounds = set(heard)
    objects = dict(predicted.objects)
    sources: dict[str, list[str]] = {}
    for o in room.objects.values():
        sources.setdefault(o.object_type, []).append(o.name)
    partner = dict(room.controls)
    for name, now in predicted.objects.items():
        then = before.objects.get(name)
        on = bool(now.attributes.get("isToggled"))
        if then is None or bool(then.attributes.get("isToggled")) == on:
            continue
        # A knob is heard by its burner.
        kind = now.object_type
        if kind in SILENT and name in partner and partner[name] in objects:
            kind = objects[partner[name]].object_type
        if AudioEvent(SoundKind.TURNED_ON if on else SoundKind.TURNED_OFF, kind) not in sounds:
            objects[name] = _set(now, "isToggled", not on)
    for sound in sounds:
        names = sources.get(sound.object_type, [])
        if len(names) != 1 or names[0] not in objects:
            continue
        o = objects[names[0]]
        if sound.noise in (SoundKind.TURNED_ON, SoundKind.TURNED_OFF):
            objects[o.name] = _set(o, "isToggled", sound.noise is SoundKind.TURNED_ON)
        elif sound.noise is SoundKind.BROKEN:
            objects[o.name] = _set(o, "isBroken", True)
    return predicted.replace(objects=MappingProxyType(objects))


def _set(o: SceneObject, key: str, value: bool) -> SceneObject:
    if bool(o.attributes.get(key)) == value:
        return o
    return replace(o, attributes=MappingProxyType({**o.attributes, key: value}))


# Prediction ---------------------------------------------------------------------------------------
# Prediction: the effects of an action, carried over from PDDL atoms to a scene graph.
#
# Used where a scene graph of what is expected is needed: for what the robot does not see, and
# to tell surprising readings of a noisy sensor from expected ones.


def predict(
    scene: SceneGraph,
    added: Iterable[Atom],
    deleted: Iterable[Atom],
    names: Names,
    fields: Fields,
) -> SceneGraph:
    """Return the scene graph after the effects of an action.

    Predicates without a counterpart in a scene graph (`near`, the history marks) are left out.

    Args:
        scene: before the action.
        added: atoms that become true.
        deleted: atoms that become false.
        names: has the names of the pieces of what is cut.
        fields: the attributes behind the predicates.
    """
    objects = dict(scene.objects)
    held = scene.held
    for atom in deleted:
        held = None if atom.predicate == "holding" and held == atom.args[0] else held
        if atom.args and atom.args[0] in objects:
            objects[atom.args[0]] = _without(objects[atom.args[0]], atom, fields)
    # Pieces come first: other atoms may be about them.
    for atom in sorted(added, key=lambda a: a.predicate != "present"):
        if not atom.args:
            continue
        name = atom.args[0]
        if name not in objects:
            made = _pieces(name, scene.objects, names) if atom.predicate == "present" else {}
            if name not in made:
                continue
            objects |= made
        if atom.predicate == "holding":
            held = name
            objects[name] = replace(objects[name], parents=())
        else:
            objects[name] = _with(objects[name], atom, fields)
    return scene.replace(objects=MappingProxyType(objects), held=held)


def _with(o: SceneObject, atom: Atom, fields: Fields) -> SceneObject:
    name = atom.predicate
    if name in ("on", "in"):
        return replace(o, parents=(atom.args[1],))
    if name in fields.flags:
        return _with_attribute(o, fields.flags[name], True)
    if name in fields.values:
        return _with_attribute(o, *fields.values[name])
    if name in fields.ends:
        return _with_attribute(o, fields.ends[name], atom.args[1])
    return o


def _without(o: SceneObject, atom: Atom, fields: Fields) -> SceneObject:
    name = atom.predicate
    if name in ("on", "in"):
        return replace(o, parents=()) if o.parents[:1] == atom.args[1:] else o
    if name in fields.flags:
        return _with_attribute(o, fields.flags[name], False)
    if name in fields.values:
        field, value = fields.values[name]
        gone = o.attributes.get(field) == value
        return _with_attribute(o, field, fields.neutral.get(field)) if gone else o
    if name in fields.ends:
        return _with_attribute(o, fields.ends[name], None)
    return o


def _with_attribute(o: SceneObject, key: str, value: Any) -> SceneObject:
    return replace(o, attributes=MappingProxyType({**o.attributes, key: value}))


def _pieces(name: str, objects: Mapping[str, SceneObject], names: Names) -> dict[str, SceneObject]:
    """Return a piece that cutting has just made, with all others of the same thing, at its place.

    All, because a plan names one piece and the robot gets them all at once.
    """
    source = names.source(name) if name in names else None
    whole = objects.get(source) if source is not None else None
    if source is None or whole is None:
        return {}
    kept = {key: whole.attributes.get(key) for key in ("isCooked", "temperature")}
    fields = MappingProxyType({"pickupable": True, **kept})
    return {
        piece: SceneObject(
            piece,
            names.type_of(piece),
            names.object_id(piece),
            fields,
            whole.parents,
            whole.position,
        )
        for piece in names.pieces(source)
    }

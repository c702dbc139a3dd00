"""Prediction: the effects of an action, carried over from PDDL atoms to a scene graph.

Used where a scene graph of what is expected is needed: for what the robot does not see, and
to tell surprising readings of a noisy sensor from expected ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.execution.fields import Fields
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl.model import Atom
from hvr.worlds.naming import Names


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
        return _set(o, fields.flags[name], True)
    if name in fields.values:
        return _set(o, *fields.values[name])
    if name in fields.ends:
        return _set(o, fields.ends[name], atom.args[1])
    return o


def _without(o: SceneObject, atom: Atom, fields: Fields) -> SceneObject:
    name = atom.predicate
    if name in ("on", "in"):
        return replace(o, parents=()) if o.parents[:1] == atom.args[1:] else o
    if name in fields.flags:
        return _set(o, fields.flags[name], False)
    if name in fields.values:
        field, value = fields.values[name]
        gone = o.attributes.get(field) == value
        return _set(o, field, fields.neutral.get(field)) if gone else o
    if name in fields.ends:
        return _set(o, fields.ends[name], None)
    return o


def _set(o: SceneObject, key: str, value: Any) -> SceneObject:
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
            piece, names.type_of(piece), names.object_id(piece), fields, whole.parents,
            whole.position,
        )
        for piece in names.pieces(source)
    }  # fmt: skip

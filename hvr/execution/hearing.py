"""The belief corrected by sounds, which tell of things out of sight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from hvr.execution.sounds import Noise, Sound
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.thor.types import SILENT


def hear(
    predicted: SceneGraph, before: SceneGraph, heard: Iterable[Sound], room: SceneGraph
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
        if Sound(Noise.TURNED_ON if on else Noise.TURNED_OFF, kind) not in sounds:
            objects[name] = _set(now, "isToggled", not on)
    for sound in sounds:
        names = sources.get(sound.object_type, [])
        if len(names) != 1 or names[0] not in objects:
            continue
        o = objects[names[0]]
        if sound.noise in (Noise.TURNED_ON, Noise.TURNED_OFF):
            objects[o.name] = _set(o, "isToggled", sound.noise is Noise.TURNED_ON)
        elif sound.noise is Noise.BROKEN:
            objects[o.name] = _set(o, "isBroken", True)
    return predicted.replace(objects=MappingProxyType(objects))


def _set(o: SceneObject, key: str, value: bool) -> SceneObject:
    if bool(o.attributes.get(key)) == value:
        return o
    return replace(o, attributes=MappingProxyType({**o.attributes, key: value}))

"""Sounds as labels, made from what an action changed in the whole room.

They stand in for the audio track of a recording: a sound tells what happened to which kind
of thing, also out of sight, but not to which one of several.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.values import Value
from hvr.worlds.thor.types import FLOOR, SILENT


class Noise(StrEnum):
    """Kinds of sounds."""

    TURNED_ON = "turned on"
    TURNED_OFF = "turned off"
    BROKEN = "broken"
    POURED = "poured"
    DROPPED = "dropped"


class Sound(Value):
    """One sound.

    Args:
        noise: what kind.
        object_type: AI2-THOR's type of the thing that makes it.
    """

    noise: Noise
    object_type: str

    def __str__(self) -> str:
        return f"{self.object_type} {self.noise.value}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"noise": self.noise.value, "object_type": self.object_type}


def sounds(before: SceneGraph, after: SceneGraph) -> tuple[Sound, ...]:
    """Return the sounds of what happened between two moments, in the order of the objects.

    * turned on, turned off: an appliance, burner, faucet or light that was switched;
    * broken: a thing that broke;
    * poured: a vessel that was filled or emptied;
    * dropped: a thing that came to lie on the floor.

    Args:
        before: all objects, seen or not, before.
        after: all objects after.
    """
    heard: dict[Sound, None] = {}
    for name, now in after.objects.items():
        then = before.objects.get(name)
        if then is None or (then.attributes == now.attributes and then.parents == now.parents):
            continue
        kind = now.object_type
        if _changed(then, now, "isToggled") and kind not in SILENT:
            on = bool(now.attributes.get("isToggled"))
            heard[Sound(Noise.TURNED_ON if on else Noise.TURNED_OFF, kind)] = None
        if _changed(then, now, "isBroken") and now.attributes.get("isBroken"):
            heard[Sound(Noise.BROKEN, kind)] = None
        if _changed(then, now, "isFilledWithLiquid"):
            heard[Sound(Noise.POURED, kind)] = None
        if then.parents != now.parents and _on_floor(after, now) and not _on_floor(before, then):
            heard[Sound(Noise.DROPPED, kind)] = None
    return tuple(heard)


def _changed(then: SceneObject, now: SceneObject, field: str) -> bool:
    return bool(then.attributes.get(field)) != bool(now.attributes.get(field))


def _on_floor(scene: SceneGraph, o: SceneObject) -> bool:
    below = scene.objects.get(o.parents[0]) if o.parents else None
    return below is not None and below.object_type == FLOOR

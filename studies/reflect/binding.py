"""Binding of REFLECT's words to objects of the scene, and of its actions to hvr's."""

from __future__ import annotations

import re
from dataclasses import replace

from hvr.errors import SceneError
from hvr.execution.world import World
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl.formulas import Atom
from hvr.pddl.model import GroundAction
from hvr.worlds import Names
from hvr.worlds.faults import Fault
from studies.reflect.scenarios import Action

_NUMBERED = re.compile(r"(?P<type>[A-Za-z]+)-(?P<number>\d+)")
_INSTEAD = {"Sink": "SinkBasin"}
_PUTS = ("put_on", "put_in")


class Binding:
    """A mapping of words to objects, each chosen on first use.

    A word without a number means the nearest object of its type. A word for a portable object keeps
    its object. A piece of an object that was never cut resolves to the first piece.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._chosen: dict[str, str] = {}

    def name(self, word: str, scene: SceneGraph) -> str:
        """Return the name of the object to which a word refers.

        Raises:
            SceneError: The scene has no such object.
        """
        match = _NUMBERED.fullmatch(word)
        if match:
            return f"{_INSTEAD.get(match['type'], match['type']).lower()}-{match['number']}"
        if word in self._chosen:
            return self._chosen[word]
        kind = _INSTEAD.get(word, word)
        things = scene.objects.values()
        options = [o for o in things if o.object_type == kind and not _gone(o)]
        if not options and f"{kind.lower()}-1" in self._names:
            return f"{kind.lower()}-1"
        if not options:
            raise SceneError(f"{scene.scene} has no {kind}")
        best = min(options, key=lambda o: (not o.in_reach, round(o.distance, 2), o.name))
        if best.attributes.get("pickupable"):
            self._chosen[word] = best.name
        return best.name

    def action(self, action: Action, world: World) -> GroundAction:
        """Return the atomic action for a high-level one; the place decides on put_on or put_in."""
        name, *words = action
        args = tuple(self.name(word, world.scene) for word in words)
        if name in _PUTS:
            container = Atom("container", args[1:]) in world.facts(args)
            name = "put_in" if container else "put_on"
        return GroundAction(name, args)

    def fault(self, fault: Fault, scene: SceneGraph) -> Fault:
        what = fault.what
        target, other, place = (
            self.name(word, scene) if word else "" for word in (what.target, what.other, what.place)
        )
        what = replace(what, target=target, other=other, place=place)
        when = fault.when
        if when.target:
            when = replace(when, target=self.name(when.target, scene))
        return replace(fault, what=what, when=when)


def _gone(o: SceneObject) -> bool:
    return bool(o.attributes.get("isSliced") or o.attributes.get("isBroken"))

"""Sensor noise on scene graphs, for what looks at these instead of metadata."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from hvr.errors import UsageError
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.faults.perception import NOISY, with_value


class NoisySense:
    """Distorts each scene graph that it is given, independently of the others.

    Each state that an object can have (`isOpen`, `isToggled`, `isDirty`,
    `isFilledWithLiquid`, `isCooked`) is flipped with a probability, and each object is
    left out with a probability. What is in the hand is felt, and never left out. The robot
    itself acts on what is there, so that errors of the sensor are all that is tried.

    Args:
        flip: probability that a state is wrong.
        unseen: probability that an object is left out.
        seed: the same seed gives the same errors for the same looks.

    Raises:
        UsageError: a probability is not one.
    """

    def __init__(self, flip: float, unseen: float | None = None, seed: int = 0) -> None:
        self.flip = flip
        self.unseen = flip if unseen is None else unseen
        for value in (self.flip, self.unseen):
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"a share of wrong readings is between 0 and 1, not {value}")
        self.errors = 0
        """Number of wrong readings so far."""
        self._chance = random.Random(seed)

    def __call__(self, scene: SceneGraph) -> SceneGraph:
        """Return what is seen of a scene in one look."""
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
        for field, prop in NOISY.items():
            if states.get(prop) and self._chance.random() < self.flip:
                self.errors += 1
                wrong |= with_value(field, not states.get(field))
        if not wrong:
            return thing
        return replace(thing, attributes=MappingProxyType({**states, **wrong}))

"""Perception: from what an environment reports to what the robot believes of the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hvr.execution.belief import (
    Belief,
    Sight,
    first_look,
    not_shut_in,
    seen_objects,
    update,
)
from hvr.execution.fields import fields_of
from hvr.execution.hearing import hear
from hvr.execution.noise import filtered, votes_needed
from hvr.execution.prediction import predict
from hvr.execution.sounds import Sound, sounds
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl.model import Atom
from hvr.values import Value
from hvr.worlds.base import Environment
from hvr.worlds.naming import Names
from hvr.worlds.thor.observe import scene_graph
from hvr.worlds.thor.types import LIDDED

Sense = Callable[[SceneGraph], SceneGraph]
"""A sensor as a function of the scene: the identity for a perfect one."""

_AROUND = (*("RotateRight",) * 4, "LookDown", *("RotateRight",) * 3, "LookUp")
"""A turn level and a turn looking down; looking down itself shows the first view of the latter."""


class Senses(Value):
    """The senses of the robot.

    Args:
        sight: the part of the metadata that it sees.
        error_rate: share of wrong readings that it takes its sensor to have; what surprises
            is then looked at again before it counts (see `hvr.execution.noise`).
        sense: distorts every look, to try that out.
    """

    sight: Sight = Sight.OMNISCIENT
    error_rate: float = 0.0
    sense: Sense | None = None


@dataclass(frozen=True)
class Look:
    """The result of looking after an action.

    Args:
        scene: the scene as it is believed to be.
        seen: names of the objects seen; None for all.
        whole: receptacles whose whole content was seen; empty if everything is seen.
        last_seen: step in which each object had last been seen before.
        sounds: what was heard.
        looks: how often it was looked again.
        found: objects that had never been seen before.
    """

    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sounds: tuple[Sound, ...] = ()
    looks: int = 0
    found: frozenset[str] = frozenset()


class Perception:
    """The robot's eyes and ears, and its belief. The first look is perfect, and but for what is
    behind closed doors with `Sight.DOORS` it sees everything.

    Args:
        env: what is looked at, reset to its scene.
        names: the names of its scene.
        senses: how it is looked at.
        ontology: says which attributes stand behind predicates; hvr's own if None.
    """

    def __init__(
        self, env: Environment, names: Names, senses: Senses, ontology: Ontology | None = None
    ) -> None:
        self.env = env
        self.names = names
        self.senses = senses
        self._fields = fields_of(load_ontology() if ontology is None else ontology)
        self.large: frozenset[str] = frozenset()
        """Receptacles that are too long to be seen as a whole."""
        self._there = scene_graph(env.last_event.metadata, names)  # as the environment has it
        self._belief = first_look(self._there, senses.sight)
        self._opened: frozenset[str] = frozenset()
        """Receptacles that the robot has seen into."""
        if senses.sight is Sight.DOORS:
            _, self._opened = seen_objects(self._there, not_shut_in(self._there), ())
        self._votes = votes_needed(senses.error_rate)

    @property
    def scene(self) -> SceneGraph:
        """The scene as it is believed to be."""
        return self._belief.scene

    @property
    def lost(self) -> tuple[str, ...]:
        """Things that can be carried and are believed to be nowhere."""
        if self.senses.sight is Sight.OMNISCIENT:
            return ()
        return tuple(
            o.name for o in self.scene.objects.values()
            if o.attributes.get("pickupable") and not o.parents and o.name != self.scene.held
            and not (o.attributes.get("isSliced") or o.attributes.get("isBroken"))
        )  # fmt: skip

    @property
    def unopened(self) -> tuple[str, ...]:
        """Places with a closed door of which the robot has never seen the inside."""
        if self.senses.sight is not Sight.DOORS:
            return ()
        return tuple(
            o.name for o in self.scene.objects.values()
            if o.attributes.get("openable") and o.attributes.get("receptacle")
            and not o.attributes.get("isOpen") and o.name not in self._opened
            and o.object_type not in LIDDED
        )  # fmt: skip

    @property
    def stands_at(self) -> tuple[float, float, float]:
        """The position of the robot, (x, y, z) in metres."""
        at = self.env.last_event.metadata["agent"]["position"]
        return at["x"], at["y"], at["z"]

    def look(
        self, step: int, success: bool, added: Iterable[Atom] = (), deleted: Iterable[Atom] = ()
    ) -> Look:
        """Look and listen after an action, and bring the belief up to date.

        Args:
            step: number of the step.
            success: the action was reported as done.
            added: atoms that it should then have made true.
            deleted: atoms that it should then have made false.
        """
        before, self._there = self._there, scene_graph(self.env.last_event.metadata, self.names)
        heard = sounds(before, self._there)
        earlier = self._belief
        if self.senses.sight is Sight.OMNISCIENT and self._votes == 1:
            # All is seen and nothing is doubted, so nothing need be predicted.
            scene = self._sensed(self._there)
            self._belief = Belief(scene, frozenset(), earlier.last_seen)
            return Look(scene, sounds=heard)
        predicted = earlier.scene
        if success:
            predicted = predict(predicted, added, deleted, self.names, self._fields)
        first = self._sensed(self._there)
        if self.senses.sight is Sight.OMNISCIENT:
            scene, looks = filtered(predicted, first, self._again, self._votes)
            self._belief = Belief(scene, frozenset(), earlier.last_seen)
            return Look(scene, sounds=heard, looks=looks)
        seen, whole = seen_objects(self._there, self._visible(), self.large)
        # Hearing comes before filtering: what was heard is no surprise any more.
        predicted = hear(predicted, earlier.scene, heard, self._there)
        observed, looks = filtered(predicted, first, self._again, self._votes, seen)
        self._belief = update(earlier, predicted, observed, seen, whole, step, self.stands_at)
        self._opened |= whole
        found = frozenset(
            n for n in seen if n in earlier.scene.objects and n not in earlier.last_seen
        )
        return Look(self.scene, seen, whole, earlier.last_seen, heard, looks, found)

    def look_around(self, step: int) -> tuple[str, ...]:
        """Turn around once level and once looking down; return the lost things that were found."""
        if self.senses.sight is Sight.DOORS:
            return ()  # what could be seen from here is seen
        lost = self.lost
        for action in _AROUND:
            self.env.step(action=action)
            self.look(step, False)
        return tuple(name for name in lost if name not in self.lost)

    def _again(self) -> SceneGraph:
        self.env.step(action="Pass")
        self._there = scene_graph(self.env.last_event.metadata, self.names)
        return self._sensed(self._there)

    def _sensed(self, scene: SceneGraph) -> SceneGraph:
        return scene if self.senses.sense is None else self.senses.sense(scene)

    def _visible(self) -> frozenset[str]:
        if self.senses.sight is Sight.DOORS:
            return not_shut_in(self._there)
        return frozenset(
            self.names.name(o["objectId"])
            for o in self.env.last_event.metadata["objects"] if o["visible"]
        )  # fmt: skip

"""Perception: turn the environment's report into the robot's belief, filtering sensor noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hvr.execution.belief import (
    Belief,
    Sight,
    belief_after_sounds,
    initial_belief,
    not_enclosed,
    predict,
    seen_objects,
    update_belief,
)
from hvr.execution.noise import NoiseFilter, View
from hvr.execution.observation import AudioEvent, audio_events, fields_of
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl.formulas import Atom
from hvr.values import Value
from hvr.worlds.environment import Environment
from hvr.worlds.naming import Names
from hvr.worlds.thor.observe import scene_graph
from hvr.worlds.thor.types import LIDDED

# Perception ---------------------------------------------------------------------------------------

Sensor = Callable[[SceneGraph], SceneGraph]
"""A sensor as a function of the scene; the identity is a perfect sensor."""

AROUND = (*("RotateRight",) * 4, "LookDown", *("RotateRight",) * 3, "LookUp")
"""A full turn level and one looking down. Looking down already shows the first view of the latter.
"""


class Sightings:
    """Record of when the robot saw each object, counted in looks."""

    def __init__(self) -> None:
        self.looks = 0
        """Number of looks so far."""
        self.seen: dict[str, int] = {}
        """Last look that showed each object."""
        self.whole: dict[str, int] = {}
        """Last look that showed the whole contents of each receptacle."""
        self.unbroken: dict[str, int] = {}
        """First look of the latest unbroken series that showed each object."""
        self.lost: dict[str, int] = {}
        """Look in which the believed place of an object turned out to be wrong."""

    def note(self, seen: Iterable[str], whole: Iterable[str], lost: Iterable[str]) -> None:
        """Record a look."""
        for name in seen:
            if self.seen.get(name) != self.looks - 1:
                self.unbroken[name] = self.looks
            self.seen[name] = self.looks
        self.whole |= dict.fromkeys(whole, self.looks)
        self.lose(lost)
        self.looks += 1

    def lose(self, names: Iterable[str]) -> None:
        """Record that objects are not at their believed places."""
        self.lost |= dict.fromkeys(names, self.looks)


class Sensors(Value):
    """The sensors of the robot.

    Args:
        error_rate: Known share of wrong readings; 0 if it is unknown, then only the estimate of
            `hvr.execution.noise` counts.
    """

    sight: Sight = Sight.OMNISCIENT
    error_rate: float = 0.0
    sense: Sensor | None = None


@dataclass(frozen=True)
class Percept:
    """The result of looking after an action.

    Args:
        seen: Names of the objects seen; None for all.
        whole: Receptacles whose whole contents were seen; empty if everything is seen.
        last_seen: Step in which each object was last seen before.
        looks: Number of additional looks.
        found: Objects seen for the first time.
    """

    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sounds: tuple[AudioEvent, ...] = ()
    looks: int = 0
    found: frozenset[str] = frozenset()


class Perception:
    """The robot's vision, hearing and belief.

    The first look is perfect and complete, except behind closed doors with `Sight.DOORS`.

    Args:
        ontology: Maps predicates to attributes; hvr's own if None.
    """

    def __init__(
        self, env: Environment, names: Names, sensors: Sensors, ontology: Ontology | None = None
    ) -> None:
        self.env = env
        self.names = names
        self.sensors = sensors
        self._fields = fields_of(load_ontology() if ontology is None else ontology)
        self.large: frozenset[str] = frozenset()
        """Receptacles too long to be seen as a whole."""
        self._noise = NoiseFilter(sensors.error_rate)
        self._there = scene_graph(env.last_event.metadata, names)  # the true scene
        if sensors.sight is not Sight.OMNISCIENT or sensors.error_rate:
            # The environment itself may be noisy: two looks that differ show it.
            known = self._there
            self._there = self._noise.settle(known, self._whole_room(), self._whole_room)[0].scene
        self._frames = [self._there]
        self._belief = initial_belief(self._there, sensors.sight)
        self.history = Sightings()
        if sensors.sight is Sight.DOORS:
            seen, whole = seen_objects(self._there, not_enclosed(self._there), ())
            self.history.note(seen, whole, ())
        else:
            self.history.note(self._there.objects, self._there.objects, ())

    @property
    def scene(self) -> SceneGraph:
        """The believed scene."""
        return self._belief.scene

    @property
    def seen(self) -> frozenset[str]:
        """Names of the objects in the last view."""
        everything = self.sensors.sight is Sight.OMNISCIENT
        return frozenset(self.scene.objects) if everything else self._belief.seen

    @property
    def lost(self) -> tuple[str, ...]:
        """Portable objects without a believed place."""
        if self.sensors.sight is Sight.OMNISCIENT:
            return ()
        return tuple(
            o.name
            for o in self.scene.objects.values()
            if o.attributes.get("pickupable")
            and not o.parents
            and o.name != self.scene.held
            and not (o.attributes.get("isSliced") or o.attributes.get("isBroken"))
        )

    @property
    def unopened(self) -> tuple[str, ...]:
        """Closed receptacles whose inside the robot has never seen."""
        return self.inside_unseen if self.sensors.sight is Sight.DOORS else ()

    @property
    def inside_unseen(self) -> tuple[str, ...]:
        """Closed receptacles into which the robot has not looked since the start."""
        if self.sensors.sight is Sight.OMNISCIENT:
            return ()
        # What is known of the room from before the run may have changed behind a closed door.
        known = 0 if self.sensors.sight is Sight.DOORS else 1
        return tuple(
            o.name
            for o in self.scene.objects.values()
            if o.attributes.get("openable")
            and o.attributes.get("receptacle")
            and not o.attributes.get("isOpen")
            and self.history.whole.get(o.name, -1) < known
            and o.object_type not in LIDDED
        )

    @property
    def stands_at(self) -> tuple[float, float, float]:
        """Position of the robot, (x, y, z) in metres."""
        at = self.env.last_event.metadata["agent"]["position"]
        return at["x"], at["y"], at["z"]

    def look(
        self, step: int, success: bool, added: Iterable[Atom] = (), deleted: Iterable[Atom] = ()
    ) -> Percept:
        """Look and listen after an action, and update the belief.

        Args:
            success: Whether the action was reported as done.
            added: Atoms that a successful action should make true.
        """
        earlier = self._belief
        # Sounds come from the environment's frames, in which what was in view may be misread.
        known = {name: earlier.scene.objects[name] for name in earlier.seen}
        before = self._there.replace(objects=MappingProxyType({**self._there.objects, **known}))
        self._there = scene_graph(self.env.last_event.metadata, self.names)
        self._frames = [self._there]
        predicted = earlier.scene
        if success:
            predicted = predict(predicted, added, deleted, self.names, self._fields)
        if self.sensors.sight is Sight.OMNISCIENT:
            view, looks = self._noise.settle(predicted, self._view(), self._again)
            self._belief = Belief(view.scene, frozenset(), earlier.last_seen)
            return Percept(view.scene, sounds=self._heard(before), looks=looks)
        view, looks = self._noise.settle(predicted, self._view(), self._again)
        seen, whole = view.seen or frozenset(), view.whole
        if _had_no_effect(earlier.scene, predicted, view.scene, seen):
            predicted = earlier.scene  # so the effects out of sight are not believed either
        heard = self._heard(before)
        predicted = belief_after_sounds(predicted, earlier.scene, heard, self._there)
        self._belief = update_belief(
            earlier, predicted, view.scene, seen, whole, step, self.stands_at
        )
        self.history.note(seen, whole, _newly_lost(earlier.scene, self.scene))
        found = frozenset(
            n for n in seen if n in earlier.scene.objects and n not in earlier.last_seen
        )
        return Percept(self.scene, seen, whole, earlier.last_seen, heard, looks, found)

    def revise(self, added: Iterable[Atom], deleted: Iterable[Atom]) -> None:
        """Change the belief about unseen objects."""
        earlier = self.scene
        scene = predict(earlier, added, deleted, self.names, self._fields)
        self._belief = replace(self._belief, scene=scene)
        self.history.lose(_newly_lost(earlier, scene))

    def is_fresh(self, name: str, step: int) -> bool:
        """Return whether the robot has seen an object in a step or later.

        An object behind a door also counts as seen if the closed door has been in view since then,
        until that step or later.
        """
        if self.sensors.sight is Sight.OMNISCIENT or name not in self.scene.objects:
            return True
        last, history = self._belief.last_seen, self.history
        if name == self.scene.held or last.get(name, -1) >= step:
            return True
        door = self.shut_in(name)
        if door is None or name not in history.seen or last.get(door, -1) < step:
            return False
        return history.unbroken.get(door, 0) <= history.seen[name]

    def shut_in(self, name: str) -> str | None:
        """Return the outermost closed receptacle around an object."""
        found, objects = None, self.scene.objects
        known: set[str] = set()
        while name in objects and name not in known and objects[name].parents:
            known.add(name)
            name = objects[name].parents[0]
            attributes = objects[name].attributes if name in objects else {}
            if attributes.get("openable") and not attributes.get("isOpen"):
                found = name
        return found

    def can_revise(self, atom: Atom) -> bool:
        """Return whether the scene graph holds a fact, so that `revise` can change it."""
        fields = self._fields
        known = {"on", "in", *fields.flags, *fields.values, *fields.ends}
        return atom.predicate in known and atom.args[0] in self.scene.objects

    def look_around(self, step: int) -> tuple[str, ...]:
        """Turn around once level and once looking down; return the lost objects that were found."""
        if self.sensors.sight is Sight.DOORS:
            return ()  # turning reveals nothing new
        lost = self.lost
        for action in AROUND:
            self.env.step(action=action)
            self.look(step, False)
        return tuple(name for name in lost if name not in self.lost)

    def _again(self) -> View:
        self.env.step(action="Pass")
        self._there = scene_graph(self.env.last_event.metadata, self.names)
        self._frames.append(self._there)
        return self._view()

    def _heard(self, before: SceneGraph) -> tuple[AudioEvent, ...]:
        """Return the sounds of the changes that all frames since then show."""
        first, *others = (audio_events(before, frame) for frame in self._frames)
        return tuple(sound for sound in first if all(sound in heard for heard in others))

    def _whole_room(self) -> View:
        self.env.step(action="Pass")
        return View(scene_graph(self.env.last_event.metadata, self.names))

    def _view(self) -> View:
        scene = self._sensed(self._there)
        if self.sensors.sight is Sight.OMNISCIENT:
            return View(scene)
        seen, whole = seen_objects(self._there, self._visible(), self.large)
        return View(scene, seen & scene.objects.keys(), whole)

    def _sensed(self, scene: SceneGraph) -> SceneGraph:
        return scene if self.sensors.sense is None else self.sensors.sense(scene)

    def _visible(self) -> frozenset[str]:
        if self.sensors.sight is Sight.DOORS:
            return not_enclosed(self._there)
        return frozenset(
            self.names.name(o["objectId"])
            for o in self.env.last_event.metadata["objects"]
            if o["visible"]
        )


def _newly_lost(before: SceneGraph, now: SceneGraph) -> list[str]:
    known = before.objects
    return [
        name
        for name, o in now.objects.items()
        if not o.parents
        and name != now.held
        and (name == before.held or (name in known and known[name].parents))
    ]


def _had_no_effect(
    before: SceneGraph, predicted: SceneGraph, observed: SceneGraph, seen: frozenset[str]
) -> bool:
    """Return whether effects were predicted in view but none is visible."""
    found = False
    if predicted.held != before.held:
        if observed.held == predicted.held:
            return False
        found = True
    for name in seen & predicted.objects.keys() & before.objects.keys():
        then, soon, now = before.objects[name], predicted.objects[name], observed.objects[name]
        changed = [k for k, v in soon.attributes.items() if v != then.attributes.get(k)]
        changes = [soon.attributes[k] == now.attributes.get(k) for k in changed]
        if soon.parents[:1] != then.parents[:1]:
            changes.append(soon.parents[:1] == now.parents[:1])
        if any(changes):
            return False
        found = found or bool(changes)
    return found

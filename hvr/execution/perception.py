"""Perception: turn the environment's report into the robot's belief, filtering sensor noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from hvr.execution.belief import (
    Belief,
    Sight,
    belief_after_sounds,
    initial_belief,
    not_enclosed,
    predict,
    seen_objects,
    update_belief,
    with_attribute,
)
from hvr.execution.observation import AudioEvent, audio_events, fields_of
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl.formulas import Atom
from hvr.values import Value
from hvr.worlds.environment import Environment
from hvr.worlds.naming import Names
from hvr.worlds.thor.observe import scene_graph
from hvr.worlds.thor.types import LIDDED

# Noise --------------------------------------------------------------------------------------------
# A filter for unreliable sensors: a surprising reading must be confirmed before it counts.
#
# Sensor errors are independent between looks. After every action, the robot looks twice. Each
# surprise in either look is put to a vote: looks that show it count for it, others against it.
# It is accepted when it leads by `votes_needed` looks, and rejected when it trails by one. Objects
# missing from a look get further looks.

FALSE_ALARM_RATE = 1e-6
"""Tolerated probability of a false alarm, per fact and step."""

MAX_LOOKS = 25
"""Maximum number of looks; undecided readings then count as expected."""

_FIELDS = (
    *("isOpen", "isToggled", "isSliced", "isBroken", "isCooked", "isDirty", "isFilledWithLiquid"),
    *("fillLiquid", "temperature"),
)
_HELD = ("", "held")
_Key: TypeAlias = tuple[str, str]


def votes_needed(error_rate: float) -> int:
    """Return the lead in votes that a surprising reading needs to be accepted.

    A lead of k votes is wrong with a probability of about (p / (1 - p))^k at error rate p
    (gambler's ruin). So k is 1 for a perfect sensor, and 5 for a sensor with 5 % wrong readings.

    Args:
        error_rate: Share of wrong readings, at least 0 and below 0.5.
    """
    if error_rate <= 0.0:
        return 1
    return math.ceil(math.log(FALSE_ALARM_RATE) / math.log(error_rate / (1.0 - error_rate)))


def filter_noise(
    expected: SceneGraph,
    first: SceneGraph,
    look: Callable[[], SceneGraph],
    votes: int,
    among: Collection[str] | None = None,
) -> tuple[SceneGraph, int]:
    """Return a look at a scene without the surprises that further looks do not confirm.

    Objects missing from the first look get at most `votes` - 1 further looks.

    Args:
        votes: Lead required, see `votes_needed`; 1 accepts the first look.

    Returns:
        The scene graph, and the number of further looks.
    """
    if votes <= 1:
        return first, 0
    seen, looks = _completed(expected, first, look, votes - 1, among)
    readings = dict(_surprises(expected, seen, among))
    # Votes for each surprise minus votes against it. The look that showed it is its first vote.
    ahead = dict.fromkeys(readings, 1)
    refuted: set[_Key] = set()
    confirmed: set[_Key] = set()
    new: dict[str, SceneObject] = {}
    for number in range(MAX_LOOKS):
        again = look()
        looks += 1
        for key, value in _surprises(expected, again, among) if number == 0 else ():
            # The first look did not show it: one vote against. This look's vote is added below.
            if key not in readings:
                readings[key], ahead[key] = value, -1
                new |= {key[0]: again.objects[key[0]]} if key[1] == "there" else {}
        for key in list(ahead):
            ahead[key] += 1 if _reading(again, key) == readings[key] else -1
            # The margins are asymmetric: the domain supports the expected reading, and a real
            # surprise that is rejected shows again after the next action.
            if ahead[key] >= votes or ahead[key] < 0:
                (confirmed if ahead[key] > 0 else refuted).add(key)
                del ahead[key]
        if not ahead:
            break
    seen = _with(seen, {key: readings[key] for key in confirmed}, new)
    return _corrected(seen, expected, refuted | ahead.keys()), looks


def _completed(
    expected: SceneGraph,
    first: SceneGraph,
    look: Callable[[], SceneGraph],
    most: int,
    among: Collection[str] | None,
) -> tuple[SceneGraph, int]:
    """Return a look completed by the objects that it missed, and the number of further looks."""
    wanted = expected.objects.keys() if among is None else expected.objects.keys() & set(among)
    missed = wanted - first.objects.keys()
    objects = dict(first.objects)
    looks = 0
    while missed and looks < most:
        again = look()
        looks += 1
        objects |= {name: again.objects[name] for name in missed & again.objects.keys()}
        missed -= again.objects.keys()
    return first.replace(objects=MappingProxyType(objects)), looks


def _surprises(
    expected: SceneGraph, seen: SceneGraph, among: Collection[str] | None
) -> Iterator[tuple[_Key, Any]]:
    """Yield the readings that differ from the expected ones; missing objects do not count."""
    if seen.held != expected.held:
        yield _HELD, seen.held
    for name, now in seen.objects.items():
        if among is not None and name not in among:
            continue
        then = expected.objects.get(name)
        if then is None:
            yield (name, "there"), True
            continue
        for attribute in (*_FIELDS, "parents"):
            value = _value(now, attribute)
            if value != _value(then, attribute):
                yield (name, attribute), value


def _reading(scene: SceneGraph, key: _Key) -> Any:
    """Return a look's reading for a key; None, which matches no reading, for a missed object."""
    name, attribute = key
    if key == _HELD:
        return scene.held
    o = scene.objects.get(name)
    if attribute == "there":
        return o is not None
    return None if o is None else _value(o, attribute)


def _value(o: SceneObject, attribute: str) -> Any:
    if attribute == "parents":
        return o.parents[:1]
    default = "RoomTemp" if attribute == "temperature" else False
    return o.attributes.get(attribute) or default


def _with(
    seen: SceneGraph, confirmed: Mapping[_Key, Any], new: Mapping[str, SceneObject]
) -> SceneGraph:
    objects = dict(seen.objects)
    held = seen.held
    for (name, attribute), value in confirmed.items():
        if (name, attribute) == _HELD:
            held = value
        elif attribute == "there":
            objects.setdefault(name, new.get(name) or objects[name])
        elif name in objects and _value(objects[name], attribute) != value:
            objects[name] = _set(objects[name], attribute, value)
    return seen.replace(objects=MappingProxyType(objects), held=held)


def _corrected(seen: SceneGraph, expected: SceneGraph, refuted: Collection[_Key]) -> SceneGraph:
    objects = dict(seen.objects)
    held = seen.held
    for key in refuted:
        name, attribute = key
        if key == _HELD:
            held = expected.held
        elif attribute == "there":
            objects.pop(name, None)
        elif name in objects:
            then = expected.objects[name]
            value = then.parents if attribute == "parents" else then.attributes.get(attribute)
            objects[name] = _set(objects[name], attribute, value)
    return seen.replace(objects=MappingProxyType(objects), held=held)


def _set(o: SceneObject, attribute: str, value: Any) -> SceneObject:
    if attribute == "parents":
        return replace(o, parents=value)
    return with_attribute(o, attribute, value)


# Perception ---------------------------------------------------------------------------------------

Sensor = Callable[[SceneGraph], SceneGraph]
"""A sensor as a function of the scene; the identity is a perfect sensor."""

_AROUND = (*("RotateRight",) * 4, "LookDown", *("RotateRight",) * 3, "LookUp")
"""A full turn level and one looking down. Looking down already shows the first view of the latter.
"""


class Sensors(Value):
    """The sensors of the robot.

    Args:
        error_rate: Assumed share of wrong readings. Above 0, surprises must be confirmed by further
            looks (see `votes_needed`).
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
        self._there = scene_graph(env.last_event.metadata, names)  # the true scene
        self._belief = initial_belief(self._there, sensors.sight)
        self._opened: frozenset[str] = frozenset()
        """Receptacles whose inside the robot has seen."""
        if sensors.sight is Sight.DOORS:
            _, self._opened = seen_objects(self._there, not_enclosed(self._there), ())
        self._votes = votes_needed(sensors.error_rate)

    @property
    def scene(self) -> SceneGraph:
        """The believed scene."""
        return self._belief.scene

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
        if self.sensors.sight is not Sight.DOORS:
            return ()
        return tuple(
            o.name
            for o in self.scene.objects.values()
            if o.attributes.get("openable")
            and o.attributes.get("receptacle")
            and not o.attributes.get("isOpen")
            and o.name not in self._opened
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
        before, self._there = self._there, scene_graph(self.env.last_event.metadata, self.names)
        heard = audio_events(before, self._there)
        earlier = self._belief
        if self.sensors.sight is Sight.OMNISCIENT and self._votes == 1:
            # Everything is seen without noise, so no prediction is needed.
            scene = self._sensed(self._there)
            self._belief = Belief(scene, frozenset(), earlier.last_seen)
            return Percept(scene, sounds=heard)
        predicted = earlier.scene
        if success:
            predicted = predict(predicted, added, deleted, self.names, self._fields)
        first = self._sensed(self._there)
        if self.sensors.sight is Sight.OMNISCIENT:
            scene, looks = filter_noise(predicted, first, self._again, self._votes)
            self._belief = Belief(scene, frozenset(), earlier.last_seen)
            return Percept(scene, sounds=heard, looks=looks)
        seen, whole = seen_objects(self._there, self._visible(), self.large)
        # Listen before filtering: a change that was heard is no longer a surprise.
        predicted = belief_after_sounds(predicted, earlier.scene, heard, self._there)
        observed, looks = filter_noise(predicted, first, self._again, self._votes, seen)
        self._belief = update_belief(
            earlier, predicted, observed, seen, whole, step, self.stands_at
        )
        self._opened |= whole
        found = frozenset(
            n for n in seen if n in earlier.scene.objects and n not in earlier.last_seen
        )
        return Percept(self.scene, seen, whole, earlier.last_seen, heard, looks, found)

    def revise(self, added: Iterable[Atom], deleted: Iterable[Atom]) -> None:
        """Change the belief about unseen objects."""
        scene = predict(self.scene, added, deleted, self.names, self._fields)
        self._belief = replace(self._belief, scene=scene)

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
        for action in _AROUND:
            self.env.step(action=action)
            self.look(step, False)
        return tuple(name for name in lost if name not in self.lost)

    def _again(self) -> SceneGraph:
        self.env.step(action="Pass")
        self._there = scene_graph(self.env.last_event.metadata, self.names)
        return self._sensed(self._there)

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

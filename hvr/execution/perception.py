"""Perception: turn the environment's report into the robot's belief, and filter sensor noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

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
from hvr.worlds.thor.observe import LIDDED, Names, scene_graph

# Noise --------------------------------------------------------------------------------------------
# Noise: which surprising readings to accept, and the error rate of the sensors.
#
# Sensor errors are independent between looks. A surprise, that is a reading other than the
# expected one, is put to a vote: looks that show it count for it, others against it. It is
# accepted when it leads by `votes_needed` looks, and rejected when it trails by one. The error
# rate behind this number is estimated for each kind of reading, from readings that later looks
# outvoted.

FALSE_ALARM_RATE = 1e-6
"""Tolerated probability of a false alarm, per fact and step."""

MAX_LOOKS = 25
"""Maximum number of observations of a scene; readings that are still undecided count as expected.
"""

_PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "isOpen": "openable",
        "isToggled": "toggleable",
        "isSliced": "sliceable",
        "isBroken": "breakable",
        "isCooked": "cookable",
        "isDirty": "dirtyable",
        "isFilledWithLiquid": "canFillWithLiquid",
        "fillLiquid": "canFillWithLiquid",
    }
)
"""For each state attribute, the property of objects that can have it."""

_FIELDS = (*_PROPERTIES, "temperature", "parents")
_DRIFTING = frozenset({"temperature"})
"""Attributes that change by themselves."""

_HELD = ("", "held")
_THERE = "there"
_Key: TypeAlias = tuple[str, str]


def votes_needed(error_rate: float) -> float:
    """Return how many more votes a surprising reading needs than the expected one.

    A lead of k votes is wrong with a probability of about (p / (1 - p))^k at error rate p
    (gambler's ruin). So k is 1 for a perfect sensor, 5 for a sensor with 5 % wrong readings, and
    infinite for a sensor that is no better than chance.
    """
    if error_rate <= 0.0:
        return 1
    if error_rate >= 0.5:
        return math.inf
    return math.ceil(math.log(FALSE_ALARM_RATE) / math.log(error_rate / (1.0 - error_rate)))


class View(NamedTuple):
    """One observation of a scene.

    Args:
        seen: Names of the objects in view; None means all.
        whole: Receptacles whose whole contents are in view.
        surprises: Unexpected readings that were accepted, as pairs of an object and an attribute.
    """

    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()
    surprises: frozenset[tuple[str, str]] = frozenset()


class _Counts(NamedTuple):
    """Numbers of right and wrong readings of each kind, and of undecided surprising readings."""

    right: Counter[str]
    wrong: Counter[str]
    open: int = 0


class NoiseFilter:
    """Decides on surprising readings by further observations, and estimates the error rate.

    The estimate never falls below the known error rate.
    """

    def __init__(self, told: float = 0.0) -> None:
        self._told = told
        self._right = Counter[str]()
        self._wrong = Counter[str]()

    def rate(self, kind: str) -> float:
        """Return the estimated error rate of readings of an attribute such as `isOpen`."""
        return self._rate(kind, _Counts(self._right, self._wrong))

    def _rate(self, kind: str, counts: _Counts) -> float:
        # Kinds of readings are taken to share a rate (estimated with Jeffreys' prior), except kinds
        # that would have shown an error by now. Until some reading was certainly wrong, undecided
        # surprises count as wrong: the assumption that they have to refute.
        right, wrong, errors = counts.right, counts.wrong, counts.wrong.total()
        others = sum(right[k] for k in wrong if wrong[k] > 0)
        if not errors:
            errors, others = counts.open, right.total()
        shared = (errors + 0.5) / (errors + others + 1.0)
        own = (wrong[kind] + shared) / (wrong[kind] + right[kind] + 1.0)
        exact = not wrong[kind] and (1.0 - shared) ** right[kind] < FALSE_ALARM_RATE
        return max(self._told, own if exact else max(own, shared))

    def settle(
        self, expected: SceneGraph, first: View, look: Callable[[], View]
    ) -> tuple[View, int]:
        """Observe until all surprises are decided, or at most `MAX_LOOKS` times.

        Undecided surprises are rejected. Returns the view and the number of further observations.
        """
        ballot = _Ballot(expected, first)
        if ballot.open or self._told:
            for _ in range(MAX_LOOKS):
                ballot.add(look())
                counts = ballot.counts(self._right, self._wrong)
                ballot.close({k: votes_needed(self._rate(k, counts)) for k in ballot.open_kinds()})
                if not ballot.open:
                    break
        self._right, self._wrong, _ = ballot.counts(self._right, self._wrong)
        return ballot.result(), len(ballot.views) - 1


class _Ballot:
    """Votes of several observations on the surprising readings of one moment."""

    def __init__(self, expected: SceneGraph, first: View) -> None:
        self.expected = expected
        self.views: list[View] = []
        self.surprises: dict[_Key, Any] = {}
        self.open: dict[_Key, int] = {}
        """Votes for each undecided surprise minus the votes against it."""
        self.accepted: set[_Key] = set()
        self._readings: list[dict[_Key, Any]] = []
        self._total = Counter[str]()
        self._missed = 0  # objects in view that a look did not show
        self._off = Counter[str]()  # readings other than expected
        self.add(first)

    def add(self, view: View) -> None:
        """Count an observation's votes; only a key's first two readings can open a surprise."""
        readings = dict(_readings(self.expected, view))
        for key in self.open:
            if key in readings:
                self.open[key] += 1 if readings[key] == self.surprises[key] else -1
        for key, value in readings.items():
            self._total[key[1]] += 1
            if value == _expected(self.expected, key):
                continue
            self._off[key[1]] += 1
            against = sum(key in earlier for earlier in self._readings)
            if key not in self.surprises and against < 2:
                self.surprises[key] = value
                self.open[key] = 1 - against
        self.views.append(view)
        self._readings.append(readings)
        # The robot does not move, so what one look shows is in view in all of them.
        shown = {name for read in self._readings for name, kind in read if kind == _THERE}
        self._missed = sum((n, _THERE) not in read for read in self._readings for n in shown)

    def open_kinds(self) -> set[str]:
        return {kind for _, kind in self.open}

    def close(self, votes: Mapping[str, float]) -> None:
        # The margins are asymmetric: the domain supports the expected reading, and a real surprise
        # that is rejected shows again after the next action.
        for key, lead in list(self.open.items()):
            if lead >= votes[key[1]] or lead < 0:
                self.accepted |= {key} if lead > 0 else set()
                del self.open[key]

    def counts(self, right: Counter[str], wrong: Counter[str]) -> _Counts:
        off, undecided = self._off.copy(), 0
        for key, value in self.surprises.items():
            shown = [readings[key] for readings in self._readings if key in readings]
            surprising = sum(one != _expected(self.expected, key) for one in shown)
            if key in self.accepted:
                off[key[1]] += sum(one != value for one in shown) - surprising
            elif key in self.open:
                off[key[1]] -= surprising
                undecided += surprising
        off[_THERE] += self._missed
        right = right + self._total
        right[_THERE] += self._missed
        right.subtract(off)
        return _Counts(right, wrong + off, undecided)

    def result(self) -> View:
        """Return the first view, completed by the other views and corrected by the votes."""
        first = self.views[0]
        if not self.surprises and len(self.views) == 1:
            return first
        objects: dict[str, SceneObject] = {}
        for view in self.views:
            for name, o in view.scene.objects.items():
                if (view.seen is None or name in view.seen) and self._exists(name):
                    objects.setdefault(name, o)
        if first.seen is None:  # an undecided absence
            gone = {name for name, kind in self.accepted if kind == _THERE}
            kept = self.expected.objects.keys() - objects.keys() - gone
            objects |= {name: self.expected.objects[name] for name in kept}
        held = first.scene.held
        for key, value in self.surprises.items():
            name, kind = key
            settled = value if key in self.accepted else _expected(self.expected, key)
            if key == _HELD:
                held = settled
            elif kind == _THERE:
                if not settled:
                    objects.pop(name, None)
            elif name in objects:
                objects[name] = self._corrected(objects[name], kind, settled)
        seen = None if first.seen is None else frozenset(objects)
        half = len(self.views) / 2
        whole = Counter(name for view in self.views for name in view.whole)
        # What is not in view keeps its place in the scene, for the names and kinds of its objects.
        others = {} if seen is None else dict(first.scene.objects)
        scene = first.scene.replace(objects=MappingProxyType(others | objects), held=held)
        full = frozenset(n for n, count in whole.items() if count > half)
        return View(scene, seen, full, frozenset(self.accepted))

    def _exists(self, name: str) -> bool:
        return name in self.expected.objects or (name, _THERE) in self.accepted

    def _corrected(self, o: SceneObject, kind: str, value: Any) -> SceneObject:
        scenes = (*(view.scene for view in self.views), self.expected)
        known = (scene.objects[o.name] for scene in scenes if o.name in scene.objects)
        source = next((other for other in known if _value(other, kind) == value), o)
        if kind == "parents":
            return replace(o, parents=source.parents)
        for attribute in (kind, "openness") if kind == "isOpen" else (kind,):
            if attribute in source.attributes:
                o = with_attribute(o, attribute, source.attributes[attribute])
        return o


def _readings(expected: SceneGraph, view: View) -> Iterator[tuple[_Key, Any]]:
    yield _HELD, view.scene.held
    for name, o in view.scene.objects.items():
        if view.seen is not None and name not in view.seen:
            continue
        yield (name, _THERE), True
        then = expected.objects.get(name)
        if then is None:
            continue
        for kind in _FIELDS:
            value, known = _value(o, kind), _value(then, kind)
            can = _PROPERTIES.get(kind)
            if can is None or value or known or o.attributes.get(can):
                yield (name, kind), value
    for name, then in expected.objects.items():
        if view.seen is None:
            missed = name not in view.scene.objects
        else:
            missed = then.parents[:1] != () and then.parents[0] in view.whole
            missed = missed and name not in view.seen
        if missed:
            yield (name, _THERE), False


def _expected(scene: SceneGraph, key: _Key) -> Any:
    name, kind = key
    if key == _HELD:
        return scene.held
    if kind == _THERE:
        return name in scene.objects
    return _value(scene.objects[name], kind)


def _value(o: SceneObject, kind: str) -> Any:
    if kind == "parents":
        return o.parents[:1]
    default = "RoomTemp" if kind == "temperature" else False
    return o.attributes.get(kind) or default


# Perception ---------------------------------------------------------------------------------------

Sensor = Callable[[SceneGraph], SceneGraph]
"""A function from the true scene to the sensed scene; a perfect sensor returns the scene unchanged.
"""

AROUND = (*("RotateRight",) * 4, "LookDown", *("RotateRight",) * 3, "LookUp")
"""A full turn at eye level and one looking down. Looking down already shows the second turn's first
view, so three rotations complete it.
"""


class Sightings:
    """The time at which the robot last saw each object, counted in observations."""

    def __init__(self) -> None:
        self.looks = 0
        """Number of looks so far."""
        self.seen: dict[str, int] = {}
        """Number of the last look that showed each object."""
        self.whole: dict[str, int] = {}
        """Number of the last look that showed the whole contents of each receptacle."""
        self.doubted: frozenset[_Key] = frozenset()
        """Readings that were a surprise and were not confirmed since, by acting or a full turn."""
        self.lost: dict[str, int] = {}
        """Look in which the believed place of an object turned out to be wrong."""

    def note(self, seen: Iterable[str], whole: Iterable[str], lost: Iterable[str]) -> None:
        self.seen |= dict.fromkeys(seen, self.looks)
        self.whole |= dict.fromkeys(whole, self.looks)
        self.lose(lost)
        self.looks += 1

    def doubt(self, surprises: Iterable[_Key], confirmed: Collection[_Key]) -> None:
        """Remove confirmed readings from `doubted`, and add surprising ones.

        Readings of attributes that change by themselves are not added.
        """
        new = frozenset(key for key in surprises if key[1] not in _DRIFTING)
        self.doubted = self.doubted.difference(confirmed) | new

    def lose(self, names: Iterable[str]) -> None:
        self.lost |= dict.fromkeys(names, self.looks)


class Sensors(Value):
    """The sensors of the robot.

    Args:
        error_rate: Known share of wrong readings; 0 if unknown, in which case `NoiseFilter`
            estimates it.
    """

    sight: Sight = Sight.OMNISCIENT
    error_rate: float = 0.0
    sense: Sensor | None = None


@dataclass(frozen=True)
class Percept:
    """The result of observing the scene after an action.

    Args:
        seen: Names of the objects seen; None means all.
        whole: Receptacles whose whole contents were seen; empty if everything is seen.
        last_seen: Last step before this one in which each object was seen.
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

    The first observation is perfect and complete; with `Sight.DOORS`, it excludes the contents of
    closed receptacles.
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
        return self._belief.scene

    @property
    def seen(self) -> frozenset[str]:
        """Names of the objects in the last view."""
        everything = self.sensors.sight is Sight.OMNISCIENT
        return frozenset(self.scene.objects) if everything else self._belief.seen

    @property
    def lost(self) -> tuple[str, ...]:
        """Whole portable objects without a believed place; empty if the robot sees everything."""
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
        """Closed receptacles into which the robot has never looked; only with `Sight.DOORS`."""
        return self.inside_unseen if self.sensors.sight is Sight.DOORS else ()

    @property
    def inside_unseen(self) -> tuple[str, ...]:
        """Closed receptacles without lids that the robot has not looked into since the start.

        There are none if the robot sees everything.
        """
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
            success: Whether the environment reported success.
            added, deleted: Effects that a successful action should have.
        """
        earlier = self._belief
        # Sounds come from the environment's frames, in which visible objects may be misread.
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
        self.history.doubt(view.surprises, _done(earlier.scene, predicted, seen))
        found = frozenset(
            n for n in seen if n in earlier.scene.objects and n not in earlier.last_seen
        )
        return Percept(self.scene, seen, whole, earlier.last_seen, heard, looks, found)

    def revise(self, added: Iterable[Atom], deleted: Iterable[Atom]) -> None:
        """Make atoms true (`added`) and false (`deleted`) in the belief about unseen objects."""
        earlier = self.scene
        scene = predict(earlier, added, deleted, self.names, self._fields)
        self._belief = replace(self._belief, scene=scene)
        self.history.lose(_newly_lost(earlier, scene))

    def is_fresh(self, name: str, step: int) -> bool:
        """Return whether the robot has seen an object in or after a step.

        A surprising reading counts only after confirmation, since the sensor may misread several
        times in a row. The held object and unknown objects are always fresh.
        """
        if self.sensors.sight is Sight.OMNISCIENT or name not in self.scene.objects:
            return True
        if name == self.scene.held:
            return True
        return name not in self.doubted and self._belief.last_seen.get(name, -1) >= step

    @property
    def doubted(self) -> frozenset[str]:
        """Objects with a surprising reading that no later action or full turn has confirmed."""
        return frozenset(name for name, _ in self.history.doubted)

    def shut_in(self, name: str) -> str | None:
        """Return the outermost closed receptacle that contains an object, or None."""
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
        """Return whether the scene graph can represent a fact, so that `revise` can change it."""
        fields = self._fields
        known = {"on", "in", *fields.flags, *fields.values, *fields.ends}
        return atom.predicate in known and atom.args[0] in self.scene.objects

    def look_around(self, step: int) -> tuple[str, ...]:
        """Turn around at eye level and looking down; return the lost objects that were found.

        With `Sight.DOORS`, the robot turns only if a reading is doubted.
        """
        doubted = self.history.doubted
        if self.sensors.sight is Sight.DOORS and not doubted:
            return ()  # turning reveals nothing new
        lost = self.lost
        for action in AROUND:
            before = self.history.looks
            self.history.doubted = frozenset()
            self.env.step(action=action)
            self.look(step, False)
            seen = {n for n, look in self.history.seen.items() if look >= before}
            doubted = frozenset(key for key in doubted if key[0] not in seen)
            doubted |= self.history.doubted
        self.history.doubted = doubted
        return tuple(name for name in lost if name not in self.lost)

    def _again(self) -> View:
        self.env.step(action="Pass")
        self._there = scene_graph(self.env.last_event.metadata, self.names)
        self._frames.append(self._there)
        return self._view()

    def _heard(self, before: SceneGraph) -> tuple[AudioEvent, ...]:
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


def _done(before: SceneGraph, predicted: SceneGraph, seen: frozenset[str]) -> set[_Key]:
    return {
        (name, kind)
        for name in seen & before.objects.keys() & predicted.objects.keys()
        if (then := before.objects[name]) is not (soon := predicted.objects[name])
        for kind in _FIELDS
        if _value(then, kind) != _value(soon, kind)
    }


def _had_no_effect(
    before: SceneGraph, predicted: SceneGraph, observed: SceneGraph, seen: frozenset[str]
) -> bool:
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

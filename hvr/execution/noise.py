"""Noise: which surprising readings to accept, and the error rate of the sensors.

Sensor errors are independent between looks. A surprise, that is a reading other than the expected
one, is put to a vote: looks that show it count for it, others against it. It is accepted when it
leads by `votes_needed` looks, and rejected when it trails by one. The error rate behind this number
is estimated for each kind of reading, from readings that later looks outvoted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from hvr.execution.belief import with_attribute
from hvr.knowledge.scene_graph import SceneGraph, SceneObject

FALSE_ALARM_RATE = 1e-6
"""Tolerated probability of a false alarm, per fact and step."""

MAX_LOOKS = 25
"""Maximum number of looks; undecided readings then count as expected."""

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
"""The property that an object needs to have a state."""

_FIELDS = (*_PROPERTIES, "temperature", "parents")
_HELD = ("", "held")
_THERE = "there"
_Key: TypeAlias = tuple[str, str]


def votes_needed(error_rate: float) -> float:
    """Return the lead in votes that a surprising reading needs to be accepted.

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
    """One look at a scene.

    Args:
        scene: The readings.
        seen: Names of the objects in view; None for all.
        whole: Receptacles whose whole contents are in view.
    """

    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()


class _Counts(NamedTuple):
    """Numbers of right and wrong readings by kind, and of undecided surprising ones."""

    right: Counter[str]
    wrong: Counter[str]
    open: int = 0


class NoiseFilter:
    """Settles surprising readings by further looks, and estimates the sensors' error rate.

    Args:
        told: Known share of wrong readings, which the estimate never falls below; 0 if unknown.
    """

    def __init__(self, told: float = 0.0) -> None:
        self._told = told
        self._right = Counter[str]()
        self._wrong = Counter[str]()

    def rate(self, kind: str) -> float:
        """Return the estimated share of wrong readings of a kind, such as `isOpen`."""
        return self._rate(kind, _Counts(self._right, self._wrong))

    def _rate(self, kind: str, counts: _Counts) -> float:
        # Kinds of readings are taken to share a rate (estimated with Jeffreys' prior), except those
        # that would have been wrong by now. As long as no reading was certainly wrong, undecided
        # surprises count as wrong: that is the assumption that they have to refute.
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
        """Return a view without the surprises that further looks do not confirm.

        Returns:
            The view, and the number of further looks.
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
    """The votes on the surprises of one moment."""

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
        """Count a look's votes; a surprise is new in the first two looks at its object."""
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
        """Return the given numbers of right and wrong readings plus the present ones."""
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
        """Return the first look, completed by the others and corrected by the votes."""
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
        return View(scene, seen, frozenset(n for n, count in whole.items() if count > half))

    def _exists(self, name: str) -> bool:
        return name in self.expected.objects or (name, _THERE) in self.accepted

    def _corrected(self, o: SceneObject, kind: str, value: Any) -> SceneObject:
        scenes = (*(view.scene for view in self.views), self.expected)
        known = (scene.objects[o.name] for scene in scenes if o.name in scene.objects)
        source = next((other for other in known if _value(other, kind) == value), o)
        if kind == "parents":
            return replace(o, parents=source.parents)
        for field in (kind, "openness") if kind == "isOpen" else (kind,):
            if field in source.attributes:
                o = with_attribute(o, field, source.attributes[field])
        return o


def _readings(expected: SceneGraph, view: View) -> Iterator[tuple[_Key, Any]]:
    """Yield the readings of a look that could differ from the expected ones."""
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

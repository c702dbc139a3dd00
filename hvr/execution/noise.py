"""A filter for unreliable sensors: what surprises is looked at again before it counts.

The errors of a noisy sensor are independent from look to look. After every action the robot
looks twice. What surprises in either look is put to the vote: every look that shows it counts
for it, every other look against it. It is believed with `votes_needed` more looks for it than
against it, and dropped with one more against it than for it. A thing that is missing from a
look is looked for again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from hvr.knowledge.scene_graph import SceneGraph, SceneObject

TOLERATED = 1e-6
"""Tolerated probability of a false alarm, per fact and step."""

MOST_LOOKS = 25
"""Looks after which what is still undecided is taken to be as expected."""

_FIELDS = (
    *("isOpen", "isToggled", "isSliced", "isBroken", "isCooked", "isDirty", "isFilledWithLiquid"),
    *("fillLiquid", "temperature"),
)
_HELD = ("", "held")
_Key: TypeAlias = tuple[str, str]


def votes_needed(error_rate: float) -> int:
    """Return how many more looks must speak for a surprising reading than against it.

    A vote of k ahead is wrong with a probability of about (p / (1 - p))^k at an error rate of p
    (gambler's ruin). So k is 1 for a perfect sensor, and 5 for one that is wrong in 5 % of its
    readings.

    Args:
        error_rate: share of wrong readings, from 0 to below 0.5.
    """
    if error_rate <= 0.0:
        return 1
    return math.ceil(math.log(TOLERATED) / math.log(error_rate / (1.0 - error_rate)))


def filtered(
    expected: SceneGraph,
    first: SceneGraph,
    look: Callable[[], SceneGraph],
    votes: int,
    among: Collection[str] | None = None,
) -> tuple[SceneGraph, int]:
    """Return a look at a scene without the surprises that further looks do not confirm.

    What is missing from the first look is looked for again, `votes` - 1 times at most.

    Args:
        expected: what should be seen.
        first: what was seen.
        look: looks again.
        votes: see `votes_needed`; 1 takes the first look as it is.
        among: names of the objects that are seen; None for all.

    Returns:
        the scene graph, and how many further looks it took.
    """
    if votes <= 1:
        return first, 0
    seen, looks = _completed(expected, first, look, votes - 1, among)
    readings = dict(_surprises(expected, seen, among))
    # Votes for each surprise minus votes against it; the look that showed it is one for it.
    ahead = dict.fromkeys(readings, 1)
    refuted: set[_Key] = set()
    confirmed: set[_Key] = set()
    new: dict[str, SceneObject] = {}
    for number in range(MOST_LOOKS):
        again = look()
        looks += 1
        for key, value in _surprises(expected, again, among) if number == 0 else ():
            # The first look may have hidden it: one look for it, and one against it.
            if key not in readings:
                readings[key], ahead[key] = value, -1
                new |= {key[0]: again.objects[key[0]]} if key[1] == "there" else {}
        for key in list(ahead):
            ahead[key] += 1 if _reading(again, key) == readings[key] else -1
            # Not the same margin either way: what is expected has the domain to speak for it,
            # and a true surprise that is dropped shows again after the next action.
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
    """Return a look completed by the objects that it missed, from a few further looks, and how
    many these were.
    """
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
    """Yield the readings that differ from what is expected; missing objects are none."""
    if seen.held != expected.held:
        yield _HELD, seen.held
    for name, now in seen.objects.items():
        if among is not None and name not in among:
            continue
        then = expected.objects.get(name)
        if then is None:
            yield (name, "there"), True
            continue
        for field in (*_FIELDS, "parents"):
            value = _value(now, field)
            if value != _value(then, field):
                yield (name, field), value


def _reading(scene: SceneGraph, key: _Key) -> Any:
    """Return what a look shows for a key; None, which agrees with nothing, for a missed object."""
    name, field = key
    if key == _HELD:
        return scene.held
    o = scene.objects.get(name)
    if field == "there":
        return o is not None
    return None if o is None else _value(o, field)


def _value(o: SceneObject, field: str) -> Any:
    """Return a field as it is compared: the innermost receptacle; False and absent are the same."""
    if field == "parents":
        return o.parents[:1]
    default = "RoomTemp" if field == "temperature" else False
    return o.attributes.get(field) or default


def _with(
    seen: SceneGraph, confirmed: Mapping[_Key, Any], new: Mapping[str, SceneObject]
) -> SceneGraph:
    """Return a look with the confirmed readings where it does not show them."""
    objects = dict(seen.objects)
    held = seen.held
    for (name, field), value in confirmed.items():
        if (name, field) == _HELD:
            held = value
        elif field == "there":
            objects.setdefault(name, new.get(name) or objects[name])
        elif name in objects and _value(objects[name], field) != value:
            objects[name] = _set(objects[name], field, value)
    return seen.replace(objects=MappingProxyType(objects), held=held)


def _corrected(seen: SceneGraph, expected: SceneGraph, refuted: Collection[_Key]) -> SceneGraph:
    """Return a look with the expected readings in place of the refuted ones."""
    objects = dict(seen.objects)
    held = seen.held
    for key in refuted:
        name, field = key
        if key == _HELD:
            held = expected.held
        elif field == "there":
            objects.pop(name, None)
        elif name in objects:
            then = expected.objects[name]
            value = then.parents if field == "parents" else then.attributes.get(field)
            objects[name] = _set(objects[name], field, value)
    return seen.replace(objects=MappingProxyType(objects), held=held)


def _set(o: SceneObject, field: str, value: Any) -> SceneObject:
    if field == "parents":
        return replace(o, parents=value)
    return replace(o, attributes=MappingProxyType({**o.attributes, field: value}))

"""Faults by somebody else: choose an object, then move it, change it or put it in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

from hvr.worlds.base import Environment, Event
from hvr.worlds.faults import choice, others
from hvr.worlds.faults.fault import FaultKind
from hvr.worlds.faults.trigger import Trigger
from hvr.worlds.naming import Names

_TRIES = 6


@runtime_checkable
class Restorable(Protocol):
    """An environment that can go back to a moment."""

    def snapshot(self) -> Any:
        """Return the present moment."""
        ...

    def restore(self, snapshot: Any) -> Event:
        """Go back to a moment."""
        ...


def interfere(env: Environment, names: Names, trigger: Trigger, target: str) -> tuple[str, ...]:
    """Have somebody move, change or occupy what a fault says, or what its seed chooses.

    Args:
        env: where.
        names: the names of its scene.
        trigger: of a fault of the kinds MOVED, CHANGED, OCCUPIED.
        target: id of the object of the robot's action; empty without one.

    Returns:
        ids of what was changed, the most affected first; empty when nothing could be done.
    """
    options = {
        FaultKind.OCCUPIED: _occupations,
        FaultKind.MOVED: _moves,
        FaultKind.CHANGED: _changes,
    }[trigger.fault.kind]
    return next(
        (ids for ids, deed, args in options(env, names, trigger, target) if _try(env, deed, *args)),
        (),
    )


_Option = tuple[tuple[str, ...], Callable[..., bool], tuple[Any, ...]]


def _occupations(
    env: Environment, names: Names, trigger: Trigger, target: str
) -> Iterator[_Option]:
    what, known = trigger.fault.what, others.entries(env)
    place = names.object_id(what.target) if what.target else target
    if place not in known or not known[place]["receptacle"]:
        return
    things = _named(names, what.other) or choice.movable(known, others.held(env), trigger.chance)
    for thing in things[:_TRIES]:
        if thing in known:
            yield (place, thing), others.occupy, (thing, place)


def _moves(env: Environment, names: Names, trigger: Trigger, _target: str) -> Iterator[_Option]:
    what, known, chance = trigger.fault.what, others.entries(env), trigger.chance
    things = _named(names, what.target) or choice.movable(known, others.held(env), chance)
    places = _named(names, what.place) or choice.places(known, chance)
    for thing in things[:_TRIES]:
        for place in places[:_TRIES]:
            if thing in known and place in known:
                yield (thing, place), others.move, (thing, place)


def _changes(env: Environment, names: Names, trigger: Trigger, _target: str) -> Iterator[_Option]:
    what, known, chance = trigger.fault.what, others.entries(env), trigger.chance
    for thing in _named(names, what.target) or choice.movable(known, others.held(env), chance):
        if thing not in known:
            continue
        if what.field:
            yield (thing,), others.change, (thing, what.field, _value(what.value))
        elif (state := choice.other_state(known, thing, chance)) is not None:
            yield (thing,), others.change, (thing, *state)


def _named(names: Names, name: str) -> list[str]:
    return [names.object_id(name)] if name else []


def _value(value: str | bool | None) -> str | bool:
    return True if value is None else value


def _try(env: Environment, deed: Callable[..., bool], *args: Any) -> bool:
    """Do something; if it fails, restore the environment where it can be restored."""
    before = env.snapshot() if isinstance(env, Restorable) else None
    done = deed(env, *args)
    if not done and isinstance(env, Restorable):
        env.restore(before)
    return done

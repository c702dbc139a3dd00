"""Actions diverted to another object than the one meant."""

from __future__ import annotations

from typing import Any

from hvr.worlds.base import Environment
from hvr.worlds.faults import choice, others
from hvr.worlds.faults.fault import SWITCHES, FaultKind
from hvr.worlds.faults.somebody import Restorable
from hvr.worlds.faults.statements import statements
from hvr.worlds.faults.trigger import Trigger
from hvr.worlds.naming import Names

_TRIES = 8

DIVERTING = frozenset({FaultKind.WRONG_OBJECT, FaultKind.SWAPPED})
"""Kinds that are played here."""


class Diversions:
    """Remembers which object is taken for which.

    Args:
        env: where.
        names: the names of its scene.
    """

    def __init__(self, env: Environment, names: Names) -> None:
        self._env = env
        self._names = names
        self._pairs: dict[Trigger, tuple[str, str]] = {}

    def divert(self, trigger: Trigger, action: str, args: dict[str, Any]) -> tuple[str, ...]:
        """Change the arguments of an action so that it goes to the other object.

        Returns:
            ids of the object meant and of the other; empty when the action is not affected.
        """
        target = args.get("objectId")
        if target is None:
            return ()
        pair = self._pair(trigger, action, target)
        if pair is None or target not in pair:
            return ()
        if trigger.fault.kind is FaultKind.WRONG_OBJECT:
            if target != pair[0]:
                return ()
            other = pair[1]
        else:
            meant = others.entries(self._env).get(str(target))
            if action not in SWITCHES or meant is None or not meant["isInteractable"]:
                return ()
            other = pair[1 - pair.index(target)]
            # The other switch may be out of reach; a real one would work all the same.
            args["forceAction"] = True
        args["objectId"] = other
        return str(target), other

    def redirected(self, trigger: Trigger, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a question, about the other object if one is taken for it."""
        what = trigger.fault.what
        if trigger.fault.kind is not FaultKind.WRONG_OBJECT or trigger.fault.when.actions:
            return args
        pair = self._pairs.get(trigger)
        if pair is None and what.target and what.other:
            pair = (self._names.object_id(what.target), self._names.object_id(what.other))
        return {**args, "objectId": pair[1]} if pair and args.get("objectId") == pair[0] else args

    def _pair(self, trigger: Trigger, action: str, target: Any) -> tuple[str, str] | None:
        """Return ids of the two objects, chosen once."""
        if trigger in self._pairs:
            return self._pairs[trigger]
        what, known = trigger.fault.what, others.entries(self._env)
        first = self._names.object_id(what.target) if what.target else target
        if first not in known:
            return None
        if what.other:
            second: str | None = self._names.object_id(what.other)
        elif trigger.fault.kind is FaultKind.SWAPPED:
            second = choice.other_switch(known, first, trigger.chance)
        else:
            options = choice.mistaken_for(known, first, action, trigger.chance)
            second = next((i for i in options[:_TRIES] if self._works(action, i)), None)
        if second is None:
            return None
        self._pairs[trigger] = (first, second)
        return first, second

    def _works(self, action: str, object_id: str) -> bool:
        """Return whether the action would change anything if it went to an object.

        Where the environment cannot be restored it is taken for granted.
        """
        if not isinstance(self._env, Restorable):
            return True
        before = self._env.snapshot()
        facts = statements(self._env.last_event.metadata, self._names)
        try:
            event = self._env.step(action, objectId=object_id)
            return bool(event) and statements(event.metadata, self._names) != facts
        finally:
            self._env.restore(before)

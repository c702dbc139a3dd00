"""Actions that fail: diverted to another object, or refused because of an obstacle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvr.worlds.environment import Environment
from hvr.worlds.faults import other_agent
from hvr.worlds.faults.fault import MOVES, SWITCHES, FaultKind, Trigger
from hvr.worlds.faults.log import statements
from hvr.worlds.faults.other_agent import Restorable
from hvr.worlds.naming import Names

# Diversion ----------------------------------------------------------------------------------------
# Actions diverted to another object than the one meant.

_TRIES = 8

DIVERTING_KINDS = frozenset({FaultKind.WRONG_OBJECT, FaultKind.SWAPPED})
"""Kinds that are played here."""


class Diversions:
    """Remembers which object is taken for which."""

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
            meant = other_agent.entries(self._env).get(str(target))
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
        what, known = trigger.fault.what, other_agent.entries(self._env)
        first = self._names.object_id(what.target) if what.target else target
        if first not in known:
            return None
        if what.other:
            second: str | None = self._names.object_id(what.other)
        elif trigger.fault.kind is FaultKind.SWAPPED:
            second = other_agent.other_switch(known, first, trigger.chance)
        else:
            options = other_agent.similar_objects(known, first, action, trigger.chance)
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


# Refused actions ----------------------------------------------------------------------------------
# Refused actions: once, or as long as something is in the way.

NO_ROOM = "No valid positions to place object found"
_HIDDEN = "NullReferenceException: Target object not found within the specified visibility."


@dataclass(frozen=True)
class Refusal:
    """The refusal of an action.

    Args:
        message: `errorMessage`.
        objects: ids of what it was meant for and of what is in the way.
        trigger: of the fault that is behind it.
    """

    message: str
    objects: tuple[str, ...]
    trigger: Trigger


class Obstacles:
    """Obstacles, each until it is taken away."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._occupied: dict[str, tuple[str, Trigger]] = {}
        self._blocked: dict[str, tuple[str, Any, Trigger]] = {}

    def occupy(self, receptacle: str, thing: str, trigger: Trigger) -> None:
        """Refuse to put anything into the receptacle as long as the thing is in it."""
        self._occupied[receptacle] = (thing, trigger)

    def block(self, target: str, blocker: str, trigger: Trigger) -> None:
        """Refuse actions on the target as long as the blocker stays where it is."""
        where = other_agent.entries(self._env)[blocker]["position"]
        self._blocked[target] = (blocker, where, trigger)

    def refusal(self, action: str, args: Mapping[str, Any]) -> Refusal | None:
        """Return the refusal of an action because of an obstacle, or None."""
        if not (self._occupied or self._blocked):
            return None
        target, known = str(args.get("objectId", "")), other_agent.entries(self._env)
        if action == "PutObject" and target in self._occupied:
            thing, trigger = self._occupied[target]
            if target in (known[thing]["parentReceptacles"] or ()):
                return Refusal(NO_ROOM, (target, thing), trigger)
        if target in self._blocked:
            blocker, where, trigger = self._blocked[target]
            if action in trigger.fault.actions and known[blocker]["position"] == where:
                message = trigger.fault.what.message or obstacle_message(
                    action, known[blocker]["name"]
                )
                return Refusal(message, (target, blocker), trigger)
        return None


def obstacle_message(action: str, what: str = "Obstacle") -> str:
    """Return AI2-THOR's message when something is in the way.

    Args:
        action: name of the action that is refused.
        what: AI2-THOR's `name` of what is in the way.
    """
    if action in ("OpenObject", "CloseObject"):
        return f"Object failed to open/close successfully: {what} is blocking it."
    if action.startswith("Teleport"):
        return f"Collided with: {what}."
    if action in MOVES:
        return f"{what} is blocking Agent 0 from moving by (0.0000, 0.0000, 0.2500)."
    return _HIDDEN

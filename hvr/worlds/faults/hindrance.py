"""Refused actions: once, or as long as something is in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvr.worlds.base import Environment
from hvr.worlds.faults import others
from hvr.worlds.faults.fault import MOVES
from hvr.worlds.faults.trigger import Trigger

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


class Hindrances:
    """Obstacles, each until it is taken away.

    Args:
        env: where.
    """

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._occupied: dict[str, tuple[str, Trigger]] = {}
        self._blocked: dict[str, tuple[str, Any, Trigger]] = {}

    def occupy(self, receptacle: str, thing: str, trigger: Trigger) -> None:
        """Refuse to put anything into the receptacle as long as the thing is in it."""
        self._occupied[receptacle] = (thing, trigger)

    def block(self, target: str, blocker: str, trigger: Trigger) -> None:
        """Refuse actions on the target as long as the blocker stays where it is."""
        where = others.entries(self._env)[blocker]["position"]
        self._blocked[target] = (blocker, where, trigger)

    def refusal(self, action: str, args: Mapping[str, Any]) -> Refusal | None:
        """Return the refusal of an action because of an obstacle, or None."""
        if not (self._occupied or self._blocked):
            return None
        target, known = str(args.get("objectId", "")), others.entries(self._env)
        if action == "PutObject" and target in self._occupied:
            thing, trigger = self._occupied[target]
            if target in (known[thing]["parentReceptacles"] or ()):
                return Refusal(NO_ROOM, (target, thing), trigger)
        if target in self._blocked:
            blocker, where, trigger = self._blocked[target]
            if action in trigger.fault.actions and known[blocker]["position"] == where:
                message = trigger.fault.what.message or in_the_way(action, known[blocker]["name"])
                return Refusal(message, (target, blocker), trigger)
        return None


def in_the_way(action: str, what: str = "Obstacle") -> str:
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

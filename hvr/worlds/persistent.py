"""Second tries for interactions that fail because of where the robot stands.

Simulators refuse what a robot could do from half a metre further: the object is hidden behind
something, the door of a fridge hits the robot, the thing in the hand would hit a wall. Any other
failure is final.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hvr.worlds.base import Environment, Event
from hvr.worlds.thor.skills import Step

REASONS_OF_PLACE = (
    "not found within the specified visibility",
    "visible but not interactable",
    "occluded by something",
    "would cause it to collide and clip",
    "object collided with",
)
"""Parts of AI2-THOR's messages that another place may answer."""

FAR = 1.5
"""Greatest distance of another place, metres."""

_REST = 5  # times that physics may go on until the scene is at rest


class TriedEvent(Event):
    """An event with what was sent before it.

    Args:
        event: the answer that counts.
        attempts: what was tried for it, in order, without the last.
    """

    __slots__ = ("attempts",)

    def __init__(self, event: Event, attempts: tuple[Step, ...]) -> None:
        super().__init__(lambda: event.metadata, bool(event))
        self.attempts = attempts


class Persistent:
    """Another environment, with second tries.

    An interaction (an action with `objectId`) that fails is tried again:

    * at the same place, when the scene was not at rest (`isSceneAtRest`), after it is;
    * from up to `tries` - 1 other places from which the simulator says that the object can be
      handled, the nearest first, within 1.5 m, when the message is one of place. If all fail,
      the robot goes back and tries a last time, so that the event is seen from where it was.

    The event is that of the last try. What was sent before is `attempts` of the event.

    Args:
        env: where things happen.
        tries: places to try from at most, the first included; 1 or more.
    """

    def __init__(self, env: Environment, tries: int = 3) -> None:
        self.env = env
        self._tries = tries
        self._event = env.last_event

    @property
    def last_event(self) -> Event:
        """The event of the latest action or reset."""
        return self._event

    def reset(self, scene: Any = None) -> Event:
        """Put a scene into its first state; None means the present scene again."""
        self._event = self.env.reset(scene)
        return self._event

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Do one action, with second tries if it fails because of the place.

        Raises:
            ValueError: unknown action, or unknown or missing argument.
        """
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        try:
            event = self.env.step(request)
        finally:
            self._event = self.env.last_event
        if event or "objectId" not in request or str(request["action"]).startswith("Get"):
            return event
        sent = [_step(request, event)]
        if not event.metadata.get("isSceneAtRest", True):
            event = self._after_rest(request, sent)
        if not event and self._tries > 1 and _about_place(event):
            event = self._from_elsewhere(request, event, sent)
        self._event = TriedEvent(event, tuple(sent[:-1])) if len(sent) > 1 else event
        return self._event

    def stop(self) -> None:
        """Stop the environment, if it can be stopped."""
        stop = getattr(self.env, "stop", None)
        if stop is not None:
            stop()

    def _send(self, request: dict[str, Any], sent: list[Step]) -> Event:
        event = self.env.step(request)
        sent.append(_step(request, event))
        return event

    def _after_rest(self, request: dict[str, Any], sent: list[Step]) -> Event:
        """Try once more when things have come to rest."""
        for _ in range(_REST):
            if self._send({"action": "Pass"}, sent).metadata.get("isSceneAtRest", True):
                break
        return self._send(request, sent)

    def _from_elsewhere(self, request: dict[str, Any], event: Event, sent: list[Step]) -> Event:
        """Try from other places, and if all fail once more from where the robot was."""
        start = event.metadata["agent"]
        poses = self._other_poses(request["objectId"], start)[: self._tries - 1]
        moved = False
        for pose in poses:
            if not self._send(_teleport(pose), sent):
                continue
            moved = True
            event = self._send(request, sent)
            if event:
                return event
        if moved:
            self._send(_teleport(_pose_of(start)), sent)
        if poses:  # so that the event is of this action, seen from here
            event = self._send(request, sent)
        return event

    def _other_poses(self, object_id: str, start: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one pose for each other grid point near by, the nearest first."""
        try:
            answer = self.env.step(action="GetInteractablePoses", objectId=object_id)
        except ValueError:
            return []
        here = (start["position"]["x"], start["position"]["z"])

        def away(pose: Mapping[str, Any]) -> float:
            return round(math.dist(here, (pose["x"], pose["z"])), 3)

        nearest: dict[tuple[float, float], dict[str, Any]] = {}
        poses = list(answer.metadata["actionReturn"] or ()) if answer else []
        for pose in sorted(poses, key=lambda p: (away(p), abs(p["horizon"] - 30.0), p["rotation"])):
            if 0.05 < away(pose) <= FAR:
                nearest.setdefault((pose["x"], pose["z"]), pose)
        return list(nearest.values())


def _teleport(pose: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "action": "TeleportFull",
        "position": {axis: pose[axis] for axis in "xyz"},
        "rotation": {"x": 0.0, "y": pose["rotation"], "z": 0.0},
        "horizon": pose["horizon"],
        "standing": pose.get("standing", True),
    }


def _about_place(event: Event) -> bool:
    message = str(event.metadata["errorMessage"])
    return any(reason in message for reason in REASONS_OF_PLACE)


def _pose_of(agent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **agent["position"],
        "rotation": agent["rotation"]["y"],
        "horizon": agent["cameraHorizon"],
        "standing": agent.get("isStanding", True),
    }


def _step(request: Mapping[str, Any], event: Event) -> Step:
    error = "" if event else str(event.metadata["errorMessage"])
    return Step(MappingProxyType(dict(request)), bool(event), error)

"""The robot's way, read from the actions that were sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.runs.report.floor_plan.plan import Pose

_GRID = 0.25
_TURN = 90.0
_MOVES = {"MoveAhead": 0.0, "MoveRight": 90.0, "MoveBack": 180.0, "MoveLeft": 270.0}
_TURNS = {"RotateRight": 1.0, "RotateLeft": -1.0}


@dataclass(frozen=True)
class Visit:
    """The robot at one step.

    Args:
        number: of the step, from 1.
        pose: where it is after the step.
        jumped: it was put there at once (`Teleport`), so nothing is known of a way.
        failed: something went wrong in the step.
    """

    number: int
    pose: Pose
    jumped: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Route:
    """The start of the robot, and one visit for each step."""

    start: Pose
    visits: tuple[Visit, ...] = ()


def route(start: Pose, steps: Iterable[Mapping[str, Any]], failed: Iterable[int] = ()) -> Route:
    """Return the way that a run took.

    Args:
        start: where the robot was before the first step.
        steps: the step events of a trace. `agent` of a step, if there is one, says where the
            robot was after it; else it is worked out from the actions in `sent`.
        failed: numbers of further steps in which something went wrong.
    """
    pose, visits, wrong = start, [], set(failed)
    for step in steps:
        sent = step.get("sent") or ()
        done = [action for action in sent if action.get("success", True)]
        jumped = any(str(action.get("action", "")).startswith("Teleport") for action in done)
        recorded = _recorded(step.get("agent"))
        pose = recorded if recorded is not None else _after(pose, done)
        bad = not step.get("success", True) or step.get("step") in wrong
        visits.append(Visit(int(step["step"]), pose, jumped, bad))
    return Route(start, tuple(visits))


def _recorded(agent: Any) -> Pose | None:
    """Return the pose as a trace may have it: AI2-THOR's `agent`, or plain x, z and yaw."""
    if not isinstance(agent, Mapping):
        return None
    try:
        if "position" in agent:
            place = agent["position"]
            return Pose(float(place["x"]), float(place["z"]), float(agent["rotation"]["y"]))
        return Pose(float(agent["x"]), float(agent["z"]), float(agent["yaw"]))
    except (KeyError, TypeError, ValueError):
        return None


def _after(pose: Pose, actions: Sequence[Mapping[str, Any]]) -> Pose:
    for action in actions:
        name = str(action.get("action", ""))
        if name.startswith("Teleport"):
            pose = _teleported(pose, action)
        elif name in _MOVES:
            length = float(action.get("moveMagnitude") or _GRID)
            angle = math.radians(pose.yaw + _MOVES[name])
            pose = Pose(
                pose.x + length * math.sin(angle), pose.z + length * math.cos(angle), pose.yaw
            )
        elif name in _TURNS:
            turn = float(action.get("degrees") or _TURN) * _TURNS[name]
            pose = Pose(pose.x, pose.z, (pose.yaw + turn) % 360.0)
    return pose


def _teleported(pose: Pose, action: Mapping[str, Any]) -> Pose:
    place, turn = action.get("position"), action.get("rotation")
    x, z, yaw = pose
    if isinstance(place, Mapping):
        x, z = float(place.get("x", x)), float(place.get("z", z))
    elif "x" in action and "z" in action:
        x, z = float(action["x"]), float(action["z"])
    if isinstance(turn, Mapping):
        yaw = float(turn.get("y", yaw))
    elif isinstance(turn, int | float):
        yaw = float(turn)
    return Pose(x, z, yaw % 360.0)


# Stops --------------------------------------------------------------------------------------------
# The places where the robot did something, with the numbers of the steps done there.


@dataclass(frozen=True)
class Stop:
    """A place with its steps.

    Args:
        x: metres.
        z: metres.
        steps: numbers of the steps after which the robot was there, ascending.
        failed: those in which something went wrong.
    """

    x: float
    z: float
    steps: tuple[int, ...]
    failed: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The numbers, neighbours joined: `1–3, 7`."""
        return joined_numbers(self.steps)


def stops(route: Route) -> tuple[Stop, ...]:
    """Return the places of a route in order of the first visit, told apart by the centimetre."""
    steps: dict[tuple[float, float], list[int]] = {}
    failed: dict[tuple[float, float], list[int]] = {}
    for visit in route.visits:
        place = (round(visit.pose.x, 2), round(visit.pose.z, 2))
        steps.setdefault(place, []).append(visit.number)
        if visit.failed:
            failed.setdefault(place, []).append(visit.number)
    return tuple(
        Stop(x, z, tuple(sorted(set(numbers))), tuple(failed.get((x, z), ())))
        for (x, z), numbers in steps.items()
    )


def joined_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs of neighbours joined by a dash: `1–3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)

"""The floor plan of a scene, and the robot's route on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from hvr.errors import DataFileError
from hvr.values import Value
from hvr.worlds.scenes import Box, load_scene, scene_names
from hvr.worlds.thor.observe import BASINS, FLOOR, TABLES, Names, direct_parents

# Plan ---------------------------------------------------------------------------------------------


class ObjectKind(StrEnum):
    """Kinds of objects, in drawing order: a later kind is drawn over an earlier one."""

    FLOOR = "floor"
    SURFACE = "surface"
    FURNITURE = "furniture"
    STORAGE = "storage"
    BASIN = "basin"
    APPLIANCE = "appliance"
    FIXTURE = "fixture"
    SMALL = "small"


def kind_of(entry: Mapping[str, Any]) -> ObjectKind:
    """Return the kind of an object, given its AI2-THOR metadata."""
    kind = ObjectKind.FIXTURE
    if entry["objectType"] == FLOOR:
        kind = ObjectKind.FLOOR
    elif entry["objectType"] in BASINS:
        kind = ObjectKind.BASIN
    elif entry.get("pickupable"):
        kind = ObjectKind.SMALL
    elif entry.get("toggleable") or entry.get("isHeatSource") or entry.get("isColdSource"):
        kind = ObjectKind.APPLIANCE
    elif entry.get("openable") and entry.get("receptacle"):
        kind = ObjectKind.STORAGE
    elif entry.get("moveable") and entry["objectType"] not in TABLES:
        kind = ObjectKind.FURNITURE
    elif entry.get("receptacle"):
        kind = ObjectKind.SURFACE
    return kind


OVERHEAD = 1.35
"""Height above the floor, in metres, from which objects are drawn as hanging."""

_MARGIN = 0.2
_LARGEST = 10_000.0
"""Largest plausible value in metres or degrees; larger values indicate a damaged file."""
_FLAGS = (
    *("isPickedUp", "isOpen", "isToggled", "isSliced", "isBroken", "isCooked", "isDirty"),
    "isUsedUp",
)
_FLAG_WORDS = {"isPickedUp": "held", "isToggled": "on", "isUsedUp": "used up"}
"""Words for boolean fields that differ from the field's name without "is"."""


class Pose(NamedTuple):
    """Pose of the agent: position in metres, and yaw in degrees (0 along +z, 90 along +x)."""

    x: float
    z: float
    yaw: float


class Shape(Value):
    """An object on the plan.

    Args:
        box: Axis-aligned bounding box in metres.
        state: Words for its visible states: `open`, `on`, `dirty`, `hot`, …
        place: Name of the object that holds it; empty if there is none.
        enclosed: Whether the object is inside a closed object and therefore invisible.
    """

    name: str
    object_type: str
    object_id: str
    kind: ObjectKind
    box: Box
    state: tuple[str, ...] = ()
    place: str = ""
    enclosed: bool = False

    json_shape = "name type=object_type id=object_id kind box=rounded_box state place? enclosed"

    @property
    def rounded_box(self) -> list[float]:
        return [round(value, 4) for value in self.box]

    @property
    def overhead(self) -> bool:
        """Whether the object hangs above the counters."""
        return self.box.y0 > OVERHEAD and self.kind is not ObjectKind.SMALL

    @property
    def caption(self) -> str:
        """One-line description, such as `mug-1 (Mug) on countertop-1: dirty`."""
        parts = f"{self.name} ({self.object_type})"
        if self.place:
            parts += f" in {self.place}, closed" if self.enclosed else f" at {self.place}"
        return f"{parts}: {', '.join(self.state)}" if self.state else parts


class FloorPlan(Value):
    """A scene from above.

    Args:
        grid: (x, z) of the points where the agent can walk, in metres; may be empty.
        held: Name of the object in the agent's hand, if any.
    """

    scene: str
    shapes: tuple[Shape, ...]
    grid: tuple[tuple[float, float], ...]
    agent: Pose
    held: str | None = None

    json_shape = "scene agent=pose held objects=shapes grid"

    @property
    def pose(self) -> dict[str, float]:
        return self.agent._asdict()

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Bounds of the whole plan (x0, z0, x1, z1) in metres, including a margin."""
        xs = [self.agent.x, *(x for x, _ in self.grid)]
        zs = [self.agent.z, *(z for _, z in self.grid)]
        for shape in self.shapes:
            xs += (shape.box.x0, shape.box.x1)
            zs += (shape.box.z0, shape.box.z1)
        return min(xs) - _MARGIN, min(zs) - _MARGIN, max(xs) + _MARGIN, max(zs) + _MARGIN

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], source: str) -> FloorPlan:
        """Return the plan encoded by `to_json`; error messages name the `source`.

        Raises:
            DataFileError: The value is not a floor plan.
        """
        try:
            agent = raw["agent"]
            return cls(
                scene=str(raw["scene"]),
                shapes=tuple(_shape(entry) for entry in raw["objects"]),
                grid=tuple((_number(x), _number(z)) for x, z in raw["grid"]),
                agent=Pose(_number(agent["x"]), _number(agent["z"]), _number(agent["yaw"])),
                held=None if raw["held"] is None else str(raw["held"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataFileError(
                f"{source} is not a floor plan ({type(error).__name__}: {error})"
            ) from error


def _number(value: Any) -> float:
    number = float(value)
    if not abs(number) <= _LARGEST:
        raise ValueError(f"coordinate {number} is out of range")
    return number


def _shape(entry: Mapping[str, Any]) -> Shape:
    box = Box(*map(_number, entry["box"]))
    return Shape(
        name=str(entry["name"]),
        object_type=str(entry["type"]),
        object_id=str(entry["id"]),
        kind=ObjectKind(entry["kind"]),
        box=box,
        state=tuple(map(str, entry["state"])),
        place=str(entry["place"] or ""),
        enclosed=bool(entry["enclosed"]),
    )


def floor_plan(
    metadata: Mapping[str, Any],
    names: Names | None = None,
    grid: Iterable[tuple[float, float]] | None = None,
) -> FloorPlan:
    """Return the floor plan of an environment event. Pieces are drawn instead of sliced objects.

    Args:
        metadata: Metadata of an event of the kitchen or of AI2-THOR.
        names: Names of the scene's objects; None to derive them from this event.
        grid: Walkable points; None to use the points of the packaged scene, if there is one.
    """
    names = names or Names.from_metadata(metadata)
    scene = str(metadata.get("sceneName", "")).removesuffix("_physics")
    if grid is None:
        grid = load_scene(scene).grid if scene in scene_names() else ()
    entries = {entry["objectId"]: entry for entry in metadata["objects"]}
    inventory = metadata.get("inventoryObjects") or ()
    held_id = inventory[0]["objectId"] if inventory else None
    shapes = []
    for object_id, entry in entries.items():
        box = box_of(entry)
        if box is None or entry.get("isSliced"):
            continue
        parents = direct_parents(entry, entries, held_id)
        shapes.append(
            Shape(
                name=names.name(object_id),
                object_type=entry["objectType"],
                object_id=object_id,
                kind=kind_of(entry),
                box=box,
                state=_state(entry),
                place=names.name(parents[0]) if parents else "",
                enclosed=_enclosed(entry, entries),
            )
        )
    shapes.sort(key=lambda shape: _by_number(shape.name))
    agent = metadata["agent"]
    pose = Pose(agent["position"]["x"], agent["position"]["z"], agent["rotation"]["y"] % 360.0)
    held = names.name(held_id) if held_id is not None else None
    return FloorPlan(scene, tuple(shapes), tuple(grid), pose, held)


def scene_plan(name: str) -> FloorPlan:
    """Return the plan of a scene in its initial state; see `load_scene` for names and errors."""
    from hvr.worlds.kitchen import Kitchen

    return floor_plan(Kitchen(name).last_event.metadata)


def box_of(entry: Mapping[str, Any]) -> Box | None:
    """Return the axis-aligned bounding box of an object, or None if its metadata has none."""
    raw = entry.get("axisAlignedBoundingBox")
    if not raw or not raw.get("size"):
        return None
    box = Box.of_object(entry)
    return box if math.isfinite(sum(box)) else None


def _state(entry: Mapping[str, Any]) -> tuple[str, ...]:
    words = [_FLAG_WORDS.get(f, f.removeprefix("is").lower()) for f in _FLAGS if entry.get(f)]
    if entry.get("isFilledWithLiquid"):
        words.append(f"filled with {entry.get('fillLiquid') or 'something'}")
    if entry.get("temperature") in ("Hot", "Cold"):
        words.append(str(entry["temperature"]).lower())
    return tuple(words)


def _enclosed(entry: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> bool:
    seen: set[str] = set()
    todo = list(entry.get("parentReceptacles") or ())
    while todo:
        parent = todo.pop()
        if parent in seen or parent not in entries:
            continue
        seen.add(parent)
        if entries[parent].get("openable") and not entries[parent].get("isOpen"):
            return True
        todo += entries[parent].get("parentReceptacles") or ()
    return False


def _by_number(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition("-")
    return (stem, int(number)) if number.isdecimal() else (name, 0)


# Route --------------------------------------------------------------------------------------------

_GRID = 0.25
_TURN = 90.0
_MOVES = {"MoveAhead": 0.0, "MoveRight": 90.0, "MoveBack": 180.0, "MoveLeft": 270.0}
_TURNS = {"RotateRight": 1.0, "RotateLeft": -1.0}


@dataclass(frozen=True)
class Visit:
    """The robot's pose after a step; if it `jumped` (was teleported), its path is unknown."""

    number: int
    pose: Pose
    jumped: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Route:
    """The initial pose of the robot, and its pose after each step."""

    start: Pose
    visits: tuple[Visit, ...] = ()


def route(start: Pose, steps: Iterable[Mapping[str, Any]], failed: Iterable[int] = ()) -> Route:
    """Return the robot's route during a run.

    Args:
        steps: Step events of a trace. The pose after a step is its `agent`; if missing, it is
            computed from the actions in `sent`.
        failed: Numbers of failed steps that the events do not mark as failed.
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


@dataclass(frozen=True)
class Stop:
    """A place where the robot performed steps.

    Args:
        failed: Numbers of the steps that failed.
    """

    x: float
    z: float
    steps: tuple[int, ...]
    failed: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The step numbers as text with ranges, such as `1–3, 7`."""
        return joined_numbers(self.steps)


def stops(route: Route) -> tuple[Stop, ...]:
    """Return a route's stops in the order of the first visits.

    Places less than a centimetre apart count as one stop.
    """
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
    """Format ascending numbers with ranges, such as `1–3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)

"""Skills: the robot's atomic actions as sequences of AI2-THOR's actions.

Every skill works in any `Environment` and reads only metadata. A failed action is a value, not an
exception.

    navigate_to_obj(o)     pick_up(o)       put_on(o, r)    put_in(o, r)
    open_obj(o)            close_obj(o)     toggle_on(o)    toggle_off(o)
    slice_obj(o)           crack_obj(o)     pour(o, to)     drop_obj(o)
    throw_away(o, can)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from hvr.errors import UsageError
from hvr.values import Value
from hvr.worlds.environment import Environment
from hvr.worlds.scenes import Box, Camera, grid_distances
from hvr.worlds.thor.observe import LIDDED, Names, controls, direct_parents, is_inert

NEAR = 1.0
"""Preferred horizontal distance in metres to the nearest part of a navigation target."""

SHUFFLE = 2.5
"""Maximum distance in metres to an object that the robot approaches without an explicit navigation
step.
"""

GRID = 0.25
"""Length of a step of the robot, in metres."""

_KNIVES = frozenset({"Knife", "ButterKnife"})
_BOTTLES = frozenset({"WineBottle", "Bottle"})
_OTHER_SPOTS = 3


class Step(Value):
    """One action sent to the environment.

    Args:
        action: The request, including the key `action`.
        error: AI2-THOR's `errorMessage`, empty on success.
    """

    action: Mapping[str, Any]
    success: bool
    error: str = ""


@dataclass(frozen=True)
class SkillResult:
    """The result of an atomic action; `error` is hvr's or AI2-THOR's reason for a failure."""

    success: bool
    error: str = ""
    steps: tuple[Step, ...] = field(default_factory=tuple)


class _RefusedError(Exception):
    """Ends a skill that cannot succeed; its text is the reason."""


class _Robot:
    """One skill being executed; `force_put` overrides AI2-THOR's placement table."""

    def __init__(self, env: Environment, names: Names, force_put: bool) -> None:
        self.env = env
        self.names = names
        self.force_put = force_put
        self.steps: list[Step] = []

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.env.last_event.metadata

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        return {o["objectId"]: o for o in self.metadata["objects"]}

    @property
    def held(self) -> str | None:
        inventory = self.metadata["inventoryObjects"]
        return inventory[0]["objectId"] if inventory else None

    def find(self, name: str) -> dict[str, Any]:
        object_id = self.names.object_id(name)
        entry = self.entries.get(object_id)
        if entry is None:
            source = self.names.source(name)
            hint = f": slice or crack {source} first" if source else ""
            raise _RefusedError(f"{name} does not exist yet{hint}")
        if is_inert(entry):
            pieces = self.names.pieces(name)
            rest = f": use {', '.join(pieces)}" if pieces else ""
            word = "sliced" if entry["isSliced"] else "broken"
            raise _RefusedError(f"{name} has been {word}{rest}")
        return entry

    def name_of(self, object_id: str) -> str:
        return self.names.name(object_id)

    def send(self, action: str, **kwargs: Any) -> None:
        if not self.try_send(action, **kwargs):
            raise _RefusedError(self.steps[-1].error)

    def try_send(self, action: str, **kwargs: Any) -> bool:
        try:
            event = self.env.step(action=action, **kwargs)
            self.steps.extend(getattr(event, "attempts", ()))
            success = bool(event)
            error = "" if success else str(event.metadata["errorMessage"])
        except ValueError as refused:  # AI2-THOR's client rejects unknown requests
            success, error = False, str(refused)
        self.steps.append(Step(MappingProxyType({"action": action, **kwargs}), success, error))
        return success

    def ask(self, action: str, **kwargs: Any) -> list[dict[str, Any]]:
        # Queries are not steps.
        try:
            event = self.env.step(action=action, **kwargs)
        except ValueError:
            return []
        return list(event.metadata["actionReturn"] or ()) if event else []

    def poses(self, object_id: str) -> list[dict[str, Any]]:
        standing = self.ask("GetInteractablePoses", objectId=object_id, standings=[True])
        return standing or self.ask("GetInteractablePoses", objectId=object_id)

    def teleport(self, pose: Mapping[str, Any]) -> bool:
        return self.try_send(
            "TeleportFull",
            position={axis: pose[axis] for axis in "xyz"},
            rotation={"x": 0.0, "y": pose["rotation"], "z": 0.0},
            horizon=pose["horizon"],
            standing=pose.get("standing", True),
        )

    def approach(self, name: str) -> dict[str, Any]:
        """Return the metadata of an object, moving into reach of it first if necessary."""
        entry = self.find(name)
        object_id = entry["objectId"]
        if entry["isInteractable"] or object_id == self.held:
            return entry
        self.check_not_shut_in(name, entry)
        agent = self.metadata["agent"]["position"]
        distance = Box.of_object(entry).distance(agent["x"], agent["z"])
        if distance > SHUFFLE:
            raise _RefusedError(
                f"too far: {name} is {distance:.1f} m away; navigate_to_obj {name} first"
            )
        start = (agent["x"], agent["z"])
        lengths = self.path_lengths()
        yaw = self.metadata["agent"]["rotation"]["y"]
        options = sorted(
            self.poses(object_id),
            key=lambda p: (
                lengths(p["x"], p["z"]),
                round(math.dist(start, (p["x"], p["z"])), 3),
                _turn(yaw, p["rotation"]),
                abs(p["horizon"] - 30.0),
                p["x"],
                p["z"],
                p["rotation"],
            ),
        )
        # A simulator may refuse a pose that it has offered.
        for pose in options[:_OTHER_SPOTS]:
            if self.teleport(pose):
                break
        else:
            raise _RefusedError(f"{name} cannot be reached from any nearby place")
        return self.find(name)

    def check_not_shut_in(self, name: str, entry: Mapping[str, Any]) -> None:
        entries = self.entries
        seen: set[str] = set()
        todo = list(direct_parents(entry, entries, self.held))
        while todo:
            outer_id = todo.pop()
            if outer_id in seen:
                continue
            seen.add(outer_id)
            outer = entries[outer_id]
            closed = outer["openable"] and not outer["isOpen"]
            if closed and outer["objectType"] not in LIDDED:
                around = self.name_of(outer_id)
                raise _RefusedError(
                    f"{name} is inside {around}, which is closed: open {around} first"
                )
            todo.extend(direct_parents(outer, entries, self.held))

    def path_lengths(self) -> Callable[[float, float], float]:
        """Return a function that maps a point to its distance in moves (over 999: unreachable)."""
        points = {(_cell(p["x"]), _cell(p["z"])) for p in self.ask("GetReachablePositions")}
        agent = self.metadata["agent"]["position"]
        start = (_cell(agent["x"]), _cell(agent["z"]))
        lengths = grid_distances(start, lambda _, point: point in points, 1)

        def length(x: float, z: float) -> float:
            known = lengths.get((_cell(x), _cell(z)))
            return (
                known if known is not None else 1000.0 + math.dist((x, z), (agent["x"], agent["z"]))
            )

        return length

    def require_held(self, name: str) -> dict[str, Any]:
        entry = self.find(name)
        held = self.held
        if entry["objectId"] != held:
            what = f"the hand holds {self.name_of(held)}" if held else "the hand is empty"
            raise _RefusedError(f"{name} is not in the hand: {what}")
        return entry

    def navigate_to_obj(self, name: str) -> None:
        entry = self.find(name)
        object_id = entry["objectId"]
        if object_id == self.held:
            return
        self.check_not_shut_in(name, entry)
        options = self.poses(object_id)
        if not options:
            raise _RefusedError(f"there is no place from which {name} can be reached")
        lengths = self.path_lengths()
        agent = self.metadata["agent"]
        start = (agent["position"]["x"], agent["position"]["z"])
        box, (required, preferred) = Box.of_object(entry), self.companions(entry)

        def seen(pose: Mapping[str, Any], boxes: Sequence[Box]) -> int:
            if not boxes:
                return 0
            camera = Camera.of_agent(
                (pose["x"], pose["y"], pose["z"]), pose["rotation"], pose["horizon"]
            )
            return sum(
                b.distance(pose["x"], pose["z"]) <= 1.5 and camera.sees((b.center,)) for b in boxes
            )

        # In order of priority, each breaking the ties of the previous ones: the needs of the next
        # actions, a short path, a good view. The last ones only make the choice deterministic.
        costs: tuple[Callable[[Mapping[str, Any]], float], ...] = (
            lambda pose: -seen(pose, required),
            lambda pose: box.distance(pose["x"], pose["z"]) > NEAR,
            lambda pose: -seen(pose, preferred),
            lambda pose: lengths(pose["x"], pose["z"]),
            lambda pose: -seen(pose, (box,)),
            lambda pose: round(math.dist(start, (pose["x"], pose["z"])), 3),
            lambda pose: _turn(agent["rotation"]["y"], pose["rotation"]),
            lambda pose: abs(pose["horizon"] - 30.0),
            lambda pose: pose["x"],
            lambda pose: pose["z"],
            lambda pose: pose["rotation"],
        )
        for _ in range(min(_OTHER_SPOTS, len(options))):
            pose = _least(options, costs)
            if self.teleport(pose):
                return
            options.remove(pose)
        raise _RefusedError(self.steps[-1].error)

    def companions(self, entry: Mapping[str, Any]) -> tuple[list[Box], list[Box]]:
        """Return (required, preferred): boxes that should be in reach along with an object.

        The basin of a faucet and the burner of a knob are required, and vice versa. The contents of
        a receptacle and the openable receptacles of an object are preferred.
        """
        entries, object_id = self.entries, entry["objectId"]
        required = [
            Box.of_object(entries[b if a == object_id else a])
            for a, b in controls(list(entries.values()))
            if object_id in (a, b)
        ]
        preferred = [
            Box.of_object(entries[i]) for i in entry["receptacleObjectIds"] or () if i in entries
        ]
        for outer in direct_parents(entry, entries, self.held):
            if entries[outer]["openable"]:
                preferred.append(Box.of_object(entries[outer]))
        return required, preferred

    def pick_up(self, name: str) -> None:
        entry = self.find(name)
        if self.held == entry["objectId"]:
            raise _RefusedError(f"{name} is already in the hand")
        if self.held is not None:
            raise _RefusedError(
                f"Agent hand has something in it already! Can't pick up anything else "
                f"(it holds {self.name_of(self.held)})"
            )
        self.interact("PickupObject", name)

    def put(self, name: str, receptacle: str) -> None:
        self.require_held(name)
        target = self.approach(receptacle)
        force = {"forceAction": True} if self.force_put else {}
        if self.try_send("PutObject", objectId=target["objectId"], **force):
            return
        error = self.steps[-1].error
        if "No valid positions" in error:
            for pose in self.other_spots(target["objectId"]):
                if self.teleport(pose) and self.try_send(
                    "PutObject", objectId=target["objectId"], **force
                ):
                    return
        raise _RefusedError(error)

    def other_spots(self, object_id: str) -> list[dict[str, Any]]:
        agent = self.metadata["agent"]["position"]
        chosen: list[dict[str, Any]] = []
        options = sorted(
            self.poses(object_id),
            key=lambda p: (
                round(math.dist((agent["x"], agent["z"]), (p["x"], p["z"])), 3),
                p["x"],
                p["z"],
                p["rotation"],
                abs(p["horizon"] - 30.0),
            ),
        )
        for pose in options:
            taken = [agent, *chosen]
            if all(math.dist((pose["x"], pose["z"]), (q["x"], q["z"])) >= 1.0 for q in taken):
                chosen.append(pose)
        return chosen[:_OTHER_SPOTS]

    def interact(self, action: str, name: str) -> None:
        self.send(action, objectId=self.approach(name)["objectId"])

    def toggle(self, name: str, on: bool) -> None:
        entry = self.find(name)
        target = name
        if entry["objectType"] == "StoveBurner":
            knobs = [a for a, b in controls(list(self.entries.values())) if b == entry["objectId"]]
            if not knobs:
                raise _RefusedError(f"no knob switches {name}")
            target = self.name_of(knobs[0])
        action = "ToggleObjectOn" if on else "ToggleObjectOff"
        self.interact(action, target)

    def slice_obj(self, name: str) -> None:
        self.find(name)
        held = self.held
        if held is None or self.entries[held]["objectType"] not in _KNIVES:
            what = f"holds {self.name_of(held)}" if held else "is empty"
            raise _RefusedError(f"slicing {name} needs a knife in the hand, but the hand {what}")
        self.interact("SliceObject", name)

    def crack_obj(self, name: str) -> None:
        entry = self.find(name)
        if entry["objectType"] != "Egg":
            raise _RefusedError(
                f"only an egg can be cracked, and {name} is a {entry['objectType']}"
            )
        if entry["objectId"] != self.held:
            self.interact("SliceObject", name)
            return
        before = set(self.entries)
        self.send("BreakObject", objectId=entry["objectId"])
        cracked = [i for i in self.entries if i not in before and "|EggCracked_" in i]
        if not cracked:
            raise _RefusedError(f"{name} broke, but nothing is left of it to pick up")
        self.interact("PickupObject", self.name_of(cracked[0]))

    def pour(self, name: str, into: str) -> None:
        source = self.require_held(name)
        if not source["isFilledWithLiquid"]:
            raise _RefusedError(f"{name} is empty: there is nothing to pour")
        target = self.approach(into)
        if target["objectType"] not in ("SinkBasin", "Sink"):
            liquid = source["fillLiquid"] or ("wine" if _is_wine(source) else "water")
            self.send(
                "FillObjectWithLiquid",
                objectId=target["objectId"],
                fillLiquid=liquid,
                forceAction=False,
            )
            if source["objectType"] in _BOTTLES:
                return
        self.send("EmptyLiquidFromObject", objectId=source["objectId"])

    def drop_obj(self, name: str) -> None:
        self.require_held(name)
        # The hand is often above the furniture that the robot faces.
        self.try_send("RotateRight", degrees=180)
        self.send("DropHandObject")

    def throw_away(self, name: str, can: str) -> None:
        self.require_held(name)
        if self.find(can)["objectType"] != "GarbageCan":
            raise _RefusedError(f"{can} is not a garbage can")
        self.put(name, can)


_SKILLS: Mapping[str, tuple[int, Callable[..., None]]] = MappingProxyType(
    {
        "navigate_to_obj": (1, _Robot.navigate_to_obj),
        "pick_up": (1, _Robot.pick_up),
        "put_on": (2, _Robot.put),
        "put_in": (2, _Robot.put),
        "open_obj": (1, lambda robot, name: robot.interact("OpenObject", name)),
        "close_obj": (1, lambda robot, name: robot.interact("CloseObject", name)),
        "toggle_on": (1, partial(_Robot.toggle, on=True)),
        "toggle_off": (1, partial(_Robot.toggle, on=False)),
        "slice_obj": (1, _Robot.slice_obj),
        "crack_obj": (1, _Robot.crack_obj),
        "pour": (2, _Robot.pour),
        "drop_obj": (1, _Robot.drop_obj),
        "throw_away": (2, _Robot.throw_away),
    }
)

SKILLS: Mapping[str, int] = MappingProxyType({name: n for name, (n, _) in _SKILLS.items()})
"""Number of arguments of each atomic action."""


def perform(
    env: Environment, names: Names, action: str, args: Sequence[str], *, force_put: bool = False
) -> SkillResult:
    """Execute one atomic action. A failed action gives a result, not an error.

    If the object is out of reach but within 2.5 m, the robot first teleports to the nearest place
    from which it is in reach; that teleport is one of the steps. Objects farther away are refused
    as `too far`.

    `navigate_to_obj` selects a place from which the object is in reach. It prefers, in this order,
    a place that also has the object's faucet, basin, knob or burner in reach, is at most 1.0 m
    away, shows most of the object's contents, and has the shortest path. Objects in closed
    receptacles are refused.

    `put_on` and `put_in` try other places if AI2-THOR finds no free position. `toggle_on` and
    `toggle_off` switch a burner by its knob. `drop_obj` turns around first.

    `slice_obj` needs a Knife or ButterKnife in the hand. `crack_obj` breaks a held egg and takes
    the cracked egg into the hand; any other egg is cracked in place. `pour` fills the second object
    with the liquid of the held object and empties the latter, except for bottles, which hold more
    than one glass. Liquid poured into a SinkBasin or Sink is gone. AI2-THOR has no action that
    heats the target of a hot liquid, so the target keeps its temperature, except that coffee makes
    it Hot. `force_put` overrides AI2-THOR's placement table.

    Raises:
        UsageError: The action does not exist, or takes a different number of objects.
        UnknownObjectError: A name does not belong to any object of the scene.
    """
    known = _SKILLS.get(action)
    if known is None:
        raise UsageError(f"unknown atomic action {action!r} (atomic actions: {', '.join(SKILLS)})")
    count, skill = known
    if len(args) != count:
        raise UsageError(f"{action} takes {count} object{'s' * (count > 1)}, not {len(args)}")
    for name in args:
        names.object_id(name)
    robot = _Robot(env, names, force_put)
    try:
        skill(robot, *args)
    except _RefusedError as error:
        return SkillResult(False, str(error), tuple(robot.steps))
    return SkillResult(True, "", tuple(robot.steps))


def _least(
    options: Sequence[dict[str, Any]], costs: Sequence[Callable[[Mapping[str, Any]], float]]
) -> dict[str, Any]:
    # Evaluated lazily instead of sorting by tuples: later costs are expensive and rarely needed.
    for cost in costs:
        if len(options) == 1:
            break
        values = [cost(option) for option in options]
        least = min(values)
        options = [o for o, value in zip(options, values, strict=True) if value == least]
    return options[0]


def _is_wine(entry: Mapping[str, Any]) -> bool:
    return bool(entry["objectType"] == "WineBottle")


def _turn(a: float, b: float) -> float:
    return round(abs((a - b + 180.0) % 360.0 - 180.0), 3)


def _cell(value: float) -> int:
    return round(value / GRID)

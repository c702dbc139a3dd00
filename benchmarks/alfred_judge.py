"""Judge ALFRED's goal conditions on AI2-THOR's metadata alone.

Only the final state counts:

* placed: the target type lies in a receptacle of the parent type (two objects: in the same one);
* washed: the object lay in the SinkBasin nearest to the Faucet when the Faucet was turned on;
  heated: in the Microwave when it was turned on; cooled: in the Fridge when it was closed;
* with a movable receptacle: the object lies in a movable receptacle that lies in a receptacle of
  the parent type;
* examined in the light: the object is held, and a lamp of the required type is on and visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.inputs import lines_of, record
from hvr.worlds.environment import Event
from hvr.worlds.kitchen import Kitchen
from studies.alfred import RENAMED

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "alfred" / "train_kitchen.jsonl.gz"
"""Default path of the demonstrations, beside the hvr checkout."""

MARKS = {
    "pick_clean_then_place_in_recep": "washed",
    "pick_heat_then_place_in_recep": "microwaved",
    "pick_cool_then_place_in_recep": "chilled",
}
"""Required history of the object by task type."""

SIMPLE, TWO, MOVABLE = (
    "pick_and_place_simple",
    "pick_two_obj_and_place",
    "pick_and_place_with_movable_recep",
)
LOOK = "look_at_obj_in_light"
TASK_TYPES = (SIMPLE, TWO, *MARKS, MOVABLE, LOOK)


@dataclass(frozen=True)
class Wanted:
    """The goal of a demonstration, in AI2-THOR's object types.

    Args:
        task_type: One of `TASK_TYPES`.
        target: Type of the object to place.
        parent: Type of the destination receptacle.
        movable: Type of the movable receptacle for the object; empty if none.
        lamp: Type of the lamp under which to examine the object; empty if none.
    """

    task_type: str
    target: str
    parent: str
    movable: str = ""
    lamp: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Wanted | None:
        """Return the goal of a record; None for task types that are not judged."""
        if record["task_type"] not in TASK_TYPES:
            return None
        params = record["pddl_params"]
        target = str(params["object_target"]) + ("Sliced" if params["object_sliced"] else "")
        return cls(
            str(record["task_type"]),
            RENAMED.get(target, target),
            str(params["parent_target"]),
            str(params["mrecep_target"]) if record["task_type"] == MOVABLE else "",
            str(params["toggle_target"]) if record["task_type"] == LOOK else "",
        )


class Judge:
    """An environment that forwards actions to a kitchen and tracks ALFRED's goal conditions."""

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self.history: dict[str, set[str]] = {mark: set() for mark in MARKS.values()}
        self.steps = 0

    @property
    def last_event(self) -> Event:
        return self.kitchen.last_event

    def reset(self, scene: Any = None) -> Event:
        self.history = {mark: set() for mark in MARKS.values()}
        return self.kitchen.reset(scene)

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Execute an action, and record which objects it washed, heated or cooled."""
        event = self.kitchen.step(action, **kwargs)
        name = action.get("action") if isinstance(action, dict) else action
        if not str(name).startswith("Get"):
            self.steps += 1
        if event and name in ("ToggleObjectOn", "CloseObject"):
            given = action if isinstance(action, dict) else kwargs
            self._note(str(name), str(given.get("objectId", "")), event.metadata["objects"])
        return event

    def _note(self, action: str, object_id: str, objects: Sequence[Mapping[str, Any]]) -> None:
        by_id = {o["objectId"]: o for o in objects}
        kind = by_id[object_id]["objectType"] if object_id in by_id else ""
        if (action, kind) == ("ToggleObjectOn", "Microwave"):
            self.history["microwaved"] |= _inside(object_id, by_id)
        elif (action, kind) == ("CloseObject", "Fridge"):
            self.history["chilled"] |= _inside(object_id, by_id)
        elif (action, kind) == ("ToggleObjectOn", "Faucet"):
            basins = [o for o in objects if o["objectType"] == "SinkBasin"]
            if basins:
                faucet = by_id[object_id]["position"]
                nearest = min(basins, key=lambda b: (_apart(b, faucet), b["objectId"]))
                self.history["washed"] |= _inside(nearest["objectId"], by_id)

    def reached(self, wanted: Wanted) -> bool:
        return not self.missing(wanted)

    def missing(self, wanted: Wanted) -> str:
        """Describe the unmet part of the goal; empty if the goal holds."""
        objects = self.last_event.metadata["objects"]
        by_id = {o["objectId"]: o for o in objects}
        found = {o["objectId"] for o in objects
                 if o["objectType"] == wanted.target and not o["isSliced"]}  # fmt: skip
        parents = [o for o in objects if o["objectType"] == wanted.parent]
        held = {o["objectId"] for o in self.last_event.metadata["inventoryObjects"]}

        if wanted.lamp:
            if not held & found:
                return f"no {wanted.target} is in the hand"
            lit = [o for o in objects if o["objectType"] == wanted.lamp and o["isToggled"]]
            if not lit:
                return f"no {wanted.lamp} is on"
            return "" if any(o["visible"] for o in lit) else f"no {wanted.lamp} that is on is seen"

        def within(object_id: str) -> set[str]:
            return set(by_id[object_id]["receptacleObjectIds"] or ()) - held

        if wanted.movable:
            carriers = {i for p in parents for i in within(p["objectId"])
                        if by_id[i]["objectType"] == wanted.movable}  # fmt: skip
            if not carriers:
                return f"no {wanted.movable} is in a {wanted.parent}"
            if not any(within(c) & found for c in carriers):
                return f"no {wanted.target} is in a {wanted.movable} that is in a {wanted.parent}"
            return ""
        most = max((len(within(p["objectId"]) & found) for p in parents), default=0)
        needed = 2 if wanted.task_type == TWO else 1
        if most < needed:
            return f"{most} of {needed} {wanted.target} in one {wanted.parent}"
        mark = MARKS.get(wanted.task_type)
        if mark and not any(within(p["objectId"]) & found & self.history[mark] for p in parents):
            return f"no {wanted.target} in a {wanted.parent} was {mark}"
        return ""


def _apart(entry: Mapping[str, Any], point: Mapping[str, float]) -> float:
    center = entry["axisAlignedBoundingBox"]["center"]
    return math.hypot(center["x"] - point["x"], center["z"] - point["z"])


def _inside(receptacle: str, by_id: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the ids of the objects in a receptacle, including those nested in dishes."""
    found: set[str] = set()
    todo = [receptacle]
    while todo:
        for inner in by_id[todo.pop()]["receptacleObjectIds"] or ():
            if inner not in found and inner in by_id:
                found.add(inner)
                todo.append(inner)
    return found


def read(path: Path, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the records of a file, at most `limit` of them, spread evenly over the file."""
    lines = lines_of(path)
    if limit is not None and limit < len(lines):
        lines = [lines[i * len(lines) // limit] for i in range(limit)]
    for number, line in lines:
        yield record(line, f"{path}:{number}", ("id",))

"""Measure how well the kitchen agrees with AI2-THOR on replayed episodes.

    python benchmarks/thor_traces.py [FILE ...] [--data FOLDER] [--all] [--json FILE]

Every FILE holds one recorded episode, plain or gzipped: one JSON object per line with `action` (as
sent, with its arguments) and the agent's `metadata` after the action. The kitchen starts from the
metadata of the first line and executes the actions of the others, without any knowledge of later
lines. The exit code is 0 if 97 % of the successes and 97 % of the changes made by actions agree.
After each action all objects are compared, field by field:

* values: the share of fields, over all objects and steps, that have the recorded value (relations
  as sets, places within 5 cm, angles within 5 degrees);
* changes: the share of the recording's changes since the line before that the kitchen makes too,
  to the same value; and the changes that only the kitchen makes.

Unasked changes belong to an object that moves in the recording (by more than 5 mm) although no
action handled it, or to a receptacle that this object left or entered. The object fell or rolled by
Unity's physics, which the kitchen lacks. They are counted, and also reported separately.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.errors import HvrError
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.thor import observe
from hvr.worlds.thor.imported_scenes import scene_from_metadata

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "ai2thor" / "traces"
"""Default path of the recordings, beside the hvr checkout."""

STATES = (*observe.STATES, "openness", "isPickedUp")
"""Fields of an object's state."""

RELATIONS = ("parentReceptacles", "receptacleObjectIds")
"""Containment fields, whose order has no meaning."""

PLACES = ("position", "rotation", "distance")
"""Fields of an object's location."""

SIGHT = ("visible", "isInteractable")
"""Fields of the agent's view."""

NEAR = 0.05
"""Tolerance for places in metres."""

DRIFT = 0.005
"""Distance in metres beyond which an unhandled object counts as fallen or rolled."""

NEAR_ANGLE = 5.0
"""Tolerance for angles in degrees."""


@dataclass
class Agreement:
    """Numbers of values and changes, and of those in which kitchen and recording agree."""

    steps: int = 0
    success: int = 0
    hand: int = 0
    values: Counter[str] = field(default_factory=Counter)
    values_same: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    changes_same: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    unasked: int = 0
    unasked_same: int = 0
    misses: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Agreement) -> None:
        self.steps += other.steps
        self.success += other.success
        self.hand += other.hand
        self.unasked += other.unasked
        self.unasked_same += other.unasked_same
        for name in ("values", "values_same", "changes", "changes_same", "invented"):
            getattr(self, name).update(getattr(other, name))
        self.misses += other.misses


def read_episode(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def played(rows: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    kitchen = Kitchen(scene_from_metadata(rows[0]["metadata"]))
    first = rows[0]["action"]
    if first.get("action") == "Initialize":
        yield kitchen.step(first).metadata
    else:
        yield kitchen.last_event.metadata
    for row in rows[1:]:
        try:
            event = kitchen.step(row["action"])
        except ValueError:
            event = kitchen.last_event
        yield event.metadata


def compare(name: str, rows: list[dict[str, Any]]) -> Agreement:
    result = Agreement()
    before: tuple[dict[str, Any], dict[str, Any]] | None = None
    for row, mine in zip(rows, played(rows), strict=True):
        real = row["metadata"]
        theirs, ours = _by_id(real), _by_id(mine)
        if before is not None:
            result.steps += 1
            same = mine["lastActionSuccess"] == real["lastActionSuccess"]
            result.success += same
            if not same:
                result.misses.append(
                    _miss(name, row, "", "lastActionSuccess", mine["errorMessage"])
                )
            result.hand += _hand(mine) == _hand(real)
            _values(result, theirs, ours)
            _changes(result, name, row, before, (theirs, ours))
        before = theirs, ours
    return result


def _by_id(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {entry["objectId"]: entry for entry in metadata["objects"]}


def _hand(metadata: Mapping[str, Any]) -> list[str]:
    return [entry["objectId"] for entry in metadata["inventoryObjects"]]


def same(name: str, a: Any, b: Any) -> bool:
    if name in RELATIONS:
        return set(a or ()) == set(b or ())
    if name == "position":
        return math.dist(tuple(a.values()), tuple(b.values())) <= NEAR
    if name == "rotation":
        return all(abs((a[k] - b[k] + 180.0) % 360.0 - 180.0) <= NEAR_ANGLE for k in "xyz")
    if name == "distance":
        return abs(a - b) <= NEAR
    if name == "openness":
        return abs(a - b) <= 0.01
    return bool(a == b)


def _values(result: Agreement, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    for object_id, entry in theirs.items():
        for name in (*STATES, *RELATIONS, *PLACES, *SIGHT):
            result.values[name] += 1
            mine = ours.get(object_id)
            result.values_same[name] += mine is not None and same(name, entry[name], mine[name])


def _changes(
    result: Agreement,
    name: str,
    row: Mapping[str, Any],
    before: tuple[Mapping[str, Any], Mapping[str, Any]],
    after: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> None:
    (real_0, mine_0), (real_1, mine_1) = before, after
    drifting = _drifting(row, real_0, real_1)
    for object_id in sorted({*real_1, *mine_1}):
        real, mine = real_1.get(object_id), mine_1.get(object_id)
        if (real is None) != (mine is None):
            _count(result, "objects", real is not None)
            result.misses.append(_miss(name, row, object_id, "exists", real is not None))
            continue
        assert real is not None and mine is not None
        if object_id not in real_0:
            result.changes["objects"] += 1
            result.changes_same["objects"] += object_id not in mine_0
        for key in (*STATES, *RELATIONS):
            told = object_id in real_0 and not same(key, real_0[object_id][key], real[key])
            done = object_id in mine_0 and not same(key, mine_0[object_id][key], mine[key])
            agree = same(key, real[key], mine[key])
            if told:
                result.changes[key] += 1
                result.changes_same[key] += agree
                unasked = _unasked(object_id, key, real_0[object_id], real, drifting)
                result.unasked += unasked
                result.unasked_same += unasked and agree
            elif done and not agree:
                result.invented[key] += 1
            if (told or done) and not agree:
                unasked = _unasked(object_id, key, real_0.get(object_id, real), real, drifting)
                result.misses.append(
                    _miss(name, row, object_id, key, (real[key], mine[key]), unasked)
                )


def _drifting(
    row: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> set[str]:
    """Return the ids of objects that moved in the recording although no action handled them."""
    handled = set(map(str, row["action"].values()))
    moved = set()
    for object_id, entry in after.items():
        old = before.get(object_id)
        if old is None or object_id in handled or old["isPickedUp"] or entry["isPickedUp"]:
            continue
        if handled & {*(old["parentReceptacles"] or ()), *(entry["parentReceptacles"] or ())}:
            continue
        if math.dist(tuple(old["position"].values()), tuple(entry["position"].values())) > DRIFT:
            moved.add(object_id)
    return moved


def _unasked(
    object_id: str, key: str, old: Mapping[str, Any], new: Mapping[str, Any], drifting: set[str]
) -> bool:
    if key == "receptacleObjectIds":
        changed = set(old[key] or ()) ^ set(new[key] or ())
        return bool(changed) and changed <= drifting
    return object_id in drifting


def _count(result: Agreement, name: str, told: bool) -> None:
    (result.changes if told else result.invented)[name] += 1


def _miss(
    name: str, row: Mapping[str, Any], object_id: str, key: str, values: Any, unasked: bool = False
) -> dict[str, Any]:
    return {
        "episode": name,
        "step": row.get("step"),
        "action": row["action"].get("action"),
        "object": object_id,
        "field": key,
        "recorded_and_kitchen": values,
        "unasked": unasked,
    }


def share(part: float, whole: float) -> str:
    return f"{part:g} of {whole:g} ({100.0 * part / whole:.2f} %)" if whole else "none"


def report(name: str, found: Agreement, fields: bool) -> None:
    print(f"## {name}: {found.steps} actions")
    print(f"  lastActionSuccess  {share(found.success, found.steps)}")
    print(f"  held object         {share(found.hand, found.steps)}")
    told, kept = sum(found.changes.values()), sum(found.changes_same.values())
    print(f"  changes of state and relations reproduced  {share(kept, told)}")
    asked = share(kept - found.unasked_same, told - found.unasked)
    print(f"    of these, without unasked falling and rolling  {asked}")
    print(f"  changes that AI2-THOR did not make  {sum(found.invented.values())}")
    for title, names in (
        ("state", STATES),
        ("relations", RELATIONS),
        ("place", PLACES),
        ("sight", SIGHT),
    ):
        whole = sum(found.values[n] for n in names)
        print(f"  values, {title}  {share(sum(found.values_same[n] for n in names), whole)}")
    if fields:
        print("  field                values                            changes")
        for key in (*STATES, *RELATIONS, *PLACES, *SIGHT):
            row = share(found.values_same[key], found.values[key])
            changed = share(found.changes_same[key], found.changes[key])
            print(f"  {key:20} {row:33} {changed}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="recordings; default: all of --data")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of *.jsonl.gz")
    parser.add_argument("--all", action="store_true", help="also print the fields of each episode")
    parser.add_argument("--json", type=Path, help="write all misses to this file")
    options = parser.parse_args()
    files = options.files or sorted(options.data.glob("*.jsonl.gz"))
    if not files:
        parser.error(f"no recordings in {options.data}: name files or give --data")
    print(conditions())
    whole = Agreement()
    for path in files:
        name = path.name.split(".")[0]
        try:
            found = compare(name, read_episode(path))
        except (HvrError, OSError, ValueError, KeyError, TypeError, IndexError) as error:
            print(f"{path}: not a recorded episode ({type(error).__name__}: {error})")
            return 2
        report(name, found, options.all)
        whole.add(found)
    print()
    report("all", whole, True)
    print("\n## differences")
    for miss in whole.misses:
        note = " (unasked: physics)" if miss["unasked"] else ""
        print(
            f"  {miss['episode']} step {miss['step']} {miss['action']}: {miss['object']} "
            f"{miss['field']}{note}: {str(miss['recorded_and_kitchen'])[:160]}"
        )
    if options.json:
        options.json.write_text(json.dumps(whole.misses, indent=1), encoding="utf-8")
    told = sum(whole.changes.values()) - whole.unasked
    kept = sum(whole.changes_same.values()) - whole.unasked_same
    return 0 if whole.success >= 0.97 * whole.steps and kept >= 0.97 * told else 1


if __name__ == "__main__":
    sys.exit(measured(main))

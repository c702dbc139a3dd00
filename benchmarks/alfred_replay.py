"""Replay ALFRED's expert demonstrations in the kitchen, action by action.

    python benchmarks/alfred_replay.py [--data FILE] [--limit N | --every N] [--seen]
                                       [--jobs N] [--engine NAME] [--address A]

The kitchen's 2.1.0 profile replays every demonstration with the expert's arguments: first the walk
between interactions (a blocked step teleports the agent to the expert's position), then each
interaction. The kitchen forces an action where the demonstration forces it. Visibility is compared
only with `--seen`: AI2-THOR 5 moved furniture by centimetres, and the shapes of 2.1.0 are not
public. Without it, reach is forced for the other interactions too, and the number of
targets in view is reported separately.

A demonstration succeeds when every interaction does and the goal in its `pddl_params` holds in the
last state by ALFRED's own conditions (alfred_judge.py). Every miss is listed with its cause. The
exit code is 0 if 97 % succeed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from alfred_judge import DATA, Judge, Wanted, read
from conditions import conditions
from inputs import measured
from side_by_side import add_options, chosen, results

from hvr.base.engines.registry import EngineChoice
from hvr.errors import HvrError
from hvr.worlds.kitchen import Kitchen
from studies.alfred import resolve_id, scene_from_alfred

_WALK = {
    "m": ("MoveAhead", {}),
    "l": ("RotateLeft", {}),
    "r": ("RotateRight", {}),
    "u": ("LookUp", {"degrees": 15}),
    "d": ("LookDown", {"degrees": 15}),
}
_PASSED_ON = ("forceAction", "placeStationary")


@dataclass
class Replay:
    """The outcome of replaying one demonstration.

    Args:
        done: Whether all interactions succeeded.
        goal: Whether the goal holds at the end.
        cause: Cause of a miss: the failed interaction and its message, or the unmet goal.
        looked: Number of interactions that the expert did not force.
        seen: Number of unforced interactions whose target the kitchen's agent sees.
        walked: Number of the expert's navigation actions.
        blocked: Number of navigation actions that the kitchen refused.
    """

    id: str
    floor_plan: str
    task_type: str
    done: bool = False
    goal: bool = False
    cause: str = ""
    interactions: int = 0
    succeeded: int = 0
    looked: int = 0
    seen: int = 0
    walked: int = 0
    blocked: int = 0

    @property
    def success(self) -> bool:
        return self.done and self.goal


def replay(record: Mapping[str, Any], only_seen: bool = False) -> Replay:
    result = Replay(
        str(record.get("id", "")),
        str(record.get("floor_plan", "")),
        str(record.get("task_type", "")),
    )
    try:
        scene = scene_from_alfred(record)
        judge = Judge(Kitchen(scene, profile="2.1.0"))
        steps: dict[int, list[Mapping[str, Any]]] = {}
        for step in record["interactions"]:
            steps.setdefault(int(step["high_idx"]), []).append(step)
        result.interactions = len(record["interactions"])
        walks = list(record.get("nav", ()))
        for index in range(max([len(walks), *(i + 1 for i in steps)])):
            if index < len(walks):
                _walk(judge, walks[index], result)
            for step in steps.get(index, ()):
                _interact(judge, scene, step, result, only_seen)
        result.done = result.succeeded == result.interactions
        wanted = Wanted.of(record)
        missing = "its task type is not judged" if wanted is None else judge.missing(wanted)
        result.goal = not missing
        if missing and not result.cause:
            result.cause = f"goal: {missing}"
    except (HvrError, KeyError, TypeError, ValueError) as error:
        result.cause = result.cause or f"{type(error).__name__}: {error}"
    return result


def _walk(judge: Judge, moves: str, result: Replay) -> None:
    """Replay the expert's walk; if only the kitchen blocks a step, teleport the agent past it."""
    for move in moves:
        action, arguments = _WALK[move]
        result.walked += 1
        if not judge.step(action, **arguments):
            result.blocked += 1
            judge.step(action, forceAction=True, **arguments)


def _interact(
    judge: Judge, scene: Any, step: Mapping[str, Any], result: Replay, only_seen: bool
) -> None:
    arguments: dict[str, Any] = {key: step[key] for key in _PASSED_ON if key in step}
    for key in ("objectId", "receptacleObjectId"):
        if key in step:
            found = resolve_id(scene, step[key], 1)
            arguments[key] = found if found is not None else step[key]
    action = str(step["action"])
    moment = judge.kitchen.snapshot()
    if arguments.get("forceAction"):
        event = judge.step(action, **arguments)
    else:
        result.looked += 1
        event = judge.step(action, **arguments)
        unseen = "visibility" in ("" if event else event.metadata["errorMessage"])
        result.seen += not unseen
        if unseen and not only_seen:
            judge.kitchen.restore(moment)
            event = judge.step(action, forceAction=True, **arguments)
    result.succeeded += bool(event)
    if not event and not result.cause:
        message = event.metadata["errorMessage"]
        result.cause = f"{action} {step.get('receptacleObjectId', step['objectId'])}: {message}"


def run(
    records: Sequence[Mapping[str, Any]], only_seen: bool, engine: EngineChoice
) -> Iterable[Replay]:
    return results(partial(replay, only_seen=only_seen), records, engine, chunk=8)


def share(part: float, whole: float) -> str:
    return f"{part:g} of {whole:g} ({100.0 * part / whole:.2f} %)" if whole else "none"


def report(found: Sequence[Replay], seconds: float) -> None:
    total = len(found)
    print("| task type | demonstrations | all interactions | goal holds | both |")
    print("| --- | --- | --- | --- | --- |")
    for kind in sorted({r.task_type for r in found}):
        some = [r for r in found if r.task_type == kind]
        print(
            f"| {kind} | {len(some)} | {sum(r.done for r in some)} | "
            f"{sum(r.goal for r in some)} | {sum(r.success for r in some)} |"
        )
    print(f"\nsucceeded with the goal true: {share(sum(r.success for r in found), total)}")
    print(f"interactions: {share(*_sums(found, 'succeeded', 'interactions'))}")
    print(f"unforced ones with the target in view: {share(*_sums(found, 'seen', 'looked'))}")
    print(f"blocked steps of the walk: {share(*_sums(found, 'blocked', 'walked'))}")
    print(f"{seconds:.1f} s")
    misses = [r for r in found if not r.success]
    if misses:
        print(f"\n{len(misses)} misses by cause:")
        for cause, count in Counter(_class(r.cause) for r in misses).most_common():
            print(f"  {count:4} {cause}")
        print()
        for r in misses:
            print(f"  {r.floor_plan} {r.id}: {r.cause}")


def _sums(found: Sequence[Replay], part: str, whole: str) -> tuple[int, int]:
    return sum(getattr(r, part) for r in found), sum(getattr(r, whole) for r in found)


def _class(cause: str) -> str:
    """Remove names and numbers from a cause, so that equal causes are counted together."""
    head, _, message = cause.partition(": ")
    words = [word for word in message.split() if not any(c.isdigit() for c in word)]
    return f"{head.split('|')[0]}: {' '.join(words)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="JSON Lines file, plain or gzipped")
    parser.add_argument("--limit", type=int, help="only the first N demonstrations")
    parser.add_argument("--every", type=int, default=1, help="only every Nth demonstration")
    add_options(parser)
    parser.add_argument(
        "--seen", action="store_true", help="do not force interactions with targets out of view"
    )
    parser.add_argument("--json", type=Path, help="write all results to this file")
    options = parser.parse_args(arguments)
    try:
        records = list(read(options.data, options.limit))[:: max(1, options.every)]
    except (OSError, ValueError) as error:
        print(f"{options.data} cannot be read: {error}", file=sys.stderr)
        return 2
    print(conditions())
    start = time.perf_counter()
    found = list(run(records, options.seen, chosen(options)))
    report(found, time.perf_counter() - start)
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in found], indent=1), encoding="utf-8")
    return 0 if found and sum(r.success for r in found) >= 0.97 * len(found) else 1


if __name__ == "__main__":
    sys.exit(measured(main))

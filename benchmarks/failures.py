"""Measure failure detection and recovery under injected faults.

    python benchmarks/failures.py reflect                   # REFLECT's scenarios
    python benchmarks/failures.py free                      # no faults: false alarms
    python benchmarks/failures.py faults --jobs 2 --out rows.jsonl      # or --engine ray
    python benchmarks/failures.py faults --tasks T2 T5 --kinds drop occupied --limit 100
    python benchmarks/failures.py                           # all three

`faults` injects every kind of fault at every step of the plan where it can occur, for each task in
three scenes: the ground truth's scene, with the ground truth as the plan, and the next two scenes
that have the required objects. With --out, an interrupted run resumes. Everything runs in hvr's
kitchen, not in AI2-THOR.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured
from side_by_side import add_options, chosen, results

from hvr.errors import HvrError
from hvr.execution.belief import Sight
from hvr.execution.perception import Sensors
from hvr.runs.tasks import PaperTask, expand_ids, load_task
from hvr.worlds.faults import FaultKind
from studies.fault_runs import Lab, Row, Senses, cases, run_case, run_free
from studies.fault_runs.cases import KINDS
from studies.fault_runs.table import by_kind, confusion, share, without_faults
from studies.reflect import load_scenarios, play, score

PARTS = ("reflect", "free", "faults")
_NOISE = {"free": 0.05, "faults": 0.0}
"""Default share of wrong readings in each part."""

_lab = Lab()
"""Environments shared by the runs of this process."""


def reflect(sight: Sight) -> bool:
    """Run REFLECT's scenarios; return whether each fault is detected at its step and classified."""
    policy = Lab().policy
    print(f"{'scenario':16} {'fault':22} {'fails':>5} {'noticed':>7} {'step':>6} {'kind':>6}  as")
    right = exact = alarms = 0
    scenarios = load_scenarios()
    for scenario in scenarios:
        found = score(
            play(scenario, policy.ontology, policy.domain, sensors=Sensors(sight))
        )  # fmt: skip
        noticed = "-" if found.noticed is None else str(found.noticed)
        print(
            f"{found.id:16} {scenario.kind:22} {found.failing:>5} {noticed:>7} "
            f"{'right' if found.right_step else 'WRONG':>6} "
            f"{'right' if found.right_kind else 'WRONG':>6}  {found.explanation}"
        )
        right += found.right_step and found.right_kind
        exact += found.exact
        if scenario.fault is not None:
            free = play(
                scenario, policy.ontology, policy.domain, faults=False, sensors=Sensors(sight)
            )
            alarms += sum(len(s.failures) for s in free.steps)
    print(
        f"{right} of {len(scenarios)} at the right step and of the right kind; {exact} at the "
        f"annotated action, the others at the first visible sign; {alarms} false alarms in "
        "the same plans without their fault"
    )
    return right == len(scenarios)


def scenes_of(task: PaperTask, count: int) -> tuple[str, ...]:
    """Return the ground truth's scene, then further scenes that have the task's objects."""
    first = task.ground_truth.scene
    return (first, *(s for s in task.scenes if s != first))[:count]


def run_pair(
    pair: tuple[str, str, tuple[str, ...]],
    part: str,
    kinds: tuple[FaultKind, ...],
    senses: Senses,
    seeds: int,
    seed: int = 0,
) -> list[Row]:
    """Run a task in a scene with the faults named by keys, or with all that have no row yet."""
    task_id, scene, wanted = pair
    try:
        baseline = _lab.baseline(load_task(task_id), scene)
    except HvrError as error:
        return [Row(f"{task_id}/{scene}/baseline", task_id, scene, "failed", reason=str(error))]
    if part == "free":
        rows = [run_free(_lab, baseline, Senses(senses.sight))]
        return rows + [run_free(_lab, baseline, senses, seed) for seed in range(seeds)]
    return [
        run_case(_lab, baseline, case, senses)
        for case in cases(baseline, kinds, seed)
        if case.key in wanted
    ]


def keys_of(
    pair: tuple[str, str], kinds: tuple[FaultKind, ...], seed: int, last: int = 0
) -> list[str]:
    """Return the keys of a task's fault runs in a scene, at the `last` steps (0: all steps)."""
    try:
        baseline = _lab.baseline(load_task(pair[0]), pair[1])
    except HvrError as error:
        print(f"{pair[0]} in {pair[1]}: {error}", file=sys.stderr)
        return []
    first = len(baseline.steps) - last if last else 0
    return [case.key for case in cases(baseline, kinds, seed) if case.step > first]


def chunks(keys: Sequence[str], size: int = 20) -> list[tuple[str, str, tuple[str, ...]]]:
    """Group keys into chunks of one task and scene; each chunk is run by one process."""
    by_pair: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        task, scene, *_ = key.split("/")
        by_pair.setdefault((task, scene), []).append(key)
    return [
        (task, scene, tuple(found[i : i + size]))
        for (task, scene), found in by_pair.items()
        for i in range(0, len(found), size)
    ]


def rows_of(
    work: Sequence[object], run: partial[list[Row]], options: argparse.Namespace
) -> Iterator[Row]:
    for rows in results(run, work, chosen(options)):
        yield from rows


def load(path: Path | None) -> list[Row]:
    """Return the rows of an earlier run, without an incomplete last line."""
    if path is None or not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        lists = {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
        rows.append(Row(**{**values, **lists}))
    return rows


def _noise(options: argparse.Namespace, part: str) -> float:
    return _NOISE[part] if options.noise is None else options.noise


def free(options: argparse.Namespace, pairs: Sequence[tuple[str, str]]) -> bool:
    """Run without faults, and return whether there are no false alarms."""
    senses = Senses(Sight(options.sight), _noise(options, "free"), not options.untold)
    run = partial(run_pair, part="free", kinds=(), senses=senses, seeds=options.seeds)
    rows = list(rows_of([(*pair, ()) for pair in pairs], run, options))
    for row in rows:
        if row.early or not row.reached:
            print(f"  {row.key}: {' '.join(row.explanations)} {row.reason}")
    print(without_faults(rows))
    return all(row.reached and not row.early for row in rows)


def faults(options: argparse.Namespace, pairs: Sequence[tuple[str, str]]) -> bool:
    """Run with faults, and return whether every observable fault is detected at its step."""
    kinds = tuple(FaultKind(kind) for kind in options.kinds)
    keys = [key for pair in pairs for key in keys_of(pair, kinds, options.seed, options.last)]
    if options.limit and options.limit < len(keys):
        keys = random.Random(options.seed).sample(keys, options.limit)
    known = {row.key: row for row in load(options.out)}
    todo = chunks([key for key in keys if key not in known])
    print(f"{len(keys)} runs with a fault, {len(keys) - sum(len(c[2]) for c in todo)} known")
    senses = Senses(Sight(options.sight), _noise(options, "faults"), not options.untold)
    run = partial(run_pair, part="faults", kinds=kinds, senses=senses, seeds=0, seed=options.seed)
    out = options.out.open("a", encoding="utf-8") if options.out else None
    for row in rows_of(todo, run, options):
        known[row.key] = row
        if out is not None:
            out.write(json.dumps(row.to_json()) + "\n")
            out.flush()
    if out is not None:
        out.close()
    rows = [known[key] for key in keys if key in known]
    print(by_kind(rows))
    print(confusion(rows))
    shown = [row for row in rows if row.injected and row.observable]
    in_time = sum(row.detection.in_time for row in shown)
    seconds = sum(row.seconds for row in rows)
    print(f"noticed in the same step: {share(in_time, len(shown))}; {seconds:.0f} s of runs")
    return in_time == len(shown)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is given")
    parser.add_argument("--tasks", nargs="*", default=["paper"], help=TASKS_HELP)
    parser.add_argument("--scenes", type=int, default=3, help="maximum number per task")
    parser.add_argument("--skip", type=int, default=0, help="number of scenes to leave out first")
    parser.add_argument("--last", type=int, default=0, help="only faults in so many last steps")
    parser.add_argument("--kinds", nargs="*", default=[k.value for k in KINDS],
                        choices=[k.value for k in KINDS], help="kinds of faults")  # fmt: skip
    parser.add_argument(
        "--limit", type=int, default=0, help="maximum number of runs, a random sample"
    )
    add_options(parser)
    parser.add_argument(
        "--out", type=Path, help="JSON Lines file of rows to resume from and append to"
    )
    parser.add_argument(
        "--noise", type=float, help="share of wrong readings (default: 0 with faults, 0.05 without)"
    )
    parser.add_argument("--untold", action="store_true",
                        help="do not tell the robot the share of wrong readings")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of fault details and sample")
    parser.add_argument("--seeds", type=int, default=1, help="noisy runs of each task and scene")
    parser.add_argument("--sight", choices=[s.value for s in Sight], default="omniscient",
                        help="the robot's sight")  # fmt: skip
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r} (parts: {', '.join(PARTS)})")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested parts; the exit code is 1 after a missed fault or a false alarm."""
    options = parse_arguments(arguments)
    known = "untold" if options.untold else "told"
    noise = ", ".join(f"{_noise(options, part):.0%} in {part}" for part in _NOISE)
    print(f"{conditions(seed=options.seed)} · sight {options.sight}, noise {noise}, {known}")
    pairs = [
        (task_id, scene)
        for task_id in expand_ids(options.tasks)
        for scene in scenes_of(load_task(task_id), options.scenes)[options.skip :]
    ]
    good = True
    for part in options.parts or PARTS:
        print(f"\n{part}")
        if part == "reflect":
            good &= reflect(Sight(options.sight))
        elif part == "free":
            good &= free(options, pairs)
        else:
            good &= faults(options, pairs)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(measured(main))

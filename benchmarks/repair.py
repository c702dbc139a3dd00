"""Measure the repair rate of broken plans: python benchmarks/repair.py manifest.jsonl

The script searches for steps to insert into plans by language models, and into plans with a missing
step, two swapped steps or a truncated end that fail at a precondition or at the goal. These are the
mutations drop_step, swap_adjacent and truncate_tail of the sets ipc and planbench. With `--timed`,
it takes plans with durative actions and one fault (a wrong duration, a duplicate step or an early
start), and searches for a change of one step. It prints how many plans were repaired within the
time limit, the lengths of the repairs, and how many of them make the whole plan valid.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from conditions import conditions
from inputs import measured, records
from side_by_side import add_options, results
from side_by_side import chosen as engine_of

from hvr.errors import HvrError
from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import OnFailure, Validator
from hvr.validation.repair import find_repair, find_suggestions

MUTATIONS = ("drop_step", "swap_adjacent", "truncate_tail")
TIMED_MUTATIONS = (*MUTATIONS, "wrong_duration", "shift_start_earlier", "duplicate_step")
LEFT_OUT = {"durative-actions", "timed-initial-literals", "constraints", "preferences", "malformed"}


@dataclass(frozen=True)
class Row:
    group: str
    name: str
    length: int | None
    completes: bool
    shortened: bool
    seconds: float
    note: str


def chosen(case: dict[str, Any], timed: bool) -> bool:
    if timed:
        fits = case["val"] == "invalid" and case["mutation"] in TIMED_MUTATIONS
        return fits and case["set"] == "ipc" and "durative-actions" in case["features"]
    if case["val_class"] not in ("precondition", "goal"):
        return False
    if LEFT_OUT.intersection(case["features"]):
        return False
    return case["set"] == "planbench" or (case["set"] == "ipc" and case["mutation"] in MUTATIONS)


def advise(case: dict[str, Any], root: Path, seconds: float, timed: bool) -> Row | None:
    """Search for a repair of one case; None if the case cannot be used."""
    find = find_suggestions if timed else find_repair
    group = f"{case['set']} {case['mutation'] or ''} {case['val_class']}"
    try:
        domain = parse_domain(root / case["domain"])
        validator = Validator(domain, parse_problem(root / case["problem"], domain))
        plan = read_plan(root / case["plan"]).steps
    except HvrError:
        return None
    report = validator.check(plan)
    begin = time.perf_counter()
    repair, note = find(validator, plan, report, seconds=seconds)
    taken = time.perf_counter() - begin
    length = None if repair is None else len(repair.actions)
    completes = bool(repair and repair.completes)
    shortened = False
    if repair is not None and not repair.change:
        at = len(plan) if repair.step is None else repair.step - 1
        again = validator.check(
            [*plan[:at], *repair.actions, *plan[at:]], on_failure=OnFailure.SKIP
        )
        shortened = all(failure.step is not None for failure in again.failures)
    return Row(group, case["id"], length, completes, shortened, taken, note)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--sample", type=int, default=100, help="cases of each set (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit for each")
    add_options(parser)
    parser.add_argument("--timed", action="store_true", help="plans with durative actions")
    parser.add_argument("--verbose", action="store_true", help="print each case")
    args = parser.parse_args()
    cases = records(args.manifest, "id", "set", "domain", "problem", "plan", "val")
    cases = [case for case in cases if chosen(case, args.timed)]
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        by_set[case["set"]].append(case)
    picked = []
    for name in sorted(by_set):
        found = by_set[name]
        size = min(args.sample or len(found), len(found))
        picked += random.Random(args.seed).sample(found, size)

    print(conditions(args.seed))
    look = partial(advise, root=args.manifest.parent, seconds=args.seconds, timed=args.timed)
    rows = []
    for row in results(look, picked, engine_of(args)):
        if row is None:
            continue
        rows.append(row)
        if args.verbose:
            print(f"{row.name}: {row.length} {row.completes} {row.seconds:.2f} s {row.note}",
                  flush=True)  # fmt: skip
    report(rows)
    return 0


def report(rows: list[Row]) -> None:
    head = f"{'set, mutation, failure':<36} {'cases':>6} {'found':>6} {'complete':>9} {'*':>6}"
    print(f"\n{head} {'median s':>9} {'max s':>7}  lengths")
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    for name, members in [*sorted(groups.items()), ("all", rows)]:
        found = [row for row in members if row.length is not None]
        complete = sum(row.completes for row in found)
        shortened = sum(row.shortened for row in found)
        times = sorted(row.seconds for row in members)
        lengths = Counter(row.length for row in found)
        shown = " ".join(f"{n}:{c}" for n, c in sorted(lengths.items(), key=lambda p: p[0] or 0))
        print(f"{name:<36} {len(members):>6} {len(found):>6} {complete:>9} {shortened:>6} "
              f"{times[len(times) // 2]:>9.3f} {times[-1]:>7.2f}  {shown}")  # fmt: skip
    print("*: the plan is valid with the repair and without later steps that then fail")
    notes = Counter(row.note for row in rows if row.length is None)
    for note, count in notes.most_common(20):
        print(f"{count:>6}  {note}")


if __name__ == "__main__":
    sys.exit(measured(main))

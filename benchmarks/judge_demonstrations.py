"""Find redundant steps in human demonstrations, namely ALFRED's in kitchens.

    python benchmarks/judge_demonstrations.py [--alfred FILE] [--limit N] [--out critiques.jsonl]

Each demonstration becomes a plan of hvr's skills for ALFRED's own goal and for hvr's preferences on
the final state of a kitchen, which do not require closed cupboards. The judge then names the
redundant steps. `--out` saves the output of `hvr judge --format jsonl`: request, plan, critique,
repaired plan and proof. People also close doors that may stay open, so a redundant step is not an
error in the data.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from alfred_goals import goal_of, kitchen_ontology
from alfred_judge import DATA, Wanted, read
from conditions import conditions
from inputs import measured

from hvr.errors import HvrError
from hvr.judging.reports import record
from hvr.judging.symbolic import judge
from hvr.judging.verdict import PlanVerdict
from hvr.pddl import Task
from hvr.validation import Validator
from studies.judging.demonstrations import Demonstration, domain, read_demonstration


def counts_of(verdict: PlanVerdict) -> Counter[tuple[str, str]]:
    """Return the number of steps that a verdict removes, by cause and skill."""
    found: Counter[tuple[str, str]] = Counter()
    for critique in verdict.critiques:
        if critique.cause is not None:
            found[critique.cause.value, verdict.plan[critique.index - 1].name] += 1
    return found


def shown(demonstrations: list[tuple[Demonstration, PlanVerdict]], read_of: int) -> None:
    types = sorted({shown.task_type for shown, _ in demonstrations})
    print(f"{len(demonstrations)} of {read_of} demonstrations are plans of hvr's skills")
    print(
        f"{'task type':36}{'plans':>7}{'with a step':>13}{'steps':>8}{'redundant':>11}{'proven':>8}"
    )
    for name in [*types, "all"]:
        rows = [v for s, v in demonstrations if name in (s.task_type, "all")]
        steps, gone = sum(len(v.plan) for v in rows), sum(len(v.removed) for v in rows)
        print(f"{name:36}{len(rows):7}{sum(bool(v.removed) for v in rows):13}{steps:8}{gone:11}"
              f"{sum(v.proven for v in rows):8}")  # fmt: skip
    total: Counter[tuple[str, str]] = Counter()
    for _, verdict in demonstrations:
        total += counts_of(verdict)
    for (cause, skill), count in total.most_common():
        print(f"{cause:16}{skill:20}{count:6}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--alfred", type=Path, default=DATA)
    parser.add_argument("--limit", type=int, help="maximum number of demonstrations")
    parser.add_argument("--out", type=Path, help="write the critiques to this JSON Lines file")
    options = parser.parse_args()
    ontology = kitchen_ontology()
    found: list[tuple[Demonstration, PlanVerdict]] = []
    started = time.process_time()
    rows = list(read(options.alfred, options.limit))
    for row in rows:
        wanted = Wanted.of(row)
        try:
            goal = goal_of(wanted, ontology) if wanted is not None else None
        except HvrError:
            goal = None
        demonstration = read_demonstration(row, goal) if goal is not None else None
        if demonstration is not None:
            validator = Validator(Task(domain(), demonstration.problem))
            found.append((demonstration, judge(validator, demonstration.plan)))
    seconds = time.process_time() - started
    print(conditions())
    shown(found, len(rows))
    print(
        f"{1000 * seconds / max(len(found), 1):.0f} ms of CPU per demonstration, including reading"
    )
    if options.out is not None:
        lines = (json.dumps(record(s.sentences[0], verdict)) for s, verdict in found)
        options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))

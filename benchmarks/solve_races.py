"""Time each planner alone, for the record by which `hvr solve` orders planners.

    python benchmarks/solve_races.py --data MANIFEST [--seconds 10] [--planners forward,up:enhsp]
                                     [--classes numeric,temporal] [--keep
                                     hvr/planning/solving/races.tsv] > races.tsv

The script takes the first and the fifth problem of each domain of the set `ipc` in one of the
classes, and runs each planner alone for `--seconds`. Each problem's row shows the seconds until the
first plan that hvr's validator accepts, or "-". `--keep` copies the other planners' columns from an
earlier record.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from conditions import conditions
from inputs import measured
from solve import class_of, problems

from hvr.pddl import Task, parse_domain, parse_problem, read_plan
from hvr.planning.solving.portfolio import (
    PlannerJob,
    Program,
    Running,
    features_of,
    named,
    read_races,
)
from hvr.planning.solving.race import retimed
from hvr.validation import Validator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_RAW)
    parser.add_argument("--data", type=Path, required=True, metavar="MANIFEST")
    parser.add_argument("--sets", default="ipc", help="comma-separated sets of the manifest")
    parser.add_argument("--take", default="1,5", help="which problems of each domain, from 1")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--planners", required=True, help="comma-separated planner names, as for --planner"
    )
    parser.add_argument("--classes", default="numeric,temporal", help="comma-separated classes")
    parser.add_argument("--keep", type=Path, help="earlier record to copy columns from")
    args = parser.parse_args()
    former = read_races(args.keep.read_text(encoding="utf-8")) if args.keep else ()
    kept = {race.problem: dict(race.seconds) for race in former}
    names = list(dict.fromkeys([*args.planners.split(","), *_columns(args.keep)]))
    print(
        f"# Seconds until the first valid plan, each planner alone; -: none in {args.seconds:g} s"
    )
    print(f"# benchmarks/solve_races.py; {conditions()}".replace("\n", "; "))
    print("\t".join(["problem", "features", "objects", *names]))
    for domain, problem in problems(args.data, args.sets.split(","), args.take):
        parsed = parse_domain(domain, lenient=True)
        posed = parse_problem(problem, parsed, lenient=True)
        features = features_of(parsed, posed)
        if class_of(features) not in args.classes.split(","):
            continue
        seconds = kept.get(problem.stem, {})
        task = Task(parsed, posed)
        for name in args.planners.split(","):
            job = PlannerJob(domain, problem, features, args.seconds)
            program = named(name, frozenset()).programs[0]
            seconds.pop(name, None)
            taken = None if program.lacks & features else alone(program, job, Validator(task))
            if taken is not None:
                seconds[name] = taken
        row = [f"{seconds[name]:.2f}" if name in seconds else "-" for name in names]
        words = ",".join(sorted(feature.name for feature in features))
        print("\t".join([problem.stem, words, str(len(task.objects)), *row]), flush=True)


def _columns(record: Path | None) -> list[str]:
    lines = record.read_text(encoding="utf-8").splitlines() if record else []
    heads = [line for line in lines if line.startswith("problem\t")]
    return heads[0].split("\t")[3:] if heads else []


def alone(program: Program, job: PlannerJob, validator: Validator) -> float | None:
    """Return the seconds until a planner alone writes a valid plan; None if it writes none."""
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        Running(program, job, Path(folder) / "work") as running,
    ):
        while True:
            code, now = running.code, time.perf_counter() - started
            for text in running.new_plans():
                steps = read_plan(text).steps
                moved = retimed(validator, steps)
                if any(validator.check(plan).valid for plan in (steps, moved) if plan is not None):
                    return now
            if code is not None or now > job.seconds:
                return None
            time.sleep(0.02)


_RAW = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(measured(main))

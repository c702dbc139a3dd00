"""Compare `hvr solve` with each planner alone, in the same run.

    python benchmarks/solve_beside.py --data MANIFEST [--sets ipc] [--take 1] [--seconds 20]
                                      [--classes numeric,temporal] [--each N]
                                      [--planners forward,temporal,up:enhsp] [--bare]

`hvr solve --anytime` is timed as a user sees it: from the start of the command to the first plan
that it prints, or to its proof that there is none. `hvr solve --anytime --planner NAME` gets the
same time for each planner of `--planners`, one after another. The ratio to the fastest of them is
the price of not knowing which one to name. `--bare` times the planners without the command, from
the start of their process to the first plan that hvr's validator accepts. `--each N` takes N
problems of each class, spread over its domains.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from conditions import conditions
from inputs import measured
from solve import class_of, problems
from solve_races import alone

from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.solving.portfolio import Feature, PlannerJob, features_of, named
from hvr.validation import Validator

_ALL = "fast-downward,downward,forward,temporal,up:enhsp,up:lpg-anytime,up:tamer,up:aries"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_RAW)
    parser.add_argument("--data", type=Path, required=True, metavar="MANIFEST")
    parser.add_argument("--sets", default="ipc", help="comma-separated sets of the manifest")
    parser.add_argument("--take", default="1", help="which problems of each domain, from 1")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--classes", help="comma-separated subset of classical, numeric, temporal")
    parser.add_argument("--each", type=int, help="maximum number of problems of each class")
    parser.add_argument(
        "--planners", default=_ALL, help="comma-separated planner names, as for --planner"
    )
    parser.add_argument("--bare", action="store_true", help="time planners without the command")
    args = parser.parse_args()

    names = args.planners.split(",")
    chosen: dict[str, list[tuple[Path, Path, frozenset[Feature]]]] = {}
    for domain, problem in problems(args.data, args.sets.split(","), args.take):
        parsed = parse_domain(domain, lenient=True)
        features = features_of(parsed, parse_problem(problem, parsed, lenient=True))
        if not args.classes or class_of(features) in args.classes.split(","):
            chosen.setdefault(class_of(features), []).append((domain, problem, features))
    print(conditions())
    print(f"{args.seconds:g} s per problem and planner\n")
    print(f"| class | problem | hvr solve | {' | '.join(names)} |")
    print(f"| --- | --- | ---: |{' ---: |' * len(names)}")
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for kind, cases in sorted(chosen.items()):
        for domain, problem, features in cases[:: _stride(len(cases), args.each)]:
            ours = _solved(domain, problem, args.seconds)
            single = [
                _bare(name, domain, problem, features, args.seconds)
                if args.bare
                else _solved(domain, problem, args.seconds, "--planner", name)
                for name in names
            ]
            best = min((one for one in single if one is not None), default=None)
            found.setdefault(kind, []).append((ours, best))
            cells = " | ".join(map(_text, (ours, *single)))
            print(f"| {kind} | {problem.stem} | {cells} |", flush=True)
    print("\n| class | problems | hvr solves | best single | both: median ratio | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind, pairs in sorted(found.items()):
        ratios = [ours / best for ours, best in pairs if ours is not None and best is not None]
        middle, worst = (f"{median(ratios):.2f}", f"{max(ratios):.2f}") if ratios else ("", "")
        ours_solved = sum(ours is not None for ours, _ in pairs)
        best_solved = sum(best is not None for _, best in pairs)
        print(f"| {kind} | {len(pairs)} | {ours_solved} | {best_solved} | {middle} | {worst} |")


def _stride(cases: int, each: int | None) -> int:
    return 1 if each is None else max(1, -(-cases // each))


def _bare(
    name: str, domain: Path, problem: Path, features: frozenset[Feature], seconds: float
) -> float | None:
    """Return the seconds that a planner alone takes to find a valid plan; None if it finds none."""
    program = named(name, frozenset()).programs[0]
    if program.lacks & features:
        return None
    parsed = parse_domain(domain, lenient=True)
    task = Task(parsed, parse_problem(problem, parsed, lenient=True))
    return alone(program, PlannerJob(domain, problem, features, seconds), Validator(task))


def _solved(domain: Path, problem: Path, seconds: float, *options: str) -> float | None:
    """Return the seconds until `hvr solve` prints a plan or a proof; None if it prints neither."""
    words = [sys.executable, "-m", "hvr", "solve", str(domain), str(problem), "--anytime", "--json"]
    started = time.perf_counter()
    with subprocess.Popen(
        [*words, "--budget", f"{seconds}", *options],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - started
        process.terminate()
    # Proven unsolvability prints a "finished" line alone.
    return taken if line and json.loads(line).get("event") in ("plan", "finished") else None


def _text(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}"


_RAW = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(measured(main))

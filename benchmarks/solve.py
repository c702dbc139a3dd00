"""Compare `hvr solve` with plain Fast Downward in the same run.

    python benchmarks/solve.py --data MANIFEST [--sets ipc] [--take 1,5] [--seconds 60] [--limit N]
                               [--classes numeric,temporal] [--optimal]

The manifest has one JSON object per line with `set`, `domain`, `problem` and `features`; paths are
relative to it. The first and the fifth problem of each domain are taken (`--take`). Both planners
get the same wall time, one after the other on the same machine: `hvr solve` as a user calls it, and
`fast-downward.py --alias lama-first` of the package up-fast-downward. With `--optimal` both search
for a cheapest plan, Fast Downward with `astar(lmcut())`, or `astar(blind())` for conditional
effects or derived predicates. The validator of hvr judges all plans. A cost is the value of the
problem's metric, or the number of steps without a metric. Problems with features that Fast Downward
refuses (numbers, time, constraints, preferences) go to `hvr solve` alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from conditions import conditions
from inputs import measured, records

from hvr.pddl import parse_domain, parse_problem
from hvr.planning.search.fast_downward import binary
from hvr.planning.solving.portfolio import DOWNWARD, Feature, features_of
from hvr.validation import validate

_LAMA = ("--alias", "lama-first")
_UNSUPPORTED = 34
"""Fast Downward's exit code when a search does not support conditional effects or axioms."""


@dataclass(frozen=True)
class Result:
    """A planner's result: the cost of a valid plan, or the reason why there is none (`word`)."""

    cost: Fraction | None
    seconds: float
    word: str = ""
    proven: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_RAW)
    parser.add_argument("--data", type=Path, required=True, metavar="MANIFEST")
    parser.add_argument("--sets", default="ipc", help="comma-separated sets of the manifest")
    parser.add_argument("--take", default="1,5", help="which problems of each domain, from 1")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--optimal", action="store_true", help="search for proven cheapest plans")
    parser.add_argument("--classes", help="comma-separated subset of classical, numeric, temporal")
    parser.add_argument("--limit", type=int, help="maximum number of problems")
    args = parser.parse_args()

    print(conditions())
    print(f"{args.seconds:g} s per problem and planner; problems {args.take} of each domain\n")
    name = "A*" if args.optimal else "lama-first"
    print(f"| problem | hvr: cost | s | proven | {name}: cost | s |")
    print("| --- | ---: | ---: | --- | ---: | ---: |")
    rows: list[tuple[Result, Result]] = []
    others: list[Result] = []
    classes: dict[str, list[Result]] = {}
    for domain, problem in problems(args.data, args.sets.split(","), args.take):
        parsed = parse_domain(domain, lenient=True)
        features = features_of(parsed, parse_problem(problem, parsed, lenient=True))
        kind = class_of(features)
        if args.classes and kind not in args.classes.split(","):
            continue
        ours = by_hvr(domain, problem, args.seconds, optimal=args.optimal)
        classes.setdefault(kind, []).append(ours)
        told = f"| {problem.stem} | {_cost(ours)} | {ours.seconds:.1f} | {'yes' * ours.proven} |"
        if features & DOWNWARD.lacks:
            others.append(ours)
            print(f"{told} | {', '.join(sorted(features & DOWNWARD.lacks))} |", flush=True)
            continue
        solve = _a_star if args.optimal else by_downward
        plain = solve(domain, problem, args.seconds)
        rows.append((ours, plain))
        print(f"{told} {_cost(plain)} | {plain.seconds:.1f} |", flush=True)
        if args.limit and len(rows) == args.limit:
            break
    both = [(o.cost, p.cost) for o, p in rows if o.cost is not None and p.cost is not None]
    print(f"\n{len(rows)} problems; {len(others)} more use features that Fast Downward lacks: "
          f"hvr solves {sum(o.cost is not None for o in others)} of them")  # fmt: skip
    print(f"solved: hvr {sum(o.cost is not None for o, _ in rows)}, "
          f"{name} {sum(p.cost is not None for _, p in rows)}")  # fmt: skip
    print(f"of {len(both)} solved by both, hvr's plan is cheaper in "
          f"{sum(o < p for o, p in both)} and more expensive in "
          f"{sum(o > p for o, p in both)}")  # fmt: skip
    print("\n| class | problems | hvr solves | median s |\n| --- | ---: | ---: | ---: |")
    for kind, found in sorted(classes.items()):
        solved = [one.seconds for one in found if one.cost is not None]
        middle = f"{median(solved):.1f}" if solved else ""
        print(f"| {kind} | {len(found)} | {len(solved)} | {middle} |")
    results = [*others, *(result for pair in rows for result in pair)]
    invalid = [result for result in results if result.word == "invalid"]
    print(f"invalid plans: {len(invalid)}")


_RAW = argparse.RawDescriptionHelpFormatter


def class_of(features: frozenset[Feature]) -> str:
    if features & {Feature.DURATIVE, Feature.TIMED, Feature.CONTINUOUS}:
        return "temporal"
    return "numeric" if Feature.NUMERIC in features else "classical"


def problems(manifest: Path, sets: list[str], take: str) -> Iterator[tuple[Path, Path]]:
    known: dict[str, dict[str, None]] = {}
    for case in records(manifest, "set", "domain", "problem", "val"):
        if case["set"] in sets and case["val"] != "error":
            known.setdefault(case["domain"], {})[case["problem"]] = None
    for domain, problems in sorted(known.items()):
        for number in map(int, take.split(",")):
            if number <= len(problems):
                yield manifest.parent / domain, manifest.parent / list(problems)[number - 1]


def _a_star(domain: Path, problem: Path, seconds: float) -> Result:
    """Solve a problem with A*, blindly if the heuristic does not support its features."""
    result = by_downward(domain, problem, seconds, ("--search", "astar(lmcut())"))
    if result.word != f"exit {_UNSUPPORTED}":
        return result
    rest = seconds - result.seconds
    blind = by_downward(domain, problem, rest, ("--search", "astar(blind())"))
    return replace(blind, seconds=result.seconds + blind.seconds)


def by_hvr(domain: Path, problem: Path, seconds: float, *, optimal: bool = False) -> Result:
    """Solve a problem with `hvr solve`, and validate its plan again."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "hvr", "solve", domain, problem, "--json", "--budget", f"{seconds}",
         *["--optimal"] * optimal],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    elapsed = time.perf_counter() - started
    if done.returncode not in (0, 1):
        return Result(None, elapsed, f"exit {done.returncode}")
    told = json.loads(done.stdout)
    if not told["solved"]:
        return Result(None, elapsed, "no plan", True)
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan"
        plan.write_text("\n".join(told["steps"]), encoding="utf-8")
        report = validate(domain, problem, plan, lenient=True)
    if not report.valid:
        return Result(None, elapsed, "invalid")
    return Result(report.cost, elapsed, "", told["proven"])


def by_downward(
    domain: Path, problem: Path, seconds: float, search: tuple[str, ...] = _LAMA
) -> Result:
    """Solve a problem with plain Fast Downward, and validate its plan."""
    driver = binary().parents[3] / "fast-downward.py"
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, driver, "--overall-time-limit", f"{round(seconds)}s", "--plan-file",
             "plan", *search * (search is _LAMA), domain.resolve(), problem.resolve(),
             *search * (search is not _LAMA)],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        elapsed = time.perf_counter() - started
        plan = Path(folder) / "plan"
        if not plan.exists():
            return Result(None, elapsed, f"exit {done.returncode}")
        report = validate(domain, problem, plan, lenient=True)
    if not report.valid:
        return Result(None, elapsed, "invalid")
    return Result(report.cost, elapsed)


def _cost(result: Result) -> str:
    return result.word if result.cost is None else f"{float(result.cost):g}"


if __name__ == "__main__":
    sys.exit(measured(main))

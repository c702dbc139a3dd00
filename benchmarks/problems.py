"""Check generated problems (`hvr problems`) against planners.

    python benchmarks/problems.py [--count N] [--seed N] [--unsolvable SHARE] [--jobs N]

For each problem, the validator judges the generated plan; a planner must find a plan of the same
length and prove it shortest, or prove that there is none. Classical problems go to Fast Downward's
A* on hvr's grounding, and every 20th also to Fast Downward with its own translator. The jugs are
also solved as pairs of numbers, without PDDL, and the fuses by trying every assignment to matches.
Temporal problems go to a named unified-planning engine (`--timed tamer`), which must find a plan
that is not shorter.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions
from inputs import measured

from hvr.errors import HvrError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.problems import FAMILIES, LEVELS, GradedProblem, graded
from hvr.planning.search.fast_downward import solve
from hvr.planning.solving.solve import SolveOptions
from hvr.planning.solving.solve import solve as solve_files
from hvr.validation import validate

SECONDS = 300.0
SAMPLE = 20


def check(job: tuple[str, int, int, bool, str]) -> tuple[str, int, bool, str, int, float, float]:
    family, level, seed, solvable, engine = job
    begun = time.process_time()
    problem = graded(family, level, seed, solvable=solvable)
    made = time.process_time() - begun
    start = time.perf_counter()
    verdict = judged(problem, engine)
    seconds = time.perf_counter() - start
    return family, level, solvable, verdict, problem.best or 0, made, seconds


def judged(problem: GradedProblem, engine: str) -> str:
    """Return `agreed`, `agreed in part` or a description of the fault."""
    if problem.plan is not None:
        report = validate(problem.domain, problem.problem, "\n".join(problem.plan))
        if not report.valid or report.steps != problem.best:
            return f"{problem.id}: the plan is not valid"
    if problem.family == "jugs":
        found = poured(problem)
        return "agreed" if found == problem.best else f"{problem.id}: {found} pourings"
    if problem.timed:
        found = mended(problem)
        if found != problem.best:
            return f"{problem.id}: {found} steps"
        return timed(problem, engine) if engine else "agreed"
    domain = parse_domain(problem.domain)
    try:
        result = solve(Task(domain, parse_problem(problem.problem, domain)), SECONDS)
    except HvrError as error:
        return f"{problem.id}: {error}"
    length = None if result.plan is None else len(result.plan)
    if not result.optimal or length != problem.best:
        return f"{problem.id}: the planner says {length}, optimal: {result.optimal}"
    if problem.seed % SAMPLE == 0:
        return by_files(problem, "downward", optimal=True)
    return "agreed"


def timed(problem: GradedProblem, engine: str) -> str:
    """Check that a temporal problem has a plan no shorter than stated, or has none as stated.

    Engines rarely prove unsolvability; if an engine does not answer, the result is `agreed in
    part`.
    """
    verdict = by_files(problem, f"up:{engine}", optimal=False)
    return "agreed in part" if "no plan was found" in verdict else verdict


def by_files(problem: GradedProblem, planner: str, *, optimal: bool) -> str:
    """Check a problem with a planner that reads files."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "domain.pddl", Path(folder) / "problem.pddl"
        for file, text in zip(files, (problem.domain, problem.problem), strict=True):
            file.write_text(text, encoding="utf-8")
        try:
            solution = solve_files(
                *files, SolveOptions(planner, SECONDS if optimal else 10.0, optimal)
            )
        except HvrError as error:
            return f"{problem.id}: {error}"
    length = None if solution.steps is None else len(solution.steps)
    if (length is None) != (problem.best is None):
        return f"{problem.id}: {planner} says {length}"
    if length is not None and problem.best is not None and (
        length < problem.best or (optimal and length != problem.best)
    ):  # fmt: skip
        return f"{problem.id}: {planner} has {length} steps"
    return "agreed"


def poured(problem: GradedProblem) -> int | None:
    """Return the minimum number of pourings between two jugs; None if the amount is unreachable."""
    sizes = {j: int(n) for j, n in re.findall(r"capacity (\w+)\) (\d+)", problem.problem)}
    ((jug, amount),) = re.findall(r"\(:goal.*amount (\w+)\) (\d+)", problem.problem, re.DOTALL)
    one, two = sizes.values()
    place = list(sizes).index(jug)
    layer, seen, depth = {(0, 0)}, {(0, 0)}, 0
    while layer:
        if any(state[place] == int(amount) for state in layer):
            return depth
        layer = {after for a, b in layer for after in _pourings(a, b, one, two)} - seen
        seen |= layer
        depth += 1
    return None


def _pourings(a: int, b: int, one: int, two: int) -> Iterator[tuple[int, int]]:
    yield from ((one, b), (a, two), (0, b), (a, 0))
    there, back = min(a, two - b), min(b, one - a)
    yield from ((a - there, b + there), (a + back, b - back))


def mended(problem: GradedProblem) -> int | None:
    """Return the fewest steps that repair all fuses, trying each assignment to matches."""
    lights = [int(n) for n in re.findall(r"burning-time \w+\) (\d+)", problem.problem)]
    fuses = [int(n) for n in re.findall(r"mending-time \w+\) (\d+)", problem.problem)]
    struck = [
        len(set(given))
        for given in product(range(len(lights)), repeat=len(fuses))
        if all(
            sum(time for time, match in zip(fuses, given, strict=True) if match == number) < light
            for number, light in enumerate(lights)
        )
    ]
    return len(fuses) + min(struck) if struck else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unsolvable", type=float, default=0.2)
    parser.add_argument("--timed", default="", help="unified-planning engine for temporal problems")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    kinds = [(family, level) for level in LEVELS for family in FAMILIES]
    every = round(1 / options.unsolvable) if options.unsolvable else 0
    jobs = [
        (*kinds[n % len(kinds)], options.seed + n,
         not every or (n // len(kinds)) % every != every - 1, options.timed)
        for n in range(options.count)
    ]  # fmt: skip
    print(f"{conditions(options.seed)}\n")
    rows: dict[str, list[tuple[int, bool, str, int, float, float]]] = defaultdict(list)
    with multiprocessing.Pool(options.jobs) as pool:
        for family, *row in pool.imap_unordered(check, jobs, chunksize=4):
            rows[family].append(tuple(row))  # type: ignore[arg-type]
    print("| family | problems | without a plan | agreed | in part | best length by level "
          "| generation, ms | check, ms |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    wrong: list[str] = []
    for family in FAMILIES:
        found = rows[family]
        says = Counter(row[2] for row in found)
        wrong += [text for text in says if text not in ("agreed", "agreed in part")]
        means = []
        for level in LEVELS:
            lengths = [row[3] for row in found if row[0] == level and row[1]]
            means.append(f"{sum(lengths) / len(lengths):.1f}" if lengths else "-")
        count = max(len(found), 1)
        print(f"| {family} | {len(found):,} | {sum(not row[1] for row in found):,} "
              f"| {says['agreed']:,} | {says['agreed in part']:,} | {', '.join(means)} "
              f"| {1000 * sum(row[4] for row in found) / count:.0f} "
              f"| {1000 * sum(row[5] for row in found) / count:.0f} |")  # fmt: skip
    print("\n" + "\n".join(wrong or ["no disagreement"]))


if __name__ == "__main__":
    sys.exit(measured(main))

"""Run long requests in kitchens, and measure success, new plans, length and time.

    python benchmarks/long_requests.py                          # the 40 requests beside this file
    python benchmarks/long_requests.py --only 3,9 --out rows.jsonl      # resumes an earlier table
    python benchmarks/long_requests.py requests.tsv --budget 20

A request is *possible* if it is reached here, or in a second run from the environment's true state
that may make 12 new plans with three times the budget. A new plan is *unplanned* if a step failed
before it; plans for later stages do not count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import lines_of, measured, records

from hvr.base.files import append_json_line
from hvr.errors import DataFileError, HvrError, LanguageError
from hvr.runs.request import Options
from hvr.runs.result import Run
from hvr.runs.spine import plan

REQUESTS = Path(__file__).with_suffix(".tsv")
MORE_PLANS, MORE_TIME = 12, 3
"""Number of new plans, and factor of the budget, of a second run that tells what is possible."""


def requests(path: Path) -> list[tuple[int, str, str]]:
    """Return the requests of a file, each as number, scene and sentence."""
    found = []
    for number, line in lines_of(path)[1:]:
        scene, tab, sentence = line.partition("\t")
        if not tab:
            raise DataFileError(f"{path}:{number}: expected a scene, a tab and a sentence")
        found.append((number - 1, scene, sentence.strip()))
    return found


def attempt(sentence: str, options: Options) -> dict[str, Any]:
    started, row = time.perf_counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = plan(sentence, options=replace(options, save=Path(folder) / "run"))
        except HvrError as error:
            row = {
                "read": not isinstance(error, LanguageError),
                "reached": False,
                "why": f"{type(error).__name__}: {error}",
            }
        else:
            row = _row(run)
    return row | {"seconds": round(time.perf_counter() - started, 2)}


def _row(run: Run) -> dict[str, Any]:
    finished = run.finished
    assert run.goal is not None and finished is not None
    return {
        "read": not run.goal.unread,
        "reached": bool(run.reached),
        "steps": finished.steps,
        "plans": len(run.plans),
        "replans": finished.replans,
        "planned": sum(len(p.plan.actions) for p in run.plans[: len(run.goal.stages)]),
        "unexpected": sum(not step.as_expected for step in run.steps),
        "stages": len(run.goal.stages),
        "proven": all(p.plan.optimal for p in run.plans),
        "planning": round(sum(p.seconds for p in run.plans), 2),
        "reading": list(run.goal.paraphrase),
        "why": "" if run.reached and not finished.replans else _first_failure(run),
    }


def _first_failure(run: Run) -> str:
    failed = [f"{s.number} {s.action}: {s.error}" for s in run.steps if not s.as_expected]
    missed = [run.finished.reason] if run.finished is not None and not run.reached else []
    return "; ".join([*failed[:2], *missed])


def measure(number: int, scene: str, sentence: str, options: Options) -> dict[str, Any]:
    options = replace(options, scene=scene)
    row = attempt(sentence, options)
    possible: bool | None = row["reached"]
    if not possible and row["read"]:
        again = replace(options, max_replans=MORE_PLANS, budget=MORE_TIME * options.budget)
        more = attempt(sentence, again)
        proven = any(text in more["why"] for text in ("no plan exists", "has room for"))
        possible = more["reached"] or (False if proven else None)
        row["second"] = more["why"]
    return {"number": number, "scene": scene, "request": sentence, **row, "possible": possible}


def main() -> int:
    """Print the table; the exit code is 1 if a possible request is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("requests", nargs="?", type=Path, default=REQUESTS, help="a .tsv file")
    parser.add_argument("--only", default="", help="numbers of requests: 3,9")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each planner call")
    parser.add_argument("--sight", default="omniscient", help="what the robot sees")
    parser.add_argument("--out", type=Path, help="file of rows; rows in it are not measured again")
    options = parser.parse_args()
    known: dict[int, dict[str, Any]] = {}
    if options.out and options.out.exists():
        known = {row["number"]: row for row in records(options.out, "number", "reached")}
    only = {int(n) for n in options.only.split(",") if n}
    print(conditions(seed=0))
    print(f"{'':>3} {'scene':12} {'steps':>5} {'plans':>5} {'new':>3} {'time s':>7}  result")
    rows = []
    for number, scene, sentence in requests(options.requests):
        if only and number not in only:
            continue
        row = known.get(number)
        if row is None:
            settings = Options(budget=options.budget, sight=options.sight)
            row = measure(number, scene, sentence, settings)
            if options.out:
                append_json_line(options.out, row)
        rows.append(row)
        print(_line(row), flush=True)
    print(_summary(rows))
    return 0 if all(row["reached"] or row["possible"] is False for row in rows) else 1


def _line(row: dict[str, Any]) -> str:
    possible = {True: "possible", False: "impossible", None: "undecided"}[row["possible"]]
    result = "reached" if row["reached"] else f"NOT REACHED ({possible})"
    if not row["read"]:
        result = "NOT READ"
    why = " ".join(f"{result} {row['why']}".split())
    steps, plans, new = (row.get(key, "-") for key in ("steps", "plans", "replans"))
    return (
        f"{row['number']:>3} {row['scene']:12} {steps:>5} {plans:>5} {new:>3} "
        f"{row['seconds']:>7.1f}  {why}"
    )


def _summary(rows: list[dict[str, Any]]) -> str:
    read = [row for row in rows if row["read"]]
    reached = [row for row in read if row["reached"]]
    straight = sum(not row["replans"] for row in reached)
    possible = sum(row["possible"] is not False for row in read)
    text = f"{len(rows)} requests, {len(read)} read: {len(reached)} reached of {possible} possible"
    if not reached:
        return text
    steps = sorted(row["steps"] for row in reached)
    seconds = sorted(row["seconds"] for row in reached)
    return (
        f"{text}, {straight} without an unplanned new plan; {steps[0]} to {steps[-1]} steps, "
        f"median {statistics.median(steps):g}; time median {statistics.median(seconds):.1f} s, "
        f"max {seconds[-1]:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(measured(main))

"""Measure the benefit of verification for a language model's policy on PDDL problems.

    python benchmarks/planbench_pipeline.py --data MANIFEST [--limit 30]
        [--rates 0.1,0.2,0.3,0.4,0.5] [--settings LLM,VR,HVR,HVR+]
    python benchmarks/planbench_pipeline.py --data MANIFEST --llm openai:MODEL [--base-url URL]

The manifest has one JSON object per line with `set`, `domain`, `problem`, `engine` and `recorded`.
`recorded` contains one-shot answers of models to the same problems and their validity; some may be
missing. The same number of problems is drawn from each domain (`--seed`). Each problem is planned
in each setting; hvr's validator judges the plan against the problem's own goal. LLM: the whole plan
in one answer, unchecked. VR: the same, with each step checked and corrected. HVR: macro actions and
blocks, checked and corrected. HVR+: all of hvr's additions, including planner repair, which can
plan alone.

Without `--llm`, the model is SIMULATED: it knows a plan by hvr's planner and errs at the given
rates. The figures describe how the pipeline handles such errors, not any real model.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from conditions import conditions
from inputs import measured, records

from hvr.errors import HvrError, ImpossibleGoalError
from hvr.execution.facts.planning import AutomaticPlanner, StatePlanner
from hvr.execution.facts.sentences import goal_text
from hvr.models.choice import ModelChoice
from hvr.pddl import Domain, Problem, Task, parse_domain, parse_problem
from hvr.policies.facts import DescribedWorld, open_model
from hvr.validation import Validator
from hvr.worlds.facts.lexicon import lexicon_for


@dataclass(frozen=True)
class Cell:
    reached: bool
    calls: int
    steps: int
    seconds: float
    error: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_RAW)
    parser.add_argument("--data", type=Path, required=True, metavar="MANIFEST")
    parser.add_argument("--set", default="planbench", help="set of the manifest")
    parser.add_argument("--limit", type=int, default=30, help="problems of each domain")
    parser.add_argument(
        "--rates", default="0.1,0.2,0.3,0.4,0.5", help="error rates of the simulated model"
    )
    parser.add_argument("--settings", default="LLM,VR,HVR,HVR+")
    parser.add_argument("--llm", help="real model to use instead")
    parser.add_argument("--base-url", help="address of the model's server")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    settings = args.settings.split(",")
    print(conditions(seed=args.seed))
    cases = records(args.data, "set", "domain", "problem")
    cases = [case for case in cases if case["set"] == args.set]
    rates = [] if args.llm else [float(rate) for rate in args.rates.split(",")]
    specs = [args.llm] if args.llm else [f"scripted:error={rate:g}" for rate in rates]
    for domain_name in sorted({case["domain"] for case in cases}):
        own = [case for case in cases if case["domain"] == domain_name]
        problems = sorted({case["problem"] for case in own})
        drawn = sorted(Random(args.seed).sample(problems, min(args.limit, len(problems))))
        _recorded(own, set(drawn), Path(domain_name).stem, len(drawn))
        domain = parse_domain(args.data.parent / domain_name)
        files = [args.data.parent / name for name in drawn]
        solvable = [file for file in files if _has_steps(domain, file)]
        if len(solvable) < len(files):
            print(
                f"{len(files) - len(solvable)} left out below: proven unsolvable, or already done\n"
            )
        _table(args, domain, solvable, specs, settings)


def _has_steps(domain: Domain, file: Path) -> bool:
    try:
        planned = StatePlanner(seconds=30.0).plan(Task(domain, parse_problem(file, domain)))
    except ImpossibleGoalError:
        return False
    return bool(planned.plan.actions)


def _recorded(cases: Sequence[dict[str, Any]], drawn: set[str], name: str, count: int) -> None:
    """Print how models answered the same problems in the recorded data."""
    share: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case in cases:
        if case["problem"] in drawn and "engine" in case:
            weight = 1 + int(case.get("same_plan_also_in") or 0)
            share[case["engine"]][0] += weight * (case.get("recorded") == "valid")
            share[case["engine"]][1] += weight
    print(f"\n## {name}: {count} problems\n")
    if share:
        print("| recorded answers of | answers | valid |\n| --- | ---: | ---: |")
        for engine, (good, every) in sorted(share.items(), key=lambda item: -item[1][1]):
            print(f"| {engine} | {every} | {good / every:.1%} |")
        good, every = (sum(pair[place] for pair in share.values()) for place in (0, 1))
        print(f"| all | {every} | {good / every:.1%} |\n")


def _table(
    args: argparse.Namespace, domain: Domain, files: Sequence[Path],
    specs: Sequence[str], settings: Sequence[str],
) -> None:  # fmt: skip
    heads = [f"{setting}: reached | questions | steps" for setting in settings]
    print(f"| model | {' | '.join(heads)} |")
    print("| --- | " + " | ".join(["---: | ---: | ---:"] * len(settings)) + " |")
    errors: dict[str, int] = defaultdict(int)
    for spec in specs:
        row = []
        for setting in settings:
            cells = list(_cells(args, domain, files, spec, setting))
            for cell in cells:
                if cell.error:
                    errors[cell.error] += 1
            reached = [cell for cell in cells if cell.reached]
            steps = sum(cell.steps for cell in reached) / len(reached) if reached else 0.0
            calls = sum(cell.calls for cell in cells) / len(cells)
            row.append(f"{len(reached) / len(cells):.1%} | {calls:.1f} | {steps:.1f}")
        print(f"| {spec} | {' | '.join(row)} |", flush=True)
    for error, number in sorted(errors.items()):
        print(f"\n{number} times: {error}")


def _cells(
    args: argparse.Namespace, domain: Domain, files: Sequence[Path], spec: str, setting: str
) -> Iterator[Cell]:
    choice = ModelChoice(spec=spec, setting=setting, base_url=args.base_url)
    for number, file in enumerate(files):
        problem = parse_problem(file, domain)
        yield _cell(domain, problem, choice, args.seed + number)


def _cell(domain: Domain, problem: Problem, choice: ModelChoice, seed: int) -> Cell:
    started = time.perf_counter()
    words = lexicon_for(domain)
    task = Task(domain, problem)
    request = goal_text(problem.goal, words)
    planner = open_model(
        choice,
        DescribedWorld(domain, problem, words),
        request,
        planner=AutomaticPlanner(5.0),
        seed=seed,
    )
    error, steps = "", ()
    try:
        steps = planner.plan(task).plan.actions
    except HvrError as failure:
        error = str(failure)[:120]
    reached = not error and Validator(task).check(steps).valid
    seconds = time.perf_counter() - started
    return Cell(reached, planner.meter.totals.calls, len(steps), seconds, error)


_RAW = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(measured(main))

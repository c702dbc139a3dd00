"""Faults at every step of plans in PDDL domains: noticed, named, mended?

    python benchmarks/world_faults.py --data FOLDER [--domains NAMES] [--plans 2] [--kinds KINDS]

FOLDER has `manifest.jsonl`, one JSON object a line with `domain` and `problem`, paths being
relative to it. Of each domain the first problems (`--plans`) are taken whose plan has at most
`--steps` steps. Each is carried out once without faults, and then once for each step of that plan
and each kind of fault, with one fault there.

noticed      the step in which the fault changed something, or refused the action, has a deviation
false        deviations in steps without a fault, of all steps, also of those after the fault
recovered    the goal holds in the true state at the end
out of reach the run ended without it, and another planner proves, from the true state at the
             end, that there is no plan (Fast Downward with its own translator; for numbers,
             which it does not know, hvr's forward search again)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conditions import conditions
from inputs import measured, records

from hvr.errors import HvrError, ImpossibleGoalError
from hvr.execution.events import StepDone
from hvr.pddl import Domain, GroundAction, Problem, Task, parse_domain, parse_problem
from hvr.plans import Planned
from hvr.solving.features import features_of
from hvr.solving.programs import DOWNWARD
from hvr.worlds.environment import PddlEnvironment
from hvr.worlds.faults import FaultRule, FaultyWorld, WorldFault
from hvr.worlds.planning import StatePlanner, problem_at
from hvr.worlds.running import WorldRun, run_world
from hvr.worlds.words import words_for

DOMAINS = (
    "blocks,gripper,driverlog,rovers,satellite,zenotravel,briefcaseworld,"
    "ipc-2000-schedule-adl-typed,philosophers,ipc-2002-driverlog-numeric"
)
KINDS = ",".join(WorldFault)


class Remembering(StatePlanner):
    """A planner that makes the first plan of a problem only once."""

    def __init__(self, seconds: float) -> None:
        super().__init__(None, seconds)
        self._first: dict[tuple[object, ...], Planned] = {}

    def plan(self, task: Task) -> Planned:
        """See `StatePlanner`."""
        problem = task.problem
        key = (problem.init, tuple(sorted(problem.numeric_init.items(), key=str)))
        if key not in self._first:
            self._first[key] = super().plan(task)
        return self._first[key]


@dataclass
class Tally:
    """What was counted of one domain, or of all."""

    plans: int = 0
    steps: int = 0
    false: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return a row of the table."""
        kinds = ("recovered", "out of reach", "missed", "undecided")
        cells: list[object] = [name, self.plans, self.counts["faults"], self.counts["noticed"]]
        cells += [f"{self.false} of {self.steps}", *(self.counts[kind] for kind in kinds)]
        return f"| {' | '.join(map(str, cells))} |"

    def add(self, other: Tally) -> None:
        """Add what was counted of another."""
        self.plans += other.plans
        self.steps += other.steps
        self.false += other.false
        self.counts += other.counts
        self.missed += other.missed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--domains", default=DOMAINS, help="stems of domain files, with commas")
    parser.add_argument("--plans", type=int, default=2, help="of each domain")
    parser.add_argument("--steps", type=int, default=60, help="most steps of a plan")
    parser.add_argument("--kinds", default=KINDS, help="kinds of faults, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each plan")
    args = parser.parse_args()

    print(conditions(args.seed))
    print(f"faults: {args.kinds}\n")
    print("| domain | plans | faults | noticed in their step | false alarms, of steps | recovered "
          "| out of reach | missed | undecided |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    started = time.perf_counter()
    total = Tally()
    for name in args.domains.split(","):
        tally = of_domain(name, args)
        print(tally.row(name), flush=True)
        total.add(tally)
    print(total.row("all"))
    print(f"\n{time.perf_counter() - started:.0f} s")
    for text in total.missed:
        print(text)


def of_domain(name: str, args: argparse.Namespace) -> Tally:
    """Run the plans of one domain."""
    tally = Tally()
    kinds = [WorldFault(kind) for kind in args.kinds.split(",")]
    for file, problem_file in _problems(args.data, name):
        if tally.plans == args.plans:
            break
        domain = parse_domain(file)
        problem = parse_problem(problem_file, domain)
        planner = Remembering(args.seconds)
        try:
            free, _ = _run(domain, problem, planner, (), args.seed)
        except HvrError as error:
            tally.missed.append(f"{problem_file.stem}: {error}")
            continue
        steps = free.finished.steps
        if not free.finished.reached or steps > args.steps:
            continue
        tally.plans += 1
        _count(tally, free, "")
        for step in range(1, steps + 1):
            for kind in kinds:
                rule = FaultRule(kind, step=step)
                run, env = _run(domain, problem, planner, (rule,), args.seed + step)
                label = f"{problem_file.stem}, {kind} at step {step}"
                _count(tally, run, label)
                if not _faulty(run):
                    continue
                outcome = _outcome(env, domain, problem, args.seconds)
                tally.counts[outcome] += 1
                if outcome in ("missed", "undecided"):
                    tally.missed.append(f"{label}: {outcome}: {run.finished.reason}")
    return tally


def _run(
    domain: Domain, problem: Problem, planner: StatePlanner, rules: tuple[FaultRule, ...], seed: int
) -> tuple[WorldRun, FaultyWorld]:
    env = FaultyWorld(PddlEnvironment(domain, problem), rules, seed)
    return run_world(env, domain, problem, words_for(domain).wording, planner=planner), env


def _count(tally: Tally, run: WorldRun, label: str) -> None:
    """Count faults, which of them were noticed in their step, and false alarms."""
    done = [event for event in run.events if isinstance(event, StepDone)]
    alarmed = {event.number for event in done if event.failures}
    faulty = _faulty(run)
    tally.steps += len(done)
    tally.false += len(alarmed - faulty)
    tally.counts["faults"] += len(faulty)
    tally.counts["noticed"] += len(faulty & alarmed)
    tally.missed += [f"{label}: not noticed at step {step}" for step in faulty - alarmed]
    tally.missed += [f"{label}: false alarm at step {step}" for step in alarmed - faulty]


def _faulty(run: WorldRun) -> set[int]:
    """Return the steps in which a fault changed something, or refused the action."""
    refused = WorldFault.REFUSED
    return {fault.step for fault in run.faults if fault.changed or fault.kind is refused}


def _outcome(env: FaultyWorld, domain: Domain, problem: Problem, seconds: float) -> str:
    """Return what became of a run, by the true state at its end."""
    state = env.env.state
    if state.holds(problem.goal):
        return "recovered"
    here = Task(domain, problem_at(problem, state))
    features = features_of(domain, problem)
    judge = StatePlanner(None if features & DOWNWARD.lacks else DOWNWARD.name, seconds)
    try:
        plan: tuple[GroundAction, ...] = judge.plan(here).plan.actions
    except ImpossibleGoalError:
        return "out of reach"
    except HvrError:
        return "undecided"
    return "missed" if plan else "recovered"


def _problems(data: Path, name: str) -> Iterator[tuple[Path, Path]]:
    """Yield the domain and problem files of a domain, in the order of the manifest."""
    seen: dict[tuple[Path, Path], None] = {}
    for row in records(data / "manifest.jsonl", "set", "domain", "problem"):
        if row["set"] in ("ipc", "long") and Path(row["domain"]).stem == name:
            seen[data / row["domain"], data / row["problem"]] = None
    yield from seen


if __name__ == "__main__":
    sys.exit(measured(main))

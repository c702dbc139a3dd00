"""Inject faults at every step of plans in PDDL domains; measure detection and recovery.

    python benchmarks/world_faults.py --data FOLDER [--domains NAMES] [--plans 2] [--kinds KINDS]
    python benchmarks/world_faults.py --data FOLDER --hide       # each changing predicate in turn
    python benchmarks/world_faults.py --data FOLDER --hide functions        # each changing number

FOLDER has `manifest.jsonl`, one JSON object per line with `domain` and `problem`; paths are
relative to it. The script uses the first problems of each domain (`--plans`) whose plan has at most
`--steps` steps. Each is executed once without faults, and then once with a single fault for each
step of that plan and each kind of fault.

The columns of the table:

noticed      faults in whose step hvr reported a deviation, of all faults that changed something
             observable or refused the action
false        steps without a fault that have a deviation, of all steps. Steps after the fault are
             counted, but not those after an unobservable fault, which may become visible later
recovered    runs at whose end the goal holds in the true state
out of reach runs that ended without the goal, and from whose true final state another planner
             proves that there is no plan. This is Fast Downward with its own translator, or
             hvr's forward search for tasks with numbers, which Fast Downward does not support
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

from hvr.errors import HvrError, ImpossibleGoalError, UsageError
from hvr.execution.events import StepDone
from hvr.execution.facts.planning import StatePlanner, problem_at
from hvr.execution.facts.running import WorldRun, run_world
from hvr.pddl import Domain, GroundAction, Problem, Task, parse_domain, parse_problem
from hvr.pddl.formulas import NumericEffect, changes_of
from hvr.planning.plans import Planned
from hvr.planning.solving.portfolio import DOWNWARD, features_of
from hvr.worlds.facts.environment import FaultRule, FaultyWorld, PddlEnvironment, WorldFault
from hvr.worlds.facts.lexicon import lexicon_for

DOMAINS = (
    "blocks-3op,gripper,driverlog,rovers,satellite,zenotravel,briefcaseworld,"
    "ipc-2000-schedule-adl-typed,philosophers,ipc-2002-driverlog-numeric,"
    "ipc-2002-zenotravel-numeric"
)
KINDS = ",".join(WorldFault)


class Remembering(StatePlanner):
    """A planner that caches its first plan for each problem."""

    def __init__(self, seconds: float) -> None:
        super().__init__(None, seconds)
        self._first: dict[tuple[object, ...], Planned] = {}

    def plan(self, task: Task) -> Planned:
        problem = task.problem
        key = (problem.init, tuple(sorted(problem.numeric_init.items(), key=str)))
        if key not in self._first:
            self._first[key] = super().plan(task)
        return self._first[key]


@dataclass
class Tally:
    plans: int = 0
    steps: int = 0
    false: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def row(self, name: str) -> str:
        kinds = ("recovered", "out of reach", "missed", "undecided")
        noticed = f"{self.counts['noticed']} of {self.counts['seen']}"
        cells: list[object] = [name, self.plans, self.counts["faults"], noticed]
        cells += [f"{self.false} of {self.steps}", *(self.counts[kind] for kind in kinds)]
        return f"| {' | '.join(map(str, cells))} |"

    def add(self, other: Tally) -> None:
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
    parser.add_argument("--domains", default=DOMAINS, help="comma-separated stems of domain files")
    parser.add_argument("--plans", type=int, default=2, help="plans of each domain")
    parser.add_argument("--steps", type=int, default=60, help="maximum number of steps of a plan")
    parser.add_argument("--kinds", default=KINDS, help="comma-separated kinds of faults")
    parser.add_argument("--hide", nargs="?", const="predicates",
                        choices=("predicates", "functions"),
                        help="hide predicates or functions, one at a time")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds for each plan")
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
        if not free.finished.reached or not 0 < free.finished.steps <= args.steps:
            continue
        tally.plans += 1
        for hidden in _hideable(domain, problem, args.hide):
            label = f"{problem_file.stem}{' without ' * bool(hidden)}{' '.join(hidden)}"
            case = Case(domain, problem, planner, hidden, label)
            of_case(case, free.finished.steps, kinds, args, tally)
    return tally


def _hideable(domain: Domain, problem: Problem, kind: str | None) -> list[tuple[str, ...]]:
    """Return the sets of names to hide: each changing predicate or function alone."""
    if kind is None:
        return [()]
    if kind == "predicates":
        task = Task(domain, problem)
        return [(one,) for one in sorted(task.fluent_predicates - task.derived_predicates)]
    changes = (one for schema in domain.actions.values() for one in changes_of(schema.effect))
    numbers = {c.fluent.function for c in changes if isinstance(c, NumericEffect)}
    return [(one,) for one in sorted(numbers)]


@dataclass(frozen=True)
class Case:
    """A problem to execute, with the predicates to hide."""

    domain: Domain
    problem: Problem
    planner: StatePlanner
    hidden: tuple[str, ...]
    label: str


def of_case(
    case: Case, steps: int, kinds: list[WorldFault], args: argparse.Namespace, tally: Tally
) -> None:
    """Run a problem without faults, then with each kind of fault at each step."""
    free, _ = _run(case.domain, case.problem, case.planner, (), args.seed, case.hidden)
    _count(tally, free, case.hidden, case.label)
    for step in range(1, steps + 1):
        for kind in kinds:
            rule = FaultRule(kind, step=step)
            run, env = _run(
                case.domain, case.problem, case.planner, (rule,), args.seed + step, case.hidden
            )
            label = f"{case.label}, {kind} at step {step}"
            _count(tally, run, case.hidden, label)
            if _faulty(run):
                outcome = _outcome(env, case.domain, case.problem, args.seconds)
                # The agent wrongly believes that it succeeded.
                if outcome == "missed" and run.finished.reached:
                    outcome = "undecided"
                tally.counts[outcome] += 1
                if outcome in ("missed", "undecided"):
                    tally.missed.append(f"{label}: {outcome}: {run.finished.reason}")


def _run(
    domain: Domain,
    problem: Problem,
    planner: StatePlanner,
    rules: tuple[FaultRule, ...],
    seed: int,
    hidden: tuple[str, ...] = (),
) -> tuple[WorldRun, FaultyWorld]:
    env = FaultyWorld(PddlEnvironment(domain, problem, hidden), rules, seed)
    return run_world(env, domain, problem, lexicon_for(domain).wording, planner=planner), env


def _count(tally: Tally, run: WorldRun, hidden: tuple[str, ...], label: str) -> None:
    """Count the faults, the faults detected at their step, and the false alarms."""
    done = [event for event in run.events if isinstance(event, StepDone)]
    alarmed = {event.number for event in done if event.failures}
    faulty, seen = _faulty(run), _faulty(run, hidden)
    false = alarmed - faulty
    if faulty - seen:
        false = {step for step in false if step < min(faulty - seen)}
    tally.steps += len(done)
    tally.false += len(false)
    tally.counts["faults"] += len(faulty)
    tally.counts["seen"] += len(seen)
    tally.counts["noticed"] += len(seen & alarmed)
    tally.missed += [f"{label}: not noticed at step {step}" for step in seen - alarmed]
    tally.missed += [f"{label}: false alarm at step {step}" for step in false]


def _faulty(run: WorldRun, hidden: tuple[str, ...] = ()) -> set[int]:
    """Return the steps at which a fault changed something observable or prevented the action."""
    refused = WorldFault.REFUSED
    return {
        fault.step
        for fault in run.faults
        if fault.kind is refused or any(_name(text) not in hidden for text in fault.changed)
    }


def _name(text: str) -> str:
    return text.removeprefix("(not ").removeprefix("(= ").strip("()").split()[0].strip("()")


def _outcome(env: FaultyWorld, domain: Domain, problem: Problem, seconds: float) -> str:
    """Classify a run by its true final state."""
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
    if not seen:
        raise UsageError(f"{data / 'manifest.jsonl'} has no domain {name!r}")
    yield from seen


if __name__ == "__main__":
    sys.exit(measured(main))

"""Compare validation times with other validators' in the same run.

    python benchmarks/validate_speed.py [--manifest ../shared/data/pddl/manifest.jsonl]
                                        [--task NAME DOMAIN PROBLEM PLAN]...

Peers: VAL, when the environment variable VAL names its binary; unified-planning's
SequentialPlanValidator or TimeTriggeredPlanValidator; PyVAL, when pddl-pyvalidator is installed.
Every figure is the best of several runs, each in its own process; `after start-up` is measured
inside the process, from the end of the imports to the verdict. Plans and tasks without a file
are generated with a fixed seed. The manifest has one JSON object per line; the unmutated cases of
its set `long` are timed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from conditions import conditions
from inputs import measured, records

SEED = 20260101

IN_PROCESS = """
import gc, sys, time
from pathlib import Path
from hvr.pddl import parse_domain, parse_problem
from hvr.validation import Validator
gc.set_threshold(100_000)  # as the command does
begin = time.perf_counter()
domain = parse_domain(Path(sys.argv[1]), lenient=True)
validator = Validator(domain, parse_problem(Path(sys.argv[2]), domain, lenient=True))
report = validator.check_file(Path(sys.argv[3]))
print(time.perf_counter() - begin, report.outcome.value)
"""

STEPS = """
import sys, time
from pathlib import Path
from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import Validator
domain = parse_domain(Path(sys.argv[1]), lenient=True)
validator = Validator(domain, parse_problem(Path(sys.argv[2]), domain, lenient=True))
plan = read_plan(Path(sys.argv[3])).steps
times = []
for _ in range(6):
    begin = time.perf_counter()
    report = validator.check(plan)
    times.append(time.perf_counter() - begin)
fork = validator.fork()
begin = time.perf_counter()
for step in plan:
    assert fork.apply(step).ok
applied = time.perf_counter() - begin
print(min(times[1:]) / len(plan), times[0] / len(plan), applied / len(plan), report.outcome.value)
"""

EDITED = """
import sys, time
from pathlib import Path
from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import Validator
domain = parse_domain(Path(sys.argv[1]), lenient=True)
validator = Validator(domain, parse_problem(Path(sys.argv[2]), domain, lenient=True))
plan = read_plan(Path(sys.argv[3])).steps
half = len(plan) // 2
unlike = (plan[-1], *plan[1:])
for edited in (
    (*plan, plan[0]),
    (*plan[:-1], plan[0]),
    (*plan[:half], plan[0], *plan[half:]),
):
    for before in (plan, unlike):
        times = []
        for _ in range(50):
            validator.check(before)
            begin = time.process_time()
            report = validator.check(edited)
            times.append(time.process_time() - begin)
        print(sorted(times)[25])
print("ms")
"""

UNIFIED = """
import sys
from unified_planning.environment import get_environment
from unified_planning.io import PDDLReader
from unified_planning.engines.plan_validator import (
    SequentialPlanValidator, TimeTriggeredPlanValidator)
from unified_planning.plans import SequentialPlan
get_environment().credits_stream = None
reader = PDDLReader()
problem = reader.parse_problem(sys.argv[1], sys.argv[2])
plan = reader.parse_plan(problem, sys.argv[3])
kind = SequentialPlanValidator if isinstance(plan, SequentialPlan) else TimeTriggeredPlanValidator
print(kind().validate(problem, plan).status)
"""

PYVAL = """
import sys
from pyval import PDDLValidator
result = PDDLValidator().validate(
    domain_path=sys.argv[1], problem_path=sys.argv[2], plan_path=sys.argv[3])
print("valid" if result.is_valid else "invalid")
"""

DELIVERY = """(define (domain delivery)
  (:requirements :strips :typing)
  (:types place locatable - object truck package - locatable)
  (:predicates (at ?x - locatable ?p - place) (in ?x - package ?t - truck)
               (road ?a - place ?b - place))
  (:action drive :parameters (?t - truck ?a - place ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (not (at ?t ?a)) (at ?t ?b)))
  (:action load :parameters (?x - package ?t - truck ?p - place)
    :precondition (and (at ?x ?p) (at ?t ?p))
    :effect (and (not (at ?x ?p)) (in ?x ?t)))
  (:action unload :parameters (?x - package ?t - truck ?p - place)
    :precondition (and (in ?x ?t) (at ?t ?p))
    :effect (and (not (in ?x ?t)) (at ?x ?p))))
"""

TINY = (
    "(define (domain tiny) (:requirements :strips) (:predicates (p) (q))\n"
    "  (:action a :parameters () :precondition (p) :effect (q)))\n",
    "(define (problem one) (:domain tiny) (:init (p)) (:goal (q)))\n",
    "(a)\n",
)

Task = tuple[Path, Path, Path]


@dataclass(frozen=True)
class Timing:
    """The minimum seconds of several runs, and the output of the last one."""

    seconds: float | None
    words: str

    def __str__(self) -> str:
        return self.words if self.seconds is None else milliseconds(self.seconds)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f}" if seconds >= 0.1 else f"{1000 * seconds:.1f}"


def run(command: Sequence[str | Path], limit: float) -> tuple[float | None, str]:
    """Run a command once, and return its seconds (None after a timeout) and its output."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            [str(c) for c in command], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"> {limit:.0f} s"
    return time.perf_counter() - begin, done.stdout + done.stderr


def timed(command: Sequence[str | Path], runs: int, good: Sequence[str], limit: float) -> Timing:
    """Time a command whose output must contain one of the expected words."""
    times: list[float] = []
    for _ in range(runs):
        seconds, output = run(command, limit)
        if seconds is None:
            return Timing(None, output)
        if not any(word in output for word in good):
            return Timing(None, "refuses")
        times.append(seconds)
        if sum(times) > limit / 2:
            break
    return Timing(min(times), good[0])


def inside(script: str, task: Task, runs: int) -> list[float]:
    """Run a script that prints several times, and return the minimum of each in seconds."""
    rows: list[list[float]] = []
    for _ in range(runs):
        _, output = run([sys.executable, "-c", script, *task], 300)
        rows.append([float(word) for word in output.split()[:-1]])
    return [min(column) for column in zip(*rows, strict=True)]


def peers() -> dict[str, tuple[Sequence[str | Path], Sequence[str]]]:
    """Return the available validators' commands, and their output for a valid plan."""
    hvr = [sys.executable, "-m", "hvr", "validate"]
    found: dict[str, tuple[Sequence[str | Path], Sequence[str]]] = {"hvr": (hvr, ["valid ("])}
    if val := os.environ.get("VAL"):
        found["VAL"] = ([val], ["Plan valid", "Successful plans"])
    if find_spec("unified_planning"):
        found["unified-planning"] = ([sys.executable, "-c", UNIFIED], ["VALID"])
    if find_spec("pyval"):
        found["PyVAL"] = ([sys.executable, "-c", PYVAL], ["valid"])
    return found


def delivery(folder: Path, name: str, objects: int, steps: int, plans: int = 1) -> list[Task]:
    """Write a delivery problem with some objects, and plans that are random walks."""
    draw = random.Random(SEED)
    trucks = [f"truck{i}" for i in range(max(1, objects // 200))]
    packages = [f"package{i}" for i in range((objects - len(trucks)) // 2)]
    places = [f"place{i}" for i in range(objects - len(trucks) - len(packages))]
    roads = {(a, b) for i, a in enumerate(places) for b in (places[i - 1], draw.choice(places))}
    roads |= {(b, a) for a, b in roads}
    ways: dict[str, list[str]] = {}
    for a, b in sorted(roads):
        ways.setdefault(a, []).append(b)
    start = {x: draw.choice(places) for x in (*trucks, *packages)}
    domain, problem = folder / f"{name}.domain.pddl", folder / f"{name}.problem.pddl"
    domain.write_text(DELIVERY)
    facts = [f"(at {x} {p})" for x, p in start.items()] + [f"(road {a} {b})" for a, b in roads]
    problem.write_text(
        f"(define (problem {name}) (:domain delivery)\n  (:objects {' '.join(trucks)} - truck "
        f"{' '.join(packages)} - package\n   {' '.join(places)} - place)\n  (:init\n    "
        + "\n    ".join(facts)
        + ")\n  (:goal (and)))\n"
    )
    result: list[Task] = []
    for number in range(plans):
        at, lines = dict(start), []
        here: dict[str, list[str]] = {}
        for package in packages:
            here.setdefault(at[package], []).append(package)
        inside_of: dict[str, list[str]] = {truck: [] for truck in trucks}
        while len(lines) < steps:
            truck = draw.choice(trucks)
            place = at[truck]
            if here.get(place) and draw.random() < 0.5:
                package = here[place].pop()
                inside_of[truck].append(package)
                lines.append(f"(load {package} {truck} {place})")
            elif inside_of[truck] and draw.random() < 0.3:
                package = inside_of[truck].pop(0)
                here.setdefault(place, []).append(package)
                lines.append(f"(unload {package} {truck} {place})")
            else:
                at[truck] = draw.choice(ways[place])
                lines.append(f"(drive {truck} {place} {at[truck]})")
        plan = folder / f"{name}.{number}.plan"
        plan.write_text("\n".join(lines) + "\n")
        result.append((domain, problem, plan))
    return result


def table(title: str, tasks: dict[str, Task], limit: float, runs: int) -> None:
    """Time all validators' processes on some tasks, and hvr without its start-up."""
    tools = peers()
    print(f"\n{title} (milliseconds)")
    heads = ["hvr after start-up", *tools]
    print(f"{'':<30}" + "".join(f"{head:>19}" for head in heads) + f"{'hvr / VAL':>11}")
    for name, task in tasks.items():
        own = inside(IN_PROCESS, task, runs)[0]
        cells = {
            tool: timed([*command, *task], runs if tool in ("hvr", "VAL") else 1, good, limit)
            for tool, (command, good) in tools.items()
        }
        val = cells.get("VAL")
        ratio = f"{own / val.seconds:.2f}" if val and val.seconds else ""
        print(f"{name:<30}{milliseconds(own):>19}"
              + "".join(f"{cell!s:>19}" for cell in cells.values()) + f"{ratio:>11}",
              flush=True)  # fmt: skip


def batch(folder: Path, limit: float) -> None:
    """Time the validation of many plans for one problem in one call."""
    print("\nmany plans of one problem in one call (milliseconds per plan, whole process)")
    tools = {k: v for k, v in peers().items() if k in ("hvr", "VAL")}
    print(f"{'':<30}" + "".join(f"{tool:>19}" for tool in tools) + f"{'hvr / VAL':>11}")
    for steps, plans in ((20, 4000), (1000, 300)):
        tasks = delivery(folder, f"batch{steps}", 100, steps, plans)
        domain, problem, _ = tasks[0]
        files = [plan for _, _, plan in tasks]
        each: dict[str, float] = {}
        for tool, (command, _) in tools.items():
            seconds = [run([*command, domain, problem, *files], limit)[0] for _ in range(3)]
            each[tool] = min(s for s in seconds if s is not None) / plans
        cells = "".join(f"{1000 * value:>19.3f}" for value in each.values())
        ratio = f"{each['hvr'] / each['VAL']:.2f}" if "VAL" in each else ""
        print(f"{f'{plans} plans of {steps} steps':<30}{cells}{ratio:>11}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--manifest", type=Path)
    parser.add_argument("--task", nargs=4, action="append", default=[],
                        metavar=("NAME", "DOMAIN", "PROBLEM", "PLAN"))  # fmt: skip
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--limit", type=float, default=120, help="time limit of a process in seconds"
    )
    args = parser.parse_args()
    needed = ("id", "set", "mutation", "domain", "problem", "plan")
    cases = records(args.manifest, *needed) if args.manifest else []
    print(conditions(SEED))
    if val := os.environ.get("VAL"):
        print(f"VAL: {Path(val).name}, {Path(val).stat().st_size} bytes")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny = tuple(folder / f"tiny.{part}" for part in ("domain", "problem", "plan"))
        for path, text in zip(tiny, TINY, strict=True):
            path.write_text(text)
        generated: dict[str, Task] = {
            "tiny, 1 step": (tiny[0], tiny[1], tiny[2]),
            "100 objects, 20 steps": delivery(folder, "a", 100, 20)[0],
            "100 objects, 1,000 steps": delivery(folder, "b", 100, 1000)[0],
            "2,000 objects, 10,000 steps": delivery(folder, "c", 2000, 10_000)[0],
        }
        table("generated tasks", generated, args.limit, args.runs)
        print("\nsteps per second, without reading the plan and compiling the task")
        steps_title = "100 objects, 1,000 steps"
        for title in (steps_title, "2,000 objects, 10,000 steps"):
            known, new, applied = (1 / s for s in inside(STEPS, generated[title], args.runs))
            print(f"{title:<30}check {known:,.0f}; first-time actions {new:,.0f}; "
                  f"apply() with its report {applied:,.0f}")  # fmt: skip
        print("\nmilliseconds for an edited plan of 1,000 steps, judged after the plan itself, and "
              "after another plan")  # fmt: skip
        times = [1000 * seconds for seconds in inside(EDITED, generated[steps_title], args.runs)]
        for place, edit in enumerate(("a step more at the end", "the last step replaced",
                                      "an extra step in the middle")):  # fmt: skip
            print(f"{edit:<30}{times[2 * place]:>8.2f}{times[2 * place + 1]:>8.2f}")
        batch(folder, args.limit)
    named = {name: (Path(d), Path(p), Path(plan)) for name, d, p, plan in args.task}
    if named:
        table("named tasks", named, args.limit, args.runs)
    if args.manifest:
        root = args.manifest.parent
        long = {
            case["id"].removeprefix("long-"): (
                root / case["domain"], root / case["problem"], root / case["plan"])
            for case in cases if case["set"] == "long" and case["mutation"] is None
        }  # fmt: skip
        table("set `long`", long, args.limit, args.runs)


if __name__ == "__main__":
    sys.exit(measured(main))

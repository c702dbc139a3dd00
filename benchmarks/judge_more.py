"""Further parts of benchmarks/judge.py: plans of language models, and growth."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import side_by_side
from alfred_judge import DATA
from inputs import records

from hvr.base.engines.registry import EngineChoice
from hvr.judging.evidence import ExecutionTrace
from hvr.judging.symbolic import judge
from hvr.pddl import GroundAction, Task, parse_domain, parse_problem, read_plan
from hvr.planning.search.planners import make_planner
from hvr.validation import Validator
from hvr.validation.sequences import action_of

PDDL = DATA.parent.parent / "pddl"


def planbench(
    folder: Path | None, limit: int | None, engine: EngineChoice, *, repair: bool = True
) -> int:
    """Judge PlanBench's plans: the first wrong step, its repair, and redundant steps.

    Without `repair`, only the first wrong step is located, which takes about a minute.
    """
    root = folder if folder is not None and folder != Path() else PDDL
    rows = records(root / "manifest.jsonl", "set", "domain", "problem", "plan", "val")
    rows = [row for row in rows if row["set"] == "planbench"]
    rows = [row for row in rows if row["val"] in ("valid", "invalid")]
    if limit is not None and limit < len(rows):
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    work = [(root, row, repair) for row in rows]
    results = list(side_by_side.results(_planbench_row, work, engine, chunk=4))
    families = sorted({family for family, _, _ in results})
    counts = {family: Counter[str]() for family in families}
    for family, found, _ in results:
        counts[family].update(found)
    print(f"{'':48}" + "".join(f"{family:>24}" for family in (*families, "all")))
    for name in sorted({name for of in counts.values() for name in of}):
        numbers = [counts[family][name] for family in families]
        print(f"{name:48}" + "".join(f"{n:24}" for n in (*numbers, sum(numbers))))
    for family in families:
        times = sorted(ms for of, _, ms in results if of == family)
        print(f"{family}: ms a plan: median {median(times):.1f}, "
              f"95 % {times[int(0.95 * len(times))]:.0f}, most {times[-1]:.0f}")  # fmt: skip
    wrong = ("first wrong step otherwise", "verdict otherwise", "not repaired, solvable")
    return int(any(name.startswith(wrong) for of in counts.values() for name in of))


def _planbench_row(job: tuple[Path, dict[str, Any], bool]) -> tuple[str, list[str], float]:
    """Judge one plan.

    Returns:
        The plan's family, its counts, and the judge's CPU time in milliseconds.
    """
    root, row, repair = job
    domain = parse_domain(root / row["domain"])
    problem = parse_problem(root / row["problem"], domain)
    steps = read_plan(root / row["plan"], lenient=True).steps
    task = Task(domain, problem)
    validator = Validator(task)
    started = time.process_time()
    course = ExecutionTrace.of(task.initial, [action_of(step) for step in steps])
    verdict = judge(validator, steps) if repair else None
    ms = 1000 * (time.process_time() - started)
    found = [f"plans recorded as {row['val']}"]
    report = validator.check(steps)
    said_valid = course.valid if verdict is None else verdict.valid
    if report.valid != (row["val"] == "valid") or said_valid != report.valid:
        found.append("verdict otherwise")
    family = re.sub(r"^planbench-|(-\d+)+$", "", row["id"])
    if row["val"] == "valid":
        removed = verdict.removed if verdict is not None else frozenset[int]()
        found += ["valid plans with superfluous steps"] if removed else []
        found += ["superfluous steps in valid plans"] * len(removed)
        return family, found, ms
    failure = report.failure
    said = None if failure is None else failure.step
    first = min(course.failing, default=None)
    recorded = _recorded_step(row)
    agrees = said == (None if first is None else first + 1) and recorded in (None, said)
    found.append("first wrong step exact" if agrees else f"first wrong step otherwise: {row['id']}")
    if verdict is None:
        return family, found, ms
    if verdict.repaired is not None and Validator(task).check(verdict.repaired).valid:
        found.append("invalid plans repaired")
    else:
        solvable = make_planner("fast-downward", 60).solve(task).plan is not None
        found.append(
            f"not repaired, solvable: {row['id']}" if solvable else "not repaired, unsolvable"
        )
    earliest = min((c.index for c in verdict.critiques), default=0)
    if earliest <= (said or len(steps) + 1):
        found.append("a finding no later than the first failure")
    return family, found, ms


def _recorded_step(row: dict[str, Any]) -> int | None:
    """Return the first wrong step according to VAL; None if VAL does not give its time."""
    words = str(row.get("val_reason", "")).split(" at time ")
    if len(words) != 2 or row.get("val_class") != "precondition":
        return None
    number = words[1].split(":")[0]
    return int(number) if number.isdigit() else None


def growth() -> int:
    """Print the judging time by plan length, for a gripper that carries balls and repeats steps."""
    domain = parse_domain(_GRIPPER)
    print(f"{'steps':>6}{'valid, ms':>12}{'redundant':>13}{'one missing, ms':>17}{'proven':>8}")
    for steps in (20, 40, 60, 100, 200, 400, 700, 1000):
        plan = []
        balls = (steps + 4) // 5
        for number in range(balls):
            ball = f"b{number}"
            plan += [
                GroundAction("pick", (ball, "a")),
                GroundAction("move", ("a", "b")),
                GroundAction("drop", (ball, "b")),
                GroundAction("move", ("b", "a")),
                GroundAction("look", ()),
            ]
        plan = plan[:steps]
        goal = " ".join(f"(at b{n} b)" for n in range(balls) if 5 * n + 2 < steps)
        objects = " ".join(f"b{n}" for n in range(balls))
        at = " ".join(f"(at b{n} a)" for n in range(balls))
        problem = parse_problem(
            f"(define (problem p) (:domain g) (:objects a b - room {objects} - ball)"
            f"(:init {at} (free) (robot a)) (:goal (and {goal})))",
            domain,
        )
        validator = Validator(Task(domain, problem))
        judge(validator, plan)  # warms caches
        started = time.process_time()
        verdict = judge(validator, plan)
        valid = 1000 * (time.process_time() - started)
        damaged = [*plan[: steps // 2], *plan[steps // 2 + 1 :]]
        started = time.process_time()
        judge(validator, damaged)
        invalid = 1000 * (time.process_time() - started)
        print(
            f"{steps:6}{valid:12.0f}{len(verdict.removed):13}{invalid:17.0f}"
            f"{'yes' if verdict.proven else 'no':>8}"
        )
    return 0


_GRIPPER = """(define (domain g) (:requirements :strips :typing) (:types room ball)
(:predicates (at ?b - ball ?r - room) (robot ?r - room) (free) (holds ?b - ball) (seen))
(:action pick :parameters (?b - ball ?r - room)
 :precondition (and (at ?b ?r) (robot ?r) (free))
 :effect (and (holds ?b) (not (at ?b ?r)) (not (free))))
(:action drop :parameters (?b - ball ?r - room)
 :precondition (and (holds ?b) (robot ?r)) :effect (and (at ?b ?r) (free) (not (holds ?b))))
(:action move :parameters (?r ?s - room)
 :precondition (robot ?r) :effect (and (robot ?s) (not (robot ?r))))
(:action look :precondition (free) :effect (seen)))"""

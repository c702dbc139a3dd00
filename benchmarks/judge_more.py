"""What else benchmarks/judge.py measures: plans of language models, growth, simulated models."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from alfred_judge import DATA
from inputs import records

from hvr.judging.combined import check
from hvr.judging.course import Course
from hvr.judging.loop import run_loop
from hvr.judging.symbolic import judge
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Task, parse_domain, parse_problem, read_plan
from hvr.search.planners import make_planner
from hvr.validation import Validator
from studies.judging.corpus import load, read_cases
from studies.judging.score import Counts, score, total
from studies.judging.simulated import PAPER, SimulatedJudge

PDDL = DATA.parent.parent / "pddl"


def planbench(folder: Path | None, limit: int | None) -> int:
    """Judge the plans of PlanBench: the first wrong step, its repair, and what is superfluous."""
    root = folder if folder is not None and folder != Path() else PDDL
    rows = records(root / "manifest.jsonl", "set", "domain", "problem", "plan", "val")
    rows = [row for row in rows if row["set"] == "planbench"]
    rows = [row for row in rows if row["val"] in ("valid", "invalid")]
    if limit is not None and limit < len(rows):
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    counts: Counter[str] = Counter()
    times = []
    for row in rows:
        times.append(_planbench_row(root, row, counts))
    for name, number in sorted(counts.items()):
        print(f"{name}: {number}")
    print(f"ms a plan: median {median(times):.1f}, most {max(times):.0f}")
    return 0 if counts["first wrong step otherwise"] == 0 else 1


def _planbench_row(root: Path, row: dict[str, Any], counts: Counter[str]) -> float:
    domain = parse_domain(root / row["domain"])
    problem = parse_problem(root / row["problem"], domain)
    steps = read_plan(root / row["plan"], lenient=True).steps
    task = Task(domain, problem)
    validator = Validator(task)
    started = time.process_time()
    verdict = judge(validator, steps)
    ms = 1000 * (time.process_time() - started)
    counts[f"plans recorded as {row['val']}"] += 1
    report = validator.check(steps)
    if report.valid != (row["val"] == "valid") or verdict.valid != report.valid:
        counts["verdict otherwise"] += 1
    course = Course.of(task.initial, verdict.plan)
    first = min(course.failing, default=None)
    said = None if report.failure is None or report.failure.step is None else report.failure.step
    recorded = _recorded_step(row)
    if row["val"] == "invalid":
        agrees = (first is None) == (said is None) and (first is None or first + 1 == said)
        agrees = agrees and (recorded is None or recorded == said)
        counts["first wrong step exact" if agrees else "first wrong step otherwise"] += 1
        if verdict.repaired is not None and Validator(task).check(verdict.repaired).valid:
            counts["invalid plans repaired"] += 1
        else:
            answer = make_planner("fast-downward", 10).solve(task)
            solvable = answer.plan is not None
            counts["not repaired, solvable" if solvable else "not repaired, unsolvable"] += 1
        best = min((c.index for c in verdict.critiques), default=0)
        counts["a finding no later than the first failure"] += best <= (said or len(steps) + 1)
    else:
        counts["valid plans with superfluous steps"] += bool(verdict.removed)
        counts["superfluous steps in valid plans"] += len(verdict.removed)
    return ms


def _recorded_step(row: dict[str, Any]) -> int | None:
    """Return the first wrong step that VAL names, where it names one by its time."""
    words = str(row.get("val_reason", "")).split(" at time ")
    if len(words) != 2 or row.get("val_class") != "precondition":
        return None
    number = words[1].split(":")[0]
    return int(number) if number.isdigit() else None


def growth() -> int:
    """Print the time by the length of the plan: a gripper that carries balls, steps repeated."""
    domain = parse_domain(_GRIPPER)
    print(f"{'steps':>6}{'valid, ms':>12}{'superfluous':>13}{'one missing, ms':>17}{'proven':>8}")
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
        judge(validator, plan[:5])
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


def models(data: Path, limit: int | None) -> int:
    """Print what simulated models name alone, what of it is proven, and the loop of both."""
    cases = list(read_cases(data))
    if limit is not None and limit < len(cases):
        cases = [cases[i * len(cases) // limit] for i in range(limit)]
    domains: dict[str, Any] = {}
    loaded = [(case, Task(*load(case, data.parent, domains))) for case in cases]
    print(f"{'judge':24}{'alone P/R':>16}{'proven P/R':>16}{'loop P/R/F1':>22}  converged by round")
    for rates in PAPER:
        alone, proven, looped = [], [], []
        rounds: Counter[int] = Counter()
        for number, (case, task) in enumerate(loaded):
            validator = Validator(task)
            plan = case.actions()
            model = SimulatedJudge(validator, rates, Random(f"{rates.name} {number}"))
            opinion = model.opinion(plan)
            removes = [(n, plan[n - 1]) for n, _ in opinion.remove]
            wishes = [(w.index or 1, a) for w in opinion.missing for a in w.actions]
            alone.append(score(case, _verdict(plan, removes, wishes), task).both)
            checked = check(task.initial, plan, opinion)
            named = [(n, plan[n - 1]) for n in checked.removed]
            found = _verdict(plan, named, list(checked.inserted), checked.plan)
            proven.append(score(case, found, task).both)
            loop = run_loop(validator, plan, opinion=model.opinion, symbolic=False)
            rounds[len(loop.rounds)] += 1
            looped.append(_by_end(case.inserted, case.length, plan, loop.plan, task))
        share = [sum(n for r, n in rounds.items() if r <= k) / len(loaded) for k in range(1, 6)]
        a, p, e = total(alone), total(proven), total(looped)
        print(
            f"{rates.name:24}{100 * a.precision:9.1f}/{100 * a.recall:.1f}"
            f"{100 * p.precision:10.1f}/{100 * p.recall:.1f}"
            f"{100 * e.precision:10.1f}/{100 * e.recall:.1f}/{100 * e.f1:.1f}  "
            + " ".join(f"{100 * s:.1f}" for s in share)
        )
    return 0


def _verdict(
    plan: tuple[GroundAction, ...],
    removes: list[tuple[int, GroundAction]],
    wishes: list[tuple[int, GroundAction]],
    repaired: tuple[GroundAction, ...] | None = None,
) -> PlanVerdict:
    critiques = [Critique(CritiqueKind.REMOVE, n, (a,), "") for n, a in removes]
    critiques += [Critique(CritiqueKind.MISSING, n, (a,), "") for n, a in wishes]
    return PlanVerdict(plan, tuple(critiques), repaired)


def _by_end(
    inserted: int,
    length: int,
    plan: tuple[GroundAction, ...],
    end: tuple[GroundAction, ...],
    task: Task,
) -> Counts:
    """Score what the loop came to: how far it is from the best repair, in steps."""
    wrong = len(plan) + inserted - length
    same = Counter(plan) & Counter(end)
    removed, added = len(plan) - same.total(), len(end) - same.total()
    if Validator(task).check(end).valid:
        left = max(0, len(end) - length)
        return Counts(max(0, wrong + inserted - left), 0, left)
    done = min(removed, wrong) + min(added, inserted)
    return Counts(done, removed + added - done, max(0, wrong + inserted - done))


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

"""Compare verdicts on hierarchical plans with recorded ones: agreement_hddl.py DATA

DATA is a folder with a `manifest.jsonl`, one case per line: `domain`, `problem` and `plan` (paths
below DATA), `mutation` (null for a planner's original plan), and `expected` and
`expected_any_order`: valid, invalid, unreadable, or null if the correct verdict is open. A mutated
plan changes one thing in the plan whose name ends in `--planner.plan`; `flawed/` has domains with
one fault each.

The script prints the verdicts that differ, how often the named line is a changed line or belongs to
a task above it, the findings on the flawed domains, and times. The exit code is 1 if a verdict
differs without an explanation here.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from conditions import conditions
from inputs import measured, records

from hvr.errors import HvrError
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from hvr.validation.report import Outcome

ARGUED = {
    # The method has two subtasks, but the plan gives it one. pandaPIparser does not check that
    # every subtask is present, and the corpus records its verdict for this mode.
    ("to-Transport-pfile01--wrong_method", True)
}
SAID_OF_FLAWED = {
    "abstract-task-without-decomposition": "HVR401",
    "complementary-effects": "HVR312",
    "cyclic-ordering-for-subtasks": "cyclic",
    "duplicate-action": "defined twice",
    "duplicate-decomposition-method": "defined twice",
    "duplicate-predicate": "declared twice",
    "forgotten-dash": "cannot be a variable",
    "forgotten-question-mark": "cannot be a variable",
    "inconsistent-num-parameters-task": "takes 2 arguments, not 1",
    "inconsistent-type-parameters-task": "wrong type",
    "possible-complementary-effects": "HVR405",
    "undeclared-task-parameter": "not declared",
    "undefined-task": "not declared",
}
"""Expected finding for each domain in flawed/."""
MANY_FAULTS = {"actions_only", "shuffle_actions", "upper_case", "cut_file", "no_start_marker"}


@dataclass(frozen=True)
class Answer:
    """hvr's answer about one plan; `line` is the line that it blames."""

    verdict: str
    line: int
    seconds: float
    words: str


@lru_cache(maxsize=64)
def prepared(domain: Path, problem: Path, any_order: bool) -> DecompositionVerifier:
    lifted = parse_hddl_domain(domain)
    return DecompositionVerifier(lifted, parse_hddl_problem(problem, lifted), any_order=any_order)


def answer(root: Path, case: dict[str, Any], any_order: bool) -> Answer:
    begin = time.perf_counter()
    try:
        verifier = prepared(root / case["domain"], root / case["problem"], any_order)
        begin = time.perf_counter()
        report = verifier.check_file(root / case["plan"])
    except HvrError as error:
        diagnostic = getattr(error, "diagnostic", None)
        verdict = "no place" if diagnostic is None else "unreadable"
        line = 0 if diagnostic is None else diagnostic.location.line
        return Answer(verdict, line, time.perf_counter() - begin, str(error))
    seconds = time.perf_counter() - begin
    if report.outcome is Outcome.VALID:
        return Answer("valid", 0, seconds, "")
    failure = report.failure
    line = failure.location.line if failure and failure.location else 0
    return Answer(report.outcome.value, line, seconds, report.explain())


def lines_at_fault(original: str, changed: str) -> set[int]:
    """Return the changed lines, and the lines of the tasks above them in the decomposition."""
    old, new = original.splitlines(), changed.splitlines()
    at_fault: set[int] = set()
    touched: set[str] = set()
    for kind, i, j, k, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            at_fault.update(range(k + 1, n + 1))
            touched.update(line.split()[0] for line in (*old[i:j], *new[k:n]) if line.split())
    for text in (old, new):
        for line in text:
            words = line.split()
            below = words[words.index("->") + 2 :] if "->" in words else words[1:]
            if words and ("->" in words or words[0] == "root") and touched & set(below):
                at_fault.update(
                    i for i, other in enumerate(new, 1) if other.split()[:1] == words[:1]
                )
    return at_fault


def places(root: Path, cases: list[dict[str, Any]], answers: dict[str, Answer]) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in cases:
        mutation, found = case["mutation"], answers[case["id"]]
        if mutation is None or mutation in MANY_FAULTS or found.verdict == "valid":
            continue
        original = root / case["plan"].replace(f"--{case['id'].split('--')[-1]}", "--planner")
        planned = answers.get(original.stem)
        if planned is None or planned.verdict != "valid" or not original.exists():
            continue
        at_fault = lines_at_fault(original.read_text(), (root / case["plan"]).read_text())
        total[mutation] += 1
        right[mutation] += found.line in at_fault
        if found.line not in at_fault:
            print(f"  {case['id']}: line {found.line}, not one of {sorted(at_fault)}")
            print("    " + found.words.replace("\n", "\n    "))
    print(f"named line: right for {right.total()} of {total.total()} plans with one fault")
    for mutation in sorted(total):
        print(f"  {mutation}: {right[mutation]} of {total[mutation]}")


def flawed(root: Path) -> None:
    from hvr.validation.hierarchical.lint import lint_hddl

    said = 0
    files = sorted((root / "flawed").glob("*.hddl"))
    for file in files:
        try:
            found = lint_hddl(parse_hddl_domain(file))
            words = [f"{one.location}: {one.message} [{one.rule}]" for one in found]
        except HvrError as error:
            words = [str(error).split("\n")[0]]
        print(f"  {file.stem}")
        print("".join(f"    {word.replace(f'{root}/flawed/', '')}\n" for word in words), end="")
        wanted = SAID_OF_FLAWED.get(file.stem.removesuffix("-domain"), "")
        said += any(wanted in word for word in words)
    print(f"flawed domains: flaw found in {said} of {len(files)}")


def found_again(root: Path, cases: list[dict[str, Any]]) -> None:
    """Print for how many planners' plans hvr finds a decomposition from the actions alone."""
    from hvr.validation.hierarchical.conversion import ActionsJudge, read_actions

    times, outcomes = [], Counter[str]()
    for case in cases:
        if case["mutation"] is None:
            verifier = prepared(root / case["domain"], root / case["problem"], False)
            begin = time.process_time()
            report, _ = ActionsJudge(verifier).decompose(read_actions(root / case["plan"]))
            times.append(time.process_time() - begin)
            outcomes[str(report.outcome)] += 1
    if times:
        print(f"from the actions of planners' plans: {dict(outcomes)}, "
              f"{1000 * statistics.median(times):.0f} ms (median), "
              f"{1000 * max(times):.0f} ms maximum")  # fmt: skip


def long_plan(count: int) -> tuple[DecompositionVerifier, HierarchicalPlan]:
    """Return a plan with `count` actions in a chain of recursive tasks."""
    domain = parse_hddl_domain(
        "(define (domain walk) (:types place) (:predicates (at ?p - place) (road ?p ?q - place))"
        "(:task go :parameters (?q - place))"
        "(:method on :parameters (?p ?q ?r - place) :task (go ?r) :precondition (at ?p)"
        " :ordered-subtasks (and (move ?p ?q) (go ?r)))"
        "(:method there :parameters (?r - place) :task (go ?r) :precondition (at ?r)"
        " :subtasks ())"
        "(:action move :parameters (?p ?q - place) :precondition (and (at ?p) (road ?p ?q))"
        " :effect (and (not (at ?p)) (at ?q))))"
    )
    objects = " ".join(f"p{i}" for i in range(10))
    roads = " ".join(f"(road p{i} p{(i + 1) % 10})" for i in range(10))
    problem = parse_hddl_problem(
        f"(define (problem w) (:domain walk) (:objects {objects} - place) (:init (at p0) {roads})"
        f"(:htn :subtasks (go p{count % 10})))",
        domain,
    )
    actions = tuple(PlanLine(i, "move", (f"p{i % 10}", f"p{(i + 1) % 10}")) for i in range(count))
    goal = f"p{count % 10}"
    tasks = tuple(
        PlanLine(count + i, "go", (goal,), "on", (i, count + i + 1)) for i in range(count)
    )
    last = PlanLine(2 * count, "go", (goal,), "there")
    return DecompositionVerifier(domain, problem), HierarchicalPlan(
        actions, (count,), (*tasks, last)
    )


def speed() -> None:
    """Print the time to read and judge plans of 100 and 10,000 actions."""
    from hvr.pddl.hierarchy.plan import print_hierarchical_plan

    for count in (100, 10_000):
        verifier, plan = long_plan(count)
        text = print_hierarchical_plan(plan)
        times = []
        for _ in range(5):
            begin = time.process_time()
            assert verifier.check_file(text).valid
            times.append(time.process_time() - begin)
        print(f"a plan of {count:,} actions: {1000 * statistics.median(times):.1f} ms of CPU")


def agreement(data: Path, cases: list[dict[str, Any]]) -> int:
    """Print the verdicts that differ, and return how many of them are unexplained."""
    unexplained = 0
    for any_order, key in ((False, "expected"), (True, "expected_any_order")):
        answers = {case["id"]: answer(data, case, any_order) for case in cases}
        table: Counter[tuple[str, str]] = Counter()
        for case in cases:
            found = answers[case["id"]]
            table[case[key] or "open", found.verdict] += 1
            if case[key] and found.verdict != case[key]:
                argued = (case["id"], any_order) in ARGUED
                unexplained += not argued
                why = "explained in this script" if argued else "NOT EXPLAINED"
                print(f"  {case['id']}: {found.verdict}, expected {case[key]} ({why})")
        agree = sum(n for (one, two), n in table.items() if one == two)
        judged = sum(1 for case in cases if case[key])
        print(f"{'any order' if any_order else 'strict'}: {agree} of {judged} as expected")
        for (one, two), number in sorted(table.items()):
            print(f"  expected {one}, found {two}: {number}")
        seconds = [found.seconds for found in answers.values()]
        print(f"  {1000 * statistics.median(seconds):.2f} ms per plan (median), "
              f"{1000 * max(seconds):.1f} ms maximum")  # fmt: skip
        if not any_order:
            places(data, cases, answers)
    return unexplained


def main() -> int:
    gc.set_threshold(100_000)  # as in `hvr validate`
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with manifest.jsonl")
    data: Path = parser.parse_args().data
    print(conditions())
    cases = records(data / "manifest.jsonl", "id", "plan", "expected", "expected_any_order")
    unexplained = agreement(data, cases)
    flawed(data)
    found_again(data, cases)
    speed()
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(measured(main))

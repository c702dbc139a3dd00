"""Measure the memory of a validation in multiples of its input.

    python benchmarks/validate_memory.py [--cases facts objects]

The figure is the peak memory of a fresh process that judges one plan, divided by the size of the
large files. The peak of the same command with one step, object, fact or value is subtracted first
(Linux only). Names have two to seven characters, so every object in memory is much larger than its
text.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from conditions import conditions

STEPS, OBJECTS, FACTS = 100_000, 500_000, 100_000
# Plans whose steps are all different, and all in progress at once.
DISTINCT, TOGETHER = 30_000, 30_000
DOMAIN = """(define (domain d) (:predicates (p ?a ?b) (q ?a))
  (:action m :parameters (?a ?b) :precondition (q ?a) :effect (p ?a ?b)))"""
TIMED = """(define (domain d) (:requirements :durative-actions) (:predicates (p ?a ?b) (q ?a))
  (:durative-action m :parameters (?a ?b) :duration (= ?duration 1)
    :condition (at start (q ?a)) :effect (at end (p ?a ?b))))"""
VALUES = """(define (domain d) (:requirements :fluents) (:predicates (q ?a)) (:functions (f ?a ?b))
  (:action m :parameters (?a ?b) :precondition (q ?a) :effect (increase (f ?a ?b) 1)))"""
MOVING = """(define (domain d) (:requirements :time :fluents) (:predicates (p ?a ?b) (q ?a))
  (:functions (level) (rate))
  (:action m :parameters (?a ?b) :precondition (q ?a) :effect (increase (rate) 0.001))
  (:process run :parameters () :effect (increase (level) (* #t (rate)))))"""
TASKS = """(define (domain d) (:requirements :hierarchy) (:predicates (p ?a ?b) (q ?a))
  (:task t :parameters ())
  (:method more :parameters (?a ?b) :task (t) :ordered-subtasks (and (m ?a ?b) (t)))
  (:method none :parameters () :task (t) :ordered-subtasks ())
  (:action m :parameters (?a ?b) :precondition (q ?a) :effect (p ?a ?b)))"""
RUN = """import re, sys
from hvr.doors.cli.main import main
code = main(["validate", *sys.argv[1:]])
status = open("/proc/self/status").read()
print(code, re.search(r"VmHWM:\\s*(\\d+)", status)[1], file=sys.stderr)"""
# Not `ru_maxrss`, which includes the parent's memory before the exec.


def problem(objects: int, facts: Iterable[str] = ()) -> str:
    """Return a problem whose goal holds from the start."""
    names = " ".join(f"o{i}" for i in range(objects))
    init = " ".join(["(q o0)", *facts])
    return f"(define (problem x) (:domain d) (:objects {names}) (:init {init}) (:goal (q o0)))"


def listed(steps: Iterable[str]) -> str:
    return f"[{', '.join(steps)}]"


def row(text: str) -> Callable[[int], str]:
    """Return a plan generator; in each line, N becomes its number, K an object's number."""
    return lambda n: "\n".join(
        text.replace("N", str(i)).replace("K", str(i % 100)).replace("X", str(i % 3000))
        for i in range(n)
    )


PLANS: dict[str, tuple[str, Callable[[int], str]]] = {
    "(m a b)": (DOMAIN, row("(m o0 oK)")),
    "m(a, b)": (DOMAIN, row("m(o0, oK)")),
    "0.5: (m a b)": (DOMAIN, row("N.5: (m o0 oK)")),
    "JSON texts": (DOMAIN, lambda n: listed(row('"(m o0 oK)"')(n).split("\n"))),
    "JSON objects": (
        DOMAIN,
        lambda n: listed(row('{"action": "m", "args": ["o0", "oK"]}')(n).split("\n")),
    ),
    "0.5: (m a b) [1], durative": (TIMED, row("N.5: (m o0 oK) [1]")),
}


def decomposed(count: int) -> str:
    """Return a hierarchical plan in which each task decomposes into an action and the next task."""
    actions = [f"{i} m o0 o{i % 100}" for i in range(count)]
    tasks = [f"{count + i} t -> more {i} {count + i + 1}" for i in range(count)]
    last = f"{2 * count} t -> none"
    return "\n".join(["==>", *actions, f"root {count}", *tasks, last, "<=="])


def at_once(count: int, order: str) -> tuple[str, str]:
    """Return a problem whose task network has an action for each step, and its plan."""
    steps = [f"(m o0 o{i % 100})" for i in range(count)]
    listed_ = f":ordered-subtasks (and {' '.join(steps)})"
    if order != "ordered":
        listed_ = f":subtasks (and {' '.join(f'(t{i} {s})' for i, s in enumerate(steps))})"
    if order == "pairs":
        pairs = " ".join(f"(< t{i} t{i + 1})" for i in range(count - 1))
        listed_ += f" :ordering (and {pairs})"
    actions = [f"{i} {step[1:-1]}" for i, step in enumerate(steps)]
    plan = "\n".join(["==>", *actions, f"root {' '.join(map(str, range(count)))}", "<=="])
    return problem(100).replace("(:goal (q o0))", f"(:htn {listed_})"), plan


def failing(count: int) -> str:
    steps = row("(m o0 oK)")(count)
    return f"{steps}\n(m o1 o1)\n{steps}"


def more_cases() -> dict[str, tuple[str, tuple[str, str], tuple[str, str]]]:
    """Return cases of invalid plans, continuous change, JSON plans with times, and tasks."""
    unreached = problem(100).replace("(:goal (q o0))", "(:goal (q o1))")
    moving = problem(100, ["(= (level) 0)", "(= (rate) 1)"])
    tasks = problem(100).replace("(:goal (q o0))", "(:htn :subtasks (t))")
    timed = '{"time": N.5, "action": "m", "args": ["o0", "oK"], "duration": 1}'
    short, texts = row("(m o0 oK)"), lambda n: listed(row(timed)(n).split("\n"))
    stamped = row("N.5: (m o0 oK)")
    return {
        "goal missed": (DOMAIN, (unreached, short(1)), (unreached, short(STEPS))),
        "late failure": (DOMAIN, (problem(100), failing(1)), (problem(100), failing(STEPS))),
        "timed JSON": (TIMED, (problem(100), texts(1)), (problem(100), texts(30_000))),
        "processes": (MOVING, (moving, stamped(1)), (moving, stamped(20_000))),
        "hierarchical": (TASKS, (tasks, decomposed(1)), (tasks, decomposed(TOGETHER))),
        **{
            f"network, {order}": (TASKS, at_once(1, order), at_once(10_000, order))
            for order in ("ordered", "pairs", "unordered")
        },
    }


def peak(folder: Path, domain: str, problem_: str, plan: str) -> int:
    """Return the peak memory in bytes of a process that judges a plan."""
    files = [folder / "domain.pddl", folder / "problem.pddl", folder / "plan.txt"]
    for file, text in zip(files, (domain, problem_, plan), strict=True):
        file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, *files], capture_output=True, text=True, check=True
    )
    code, kilobytes = done.stderr.split()[-2:]
    assert code in ("0", "1"), done.stdout
    return 1024 * int(kilobytes)


def main() -> None:
    cases: dict[str, tuple[str, tuple[str, str], tuple[str, str]]] = {
        name: (domain, (problem(100), plan(1)), (problem(100), plan(STEPS)))
        for name, (domain, plan) in PLANS.items()
    }
    step = "(m o0 o0)"
    facts = (f"(p o{i % 1000} o{i * 7 % 1009 % 1000})" for i in range(FACTS))
    cases["objects"] = DOMAIN, (problem(1), step), (problem(OBJECTS), step)
    for name, domain, text in (
        ("distinct", DOMAIN, "(m o0 oX)"),
        ("distinct, durative", TIMED, "N.5: (m o0 oX) [1]"),
    ):
        plan = row(text)
        cases[name] = domain, (problem(3000), plan(1)), (problem(3000), plan(DISTINCT))
    plan = row("N.5: (m o0 oK) [90000]")
    cases["all at once"] = (
        TIMED.replace("(= ?duration 1)", "(>= ?duration 1)"),
        (problem(100), plan(1)),
        (problem(100), plan(TOGETHER)),
    )
    values = {f"(= (f o{i % 1000} o{i * 7 % 1009 % 1000}) ": f"{i % 977}.5)" for i in range(60_000)}
    cases["values"] = (
        VALUES,
        (problem(1000, ["(= (f o0 o0) 1)"]), step),
        (problem(1000, map("".join, values.items())), step),
    )
    cases["facts"] = DOMAIN, (problem(1000), step), (problem(1000, facts), step)
    cases |= more_cases()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", nargs="+", default=list(cases), choices=list(cases))
    chosen = parser.parse_args().cases
    print(conditions())
    with tempfile.TemporaryDirectory() as name:
        for case, (domain, small, large) in cases.items():
            if case not in chosen:
                continue
            least = peak(Path(name), domain, *small)
            most = peak(Path(name), domain, *large)
            size = max(map(len, large))
            if case.startswith("network"):
                size = sum(map(len, large))  # all of these files grow with the case
            print(f"{case:28} {size / 1e6:5.1f} MB of text, {(most - least) / size:5.1f} times")


if __name__ == "__main__":
    main()

"""Compare hvr with VAL on random tasks with exponential and nonlinear change.

Usage: VAL=/path/to/Validate python benchmarks/agreement_continuous.py [--count N] [--seed N]

A process changes the numbers of each task in one of the shapes below; some tasks have an event. If
hvr finds the plan valid, the goal requires every number to be close to hvr's value. The script
prints the tasks on which VAL disagrees. The exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from conditions import conditions

from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import Validator

HEAD = """(define (domain d)
  (:requirements :typing :fluents :durative-actions :duration-inequalities :time
    :negative-preconditions :continuous-effects)
  (:predicates (on) (full) (done))
  (:functions (x) (v) (k) (n))
  (:action start :parameters () :precondition (not (on)) :effect (on))
  (:action stop :parameters () :precondition (on) :effect (not (on)))
  (:action finish :parameters () :precondition (not (done)) :effect (done))
"""

SHAPES = {
    "growth": "(increase (x) (* #t (* {a} (x))))",
    "decay": "(decrease (x) (* #t (* {a} (x))))",
    "approach": "(increase (x) (* #t (* {a} (- {b} (x)))))",
    "driven": "(and (increase (x) (* #t (- {b} (* {a} (x))))) (increase (v) (* #t {c})))",
    "chain": "(and (decrease (x) (* #t (* {a} (x)))) (increase (v) (* #t (* {a} (x)))))",
    "linear drag": "(and (increase (x) (* #t (v))) (decrease (v) (* #t (* {a} (v)))))",
    "drag": "(and (increase (x) (* #t (v))) (decrease (v) (* #t (* {a} (* (v) (v))))))",
    "logistic": "(increase (x) (* #t (* {a} (* (x) (- {b} (x))))))",
    "swing": "(and (increase (x) (* #t (v))) (decrease (v) (* #t (* {a} (x)))))",
    "quadratic": "(and (increase (x) (* #t (v))) (increase (v) (* #t {a})))",
}
"""Process effects; numbers replace `{a}`, `{b}` and `{c}`."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    val = os.environ.get("VAL")
    if val is None:
        parser.error("set VAL to the path of VAL's Validate")
    print(conditions(options.seed))
    counts: dict[str, Counter[str]] = {shape: Counter() for shape in SHAPES}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.seed, options.seed + options.count):
            shape, result, files = compare(random.Random(number), val, Path(folder))
            counts[shape][result] += 1
            if result not in ("alike", "VAL refuses"):
                print(f"{number}: {shape}: {result}", *files, sep="\n")
    for shape, results in counts.items():
        print(f"{shape}: {', '.join(f'{n} {result}' for result, n in results.items())}")
    return int(any(set(results) - {"alike", "VAL refuses"} for results in counts.values()))


def compare(chance: random.Random, val: str, folder: Path) -> tuple[str, str, Iterable[str]]:
    """Judge one task with both validators, and return its shape, the outcome and its files."""
    shape = chance.choice(list(SHAPES))
    numbers = {
        "a": chance.choice(["0.1", "0.25", "0.5", "1"]),
        "b": chance.choice(["1", "2", "5"]),
        "c": chance.choice(["-1", "0.5", "2"]),
    }
    begin = {"x": chance.choice([1, 2, 4]), "v": chance.choice([1, 2, 3]), "k": 0, "n": 0}
    body = HEAD + process(chance, SHAPES[shape].format(**numbers), begin["x"])
    end = chance.randint(10, 60) / 10
    plan = f"0.1: (start)\n{0.1 + end}: (stop)\n{1.1 + end}: (finish)\n"
    first = judge(body, begin, "(done)")
    goal = "(done)"
    report = first.check(read_plan(plan).steps)
    if report.valid:
        found = first.state_after(read_plan(plan).steps, 3).numbers()
        # A third of the goals miss by far more than VAL's tolerance.
        shift = chance.choice([0, 0, 1])
        for term, value in found.items():
            low, high = (f"{float(value + Fraction(d, 50) + shift):.9f}" for d in (-1, 1))
            goal += f" (>= {term} {low}) (<= {term} {high})"
        report = judge(body, begin, goal).check(read_plan(plan).steps)
    texts = f"{body})", problem_text(begin, goal), plan
    names = [folder / name for name in ("domain.pddl", "problem.pddl", "plan.txt")]
    for name, text in zip(names, texts, strict=True):
        name.write_text(text)
    run = subprocess.run(
        [val, "-v", *map(str, names)], capture_output=True, timeout=60, check=False
    )
    output = run.stdout.decode(errors="replace")
    if "Plan valid" in output and "Failed" not in output:
        theirs = "valid"
    elif "Failed plans" in output or "failed to execute" in output:
        theirs = "invalid"
    else:
        return shape, "VAL refuses", texts
    ours = report.outcome.value
    return shape, "alike" if ours == theirs else f"hvr {ours}, VAL {theirs}", texts


def process(chance: random.Random, effect: str, begin: int) -> str:
    """Return a process with this effect and, in some cases, an event that fires later.

    The event avoids a known fault: VAL drops a process if an event fires when the process begins.
    """
    text = f"(:process p :parameters () :precondition (on) :effect {effect})\n"
    if chance.random() < 0.4:
        bound = chance.choice(["0.5", "1.5", "3"])
        symbol = "<=" if begin > float(bound) else ">="
        text += (
            f"(:event e :parameters () :precondition (and (on) (not (full)) ({symbol} (x) {bound}))"
            " :effect (and (full) (increase (n) 1)))\n"
        )
    return text


def problem_text(begin: dict[str, int], goal: str) -> str:
    init = " ".join(f"(= ({name}) {value})" for name, value in begin.items())
    return (
        f"(define (problem p) (:domain d) (:init {init}) (:goal (and {goal}))"
        " (:metric minimize (total-time)))\n"
    )


def judge(body: str, begin: dict[str, int], goal: str) -> Validator:
    domain = parse_domain(f"{body})")
    return Validator(domain, parse_problem(problem_text(begin, goal), domain))


if __name__ == "__main__":
    sys.exit(main())

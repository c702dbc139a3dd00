"""Measure `hvr.validation.rewards`: completions per second, and time on hostile inputs.

    python benchmarks/rewards.py [--domain FILE --problem FILE --plan FILE] [--completions N]

A completion is a model's answer with the plan: unchanged, without one step, with two steps swapped,
or with a wrong object, half of them within prose. Hostile completions are random bytes, deep
brackets, long names, broken JSON, plans and repetitions of 100,000 characters. Times are CPU times
of one process.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions
from inputs import measured

from hvr.pddl import parse_domain, parse_plan
from hvr.validation.rewards import MISSED, REACHED, PlanRewards

BLOCKS = """(define (domain blocks) (:requirements :strips)
 (:predicates (on ?a ?b) (ontable ?a) (clear ?a) (handempty) (holding ?a))
 (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
  :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
 (:action put-down :parameters (?x) :precondition (holding ?x)
  :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
 (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
  :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
 (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
  :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))"""
TOWER = 11
UNITS = (
    " ", "\n", "a\n", "()", "(stack b1 b2)\n", "```\n(stack b1 b2)\n```\n", "```\n", "[\n", '{"\n',
    "<a", "1: ", "| 1 | (stack b1 b2) |\n", "so (stack b1 b2) is\n", "so (stack b1 b2) is ",
    "(stack b1 b2))\n", "SequentialPlan([stack(b1, b2), ", "Found Plan:\n(stack b1 b2)\n",
    "</think>\n", "stack b1 b2\n", "0: -----waiting---- [2.0]\n", "Plan length: 99999 step(s).\n",
    "(on b1)\n",
)  # fmt: skip
"""Units repeated in answers of 100,000 characters."""
LONG = 100_000
SHAPES = {
    "blanks, then a step": (" ", "(on a)"),
    "a number, then tabs": ("1", "\t", "("),
    "a fence, then tabs": ("```", "\t", "(b1"),
    "slashes in a name": ("a/", "(on a)"),
    "quotes in a name": ("é'", "(on a)"),
    "a step, then blanks": ("(stack b1 b2)", " ", "x"),
    "digits, then a step": ("9", ": (pick-up b0)"),
    "parentheses in lines": ("(\n",),
    "steps in lines": ("(stack b1 b2)\n",),
    "commas in a step": ("(stack", ",", "b1)"),
}
"""Texts on which regular expressions with adjacent repetitions are quadratic."""
PROSE = "Let me think about it.\n```pddl\n{}\n```\nThis reaches the goal."


def tower() -> tuple[str, str]:
    """Return a problem of building a tower, and its plan of 20 steps."""
    names = [f"b{i}" for i in range(TOWER)]
    there = " ".join(f"(ontable {b}) (clear {b})" for b in names)
    goal = " ".join(f"(on {a} {b})" for a, b in pairwise(names))
    problem = (
        f"(define (problem tower) (:domain blocks) (:objects {' '.join(names)})"
        f"(:init (handempty) {there}) (:goal (and {goal})))"
    )
    steps = [
        line for i in reversed(range(TOWER - 1))
        for line in (f"(pick-up b{i})", f"(stack b{i} b{i + 1})")
    ]  # fmt: skip
    return problem, "\n".join(steps)


def completions(plan: str, count: int, rng: random.Random) -> Iterator[str]:
    """Yield answers of a model, some of them correct."""
    steps = plan.splitlines()
    objects = sorted({word.strip("()") for step in steps for word in step.split()[1:]})
    for number in range(count):
        some = list(steps)
        at = rng.randrange(len(some))
        match number % 4:
            case 1:
                del some[at]
            case 2:
                other = rng.randrange(len(some))
                some[at], some[other] = some[other], some[at]
            case 3 if objects:
                words = some[at].strip("()").split()
                some[at] = f"({' '.join([*words[:-1], rng.choice(objects)])})"
        text = "\n".join(some)
        yield PROSE.format(text) if number % 8 < 4 else text


def hostile(plan: str, count: int, rng: random.Random) -> Iterator[str]:
    """Yield answers that are meant to break or slow down the parser."""
    letters = "()[]{}:;,`\"'\\ \n\t0123456789abcxyz\x00\x1b\ud800é漢"
    for number in range(count):
        size = rng.choice((10, 100, 1000, 10_000))
        match number % 9:
            case 0:
                yield "".join(rng.choices(letters, k=size))
            case 1:
                yield rng.choice("([{") * size
            case 2:
                yield f"(stack {'b' * size} b1)"
            case 3:
                yield '{"plan": [' * (size // 10) + '"(pick-up b0)"'
            case 4:
                yield plan + "\n" + plan * (size // 10)
            case 5:
                yield "```" + "\n```".join(rng.choices(plan.splitlines(), k=size // 10))
            case 6:
                yield "".join(rng.sample(plan, len(plan)))
            case 7:
                yield f"{'9' * size}: {plan}"
            case _:
                unit = UNITS[number // 9 % len(UNITS)]
                yield unit * (100_000 // len(unit))


def shaped(parts: tuple[str, ...], size: int = LONG) -> str:
    """Return a text of `size` characters by repeating `parts[0]`, or the middle of three."""
    fills = 1 if len(parts) == 3 else 0
    head, tail = "".join(parts[:fills]), "".join(parts[fills + 1 :])
    return head + parts[fills] * ((size - len(head) - len(tail)) // len(parts[fills])) + tail


def print_shapes(rewards: PlanRewards, domain: str, problem: str) -> None:
    """Print the CPU time for each hostile shape, in the main thread and in another thread."""

    def milliseconds(text: str) -> float:
        start = time.thread_time()
        rewards.scores([text], domain=domain, problem=problem)
        return 1000 * (time.thread_time() - start)

    print(f"\n| {LONG:,} characters | main thread, ms | another thread, ms |")
    print("|---|---|---|")
    with ThreadPoolExecutor(1) as thread:
        for name, parts in SHAPES.items():
            text = shaped(parts)
            here = milliseconds(text)
            print(f"| {name} | {here:.0f} | {thread.submit(milliseconds, text).result():.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", type=Path, help="PDDL domain (default: blocks)")
    parser.add_argument("--problem", type=Path, help="PDDL problem (default: a tower of 11 blocks)")
    parser.add_argument("--plan", type=Path, help="a valid plan (default: the tower's 20 steps)")
    parser.add_argument("--completions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    given = [options.domain, options.problem, options.plan]
    if any(given) and not all(given):
        parser.error("give --domain, --problem and --plan, or none of them")
    if all(given):
        domain, problem, text = (path.read_text(encoding="utf-8") for path in given)
        parse_domain(domain)
        plan = "\n".join(map(str, parse_plan(text)))
    else:
        domain, (problem, plan) = BLOCKS, tower()
    rng, rewards = random.Random(options.seed), PlanRewards()
    steps = len(plan.splitlines())
    print(f"{conditions(options.seed)}\n\nplan of {steps} steps, one process, CPU time\n")
    print("| completions | number | per second | slowest, ms | valid | rewards |")
    print("|---|---|---|---|---|---|")
    rewards.scores([plan], domain=domain, problem=problem)
    for name, texts in (
        ("a model's", list(completions(plan, options.completions, rng))),
        ("hostile", list(hostile(plan, options.completions, rng))),
    ):
        seconds, scores = [], []
        for completion in texts:
            start = time.process_time()
            scores += rewards.scores([completion], domain=domain, problem=problem, best=steps)
            seconds.append(time.process_time() - start)
        values = [score.reward for score in scores]
        good = [score.reward for score in scores if score.valid]
        others = [score.reward for score in scores if not score.valid]
        assert all(0 <= value <= 1 for value in values)
        assert min(good, default=REACHED) >= REACHED > MISSED >= max(others, default=0.0)
        print(
            f"| {name} | {len(texts):,} | {len(texts) / sum(seconds):,.0f} | "
            f"{1000 * max(seconds):.0f} | {len(good):,} | "
            f"{min(values):.2f} to {max(values):.2f}, median {statistics.median(values):.2f} |"
        )
    print_shapes(rewards, domain, problem)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\npeak memory {memory} MiB; no exception; every valid plan above all others")


if __name__ == "__main__":
    sys.exit(measured(main))

"""Measure throughput and memory of `hvr.validation.stream` by number and length of plans.

    python benchmarks/validate_stream.py --plans 10000 100000 1000000 --steps 5 20

Every case runs in its own process. The plans are generated: lamps are switched on one after the
other, with a hundred plans per problem, every tenth without its last step.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator

from conditions import conditions

PLANS_OF_A_PROBLEM = 100
DOMAIN = """(define (domain lamps) (:predicates (lit ?l))
 (:action light :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))"""


def rows(plans: int, steps: int) -> Iterator[tuple[str, str, str]]:
    lamps = [f"l{i}" for i in range(steps)]
    goal = " ".join(f"(lit {lamp})" for lamp in lamps)
    whole = [f"(light {lamp})" for lamp in lamps]
    for number in range(plans):
        problem = (
            f"(define (problem p{number // PLANS_OF_A_PROBLEM}) (:domain lamps)"
            f" (:objects {' '.join(lamps)}) (:init) (:goal (and {goal})))"
        )
        yield DOMAIN, problem, "\n".join(whole[:-1] if number % 10 == 0 else whole)


def measure(plans: int, steps: int) -> str:
    import resource

    from hvr.validation import Outcome, stream

    start = time.perf_counter()
    valid = sum(judged.report.outcome is Outcome.VALID for judged in stream(rows(plans, steps)))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = f"{plans / seconds:,.0f}"
    return f"| {plans:,} | {steps} | {valid:,} | {seconds:.2f} | {rate} | {peak:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(measure(given.plans[0], given.steps[0]))
        return
    print(f"{conditions()}\n")
    print("| plans | steps | valid | seconds | plans per second | peak memory, MiB |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for steps in given.steps:
        for plans in given.plans:
            case = ["--one", "--plans", str(plans), "--steps", str(steps)]
            subprocess.run([sys.executable, __file__, *case], check=True)


if __name__ == "__main__":
    main()

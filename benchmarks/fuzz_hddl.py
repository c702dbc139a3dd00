"""Fuzz the HDDL readers and validators: python benchmarks/fuzz_hddl.py [--data DATA]

Damages domains, problems and plans: deletes, doubles, swaps and replaces characters and words,
shuffles lines, cuts and splices files, adds deep parentheses and long numbers. The seeds are the
example of the documentation and part of DATA (see agreement_hddl.py).

Each input is read, linted, and judged with and without its decomposition. A finding is an exception
other than an HvrError, more than 2 seconds of CPU, or memory above 20 times the input plus 8 MB.
Memory is measured on one input in 20 and on all large inputs. Findings are printed with their
number; the same number gives the same input. The exit code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import sys
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conditions import conditions
from inputs import measured, records

from hvr.errors import HvrError
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import read_hierarchical_plan
from hvr.validation.hierarchical.conversion import ActionsJudge, draw_svg, draw_tree
from hvr.validation.hierarchical.lint import lint_hddl
from hvr.validation.hierarchical.verifier import DecompositionVerifier

LIMIT_SECONDS = 2.0
BASE_BYTES, LIMIT_TIMES = 8_000_000, 20
# Always measure the memory of larger inputs: small ones hardly reach the base.
LARGE = 60_000
EXAMPLE = Path(__file__).parents[1] / "examples" / "parcels"
WORDS = [
    ":subtasks",
    ":ordered-subtasks",
    ":ordering",
    ":task",
    ":method",
    ":htn",
    ":precondition",
    ":constraints",
    "and",
    "not",
    "or",
    "forall",
    "exists",
    "=",
    "<",
    "?x",
    "?van",
    "-",
    "either",
    "object",
    "()",
    ")",
    "(",
    "==>",
    "<==",
    "->",
    "root",
    "0",
    "1",
    "999999999999",
    "-1",
    "1.5",
    ";",
    "when",
    "increase",
    "define",
    ":parameters",
    ":effect",
]


def damaged(text: str, chance: random.Random, other: str) -> str:
    """Damage a text in one to four ways."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text = _damage(text, chance, other)
    return text


def _damage(text: str, chance: random.Random, other: str) -> str:
    parts = re.split(r"(\s+|[()])", text)
    at = chance.randrange(len(parts))
    way = chance.randrange(12)
    if way == 0:
        return text[: chance.randrange(len(text) + 1)]
    if way == 1:
        return text[: chance.randrange(len(text) + 1)] + other[chance.randrange(len(other) + 1) :]
    if way == 2:
        lines = text.splitlines(keepends=True)
        chance.shuffle(lines)
        return "".join(lines)
    if way == 3 and chance.random() < 0.1:
        parts[at] = "(" * 10_000 + "and" + ")" * chance.choice((0, 10_000))
    elif way == 4 and chance.random() < 0.1:
        parts[at] = chance.choice(("9" * 10_000, "x" * 100_000, "\0", "\ufeff", "é" * 50))
    elif way in (5, 6):
        parts[at] = chance.choice(WORDS)
    elif way in (7, 8):
        parts[at] = chance.choice(parts)
    elif way == 9:
        del parts[at : at + chance.randrange(1, 6)]
    elif way == 10:
        parts[at:at] = parts[at : at + chance.randrange(1, 30)]
    else:
        swap = chance.randrange(len(parts))
        parts[at], parts[swap] = parts[swap], parts[at]
    return "".join(parts)


def attempt(domain: str, problem: str, plan: str, any_order: bool) -> str:
    """Read, lint and judge three texts, and return the stage reached."""
    stage = "domain"
    try:
        lifted = parse_hddl_domain(domain)
        lint_hddl(lifted)
        stage = "problem"
        task = parse_hddl_problem(problem, lifted)
        stage = "plan"
        verifier = DecompositionVerifier(lifted, task, any_order=any_order)
        read = read_hierarchical_plan(plan)
        draw_tree(read)
        draw_svg(read)
        stage = str(verifier.check(read).outcome)
        ActionsJudge(verifier).decompose(read)
    except HvrError:
        return f"{stage} refused" if stage in ("domain", "problem", "plan") else stage
    return stage


def seeds(data: Path | None) -> list[tuple[str, str, str]]:
    """Return texts to damage: domain, problem, plan."""
    found = [tuple((EXAMPLE / n).read_text() for n in ("domain.hddl", "problem.hddl", "plan.txt"))]
    if data is not None:
        needed = ("id", "actions", "mutation", "domain", "problem", "plan")
        for case in records(data / "manifest.jsonl", *needed):
            small = case["actions"] <= 30 and case["mutation"] is None
            if small and "Minecraft" not in case["id"] and "Monroe" not in case["id"]:
                found.append(
                    tuple((data / case[n]).read_text() for n in ("domain", "problem", "plan"))
                )
    return [(one, two, three) for one, two, three in found]


def too_large(number: int, peak: int, size: int) -> bool:
    """Report an input that took too much memory, and return whether it did."""
    if peak <= LIMIT_TIMES * size:
        return False
    print(f"input {number}: {peak:,} bytes for {size:,}", flush=True)
    return True


def fuzz(numbers: Sequence[int], texts: list[tuple[str, str, str]]) -> int:
    stages: Counter[str] = Counter()
    findings = 0
    slowest, largest = 0.0, 0.0
    for number in numbers:
        chance = random.Random(number)
        case = list(chance.choice(texts))
        which = chance.choice((0, 1, 2, 2, 2))
        case[which] = damaged(case[which], chance, chance.choice(texts)[which])
        size = sum(map(len, case))
        looks = number % 20 == 0 or size > LARGE
        if looks:
            tracemalloc.start()
        begin = time.process_time()
        try:
            stages[attempt(case[0], case[1], case[2], chance.random() < 0.5)] += 1
        except Exception:
            findings += 1
            print(f"input {number}:\n{traceback.format_exc(limit=-6)}")
        seconds = time.process_time() - begin
        if looks:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if peak > BASE_BYTES:
                largest = max(largest, peak / size)
                findings += too_large(number, peak, size)
        else:
            slowest = max(slowest, seconds)
            if seconds > LIMIT_SECONDS:
                findings += 1
                print(f"input {number}: {seconds:.1f} s")
    for stage, count in stages.most_common():
        print(f"  {stage}: {count}")
    print(
        f"{len(numbers):,} inputs, {findings} findings; slowest {slowest:.2f} s of CPU, largest "
        f"{largest:.0f} times its input"
    )
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a folder with manifest.jsonl")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    args = parser.parse_args()
    gc.set_threshold(100_000)
    print(conditions())
    numbers = range(args.first, args.first + args.count)
    return 1 if fuzz(numbers, seeds(args.data)) else 0


if __name__ == "__main__":
    sys.exit(measured(main))

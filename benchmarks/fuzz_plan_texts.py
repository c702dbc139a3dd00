"""Fuzz plans embedded in other texts: python benchmarks/fuzz_plan_texts.py [FOLDER]

Damages JSON plans, planner output, answers of language models and requests to `hvr validate
--serve` like fuzz_pddl.py, and reads them. The seeds are built in; the files of a folder are added
to them. A finding is an uncaught exception, more than 2 seconds of CPU, or memory above 20 times
the input plus 8 MB (measured on one input in 20). The same --first gives the same inputs; the exit
code is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conditions import conditions
from fuzz_pddl import WAYS
from inputs import measured

from hvr.pddl.reader import decode
from hvr.validation.batch import BatchOptions, LoadedModel, ModelReader, judge_source
from hvr.validation.streaming import ResidentValidator

LIMIT_SECONDS = 2.0
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "blocks"
STEPS = ["(pick-up b)", "(stack b c)", "(pick-up a)", "(stack a b)"]
OBJECTS = [{"action": s.strip("()").split()[0], "args": s.strip("()").split()[1:]} for s in STEPS]
BUILT_IN = (
    json.dumps(OBJECTS),
    json.dumps({"plan": STEPS}, indent=1),
    json.dumps({"result": {"output": {"plan": "\n".join(STEPS)}}}),
    json.dumps({"blocks": [{"actions": OBJECTS[:2]}, {"actions": OBJECTS[2:]}]}),
    json.dumps({"steps": [{"name": "pick-up", "parameters": {"x": "b"}}, *STEPS]}),
    "Sure! Here is the plan:\n\n```pddl\n" + "\n".join(STEPS) + "\n```\nIt reaches the goal.",
    "1. Pick up b.\n2. (stack b c)\n\nPlan:\n- pick-up(a)\n- stack(a, b)\n",
    "\n".join(f"STEP {i}: {s.strip('()')}" for i, s in enumerate(STEPS)),
    "ff: found legal plan as follows\n\nstep    0: PICK-UP B\n        1: STACK B C\n\n"
    "time spent:    0.00 seconds instantiating 4 easy\n",
    "SequentialPlan:\n    pick-up(b)\n    stack(b, c)\n",
    "\n".join(f"{i}: {s} [1]" for i, s in enumerate(STEPS)),
)


def damaged(number: int, seeds: Sequence[bytes]) -> bytes:
    chance = random.Random(number)
    data = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        if len(data) < 1_000_000:
            data = chance.choice(WAYS)(chance, data)
    if chance.random() < 0.1:
        other = chance.choice(seeds)
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]
    return data


def attempt(
    data: bytes, number: int, models: Sequence[LoadedModel], resident: ResidentValidator
) -> str:
    """Read a text in one of the supported ways, and return the outcome."""
    if number % 5 == 4:
        names = {part: str(EXAMPLE / f"{part}.pddl") for part in ("domain", "problem")}
        text = data.decode("latin-1")
        request: bytes | str = data if number % 2 else json.dumps({**names, "plan": text})
        answer = resident.answer(request)
        json.dumps(answer)
        return "served: " + ("error" if "error" in answer else answer["outcome"])
    model = models[number % len(models)]
    result = judge_source(model, "a.plan", lambda: decode(data, "a.plan"))
    json.dumps(result.to_json())
    return str(result.report.outcome)


def fuzz(numbers: Sequence[int], seeds: Sequence[bytes]) -> int:
    files = str(EXAMPLE / "domain.pddl"), str(EXAMPLE / "problem.pddl")
    ways = (BatchOptions(), BatchOptions(extract=True), BatchOptions(extract=True, plan_number=0))
    models = [ModelReader(options).read(*files) for options in ways]
    resident = ResidentValidator(BatchOptions(extract=True))
    stages: Counter[str] = Counter()
    findings, slowest, largest = 0, 0.0, 0.0
    for number in numbers:
        data = damaged(number, seeds)
        looks = number % 20 == 0
        if looks:
            tracemalloc.start()
        begin = time.process_time()
        try:
            stages[attempt(data, number, models, resident)] += 1
        except Exception:
            findings += 1
            print(f"input {number}:\n{traceback.format_exc(limit=-6)}", flush=True)
        seconds = time.process_time() - begin
        if looks:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            largest = max(largest, peak / len(data) if peak > 8_000_000 else 0)
            if peak > 8_000_000 and peak > 20 * len(data):
                findings += 1
                print(f"input {number}: {peak:,} bytes for {len(data):,}", flush=True)
        else:
            slowest = max(slowest, seconds)
            if seconds > LIMIT_SECONDS:
                findings += 1
                print(f"input {number}: {seconds:.1f} s for {len(data):,} bytes", flush=True)
    for stage, count in stages.most_common():
        print(f"{count:>8}  {stage}")
    print(
        f"{len(numbers):,} inputs from {len(seeds)} seeds, {findings} findings; slowest "
        f"{slowest:.2f} s of CPU, largest {largest:.0f} times its input"
    )
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="folder of additional texts to damage")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    args = parser.parse_args()
    gc.set_threshold(100_000)
    print(conditions())
    seeds = [text.encode() for text in BUILT_IN]
    if args.folder is not None:
        seeds += [file.read_bytes() for file in sorted(args.folder.iterdir()) if file.is_file()]
    return 1 if fuzz(range(args.first, args.first + args.count), seeds) else 0


if __name__ == "__main__":
    sys.exit(measured(main))

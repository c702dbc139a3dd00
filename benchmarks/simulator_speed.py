"""Measure the kitchen's steps per second, and its memory over time.

    python benchmarks/simulator_speed.py [--seconds S] [--jobs 1,2] [--memory-steps N]
    python benchmarks/simulator_speed.py --cpu          # seconds of CPU, on a busy machine

Each row is one kind of action, repeated for S seconds in each process:

* as needed: `step` alone; no metadata is read except the success;
* full metadata: `event.metadata`, AI2-THOR's whole dictionary, is read after each step.

The first figure is the best of fifty time slices, to discount other load; the one in brackets is
over all slices. For several processes it is their sum. Afterwards N steps of all kinds run in one
kitchen, and memory and step time are printed at each tenth.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.worlds import Kitchen, Names

SLICES = 50
"""Number of time slices per row."""

Step = tuple[str, dict[str, object]]
INTERACTIONS = (
    "pick up and put on a counter",
    "pick up and put in a drawer",
    "open and close",
    "toggle",
    "make dirty and clean",
    "fill and empty",
)
"""Interaction steps of the summary."""


def cycles(kitchen: Kitchen) -> dict[str, list[Step]]:
    """Return repeatable sequences of steps by kind of action; all but the refused ones succeed."""
    names = Names.from_metadata(kitchen.last_event.metadata)

    def on(action: str, kind: str, **more: object) -> Step:
        return action, {"objectId": names.object_id(f"{kind}-1"), "forceAction": True, **more}

    return {
        "pick up and put on a counter": [on("PickupObject", "mug"), on("PutObject", "countertop")],
        "pick up and put in a drawer": [
            on("OpenObject", "drawer"),
            on("PickupObject", "spoon"),
            on("PutObject", "drawer"),
            on("CloseObject", "drawer"),
        ],
        "open and close": [on("OpenObject", "fridge"), on("CloseObject", "fridge")],
        "toggle": [on("ToggleObjectOn", "faucet"), on("ToggleObjectOff", "faucet")],
        "make dirty and clean": [on("DirtyObject", "mug"), on("CleanObject", "mug")],
        "fill and empty": [
            on("FillObjectWithLiquid", "mug", fillLiquid="water"),
            on("EmptyLiquidFromObject", "mug"),
        ],
        "move": [("MoveAhead", {}), ("MoveBack", {})],
        "turn": [("RotateRight", {})],
        "look": [("LookDown", {}), ("LookUp", {})],
        "pass": [("Pass", {})],
        "refused: out of sight": [("PickupObject", {"objectId": names.object_id("statue-1")})],
        "refused: unknown id": [("PickupObject", {"objectId": "Mug|1|2|3"})],
    }


def measure(job: tuple[str, str, bool, float, bool]) -> tuple[float, float, int]:
    """Repeat one kind of action.

    Args:
        job: Scene, kind, whether to read the metadata, seconds, and whether these are CPU seconds.

    Returns:
        Steps per second in the best of `SLICES` slices and over all, and the failed steps.
    """
    scene, kind, full, seconds, cpu = job
    clock = time.process_time if cpu else time.perf_counter
    kitchen = Kitchen(scene)
    steps = cycles(kitchen)[kind]
    for action, arguments in steps * 2:
        kitchen.step(action, **arguments)
    done, failed, best = 0, 0, 0.0
    began = clock()
    for _ in range(SLICES):
        count, start = 0, clock()
        while (spent := clock() - start) < seconds / SLICES:
            for action, arguments in steps:
                event = kitchen.step(action, **arguments)
                failed += not event
                if full:
                    event.metadata  # noqa: B018
            count += len(steps)
        done += count
        best = max(best, count / spent)
    return best, done / (clock() - began), failed


def resident() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024.0
    return 0.0


def mixed(kitchen: Kitchen, seed: int) -> Iterator[Step]:
    """Yield an endless sequence of steps of all kinds in random order."""
    kinds = list(cycles(kitchen).values())
    chance = random.Random(seed)
    while True:
        yield from chance.choice(kinds)


def memory(scene: str, steps: int, seed: int, say: Callable[[str], None]) -> None:
    """Print memory and speed at every tenth of the steps; every 1000th event's metadata is read.

    Blocks are those allocated by Python (`sys.getallocatedblocks`); bytes come from a shorter,
    separate run under tracemalloc, which slows execution.
    """
    kitchen = Kitchen(scene)
    supply = mixed(kitchen, seed)
    say("| steps | Python blocks | resident MB | CPU µs a step |")
    say("| --- | --- | --- | --- |")
    for tenth in range(11):
        todo = steps // 10 if tenth else min(20_000, steps // 10)
        spent = 1e6 * _go(kitchen, supply, todo) / max(1, todo)
        done = f"{tenth * (steps // 10):,}" if tenth else f"{todo:,} (warm-up)"
        gc.collect()
        say(f"| {done} | {sys.getallocatedblocks():,} | {resident():.1f} | {spent:.1f} |")
    tracemalloc.start(1)
    _go(kitchen, supply, steps // 100)
    before = tracemalloc.get_traced_memory()[0]
    _go(kitchen, supply, steps // 20)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    say(f"\ntracemalloc: {before:,} bytes, {steps // 20:,} steps later {after:,}")


def _go(kitchen: Kitchen, supply: Iterator[Step], steps: int) -> float:
    start = time.process_time()
    for number in range(steps):
        action, arguments = next(supply)
        event = kitchen.step(action, **arguments)
        if number % 1000 == 0:
            event.metadata  # noqa: B018
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="seconds for each row and process"
    )
    parser.add_argument("--cpu", action="store_true", help="count CPU time")
    parser.add_argument("--jobs", default="1,2", help="comma-separated numbers of processes")
    parser.add_argument("--memory-steps", type=int, default=1_000_000, help="0 for none")
    parser.add_argument("--scene", default="FloorPlan1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    counts = [int(part) for part in options.jobs.split(",")]
    print(conditions(options.seed))
    kinds = list(cycles(Kitchen(options.scene)))
    for full in (False, True):
        print(f"\n## {'full metadata' if full else 'metadata as needed'}, {options.scene}\n")
        heads = [f"{n} process{'es' * (n > 1)}" for n in counts]
        print("| steps per second | " + " | ".join(heads) + " |")
        print("| --- |" + " --- |" * len(heads))
        rates: dict[str, list[float]] = {}
        for kind in kinds:
            cells = []
            for n in counts:
                job = (options.scene, kind, full, options.seconds, options.cpu)
                if n == 1:
                    found = [measure(job)]
                else:
                    with ProcessPoolExecutor(n) as pool:
                        found = list(pool.map(measure, [job] * n))
                refused = kind.startswith("refused")
                if any((failed > 0) != refused for *_, failed in found):
                    print(f"{kind}: {found[0][2]} steps failed", file=sys.stderr)
                    return 1
                best, whole = sum(b for b, _, _ in found), sum(w for _, w, _ in found)
                rates.setdefault(kind, []).append(best)
                cells.append(f"{best:,.0f} ({whole:,.0f})")
            print(f"| {kind} | " + " | ".join(cells) + " |")
        means = [
            len(INTERACTIONS) / sum(1.0 / rates[kind][i] for kind in INTERACTIONS)
            for i in range(len(counts))
        ]
        print("| interactions, harmonic mean | " + " | ".join(f"{m:,.0f}" for m in means) + " |")
    if options.memory_steps:
        print(f"\n## memory over {options.memory_steps:,} steps of all kinds\n")
        memory(options.scene, options.memory_steps, options.seed, print)
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))

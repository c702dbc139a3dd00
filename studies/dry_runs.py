"""Compare dry runs of simulated models with fault-free executions of the same runs.

python -m studies.dry_runs [--runs N]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hvr.errors import HvrError
from hvr.models.choice import ModelChoice
from hvr.runs.request import Options
from hvr.runs.spine import plan

TASKS = ("T1", "T2", "T4", "T5", "T7", "T9", "T10")
SETTINGS = ("LLM", "HVR", "HVR+", "LLM+P")
RATES = tuple(f"0.{tenth}" for tenth in range(1, 10))
KNOWN = {True: "reached", False: "not reached", None: "not judged"}


def cases() -> Iterator[tuple[str, str, str]]:
    for seed in itertools.count(1):
        for number, (rate, task) in enumerate(itertools.product(RATES, TASKS)):
            setting = SETTINGS[(number + seed) % len(SETTINGS)]
            yield task, setting, f"scripted:error={rate},seed={seed}"


def ending(case: tuple[str, str, str], *, execute: bool, folder: Path) -> str:
    """Return how a run ends, in the words used for executed runs."""
    task, setting, model = case
    choice = ModelChoice(spec=model, setting=setting)
    options = Options(model=choice, save=folder, execute=execute)
    try:
        run = plan(task=task, options=options)
    except HvrError as error:
        return type(error).__name__
    # An invalid plan from the model ends a dry run the same way as an execution.
    return KNOWN[run.reached if run.finished is not None else run.would_reach]


def main() -> int:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--runs", type=int, default=200)
    limit = parser.parse_args().runs
    pairs: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for number, case in enumerate(itertools.islice(cases(), limit)):
            dry = ending(case, execute=False, folder=Path(place, f"{number}-dry"))
            done = ending(case, execute=True, folder=Path(place, f"{number}-done"))
            pairs[dry, done] += 1
            if dry != done:
                print(*case, f"dry run: {dry}, executed: {done}", flush=True)
    for (dry, done), count in sorted(pairs.items()):
        print(f"{count:4} dry run: {dry}, executed: {done}")
    return int(any(dry != done for dry, done in pairs))


if __name__ == "__main__":
    sys.exit(main())

"""Run checks in parallel with progress output, and tabulate the results."""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from studies.chaos.checks import Check, Outcome, judged
from studies.chaos.lab import Lab, Shared

Listen = Callable[[Outcome], None]


def run_all(
    checks: Sequence[Check], folder: Path, seed: int, *, jobs: int, keep: bool, listen: Listen
) -> list[Outcome]:
    """Run checks, and return their results in the same order.

    Args:
        seed: Random seed; what a check draws does not depend on the other checks.
        jobs: Number of parallel checks; checks marked `alone` run last.
    """
    shared = Shared()
    outcomes: dict[str, Outcome] = {}

    def run(check: Check) -> Outcome:
        return run_one(check, folder, seed, shared=shared, keep=keep)

    beside = [check for check in checks if not check.alone]
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(run, check) for check in beside]):
            outcome = future.result()
            outcomes[outcome.check.id] = outcome
            listen(outcome)
    for check in checks:
        if check.alone:
            outcomes[check.id] = run(check)
            listen(outcomes[check.id])
    return [outcomes[check.id] for check in checks]


def run_one(
    check: Check, folder: Path, seed: int, *, shared: Shared | None = None, keep: bool = False
) -> Outcome:
    place = folder / check.group / check.name[:80]
    shutil.rmtree(place, ignore_errors=True)
    source = random.Random(f"{seed} {check.id}")
    lab = Lab(place, source, shared or Shared())
    started = time.monotonic()
    state, why = judged(check, lab)
    seconds = time.monotonic() - started
    if not (keep and state == "broke"):
        shutil.rmtree(place, ignore_errors=True)
    return Outcome(check, state, why, seconds, lab.counts)


class Progress:
    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._total = total
        self._quiet = quiet
        self._done = 0

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        if self._quiet and outcome.state != "broke":
            return
        place = f"[{self._done:>{len(str(self._total))}}/{self._total}]"
        why = f": {outcome.why}" if outcome.why else ""
        line = f"{place} {outcome.state:<7} {outcome.check.id} ({outcome.seconds:.1f} s){why}"
        print(line, file=sys.stderr, flush=True)


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "| group | checks | held | broke | not possible | runs of hvr | kills | model calls |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    groups = list(dict.fromkeys(outcome.check.group for outcome in outcomes))
    for group in [*groups, "all"]:
        members = [o for o in outcomes if group in (o.check.group, "all")]
        states = Counter(o.state for o in members)
        counts: Counter[str] = sum((o.counts for o in members), Counter())
        numbers = (len(members), states["held"], states["broke"], states["skipped"],
                   counts["runs"], counts["kills"], counts["calls"])  # fmt: skip
        yield f"| {group} | {' | '.join(f'{number:,}' for number in numbers)} |"


def broken(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for state, title in (("broke", "broke"), ("skipped", "not possible here")):
        members = [o for o in outcomes if o.state == state]
        if members:
            yield ""
            yield f"{title}:"
            yield from (f"  {o.check.id}: {o.why}" for o in members)

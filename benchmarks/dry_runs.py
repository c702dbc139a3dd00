"""Compare `hvr plan --dry-run` with execution: goal status and exit code.

    python benchmarks/dry_runs.py                    # 200 pairs of runs
    python benchmarks/dry_runs.py --runs 20 --seed 3

Each pair gives one task to the same simulated model twice: with `--dry-run`, and executed. A dry
run makes no observations, so there are no faults, replans or hidden objects. The models' error
rates are .1 to .9; tasks and settings are drawn at random. The exit code is 1 if a pair differs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions

from hvr.doors.cli.main import main as hvr

TASKS = tuple(f"T{number}" for number in range(1, 25))
SETTINGS = ("HVR+", "HVR", "HV", "HR", "VR", "R", "LLM", "LLM+P")
RATES = tuple(number / 10 for number in range(1, 10))


def said(task: str, setting: str, model: str, folder: Path, *more: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    words = ["plan", "--task", task, "--setting", setting, "--llm", model, "--no-verify",
             "--max-replans", "0", "--sight", "omniscient", "--save", str(folder), "--json",
             *more]  # fmt: skip
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = hvr(words)
    values = json.loads(out.getvalue())
    if "reached" not in values:
        return code, values["error"].replace(str(folder), "FOLDER")
    reached = values["would_reach"] if values.get("would_reach") is not None else values["reached"]
    return code, {True: "reached", False: "not reached", None: "not judged"}[reached]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="number of pairs (default: 200)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts: Counter[str] = Counter()
    differing = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dry-runs-") as temporary:
        for number in range(options.runs):
            rate = RATES[number % len(RATES)]
            task, setting = rng.choice(TASKS), rng.choice(SETTINGS)
            model = f"scripted:error={rate},seed={rng.randrange(1000)}"
            dry, done = (
                said(task, setting, model, Path(temporary) / f"{number}-{name}", *more)
                for name, more in (("dry", ("--dry-run",)), ("done", ()))
            )
            counts[f"exit code {done[0]}: {done[1]}"] += 1
            if dry != done:
                differing.append(f"{task} {setting} {model}: dry {dry}, done {done}")
                print(differing[-1], file=sys.stderr, flush=True)
    print(f"{conditions(options.seed)}\n")
    print(f"{options.runs} pairs in {time.monotonic() - start:.0f} s; {len(differing)} differ\n")
    for ending, count in counts.most_common():
        print(f"{count:5} {ending}")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())

"""Time `hvr plan "make coffee"` from the shell, and the share spent on imports.

    python benchmarks/cold_start.py [--runs 7] [--against CHECKOUT]

The script measures user and system CPU time of the whole process with a warm file cache, or wall
time with `--wall`. Runs of a second checkout alternate with runs of this one, so that both see the
same load.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions
from inputs import measured

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import hvr": ["-c", "import hvr"],
    "hvr --help": ["-m", "hvr", "--help"],
    "hvr validate": ["-m", "hvr", "validate", "domain.pddl", "problem.pddl", "plan.txt"],
    'hvr plan "make coffee"': ["-m", "hvr", "plan", "make coffee", "-q", "--no-verify"],
}
DOMAIN = "(define (domain d) (:predicates (p) (q)) (:action a :precondition (p) :effect (q)))"
PROBLEM = "(define (problem i) (:domain d) (:init (p)) (:goal (q)))"


def timed(words: list[str], checkout: Path, folder: str, *, wall: bool) -> float:
    """Return the seconds that a command takes with the hvr of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled files
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    elapsed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return elapsed if wall else cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--wall", action="store_true", help="wall time instead of CPU time")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    checkouts = [ROOT] if options.against is None else [options.against.resolve(), ROOT]
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM), ("plan.txt", "(a)")):
            Path(folder, name).write_text(text, encoding="utf-8")
        for command, words in COMMANDS.items():
            for run in range(options.runs + 1):
                for checkout in checkouts:
                    taken = timed(words, checkout, folder, wall=options.wall)
                    if run:  # discard the first run, which fills the caches
                        which = "" if checkout == ROOT else " (before)"
                        seconds.setdefault(command + which, []).append(taken)
    if options.json:
        print(json.dumps({"conditions": conditions(), "seconds": seconds}))
        return
    print(conditions())
    kind = "wall" if options.wall else "CPU"
    print(f"{'':34} {'min':>7} {'median':>7} {'max':>7}  ({kind} s, {options.runs} runs)")
    for name, times in seconds.items():
        print(f"{name:34} {min(times):7.3f} {statistics.median(times):7.3f} {max(times):7.3f}")


if __name__ == "__main__":
    sys.exit(measured(main))

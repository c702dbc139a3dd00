"""How long `hvr plan "make coffee"` takes from the shell, and how much of it is imports.

    python benchmarks/cold_start.py [--runs 7]

Wall time of the whole process, warm file cache. Imports are measured in a process of their
own that imports all that the command imports.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions

_IMPORTS = (
    "import hvr.cli.main, hvr.cli.display, hvr.run, hvr.knowledge.graph, hvr.policies.symbolic"
)


def timed(command: list[str], folder: str) -> float:
    """Wall seconds of a command."""
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--request", default="make coffee")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    python = sys.executable
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "imports": [python, "-c", _IMPORTS],
        "hvr --help": [python, "-m", "hvr", "--help"],
        f'hvr plan "{options.request}"': [python, "-m", "hvr", "plan", options.request, "-q"],
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands.items():
            timed(command, folder)
            found[name] = [timed(command, folder) for _ in range(options.runs)]
    if options.json:
        print(json.dumps({"conditions": conditions(), "seconds": found}))
        return
    print(conditions())
    print(f"{'':28} {'min':>7} {'median':>7} {'max':>7}  (s, {options.runs} runs)")
    for name, times in found.items():
        print(f"{name:28} {min(times):7.3f} {statistics.median(times):7.3f} {max(times):7.3f}")


if __name__ == "__main__":
    main()

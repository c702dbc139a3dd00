"""Run hvr under misbehaving servers, kills, full disks, unusual terminals and concurrent runs.

    python benchmarks/chaos.py                         # all of it
    python benchmarks/chaos.py --quick                 # the short form
    python benchmarks/chaos.py --only servers          # a group; also group/name, and patterns
    python benchmarks/chaos.py --list

Each check (`studies/chaos`) sets up one situation and runs hvr in it as a separate process. The
exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from conditions import conditions

from studies.chaos.checks import chosen
from studies.chaos.collected import CHECKS
from studies.chaos.running import Progress, broken, run_all, table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="GROUP[/NAME]",
                        help="only these checks; repeatable, with * and ?")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="the short form")
    parser.add_argument("--jobs", type=int, default=2, help="number of concurrent checks")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="work in this folder and keep failed checks' files")  # fmt: skip
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true", help="list the checks and exit")
    options = parser.parse_args()
    checks = chosen(CHECKS, options.only, quick=options.quick)
    if options.list:
        print("\n".join(check.id for check in checks))
        return 0
    if not checks:
        parser.error(f"no check is called {', '.join(options.only)}; --list names them")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as temporary:
        outcomes = run_all(
            checks, options.keep or Path(temporary), options.seed,
            jobs=options.jobs, keep=options.keep is not None, listen=Progress(len(checks)),
        )  # fmt: skip
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    if options.json:
        document = {"conditions": conditions(options.seed), "seconds": round(seconds),
                    "cpu_seconds": round(cpu),
                    "checks": [outcome.to_json() for outcome in outcomes]}  # fmt: skip
        print(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        took = f"{seconds:.0f} s, {cpu:.0f} s of CPU"
        print(f"{conditions(options.seed)} · {options.jobs} jobs · {took}\n")
        print("\n".join([*table(outcomes), *broken(outcomes)]))
    return 1 if any(outcome.state == "broke" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())

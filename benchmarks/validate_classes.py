"""Compare validation times with VAL's by class of task: validate_classes.py MANIFEST

The manifest has one JSON object per line, as for agreement.py. The time of hvr is its CPU time
after start-up: reading domain, problem and plan, judging, and writing the report, repeated for each
case. VAL's time is the CPU time of its process (`Validate -v`) if the environment variable VAL
names the binary. Otherwise it is the recorded `val_ms`, wall time on another machine, and the ratio
shows only the order of magnitude. Runs of the two alternate, and the best of --runs counts. Cases
of the sets ipc, long and hand with a verdict are timed, one in --every.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from conditions import conditions
from inputs import measured, records

from hvr.errors import HvrError
from hvr.pddl import parse_domain, parse_problem
from hvr.validation import Validator

SETS = ("ipc", "long", "hand")
KINDS = {
    "PDDL+": {"processes", "events", "continuous-effects"},
    "derived": {"derived-predicates"},
    "constraints": {"constraints", "preferences"},
    "temporal": {"durative-actions", "timed-initial-literals"},
    "numeric": {"numeric-fluents"},
    "classical": set[str](),
}
"""A case belongs to the first class with one of its features; classical has none."""
WORST = 5


@dataclass(frozen=True)
class Row:
    """A case with its class, and the milliseconds of both validators."""

    name: str
    kind: str
    own: float
    verdict: float
    val: float

    @property
    def ratio(self) -> float:
        """hvr's time as a multiple of VAL's."""
        return self.own / self.val


def own_seconds(root: Path, case: dict[str, Any]) -> tuple[float, float] | None:
    """Return the CPU seconds to the verdict and to the report; None if the case cannot be used."""
    gc.collect()
    begin = time.process_time()
    try:
        domain = parse_domain(root / case["domain"], lenient=True)
        problem = parse_problem(root / case["problem"], domain, lenient=True)
        report = Validator(domain, problem).check_file(root / case["plan"], lenient=True)
    except HvrError:
        return None
    judged = time.process_time() - begin
    report.explain()
    return judged, time.process_time() - begin


def val_seconds(binary: str, root: Path, case: dict[str, Any]) -> float:
    options = (case.get("val_args") or "").split()
    files = [str(root / case[part]) for part in ("domain", "problem", "plan")]
    with subprocess.Popen([binary, "-v", *options, *files], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def kind_of(case: dict[str, Any]) -> str:
    features = set(case["features"])
    return next(kind for kind, needed in KINDS.items() if not needed or needed & features)


def timed(root: Path, case: dict[str, Any], binary: str | None, runs: int) -> Row | None:
    judged, told, val = [], [], []
    for _ in range(runs):
        own = own_seconds(root, case)
        if own is None:
            return None
        judged.append(own[0])
        told.append(own[1])
        if binary is not None:
            val.append(val_seconds(binary, root, case))
    reference = 1000 * min(val) if val else float(case["val_ms"])
    kind = f"{kind_of(case)}, {case['val']}"
    return Row(case["id"], kind, 1000 * min(told), 1000 * min(judged), max(reference, 0.1))


def show(name: str, rows: list[Row]) -> None:
    ratios = sorted(row.ratio for row in rows)
    early = median(row.verdict / row.val for row in rows)
    above = sum(ratio > 3 for ratio in ratios) / len(ratios)
    print(f"{name:<22}{len(rows):>6}{median(row.own for row in rows):>8.1f}"
          f"{max(row.own for row in rows):>8.1f}{median(row.val for row in rows):>8.1f}"
          f"{early:>9.2f}{median(ratios):>8.2f}{ratios[int(0.9 * len(ratios))]:>7.2f}"
          f"{ratios[-1]:>7.1f}{above:>9.1%}")  # fmt: skip


def table(rows: Iterable[Row]) -> None:
    """Print the times by class, then the worst cases of each class."""
    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    print(f"{'':<28}{'hvr, ms':>16}{'VAL':>8}{'hvr / VAL':>18}")
    print(f"{'':<22}{'cases':>6}{'median':>8}{'most':>8}{'median':>8}{'verdict':>9}{'text':>8}"
          f"{'90 %':>7}{'most':>7}{'above 3':>9}")  # fmt: skip
    order = [f"{kind}, {verdict}" for kind in reversed(KINDS) for verdict in ("valid", "invalid")]
    for kind in order:
        if kind in by_kind:
            show(kind, by_kind[kind])
    show("all", [row for group in by_kind.values() for row in group])
    for kind in order:
        worst = sorted(by_kind.get(kind, ()), key=lambda row: -row.ratio)[:WORST]
        for row in worst:
            print(f"{row.kind:<22}{row.ratio:>7.2f}{row.own:>8.1f} ms  {row.name}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--every", type=int, default=1, help="time one case in N")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=KINDS, help="only this class")
    parser.add_argument("--json", type=Path, help="write every case's times to this file")
    args = parser.parse_args()
    gc.set_threshold(100_000)  # like the command
    cases = records(args.manifest, "id", "set", "domain", "problem", "plan", "val", "features")
    cases = [case for case in cases if case["set"] in SETS and case["val"] in ("valid", "invalid")
             and args.only in (None, kind_of(case))]  # fmt: skip
    binary = os.environ.get("VAL")
    print(conditions())
    peer = "CPU time of its process, runs alternate" if binary else "recorded wall time"
    print(f"best of {args.runs} runs, one case in {args.every}; VAL: {peer}")
    root = args.manifest.parent
    timings = (timed(root, case, binary, args.runs) for case in cases[:: args.every])
    rows = [row for row in timings if row is not None]
    if args.json:
        args.json.write_text("".join(json.dumps(vars(row)) + "\n" for row in rows))
    table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))

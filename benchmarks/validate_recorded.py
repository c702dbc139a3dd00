"""How long validation takes beside recorded times: python benchmarks/validate_recorded.py MANIFEST

The manifest has one JSON object a line, as for agreement.py, with `val_ms`: the milliseconds that
VAL's whole process took. hvr's time is the CPU time of reading domain, problem and plan and judging
it, after start-up, everything anew for each case: the better of two runs. Cases with a verdict of
the sets ipc, long and hand are timed, one in --every. The times of VAL come from single runs
on another machine, so that a ratio says the order of size, not more.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from conditions import conditions

from hvr.errors import HvrError
from hvr.pddl import parse_domain, parse_problem
from hvr.validation import Validator

SETS = ("ipc", "long", "hand")
KINDS = {
    "derived": {"derived-predicates"},
    "temporal": {"durative-actions"},
    "constraints": {"constraints", "preferences"},
    "numeric": {"numeric-fluents"},
    "classical": set(),
}
"""The first of them of which a case has a feature; classical has none."""


@dataclass(frozen=True)
class Row:
    """One case: what it is, milliseconds of hvr and of VAL."""

    name: str
    kind: str
    family: str
    own: float
    val: float

    @property
    def ratio(self) -> float:
        """How many times VAL's time hvr took."""
        return self.own / self.val


def seconds(root: Path, case: dict[str, Any]) -> float | None:
    """Read and judge one case; None when it cannot be used."""
    begin = time.process_time()
    try:
        domain = parse_domain(root / case["domain"], lenient=True)
        problem = parse_problem(root / case["problem"], domain, lenient=True)
        Validator(domain, problem).check_file(root / case["plan"], lenient=True)
    except HvrError:
        return None
    return time.process_time() - begin


def timed(root: Path, case: dict[str, Any]) -> Row | None:
    """Time one case."""
    times = [seconds(root, case) for _ in range(2)]
    if None in times:
        return None
    features = set(case["features"])
    kind = next(kind for kind, its in KINDS.items() if not its or its & features)
    name = Path(case["domain"]).stem
    own = 1000 * min(t for t in times if t is not None)
    return Row(case["id"], f"{kind}, {case['val']}", name, own, case["val_ms"])


def show(name: str, rows: list[Row]) -> None:
    """Print one line of the table."""
    ratios = sorted(row.ratio for row in rows)
    families: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        families[row.family].append(row.ratio)
    above = sum(ratio > 3 for ratio in ratios) / len(ratios)
    print(f"{name:<24}{len(rows):>6}{median(row.own for row in rows):>9.1f}"
          f"{max(row.own for row in rows):>9.1f}{median(map(median, families.values())):>10.2f}"
          f"{ratios[int(0.9 * len(ratios))]:>7.2f}{ratios[-1]:>7.1f}{above:>9.1%}")  # fmt: skip


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one case in so many")
    args = parser.parse_args()
    gc.set_threshold(100_000)  # as the command does
    with args.manifest.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    cases = [c for c in cases if c["set"] in SETS and c["val"] in ("valid", "invalid")]
    rows = [timed(args.manifest.parent, case) for case in cases[:: args.every]]
    usable = [row for row in rows if row is not None]
    print(conditions())
    print(f"{'':<24}{'':>6}{'hvr, milliseconds':>18}{'hvr / VAL':>24}")
    print(f"{'':<24}{'cases':>6}{'median':>9}{'most':>9}{'families':>10}{'90 %':>7}{'most':>7}"
          f"{'above 3':>9}")  # fmt: skip
    for kind in sorted({row.kind for row in usable}):
        show(kind, [row for row in usable if row.kind == kind])
    show("all", usable)
    for row in sorted(usable, key=lambda row: -row.ratio)[:10]:
        print(f"{row.ratio:>6.1f}  {row.name}")


if __name__ == "__main__":
    main()

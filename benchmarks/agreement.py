"""Compare hvr's verdicts with recorded ones: python benchmarks/agreement.py manifest.jsonl

The manifest has one JSON object per line, with the paths of `domain`, `problem` and `plan`
(relative to the manifest). `val` (valid, invalid, error or timeout) and `val_value` are the verdict
of a reference validator, and `val_args` its options (only `-t TOLERANCE` is supported). `expected`
is the correct answer if it is known by construction.

The script prints the confusion table, every disagreement with its explanation
(`agreement_explained.tsv`), and the number of plans judged per second. The exit code is 1 if a
disagreement has no explanation.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from conditions import conditions
from inputs import measured, records
from side_by_side import add_options, chosen, results

from hvr.errors import HvrError
from hvr.pddl import UnsupportedPddlError, parse_domain, parse_problem
from hvr.validation import Validator


@dataclass(frozen=True)
class Answer:
    verdict: str
    seconds: float = 0.0
    value: float | None = None
    words: str = ""


@lru_cache(maxsize=64)
def prepared(domain: Path, problem: Path, tolerance: Fraction, as_val: bool) -> Validator:
    model = parse_domain(domain, lenient=as_val)
    task = parse_problem(problem, model, lenient=as_val)
    forgiven = Fraction("0.0001") if as_val else Fraction(0)
    return Validator(model, task, tolerance=tolerance, numeric_tolerance=forgiven)


def answer(root: Path, case: dict[str, Any], as_val: bool) -> Answer:
    """Judge one case; the answers "crash" and "no place" report failures of hvr itself."""
    tolerance = Fraction("0.01")
    args = (case.get("val_args") or "").split()
    if "-t" in args:
        tolerance = Fraction(args[args.index("-t") + 1])
    begin = time.perf_counter()
    try:
        validator = prepared(root / case["domain"], root / case["problem"], tolerance, as_val)
        begin = time.perf_counter()
        report = validator.check_file(root / case["plan"], lenient=as_val)
    except UnsupportedPddlError as error:
        return Answer("unsupported", words=str(error))
    except HvrError as error:
        placed = hasattr(error, "diagnostic") or not (root / case["plan"]).exists()
        return Answer("unreadable" if placed else "no place", words=str(error))
    except Exception:  # Report a crash as an outcome instead of ending the run.
        return Answer("crash", words=traceback.format_exc())
    value = None if report.cost is None else float(report.cost)
    seconds = time.perf_counter() - begin
    return Answer(report.outcome.value, seconds, value, report.explain(limit=3))


def wanted(case: dict[str, Any]) -> str | None:
    if case.get("expected"):
        return str(case["expected"])
    return case["val"] if case["val"] in ("valid", "invalid") else None


def judge(cases: list[dict[str, Any]], root: Path, as_val: bool) -> list[Answer]:
    return [answer(root, case, as_val) for case in cases]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--set", dest="only", help="only the cases of this set")
    parser.add_argument("--as-val", action="store_true",
                        help="read as leniently as VAL, with a tolerance of 0.0001")  # fmt: skip
    add_options(parser, jobs=2)
    parser.add_argument("--quiet", action="store_true", help="no details of disagreements")
    args = parser.parse_args()
    root = args.manifest.parent
    cases = records(args.manifest, "id", "set", "domain", "problem", "plan", "val")
    cases = [case for case in cases if args.only in (None, case["set"])]

    print(conditions())
    chunks = list(_by_task(cases))
    judged = results(partial(judge, root=root, as_val=args.as_val), chunks, chosen(args))
    answers = [found for part in judged for found in part]
    cases = [case for chunk in chunks for case in chunk]
    return report(list(zip(cases, answers, strict=True)), args.quiet)


def _by_task(cases: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        groups[case["domain"], case["problem"]].append(case)
    yield from groups.values()


def report(rows: list[tuple[dict[str, Any], Answer]], quiet: bool) -> int:
    table: Counter[tuple[str, str, str]] = Counter()
    wrong = unexplained = values = other_values = 0
    arguments = explained()
    for case, found in rows:
        right = wanted(case)
        table[case["set"], right or f"none (VAL: {case['val']})", found.verdict] += 1
        disagrees = found.verdict in ("crash", "no place") or (
            right is not None and found.verdict != right
        )
        if disagrees:
            wrong += 1
            why = "" if found.verdict in ("crash", "no place") else arguments.get(case["id"], "")
            unexplained += not why
            if not quiet:
                print(f"\n{case['id']}: {found.verdict}, not {right} (VAL: {case['val']} "
                      f"{case.get('val_reason') or ''}) {case.get('note') or ''}\n  "
                      + found.words.replace("\n", "\n  ")
                      + f"\n  argument: {why or 'none, unexplained'}")  # fmt: skip
        elif found.verdict == "valid" and case.get("val_value") is not None:
            values += 1
            if found.value is None or abs(found.value - case["val_value"]) > 1e-6 * max(
                1, abs(case["val_value"])
            ):
                other_values += 1
                if not quiet:
                    print(f"\n{case['id']}: value {found.value}, VAL {case['val_value']} "
                          f"{case.get('features')}")  # fmt: skip
    print(f"\n{'set':<10} {'right answer':<22} {'hvr':<12} {'cases':>6}")
    for (name, right_name, verdict), count in sorted(table.items()):
        print(f"{name:<10} {right_name:<22} {verdict:<12} {count:>6}")
    plans = [found.seconds for _, found in rows if found.seconds]
    print(f"\n{len(rows)} cases, {wrong} disagreements, {unexplained} of them unexplained; "
          f"the metric's value: {values} compared, "
          f"{other_values} different")  # fmt: skip
    if plans:
        print(f"{len(plans) / sum(plans):.0f} plans per second (reading and judging, one process; "
              "the task is read once)")  # fmt: skip
    return 1 if unexplained else 0


def explained() -> dict[str, str]:
    """Return the reason for each case in which hvr is known to differ from the recorded verdict."""
    text = Path(__file__).with_name("agreement_explained.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return dict(rows)


if __name__ == "__main__":
    sys.exit(measured(main))

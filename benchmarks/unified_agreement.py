"""Compare hvr, as an engine of unified-planning, with its example problems' expectations.

    python benchmarks/unified_agreement.py

The script prints a line for each problem, every plan on which hvr disagrees with the expectation,
the verdict of unified-planning's own validator on it, and the totals. The exit code is 1 if hvr is
wrong where unified-planning's own validator is right.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

from conditions import conditions
from inputs import measured
from unified_planning.engines import SequentialPlanValidator, TimeTriggeredPlanValidator
from unified_planning.test.examples import get_example_problems

from hvr.planning.interop.engine import HvrPlanValidator


def own_verdict(problem: Any, plan: Any) -> str:
    """Return the verdict of unified-planning's own validators, even on unsupported problems."""
    for engine in (SequentialPlanValidator(), TimeTriggeredPlanValidator()):
        if engine.supports_plan(plan.kind):
            engine.skip_checks = True
            try:
                return str(engine.validate(problem, plan).status.name)
            except Exception as error:  # may raise anything
                return type(error).__name__
    return "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="only examples with this text in their name")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    print(conditions())
    engine = HvrPlanValidator()
    judged = {"VALID": 0, "INVALID": 0}
    right = {"VALID": 0, "INVALID": 0}
    supported = claimed = without_plans = wrong = 0
    elapsed = 0.0
    differences: list[str] = []
    examples = {n: e for n, e in get_example_problems().items() if only in n}
    print(f"{'problem':48} {'valid':>7} {'invalid':>7}  {'own':3}  unsupported")
    for name, example in examples.items():
        problem = example.problem
        kind = problem.kind
        own = SequentialPlanValidator.supports(kind) or TimeTriggeredPlanValidator.supports(kind)
        claimed += own
        mark = "yes" if own else "no"
        if not engine.supports(kind):
            missing = sorted(kind.features - engine.supported_kind().features)
            print(f"{name:48} {'':7} {'':7}  {mark:3}  {', '.join(missing)}")
            continue
        supported += 1
        counts = {}
        for wanted, plans in (("VALID", example.valid_plans), ("INVALID", example.invalid_plans)):
            good = 0
            for plan in plans:
                started = time.perf_counter()
                status = engine.validate(problem, plan).status.name
                elapsed += time.perf_counter() - started
                good += status == wanted
                if status != wanted:
                    theirs = own_verdict(problem, plan)
                    wrong += theirs != status
                    differences.append(f"{name}: listed as {wanted}, hvr {status}, own {theirs}")
            judged[wanted] += len(plans)
            right[wanted] += good
            counts[wanted] = f"{good}/{len(plans)}"
        without_plans += not (example.valid_plans or example.invalid_plans)
        print(f"{name:48} {counts['VALID']:>7} {counts['INVALID']:>7}  {mark:3}")
    print()
    for difference in differences:
        print(difference)
    total = sum(judged.values())
    print(
        f"{len(examples)} problems, {supported} supported (unified-planning's own validators: "
        f"{claimed}), {without_plans} of these without plans; "
        f"{right['VALID']} of {judged['VALID']} valid and {right['INVALID']} of "
        f"{judged['INVALID']} invalid plans as listed; "
        f"{elapsed / max(total, 1) * 1000:.1f} ms a plan"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(measured(main))

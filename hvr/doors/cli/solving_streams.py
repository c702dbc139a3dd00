"""`hvr solve --anytime`: each better plan as soon as it is found and proven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.files import writing
from hvr.doors.cli.output import print_json, write_whole
from hvr.pddl import print_plan
from hvr.pddl.plan import decimal_text
from hvr.validation.text import count

if TYPE_CHECKING:
    from hvr.planning.solving.race import FoundPlan


class Stream:
    """A listener that prints each better plan, and keeps the last one in a file.

    Args:
        folder: Where the best plan so far is kept as `plan.pddl`; None keeps none.
        json_lines: Print a JSON document a line.
    """

    def __init__(self, folder: Path | None, *, json_lines: bool) -> None:
        self._folder = folder
        self._json_lines = json_lines

    def __call__(self, found: FoundPlan) -> None:
        """Print a plan, which the validator has accepted."""
        cost = found.report.cost
        if self._folder is not None:
            with writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / "plan.pddl", print_plan(found.steps, cost))
        if self._json_lines:
            print_json({
                "event": "plan",
                "seconds": round(found.seconds, 3),
                "cost": None if cost is None else decimal_text(cost),
                "planner": found.planner,
                "steps": [str(step) for step in found.steps],
            })  # fmt: skip
            return
        steps = count(len(found.steps), "step")
        told = "" if cost is None else f"cost {decimal_text(cost)}, "
        print(f"{found.seconds:8.1f} s  {told}{steps}, valid ({found.planner})", flush=True)

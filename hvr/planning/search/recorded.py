"""A classical planner whose results are written down, so that a run can be repeated exactly.

A planner that works against the clock may find another plan the next time; with it the
prompts after it would differ, and a recorded model would have no answer for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line
from hvr.base.texts import read_log
from hvr.errors import DataFileError, PlannerError
from hvr.pddl import GroundAction, Task, print_problem
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.planners import Planner

NAME = "planner.jsonl"
"""The file in the folder of a run: a line a call, with the problem's digest and the plan."""


class RecordedPlanner:
    """A planner with a memory on disk.

    Args:
        planner: solves what was not solved before.
        path: where each result is written as it comes; those that an earlier try of the same
            run has left there are repeated.
        earlier: a file of results to repeat; None for none.

    Raises:
        DataFileError: a file cannot be read.
    """

    def __init__(self, planner: Planner, path: Path, earlier: Path | None = None) -> None:
        self._planner = planner
        self._path = path
        self._there = _read(path) if path.exists() else {}
        known = _read(earlier) if earlier is not None and earlier.exists() else {}
        self._known: dict[str, SearchResult | PlannerError] = {**known, **self._there}

    def solve(self, task: Task) -> SearchResult:
        """See `Planner`.

        Raises:
            PlannerError: the planner found neither a plan nor a proof.
            DataFileError: the result cannot be written.
        """
        digest = hashlib.sha256(print_problem(task.problem).encode()).hexdigest()
        try:
            result = self._known.get(digest) or self._planner.solve(task)
            if isinstance(result, PlannerError):
                raise result
        except PlannerError as error:
            own = error.exit_code != PlannerError.exit_code
            code = {"exit_code": error.exit_code} if own else {}
            self._write({"problem": digest, "error": str(error), **code})
            raise
        self._known[digest] = result
        plan = None if result.plan is None else [[a.name, *a.args] for a in result.plan]
        self._write({
            "problem": digest, "plan": plan, "optimal": result.optimal,
            "planner": result.planner, "operators": result.operators,
            "lower_bound": result.lower_bound,
        })  # fmt: skip
        return result

    def _write(self, line: Mapping[str, Any]) -> None:
        if line["problem"] not in self._there:
            append_json_line(self._path, line)


def _read(path: Path) -> dict[str, SearchResult | PlannerError]:
    """Return results by digest: of a planner that failed, its error."""
    results: dict[str, SearchResult | PlannerError] = {}
    try:
        for _, line in read_log(path):
            if "error" in line:
                code = 2 if line.get("exit_code") == 2 else None
                results[str(line["problem"])] = PlannerError(str(line["error"]), exit_code=code)
                continue
            plan = line["plan"]
            results[str(line["problem"])] = SearchResult(
                None if plan is None else tuple(GroundAction(a[0], tuple(a[1:])) for a in plan),
                bool(line["optimal"]), 0.0, str(line["planner"]), int(line["operators"]),
                int(line["lower_bound"]),
            )  # fmt: skip
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataFileError(f"{path}: this is no record of a planner: {error}") from error
    return results

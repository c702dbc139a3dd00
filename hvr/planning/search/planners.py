"""Classical planners by name, and recorded planners for exact repetition."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from hvr.base.files import append_json_line
from hvr.base.numbers import check_positive
from hvr.base.registry import Registry
from hvr.base.texts import read_log
from hvr.errors import DataFileError, PlannerError, UsageError
from hvr.pddl import GroundAction, Task, print_problem
from hvr.planning.search.fast_downward import SearchResult, solve
from hvr.values import Value

# Planners -----------------------------------------------------------------------------------------
# Classical planners by name.
#
# `fast-downward` runs the search of the package up-fast-downward on hvr's own grounding.
# `up:NAME` runs any engine of unified-planning (`up:fast-downward`, `up:enhsp`, …).

DEFAULT = "fast-downward"


class Planner(Protocol):
    """Finds plans for tasks."""

    def solve(self, task: Task) -> SearchResult:
        """Return a plan, or the proof that there is none.

        Raises:
            PlannerError: neither was found in the time allowed.
        """


class FastDownward(Value):
    """Fast Downward on hvr's grounding.

    Args:
        seconds: wall time at most.
        patience: stop after the plan has not become shorter for this many seconds.
        prove: search until the plan is proven to be shortest, or the time is up.
    """

    seconds: float = 10.0
    patience: float = 1.5
    prove: bool = False

    @classmethod
    def open(cls, engine: str, seconds: float) -> FastDownward:
        """See `PLANNERS`; there is only one engine.

        Raises:
            UsageError: an engine is named.
        """
        if engine:
            raise UsageError(f"the planner {DEFAULT!r} has no engines, such as {engine!r}")
        return cls(seconds)

    def solve(self, task: Task) -> SearchResult:
        """See `Planner`."""
        return solve(task, self.seconds, patience=0.0 if self.prove else self.patience)


class UnifiedPlanning(Value):
    """An engine of unified-planning."""

    engine: str
    seconds: float = 60.0

    @classmethod
    def open(cls, engine: str, seconds: float) -> UnifiedPlanning:
        """See `PLANNERS`.

        Raises:
            UsageError: no engine is named.
        """
        if not engine:
            raise UsageError("name an engine of unified-planning, such as 'up:fast-downward'")
        return cls(engine, seconds)

    def solve(self, task: Task) -> SearchResult:
        """See `Planner`."""
        from hvr.planning.search.unified import solve_with

        return solve_with(task, self.engine, self.seconds)


PLANNERS = Registry(
    "planner",
    "planners",
    {
        DEFAULT: "hvr.planning.search.planners:FastDownward.open",
        "up": "hvr.planning.search.planners:UnifiedPlanning.open",
    },
    "hvr.planners",
    ("solve",),
)
"""Each entry is called with what follows the colon of a name (empty without one) and the seconds
for one plan, and returns a `Planner`."""


def make_planner(name: str, seconds: float) -> Planner:
    """Return the planner of a name: one of `PLANNERS`, with `:ENGINE` behind it where it has some.

    Raises:
        UsageError: the name or the time is not usable.
    """
    check_positive("budget", seconds)
    known, _, engine = name.partition(":")
    if engine and known not in PLANNERS.entries and known not in PLANNERS.names():
        known, engine = name, ""  # module:attribute
    planner: Planner = PLANNERS.make(known, engine, seconds)
    return planner


# Recorded planners --------------------------------------------------------------------------------
# A classical planner whose results are written down, so that a run can be repeated exactly.
#
# A planner that works against the clock may find another plan the next time; with it the
# prompts after it would differ, and a recorded model would have no answer for them.

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
        self._write(
            {
                "problem": digest,
                "plan": plan,
                "optimal": result.optimal,
                "planner": result.planner,
                "operators": result.operators,
                "lower_bound": result.lower_bound,
            }
        )
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
                bool(line["optimal"]),
                0.0,
                str(line["planner"]),
                int(line["operators"]),
                int(line["lower_bound"]),
            )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataFileError(f"{path}: this is no record of a planner: {error}") from error
    return results

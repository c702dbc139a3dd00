"""Classical planners by name.

`fast-downward` runs the search of the package up-fast-downward on hvr's own grounding.
`up:NAME` runs any engine of unified-planning (`up:fast-downward`, `up:enhsp`, …).
"""

from __future__ import annotations

from typing import Protocol

from hvr.base.numbers import check_positive
from hvr.base.registry import Registry
from hvr.errors import UsageError
from hvr.pddl import Task
from hvr.planning.search.fast_downward import SearchResult, solve
from hvr.values import Value

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
    """An engine of unified-planning.

    Args:
        engine: its name there.
        seconds: wall time at most.
    """

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

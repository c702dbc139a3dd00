"""What calls have taught: how likely a tool works, what it gives, and when it is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from hvr.tools.calling.values import CallFailure, CallOutcome, Json
from hvr.tools.navigation.chains import CallCounts
from hvr.tools.navigation.found_values import Shape, key, values_in
from hvr.tools.navigation.request import given_leaves

ValueFlow: TypeAlias = "tuple[str, str, tuple[str, ...]]"
"""A parameter that took a value, and the tool and the path in its result where that stood."""

UNKNOWN_COST = 200
"""What it costs beside the call that nothing is known of what a tool gives."""


class Experience(Protocol):
    """What search asks of what was learnt from calls."""

    def cost(self, tool: str) -> int:
        """Return what a call of a tool costs: the dearer, the less likely it goes well."""
        ...

    def shape(self, tool: str) -> Shape | None:
        """Return what a tool's results have held; None if none was seen."""
        ...

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        """Return how surely a parameter takes what stands at a path of a tool's results: 0 to 1."""
        ...

    def idle(self, tool: str) -> bool:
        """Say whether a tool is left alone now."""
        ...

    def counts(self, tool: str) -> CallCounts:
        """Return how calls of a tool went, from which chains have their costs."""
        ...

    def observe(self, outcome: CallOutcome) -> None:
        """Take in a call."""
        ...

    def changed(self) -> None:
        """Take note that the state has changed: what refused may refuse no more."""
        ...


class CountedExperience:
    """Successes and failures by tool; a tool that failed rests, and is then tried again.

    Args:
        past: sessions of earlier calls, from a log; the outcomes of each in order.
        rest: for how many calls a tool that failed is left alone, the first time; each time
            in a row that it fails again, twice as long, up to `LONGEST`.
    """

    LONGEST = 8

    def __init__(self, past: Iterable[Sequence[CallOutcome]] = (), rest: int = 3) -> None:
        self._counts: dict[str, CallCounts] = {}
        self._shapes: dict[str, Shape] = {}
        self._until: dict[str, int] = {}
        self._running: dict[str, int] = {}
        self._refused: set[str] = set()
        self._calls = 0
        self._rest = rest
        self._flows: dict[ValueFlow, int] = {}
        self._passing = Passing()
        for session in past:
            for outcome in session:
                self.observe(outcome)
            self._passing = Passing()
        self._until.clear()
        self._running.clear()

    def cost(self, tool: str) -> int:
        """Return -100 ln of the chance that the next call goes well."""
        return self.counts(tool).cost

    def counts(self, tool: str) -> CallCounts:
        """Return how calls of a tool went."""
        return self._counts.get(tool, CallCounts())

    def shape(self, tool: str) -> Shape | None:
        """Return the patterns of paths in the results so far."""
        return self._shapes.get(tool)

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        """Return the smoothed share (n / (n + 1)) of n times that a value was passed on so."""
        times = self._flows.get((parameter, tool, path), 0)
        return times / (times + 1)

    def idle(self, tool: str) -> bool:
        """Say whether it rests."""
        return self._until.get(tool, 0) > self._calls

    def observe(self, outcome: CallOutcome) -> None:
        """Count a call; remember what its result holds."""
        tool = outcome.call.tool
        self._calls += 1
        for flow in self._passing.take(outcome):
            self._flows[flow] = self._flows.get(flow, 0) + 1
        count = self.counts(tool)
        self._refused.discard(tool)
        if outcome.ok:
            self._counts[tool] = replace(count, successes=count.successes + 1)
            self._until.pop(tool, None)
            self._running.pop(tool, None)
            seen = frozenset(path for path, _ in values_in(outcome.result))
            self._shapes[tool] = self._shapes.get(tool, frozenset()) | seen
        else:
            self._counts[tool] = replace(count, failures=count.failures + 1)
            times = self._running[tool] = self._running.get(tool, 0) + 1
            rest = min(self.LONGEST, self._rest * 2 ** (times - 1)) if self._rest else 0
            self._until[tool] = self._calls + rest
            if outcome.failure is CallFailure.REFUSED:
                self._refused.add(tool)

    def changed(self) -> None:
        """Let the tools that refused last rest no more."""
        for tool in self._refused:
            self._until.pop(tool, None)
            self._running.pop(tool, None)
        self._refused.clear()


class Passing:
    """Which values of results are passed on in a session, call by call.

    Of equal values the latest counts; short texts and small numbers are equal by chance.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, tuple[str, ...]]] = {}

    def take(self, outcome: CallOutcome) -> list[ValueFlow]:
        """Return what a call was passed: parameter, tool and path in its result."""
        found = [
            (name, *self._seen[key(value)])
            for _, name, value in given_leaves(outcome.call.arguments)
            if _telling(value) and key(value) in self._seen
        ]
        if outcome.ok:
            for path, value in values_in(outcome.result):
                self._seen[key(value)] = (outcome.call.tool, path)
        return found


def _telling(value: Json) -> bool:
    if isinstance(value, bool):
        return False
    return (
        len(value) > 2 if isinstance(value, str) else isinstance(value, (int, float)) and value > 9
    )

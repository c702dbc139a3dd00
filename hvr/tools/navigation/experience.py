"""Experience with tools: success rates, shapes of results, and values passed between calls."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeAlias

from hvr.tools.calling.calls import CallFailure, CallOutcome, Json
from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.chains import CallCounts
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall
from hvr.tools.navigation.graph_log import (
    GraphEvent,
    GraphReview,
    ToolAdded,
    ToolRemoved,
    applied,
    read_events,
    rebuilt,
    write_event,
)
from hvr.tools.navigation.known_values import Shape, key, path_of, values_in
from hvr.tools.navigation.request import given_leaves

# Experience ---------------------------------------------------------------------------------------

ValueFlow: TypeAlias = "tuple[str, str, tuple[str, ...]]"
"""A parameter that took a value, and the tool and result path that supplied it."""

UNKNOWN_COST = 200
"""Extra cost of a call whose results are unknown."""


class Experience(Protocol):
    """Knowledge from earlier calls, used to choose queries."""

    def cost(self, tool: str) -> int:
        """Return the cost of a call; the lower its success probability, the higher the cost."""
        ...

    def shape(self, tool: str) -> Shape | None:
        """Return the paths seen in a tool's results; None if no result has been seen."""
        ...

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float: ...

    def idle(self, tool: str) -> bool:
        """Return whether a tool rests, that is, is not called for a while after a failure."""
        ...

    def counts(self, tool: str) -> CallCounts: ...

    def observe(self, outcome: CallOutcome) -> None: ...

    def changed(self) -> None:
        """Permit refused calls to be tried again, because the state has changed."""
        ...


class CountedExperience:
    """Experience from counting the calls of each tool. A tool that fails rests for some calls.

    Args:
        past: Sessions of earlier calls, each with its outcomes in order.
        rest: Number of calls that a tool rests after its first failure. The number doubles with
            each consecutive failure, up to `LONGEST`.
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
        return self.counts(tool).cost

    def counts(self, tool: str) -> CallCounts:
        return self._counts.get(tool, CallCounts())

    def shape(self, tool: str) -> Shape | None:
        return self._shapes.get(tool)

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        """Return n / (n + 1), where n values were passed from the result path to the parameter."""
        times = self._flows.get((parameter, tool, path), 0)
        return times / (times + 1)

    def idle(self, tool: str) -> bool:
        return self._until.get(tool, 0) > self._calls

    def observe(self, outcome: CallOutcome) -> None:
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
            # Exponential back-off, capped so that a recovered tool is retried.
            rest = min(self.LONGEST, self._rest * 2 ** (times - 1)) if self._rest else 0
            self._until[tool] = self._calls + rest
            if outcome.failure is CallFailure.REFUSED:
                self._refused.add(tool)

    def changed(self) -> None:
        for tool in self._refused:
            self._until.pop(tool, None)
            self._running.pop(tool, None)
        self._refused.clear()


class Passing:
    """Tracks which values pass from results to the arguments of later calls in a session.

    A value is attributed to the latest result that contains it. Short strings and small numbers are
    ignored, since they are often equal by chance.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, tuple[str, ...]]] = {}

    def take(self, outcome: CallOutcome) -> list[ValueFlow]:
        """Return (parameter, tool, result path) for each argument taken from an earlier result.

        The result of the call itself is then recorded for later calls.
        """
        found = [
            (name, *self._seen[key(value)])
            for _, name, value in given_leaves(outcome.call.arguments)
            if _is_distinctive(value) and key(value) in self._seen
        ]
        if outcome.ok:
            for path, value in values_in(outcome.result):
                self._seen[key(value)] = (outcome.call.tool, path)
        return found


def _is_distinctive(value: Json) -> bool:
    if isinstance(value, bool):
        return False
    return (
        len(value) > 2 if isinstance(value, str) else isinstance(value, (int, float)) and value > 9
    )


# Learnt tools -------------------------------------------------------------------------------------
# Costs, learnt from observed calls.


def learnt_counts(
    graph: NavigationGraph, names: Iterable[str] | None = None
) -> dict[str, CallCounts]:
    """Return the call statistics of tools (by default, all usable ones) that set chains' costs.

    A call costs -100 ln(p_link p_success). p_success is the tool's own success rate. p_link is the
    highest weight of any incoming link; it is 1 if there are no observations.
    """
    if names is None:
        names = (tool.name for tool in graph.usable_tools())
    return {name: _counts(graph, name) for name in names}


def _counts(graph: NavigationGraph, name: str) -> CallCounts:
    tool = graph.tools.get(name) or GraphTool(name)
    seen = [
        evidence.weight
        for source in graph.calls.sources(name)
        if (evidence := graph.calls.get(source, name)) is not None
    ]
    return CallCounts(tool.evidence.successes, tool.evidence.failures, max(seen, default=1.0))


# Graph experience ---------------------------------------------------------------------------------

NOT_THE_TOOL = frozenset(
    (CallFailure.NOT_ALLOWED, CallFailure.BAD_ARGUMENTS, CallFailure.UNKNOWN_TOOL)
)
"""Failures that are not evidence about the tool."""


class GraphExperience:
    """Experience stored in a `NavigationGraph`, where each result path of a tool is a parameter.

    A tool is idle if it was removed from the graph or rests after a failure.

    Args:
        past: Sessions of earlier observations, in order (`observed_session`).
        look: Number of calls between reviews, which prune the graph (`evolved`); 0 for no reviews.
        graph: Initial graph; None to start empty.
        log: Path of the graph's log (`hvr.tools.navigation.graph_log`), which records everything
            learnt with real times. If there is no log, the number of calls serves as the time.
    """

    def __init__(
        self,
        past: Iterable[Sequence[ObservedCall]] = (),
        look: int = 0,
        graph: NavigationGraph | None = None,
        log: Path | None = None,
    ) -> None:
        self.graph = graph or NavigationGraph.of(())
        self._resting = CountedExperience()
        self._look, self._before, self._log = look, "", log
        self._passing = Passing()
        self._awake: set[str] = set()
        self._last: dict[str, CallFailure | None] = {}
        self._calls = sum(tool.evidence.count for tool in self.graph.tools.values())
        for session in past:
            for seen in session:
                self._calls += 1
                self._learn(replace(seen, time=self._now()))

    def cost(self, tool: str) -> int:
        """Return -100 ln of the tool's weight, which decays with age, but at least 1."""
        known = self.graph.tools.get(tool)
        weight = known.evidence.weight if known else 0.5
        return max(1, round(-100 * math.log(weight)))

    def counts(self, tool: str) -> CallCounts:
        return learnt_counts(self.graph, names=[tool])[tool]

    def shape(self, tool: str) -> Shape | None:
        known = self.graph.tools.get(tool)
        if known is None or not known.evidence.successes:
            return None
        return _shape(known.gives)

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        evidence = self.graph.passes.get(_place(tool, path), parameter)
        return evidence.successes / (evidence.successes + 1) if evidence else 0.0

    def idle(self, tool: str) -> bool:
        gone = tool in self.graph.tools and not self.graph.usable(tool)
        return (gone and tool not in self._awake) or self._resting.idle(tool)

    def observe(self, outcome: CallOutcome) -> None:
        tool = outcome.call.tool
        self._resting.observe(outcome)
        self._last[tool] = outcome.failure
        self._awake.discard(tool)
        self._take(outcome)
        if self._look and self._calls % self._look == 0:
            self._learn(GraphReview(self._now()))

    def changed(self) -> None:
        self._resting.changed()
        self._awake |= {t for t, last in self._last.items() if last is CallFailure.REFUSED}

    def _take(self, outcome: CallOutcome) -> None:
        seen = _observed(outcome, self._before, self._passing)
        if seen is None:
            return
        self._calls += 1
        self._learn(replace(seen, time=self._now()))
        self._before = seen.tool if seen.ok else self._before

    def _now(self) -> float:
        return datetime.now(UTC).timestamp() if self._log is not None else float(self._calls)

    def _learn(self, event: GraphEvent) -> None:
        self.graph = applied(self.graph, event)
        if self._log is not None:
            write_event(self._log, event)


def observed_session(session: Iterable[CallOutcome]) -> tuple[ObservedCall, ...]:
    passing, before = Passing(), ""
    found = []
    for outcome in session:
        seen = _observed(outcome, before, passing)
        if seen is not None:
            found.append(seen)
            before = seen.tool if seen.ok else before
    return tuple(found)


def opened_experience(
    log: Path | None, catalogue: Catalogue, *, write: bool = True
) -> GraphExperience:
    """Return the experience in a graph's log, updated to a catalogue.

    New and changed tools are added to the graph; tools missing from the catalogue are marked as
    gone.

    Args:
        log: Path of the log, created if missing; None to start without experience.
        write: Whether to append to the log.
    """
    graph = NavigationGraph()
    if log is not None and log.exists():
        graph = rebuilt(read_events(log))
    events: list[GraphEvent] = [
        ToolAdded(tool) for tool in map(_graph_tool, catalogue.tools) if not _there(graph, tool)
    ]
    now = datetime.now(UTC).timestamp()
    names = {tool.name for tool in catalogue.tools}
    events += [
        ToolRemoved(name, now)
        for name in sorted(graph.tools)
        if name not in names and not getattr(graph.absent.get(name), "gone", False)
    ]
    for event in events:
        graph = applied(graph, event)
        if log is not None and write:
            write_event(log, event)
    return GraphExperience(graph=graph, log=log if write else None)


def _observed(outcome: CallOutcome, before: str, passing: Passing) -> ObservedCall | None:
    passed = passing.take(outcome)
    if outcome.failure in NOT_THE_TOOL:
        return None
    tool = outcome.call.tool
    paths = (path for path, _ in values_in(outcome.result))
    returned = dict.fromkeys(_place(tool, path) for path in paths) if outcome.ok else ()
    return ObservedCall(
        tool,
        outcome.ok,
        0.0,
        before,
        given=tuple(outcome.call.arguments),
        returned=tuple(returned),
        passed=tuple(map(_passed, passed)),
    )


def _there(graph: NavigationGraph, tool: GraphTool) -> bool:
    known, absence = graph.tools.get(tool.name), graph.absent.get(tool.name)
    same = known is not None and known.needs == tool.needs and known.takes >= tool.takes
    return (
        same
        and known is not None
        and known.gives >= tool.gives
        and not (absence is not None and absence.gone)
    )


def _graph_tool(tool: ToolSchema) -> GraphTool:
    return GraphTool(
        tool.name,
        frozenset(p.name for p in tool.takes if p.required),
        frozenset(p.name for p in tool.takes),
        frozenset(_place(tool.name, path_of(p.name)) for p in tool.gives),
    )


def _passed(flow: ValueFlow) -> tuple[str, str]:
    parameter, tool, path = flow
    return _place(tool, path), parameter


@lru_cache(maxsize=100_000)
def _place(tool: str, path: tuple[str, ...]) -> str:
    return json.dumps([tool, *path])


@lru_cache(maxsize=20_000)
def _shape(places: frozenset[str]) -> Shape:
    return frozenset(tuple(json.loads(place)[1:]) for place in places)

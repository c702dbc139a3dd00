"""What calls have taught: success rates, result shapes, and values passed on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeAlias

from hvr.tools.calling.calls import CallFailure, CallOutcome, Json
from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.chains import CallCounts, NavigationTool
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
# What calls have taught: how likely a tool works, what it gives, and when it is left alone.

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
        """Return the probability that a parameter accepts the value at a result path."""
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


# Learnt tools -------------------------------------------------------------------------------------
# What chains are planned with once calls have been seen: tools, and how likely each goes well.

MIN_PASSES = 1
"""How often a value has to have been passed on for the one parameter to stand for the other."""


def learnt_tools(graph: NavigationGraph, least: int = MIN_PASSES) -> Iterator[NavigationTool]:
    """Give the tools that may be called, with what calls have shown that they give.

    What a tool gives is known under every meaning to which its value was passed on successfully.
    """
    for tool in graph.usable_tools():
        yield NavigationTool(tool.name, tool.needs, tool.gives | passed_on(graph, tool, least))


def passed_on(graph: NavigationGraph, tool: GraphTool, least: int = MIN_PASSES) -> frozenset[str]:
    """Return the meanings to which what a tool gives was passed on."""
    return frozenset(
        target
        for given in tool.gives
        for target, evidence in graph.passes.targets(given).items()
        if evidence.successes >= least
    )


def learnt_counts(
    graph: NavigationGraph,
    before: str = "",
    names: Iterable[str] | None = None,
) -> dict[str, CallCounts]:
    """Return the chances of tools, from which chains have their costs.

    The cost of a call is -100 ln(p_link p_success): p_success is the tool's own share of
    successes, p_link what calls say of its coming after another: `before` if one is named, else
    the best of all that have come before it. It is 1 where none was seen.

    Args:
        graph: of the tools.
        before: the tool that was called last.
        names: tools; all that may be called if None.
    """
    if names is None:
        names = (tool.name for tool in graph.usable_tools())
    return {name: _counts(graph, name, before) for name in names}


def _counts(graph: NavigationGraph, name: str, before: str) -> CallCounts:
    tool = graph.tools.get(name) or GraphTool(name)
    sources = (before,) if before else graph.calls.sources(name)
    seen = [
        evidence.weight
        for source in sources
        if (evidence := graph.calls.get(source, name)) is not None
    ]
    return CallCounts(tool.evidence.successes, tool.evidence.failures, max(seen, default=1.0))


# Graph experience ---------------------------------------------------------------------------------
# The learnt graph of tools as experience: costs, shapes and flows by what its links have seen.

NOT_THE_TOOL = frozenset(
    (CallFailure.NOT_ALLOWED, CallFailure.BAD_ARGUMENTS, CallFailure.UNKNOWN_TOOL)
)
"""Failures that say nothing of a tool."""


class GraphExperience:
    """Keeps a `NavigationGraph`; what stands at a path of a tool's results is a parameter of it.

    A tool is left alone if the graph has removed it, or if it has just failed and rests.

    Args:
        past: sessions of earlier calls; what each showed, in order (`observed_session`).
        rest: for how many calls a tool that failed is left alone, the first time.
        look: Calls between two looks at the graph (`evolved`), which prune it; 0 for none.
        graph: to begin with, such as that of another experience.
        log: of the graph (`hvr.tools.navigation.graph_log`), to which all that is learnt is added,
            in real time; None if nothing is written down. The graph's time is then its calls.
    """

    def __init__(
        self,
        past: Iterable[Sequence[ObservedCall]] = (),
        rest: int = 3,
        look: int = 0,
        graph: NavigationGraph | None = None,
        log: Path | None = None,
    ) -> None:
        self.graph = graph or NavigationGraph.of(())
        self._resting = CountedExperience(rest=rest)
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
        """Return -100 ln of the tool's weight, which ages, at least 1."""
        known = self.graph.tools.get(tool)
        weight = known.evidence.weight if known else 0.5
        return max(1, round(-100 * math.log(weight)))

    def counts(self, tool: str) -> CallCounts:
        """Return how calls of a tool went, and how likely it follows another."""
        return learnt_counts(self.graph, names=[tool])[tool]

    def shape(self, tool: str) -> Shape | None:
        """Return the patterns of paths in the results so far."""
        known = self.graph.tools.get(tool)
        if known is None or not known.evidence.successes:
            return None
        return _shape(known.gives)

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        """Return n / (n + 1) of n times that a value was passed on so."""
        evidence = self.graph.passes.get(_place(tool, path), parameter)
        return evidence.successes / (evidence.successes + 1) if evidence else 0.0

    def idle(self, tool: str) -> bool:
        """Say whether the graph has removed the tool, or it rests."""
        gone = tool in self.graph.tools and not self.graph.usable(tool)
        return (gone and tool not in self._awake) or self._resting.idle(tool)

    def observe(self, outcome: CallOutcome) -> None:
        """Take a call into the graph, and prune the graph if it is due."""
        tool = outcome.call.tool
        self._resting.observe(outcome)
        self._last[tool] = outcome.failure
        self._awake.discard(tool)
        self._take(outcome)
        if self._look and self._calls % self._look == 0:
            self._learn(GraphReview(self._now()))

    def changed(self) -> None:
        """Leave the tools that refused last alone no more."""
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
    """Return what the calls of a session showed, without times."""
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
    """Return what the log of a graph has learnt of a catalogue.

    Tools that are new or have another schema are added to it, those that are gone marked.

    Args:
        log: begun anew if it is not there; None to begin with nothing.
        catalogue: the tools that there are now.
        write: whether what is learnt from now on is added to the log.

    Raises:
        DataFileError: it cannot be read or written, or is no log of a graph.
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
    """Return what a call showed; None if it showed nothing of the tool."""
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
    """Return a tool as a node that nobody has called, with the names that this experience has."""
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

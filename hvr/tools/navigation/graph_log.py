"""The append-only log of a navigation graph: its events, and the graph rebuilt from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.base.files import append_json_line
from hvr.base.texts import read_log
from hvr.errors import DataFileError, UsageError
from hvr.tools.calling.calls import CallFailure
from hvr.tools.calling.log import MAX_SHOWN_DEPTH, ValueSource
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.navigation.graph import (
    PRUNING,
    CallEvidence,
    GraphTool,
    Links,
    NavigationGraph,
    ObservedCall,
    Pruning,
    evolved,
)

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema_matching import ParameterMeaning


# Graph log ----------------------------------------------------------------------------------------
# The log has one JSON object per line for each event: a tool added or removed, a call, or a review.
# It contains names, never values. Since `graph_text` is canonical, the graph can be rebuilt from
# the log byte for byte.


@dataclass(frozen=True)
class ToolAdded:
    tool: GraphTool


@dataclass(frozen=True)
class ToolRemoved:
    """A tool ceased to exist at `time`, in seconds since 1970, UTC."""

    name: str
    time: float


@dataclass(frozen=True)
class GraphReview:
    """The graph was reviewed: tools were removed or put on trial, and weights were stored."""

    time: float
    pruning: Pruning = PRUNING


GraphEvent: TypeAlias = "ToolAdded | ToolRemoved | ObservedCall | GraphReview"
"""An event that changes a graph."""


def applied(graph: NavigationGraph, event: GraphEvent) -> NavigationGraph:
    if isinstance(event, ObservedCall):
        return graph.observe(event)
    if isinstance(event, ToolAdded):
        return graph.with_tool(event.tool)
    if isinstance(event, ToolRemoved):
        return graph.without_tool(event.name, event.time)
    return evolved(graph, event.time, event.pruning)


def rebuilt(events: Iterable[GraphEvent]) -> NavigationGraph:
    return reduce(applied, events, NavigationGraph())


def write_event(path: Path, event: GraphEvent) -> None:
    """Append an event to a log, atomically.

    Raises:
        DataFileError: The event cannot be written; earlier events stay intact.
    """
    append_json_line(path, event_record(event))


def event_lines(events: Iterable[GraphEvent]) -> str:
    return "".join(json.dumps(event_record(event)) + "\n" for event in events)


def read_events(path: Path) -> Iterator[GraphEvent]:
    """Yield the events of a log, ignoring an incomplete last line.

    Raises:
        DataFileError: The log cannot be read, or a line is not an event.
    """
    for number, record in read_log(path):
        yield event_of(record, f"{path}: line {number}")


def event_record(event: GraphEvent) -> dict[str, Any]:
    if isinstance(event, ToolAdded):
        tool = event.tool
        return {
            "event": "tool",
            "tool": tool.name,
            "needs": sorted(tool.needs),
            "takes": sorted(tool.takes),
            "gives": sorted(tool.gives),
        }
    if isinstance(event, ToolRemoved):
        return {"event": "gone", "tool": event.name, "time": event.time}
    if isinstance(event, GraphReview):
        pruning = event.pruning
        return {
            "event": "look",
            "time": event.time,
            "balance": pruning.balance,
            "threshold": pruning.threshold,
            "again": pruning.again,
        }
    return {
        "event": "call",
        "tool": event.tool,
        "ok": event.ok,
        "time": event.time,
        "before": event.before,
        "given": list(event.given),
        "returned": list(event.returned),
        "missing": list(event.missing),
        "passed": [list(pair) for pair in event.passed],
    }


def event_of(record: Any, place: str) -> GraphEvent:
    """Return the event that a log record encodes.

    Raises:
        DataFileError: The record is not an event; the message begins with `place`.
    """
    try:
        kind = record["event"]
        if kind == "tool":
            return ToolAdded(
                GraphTool(
                    str(record["tool"]),
                    _names(record["needs"]),
                    _names(record["takes"]),
                    _names(record["gives"]),
                )
            )
        if kind == "gone":
            return ToolRemoved(str(record["tool"]), float(record["time"]))
        if kind == "look":
            pruning = Pruning(*(float(record[k]) for k in ("balance", "threshold", "again")))
            return GraphReview(float(record["time"]), pruning)
        if kind == "call":
            given, returned, missing = (tuple(map(str, record[k])) for k in _LISTS)
            passed = tuple((str(a), str(b)) for a, b in record["passed"])
            return ObservedCall(
                str(record["tool"]),
                bool(record["ok"]),
                float(record["time"]),
                str(record["before"]),
                given,
                returned,
                missing,
                passed,
            )
    except (KeyError, TypeError, ValueError) as error:
        raise DataFileError(
            f"{place}: malformed tool-graph event ({type(error).__name__}: {error})"
        ) from None
    raise DataFileError(f"{place}: unknown tool-graph event kind {kind!r}")


_SIDES = ("needs", "takes", "gives")
_LISTS = ("given", "returned", "missing")


def _names(values: Any) -> frozenset[str]:
    return frozenset(map(str, values))


def graph_record(graph: NavigationGraph) -> dict[str, Any]:
    """Return a graph as JSON values in a canonical order."""
    return {
        "tools": [
            {
                "name": name,
                **{side: sorted(getattr(tool, side)) for side in _SIDES},
                **_shown(tool.evidence),
            }
            for name, tool in sorted(graph.tools.items())
        ],
        "parameters": list(graph.parameters()),
        "inputs": _listed(graph.inputs),
        "outputs": _listed(graph.outputs),
        "calls": _listed(graph.calls),
        "passes": _listed(graph.passes),
        "absent": [
            {"name": name, "since": a.since, "tried": a.tried, "trial": a.trial, "gone": a.gone}
            for name, a in sorted(graph.absent.items())
        ],
    }


def graph_text(graph: NavigationGraph) -> str:
    return json.dumps(graph_record(graph), ensure_ascii=True, indent=1) + "\n"


def _listed(links: Links) -> list[Mapping[str, Any]]:
    return [{"source": s, "target": t, **_shown(evidence)} for s, t, evidence in links]


def _shown(evidence: CallEvidence) -> dict[str, Any]:
    return {
        "successes": evidence.successes,
        "failures": evidence.failures,
        "last_success": evidence.last_success or None,
        "last_failure": evidence.last_failure or None,
        "weight": evidence.weight,
        "aged": evidence.aged,
        "new": [evidence.new_successes, evidence.new_failures],
    }


# Observations -------------------------------------------------------------------------------------
# Convert logged calls to observations for the graph.

_NOT_THE_TOOL = frozenset(
    (CallFailure.NOT_ALLOWED, CallFailure.UNKNOWN_TOOL, CallFailure.BAD_ARGUMENTS)
)
"""Failures that are not evidence about the tool: it was not called, or called wrongly."""


class MeaningNames:
    """The names of slots (parameters and result values) in the graph.

    A declared slot is named by its meaning. Any other slot is named by the last component of its
    path if a meaning has that name, or else `TOOL.COMPONENT`.
    """

    def __init__(self, catalogue: Catalogue, found: Iterable[ParameterMeaning] = ()) -> None:
        self._tools = {tool.name: tool for tool in catalogue.tools}
        self._names = {(s.tool, s.name, s.gives): m.name for m in found for s in m.slots}
        self._known = frozenset(self._names.values())

    def name(self, tool: str, parameter: str, *, gives: bool) -> str:
        """Return the graph's name for a tool's parameter or, if `gives` is true, for its result."""
        if named := self._names.get((tool, parameter, gives)):
            return named
        leaf = ToolParameter(parameter).leaf
        return leaf if leaf in self._known else f"{tool}.{leaf}"

    def schema(self, tool: str) -> ToolSchema | None:
        return self._tools.get(tool)

    def graph_tool(self, tool: ToolSchema) -> GraphTool:
        takes = {self.name(tool.name, p.name, gives=False): p.required for p in tool.takes}
        return GraphTool(
            tool.name,
            frozenset(name for name, required in takes.items() if required),
            frozenset(takes),
            frozenset(self.name(tool.name, p.name, gives=True) for p in tool.gives),
        )

    def graph_tools(self) -> Iterator[GraphTool]:
        yield from map(self.graph_tool, self._tools.values())


def observations(lines: Iterable[Mapping[str, Any]], names: MeaningNames) -> Iterator[ObservedCall]:
    """Yield an observation for each logged call, except for failures that the tool did not cause.

    Args:
        lines: Records of a log (`hvr.tools.calling.log`), in order. Calls with equal `run` and
            `world` form one session; records without `run` form one session per world.

    Raises:
        DataFileError: A record is not a logged call.
    """
    runs: dict[tuple[str, str], list[str]] = {}
    worked: dict[tuple[str, str], str] = {}
    for number, line in enumerate(lines, 1):
        run = str(line.get("world", "")), str(line.get("run", ""))
        called = runs.setdefault(run, [])
        try:
            seen = _observation(line, names, worked.get(run, ""), called)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFileError(
                f"line {number} is not a logged call ({type(error).__name__}: {error})"
            ) from None
        called.append(str(line["tool"]))
        if seen is not None:
            if seen.ok:
                worked[run] = seen.tool
            yield seen


def _observation(
    line: Mapping[str, Any], names: MeaningNames, before: str, called: Sequence[str]
) -> ObservedCall | None:
    tool = str(line["tool"])
    failure = None if line.get("failure") is None else CallFailure(line["failure"])
    if failure in _NOT_THE_TOOL:
        return None
    ok = failure is None
    time = datetime.fromisoformat(line["time"]).timestamp()
    given = {name: names.name(tool, name, gives=False) for name in dict(line["arguments"])}
    came = list(dict.fromkeys(_places(line.get("shape")))) if ok else []
    passed = []
    for name, origin in dict(line.get("origins") or {}).items():
        index = origin.get("call")
        if origin.get("source") == ValueSource.RESULT.value and 0 <= int(index) < len(called):
            giver, place = called[int(index)], _place(origin.get("path") or ())
            passed.append((names.name(giver, place, gives=True), given[name]))
    schema = names.schema(tool)
    expected = [] if schema is None else [p.name for p in schema.gives if p.required or not ok]
    # below this depth the log does not show the result
    missing = [p for p in expected if p not in came and p.count(".") < MAX_SHOWN_DEPTH - 1]
    return ObservedCall(
        tool,
        ok,
        time,
        before,
        tuple(given.values()),
        tuple(names.name(tool, place, gives=True) for place in came),
        tuple(names.name(tool, place, gives=True) for place in missing),
        tuple(passed),
    )


def _places(shape: Any, at: str = "") -> Iterator[str]:
    if isinstance(shape, dict):
        for key, inner in shape.items():
            yield from _places(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(shape, list):
        for inner in shape:
            yield from _places(inner, f"{at}[]")
    elif shape != "null":
        yield _whole(at)


def _place(path: Sequence[str | int]) -> str:
    text = ""
    for part in path:
        text += "[]" if isinstance(part, int) else f".{part}" if text else str(part)
    return _whole(text)


def _whole(place: str) -> str:
    return place if place.strip("[]") else f"result{place}"


# Opening a graph ----------------------------------------------------------------------------------

DAY = 86_400.0


@dataclass(frozen=True)
class OpenedGraph:
    """A graph, with the slot names and the events from which it was built."""

    graph: NavigationGraph
    names: MeaningNames
    events: tuple[GraphEvent, ...] = field(repr=False)


def open_graph(names: MeaningNames, logs: Sequence[Path], days: float = 0.0) -> OpenedGraph:
    """Return the graph of a catalogue after the calls or events in given logs.

    Args:
        logs: Logs of calls (`hvr.tools.calling.log`), or graph logs
            (`hvr.tools.navigation.graph_log`), which contain their own tools.
        days: Days between the reviews (pruning, trials, decay) to make while reading a log of
            calls; 0 for no reviews. A graph log contains its own reviews.

    Raises:
        UsageError: `days` is negative.
        DataFileError: A log cannot be read.
    """
    if days < 0:
        raise UsageError(f"days between reviews must be 0 or more, found {days:g}")
    events: list[GraphEvent] = [ToolAdded(tool) for tool in names.graph_tools()]
    for log in logs:
        records = _records(log)
        if records and "event" in records[0][1]:
            events += [event_of(record, f"{log}: line {number}") for number, record in records]
            continue
        try:
            seen = list(observations((record for _, record in records), names))
        except DataFileError as error:
            raise DataFileError(f"{log}: {error}") from None
        events += with_reviews(seen, days)
    graph = NavigationGraph()
    for event in events:
        graph = applied(graph, event)
    return OpenedGraph(graph, names, tuple(events))


def with_reviews(seen: Iterable[ObservedCall], days: float) -> Iterator[GraphEvent]:
    """Yield observations, and a review of the graph after every `days` days (none if 0).

    A review comes before the first observation that is at least `days` after the last review.
    """
    due: float | None = None
    for observation in seen:
        if days:
            due = observation.time + days * DAY if due is None else due
            if observation.time >= due:
                yield GraphReview(observation.time)
                due = observation.time + days * DAY
        yield observation


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    records = read_log(path)
    for number, record in records:
        if not isinstance(record, dict):
            raise DataFileError(f"{path}: line {number}: expected a logged call as a JSON object")
    return records

"""The append-only log of a navigation graph, from which it is rebuilt byte for byte.

One line of JSON an event: a tool is there, a tool is gone, a call was seen, the graph was looked
at. The log holds names, never values. `graph_text` is the canonical text of a graph: equal graphs
have the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.files import append_json_line
from hvr.base.texts import read_log
from hvr.errors import DataFileError
from hvr.tools.navigation.evidence import CallEvidence
from hvr.tools.navigation.evolution import PRUNING, Pruning, evolved
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall
from hvr.tools.navigation.links import Links


@dataclass(frozen=True)
class ToolThere:
    """A tool is there, or has another schema."""

    tool: GraphTool


@dataclass(frozen=True)
class ToolGone:
    """A tool is no longer there; the time is in seconds since 1970, UTC."""

    name: str
    time: float


@dataclass(frozen=True)
class LookedAt:
    """The graph was looked at: tools removed and tried again, weights written down."""

    time: float
    pruning: Pruning = PRUNING


GraphEvent: TypeAlias = "ToolThere | ToolGone | ObservedCall | LookedAt"
"""What changes a graph."""


def applied(graph: NavigationGraph, event: GraphEvent) -> NavigationGraph:
    """Return the graph after an event."""
    if isinstance(event, ObservedCall):
        return graph.observe(event)
    if isinstance(event, ToolThere):
        return graph.with_tool(event.tool)
    if isinstance(event, ToolGone):
        return graph.without_tool(event.name, event.time)
    return evolved(graph, event.time, event.pruning)


def rebuilt(events: Iterable[GraphEvent]) -> NavigationGraph:
    """Return the graph that some events make of nothing."""
    return reduce(applied, events, NavigationGraph())


def write_event(path: Path, event: GraphEvent) -> None:
    """Add an event to a log, whole or not at all.

    Raises:
        DataFileError: it cannot be written; the events that were there still are.
    """
    append_json_line(path, event_record(event))


def event_lines(events: Iterable[GraphEvent]) -> str:
    """Return the text of a log with these events."""
    return "".join(json.dumps(event_record(event)) + "\n" for event in events)


def read_events(path: Path) -> Iterator[GraphEvent]:
    """Give the events of a log; a line that is not whole at its end is left out.

    Raises:
        DataFileError: it cannot be read, or a line is no event.
    """
    for number, record in read_log(path):
        yield event_of(record, f"{path}: line {number}")


def event_record(event: GraphEvent) -> dict[str, Any]:
    """Return an event as JSON values."""
    if isinstance(event, ToolThere):
        tool = event.tool
        return {"event": "tool", "tool": tool.name, "needs": sorted(tool.needs),
                "takes": sorted(tool.takes), "gives": sorted(tool.gives)}  # fmt: skip
    if isinstance(event, ToolGone):
        return {"event": "gone", "tool": event.name, "time": event.time}
    if isinstance(event, LookedAt):
        pruning = event.pruning
        return {"event": "look", "time": event.time, "balance": pruning.balance,
                "threshold": pruning.threshold, "again": pruning.again}  # fmt: skip
    return {
        "event": "call", "tool": event.tool, "ok": event.ok, "time": event.time,
        "before": event.before, "given": list(event.given), "returned": list(event.returned),
        "missing": list(event.missing), "passed": [list(pair) for pair in event.passed],
    }  # fmt: skip


def event_of(record: Any, place: str) -> GraphEvent:
    """Return the event that a line of a log holds.

    Raises:
        DataFileError: it holds none; `place` says where.
    """
    try:
        kind = record["event"]
        if kind == "tool":
            return ToolThere(
                GraphTool(
                    str(record["tool"]),
                    _names(record["needs"]),
                    _names(record["takes"]),
                    _names(record["gives"]),
                )
            )
        if kind == "gone":
            return ToolGone(str(record["tool"]), float(record["time"]))
        if kind == "look":
            pruning = Pruning(*(float(record[k]) for k in ("balance", "threshold", "again")))
            return LookedAt(float(record["time"]), pruning)
        if kind == "call":
            given, returned, missing = (tuple(map(str, record[k])) for k in _LISTS)
            passed = tuple((str(a), str(b)) for a, b in record["passed"])
            return ObservedCall(
                str(record["tool"]), bool(record["ok"]), float(record["time"]),
                str(record["before"]), given, returned, missing, passed,
            )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise DataFileError(
            f"{place}: is no event of a tool graph: {type(error).__name__} {error}"
        ) from None
    raise DataFileError(f"{place}: is no event of a tool graph: {kind!r} is not known")


_SIDES = ("needs", "takes", "gives")
_LISTS = ("given", "returned", "missing")


def _names(values: Any) -> frozenset[str]:
    return frozenset(map(str, values))


def graph_record(graph: NavigationGraph) -> dict[str, Any]:
    """Return a graph as JSON values, sorted."""
    return {
        "tools": [
            {"name": name, **{side: sorted(getattr(tool, side)) for side in _SIDES},
             **_shown(tool.evidence)}
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
    }  # fmt: skip


def graph_text(graph: NavigationGraph) -> str:
    """Return the canonical text of a graph."""
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

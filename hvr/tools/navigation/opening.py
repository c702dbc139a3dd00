"""A navigation graph from files: catalogues of tools, and logs of calls or of the graph itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvr.base.texts import read_log
from hvr.errors import DataFileError, UsageError
from hvr.tools.catalogue.schema import Catalogue
from hvr.tools.navigation.graph import NavigationGraph, ObservedCall
from hvr.tools.navigation.graph_log import GraphEvent, LookedAt, ToolThere, applied, event_of
from hvr.tools.navigation.observations import MeaningNames, observations

DAY = 86_400.0


@dataclass(frozen=True)
class OpenedGraph:
    """A graph with what it was made of.

    Args:
        graph: after all events.
        names: of the slots of the catalogue.
        events: in order.
    """

    graph: NavigationGraph
    names: MeaningNames
    events: tuple[GraphEvent, ...] = field(repr=False)


def open_graph(names: MeaningNames, logs: Sequence[Path], days: float = 0.0) -> OpenedGraph:
    """Return the graph of a catalogue after what logs tell, one after another.

    Args:
        names: of the catalogue's slots.
        logs: of calls (`hvr.tools.calling.log`), or of a graph (`hvr.tools.navigation.graph_log`),
            which holds its tools itself.
        days: Days between two looks at the graph (pruning, trials, ageing of weights) while a log
            of calls is read; 0 for none. A log of a graph holds its own looks.

    Raises:
        DataFileError: a log cannot be read, or a line of it is neither.
        UsageError: the number of days is negative.
    """
    if days < 0:
        raise UsageError(f"days between looks are 0 or more, not {days:g}")
    events: list[GraphEvent] = [ToolThere(tool) for tool in names.graph_tools()]
    for log in logs:
        records = _records(log)
        if records and "event" in records[0][1]:
            events += [event_of(record, f"{log}: line {number}") for number, record in records]
            continue
        try:
            seen = list(observations((record for _, record in records), names))
        except DataFileError as error:
            raise DataFileError(f"{log}: {error}") from None
        events += with_looks(seen, days)
    graph = NavigationGraph()
    for event in events:
        graph = applied(graph, event)
    return OpenedGraph(graph, names, tuple(events))


def with_looks(seen: Iterable[ObservedCall], days: float) -> Iterator[GraphEvent]:
    """Give observations, and a look at the graph whenever so many days have passed."""
    due: float | None = None
    for observation in seen:
        if days:
            due = observation.time + days * DAY if due is None else due
            if observation.time >= due:
                yield LookedAt(observation.time)
                due = observation.time + days * DAY
        yield observation


def catalogue_of(names: MeaningNames, graph: NavigationGraph) -> Catalogue:
    """Return the catalogue; of tools that only logs name, their names."""
    from hvr.tools.catalogue.schema import ToolSchema

    return Catalogue(tuple(names.schema(tool) or ToolSchema(tool) for tool in sorted(graph.tools)))


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    records = read_log(path)
    for number, record in records:
        if not isinstance(record, dict):
            raise DataFileError(f"{path}: line {number} is no object: it is no log of calls")
    return records

"""Reports as data: sections with tables and charts, which the studio draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hvr.values import SCHEMA_VERSION

Part = Mapping[str, Any]
"""A table or chart, as JSON."""

Series = tuple[str, Mapping[str, float]]
"""The name of a series, and its value for each group that has one."""


def report(
    title: str, sections: Iterable[Part], facts: Mapping[str, str] | None = None, warning: str = ""
) -> dict[str, Any]:
    """Return a report as JSON.

    Args:
        facts: Information about the subject of the report, by title.
        warning: A sentence that qualifies all figures of the report.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "report",
        "title": title,
        "facts": dict(facts or {}),
        "warning": warning,
        "sections": list(sections),
    }


def section(title: str, *parts: Part, text: Sequence[str] = ()) -> Part:
    return {"title": title, "text": list(text), "parts": list(parts)}


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> Part:
    """Return a table; the first cell of each row is a header cell."""
    lines = [list(row) for row in rows]
    return {"kind": "table", "title": caption, "header": list(header), "rows": lines, "note": note}


def bars(title: str, groups: Sequence[str], series: Iterable[Series]) -> Part:
    """Return grouped vertical bars for shares from 0 to 1, drawn as percentages."""
    return _chart("bars", title, groups, series)


def stacked(title: str, groups: Sequence[str], series: Iterable[Series]) -> Part:
    """Return horizontal bars of counts, one per group, with a segment for each series."""
    return _chart("stacked", title, groups, series)


def scatter(title: str, x_title: str, points: Iterable[tuple[str, float, float]]) -> Part:
    """Return a scatter plot of points (series, x, y), where x is a number and y a share."""
    found = [{"name": name, "x": x, "y": y} for name, x, y in points]
    return {"kind": "scatter", "title": title, "x": x_title, "points": found}


def _chart(kind: str, title: str, groups: Sequence[str], series: Iterable[Series]) -> Part:
    found = [{"name": name, "values": dict(values)} for name, values in series]
    return {"kind": kind, "title": title, "groups": list(groups), "series": found}

"""HTML and SVG building blocks, and reports as data, which the studio draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from hvr.values import SCHEMA_VERSION

# Markup -------------------------------------------------------------------------------------------
# External data (requests, names, messages) passes through `escaped`, `element` (attributes) or a
# function here with a "text" parameter. Parameters named markup are inserted unchanged.

SVG = "http://www.w3.org/2000/svg"

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids even as character references."""

_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})


def escaped(text: str) -> str:
    """Escape text for HTML and XML, and remove characters that XML forbids."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def element(name: str, *markup: str, **attributes: str | float | None) -> str:
    """Return an HTML or SVG element.

    Args:
        attributes: Texts, which are escaped, or numbers; floats get one decimal. `text_anchor`
            becomes `text-anchor`, and `class_` becomes `class`. None omits an attribute.
    """
    start = " ".join([name, *_attributes(attributes)])
    # HTML allows self-closing tags only in SVG: `<p/>` would open a paragraph without closing it.
    if name in _SHAPES and not markup:
        return f"<{start}/>"
    return f"<{start}>{''.join(markup)}</{name}>"


def _attributes(attributes: dict[str, str | float | None]) -> Iterable[str]:
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.1f}" if isinstance(value, float) else escaped(str(value))
            yield f'{name.rstrip("_").replace("_", "-")}="{text}"'


def svg_document(
    *parts: str, width: float, height: float, left: float = 0, **attributes: str | float | None
) -> str:
    svg = element(
        "svg",
        *(f"\n{part}" for part in parts),
        "\n",
        xmlns=SVG,
        width=width,
        height=height,
        viewBox=f"{left} 0 {width} {height}",
        role="img",
        **attributes,
    )
    return svg + "\n"


def rectangle(
    x: float, y: float, width: float, height: float, *markup: str, **attributes: str | float | None
) -> str:
    return element("rect", *markup, x=x, y=y, width=width, height=height, **attributes)


def tooltip(text: str) -> str:
    return element("title", escaped(text))


def paragraph(text: str, kind: str) -> str:
    """Return a paragraph with a class of `page.css`, such as `note`; '' for an empty text."""
    return element("p", escaped(text), class_=kind) if text else ""


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> str:
    """Return an HTML table; the first cell of each row is a header cell."""
    head = (element("th", escaped(cell), scope="col") for cell in header)
    lines = (
        element(
            "tr",
            element("th", escaped(first), scope="row"),
            *(element("td", escaped(cell)) for cell in rest),
        )
        for first, *rest in rows
    )
    whole = element(
        "table",
        element("caption", escaped(caption)),
        element("thead", element("tr", *head)),
        element("tbody", *lines),
    )
    return element("figure", whole, paragraph(note, "note"), class_="table")


def page(title: str, body: str, *, styles: Sequence[str] = (), script: str = "") -> str:
    """Return a self-contained HTML page that loads nothing.

    Args:
        styles: CSS in addition to `page.css`.
        script: JavaScript; it must not contain `</script`.
    """
    return fill(
        "hvr.runs.report",
        "page.html",
        title=escaped(title),
        style="\n".join((asset("hvr.runs.report", "page.css"), *styles)),
        body=body,
        script=element("script", "\n", script) if script else "",
    )


def fill(package: str, name: str, **markup: str) -> str:
    """Replace each `$name` in a skeleton file with markup, in which `$` has no special meaning."""
    return Template(asset(package, name)).substitute(markup)


@cache
def asset(package: str, name: str) -> str:
    """Return the text of a package's data file."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


# Reports as data ----------------------------------------------------------------------------------


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


def data_table(
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

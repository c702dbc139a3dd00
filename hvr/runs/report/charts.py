"""HTML and SVG building blocks: escaping, elements, tables, whole pages, and charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from math import ceil
from string import Template

# Markup -------------------------------------------------------------------------------------------
# External data (requests, names, messages) passes through `escaped`, `element` (attributes) or a
# function here with a "text" parameter. Parameters called markup are inserted unchanged.

SVG = "http://www.w3.org/2000/svg"

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids even as references."""

_SHAPES = frozenset({"circle", "line", "path", "polygon", "polyline", "rect"})


def escaped(text: str) -> str:
    """Escape text for HTML and XML, and remove characters that XML forbids."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def element(name: str, *markup: str, **attributes: str | float | None) -> str:
    """Return an element.

    Args:
        name: Tag name.
        markup: Content.
        attributes: Text, which is escaped, or numbers; floats get one decimal. `text_anchor`
            becomes `text-anchor`, and `class_` becomes `class`; None omits an attribute.
    """
    start = " ".join([name, *_attributes(attributes)])
    # HTML has self-closing tags in SVG only: `<p/>` would open a paragraph without closing it.
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
    """Return a whole SVG document with one line per part."""
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
    """Return an SVG rectangle."""
    return element("rect", *markup, x=x, y=y, width=width, height=height, **attributes)


def tooltip(text: str) -> str:
    """Return the tooltip of an SVG element."""
    return element("title", escaped(text))


def paragraph(text: str, kind: str) -> str:
    """Return a paragraph with a class of `page.css`, such as `note`; '' for empty text."""
    return element("p", escaped(text), class_=kind) if text else ""


def bullets(items: Iterable[str]) -> str:
    """Return an unordered list of markup."""
    return element("ul", *(element("li", item) for item in items))


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a definition list of terms and texts."""
    return element(
        "dl", *(element("dt", escaped(term)) + element("dd", escaped(text)) for term, text in pairs)
    )


def details(summary: str, *markup: str, kind: str | None = None) -> str:
    """Return markup that is collapsed below its summary text."""
    return element("details", element("summary", escaped(summary)), *markup, class_=kind)


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> str:
    """Return a table of texts; the first cell of each row is its header."""
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


def side_by_side(*markup: str) -> str:
    """Return parts that are placed side by side if there is room."""
    return element("div", *markup, class_="beside")


def legend(entries: Iterable[tuple[str, str]], style: str | None = None) -> str:
    """Return a legend of pairs of colour class and meaning.

    `style` is the class of the picture whose style sheet defines these colours.
    """
    items = (
        element("span", _square(colour, style), " ", escaped(meaning))
        for colour, meaning in entries
    )
    return element("p", "\n".join(items), class_="legend")


def _square(colour: str, style: str | None) -> str:
    square = element("rect", class_=colour, x=1, y=1, width=12, height=12)
    return element("svg", square, class_=style, width=14, height=14, aria_hidden="true")


def page(title: str, body: str, *, styles: Sequence[str] = (), script: str = "") -> str:
    """Return a self-contained HTML page that loads nothing.

    Args:
        body: Markup.
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
    """Fill the `$names` of a skeleton file with markup; a `$` in the markup has no meaning."""
    return Template(asset(package, name)).substitute(markup)


@cache
def asset(package: str, name: str) -> str:
    """Return the text of a package's data file."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


# Charts -------------------------------------------------------------------------------------------
# Written here instead of with a plotting library: only three simple kinds are needed, their colours
# follow the page's light or dark style, and a bench needs no hundred megabytes of packages.

COLOURS = 8
"""Number of colours in `page.css`; further series repeat them."""


_LEAST_WIDTH = 340


@dataclass(frozen=True)
class Series:
    """Values in one colour, by group; groups may be missing."""

    name: str
    values: Mapping[str, float]


def bars(title: str, groups: Sequence[str], series: Sequence[Series]) -> str:
    """Return grouped vertical bars for shares from 0 to 100 per cent."""
    gap, left, top, height = 14, 40, 10, 180
    # A few groups get wide bars, so that the chart has a readable width.
    room = (_LEAST_WIDTH - left - 10) / max(len(groups), 1) - gap
    bar = min(max(11, int(room / max(len(series), 1))), 48)
    step = max(bar * len(series) + gap, int(room) + gap)
    width = left + step * len(groups) + 10
    parts = [_grid(left, width, top, height)]
    for g, group in enumerate(groups):
        x = left + g * step + gap / 2
        for s, one in enumerate(series):
            value = one.values.get(group)
            if value is None:
                continue
            tall = height * min(max(value, 0.0), 1.0)
            tip = tooltip(f"{group}, {one.name}: {100 * value:.1f} %")
            # A zero is drawn as a line, which distinguishes it from a missing value.
            place = x + s * bar, top + height - tall, bar - 1, max(tall, 0.5)
            parts.append(rectangle(*place, tip, class_=_colour(s)))
        middle = x + bar * len(series) / 2
        parts.append(_text(middle, top + height + 16, group, "middle"))
    return _figure(title, width, top + height + 24, parts, [s.name for s in series])


def scatter(
    title: str, x_title: str, points: Sequence[tuple[str, float, float]], names: Sequence[str]
) -> str:
    """Return points (series, x, y) with a number on the x axis and a share on the y axis.

    `names` are the series in the order of colours.
    """
    left, top, width, height = 40, 10, 440, 220
    most = _round_up(max((x for _, x, _ in points), default=1.0))
    parts = [_grid(left, left + width, top, height)]
    for i in range(5):
        x = left + width * i / 4
        parts.append(_text(x, top + height + 16, f"{most * i / 4:g}", "middle"))
    parts.append(_text(left + width / 2, top + height + 34, x_title, "middle"))
    placed = [
        (name, left + width * x / most, top + height * (1 - min(max(y, 0.0), 1.0)))
        for name, x, y in points
    ]
    for (name, x, y), (_, x_value, y_value) in zip(placed, points, strict=True):
        tip = tooltip(f"{name}: {x_value:.1f}, {100 * y_value:.1f} %")
        parts.append(element("circle", tip, class_=_colour(names.index(name)), cx=x, cy=y, r=6))
        # In a crowd a name could belong to any point; the legend lists all names.
        if not any(n != name and abs(x - a) < 60 and abs(y - b) < 13 for n, a, b in placed):
            parts.append(_text(x + 9, y + 4, name, "start"))
    return _figure(title, left + width + 90, top + height + 44, parts, names)


def stacked(title: str, groups: Sequence[str], series: Sequence[Series]) -> str:
    """Return horizontal bars of counts, one per group, with a segment for each series."""
    left, width, bar, top = 190, 420, 18, 6
    totals = {g: sum(s.values.get(g, 0.0) for s in series) for g in groups}
    most = _round_up(max(totals.values(), default=1.0))
    parts = []
    for g, group in enumerate(groups):
        y, x = top + g * (bar + 8), float(left)
        parts.append(_text(left - 8, y + bar - 5, group, "end"))
        for s, one in enumerate(series):
            value = one.values.get(group, 0.0)
            if value > 0:
                long = width * value / most
                tip = tooltip(f"{group}, {one.name}: {value:g}")
                parts.append(rectangle(x, y, long, bar, tip, class_=_colour(s)))
                x += long
        parts.append(_text(x + 6, y + bar - 5, f"{totals[group]:g}", "start"))
    height = top + len(groups) * (bar + 8) + 4
    return _figure(title, left + width + 60, height, parts, [s.name for s in series])


def _colour(number: int) -> str:
    return f"c{number % COLOURS}"


def _figure(title: str, width: int, height: int, parts: Sequence[str], names: Sequence[str]) -> str:
    svg = element(
        "svg",
        *parts,
        role="img",
        aria_label=title,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )
    return element(
        "figure",
        element("figcaption", escaped(title)),
        element("div", svg, class_="scroll"),
        legend((_colour(i), name) for i, name in enumerate(names)),
    )


def _grid(left: float, right: float, top: float, height: float) -> str:
    lines = []
    for share in (0, 25, 50, 75, 100):
        y = top + height * (1 - share / 100)
        lines.append(element("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        lines.append(_text(left - 6, y + 4, str(share), "end"))
    return "".join(lines)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escaped(text), x=x, y=y, text_anchor=anchor)


def _round_up(value: float) -> float:
    for scale in (4, 8, 12, 20, 40, 60, 80, 100):
        if value <= scale:
            return float(scale)
    return float(100 * ceil(value / 100))

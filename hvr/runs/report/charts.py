"""Charts as parts of a page: bars, stacked bars, points.

They are written here rather than by a plotting library: three simple kinds are needed, as parts
of the page whose colours follow its light or dark style, which an image does not, and a bench
should not need a hundred megabytes of packages to show its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from hvr.runs.report.markup import element, escaped, legend, tooltip

COLOURS = 8
"""Number of colours in `page.css`; further series begin again."""


_LEAST_WIDTH = 340


@dataclass(frozen=True)
class Series:
    """Values of one colour.

    Args:
        name: for the legend.
        values: by name of the group; a group may be missing.
    """

    name: str
    values: Mapping[str, float]


def bars(title: str, groups: Sequence[str], series: Sequence[Series]) -> str:
    """Return grouped upright bars for shares, 0 to 100 per cent."""
    gap, left, top, height = 14, 40, 10, 180
    # Few groups get wide bars: a chart is never narrower than it can be read.
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
            parts.append(
                element(
                    "rect",
                    tooltip(f"{group}, {one.name}: {100 * value:.1f} %"),
                    class_=_colour(s),
                    x=x + s * bar,
                    width=bar - 1,
                    y=top + height - tall,
                    # A bar of nothing is a line, so that it differs from a missing value.
                    height=max(tall, 0.5),
                )
            )
        middle = x + bar * len(series) / 2
        parts.append(_text(middle, top + height + 16, group, "middle"))
    return _figure(title, width, top + height + 24, parts, [s.name for s in series])


def scatter(
    title: str, x_title: str, points: Sequence[tuple[str, float, float]], names: Sequence[str]
) -> str:
    """Return points with a number on the x axis and a share on the y axis.

    Args:
        title: of the chart.
        x_title: of the x axis.
        points: series, x, y.
        names: of the series, in order of colours.
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
        # In a crowd a name could stand for any point; the legend has them all.
        if not any(n != name and abs(x - a) < 60 and abs(y - b) < 13 for n, a, b in placed):
            parts.append(_text(x + 9, y + 4, name, "start"))
    return _figure(title, left + width + 90, top + height + 44, parts, names)


def stacked(title: str, groups: Sequence[str], series: Sequence[Series]) -> str:
    """Return lying bars of counts, one for each group, with a part for each series."""
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
                parts.append(
                    element("rect", tip, class_=_colour(s), x=x, y=y, width=long, height=bar)
                )
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
    """Return the next number that quarters well."""
    for scale in (4, 8, 12, 20, 40, 60, 80, 100):
        if value <= scale:
            return float(scale)
    return float(100 * ceil(value / 100))

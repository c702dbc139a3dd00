"""The numeric fluents of a plan over time, as an SVG picture: one strip for each that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10

from hvr.report.markup import SVG, element, escaped, tooltip
from hvr.validation.continuous.curves import Curve, Piece

MOST_CURVES = 60
_LEFT, _WIDTH, _RIGHT = 70, 640, 24
_TOP, _STRIP, _HEAD, _BOTTOM = 40, 84, 30, 44
_SAMPLES = 32
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.name{font-weight:bold}.grid{stroke:#ddd}"
    ".curve{fill:none;stroke:#0072b2;stroke-width:2}.jump{stroke:#0072b2;stroke-dasharray:2 3}"
)


def draw(curves: Sequence[Curve], title: str) -> str:
    """Return the fluents that change, each with the lowest and highest value it takes.

    A dashed line is a jump: an effect at one time.

    Args:
        curves: the fluents; where none changes, all are drawn.
        title: of the picture.

    Returns:
        A whole SVG document.
    """
    drawn = [curve for curve in curves if len(curve.pieces) > 1 or _degree(curve)] or list(curves)
    left_out = len(drawn) - MOST_CURVES
    drawn = drawn[:MOST_CURVES]
    end = max((float(p.end) for curve in drawn for p in curve.pieces), default=0.0) or 1.0
    parts = [element("text", escaped(title), x=_LEFT, y=22)]
    top = _TOP
    for curve in drawn:
        parts.append(_strip(curve, end, top))
        top += _HEAD + _STRIP
    parts.append(_axis(end, top))
    if left_out > 0:
        parts.append(element("text", f"{left_out} more change", x=_LEFT, y=top + _BOTTOM))
    width, height = _LEFT + _WIDTH + _RIGHT, top + _BOTTOM + 8
    svg = element(
        "svg",
        element("title", escaped(title)),
        element("style", _STYLE),
        element("rect", width=width, height=height, fill="#fff"),
        *(f"\n{part}" for part in parts),
        "\n",
        xmlns=SVG,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
    )
    return svg + "\n"


def _degree(curve: Curve) -> int:
    # A piece that is no polynomial changes if it has more samples than those at its ends.
    return max((max(len(p.coefficients) - 1, len(p.samples) - 2) for p in curve.pieces), default=0)


def _strip(curve: Curve, end: float, top: int) -> str:
    samples = [list(_samples(piece)) for piece in curve.pieces]
    values = [value for points in samples for _, value in points]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    base = top + _HEAD + _STRIP - 16

    def place(time: float, value: float) -> tuple[float, float]:
        return _LEFT + _WIDTH * time / end, base - (_STRIP - 28) * (value - low) / span

    parts = [element("text", escaped(curve.fluent), class_="name", x=_LEFT, y=top + 16)]
    for value in dict.fromkeys((low, high)):
        x, y = place(0.0, value)
        parts.append(element("line", class_="grid", x1=x, x2=x + _WIDTH, y1=y, y2=y))
        parts.append(element("text", f"{value:.6g}", x=x - 6, y=y + 4, text_anchor="end"))
    before: tuple[float, float] | None = None
    for piece, points in zip(curve.pieces, samples, strict=True):
        places = [place(*point) for point in points]
        if before is not None and abs(before[1] - places[0][1]) > 0.05:
            parts.append(_line("jump", before, places[0]))
        if len(places) > 1:
            text = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            parts.append(
                element(
                    "polyline", tooltip(f"{curve.fluent}: {piece}"), class_="curve", points=text
                )
            )
        before = places[-1]
    return "".join(parts)


def _samples(piece: Piece) -> Iterator[tuple[float, float]]:
    """Yield times and values that show the course of a piece."""
    if piece.start == piece.end:
        yield float(piece.start), float(piece.at(piece.start))
        return
    if piece.samples:
        for time, low, high in piece.samples:
            yield float(time), float((low + high) / 2)
        return
    count = 1 if len(piece.coefficients) <= 2 else _SAMPLES
    for step in range(count + 1):
        time = piece.start + (piece.end - piece.start) * step / count
        yield float(time), float(piece.at(time))


def _axis(end: float, top: int) -> str:
    y = top + 4
    parts = [_line("grid", (_LEFT, y), (_LEFT + _WIDTH, y))]
    step = _round_step(end / 6)
    for number in range(floor(end / step + 1e-9) + 1):
        x = _LEFT + _WIDTH * number * step / end
        parts.append(element("text", f"{number * step:.6g}", x=x, y=y + 18, text_anchor="middle"))
    parts.append(element("text", "time", x=_LEFT + _WIDTH, y=y + 34, text_anchor="end"))
    return "".join(parts)


def _line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    return element("line", class_=kind, x1=start[0], y1=start[1], x2=end[0], y2=end[1])


def _round_step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, 50, … and their parts that is not smaller."""
    scale = 10.0 ** floor(log10(least))
    factor = next(f for f in (1, 2, 5, 10) if ceil(least / scale * 1e9) <= f * 1e9 + 1)
    return scale * factor

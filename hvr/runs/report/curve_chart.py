"""The numeric fluents of a plan over time, as an SVG picture: one strip for each that changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.runs.report.axis import STYLE, line, time_axis
from hvr.runs.report.markup import SVG, element, escaped, tooltip
from hvr.validation.continuous.curves import Curve, Piece
from hvr.validation.timeline import Timeline

MOST_CURVES = 60
_LEFT, _WIDTH, _RIGHT = 70, 640, 24
_TOP, _STRIP, _HEAD, _BOTTOM = 40, 84, 30, 44
_SAMPLES = 32
MOST_STEPS = 200
"""Times at which steps start or end that are drawn."""
_PROCESS = 18
_STYLE = (
    STYLE + ".curve{fill:none;stroke:#0072b2;stroke-width:2}.band{fill:#56b4e9;opacity:.35}"
    ".jump{stroke:#0072b2;stroke-dasharray:2 3}.step{stroke:#bbb;stroke-dasharray:1 4}"
    ".process{fill:#009e73}.failure{stroke:#c0392b;stroke-width:2;stroke-dasharray:5 3}"
    "@media(prefers-color-scheme:dark){.curve,.jump{stroke:#7cc7f0}.step{stroke:#59616a}}"
)


def draw(curves: Sequence[Curve], title: str, timeline: Timeline | None = None) -> str:
    """Return the fluents that change, each with the lowest and highest value it takes.

    A dashed line is a jump: an effect at one time. A band is where a value is enclosed. Dotted
    lines are starts and ends of steps, a red one is the first failure, and processes are bars
    below.

    Args:
        curves: the fluents; where none changes, all are drawn.
        title: of the picture.
        timeline: The plan, with its processes and failures.

    Returns:
        A whole SVG document.
    """
    drawn = [curve for curve in curves if len(curve.pieces) > 1 or _degree(curve)] or list(curves)
    left_out = len(drawn) - MOST_CURVES
    drawn = drawn[:MOST_CURVES]
    end = max((float(p.end) for curve in drawn for p in curve.pieces), default=0.0) or 1.0
    if timeline is not None:
        end = max(end, float(timeline.end))
    parts = [element("text", escaped(title), class_="title", x=_LEFT, y=22)]
    top = _TOP
    for curve in drawn:
        parts.append(_strip(curve, end, top))
        top += _HEAD + _STRIP
    if timeline is not None:
        parts[1:1] = _steps(timeline, end, top)
        for name in dict.fromkeys(span.name for span in timeline.processes):
            parts.append(_process(timeline, name, end, top + 6))
            top += _PROCESS
        parts += _failure(timeline, end, top)
    parts.append(time_axis(end, _LEFT, _WIDTH, top + 4))
    if left_out > 0:
        parts.append(element("text", f"{left_out} more change", x=_LEFT, y=top + _BOTTOM))
    names = [span.name for span in timeline.processes] if timeline is not None else []
    # Names of processes end at the left of the curves: the picture begins where the longest does.
    begin = min(0, _LEFT - 12 - 7 * max(map(len, names), default=0))
    width, height = _LEFT + _WIDTH + _RIGHT - begin, top + _BOTTOM + 8
    svg = element(
        "svg",
        element("title", escaped(title)),
        element("style", _STYLE),
        element("rect", class_="paper", x=begin, width=width, height=height),
        *(f"\n{part}" for part in parts),
        "\n",
        xmlns=SVG,
        width=width,
        height=height,
        viewBox=f"{begin} 0 {width} {height}",
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
        if any(low_bound < high_bound for _, low_bound, high_bound in piece.samples):
            upper = [place(float(t), float(most)) for t, _, most in piece.samples]
            lower = [place(float(t), float(least)) for t, least, _ in reversed(piece.samples)]
            shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*upper, *lower))
            parts.append(element("polygon", class_="band", points=shape))
        if before is not None and abs(before[1] - places[0][1]) > 0.05:
            parts.append(line("jump", before, places[0]))
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


def _x(time: float, end: float) -> float:
    return _LEFT + _WIDTH * time / end


def _steps(timeline: Timeline, end: float, bottom: int) -> Iterator[str]:
    """Yield a line at each time at which steps start or end."""
    told: dict[float, list[str]] = {}
    for step in timeline.steps:
        for moment, word in ((step.start, "starts"), (step.end, "ends")):
            told.setdefault(float(moment), []).append(f"step {step.number} {step} {word}")
    for time, texts in list(told.items())[:MOST_STEPS]:
        x = _x(time, end)
        yield line("step", (x, _TOP), (x, bottom), tooltip("\n".join(texts)))


def _process(timeline: Timeline, name: str, end: float, top: int) -> str:
    parts = [element("text", escaped(name), x=_LEFT - 6, y=top + 10, text_anchor="end")]
    for span in timeline.processes:
        if span.name == name:
            start, width = _x(float(span.start), end), float(span.end - span.start) / end * _WIDTH
            text = tooltip(f"{name}: {float(span.start):.6g} to {float(span.end):.6g}")
            parts.append(
                element(
                    "rect", text, class_="process", x=start, y=top, width=width, height=_PROCESS - 8
                )
            )
    return "".join(parts)


def _failure(timeline: Timeline, end: float, bottom: int) -> Iterator[str]:
    for failure in timeline.failures[:1]:
        x = _x(float(failure.time), end)
        yield line("failure", (x, _TOP), (x, bottom), tooltip(failure.text))

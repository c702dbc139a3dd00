"""A plan over time: a Gantt chart of its steps, and curves of its numeric fluents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor, log10

from hvr.runs.report.charts import element, escaped, rectangle, svg_document, tooltip
from hvr.validation.report import decimal_text
from hvr.validation.timeline import Curve, CurvePiece, Timeline, TimelineStep

# Axis ---------------------------------------------------------------------------------------------

STYLE = (
    ".paper{fill:#fff}text{font:12px sans-serif;fill:#222}.name{font-weight:bold}"
    ".title{font-size:14px}.grid{stroke:#ddd}"
    "@media(prefers-color-scheme:dark){.paper{fill:#16191d}text{fill:#e6e6e6}.grid{stroke:#3a3f45}}"
)


def time_axis(end: float, left: float, width: float, y: float, unit: str = "time") -> str:
    """Return a horizontal axis from 0 to `end` with about six numbers; lengths are in pixels."""
    parts = [line("grid", (left, y), (left + width, y))]
    step = round_step(end / 6)
    for number in range(floor(end / step + 1e-9) + 1):
        x = float(left + width * number * step / end)
        parts.append(line("grid", (x, y), (x, y + 4)))
        parts.append(element("text", f"{number * step:.6g}", x=x, y=y + 18, text_anchor="middle"))
    parts.append(element("text", escaped(unit), x=left + width, y=y + 34, text_anchor="end"))
    return "".join(parts)


def line(kind: str, start: tuple[float, float], end: tuple[float, float], inside: str = "") -> str:
    x1, y1, x2, y2 = (float(number) for number in (*start, *end))
    return element("line", *([inside] if inside else ()), class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def round_step(least: float) -> float:
    """Return the smallest number of …, 0.5, 1, 2, 5, 10, 20, … that is at least `least`."""
    scale = 10.0 ** floor(log10(least))
    factor = next(f for f in (1, 2, 5, 10) if ceil(least / scale * 1e9) <= f * 1e9 + 1)
    return scale * factor


# Curve chart --------------------------------------------------------------------------------------

MAX_CURVES = 60
_LEFT, _WIDTH, _RIGHT = 70, 640, 24
_TOP, _STRIP, _HEAD, _BOTTOM = 40, 84, 30, 44
_SAMPLES = 32
MAX_CURVE_STEPS = 200
"""Maximum number of start and end times marked in a chart."""
_PROCESS = 18
_STYLE = (
    STYLE + ".curve{fill:none;stroke:#0072b2;stroke-width:2}.band{fill:#56b4e9;opacity:.35}"
    ".jump{stroke:#0072b2;stroke-dasharray:2 3}.step{stroke:#bbb;stroke-dasharray:1 4}"
    ".process{fill:#009e73}.failure{stroke:#c0392b;stroke-width:2;stroke-dasharray:5 3}"
    "@media(prefers-color-scheme:dark){.curve,.jump{stroke:#7cc7f0}.step{stroke:#59616a}}"
)


def draw_curves(curves: Sequence[Curve], title: str, timeline: Timeline | None = None) -> str:
    """Return a chart of the changing fluents, with their ranges, as an SVG document.

    At most `MAX_CURVES` are drawn; if no fluent changes, constant ones are. Instantaneous effects
    are dashed lines, and inexact values are bands. Dotted lines mark starts and ends of steps, a
    red one the first failure. Processes are bars at the bottom.

    Args:
        timeline: The plan with its processes and failures; None to draw only the curves.
    """
    drawn = [curve for curve in curves if len(curve.pieces) > 1 or _degree(curve)] or list(curves)
    left_out = len(drawn) - MAX_CURVES
    drawn = drawn[:MAX_CURVES]
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
    # The longest name of a process determines the left margin.
    begin = min(0, _LEFT - 12 - 7 * max(map(len, names), default=0))
    width, height = _LEFT + _WIDTH + _RIGHT - begin, top + _BOTTOM + 8
    return svg_document(
        tooltip(title),
        element("style", _STYLE),
        element("rect", class_="paper", x=begin, width=width, height=height),
        *parts,
        width=width,
        height=height,
        left=begin,
    )


def _degree(curve: Curve) -> int:
    # A non-polynomial piece changes if it has samples besides its ends.
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


def _samples(piece: CurvePiece) -> Iterator[tuple[float, float]]:
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
    moments: dict[float, list[str]] = {}
    for step in timeline.steps:
        for moment, word in ((step.start, "starts"), (step.end, "ends")):
            moments.setdefault(float(moment), []).append(f"step {step.number} {step} {word}")
    for time, texts in list(moments.items())[:MAX_CURVE_STEPS]:
        x = _x(time, end)
        yield line("step", (x, _TOP), (x, bottom), tooltip("\n".join(texts)))


def _process(timeline: Timeline, name: str, end: float, top: int) -> str:
    parts = [element("text", escaped(name), x=_LEFT - 6, y=top + 10, text_anchor="end")]
    for span in timeline.processes:
        if span.name == name:
            start, width = _x(float(span.start), end), float(span.end - span.start) / end * _WIDTH
            text = tooltip(f"{name}: {float(span.start):.6g} to {float(span.end):.6g}")
            parts.append(rectangle(start, top, width, _PROCESS - 8, text, class_="process"))
    return "".join(parts)


def _failure(timeline: Timeline, end: float, bottom: int) -> Iterator[str]:
    for failure in timeline.failures[:1]:
        x = _x(float(failure.time), end)
        yield line("failure", (x, _TOP), (x, bottom), tooltip(failure.text))


# Gantt chart --------------------------------------------------------------------------------------

MAX_LANES = 40
"""Maximum number of lanes with names; if there are more first arguments, steps share unnamed
lanes.
"""

_GANTT_WIDTH, _GANTT_RIGHT, _GANTT_TOP, _GANTT_BOTTOM = 820, 24, 52, 48
_ROW, _SMALL_ROW, _GAP = 22, 9, 6
_MANY_ROWS = 120
_LETTER = 6.6
"""Approximate width of a letter, in pixels."""
_MOST_LABEL = 22
_LEAST_BAR = 2.0

_GANTT_STYLE = (
    STYLE + ".bar{fill:#56b4e9;stroke:#0072b2}.bar.unjudged{fill:none;stroke-dasharray:3 3}"
    ".bar.failed{fill:#f6c5c0;stroke:#c0392b;stroke-width:2}.inside{fill:#06283d}"
    ".failed+.inside{fill:#5c120a}.mark{fill:#e69f00}.process{fill:#009e73}"
    ".failure{stroke:#c0392b;stroke-width:2;stroke-dasharray:5 3}.why{fill:#c0392b}"
    ".lane{stroke:#e4e4e4}"
    "@media(prefers-color-scheme:dark){.lane{stroke:#3a3f45}.why{fill:#ff9d8f}"
    ".bar{fill:#1b5f86;stroke:#7cc7f0}.bar.failed{fill:#6b2219;stroke:#ff9d8f}"
    ".inside,.failed+.inside{fill:#f3f6f8}.failure{stroke:#ff9d8f}}"
)


def draw_gantt(timeline: Timeline, title: str) -> str:
    """Return the Gantt chart of a plan as an SVG document, with its title unless this is empty.

    Durative actions are bars in the lane of their first argument. Instantaneous actions, events and
    timed literals are diamonds, and processes are thin bars at the bottom. Failed steps are red,
    and steps after a failure that ended the execution are dashed.
    """
    lanes = _lanes(timeline.steps)
    rows = sum(len(packed) for _, packed in lanes) + len(_processes(timeline))
    row = _ROW if rows <= _MANY_ROWS else _SMALL_ROW
    left = _label_width([name for name, _ in lanes] + [name for name, _ in _processes(timeline)])
    end = float(timeline.end) or 1.0
    chart = _Chart(timeline, left, end, row)
    parts = [element("text", escaped(title), class_="title", x=12, y=22)] if title else []
    y = _GANTT_TOP
    if timeline.marks:
        parts += chart.marks(y)
        y += _ROW
    for name, packed in lanes:
        parts += chart.lane(name, packed, y)
        y += len(packed) * row + _GAP
    for name, spans in _processes(timeline):
        parts += chart.process(name, spans, y)
        y += row
    parts += chart.failures(y)
    unit = "time" if timeline.has_times else "steps"
    parts.append(time_axis(end, left, _GANTT_WIDTH, y + 4, unit))
    width, height = left + _GANTT_WIDTH + _GANTT_RIGHT, y + _GANTT_BOTTOM
    return svg_document(
        tooltip(title or "The plan over time"),
        element("style", _GANTT_STYLE),
        element("rect", class_="paper", width=width, height=height),
        *parts,
        width=width,
        height=height,
    )


class _Chart:
    def __init__(self, timeline: Timeline, left: int, end: float, row: int) -> None:
        self.timeline, self.left, self.end, self.row = timeline, left, end, row
        self.failing = {failure.step: failure.text for failure in timeline.failures}

    def x(self, time: Fraction) -> float:
        return self.left + _GANTT_WIDTH * float(time) / self.end

    def lane(self, name: str, packed: Sequence[Sequence[TimelineStep]], y: int) -> Iterable[str]:
        yield line("lane", (12, y - _GAP / 2), (self.left + _GANTT_WIDTH, y - _GAP / 2))
        if name:
            yield self._label(name, y + self.row * 0.7)
        for steps in packed:
            for step in steps:
                yield from self._step(step, y)
            y += self.row

    def process(self, name: str, spans: Sequence[tuple[Fraction, Fraction]], y: int) -> list[str]:
        parts = [self._label(name, y + self.row * 0.7)]
        for start, end in spans:
            text = f"{name}: {decimal_text(start)} to {decimal_text(end)}"
            width = max(self.x(end) - self.x(start), _LEAST_BAR)
            place = self.x(start), y + self.row / 3, width, self.row / 3
            parts.append(rectangle(*place, tooltip(text), class_="process"))
        return parts

    def marks(self, y: int) -> list[str]:
        parts = [self._label("by itself", y + 10)]
        return parts + [self._diamond(self.x(m.time), y + 6, m.text) for m in self.timeline.marks]

    def failures(self, bottom: int) -> Iterable[str]:
        first = True
        for failure in self.timeline.failures:
            x = self.x(failure.time)
            top = (x, float(_GANTT_TOP - 8))
            yield line("failure", top, (x, float(bottom)), tooltip(failure.text))
            if first:
                text = failure.text if len(failure.text) < 130 else failure.text[:128] + "…"
                yield element("text", escaped(text), class_="why", x=12, y=40)
            first = False

    def _step(self, step: TimelineStep, y: int) -> Iterable[str]:
        span = f"{decimal_text(step.start)} to {decimal_text(step.end)}"
        text = f"step {step.number} {step}: {span}"
        if step.number in self.failing:
            text += f"\n{self.failing[step.number]}"
        x, width = self.x(step.start), self.x(step.end) - self.x(step.start)
        kind = f"bar{self._state(step)}"
        if step.start == step.end:
            yield self._diamond(x, y + self.row / 2 - 2, text, kind)
            width = 0.0
        else:
            shape = x, y, max(width, _LEAST_BAR), self.row - 4
            yield rectangle(*shape, tooltip(text), class_=kind, rx=2)
        label = " ".join((step.name, *step.args[1:]))
        if self.row == _ROW and len(label) * _LETTER < width - 8:
            yield element("text", escaped(label), class_="inside", x=x + 5, y=y + 13)
        elif self.row == _ROW and len(step.name) * _LETTER < width - 8:
            yield element("text", escaped(step.name), class_="inside", x=x + 5, y=y + 13)

    def _state(self, step: TimelineStep) -> str:
        if step.number in self.failing:
            return " failed"
        until = self.timeline.judged_until
        unjudged = until is not None and step.start >= until
        return " unjudged" if unjudged else ""

    def _diamond(self, x: float, y: float, text: str, kind: str = "mark") -> str:
        points = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
        return element("polygon", tooltip(text), class_=kind, points=points)

    def _label(self, name: str, y: float) -> str:
        short = name if len(name) <= _MOST_LABEL else name[: _MOST_LABEL - 1] + "…"
        place = {"x": float(self.left - 8), "y": float(y)}
        return element(
            "text", tooltip(name), escaped(short), class_="name", text_anchor="end", **place
        )


def _label_width(names: Iterable[str]) -> int:
    longest = max((min(len(name), _MOST_LABEL) for name in names), default=0)
    return max(70, 24 + round(longest * _LETTER * 1.1))


def _lanes(steps: Sequence[TimelineStep]) -> list[tuple[str, list[list[TimelineStep]]]]:
    groups: dict[str, list[TimelineStep]] = {}
    for step in steps:
        groups.setdefault(step.args[0] if step.args else step.name, []).append(step)
    if len(groups) > MAX_LANES:
        groups = {"": list(steps)}
    return [(name, _packed(group)) for name, group in groups.items()]


def _packed(steps: Iterable[TimelineStep]) -> list[list[TimelineStep]]:
    rows: list[list[TimelineStep]] = []
    for step in sorted(steps, key=lambda step: (step.start, step.end, step.number)):
        for row in rows:
            last = row[-1]
            if last.end < step.start or (last.end == step.start and last.start < last.end):
                row.append(step)
                break
        else:
            rows.append([step])
    return rows


def _processes(timeline: Timeline) -> list[tuple[str, list[tuple[Fraction, Fraction]]]]:
    found: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for span in timeline.processes:
        spans = found.setdefault(span.name, [])
        if spans and spans[-1][1] == span.start:
            spans[-1] = spans[-1][0], span.end
        else:
            spans.append((span.start, span.end))
    return list(found.items())

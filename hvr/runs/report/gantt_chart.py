"""A plan over time as a Gantt chart: an SVG picture, or a page around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from hvr.runs.report.axis import STYLE, line, time_axis
from hvr.runs.report.markup import SVG, element, escaped, legend, page, table, tooltip
from hvr.validation.report import decimal_text
from hvr.validation.timeline import Timeline, TimelineStep

MOST_LANES = 40
"""With more first arguments than this, steps share lanes and lanes have no names."""

_WIDTH, _RIGHT, _TOP, _BOTTOM = 820, 24, 52, 48
_ROW, _SMALL_ROW, _GAP = 22, 9, 6
_MANY_ROWS = 120
_LETTER = 6.6
"""Width of a letter, about."""
_MOST_LABEL = 22
_LEAST_BAR = 2.0

_STYLE = (
    STYLE + ".bar{fill:#56b4e9;stroke:#0072b2}.bar.unjudged{fill:none;stroke-dasharray:3 3}"
    ".bar.failed{fill:#f6c5c0;stroke:#c0392b;stroke-width:2}.inside{fill:#06283d}"
    ".failed+.inside{fill:#5c120a}.mark{fill:#e69f00}.process{fill:#009e73}"
    ".failure{stroke:#c0392b;stroke-width:2;stroke-dasharray:5 3}.why{fill:#c0392b}"
    ".lane{stroke:#e4e4e4}"
    "@media(prefers-color-scheme:dark){.lane{stroke:#3a3f45}.why{fill:#ff9d8f}"
    ".bar{fill:#1b5f86;stroke:#7cc7f0}.bar.failed{fill:#6b2219;stroke:#ff9d8f}"
    ".inside,.failed+.inside{fill:#f3f6f8}.failure{stroke:#ff9d8f}}"
)


def draw(timeline: Timeline, title: str) -> str:
    """Return a whole SVG document.

    Each durative action is a bar, in the lane of its first argument; instantaneous actions, events
    and timed literals are diamonds, processes thin bars below. Failing steps are red, steps behind
    a failure that ended the execution dashed.

    Args:
        timeline: The plan over time.
        title: Title of the picture; empty where the page has it.
    """
    lanes = _lanes(timeline.steps)
    rows = sum(len(packed) for _, packed in lanes) + len(_processes(timeline))
    row = _ROW if rows <= _MANY_ROWS else _SMALL_ROW
    left = _label_width([name for name, _ in lanes] + [name for name, _ in _processes(timeline)])
    end = float(timeline.end) or 1.0
    chart = _Chart(timeline, left, end, row)
    parts = [element("text", escaped(title), class_="title", x=12, y=22)] if title else []
    y = _TOP
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
    parts.append(time_axis(end, left, _WIDTH, y + 4, unit))
    width, height = left + _WIDTH + _RIGHT, y + _BOTTOM
    return (
        element(
            "svg",
            element("title", escaped(title or "The plan over time")),
            element("style", _STYLE),
            element("rect", class_="paper", width=width, height=height),
            *(f"\n{part}" for part in parts),
            "\n",
            xmlns=SVG,
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            role="img",
        )
        + "\n"
    )


def draw_page(timeline: Timeline, title: str) -> str:
    """Return an HTML page with the chart, what failed, and the steps as a table."""
    why = "".join(element("p", escaped(f.text), class_="warning") for f in timeline.failures)
    rows = [
        (str(step.number), str(step), decimal_text(step.start), decimal_text(step.end))
        for step in timeline.steps
    ]
    listed = table("Steps", ("Step", "Action", "Start", "End"), rows)
    body = element("h1", escaped(title)) + why + _scrolling(draw(timeline, "")) + _key() + listed
    return page(title, body, styles=(".wide{overflow-x:auto}" + _KEY_STYLE,))


_KEY_STYLE = (
    ".key .bar{fill:#56b4e9}.key .mark{fill:#e69f00}.key .process{fill:#009e73}"
    ".key .failed{fill:#f6c5c0;stroke:#c0392b}"
)


def _key() -> str:
    return legend(
        [
            ("bar", "action"),
            ("mark", "instantaneous action, event or timed literal"),
            ("process", "process"),
            ("failed", "fails"),
        ],
        "key",
    )


def _scrolling(markup: str) -> str:
    return element("div", markup, class_="wide")


class _Chart:
    """Draws parts of a chart with one time scale."""

    def __init__(self, timeline: Timeline, left: int, end: float, row: int) -> None:
        self.timeline, self.left, self.end, self.row = timeline, left, end, row
        self.failing = {failure.step: failure.text for failure in timeline.failures}

    def x(self, time: Fraction) -> float:
        return self.left + _WIDTH * float(time) / self.end

    def lane(self, name: str, packed: Sequence[Sequence[TimelineStep]], y: int) -> Iterable[str]:
        yield line("lane", (12, y - _GAP / 2), (self.left + _WIDTH, y - _GAP / 2))
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
            parts.append(
                element(
                    "rect",
                    tooltip(text),
                    class_="process",
                    x=self.x(start),
                    y=y + self.row / 3,
                    width=width,
                    height=self.row / 3,
                )
            )
        return parts

    def marks(self, y: int) -> list[str]:
        parts = [self._label("by itself", y + 10)]
        return parts + [self._diamond(self.x(m.time), y + 6, m.text) for m in self.timeline.marks]

    def failures(self, bottom: int) -> Iterable[str]:
        first = True
        for failure in self.timeline.failures:
            x = self.x(failure.time)
            top = (x, float(_TOP - 8))
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
            yield element(
                "rect",
                tooltip(text),
                class_=kind,
                x=x,
                y=y,
                width=max(width, _LEAST_BAR),
                height=self.row - 4,
                rx=2,
            )
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
    """Group steps by their first argument, and pack each group into rows without overlaps."""
    groups: dict[str, list[TimelineStep]] = {}
    for step in steps:
        groups.setdefault(step.args[0] if step.args else step.name, []).append(step)
    if len(groups) > MOST_LANES:
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
    """Return the time spans of each process, those that touch as one."""
    found: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for span in timeline.processes:
        spans = found.setdefault(span.name, [])
        if spans and spans[-1][1] == span.start:
            spans[-1] = spans[-1][0], span.end
        else:
            spans.append((span.start, span.end))
    return list(found.items())

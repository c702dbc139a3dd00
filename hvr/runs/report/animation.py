"""A run as an animation: SVG without scripts, which also plays in a README, GIF or APNG."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING

from hvr.base.printable import one_line, short
from hvr.errors import DataFileError, MissingExtraError
from hvr.runs.report.charts import SVG, element, escaped
from hvr.runs.report.floor_plan.drawing import (
    Drawing,
    Mark,
    css,
    draw_floor_plan,
    mark_element,
    paint,
    svg,
)
from hvr.runs.report.floor_plan.plan import FloorPlan, Shape
from hvr.runs.report.floor_plan.states import state_marks
from hvr.runs.report.run_page.rooms import plans_by_step
from hvr.runs.report.run_page.story import Story

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 0.9
"""Duration of a step in seconds."""
PAUSE = 4.0
"""Pause at the end, in seconds, before the animation restarts."""
_WIDTH, _LINE, _TOP, _PLAN = 900, 21, 66, 440
_LONGEST = 64
_STYLE = """
text{white-space:pre;font:14px ui-monospace,SFMono-Regular,Menlo,monospace;fill:#24292f}
.title{font-weight:600}.ok{fill:#1a7f37}.bad{fill:#b3261e}.quiet{fill:#6e7781}
.frame{fill:#ffffff;stroke:#d0d7de}
"""
_COLOURS = {"ok": "#1a7f37", "bad": "#b3261e", "quiet": "#6e7781", "title": "#24292f"}


@dataclass(frozen=True)
class _Row:
    """A line of the animation: the class of its style, and the number of completed steps."""

    text: str
    look: str
    done: int


def animated_svg(story: Story) -> str:
    """Return the steps as they happen, next to the robot's path, as an animated SVG document.

    Raises:
        DataFileError: The run has no room to draw.
    """
    plans = _rooms(story)
    rows = list(_rows(story))
    length = len(rows) * SECONDS + PAUSE
    height = max(_TOP + _LINE * len(rows), _PLAN + 16) + 8
    drawing = draw_floor_plan(plans[0], labels=_handled(story))
    scale = _PLAN / drawing.height
    times = _Times(rows, len(plans), length)
    moving = _Things(plans, drawing, times)
    still = replace(
        drawing,
        marks=tuple(
            (name, tuple(mark for mark in marks if mark.name not in moving.names))
            for name, marks in drawing.marks
            if name != "agent"
        ),
    )
    size = f'width="{drawing.width * scale:.0f}" height="{drawing.height * scale:.0f}"'
    plan = svg(still, standalone=False)
    plan = plan.replace("<svg ", f'<svg x="{_WIDTH - 340}" y="16" {size} ', 1)
    robot = _robot([drawing.place(one.agent.x, one.agent.z) for one in plans], times)
    things = "".join(moving.elements(_handled(story)))
    plan = plan.removesuffix("</svg>") + robot + things + "</svg>"
    lines = (
        element(
            "text",
            escaped(row.text),
            _appears(number, length),
            x=20,
            y=_TOP + _LINE * number,
            class_=row.look,
        )
        for number, row in enumerate(rows)
    )
    document = element(
        "svg",
        element("style", _STYLE + css()),
        element("rect", x=1, y=1, width=_WIDTH - 2, height=height - 2, rx=10, class_="frame"),
        element("text", escaped(_asked(story)), x=20, y=32, class_="title"),
        *lines,
        plan,
        xmlns=SVG,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=f"hvr plans and carries out: {one_line(story.request)}",
    )
    return document + "\n"


def animated_picture(story: Story, form: str) -> bytes:
    """Return the steps as they happen, below the robot's path, as an animated picture.

    Args:
        form: `GIF`, or `PNG` for APNG.

    Raises:
        DataFileError: The run has no room to draw.
        MissingExtraError: Pillow is not installed.
    """
    plans = _rooms(story)
    rows = list(_rows(story))
    frames = [_frame(plans[row.done], story, rows[: at + 1]) for at, row in enumerate(rows)]
    times = [round(1000 * SECONDS)] * (len(frames) - 1) + [round(1000 * PAUSE)]
    data = BytesIO()
    first, *rest = frames
    first.save(
        data, format=form, save_all=True, append_images=rest, duration=times, loop=0, optimize=True
    )
    return data.getvalue()


def _frame(plan: FloorPlan, story: Story, rows: Sequence[_Row]) -> Image:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise MissingExtraError("pillow", "pictures") from error
    sheet = draw_floor_plan(plan, labels=_handled(story))
    states = tuple(
        mark for shape in plan.shapes if not shape.enclosed for _, mark in state_marks(shape, sheet)
    )
    groups = dict(sheet.marks)
    held = tuple(mark for mark in groups["objects"] if mark.name == plan.held)
    labels = groups.pop("labels")
    groups |= {"states": states, "held": held, "labels": labels}
    room = paint(replace(sheet, marks=tuple(groups.items())))
    room = room.resize((round(room.width * _PLAN / room.height), _PLAN))
    width = max(room.width, 560)
    frame = Image.new("RGB", (width, _PLAN + 3 * _LINE + 12), "#ffffff")
    frame.paste(room, ((width - room.width) // 2, 0))
    pen = ImageDraw.Draw(frame)
    font = ImageFont.load_default(size=14)
    lines = [(_asked(story), "title"), *((row.text, row.look) for row in rows[-2:])]
    for number, (text, look) in enumerate(lines):
        # Only characters of the built-in font; others would become boxes.
        known = text.encode("latin-1", "replace").decode("latin-1")
        place = (12, _PLAN + 6 + number * _LINE)
        pen.text(place, known, fill=_COLOURS[look], font=font)
    return frame


def _rooms(story: Story) -> list[FloorPlan]:
    if story.before is None or not story.steps:
        raise DataFileError("only a run with a room and with steps can be animated")
    return plans_by_step(story)


def _handled(story: Story) -> set[str]:
    return {name for step in story.steps for name in step.objects}


def _asked(story: Story) -> str:
    return short(one_line(f'$ hvr plan "{story.request}"'), _LONGEST)


def _rows(story: Story) -> Iterator[_Row]:
    if story.plans:
        plan = story.plans[0]
        length = sum(len(block.actions) for block in plan.blocks)
        yield _row(
            f"plan: {length} steps by {plan.planner}; validator: {plan.validator}", "quiet", 0
        )
    for done, step in enumerate(story.steps, 1):
        wrong = any(remark.event == "failure" for remark in step.remarks)
        text = f"{'!!' if wrong else 'ok'} {done:3} {step.action}"
        yield _row(text, "bad" if wrong else "ok", done)
        for remark in step.remarks:
            what = remark.title if remark.event == "recovery" else remark.text.partition(" (")[0]
            if remark.event != "replanning":
                yield _row(f"       {what}", "quiet", done)
    yield _row(story.outcome, "title", len(story.steps))


def _row(text: str, look: str, done: int) -> _Row:
    return _Row(short(one_line(text), _LONGEST), look, done)


def _appears(number: int, length: float) -> str:
    at = number * SECONDS / length
    return element(
        "animate",
        attributeName="opacity",
        values="0;0;1;1",
        keyTimes=f"0;{at:.4f};{min(at + 0.002, 1):.4f};1",
        dur=f"{length:.1f}s",
        repeatCount="indefinite",
    )


# Movement ----------------------------------------------------------------------------------------


class _Times:
    """The moments at which each room of a run is shown, as parts of the animation's length."""

    def __init__(self, rows: Sequence[_Row], rooms: int, length: float) -> None:
        self.length = length
        at = [
            next((n for n, row in enumerate(rows) if row.done >= room), 0) for room in range(rooms)
        ]
        self.starts = [min((number + 0.5) * SECONDS / length, 1.0) for number in at]
        self.starts[0] = 0.0

    def animate(self, kind: str, values: Sequence[str], *, jump: bool, **more: str) -> str:
        """Return an animation through one value for each room; empty if nothing changes."""
        if len(set(values)) < 2:
            return ""
        shown, times = [values[0]], [0.0]
        for start, before, value in zip(self.starts[1:], values, values[1:], strict=False):
            if value == before:
                continue
            if not jump:
                shown.append(before)
                times.append(max(times[-1], start - 0.4 * SECONDS / self.length))
            shown.append(value)
            times.append(max(times[-1], start))
        if not jump:
            shown.append(shown[-1])
            times.append(1.0)
        return element(
            kind,
            values=";".join(shown),
            keyTimes=";".join(f"{time:.4f}" for time in times),
            calcMode="discrete" if jump else None,
            dur=f"{self.length:.1f}s",
            repeatCount="indefinite",
            **more,
        )


class _Things:
    """The objects that a run moves or changes, as elements over the still floor plan."""

    def __init__(self, plans: Sequence[FloorPlan], sheet: Drawing, times: _Times) -> None:
        self._sheet, self._times = sheet, times
        rooms = [{shape.name: shape for shape in plan.shapes} for plan in plans]
        known = dict.fromkeys(name for room in rooms for name in room)
        self._lives = {
            name: life for name in known if len(set(life := [room.get(name) for room in rooms])) > 1
        }
        self.names = frozenset(self._lives)

    def elements(self, handled: Collection[str]) -> Iterator[str]:
        """Yield the elements, large objects first."""
        first = {name: next(filter(None, life)) for name, life in self._lives.items()}
        order = sorted(first.items(), key=lambda one: -one[1].box.footprint)
        for name, shape in order:
            yield self._thing(shape, self._lives[name], labelled=name in handled)

    def _thing(self, first: Shape, life: Sequence[Shape | None], *, labelled: bool) -> str:
        sheet, animate = self._sheet, self._times.animate
        origin = sheet.place(first.box.center[0], first.box.center[2])
        ways, looks, last = [], [], first
        for shape in life:
            last = shape or last
            x, y = sheet.place(last.box.center[0], last.box.center[2])
            ways.append(f"{x - origin[0]:.1f} {y - origin[1]:.1f}")
            looks.append("0" if shape is None else "0.3" if shape.enclosed else "1")
        kind = "animateTransform"
        move = animate(kind, ways, jump=False, attributeName="transform", type="translate")
        show = animate("animate", looks, jump=True, attributeName="opacity")
        parts = [mark_element(_rectangle(first, sheet))]
        parts += self._states(first, life)
        if labelled:
            parts.append(mark_element(_name(first, sheet)))
        return element("g", move, show, *parts, opacity=looks[0])

    def _states(self, first: Shape, life: Sequence[Shape | None]) -> Iterator[str]:
        words = dict.fromkeys(word for shape in life if shape is not None for word in shape.state)
        marked = first.replace(state=tuple(words))
        for word, mark in state_marks(marked, self._sheet):
            seen = ["1" if shape is not None and word in shape.state else "0" for shape in life]
            show = self._times.animate("animate", seen, jump=True, attributeName="opacity")
            yield element("g", show, mark_element(mark), opacity=seen[0])


def _rectangle(shape: Shape, sheet: Drawing) -> Mark:
    box = shape.box
    corners = (sheet.place(box.x0, box.z1), sheet.place(box.x1, box.z0))
    look = "overhead" if shape.overhead else shape.kind.value
    return Mark("rect", look, corners, title=shape.name, name=shape.name)


def _name(shape: Shape, sheet: Drawing) -> Mark:
    x, y = sheet.place(shape.box.center[0], shape.box.z1)
    return Mark("text", "label", ((x, y - 9),), text=short(one_line(shape.name), 24))


def _robot(places: Sequence[tuple[float, float]], times: _Times) -> str:
    x, y = places[0]
    ways = [f"{place[0] - x:.1f} {place[1] - y:.1f}" for place in places]
    kind = "animateTransform"
    move = times.animate(kind, ways, jump=False, attributeName="transform", type="translate")
    middle = {"cx": f"{x:.1f}", "cy": f"{y:.1f}"}
    return element("circle", move, r=9, fill="#b3261e", stroke="#ffffff", stroke_width=2, **middle)

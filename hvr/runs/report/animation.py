"""A run as an animation: SVG without scripts, which also plays in a README, GIF or APNG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING

from hvr.base.printable import one_line, short
from hvr.errors import DataFileError, MissingExtraError
from hvr.runs.report.charts import SVG, element, escaped
from hvr.runs.report.floor_plan.drawing import Drawing, css, draw_floor_plan, paint, svg
from hvr.runs.report.floor_plan.plan import FloorPlan, Pose
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
    before, poses = _room(story)
    rows = list(_rows(story))
    length = len(rows) * SECONDS + PAUSE
    height = max(_TOP + _LINE * len(rows), _PLAN + 16) + 8
    drawing = draw_floor_plan(before, labels=_handled(story))
    scale = _PLAN / drawing.height
    still = replace(
        drawing, marks=tuple((name, marks) for name, marks in drawing.marks if name != "agent")
    )
    size = f'width="{drawing.width * scale:.0f}" height="{drawing.height * scale:.0f}"'
    plan = svg(still, standalone=False)
    plan = plan.replace("<svg ", f'<svg x="{_WIDTH - 340}" y="16" {size} ', 1)
    robot = _robot(rows, poses, drawing, length)
    plan = plan.removesuffix("</svg>") + robot + "</svg>"
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
    before, poses = _room(story)
    rows = list(_rows(story))
    frames = [
        _frame(before.replace(agent=poses[min(row.done, len(poses) - 1)]), story, rows[: at + 1])
        for at, row in enumerate(rows)
    ]
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
    room = paint(draw_floor_plan(plan, labels=_handled(story)))
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


def _room(story: Story) -> tuple[FloorPlan, list[Pose]]:
    if story.before is None or story.route is None or not story.steps:
        raise DataFileError("only a run with a room and with steps can be animated")
    return story.before, [story.route.start, *(visit.pose for visit in story.route.visits)]


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


def _robot(rows: Sequence[_Row], poses: Sequence[Pose], drawing: Drawing, length: float) -> str:
    times, places = [0.0], [drawing.place(poses[0].x, poses[0].z)]
    for number, row in enumerate(rows):
        pose = poses[min(row.done, len(poses) - 1)]
        times.append(min((number + 0.5) * SECONDS / length, 1))
        places.append(drawing.place(pose.x, pose.z))
    times.append(1.0)
    places.append(places[-1])
    moves = (
        _moves(name, [place[axis] for place in places], times, length)
        for axis, name in enumerate(("cx", "cy"))
    )
    return element("circle", *moves, r=9, fill="#b3261e", stroke="#ffffff", stroke_width=2)


def _moves(name: str, values: Sequence[float], times: Sequence[float], length: float) -> str:
    return element(
        "animate",
        attributeName=name,
        values=";".join(f"{value:.1f}" for value in values),
        keyTimes=";".join(f"{time:.4f}" for time in times),
        dur=f"{length:.1f}s",
        repeatCount="indefinite",
    )

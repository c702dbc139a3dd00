"""A run as an animation: SVG without scripts (which also plays in a README), GIF or APNG."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Shape
from hvr.runs.report.run_page import Story, StoryStep
from hvr.validation.report import count
from hvr.worlds.scenes import Box

if TYPE_CHECKING:
    from PIL.Image import Image


# States -------------------------------------------------------------------------------------------
# Marks for the states of objects on a floor plan: open doors, heat, light, cuts, liquids.

_TINTS = {"hot": "hot", "cold": "cold", "on": "lit", "cooked": "cooked"}
_OPEN = math.radians(70)
_DOOR = 46.0
"""Maximum length of a door, in pixels."""


def state_marks(shape: Shape, sheet: Drawing) -> Iterator[tuple[str, Mark]]:
    """Yield the visible states of an object, each with the mark that shows it."""
    x0, y0 = sheet.place(shape.box.x0, shape.box.z1)
    x1, y1 = sheet.place(shape.box.x1, shape.box.z0)
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    for state in shape.state:
        title = f"{shape.name}: {state}"
        if state in _TINTS:
            yield state, Mark("rect", _TINTS[state], ((x0, y0), (x1, y1)), title=title)
        elif state == "sliced":
            for part in (1 / 3, 2 / 3):
                x = x0 + (x1 - x0) * part
                yield state, Mark("line", "cut", ((x, y0), (x, y1)), title=title)
        elif state.startswith("filled with "):
            radius = max(2.0, 0.3 * min(x1 - x0, y1 - y0))
            yield state, Mark("disc", "liquid", (middle, (middle[0] + radius, middle[1])))
        elif state == "open":
            yield state, Mark("line", "door", _door((x0, y0, x1, y1), sheet), title=title)


def _door(
    corners: tuple[float, float, float, float], sheet: Drawing
) -> tuple[tuple[float, float], tuple[float, float]]:
    x0, y0, x1, y1 = corners
    dx, dy = sheet.width / 2 - (x0 + x1) / 2, sheet.height / 2 - (y0 + y1) / 2
    wide, deep = max(x1 - x0, 1.0), max(y1 - y0, 1.0)
    if abs(dx) / wide < abs(dy) / deep:
        length, out = min(wide, _DOOR), math.copysign(1.0, dy)
        hinge = (x0, y1 if out > 0 else y0)
        return hinge, (
            hinge[0] + length * math.cos(_OPEN), hinge[1] + out * length * math.sin(_OPEN)
        )  # fmt: skip
    length, out = min(deep, _DOOR), math.copysign(1.0, dx)
    hinge = (x1 if out > 0 else x0, y0)
    return hinge, (hinge[0] + out * length * math.sin(_OPEN), hinge[1] + length * math.cos(_OPEN))


# Rooms --------------------------------------------------------------------------------------------
# The floor plan of a run after each of its steps, from the facts that the steps changed.

_WORDS = {"opened": "open", "toggled": "on"}
_STATES = frozenset("opened toggled sliced cracked cooked hot cold dirty broken".split())
_REACH = 0.32
"""Distance from the robot's centre to a held object, in metres."""
_SLOTS = (0.0, 0.25, -0.25, 0.4, -0.4)
"""Positions for objects placed side by side, as fractions of the free width."""


def plans_by_step(story: Story) -> list[FloorPlan]:
    """Return the floor plan before the first step and after each step.

    Moved objects are drawn side by side at their new places, since their exact positions are not
    recorded.
    """
    assert story.before is not None
    room = _Room(story)
    plans = [room.plan(story.before.agent)]
    for step in story.steps:
        added, deleted = observed(step)
        for fact in deleted:
            room.end(*_parts(fact))
        # Pieces must exist before they can be put anywhere.
        for fact in sorted(added, key=lambda fact: not fact.startswith("(present ")):
            room.begin(*_parts(fact))
        plans.append(room.plan(step.pose or plans[-1].agent))
    return plans


def observed(step: StoryStep) -> tuple[list[str], list[str]]:
    """Return the facts that became true in a step, and those that became false."""
    if step.changed:
        ended = [fact[5:-1] for fact in step.changed if fact.startswith("(not ")]
        return [fact for fact in step.changed if not fact.startswith("(not ")], ended
    added, deleted = step.expected or ((), ())
    begun = [fact for fact in added if fact not in step.missing]
    kept = [fact for fact in deleted if fact not in step.unexpected]
    lost = [fact for fact in step.missing if fact not in added]
    return [*begun, *step.unexpected], [*kept, *lost]


def _parts(fact: str) -> tuple[str, str, str]:
    name, first, second, *_ = [*fact.strip("()").split(), "", "", ""]
    return name, first, second


class _Room:
    def __init__(self, story: Story) -> None:
        assert story.before is not None
        self._before = story.before
        self._pieces = {shape.name: shape for shape in (story.after or story.before).shapes}
        self._shapes = {shape.name: shape for shape in story.before.shapes}
        self._held = story.before.held
        self._dropped: str | None = None
        inside = [shape for shape in story.before.shapes if shape.enclosed]
        self._inside = {shape.name for shape in inside}
        steps = [fact for step in story.steps for fact in (*observed(step)[0], *observed(step)[1])]
        opened = {_parts(fact)[1] for fact in steps if _parts(fact)[0] == "opened"}
        self._doors = opened | {shape.place for shape in inside}

    def plan(self, agent: Pose) -> FloorPlan:
        turn = math.radians(agent.yaw)
        x, z = agent.x + _REACH * math.sin(turn), agent.z + _REACH * math.cos(turn)
        for name in (self._held, self._dropped):
            if (shape := self._shapes.get(name or "")) is not None:
                self._move(shape, x, z)
        self._dropped = None
        shapes = (
            shape.replace(enclosed=self._is_enclosed(shape)) for shape in self._shapes.values()
        )
        return self._before.replace(shapes=tuple(shapes), agent=agent, held=self._held)

    def _move(self, shape: Shape, x: float, z: float) -> None:
        dx, dz = x - shape.box.center[0], z - shape.box.center[2]
        moved = {shape.name}
        while more := {
            name
            for name, one in self._shapes.items()
            if one.place in moved and name not in moved and name != self._held
        }:
            moved |= more
        for name in moved:
            one = self._shapes[name]
            self._shapes[name] = one.replace(box=_shifted(one.box, dx, dz))

    def begin(self, name: str, first: str, second: str) -> None:
        if name == "present" and first in self._pieces:
            self._shapes.setdefault(first, self._pieces[first].replace(state=()))
        if (shape := self._shapes.get(first)) is None:
            return
        if name == "holding":
            self._held, self._dropped = first, None
            self._inside.discard(first)
            self._shapes[first] = shape.replace(place="")
        elif name in ("on", "in"):
            self._put(shape, second, inside=name == "in")
        elif name == "contains" or (name == "filled" and not _liquid(shape)):
            kept = [word for word in shape.state if not word.startswith("filled")]
            self._states(shape, [*kept, f"filled with {second or 'water'}"])
        elif name in _STATES:
            self._states(shape, dict.fromkeys((*shape.state, _WORDS.get(name, name))))

    def end(self, name: str, first: str, second: str) -> None:
        if (shape := self._shapes.get(first)) is None:
            return
        if name == "holding" and self._held == first:
            self._held, self._dropped = None, first
        elif name in ("on", "in") and shape.place == second:
            self._inside.discard(first)
            self._shapes[first] = shape.replace(place="")
        elif name == "present":
            del self._shapes[first]
        elif name == "filled":
            self._states(shape, [word for word in shape.state if not word.startswith("filled")])
        elif name in _STATES:
            ended = _WORDS.get(name, name)
            self._states(shape, [word for word in shape.state if word != ended])

    def _states(self, shape: Shape, state: Iterable[str]) -> None:
        self._shapes[shape.name] = shape.replace(state=tuple(state))

    def _put(self, shape: Shape, place: str, *, inside: bool) -> None:
        if inside:
            self._inside.add(shape.name)
        self._held = None if self._held == shape.name else self._held
        self._shapes[shape.name] = shape.replace(place=place)
        there = self._shapes.get(place)
        if there is not None and there.kind is not ObjectKind.FLOOR:
            self._dropped = None
            self._move(self._shapes[shape.name], *self._free(shape, there))

    def _free(self, shape: Shape, place: Shape) -> tuple[float, float]:
        others = [
            one.box.center[0]
            for one in self._shapes.values()
            if one.place == place.name and one.name != shape.name
        ]
        width = shape.box.x1 - shape.box.x0
        room = max(0.0, place.box.x1 - place.box.x0 - width)
        x, _, z = place.box.center
        slots = [x + part * room for part in _SLOTS]
        free = [slot for slot in slots if all(abs(slot - other) > width for other in others)]
        return (free or slots)[0], z

    def _is_enclosed(self, shape: Shape) -> bool:
        # Objects may be nested: a bowl in a drawer has its own contents.
        seen: set[str] = set()
        while shape.name not in seen and (place := self._shapes.get(shape.place)) is not None:
            shut = place.name in self._doors and "open" not in place.state
            if shape.name in self._inside and shut:
                return True
            seen.add(shape.name)
            shape = place
        return False


def _liquid(shape: Shape) -> str:
    return next((word for word in shape.state if word.startswith("filled with ")), "")


def _shifted(box: Box, dx: float, dz: float) -> Box:
    return Box(box.x0 + dx, box.y0, box.z0 + dz, box.x1 + dx, box.y1, box.z1 + dz)


# --------------------------------------------------------------------------------------------------

SECONDS = 0.9
"""Duration of a step in seconds."""
PAUSE = 4.0
"""Pause before the animation restarts, in seconds."""
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
    text: str
    look: str
    done: int


def animated_svg(story: Story) -> str:
    """Return an animated SVG document with the steps of a run beside the robot's path.

    Raises:
        DataFileError: The run has no scene or no steps.
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
    """Return an animated `GIF` or (animated) `PNG` of a run's steps below the robot's path.

    Raises:
        DataFileError: The run has no scene or no steps.
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
        # Use only characters of the built-in font; others would become boxes.
        known = text.encode("latin-1", "replace").decode("latin-1")
        place = (12, _PLAN + 6 + number * _LINE)
        pen.text(place, known, fill=_COLOURS[look], font=font)
    return frame


def _rooms(story: Story) -> list[FloorPlan]:
    if story.before is None or not story.steps:
        raise DataFileError("the run cannot be animated: it lacks a scene or steps")
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
            f"plan: {count(length, 'step')} by {plan.planner}; validator: {plan.validator}",
            "quiet",
            0,
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
    def __init__(self, rows: Sequence[_Row], rooms: int, length: float) -> None:
        self.length = length
        at = [
            next((n for n, row in enumerate(rows) if row.done >= room), 0) for room in range(rooms)
        ]
        self.starts = [min((number + 0.5) * SECONDS / length, 1.0) for number in at]
        self.starts[0] = 0.0

    def animate(self, kind: str, values: Sequence[str], *, jump: bool, **more: str) -> str:
        """Return an SVG animation with one value per frame; '' if the value never changes."""
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
    def __init__(self, plans: Sequence[FloorPlan], sheet: Drawing, times: _Times) -> None:
        self._sheet, self._times = sheet, times
        rooms = [{shape.name: shape for shape in plan.shapes} for plan in plans]
        known = dict.fromkeys(name for room in rooms for name in room)
        self._lives = {
            name: life for name in known if len(set(life := [room.get(name) for room in rooms])) > 1
        }
        self.names = frozenset(self._lives)

    def elements(self, handled: Collection[str]) -> Iterator[str]:
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

"""A floor plan as marks on a sheet, their styles, and the sheet as SVG or PNG."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hvr.base.files import write_whole
from hvr.errors import MissingExtraError
from hvr.runs.report.charts import SVG, asset, element, escaped, tooltip
from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Route, Shape, Stop, stops

if TYPE_CHECKING:
    from PIL.Image import Image


# Drawing ------------------------------------------------------------------------------------------


PIXELS_PER_METRE = 110.0
LETTER = 6.2
"""Average width of a letter in a label, in pixels."""

_BODY = 0.2
_CELL = 0.26
_FOOT = 34.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """A shape or text in a drawing.

    Args:
        shape: `rect` (two corners), `area` (closed polygon), `line` (open polyline), `disc` (centre
            and a point on the edge), `cells` and `dots` (a small square or dot at each point), or
            `text` (its centre).
        points: Pixel coordinates, x to the right and y down.
        steps: Numbers of the steps that the mark represents.
        size: Edge length of a cell or diameter of a dot, in pixels.
    """

    shape: str
    look: str
    points: tuple[Point, ...]
    text: str = ""
    title: str = ""
    name: str = ""
    steps: tuple[int, ...] = ()
    size: float = 0.0

    @property
    def rounded(self) -> bool:
        """Whether the mark is a stop of the robot, drawn as a rectangle with rounded ends."""
        return self.look in ("stop", "bad")


@dataclass(frozen=True)
class Drawing:
    """A floor plan as marks, from bottom to top.

    Args:
        width, height: Size in pixels.
        marks: Marks by group: `ground`, `objects`, `route`, `agent`, `labels`.
        left: x coordinate of the left edge in metres.
        top: z coordinate of the top edge in metres.
        scale: Pixels per metre.
    """

    title: str
    width: float
    height: float
    marks: tuple[tuple[str, tuple[Mark, ...]], ...]
    left: float
    top: float
    scale: float = PIXELS_PER_METRE

    def place(self, x: float, z: float) -> Point:
        """Return the pixel coordinates of a point of the scene."""
        return (x - self.left) * self.scale, (self.top - z) * self.scale


def draw_floor_plan(
    plan: FloorPlan,
    route: Route | None = None,
    *,
    labels: str | Collection[str] = "main",
    scale: float = PIXELS_PER_METRE,
) -> Drawing:
    """Lay out a floor plan, with +z up and +x to the right.

    Args:
        route: The robot's route, if it is to be drawn.
        labels: `main` for large objects, `all`, `none`, or the names of the objects to label.
        scale: Pixels per metre.
    """
    x0, z0, x1, z1 = plan.bounds
    title = f"Floor plan of {plan.scene or 'the scene'}: {len(plan.shapes)} objects"
    if route is not None:
        title += f", and the robot's route in {len(route.visits)} steps"
    sheet = Drawing(
        title=title,
        width=(x1 - x0) * scale,
        height=(z1 - z0) * scale + _FOOT,
        marks=(),
        left=x0,
        top=z1,
        scale=scale,
    )
    route_stops = stops(route) if route is not None else ()
    groups = (
        ("ground", tuple(_ground(plan, sheet))),
        ("objects", tuple(_objects(plan, sheet))),
        ("route", tuple(_route_marks(route, sheet, route_stops)) if route is not None else ()),
        ("agent", tuple(_agent(plan.agent, sheet))),
        ("labels", (*_labels(plan, sheet, labels, route_stops), *_foot(sheet))),
    )
    return replace(sheet, marks=groups)


def _ground(plan: FloorPlan, sheet: Drawing) -> Iterator[Mark]:
    # The bounding box of an L-shaped counter also covers floor, which walkable points show.
    yield Mark("rect", "ground", ((0.0, 0.0), (sheet.width, sheet.height)))
    low = [
        s
        for s in plan.shapes
        if s.kind in (ObjectKind.FLOOR, ObjectKind.SURFACE) and not s.overhead
    ]
    for shape in sorted(low, key=_low_and_large_first):
        yield _rect(shape, sheet)
    if plan.grid:
        points = tuple(sheet.place(x, z) for x, z in plan.grid)
        yield Mark("cells", "walkable", points, size=_CELL * sheet.scale)
        title = f"{len(points)} points where the robot can stand, 0.25 m apart"
        yield Mark("dots", "dot", points, title=title, size=max(1.5, 0.022 * sheet.scale))


def _objects(plan: FloorPlan, sheet: Drawing) -> Iterator[Mark]:
    rest = [
        s for s in plan.shapes if s.kind not in (ObjectKind.FLOOR, ObjectKind.SURFACE) or s.overhead
    ]
    order = list(ObjectKind)
    rest.sort(key=lambda s: (s.overhead, order.index(s.kind), *_low_and_large_first(s)[1:]))
    for shape in rest:
        yield _rect(shape, sheet)


def _low_and_large_first(shape: Shape) -> tuple[bool, float, float, str]:
    return shape.kind is not ObjectKind.FLOOR, -shape.box.footprint, shape.box.y1, shape.name


def _rect(shape: Shape, sheet: Drawing) -> Mark:
    if shape.enclosed:
        look = "enclosed"
    elif shape.overhead:
        look = "overhead"
    else:
        look = shape.kind.value
    box = shape.box
    corners = (sheet.place(box.x0, box.z1), sheet.place(box.x1, box.z0))
    return Mark("rect", look, corners, title=shape.caption, name=shape.name)


def _route_marks(route: Route, sheet: Drawing, route_stops: Sequence[Stop]) -> Iterator[Mark]:
    at = route.start
    for visit in route.visits:
        if math.dist(at[:2], visit.pose[:2]) > 1e-3:
            line = (sheet.place(at.x, at.z), sheet.place(visit.pose.x, visit.pose.z))
            look = "jump" if visit.jumped else "way"
            title = f"{'jump' if visit.jumped else 'route'} to step {visit.number}"
            yield Mark("line", look, line, title=title, steps=(visit.number,))
        at = visit.pose
    for stop in route_stops:
        x, y = sheet.place(stop.x, stop.z)
        half = max(10.0, LETTER * len(stop.text) / 2 + 5)
        title = f"steps {stop.text}" if len(stop.steps) > 1 else f"step {stop.text}"
        if stop.failed:
            title += f"; failed: {', '.join(map(str, stop.failed))}"
        look = "bad" if stop.failed else "stop"
        corners = ((x - half, y - 9), (x + half, y + 9))
        yield Mark("rect", look, corners, title=title, steps=stop.steps)
        yield Mark("text", "stoptext", ((x, y),), text=stop.text, steps=stop.steps)


def _agent(pose: Pose, sheet: Drawing) -> Iterator[Mark]:
    title = f"robot, looking {direction(pose.yaw)}"

    def at(length: float, turn: float) -> Point:
        angle = math.radians(pose.yaw + turn)
        x, z = pose.x + length * math.sin(angle), pose.z + length * math.cos(angle)
        return sheet.place(x, z)

    middle = sheet.place(pose.x, pose.z)
    wedge = tuple(at(1.0, turn) for turn in range(-45, 46, 9))
    yield Mark("area", "view", (middle, *wedge))
    yield Mark("disc", "agent", (middle, at(_BODY, 90)), title=title)
    yield Mark("area", "stoptext", (at(0.16, 0), at(0.14, 140), at(0.05, 180), at(0.14, 220)))


def direction(yaw: float) -> str:
    """Return the direction of a yaw on the plan, such as `up (+z)` or a number of degrees."""
    names = {0: "up (+z)", 90: "right (+x)", 180: "down (-z)", 270: "left (-x)"}
    return names.get(round(yaw) % 360, f"{yaw:.0f} degrees from up, clockwise")


def _labels(
    plan: FloorPlan, sheet: Drawing, wanted: str | Collection[str], route_stops: Sequence[Stop]
) -> Iterator[Mark]:
    taken = [(*sheet.place(h.x, h.z), LETTER * len(h.text) / 2 + 5, 9.0) for h in route_stops]
    taken.append((*sheet.place(plan.agent.x, plan.agent.z), 20.0, 20.0))
    for shape in sorted(plan.shapes, key=lambda s: (-s.box.footprint, s.name)):
        if not _named(shape, wanted):
            continue
        half = LETTER * len(shape.name) / 2
        x, y = sheet.place(shape.box.center[0], shape.box.center[2])
        down = (shape.box.z1 - shape.box.z0) * sheet.scale / 2 + 9
        places = [(x, y), (x, y - down), (x, y + down)]
        # A centred name would cover a small object.
        if shape.kind is ObjectKind.SMALL:
            places = [(x, y - down), (x, y + down), (x + half + 12, y), (x - half - 12, y)]
        for wished, py in places:
            px = min(max(wished, half + 2), sheet.width - half - 2)
            if not any(abs(px - a) < half + w + 2 and abs(py - b) < 7 + h for a, b, w, h in taken):
                taken.append((px, py, half, 7.0))
                yield Mark("text", "label", ((px, py),), text=shape.name, name=shape.name)
                break


def _named(shape: Shape, wanted: str | Collection[str]) -> bool:
    if shape.kind is ObjectKind.FLOOR or wanted == "none":
        return False
    if wanted == "all":
        return True
    if wanted == "main":
        small = (
            shape.kind in (ObjectKind.SMALL, ObjectKind.STORAGE, ObjectKind.FIXTURE)
            or shape.overhead
        )
        inner = shape.object_type.endswith("Basin")
        return not small and not inner and shape.box.footprint > 0.05
    return shape.name in wanted


def _foot(sheet: Drawing) -> Iterator[Mark]:
    y = sheet.height - 14
    ends = ((12.0, y), (12.0 + sheet.scale, y))
    yield Mark("line", "scale", ((12.0, y - 4), *ends, (12.0 + sheet.scale, y - 4)))
    yield Mark("text", "label", ((30.0 + sheet.scale, y),), text="1 m")


# Style --------------------------------------------------------------------------------------------


class MarkStyle(NamedTuple):
    """The style of a mark: colours as `#rrggbb` or empty, width and dash lengths in pixels."""

    fill: str = ""
    line: str = ""
    width: float = 1.0
    dash: tuple[float, ...] = ()


LIGHT: Mapping[str, MarkStyle] = {
    "ground": MarkStyle("#e9ecf0"),
    "walkable": MarkStyle("#fbfaf6"),
    "dot": MarkStyle("#c3c8cf"),
    "floor": MarkStyle("#f3f1ea", "#b9bec6"),
    "surface": MarkStyle("#dccbb0", "#a08a64"),
    "furniture": MarkStyle("#cfd8c4", "#7d8f68"),
    "storage": MarkStyle("", "#8a6d3b", 1.0, (5.0, 3.0)),
    "overhead": MarkStyle("", "#8a93a0", 1.0, (2.0, 3.0)),
    "basin": MarkStyle("#b9dcec", "#4f8aa3"),
    "appliance": MarkStyle("#c7cdd6", "#4c5664", 1.4),
    "fixture": MarkStyle("#dde7ee", "#7b93a5"),
    "small": MarkStyle("#e8a33d", "#8a5508"),
    "enclosed": MarkStyle("", "#b57a2a", 1.0, (2.0, 2.0)),
    "hot": MarkStyle("#d8503f", "#8a2318"),
    "cold": MarkStyle("#4d8fd0", "#1f4f82"),
    "lit": MarkStyle("#f2c94c", "#8a6a00"),
    "cooked": MarkStyle("#8a5a2b", "#4a2b18"),
    "cut": MarkStyle("", "#24292f", 1.5),
    "liquid": MarkStyle("#4a2b18"),
    "door": MarkStyle("", "#8a4b08", 3.0),
    "way": MarkStyle("", "#6a3d9a", 2.5),
    "jump": MarkStyle("", "#6a3d9a", 1.8, (7.0, 5.0)),
    "stop": MarkStyle("#6a3d9a", "#ffffff", 1.5),
    "bad": MarkStyle("#c22f1f", "#ffffff", 1.5),
    "stoptext": MarkStyle("#ffffff"),
    "view": MarkStyle("#0072b2"),
    "agent": MarkStyle("#0072b2", "#ffffff", 1.5),
    "label": MarkStyle("#1c1e21"),
    "scale": MarkStyle("", "#59616c", 1.5),
}
"""Styles of marks in light mode, by class."""

_NIGHT: Mapping[str, tuple[str, str]] = {
    "ground": ("#0f1215", ""),
    "walkable": ("#262b31", ""),
    "dot": ("#4c545e", ""),
    "floor": ("#1d2126", "#3a4048"),
    "surface": ("#4d4330", "#8f7c57"),
    "furniture": ("#38442e", "#7f9268"),
    "storage": ("", "#b99a62"),
    "overhead": ("", "#78828f"),
    "basin": ("#214a5c", "#6aa9c4"),
    "appliance": ("#424a55", "#a2abb6"),
    "fixture": ("#2a353d", "#7b93a5"),
    "small": ("#d08f2e", "#ffd9a0"),
    "enclosed": ("", "#d9a24e"),
    "cut": ("", "#efece6"),
    "door": ("", "#f0a04b"),
    "way": ("", "#b79ae0"),
    "jump": ("", "#b79ae0"),
    "stop": ("#7a52ad", "#15181c"),
    "bad": ("#d4402f", "#15181c"),
    "view": ("#4aa3df", ""),
    "agent": ("#4aa3df", "#15181c"),
    "label": ("#e6e8eb", ""),
    "scale": ("", "#a2abb6"),
}
"""Fill and outline in dark mode, for classes in which they differ from light mode."""

DARK: Mapping[str, MarkStyle] = {
    **LIGHT,
    **{name: LIGHT[name]._replace(fill=fill, line=line) for name, (fill, line) in _NIGHT.items()},
}
"""Styles of marks in dark mode, by class."""

FAINT: Mapping[str, float] = {"view": 0.16}
"""Opacity of translucent marks, by class."""


def css() -> str:
    """Return the style sheet of `.hvr-plan`; dark mode applies to screens but not to print."""
    light = "".join(_rule(name, f"{_paint(look)};{_pen(name)}") for name, look in LIGHT.items())
    dark = "".join(_rule(name, _paint(DARK[name])) for name in _NIGHT)
    night = f"@media screen and (prefers-color-scheme:dark){{{dark}}}"
    return f"{light}\n{night}\n{asset('hvr.runs.report.floor_plan', 'floor_plan.css')}"


def _rule(name: str, declarations: str) -> str:
    return f".hvr-plan .{name}{{{declarations}}}"


def _paint(look: MarkStyle) -> str:
    return f"fill:{look.fill or 'none'};stroke:{look.line or 'none'}"


def _pen(name: str) -> str:
    look = LIGHT[name]
    pen = f"stroke-width:{look.width:g}"
    if look.dash:
        pen += f";stroke-dasharray:{' '.join(f'{d:g}' for d in look.dash)}"
    if name in FAINT:
        pen += f";opacity:{FAINT[name]:g}"
    return pen


# SVG ----------------------------------------------------------------------------------------------


def svg(drawing: Drawing, *, standalone: bool = True) -> str:
    """Return the drawing as an `<svg>` element with tooltips.

    Args:
        standalone: True for a file with its own style and fixed size; False for part of a page that
            includes `css()` and scales the drawing.
    """
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    groups = (
        element("g", *map(mark_element, marks), class_=f"group-{name}")
        for name, marks in drawing.marks
        if marks
    )
    text = element(
        "svg",
        tooltip(drawing.title),
        element("style", css()) if standalone else "",
        *groups,
        xmlns=SVG,
        class_="hvr-plan",
        role="img",
        aria_label=drawing.title,
        viewBox=f"0 0 {width} {height}",
        width=width if standalone else None,
        height=height if standalone else None,
    )
    return text + ("\n" if standalone else "")


def mark_element(mark: Mark, *inner: str) -> str:
    name, geometry = _geometry(mark)
    markup = [*inner, escaped(mark.text)] if mark.text else [*inner]
    if mark.title:
        markup.append(tooltip(mark.title))
    return element(
        name,
        *markup,
        class_=mark.look,
        data_name=mark.name or None,
        data_steps=" ".join(map(str, mark.steps)) or None,
        **geometry,
    )


def _geometry(mark: Mark) -> tuple[str, dict[str, Any]]:
    points, half = mark.points, mark.size / 2
    x, y = points[0]
    match mark.shape:
        case "rect":
            right, bottom = points[1]
            # lines thinner than a pixel would vanish
            size = {"width": max(right - x, 1.0), "height": max(bottom - y, 1.0)}
            return "rect", {"x": x, "y": y, **size, "rx": 9 if mark.rounded else None}
        case "disc":
            radius = max(abs(points[1][0] - x), abs(points[1][1] - y))
            return "circle", {"cx": x, "cy": y, "r": radius}
        case "cells" | "dots":
            edge = f"{mark.size:.1f}"
            path = "".join(
                f"M{px - half:.1f} {py - half:.1f}h{edge}v{edge}h-{edge}z" for px, py in points
            )
            return "path", {"d": path}
        case "text":
            centred = {"text_anchor": "middle", "dominant_baseline": "central"}
            return "text", {"x": x, "y": y, **centred}
        case _:
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            return "polygon" if mark.shape == "area" else "polyline", {"points": path}


# PNG ----------------------------------------------------------------------------------------------

_FINER = 2
_EXTRA = "pictures"


def write_png(drawing: Drawing, path: Path) -> None:
    """Write the drawing in light mode at twice its size.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    data = BytesIO()
    paint(drawing).save(data, format="PNG")
    write_whole(path, data.getvalue())


def paint(drawing: Drawing) -> Image:
    """Return the drawing as an RGB image at twice its size.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise MissingExtraError("pillow", _EXTRA) from error
    size = (max(1, round(drawing.width * _FINER)), max(1, round(drawing.height * _FINER)))
    image = Image.new("RGB", size, LIGHT["ground"].fill)
    for _, marks in drawing.marks:
        for mark in marks:
            if mark.look in FAINT:
                layer = image.copy()
                _draw_mark(ImageDraw.Draw(layer), mark)
                image = Image.blend(image, layer, FAINT[mark.look])
            else:
                _draw_mark(ImageDraw.Draw(image), mark)
    return image


def _draw_mark(pen: Any, mark: Mark) -> None:
    look = LIGHT[mark.look]
    points = [(x * _FINER, y * _FINER) for x, y in mark.points]
    fill, line = look.fill or None, look.line or None
    width = max(1, round(look.width * _FINER))
    half = mark.size * _FINER / 2
    match mark.shape:
        case "rect":
            box = [points[0], (max(points[1][0], points[0][0]), max(points[1][1], points[0][1]))]
            if look.dash:
                (x0, y0), (x1, y1) = box
                _dashes(pen, [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], look, width)
            elif mark.rounded:
                pen.rounded_rectangle(box, radius=9 * _FINER, fill=fill, outline=line, width=width)
            else:
                pen.rectangle(box, fill=fill, outline=line, width=width)
        case "disc":
            (x, y), (ex, ey) = points
            r = math.hypot(ex - x, ey - y)
            pen.ellipse([x - r, y - r, x + r, y + r], fill=fill, outline=line, width=width)
        case "cells" | "dots":
            for x, y in points:
                pen.rectangle([x - half, y - half, x + half, y + half], fill=fill)
        case "area":
            pen.polygon(points, fill=fill, outline=line)
        case "line" if look.dash:
            _dashes(pen, points, look, width)
        case "line":
            pen.line(points, fill=line, width=width)
        case "text":
            _write(pen, points[0], mark)


def _write(pen: Any, at: Point, mark: Mark) -> None:
    from PIL import ImageFont

    look = LIGHT[mark.look]
    font = ImageFont.load_default(size=11 * _FINER)
    # Use only characters of the built-in font; others would become boxes.
    text = mark.text.replace("–", "-").encode("latin-1", "replace").decode("latin-1")
    halo = {"stroke_width": 2, "stroke_fill": "#fbfaf6"} if mark.look == "label" else {}
    pen.text(at, text, fill=look.fill, font=font, anchor="mm", **halo)


def _dashes(pen: Any, points: list[Point], look: MarkStyle, width: int) -> None:
    lengths = [length * _FINER for length in look.dash]
    index, left, drawn = 0, lengths[0], True
    for (x0, y0), (x1, y1) in pairwise(points):
        total, at = math.dist((x0, y0), (x1, y1)), 0.0
        while at < total:
            to = min(total, at + left)
            if drawn:
                ends = [(x0 + (x1 - x0) * t / total, y0 + (y1 - y0) * t / total) for t in (at, to)]
                pen.line(ends, fill=look.line, width=width)
            left -= to - at
            at = to
            if left <= 1e-9:
                index = (index + 1) % len(lengths)
                left, drawn = lengths[index], not drawn

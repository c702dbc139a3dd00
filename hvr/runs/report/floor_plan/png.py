"""A drawing as PNG, painted by Pillow."""

from __future__ import annotations

import math
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import write_whole
from hvr.errors import MissingExtraError
from hvr.runs.report.floor_plan.drawing import FAINT, LIGHT, Drawing, Mark, MarkStyle, Point

if TYPE_CHECKING:
    from PIL.Image import Image

_FINER = 2
_EXTRA = "pictures"


def write_png(drawing: Drawing, path: Path) -> None:
    """Write the drawing in its light colours, two pixels for one.

    Raises:
        MissingExtraError: Pillow is not installed.
        DataFileError: the file cannot be written.
    """
    data = BytesIO()
    paint(drawing).save(data, format="PNG")
    write_whole(path, data.getvalue())


def paint(drawing: Drawing) -> Image:
    """Return the drawing as an RGB image, two pixels for one.

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
                _paint(ImageDraw.Draw(layer), mark)
                image = Image.blend(image, layer, FAINT[mark.look])
            else:
                _paint(ImageDraw.Draw(image), mark)
    return image


def _paint(pen: Any, mark: Mark) -> None:
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
    # Only what the built-in font has; the rest would be boxes.
    text = mark.text.replace("–", "-").encode("latin-1", "replace").decode("latin-1")
    halo = {"stroke_width": 2, "stroke_fill": "#fbfaf6"} if mark.look == "label" else {}
    pen.text(at, text, fill=look.fill, font=font, anchor="mm", **halo)


def _dashes(pen: Any, points: list[Point], look: MarkStyle, width: int) -> None:
    """Draw a line through points, in dashes that go on round corners."""
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

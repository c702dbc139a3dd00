"""A drawing as SVG: text that needs no library, with a tooltip on everything."""

from __future__ import annotations

import re
from html import escape

from hvr.report.floor_plan.drawing import Drawing, Mark
from hvr.report.floor_plan.looks import css

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML does not allow, however it is written."""


def svg(drawing: Drawing, *, standalone: bool = True) -> str:
    """Return the drawing as an `<svg>` element.

    Args:
        drawing: what to write.
        standalone: with its own style and as large as drawn, for a file; False for a part of a
            page that has the style (`looks.css`) and scales it.
    """
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    size = f' width="{width}" height="{height}"' if standalone else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hvr-plan" role="img" '
        f'aria-label="{quoted(drawing.title)}" viewBox="0 0 {width} {height}"{size}>'
        f"<title>{quoted(drawing.title)}</title>"
    )
    style = f"<style>{css()}</style>" if standalone else ""
    groups = [
        f'<g class="group-{name}">{"".join(map(_mark, marks))}</g>'
        for name, marks in drawing.marks
        if marks
    ]
    return f"{head}{style}{''.join(groups)}</svg>" + ("\n" if standalone else "")


def quoted(text: str) -> str:
    """Text that may stand anywhere in XML: escaped, without characters that XML forbids."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def _mark(mark: Mark) -> str:
    attributes = f'class="{mark.look}"'
    if mark.name:
        attributes += f' data-name="{quoted(mark.name)}"'
    if mark.steps:
        attributes += f' data-steps="{" ".join(map(str, mark.steps))}"'
    tag, geometry, content = _shape(mark)
    content += f"<title>{quoted(mark.title)}</title>" if mark.title else ""
    start = f"<{tag} {attributes} {geometry}"
    return f"{start}>{content}</{tag}>" if content else f"{start}/>"


def _shape(mark: Mark) -> tuple[str, str, str]:
    """Tag, geometry and content."""
    points, half = mark.points, mark.size / 2
    x, y = points[0]
    match mark.shape:
        case "rect":
            right, bottom = points[1]
            round_ = ' rx="9"' if mark.look in ("stop", "bad") else ""
            size = f'width="{max(right - x, 1.0):.1f}" height="{max(bottom - y, 1.0):.1f}"'
            return "rect", f'x="{x:.1f}" y="{y:.1f}" {size}{round_}', ""
        case "disc":
            radius = max(abs(points[1][0] - x), abs(points[1][1] - y))
            return "circle", f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"', ""
        case "cells" | "dots":
            edge = f"{mark.size:.1f}"
            path = "".join(
                f"M{px - half:.1f} {py - half:.1f}h{edge}v{edge}h-{edge}z" for px, py in points
            )
            return "path", f'd="{path}"', ""
        case "text":
            where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central"'
            return "text", where, quoted(mark.text)
        case _:
            tag = "polygon" if mark.shape == "area" else "polyline"
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            return tag, f'points="{path}"', ""

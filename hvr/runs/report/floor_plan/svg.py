"""A drawing as SVG: text that needs no library, with a tooltip on everything."""

from __future__ import annotations

from typing import Any

from hvr.runs.report.floor_plan.drawing import Drawing, Mark
from hvr.runs.report.floor_plan.looks import css
from hvr.runs.report.markup import SVG, element, escaped, tooltip


def svg(drawing: Drawing, *, standalone: bool = True) -> str:
    """Return the drawing as an `<svg>` element.

    Args:
        drawing: what to write.
        standalone: with its own style and as large as drawn, for a file; False for a part of a
            page that has the style (`looks.css`) and scales it.
    """
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    groups = (
        element("g", *map(_element, marks), class_=f"group-{name}")
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


def _element(mark: Mark) -> str:
    name, geometry = _geometry(mark)
    markup = [escaped(mark.text)] if mark.text else []
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
    """Return the element that has the shape of a mark, and the attributes that place it."""
    points, half = mark.points, mark.size / 2
    x, y = points[0]
    match mark.shape:
        case "rect":
            right, bottom = points[1]
            # What is thinner than a pixel would vanish.
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

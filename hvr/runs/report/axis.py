"""A time axis for SVG pictures, and the style that pictures over time share."""

from __future__ import annotations

from math import ceil, floor, log10

from hvr.runs.report.markup import element, escaped

STYLE = (
    ".paper{fill:#fff}text{font:12px sans-serif;fill:#222}.name{font-weight:bold}"
    ".title{font-size:14px}.grid{stroke:#ddd}"
    "@media(prefers-color-scheme:dark){.paper{fill:#16191d}text{fill:#e6e6e6}.grid{stroke:#3a3f45}}"
)


def time_axis(end: float, left: float, width: float, y: float, unit: str = "time") -> str:
    """Return a horizontal axis from 0 to `end` with about six numbers.

    Args:
        end: Time at the right end, above 0.
        left, width: Extent of the axis in pixels.
        y: Vertical position in pixels.
        unit: Word below the right end.
    """
    parts = [line("grid", (left, y), (left + width, y))]
    step = round_step(end / 6)
    for number in range(floor(end / step + 1e-9) + 1):
        x = float(left + width * number * step / end)
        parts.append(line("grid", (x, y), (x, y + 4)))
        parts.append(element("text", f"{number * step:.6g}", x=x, y=y + 18, text_anchor="middle"))
    parts.append(element("text", escaped(unit), x=left + width, y=y + 34, text_anchor="end"))
    return "".join(parts)


def line(kind: str, start: tuple[float, float], end: tuple[float, float], inside: str = "") -> str:
    """Return a line of a class, with markup inside it, such as a tooltip."""
    x1, y1, x2, y2 = (float(number) for number in (*start, *end))
    return element("line", *([inside] if inside else ()), class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def round_step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, 50, … and their parts that is not smaller."""
    scale = 10.0 ** floor(log10(least))
    factor = next(f for f in (1, 2, 5, 10) if ceil(least / scale * 1e9) <= f * 1e9 + 1)
    return scale * factor

"""Colours and lines of a floor plan, for light and for dark surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hvr.runs.report.markup import asset


class MarkStyle(NamedTuple):
    """The style of a mark.

    Args:
        fill: `#rrggbb`, or empty for none.
        line: colour of the outline, or empty for none.
        width: of the outline, pixels.
        dash: lengths of dashes and gaps, pixels; empty for a solid line.
    """

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
"""By the class of a mark."""

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
    "way": ("", "#b79ae0"),
    "jump": ("", "#b79ae0"),
    "stop": ("#7a52ad", "#15181c"),
    "bad": ("#d4402f", "#15181c"),
    "view": ("#4aa3df", ""),
    "agent": ("#4aa3df", "#15181c"),
    "label": ("#e6e8eb", ""),
    "scale": ("", "#a2abb6"),
}
"""Fill and outline of the classes that look otherwise by night."""

DARK: Mapping[str, MarkStyle] = {
    **LIGHT,
    **{name: LIGHT[name]._replace(fill=fill, line=line) for name, (fill, line) in _NIGHT.items()},
}
"""The same classes by night."""

FAINT: Mapping[str, float] = {"view": 0.16}
"""Classes that what lies below shines through, with their opacity."""


def css() -> str:
    """Return the style of `.hvr-plan`: dark where the reader prefers dark, paper stays white."""
    light = "".join(_rule(name, f"{_paint(look)};{_pen(name)}") for name, look in LIGHT.items())
    dark = "".join(_rule(name, _paint(DARK[name])) for name in _NIGHT)
    night = f"@media screen and (prefers-color-scheme:dark){{{dark}}}"
    return f"{light}\n{night}\n{asset('hvr.runs.report.floor_plan', 'floor_plan.css')}"


def _rule(name: str, declarations: str) -> str:
    return f".hvr-plan .{name}{{{declarations}}}"


def _paint(look: MarkStyle) -> str:
    return f"fill:{look.fill or 'none'};stroke:{look.line or 'none'}"


def _pen(name: str) -> str:
    """Return what is the same by day and by night."""
    look = LIGHT[name]
    pen = f"stroke-width:{look.width:g}"
    if look.dash:
        pen += f";stroke-dasharray:{' '.join(f'{d:g}' for d in look.dash)}"
    if name in FAINT:
        pen += f";opacity:{FAINT[name]:g}"
    return pen

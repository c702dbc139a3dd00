"""Colours and lines of a floor plan, for light and for dark surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class MarkStyle(NamedTuple):
    """How a mark is painted.

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

DARK: Mapping[str, MarkStyle] = {
    **LIGHT,
    "ground": MarkStyle("#0f1215"),
    "walkable": MarkStyle("#262b31"),
    "dot": MarkStyle("#4c545e"),
    "floor": MarkStyle("#1d2126", "#3a4048"),
    "surface": MarkStyle("#4d4330", "#8f7c57"),
    "furniture": MarkStyle("#38442e", "#7f9268"),
    "storage": MarkStyle("", "#b99a62", 1.0, (5.0, 3.0)),
    "overhead": MarkStyle("", "#78828f", 1.0, (2.0, 3.0)),
    "basin": MarkStyle("#214a5c", "#6aa9c4"),
    "appliance": MarkStyle("#424a55", "#a2abb6", 1.4),
    "fixture": MarkStyle("#2a353d", "#7b93a5"),
    "small": MarkStyle("#d08f2e", "#ffd9a0"),
    "enclosed": MarkStyle("", "#d9a24e", 1.0, (2.0, 2.0)),
    "way": MarkStyle("", "#b79ae0", 2.5),
    "jump": MarkStyle("", "#b79ae0", 1.8, (7.0, 5.0)),
    "stop": MarkStyle("#7a52ad", "#15181c", 1.5),
    "bad": MarkStyle("#d4402f", "#15181c", 1.5),
    "view": MarkStyle("#4aa3df"),
    "agent": MarkStyle("#4aa3df", "#15181c", 1.5),
    "label": MarkStyle("#e6e8eb"),
    "scale": MarkStyle("", "#a2abb6", 1.5),
}
"""The same classes by night."""

FAINT: Mapping[str, float] = {"view": 0.16}
"""Classes that what lies below shines through, with their opacity."""


def css(root: str = ".hvr-plan") -> str:
    """Return the looks as style rules below `root`, dark where the reader prefers dark; white
    paper.
    """
    light, dark = _rules(LIGHT, root), _rules(DARK, root, LIGHT)
    text = (
        f"{root} text{{font:12px system-ui,sans-serif}}"
        f"{root} .stoptext{{font-size:11px;font-weight:700}}"
        f"{root} .label{{paint-order:stroke;stroke-width:2.5px;stroke-linejoin:round;"
        "stroke:#fbfaf6;stroke-opacity:.75}"
    )
    night = f"{dark}{root} .label{{stroke:#15181c}}"
    return f"{light}{text}@media screen and (prefers-color-scheme:dark){{{night}}}"


def _rules(
    looks: Mapping[str, MarkStyle], root: str, base: Mapping[str, MarkStyle] | None = None
) -> str:
    parts = []
    for name, look in looks.items():
        if base is not None and base[name] == look:
            continue
        rule = f"fill:{look.fill or 'none'};stroke:{look.line or 'none'}"
        if base is None:
            rule += f";stroke-width:{look.width:g}"
            if look.dash:
                rule += f";stroke-dasharray:{' '.join(f'{d:g}' for d in look.dash)}"
            if name in FAINT:
                rule += f";opacity:{FAINT[name]:g}"
        parts.append(f"{root} .{name}{{{rule}}}")
    return "".join(parts)

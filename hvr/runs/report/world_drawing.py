"""The drawing of a world: the tree of its types with objects, its facts and its actions."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.execution.facts.overview import Overview
from hvr.runs.report.markup import SVG, element, escaped, tooltip

_ROW, _INDENT, _LETTER, _GAP = 22, 24, 7.2, 40
_STYLE = "text{font:13px sans-serif;fill:#222}.head{font-weight:bold}.pddl{fill:#667}"


def draw_world(view: Overview) -> str:
    """Return an SVG picture: types on the left, facts in the middle, actions on the right."""
    columns = [
        [("types", "head", "", 0), *_types(view)],
        [("facts", "head", "", 0), *((words, "", pddl, 0) for words, pddl in view.facts),
         *((number, "pddl", "a number", 0) for number in view.numbers)],
        [("actions", "head", "", 0), *((words, "", pddl, 0) for words, pddl in view.actions)],
    ]  # fmt: skip
    parts: list[str] = []
    x = 20.0
    for rows in columns:
        width = 0.0
        for number, (text, kind, hint, depth) in enumerate(rows):
            left = x + depth * _INDENT
            y = 54.0 + number * _ROW
            if depth:
                way = f"M{left - 14:.1f} {y - 18:.1f}V{y - 4:.1f}H{left - 4:.1f}"
                parts.append(element("path", d=way, fill="none", stroke="#99a"))
            hover = tooltip(hint) if hint else ""
            parts.append(element("text", hover + escaped(text), x=left, y=y, class_=kind or None))
            width = max(width, len(text) * _LETTER + depth * _INDENT)
        x += width + _GAP
    height = 54.0 + max(map(len, columns)) * _ROW
    title = element("text", escaped(view.name), x=20.0, y=26.0, class_="head")
    back = element("rect", width=x, height=height, fill="#fff")
    style = element("style", _STYLE)
    return element(
        "svg", style, back, title, *parts,
        xmlns=SVG, width=x, height=height, viewBox=f"0 0 {x:.1f} {height:.1f}",
    )  # fmt: skip


def _types(view: Overview) -> Iterator[tuple[str, str, str, int]]:
    for node in view.types:
        objects = f": {', '.join(node.objects)}" if node.objects else ""
        yield (
            f"{node.name}{objects}",
            "",
            f"a kind of {node.parent}" * bool(node.parent),
            node.depth,
        )

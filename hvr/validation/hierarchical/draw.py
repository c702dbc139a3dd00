"""Plans with their decomposition as text, as a picture and as JSON values.

None of them recurses: tasks that go on with themselves make trees as deep as the plan is long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

from hvr.pddl.hierarchy.plan import HierarchicalPlan
from hvr.pddl.hierarchy.tree import Tree

_MOST_LEVELS = 40
_ROW, _COLUMN, _MARGIN = 22, 20, 14


def draw_tree(plan: HierarchicalPlan) -> str:
    """Draw a plan as text: tasks with their methods, actions with their place in the plan."""
    tree = Tree(plan)
    return "".join(f"{_branch(lasts)}{_words(tree, node)}\n" for node, lasts, _ in _rows(tree))


def draw_svg(plan: HierarchicalPlan) -> str:
    """Draw a plan as an SVG picture: a row for each task and action, below what it is part of."""
    tree = Tree(plan)
    lines: list[str] = []
    place: dict[int, int] = {}
    widest = 0
    row = 0
    for row, (node, lasts, parent) in enumerate(_rows(tree), 1):
        x, y = _MARGIN + _COLUMN * min(len(lasts), _MOST_LEVELS), _ROW * row
        place[row] = y
        text = _words(tree, node)
        widest = max(widest, x + 8 * len(text))
        if parent:
            left = x - _COLUMN + 4
            lines.append(f'<path d="M{left} {place[parent] + 5}V{y - 4}H{x - 4}"/>')
        kind = "action" if node < tree.actions else "task"
        lines.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>')
    size = f'width="{widest + _MARGIN}" height="{_ROW * row + _MARGIN}"'
    style = (
        "text{font:13px sans-serif;fill:#222}.action{fill:#0b5394;font-weight:bold}"
        "path{fill:none;stroke:#999}"
    )
    title = f"<title>{escape(plan.file)}</title>"
    body = "\n".join((title, f"<style>{style}</style>", *lines))
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>\n{body}\n</svg>\n'


def plan_to_values(plan: HierarchicalPlan) -> dict[str, Any]:
    """Return a plan as JSON values; tasks refer to their subtasks by identifier."""
    tree = Tree(plan)
    return {
        "root": [tree.line(child).identifier for child in tree.children[tree.root]],
        "actions": [{"id": line.identifier, "action": str(line)} for line in plan.actions],
        "tasks": [
            {
                "id": line.identifier,
                "task": str(line),
                "method": line.method,
                "subtasks": list(line.subtasks),
            }
            for line in map(tree.line, range(tree.actions, tree.root))
        ],
    }


def _rows(tree: Tree) -> Iterator[tuple[int, tuple[bool, ...], int]]:
    """Yield each node below the root with, for each level, if it is the last; and its parent's row.

    A node that was there before, in a plan that is no tree, is not gone into again.
    """
    seen: set[int] = set()
    top = tree.children[tree.root]
    open_: list[tuple[int, tuple[bool, ...], int]] = []
    for i in range(len(top) - 1, -1, -1):
        open_.append((top[i], (i == len(top) - 1,), 0))
    row = 0
    while open_:
        node, lasts, parent = open_.pop()
        row += 1
        yield node, lasts[1:], parent
        if node in seen:
            continue
        seen.add(node)
        below = tree.children[node]
        for i in range(len(below) - 1, -1, -1):
            # Of very deep trees only the last levels are kept.
            deeper = (*lasts[-_MOST_LEVELS:], i == len(below) - 1)
            open_.append((below[i], deeper, row))


def _branch(lasts: tuple[bool, ...]) -> str:
    if not lasts:
        return ""
    bars = "".join("   " if last else "│  " for last in lasts[:-1])
    return f"{bars}{'└─ ' if lasts[-1] else '├─ '}"


def _words(tree: Tree, node: int) -> str:
    line = tree.line(node)
    if node < tree.actions:
        return f"{node + 1}. {line}"
    return f"{line} by {line.method}"

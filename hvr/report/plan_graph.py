"""A plan graph as an SVG picture, its risks coloured."""

from __future__ import annotations

from html import escape

from hvr.verifier.graph import START, PlanGraph
from hvr.verifier.verdict import Verdict

_WIDE, _HIGH, _GAP_X, _GAP_Y, _EDGE = 190, 58, 60, 26, 24
_TOP = 64
_LONGEST = 24


def draw(verdict: Verdict) -> str:
    """Return the plan from left to right, each step below its column's others.

    A step or link is the redder the riskier; those above their threshold have a thick outline
    and say their risk. Colours are not all there is: every box and link has its figures as a
    title.

    Returns:
        A whole SVG document.
    """
    graph = verdict.graph
    places = _places(graph)
    columns = 1 + max(x for x, _ in places)
    rows = 1 + max(y for _, y in places)
    width = 2 * _EDGE + 90 + columns * (_WIDE + _GAP_X)
    height = _TOP + _EDGE + rows * (_HIGH + _GAP_Y)
    found = "accepted" if verdict.accepted else "look at it again"
    said = f"score {verdict.score:.2f}, threshold {verdict.thresholds.graph:.2f}: {found}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(graph.request or graph.id)}: {escape(said)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="context-stroke"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_EDGE}" y="26" font-size="15">{escape(_short(graph.request, 110))}</text>',
        f'<text x="{_EDGE}" y="46" fill="#555">{escape(said)}</text>',
    ]
    corner = [(_EDGE + 90 + x * (_WIDE + _GAP_X), _TOP + y * (_HIGH + _GAP_Y)) for x, y in places]
    start = (_EDGE, _TOP)
    for (source, target), risk in zip(graph.all_edges, verdict.edge_risks, strict=True):
        a = (start[0] + 56, start[1] + _HIGH // 2) if source == START else (
            corner[source][0] + _WIDE, corner[source][1] + _HIGH // 2
        )  # fmt: skip
        lines.append(_link(a, (corner[target][0], corner[target][1] + _HIGH // 2), risk, verdict))
    lines.append(
        f'<g><rect x="{start[0]}" y="{start[1] + 12}" width="56" height="{_HIGH - 24}" rx="17" '
        f'fill="#eee" stroke="#555"/><text x="{start[0] + 28}" y="{start[1] + _HIGH // 2 + 5}" '
        'text-anchor="middle">Start</text></g>'
    )
    for i, (node, risk) in enumerate(zip(graph.nodes, verdict.node_risks, strict=True)):
        lines.append(_box(i, node.tool, node.text, risk, corner[i], verdict))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _places(graph: PlanGraph) -> list[tuple[int, int]]:
    """Return column and row of each node: the column is the length of the longest way to it."""
    column = [0] * len(graph.nodes)
    for node in graph.order:
        column[node] = max((column[b] + 1 for b in graph.before(node)), default=0)
    used: dict[int, int] = {}
    places = [(0, 0)] * len(graph.nodes)
    for node in graph.order:
        row = used.get(column[node], 0)
        used[column[node]] = row + 1
        places[node] = (column[node], row)
    return places


def _box(
    number: int, tool: str, text: str, risk: float, at: tuple[int, int], verdict: Verdict
) -> str:
    risky = risk >= verdict.thresholds.node
    x, y = at
    title = escape(f"{number + 1}. {tool}: {text} (risk {risk:.2f})")
    mark = (
        f'<text x="{x + _WIDE - 8}" y="{y + 20}" text-anchor="end" font-weight="bold">'
        f"{risk:.2f}</text>"
        if risky
        else ""
    )
    return (
        f"<g><title>{title}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" rx="6" fill="{_shade(risk)}" '
        f'stroke="{"#a00000" if risky else "#555"}" stroke-width="{3 if risky else 1}"/>'
        f'<text x="{x + 10}" y="{y + 22}" font-weight="bold">'
        f"{escape(_short(f'{number + 1}. {tool}', 18 if risky else _LONGEST))}</text>"
        f'<text x="{x + 10}" y="{y + 43}" font-size="11" fill="#333">'
        f"{escape(_short(text, 30))}</text>{mark}</g>"
    )


def _link(a: tuple[int, int], b: tuple[int, int], risk: float, verdict: Verdict) -> str:
    risky = risk >= verdict.thresholds.edge
    colour = "#c00000" if risky else "#777"
    half = (a[0] + b[0]) // 2
    told = (
        f'<text x="{half}" y="{(a[1] + b[1]) // 2 - 6}" text-anchor="middle" font-size="11" '
        f'fill="#a00000">{risk:.2f}</text>'
        if risky
        else ""
    )
    return (
        f"<g><title>risk {risk:.2f}</title>"
        f'<path d="M{a[0]} {a[1]} C{half} {a[1]} {half} {b[1]} {b[0]} {b[1]}" fill="none" '
        f'stroke="{colour}" stroke-width="{3 if risky else 1.5}" marker-end="url(#tip)"/>'
        f"{told}</g>"
    )


def _shade(risk: float) -> str:
    """White for no risk, light red for certain risk; black text is readable on all of it."""
    other = round(255 - 110 * max(0.0, min(1.0, risk)))
    return f"#ff{other:02x}{other:02x}"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"

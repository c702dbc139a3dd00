"""The plan graph of a verdict, with coloured risks."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.judging.verifier.graph import START, PlanGraph
from hvr.judging.verifier.verdict import Verdict
from hvr.runs.report.charts import element, escaped, rectangle, svg_document, tooltip

# Plan graph ---------------------------------------------------------------------------------------

_WIDE, _HIGH, _GAP_X, _GAP_Y, _EDGE = 190, 58, 60, 26, 24
_TOP = 64
_START = 56
"""Width of the start node."""
_FIRST = _EDGE + 90
"""Left edge of the first column."""
_LONGEST = 24

Point = tuple[int, int]


def draw_plan_graph(verdict: Verdict) -> str:
    """Return the plan graph as an SVG document, from left to right.

    Riskier steps and links are redder; those above their threshold have a thick outline and show
    their risk. Every node and link also has its figures in a tooltip.
    """
    graph = verdict.graph
    places = _places(graph)
    width = _FIRST + _EDGE + (1 + max(x for x, _ in places)) * (_WIDE + _GAP_X)
    height = _TOP + _EDGE + (1 + max(y for _, y in places)) * (_HIGH + _GAP_Y)
    corners = [(_FIRST + x * (_WIDE + _GAP_X), _TOP + y * (_HIGH + _GAP_Y)) for x, y in places]
    # Nodes come after links, so that no link crosses a text.
    parts = [*_head(verdict), *_links(verdict, corners), _start(), *_boxes(verdict, corners)]
    return svg_document(*parts, width=width, height=height, font_family="sans-serif", font_size=13)


def _places(graph: PlanGraph) -> list[Point]:
    """Return column and row of each node; the column is the length of the longest path to it."""
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


def _head(verdict: Verdict) -> Iterator[str]:
    graph = verdict.graph
    judgement = "accepted" if verdict.accepted else "needs review"
    score = f"score {verdict.score:.2f}, threshold {verdict.thresholds.graph:.2f}: {judgement}"
    yield tooltip(f"{graph.request or graph.id}: {score}")
    tip = element("path", d="M0 0 L8 4 L0 8 z", fill="context-stroke")
    yield element(
        "defs",
        element(
            "marker",
            tip,
            id="tip",
            viewBox="0 0 8 8",
            refX=7,
            refY=4,
            markerWidth=8,
            markerHeight=8,
            markerUnits="userSpaceOnUse",
            orient="auto",
        ),
    )
    yield element("rect", width="100%", height="100%", fill="white")
    yield element("text", escaped(_short(graph.request, 110)), x=_EDGE, y=26, font_size=15)
    yield element("text", escaped(score), x=_EDGE, y=46, fill="#555")


def _start() -> str:
    place = _EDGE, _TOP + 12, _START, _HIGH - 24
    box = rectangle(*place, rx=17, fill="#eee", stroke="#555")
    middle = _EDGE + _START // 2
    label = element("text", "Start", x=middle, y=_TOP + _HIGH // 2 + 5, text_anchor="middle")
    return element("g", box, label)


def _boxes(verdict: Verdict, corners: list[Point]) -> Iterator[str]:
    nodes = zip(verdict.graph.nodes, verdict.node_risks, corners, strict=True)
    for number, (node, risk, corner) in enumerate(nodes, start=1):
        risky = risk >= verdict.thresholds.node
        yield _box(f"{number}. {node.tool}", node.text, risk, risky, corner)


def _box(name: str, text: str, risk: float, risky: bool, corner: Point) -> str:
    x, y = corner
    outline = {"stroke": "#a00000", "stroke_width": 3} if risky else {"stroke": "#555"}
    parts = [
        tooltip(f"{name}: {text} (risk {risk:.2f})"),
        rectangle(x, y, _WIDE, _HIGH, rx=6, fill=_shade(risk), **outline),
        # A risky step shows its risk in the corner, which leaves less room for its name.
        _label(x + 10, y + 22, _short(name, 18 if risky else _LONGEST), font_weight="bold"),
        _label(x + 10, y + 43, _short(text, 30), font_size=11, fill="#333"),
    ]
    if risky:
        end, figure = x + _WIDE - 8, f"{risk:.2f}"
        parts.append(_label(end, y + 20, figure, text_anchor="end", font_weight="bold"))
    return element("g", *parts)


def _links(verdict: Verdict, corners: list[Point]) -> Iterator[str]:
    for (source, target), risk in zip(verdict.graph.all_edges, verdict.edge_risks, strict=True):
        if source == START:
            out = (_EDGE + _START, _TOP + _HIGH // 2)
        else:
            out = (corners[source][0] + _WIDE, corners[source][1] + _HIGH // 2)
        into = (corners[target][0], corners[target][1] + _HIGH // 2)
        yield _link(out, into, risk, risk >= verdict.thresholds.edge)


def _link(a: Point, b: Point, risk: float, risky: bool) -> str:
    half = (a[0] + b[0]) // 2
    parts = [
        tooltip(f"risk {risk:.2f}"),
        element(
            "path",
            d=f"M{a[0]} {a[1]} C{half} {a[1]} {half} {b[1]} {b[0]} {b[1]}",
            fill="none",
            stroke="#c00000" if risky else "#777",
            stroke_width=3 if risky else 1.5,
            marker_end="url(#tip)",
        ),
    ]
    if risky:
        above = (a[1] + b[1]) // 2 - 6
        figure = f"{risk:.2f}"
        parts.append(
            _label(half, above, figure, text_anchor="middle", font_size=11, fill="#a00000")
        )
    return element("g", *parts)


def _label(x: int, y: int, text: str, **attributes: str | float) -> str:
    return element("text", escaped(text), x=x, y=y, **attributes)


def _shade(risk: float) -> str:
    other = round(255 - 110 * max(0.0, min(1.0, risk)))
    return f"#ff{other:02x}{other:02x}"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"

"""Pictures of graphs: plans with risks from a verdict, tools with links and failure rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from hvr.base.printable import one_line, short
from hvr.errors import HvrError, UsageError
from hvr.judging.verifier.graph import START, PlanGraph
from hvr.judging.verifier.verdict import Verdict
from hvr.runs.report.charts import (
    element,
    escaped,
    page,
    paragraph,
    rectangle,
    svg_document,
    table,
    tooltip,
)
from hvr.tools.navigation.graph import PRUNING, CallEvidence, Links, NavigationGraph, prune_score
from hvr.validation.report import count

# Verdicts -----------------------------------------------------------------------------------------
# The plan graph of a verdict, with coloured risks.

# Plan graph ---------------------------------------------------------------------------------------

_WIDE, _HIGH, _GAP_X, _GAP_Y, _EDGE = 190, 58, 60, 26, 24
_TOP = 64
_START = 56
"""Width of the start node, in pixels."""
_FIRST = _EDGE + 90
"""Left edge of the first column of nodes, in pixels."""
_LONGEST = 24

Point = tuple[int, int]


def draw_plan_graph(verdict: Verdict) -> str:
    """Return the graph of a plan as an SVG document, from left to right.

    Steps and links are redder the riskier they are. If a risk exceeds its threshold, the outline is
    thick and shows the risk. Tooltips contain the figures.
    """
    graph = verdict.graph
    places = _places(graph)
    width = _FIRST + _EDGE + (1 + max(x for x, _ in places)) * (_WIDE + _GAP_X)
    height = _TOP + _EDGE + (1 + max(y for _, y in places)) * (_HIGH + _GAP_Y)
    corners = [(_FIRST + x * (_WIDE + _GAP_X), _TOP + y * (_HIGH + _GAP_Y)) for x, y in places]
    # Draw nodes after links, so that no link crosses a text.
    parts = [*_head(verdict), *_links(verdict, corners), _start(), *_boxes(verdict, corners)]
    return svg_document(*parts, width=width, height=height, font_family="sans-serif", font_size=13)


def _places(graph: PlanGraph) -> list[Point]:
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


# Tool graph ---------------------------------------------------------------------------------------
# A navigation graph as an SVG picture and as a page: tools, links and success rates.

_WIDE_tool_graph, _HIGH_tool_graph, _GAP_X_tool_graph, _GAP_Y_tool_graph, _EDGE_tool_graph = (
    210,
    44,
    90,
    16,
    24,
)
_PER_COLUMN = 14
_COLUMNS = 6
MAX_DRAWN_TOOLS = 300
"""Maximum number of tools in a picture; the tools with the fewest calls are omitted."""


def draw_tool_graph(graph: NavigationGraph) -> str:
    """Return the tools and their observed links as an SVG document, from left to right.

    Tools are redder the more often they fail; tools without calls are grey, and removed tools
    dashed. Links are thicker the more often they were taken; links that follow only from compatible
    schemas are thin and grey. Tooltips contain all figures. Only the `MAX_DRAWN_TOOLS` tools with
    the most calls are drawn.
    """
    shown = sorted(graph.tools, key=lambda n: (-graph.tools[n].evidence.count, n))[:MAX_DRAWN_TOOLS]
    places = _places_tool_graph(graph, sorted(shown))
    links = [link for link in _links_tool_graph(graph) if {link.source, link.target} <= set(places)]
    wide = 2 * _EDGE_tool_graph + max((x for x, _ in places.values()), default=0) + _WIDE_tool_graph
    high = (
        _EDGE_tool_graph
        + max((y for _, y in places.values()), default=_EDGE_tool_graph)
        + _HIGH_tool_graph
    )
    left = len(graph.tools) - len(shown)
    more = f"; {left} more are not drawn" if left else ""
    parts = [
        element("rect", x=0, y=0, width=wide, height=high, fill="#fff"),
        element("text", escaped(f"{summary(graph)}{more}"), x=_EDGE_tool_graph, y=_EDGE_tool_graph),
        *(_arc(link, places) for link in links),
        *(_box_tool_graph(graph, name, place) for name, place in places.items()),
    ]
    return svg_document(*parts, width=wide, height=high, font_family="sans-serif", font_size=12)


def tool_graph_page(graph: NavigationGraph, note: str = "") -> str:
    """Return an HTML page with the picture and with tables of tools, links and parameters."""
    parts = [
        element("h1", "Tool graph"),
        element("p", escaped(summary(graph))),
        paragraph(note, "note"),
        element("figure", draw_tool_graph(graph), style="overflow:auto"),
        table(
            "Tools",
            _TOOL_HEAD,
            _tool_rows(graph),
            "Chance: success rate with one added success and failure; older calls count less. "
            "Prune: tools with the highest scores are removed first (above 0.7).",
        ),
        table("Calls after calls", _LINK_HEAD, _link_rows(graph.calls)),
        table("Values passed between calls", _LINK_HEAD, _link_rows(graph.passes)),
    ]
    return page("Tool graph", "\n".join(parts))


def summary(graph: NavigationGraph) -> str:
    """Return one line with the numbers of tools, links and calls in a graph."""
    calls = sum(tool.evidence.count for tool in graph.tools.values())
    failed = sum(tool.evidence.failures for tool in graph.tools.values())
    removed = [name for name, absence in graph.absent.items() if not absence.gone]
    gone = len(graph.absent) - len(removed)
    parts = [
        f"{count(len(graph.tools), 'tool')}, "
        + count(sum(1 for _ in graph.parameters()), "parameter"),
        f"{count(len(graph.inputs), 'input')} and {count(len(graph.outputs), 'output')}",
        f"{count(len(graph.calls), 'call link')}, {count(len(graph.passes), 'value link')}",
        f"{count(calls, 'call')}, {failed} failed",
    ]
    if graph.absent:
        parts.append(f"{count(len(removed), 'tool')} removed, {gone} gone")
    return " · ".join(parts)


def state(graph: NavigationGraph, name: str) -> str:
    """Return a tool's status; it is empty for a tool in regular use.

    Otherwise, it is `untried`, `removed`, `on trial` (removed, but in use again for now) or `gone`
    (no longer exists).
    """
    absence = graph.absent.get(name)
    if absence is None:
        return "" if graph.tools[name].evidence.count else "untried"
    return "gone" if absence.gone else "on trial" if absence.trial else "removed"


@dataclass(frozen=True)
class _Link:
    source: str
    target: str
    evidence: CallEvidence | None = None


def _links_tool_graph(graph: NavigationGraph) -> Iterator[_Link]:
    seen = {(source, target) for source, target, _ in graph.calls}
    for source, target in sorted(_feeding(graph) - seen):
        yield _Link(source, target)
    for source, target, evidence in graph.calls:
        yield _Link(source, target, evidence)


def _feeding(graph: NavigationGraph) -> set[tuple[str, str]]:
    return {
        (source, name)
        for name, tool in graph.tools.items()
        for parameter in tool.needs
        for source in graph.outputs.sources(parameter)
        if source != name
    }


def _places_tool_graph(
    graph: NavigationGraph, names: Sequence[str]
) -> Mapping[str, tuple[int, int]]:
    shown = set(names)
    depth: dict[str, int] = {}
    for column in range(_COLUMNS):
        ready = [
            name
            for name in names
            if name not in depth
            and all(
                not (givers := shown.intersection(graph.outputs.sources(p)) - {name})
                or givers & depth.keys()
                for p in graph.tools[name].needs
            )
        ]
        depth |= dict.fromkeys(ready, column)
    # tools in a cycle have no first one
    depth |= dict.fromkeys(shown - depth.keys(), 0)
    columns: dict[int, list[str]] = {}
    for name in names:
        columns.setdefault(depth[name], []).append(name)
    places: dict[str, tuple[int, int]] = {}
    at = _EDGE_tool_graph
    for _, together in sorted(columns.items()):
        for number, name in enumerate(together):
            x = at + number // _PER_COLUMN * (_WIDE_tool_graph + _GAP_X_tool_graph // 3)
            y = 2 * _EDGE_tool_graph + number % _PER_COLUMN * (_HIGH_tool_graph + _GAP_Y_tool_graph)
            places[name] = x, y
        at = max(x for x, _ in places.values()) + _WIDE_tool_graph + _GAP_X_tool_graph
    return places


def _box_tool_graph(graph: NavigationGraph, name: str, place: tuple[int, int]) -> str:
    tool, (x, y) = graph.tools[name], place
    evidence = tool.evidence
    absent = state(graph, name)
    figures = f"{evidence.successes} of {evidence.count} succeeded" if evidence.count else "untried"
    title = (
        f"{_name(name)}: {figures}, chance {evidence.weight:.2f}; needs "
        f"{_listed(tool.needs)}; gives {_listed(tool.gives)}{'; ' + absent if absent else ''}"
    )
    fill = _between(evidence.weight, _FILLS) if evidence.count else "#eee"
    dash = "5 3" if name in graph.absent else None
    return element(
        "g",
        tooltip(title),
        rectangle(
            x,
            y,
            _WIDE_tool_graph,
            _HIGH_tool_graph,
            rx=6,
            fill=fill,
            stroke="#444",
            stroke_dasharray=dash,
        ),
        element("text", escaped(short(_name(name), 30)), x=x + 8, y=y + 18),
        element("text", escaped(figures), x=x + 8, y=y + 35, fill="#333", font_size=11),
    )


def _arc(link: _Link, places: Mapping[str, tuple[int, int]]) -> str:
    (x1, y1), (x2, y2) = places[link.source], places[link.target]
    ends = f"{_name(link.source)} -> {_name(link.target)}"
    start, end = (x1 + _WIDE_tool_graph, y1 + _HIGH_tool_graph / 2), (x2, y2 + _HIGH_tool_graph / 2)
    bend = _GAP_X_tool_graph * (1.0 if end[0] > start[0] else 2.0)
    path = (
        f"M{start[0]} {start[1]:.0f} C{start[0] + bend:.0f} {start[1]:.0f} "
        f"{end[0] - bend:.0f} {end[1]:.0f} {end[0]} {end[1]:.0f}"
    )
    if link.evidence is not None:
        weight = link.evidence.weight
        title = f"{ends}: {link.evidence.successes} of {link.evidence.count}, chance {weight:.2f}"
        width, colour = min(1.0 + link.evidence.count / 5, 6.0), _between(weight, _LINES)
    else:
        title, width, colour = f"{ends}: by their schemas", 0.6, "#bbb"
    return element("path", tooltip(title), d=path, fill="none", stroke=colour, stroke_width=width)


_FILLS, _LINES = ("#f6c1bd", "#f7ecb5", "#c4e8c5"), ("#b3261e", "#b08800", "#1e7b2f")


def _between(weight: float, colours: tuple[str, str, str]) -> str:
    place = min(max(weight, 0.0), 1.0) * 2
    one, other = colours[int(place > 1)], colours[1 + int(place > 1)]
    share = place - int(place > 1)
    parts = (
        round((1 - share) * int(one[i : i + 2], 16) + share * int(other[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


_TOOL_HEAD = ("tool", "state", "calls", "succeeded", "chance", "last", "prune", "needs", "gives")
_LINK_HEAD = ("from", "to", "times", "succeeded", "chance", "last")


def _tool_rows(graph: NavigationGraph) -> Iterator[tuple[str, ...]]:
    most = max((tool.evidence.count for tool in graph.tools.values()), default=0)
    for name, tool in sorted(graph.tools.items()):
        evidence = tool.evidence
        yield (
            _name(name),
            state(graph, name),
            str(evidence.count),
            str(evidence.successes),
            f"{evidence.weight:.2f}",
            _date(evidence.last),
            f"{prune_score(tool, most, PRUNING):.2f}",
            _listed(tool.needs),
            _listed(tool.gives),
        )


def _link_rows(links: Links) -> Iterator[tuple[str, ...]]:
    for source, target, evidence in links:
        yield (
            _name(source),
            _name(target),
            str(evidence.count),
            str(evidence.successes),
            f"{evidence.weight:.2f}",
            _date(evidence.last),
        )


def _name(name: str) -> str:
    return short(one_line(name), 80)


def _listed(names: frozenset[str]) -> str:
    some = sorted(map(_name, names))
    more = f" and {len(some) - 8} more" if len(some) > 8 else ""
    return (", ".join(some[:8]) + more) or "nothing"


def _date(time: float) -> str:
    if not time:
        return "never"
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")


# Loopback server ----------------------------------------------------------------------------------

ADDRESS = "127.0.0.1"

Pages = Callable[[str], tuple[str, str] | None]
"""Returns the media type and text of the page at a path; None if no such page exists."""


def loopback_server(pages: Pages, port: int = 0) -> ThreadingHTTPServer:
    """Bind a server to the loopback address without starting it; port 0 selects a free port.

    Pages are generated for each request. Requests for another host name are rejected, so that other
    web pages cannot read the pages through a browser.

    Raises:
        UsageError: The port cannot be used.
    """
    handler = type("Handler", (_Handler,), {"pages": staticmethod(pages)})
    try:
        return ThreadingHTTPServer((ADDRESS, port), handler)
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {port} of {ADDRESS} cannot be used: {error}") from None


class _Handler(BaseHTTPRequestHandler):
    pages: Pages
    server_version = "hvr"
    sys_version = ""

    def do_GET(self) -> None:
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        if host not in (ADDRESS, "localhost"):
            self._send(403, "text/plain", "only available on this machine\n")
            return
        try:
            found = self.pages(urlsplit(self.path).path)
        except HvrError as error:
            # The log may be incomplete at the moment, and a later request may succeed.
            self._send(503, "text/plain", f"{error}\n")
            return
        if found is None:
            self._send(404, "text/plain", "page not found; available pages: / and /stats.json\n")
        else:
            self._send(200, *found)

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        del format, args

"""What the links of a plan say of it: its own, and those that its tools can have."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.judging.tool_calls.finding import CallFinding
from hvr.judging.verdict import Cause, CritiqueKind
from hvr.tools.asked import stems
from hvr.tools.known_tools import KnownTools
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import Link, ToolPlan


def link_findings(plan: ToolPlan, known: KnownTools | None) -> tuple[CallFinding, ...]:
    """Return the faults that the links of a plan show, in order of its calls."""
    found = list(_unmet(plan))
    if known is not None and known.linked and not found:
        found = list(_impossible(plan, known))
    return tuple(sorted(dict.fromkeys(found), key=lambda f: (f.at, f.kind is CritiqueKind.REMOVE)))


def _unmet(plan: ToolPlan) -> Iterator[CallFinding]:
    """Yield the tools that a link reads from and that are not called before its reader."""
    for source, target in dict.fromkeys(plan.links):
        places = [i for i, tool in enumerate(plan.tools) if tool == target]
        # A tool may be called again: it is enough that one of its calls can read the result.
        if not places or source == target or source in plan.tools[: places[-1]]:
            continue
        when = "only called after it" if source in plan.tools else "not called"
        reason = f"{target} reads the result of {source}, which is {when}"
        yield CallFinding(CritiqueKind.MISSING, places[0], reason, source)
        if source in plan.tools:
            late = plan.tools.index(source)
            yield _misplaced(late, places[0])


def _misplaced(at: int, before: int) -> CallFinding:
    reason = f"it belongs before call {before + 1}"
    return CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.CONTRADICTORY)


def _impossible(plan: ToolPlan, known: KnownTools) -> Iterator[CallFinding]:
    """Yield what explains links that the tools do not have."""
    graph = known.graph
    wrong = [link for link in dict.fromkeys(plan.links or plan.chain) if not graph.linked(*link)]
    explained: set[Link] = set()
    for at, tool in enumerate(plan.tools):
        around = [link for link in wrong if tool in link]
        if around and _dispensable(plan, graph, at):
            explained.update(around)
            reason = "its neighbours in the plan are linked without it, and not all with it"
            yield CallFinding(CritiqueKind.REMOVE, at, reason, cause=Cause.IRRELEVANT)
    for source, target in wrong:
        if (source, target) in explained or target not in plan.tools:
            continue
        place = plan.tools.index(target)
        if graph.linked(target, source):
            reason = f"the tools have the link {target} to {source}, and not the other way round"
            first = plan.tools.index(source)
            yield CallFinding(CritiqueKind.MISSING, first, reason, target)
            yield _misplaced(place, first)
            continue
        between = [
            tool for tool in graph.successors(source)
            if graph.linked(tool, target) and tool not in plan.tools
        ]  # fmt: skip
        if between:
            request = stems(plan.request)
            likely = max(between, key=lambda tool: len(stems(tool) & request))
            reason = f"{source} does not lead to {target}, and does by way of {likely}"
            yield CallFinding(CritiqueKind.MISSING, place, reason, likely)


def _dispensable(plan: ToolPlan, graph: ToolGraph, at: int) -> bool:
    """Return whether the plan's links are possible without a call, and not with it."""
    links = plan.links or plan.chain
    tool = plan.tools[at]
    before = [a for a, b in links if b == tool]
    after = [b for a, b in links if a == tool]
    if not before or not after:
        # The end of a chain: nothing shows whether it is needed.
        return False
    around = [graph.linked(a, tool) for a in before] + [graph.linked(tool, b) for b in after]
    return not all(around) and all(graph.linked(a, b) for a in before for b in after)

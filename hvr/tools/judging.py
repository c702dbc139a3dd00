"""The judge of plans over tools: calls whose result nothing reads, and look-ups that are missing.

The links of a plan say which call reads which result. Where it has none, types tell: a call reads
the results of those types that it takes. The last call is what the request is for.
"""

from __future__ import annotations

from hvr.judging.verdict import CausalLink, Cause, Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan


def judge_tool_plan(plan: ToolPlan, graph: ToolGraph | None = None) -> PlanVerdict:
    """Judge a plan over tools.

    Args:
        plan: the plan.
        graph: the tools, with their types; None where they are not known.
    """
    calls = tuple([GroundAction(tool) for tool in plan.tools])
    typed = graph is not None and graph.typed
    if not plan.links and not typed and len(calls) > 1:
        return PlanVerdict(
            calls, unknown=f"plan {plan.id} has no links, and its tools have no types"
        )
    critiques = []
    if graph is not None:
        unknown = [tool for tool in plan.tools if tool not in graph]
        if unknown:
            return PlanVerdict(calls, unknown=f"{unknown[0]!r} is not among the tools")
    readers = {i: _readers(plan, i, graph) for i in range(len(calls))}
    unread = {i for i in readers if i < len(calls) - 1 and not readers[i]}
    # What only unread calls read is read by nobody.
    more = True
    while more:
        only = {i for i in readers if i not in unread and readers[i] and readers[i] <= unread}
        more = bool(only)
        unread |= only
    for i in sorted(unread):
        result = CausalLink(f"the result of {plan.tools[i]}", tuple(sorted(readers[i])))
        critiques.append(
            Critique(
                CritiqueKind.REMOVE, i + 1, (calls[i],), "no call that is needed reads its result",
                Cause.IRRELEVANT, (result,),
            )
        )  # fmt: skip
    put_in: dict[int, list[GroundAction]] = {}
    for source, target in plan.links:
        if source not in plan.tools and target in plan.tools:
            at = plan.tools.index(target)
            missing = GroundAction(source)
            if at not in unread and missing not in put_in.setdefault(at, []):
                put_in[at].append(missing)
                reason = f"call {at + 1} {target} reads the result of {source}, which is not called"
                critiques.append(Critique(CritiqueKind.MISSING, at + 1, (missing,), reason))
    repaired = []
    for i, call in enumerate(calls):
        repaired += put_in.get(i, [])
        repaired += [call] if i not in unread else []
    critiques.sort(key=lambda c: (c.index, c.kind is CritiqueKind.REMOVE))
    return PlanVerdict(calls, tuple(critiques), tuple(repaired), valid=not critiques)


def _readers(plan: ToolPlan, index: int, graph: ToolGraph | None) -> frozenset[int]:
    """Return the calls that read the result of one."""
    tool = plan.tools[index]
    later = range(index + 1, len(plan.tools))
    if plan.links:
        targets = {target for source, target in plan.links if source == tool}
        return frozenset(i for i in later if plan.tools[i] in targets)
    assert graph is not None
    makes = set(graph.tool(tool).outputs)
    return frozenset(i for i in later if makes & set(graph.tool(plan.tools[i]).inputs))

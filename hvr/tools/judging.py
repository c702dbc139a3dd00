"""The judge of plans over tools: calls whose result nothing reads, and look-ups that are missing.

The links of a plan say which call reads which result. Where it has none, types tell: a call reads
the results of those types that it takes. What the request is for is the last call that nothing is
linked from; other calls of that tool are for it, too, as where two films are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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
    why = ""
    if not calls:
        why = f"plan {plan.id} calls no tool"
    elif not plan.links and not typed and len(calls) > 1:
        why = f"plan {plan.id} has no links, and its tools have no types"
    elif graph is not None and (unknown := [tool for tool in plan.tools if tool not in graph]):
        why = f"{unknown[0]!r} is not among the tools"
    if why:
        return PlanVerdict(calls, unknown=why)
    readers = {i: _readers(plan, i, graph) for i in range(len(calls))}
    unread = _unread(readers, _answers(plan))
    critiques = [_superfluous(plan, i, readers[i]) for i in sorted(unread)]
    put_in = _missing(plan, unread)
    for at, sources in put_in.items():
        for source in sources:
            when = "only called after it" if source in plan.tools[at:] else "not called"
            reason = f"call {at + 1} {plan.tools[at]} reads the result of {source}, which is {when}"
            critiques.append(
                Critique(CritiqueKind.MISSING, at + 1, (GroundAction(source),), reason)
            )
    repaired: list[GroundAction] = []
    for i, call in enumerate(calls):
        repaired += [GroundAction(source) for source in put_in.get(i, ())]
        repaired += [call] if i not in unread else []
    critiques.sort(key=lambda c: (c.index, c.kind is CritiqueKind.REMOVE))
    return PlanVerdict(calls, tuple(critiques), tuple(repaired), valid=not critiques)


def repaired_plan(plan: ToolPlan, verdict: PlanVerdict) -> ToolPlan:
    """Return a plan with what a verdict says of it done; its sentences stay with their calls.

    Where there is no sentence for each call, none is kept. Links from and to what goes, go.
    """
    if not verdict.critiques or verdict.repaired is None:
        return plan
    told = len(plan.steps) == len(plan.tools)
    put_in: dict[int, list[str]] = {}
    for critique in verdict.missing:
        put_in.setdefault(critique.index, []).extend(a.name for a in critique.actions)
    tools: list[str] = []
    steps: list[str] = []
    for number, tool in enumerate(plan.tools, 1):
        tools += put_in.get(number, ())
        steps += [f"Call {source}" for source in put_in.get(number, ())]
        if number not in verdict.removed:
            tools.append(tool)
            steps += plan.steps[number - 1 : number] if told else ()
    links = tuple((a, b) for a, b in plan.links if a in tools and b in tools)
    return replace(plan, tools=tuple(tools), steps=tuple(steps) if told else (), links=links)


def _readers(plan: ToolPlan, index: int, graph: ToolGraph | None) -> frozenset[int]:
    """Return the calls that read the result of one."""
    tool = plan.tools[index]
    later = range(index + 1, len(plan.tools))
    if plan.links:
        targets = {target for source, target in plan.links if source == tool}
        return frozenset(i for i in later if plan.tools[i] in targets)
    if graph is None:
        return frozenset()
    makes = set(graph.tool(tool).outputs)
    return frozenset(i for i in later if makes & set(graph.tool(plan.tools[i]).inputs))


def _answers(plan: ToolPlan) -> frozenset[int]:
    """Return the calls that the request is for."""
    called = set(plan.tools)
    sources = {source for source, target in plan.links if target in called}
    ends = [i for i, tool in enumerate(plan.tools) if tool not in sources]
    last = plan.tools[ends[-1] if ends else -1]
    return frozenset(i for i, tool in enumerate(plan.tools) if tool == last)


def _unread(readers: Mapping[int, frozenset[int]], answers: frozenset[int]) -> frozenset[int]:
    """Return the calls whose results no call reads that is needed."""
    needed: set[int] = set()
    waiting = list(answers)
    while waiting:
        index = waiting.pop()
        needed.add(index)
        waiting += [i for i, by in readers.items() if index in by and i not in needed]
    return frozenset(readers) - needed


def _superfluous(plan: ToolPlan, index: int, readers: frozenset[int]) -> Critique:
    result = CausalLink(f"the result of {plan.tools[index]}", tuple(sorted(i + 1 for i in readers)))
    return Critique(
        CritiqueKind.REMOVE, index + 1, (GroundAction(plan.tools[index]),),
        "no call that is needed reads its result", Cause.IRRELEVANT, (result,),
    )  # fmt: skip


def _missing(plan: ToolPlan, unread: frozenset[int]) -> dict[int, list[str]]:
    """Return the tools to be called before a call, since it reads what nothing made before."""
    put_in: dict[int, list[str]] = {}
    for source, target in plan.links:
        places = [i for i, t in enumerate(plan.tools) if t == target and i not in unread]
        # A tool may be called again: it is enough that one of its calls can read the result.
        if not places or source == target or source in plan.tools[: places[-1]]:
            continue
        if source not in put_in.setdefault(places[0], []):
            put_in[places[0]].append(source)
    return put_in

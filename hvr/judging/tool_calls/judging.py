"""The judge of plans over tools: what the calls did, held against each other and the request.

A log with arguments is judged by the values that flow between its calls (`call_findings`). A plan
without arguments is judged by its links: a call that a link reads from has to come first, and links
that the tools do not have point at a missing, superfluous or misplaced call (`link_findings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hvr.judging.tool_calls.call_findings import findings
from hvr.judging.tool_calls.finding import CallFinding
from hvr.judging.tool_calls.link_findings import link_findings
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction
from hvr.tools.known_tools import KnownTools
from hvr.tools.tool_plan import LoggedCall, ToolPlan


def judge_tool_plan(plan: ToolPlan, known: KnownTools | None = None) -> PlanVerdict:
    """Judge a plan over tools.

    Args:
        plan: The plan.
        known: The tools; None where they are not known.
    """
    actions = tuple([GroundAction(tool) for tool in plan.tools])
    if not actions:
        return PlanVerdict(actions, unknown=f"plan {plan.id} calls no tool")
    if known is not None and (strange := [t for t in plan.tools if t not in known.graph]):
        return PlanVerdict(actions, unknown=f"{strange[0]!r} is not among the tools")
    found: tuple[CallFinding, ...]
    if any(call.arguments or call.unnamed or call.returned for call in plan.calls):
        found, why = findings(plan, known), _no_evidence(plan, known)
    else:
        found, why = link_findings(plan, known), ""
        if not plan.links and len(actions) > 1:
            why = f"plan {plan.id} has neither arguments nor links"
    if not found:
        return PlanVerdict(actions, valid=None if why else True, unknown=why)
    critiques = tuple([_critique(plan, finding) for finding in found])
    return PlanVerdict(actions, critiques, _repaired(actions, critiques), valid=False)


def _no_evidence(plan: ToolPlan, known: KnownTools | None) -> str:
    """Return why a log without findings cannot be called clean; empty if it can."""
    if len(plan.calls) == 1 or any(call.returned for call in plan.calls):
        return ""
    if known is not None and known.schemas:
        return ""
    return f"plan {plan.id} has no results, and its tools have no schemas"


def _critique(plan: ToolPlan, finding: CallFinding) -> Critique:
    tools = [finding.tool or plan.tools[finding.at]] if finding.at < len(plan.tools) else []
    tools = [finding.tool] if finding.tool else tools
    actions = tuple([GroundAction(tool) for tool in tools])
    return Critique(finding.kind, finding.at + 1, actions, finding.reason, finding.cause)


def _repaired(
    actions: Sequence[GroundAction], critiques: Sequence[Critique]
) -> tuple[GroundAction, ...]:
    gone = {c.index for c in critiques if c.kind is CritiqueKind.REMOVE}
    repaired: list[GroundAction] = []
    for number in range(1, len(actions) + 2):
        for critique in critiques:
            if critique.index == number and critique.kind is CritiqueKind.MISSING:
                repaired += critique.actions
        if number <= len(actions) and number not in gone:
            repaired.append(actions[number - 1])
    return tuple(repaired)


def repaired_plan(plan: ToolPlan, verdict: PlanVerdict) -> ToolPlan:
    """Return a plan with what a verdict says of it done; its sentences stay with their calls.

    Where there is no sentence for each call, none is kept. Links from and to what goes, go. Wrong
    arguments stay, and the arguments of calls that are put in are not known.
    """
    if not verdict.critiques or verdict.repaired is None:
        return plan
    told = len(plan.steps) == len(plan.tools)
    logged = len(plan.calls) == len(plan.tools)
    put_in: dict[int, list[str]] = {}
    for critique in verdict.missing:
        put_in.setdefault(critique.index, []).extend(a.name for a in critique.actions)
    tools: list[str] = []
    steps: list[str] = []
    calls: list[LoggedCall] = []
    for number in range(1, len(plan.tools) + 2):
        for source in put_in.get(number, ()):
            tools.append(source)
            steps.append(f"Call {source}")
            calls.append(LoggedCall(source))
        if number <= len(plan.tools) and number not in verdict.removed:
            tools.append(plan.tools[number - 1])
            steps += plan.steps[number - 1 : number] if told else ()
            calls += plan.calls[number - 1 : number] if logged else ()
    links = tuple((a, b) for a, b in plan.links if a in tools and b in tools)
    return replace(
        plan, tools=tuple(tools), steps=tuple(steps) if told else (), links=links,
        calls=tuple(calls) if logged else (),
    )  # fmt: skip

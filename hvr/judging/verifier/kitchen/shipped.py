"""The kitchen verifier that comes with hvr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.extras import need_gnn
from hvr.judging.verifier.graph import START, PlanGraph
from hvr.judging.verifier.kitchen.graph import graph_of, reading_of
from hvr.judging.verifier.kitchen.linked_plan import LinkedPlan
from hvr.judging.verifier.kitchen.links import causal_links
from hvr.judging.verifier.kitchen.marks import is_named, lacking, only_similar, untouched
from hvr.judging.verifier.kitchen.mention_reader import asked_of
from hvr.judging.verifier.kitchen.mentions import FROM, NEAR
from hvr.judging.verifier.kitchen.read_goal import EndCheck, check_end
from hvr.judging.verifier.kitchen.words import FINISH, class_of, label
from hvr.pddl.model import GroundAction
from hvr.pddl.task import Task

if TYPE_CHECKING:
    from hvr.judging.verifier.verdict import RiskFinding, Verdict
    from hvr.judging.verifier.verifier import Verifier

STATES: Mapping[str, str] = {
    "heat": "hot or cooked", "cold": "cold", "wash": "washed", "slice": "sliced",
    "crack": "cracked", "fill": "filled", "open": "open", "switch": "switched on",
    "hold": "in the hand",
}  # fmt: skip
"""What families of states are called. They group predicates for the verifier alone, so that the
ontology has no words for them."""
_DOUBT = (
    "the network doubts the plan (score {score:.2f}), but it reaches the goal that hvr reads in "
    "the request and changes nothing else"
)
_SURE = 0.5
"""Score from which the network holds a plan for right rather than wrong."""
_BESIDE = (FROM, NEAR)
"""Roles of things that a plan need not touch."""
FOLDER = Path(__file__).resolve().parent.parent / "data" / "kitchen"
"""Where the trained verifier lies."""


@lru_cache(maxsize=1)
def load_kitchen_verifier() -> Verifier:
    """Return the trained verifier, loaded once.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        DataFileError: its files are damaged.
    """
    need_gnn()
    from hvr.judging.verifier.verifier import Verifier

    return Verifier.load(FOLDER)


def verdict_of(request: str, *parts: tuple[Task, Sequence[GroundAction]]) -> Verdict:
    """Return how well a plan fits what was asked.

    Args:
        request: the sentence.
        parts: a task with its plan; several for a request that was planned in stages.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: a step cannot be executed.
    """
    verifier = load_kitchen_verifier()
    plan = causal_links(*parts)
    return judge(verifier, plan, request)


def judge(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    """Return the verdict of a verifier on one plan, its reasons in the words of the kitchen.

    The goal that hvr reads is a second vote (`_second_vote`): a plan that the network accepts gets
    no verdict where a named thing is left alone, or where the goal does not hold and the network
    is in doubt.
    A plan that is not accepted has a reason at least. Where the network alone doubts a plan that
    reaches the goal that hvr reads, and changes nothing else (`check_end`), there is no verdict.
    A plan without steps is judged by rule: its score is 1 where that goal holds from the start, 0
    where it does not, and there is no verdict where hvr cannot read the request.
    """
    from dataclasses import replace

    if not plan.steps:
        return _without_steps(verifier, plan, request)
    verdict = replace(verifier.score([reading_of(plan, request)])[0], graph=graph_of(plan, request))
    reworded = tuple(_reworded(f, verdict.graph, plan) for f in verdict.findings)
    if not (reworded or verdict.accepted):
        reworded = (_of_the_whole(verdict, plan),)
    verdict = replace(verdict, findings=reworded)
    found = check_end(plan, request)
    if verdict.accepted:
        return replace(verdict, unknown=_second_vote(verdict.score, found, plan, request))
    if found.bare:
        return replace(verdict, unknown=_DOUBT.format(score=verdict.score))
    return verdict


def _second_vote(score: float, found: EndCheck, plan: LinkedPlan, request: str) -> str:
    """Return why a plan that the network accepts may not be what was asked; empty if it is.

    A plan that leaves a named thing alone is never said to be what was asked. Otherwise the
    reading decides only where the network itself is in doubt: hvr may misread a sentence.
    """
    asked = asked_of(request)
    if missed := [t for t in untouched(plan, asked) if t.role not in _BESIDE]:
        names = " and the ".join(_names(t.classes) for t in missed)
        return f"the network accepts the plan, but no step has to do with the {names}"
    if score >= _SURE:
        return ""
    if found.lacking:
        return f"the network accepts the plan, but hvr asks for '{found.lacking}', which is not so"
    if found.unread and (similar := only_similar(plan, asked)):
        names = " and the ".join(_names(t.classes) for t in similar)
        return f"the plan handles something like the {names}, and hvr cannot read the request"
    return ""


def _without_steps(verifier: Verifier, plan: LinkedPlan, request: str) -> Verdict:
    from hvr.judging.verifier.verdict import RiskFinding, Verdict

    graph = graph_of(plan, request)
    found = check_end(plan, request)
    risk = 0.5 if found.unread else float(bool(found.lacking))
    reason = f"nothing is done, and it is not so from the start that {found.lacking}"
    findings = (RiskFinding(0, risk, reason),) if found.lacking else ()
    limits = verifier.thresholds
    return Verdict(
        graph, 1 - risk, (risk,), (risk,), limits, findings, found.unread,
        claim="nothing to do: as hvr reads the request, it is so already",
    )  # fmt: skip


def _of_the_whole(verdict: Verdict, plan: LinkedPlan) -> RiskFinding:
    """Return a reason for a low score where no step and no link is above its threshold."""
    from hvr.judging.verifier.verdict import RiskFinding

    last = len(plan.steps)
    reason = _reason(last, verdict.graph, plan)
    if ":" not in reason:
        risky = max(range(last), key=lambda i: verdict.node_risks[i])
        step = verdict.graph.nodes[risky].text
        reason += f"; no step stands out, '{step}' fits least"
    return RiskFinding(last, verdict.node_risks[last], reason)


def _reworded(finding: RiskFinding, graph: PlanGraph, plan: LinkedPlan) -> RiskFinding:
    from dataclasses import replace

    return replace(finding, reason=_reason(finding.where, graph, plan))


def _reason(where: int | tuple[int, int], graph: PlanGraph, plan: LinkedPlan) -> str:
    asked = asked_of(graph.request)
    missing = [
        *(f"nothing is done with the {_names(t.classes)}" for t in untouched(plan, asked)),
        *(f"nothing is {STATES[f]} at the end" for f in lacking(plan, asked) if f in STATES),
    ]
    if isinstance(where, tuple):
        source, target = where
        if graph.nodes[target].tool == FINISH:
            return "something that was asked for seems to be left undone" + _because(missing)
        first = "the start" if source == START else graph.nodes[source].text
        return f"a step between '{first}' and '{graph.nodes[target].text}' seems to be missing"
    node = graph.nodes[where]
    if node.tool == FINISH:
        return "the end does not seem to be what was asked for" + _because(missing)
    strange = [
        label(c)
        for c in (class_of(a, plan.types) for a in plan.steps[where].action.args)
        if not is_named(c, asked)
    ]
    text = f"'{node.text}' does not seem to serve the request"
    return text + (f": it does not name the {' or the '.join(strange)}" if strange else "")


def _because(missing: Sequence[str]) -> str:
    return f": {' and '.join(missing)}" if missing else ""


def _names(classes: frozenset[str]) -> str:
    """Return what people call one of some classes."""
    return " or ".join(sorted(label(c) for c in classes))

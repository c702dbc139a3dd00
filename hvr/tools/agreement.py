"""Metrics of predicted plans: agreement with the true ones, and hallucination.

They are those of GNN4TaskPlan's public evaluation, so that figures can be compared:

F1 of two lists    p = k / len(predicted), r = k / len(true), F1 = 2pr / (p + r + 1e-9), where k
                   counts the distinct elements in both; 0 if either list is empty. The lengths
                   count repeated elements and k does not: a true plan that repeats a tool
                   scores less than 1 even against itself.
node F1, link F1   of the tools; of the links (source, target). The order plays no part.
accuracy           two metrics of that name: `node_accuracy` (GNN4Plan) is the fraction of
                   requests with a node F1 of at least 0.99; `plan_accuracy` (GNNVerifier) with
                   node F1 and link F1 above 0.99. A plan of one tool has no links, so its plan
                   accuracy is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

T = TypeVar("T")

_EXACT = 0.99  # instead of 1: F1 has 1e-9 in its denominator


@dataclass(frozen=True)
class Agreement:
    """Means over requests, from 0 to 1.

    Args:
        requests: number of requests scored.
        missing: number of requests without a prediction.
        node_f1: of the tools.
        link_f1: of the links.
        node_accuracy: fraction with a node F1 of at least 0.99.
        plan_accuracy: fraction with node F1 and link F1 above 0.99.
    """

    requests: int
    missing: int
    node_f1: float
    link_f1: float
    node_accuracy: float
    plan_accuracy: float


@dataclass(frozen=True)
class Hallucination:
    """Tools and links of predicted plans that do not exist.

    Args:
        requests: number of plans.
        node_micro: mean fraction of a plan's tools that are not in the tool list.
        node_macro: fraction of plans with at least one such tool.
        link_micro: mean fraction of a plan's links that are not in the tool graph.
        link_macro: fraction of plans with at least one such link.
    """

    requests: int
    node_micro: float
    node_macro: float
    link_micro: float
    link_macro: float


def f1(predicted: Sequence[T], true: Sequence[T]) -> float:
    """Return the F1 of two lists, from 0 to 1; see the head of this module."""
    shared = len(set(predicted) & set(true))
    if not shared:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(true)
    return 2 * precision * recall / (precision + recall + 1e-9)


def node_f1(predicted: ToolPlan, true: ToolPlan) -> float:
    """Return F1 of the tools of two plans."""
    return f1(predicted.tools, true.tools)


def link_f1(predicted: ToolPlan, true: ToolPlan) -> float:
    """Return F1 of the links of two plans, as they were given."""
    return f1(predicted.links, true.links)


def agreement(predicted: Mapping[str, ToolPlan], truth: Iterable[ToolPlan]) -> Agreement:
    """Score predicted plans; a request without a prediction scores 0.

    Args:
        predicted: plans by the id of their request; ids that are not in the truth are ignored.
        truth: the true plans.
    """
    rows: list[tuple[float, float]] = []
    missing = 0
    for true in truth:
        plan = predicted.get(true.id)
        missing += plan is None
        rows.append((node_f1(plan, true), link_f1(plan, true)) if plan else (0.0, 0.0))
    return Agreement(
        requests=len(rows),
        missing=missing,
        node_f1=_mean([n for n, _ in rows]),
        link_f1=_mean([k for _, k in rows]),
        node_accuracy=_mean([n >= _EXACT for n, _ in rows]),
        plan_accuracy=_mean([n > _EXACT and k > _EXACT for n, k in rows]),
    )


def hallucination(plans: Iterable[ToolPlan], graph: ToolGraph) -> Hallucination:
    """Measure how much of some plans is not in the tool graph; an empty plan counts 0.

    Args:
        plans: as predicted.
        graph: the existing tools and links.
    """
    nodes: list[float] = []
    links: list[float] = []
    for plan in plans:
        nodes.append(_mean([t not in graph for t in plan.tools]))
        links.append(_mean([not graph.linked(*link) for link in plan.links]))
    return Hallucination(
        requests=len(nodes),
        node_micro=_mean(nodes),
        node_macro=_mean([n > 0 for n in nodes]),
        link_micro=_mean(links),
        link_macro=_mean([k > 0 for k in links]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0

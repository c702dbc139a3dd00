"""Retrieval baselines that use only texts, with settings tuned on true plans.

Among them is SGC: tool vectors smoothed over the graph without training (GNN4Plan, section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hvr.base.texts import squeezed
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.datasets import only_seen
from hvr.tools.retrieval.decoding import (
    Decoder,
    Transitions,
    adjacency,
    choose_decoder,
    count_transitions,
    decode,
    overall,
)
from hvr.tools.retrieval.retriever import TextScores, hold_out
from hvr.tools.tool_plans import ToolGraph, ToolPlan, agreement

ALPHAS = tuple(round(0.5 + 0.05 * i, 2) for i in range(11))
"""Values of alpha that `choose_alpha` tries for SGC."""
TEMPERATURES = (0.02, 0.04, 0.08)
"""Softmax temperatures that `fit_text_decoder` tries for text cosines."""


def normalised(graph: ToolGraph) -> NDArray[np.float32]:
    """Return the normalised adjacency matrix  Â = D^-1/2 A D^-1/2.

    D = diag(sum_v A[u, v]) contains the out-degrees on both sides; no self-loops are added. For a
    tool without out-links, D[u, u]^-1/2 is defined as 0, which makes its row and column 0.

    Returns:
        Â, float32, shape (tools, tools); each row aggregates the tool's successors.
    """
    linked = adjacency(graph).astype(np.float32)
    degree = linked.sum(axis=1)
    root = np.zeros_like(degree)
    np.divide(1, np.sqrt(degree), out=root, where=degree > 0)
    return np.asarray(root[:, None] * linked * root[None, :], dtype=np.float32)


def propagate(vectors: NDArray[np.float32], graph: ToolGraph, alpha: float) -> NDArray[np.float32]:
    """Return tool vectors mixed with their successors' vectors.

    X' = alpha X + (1 - alpha) Â X  (GNN4Plan, section 4.2), with Â from `normalised`.

    Args:
        vectors: X, shape (tools, d).
        alpha: Weight of a tool's own vector.

    Returns:
        X', float32, shape (tools, d).
    """
    return np.asarray(alpha * vectors + (1 - alpha) * (normalised(graph) @ vectors), np.float32)


@dataclass(frozen=True)
class SmoothedScores(TextScores):
    """S[i, t] = <x_i, h_t>, where x_i is the vector of step i and H = `propagate`(X, alpha).

    With an `alpha` of 1, the graph is ignored.
    """

    alpha: float = 1.0

    def tools(self) -> NDArray[np.float32]:
        """Return H, shape (tools, d); its rows have length 1 only if `alpha` is 1."""
        return propagate(super().tools(), self.graph, self.alpha)


def fit_text_decoder(
    source: TextScores,
    plans: Sequence[ToolPlan],
    *,
    counts: bool = True,
    seen_links: bool = False,
    names: bool = True,
    held_out: float = 0.1,
    seed: int = 0,
) -> Decoder:
    """Choose the settings of `viterbi` for text scores, on a held-out part of true plans.

    Args:
        counts: Whether to count transitions in the plans; if not, only the links decide.
        seen_links: As in `fit_retriever`.
        names: Whether to keep the tools' names in the steps.
        held_out: Fraction of the plans on which to choose the settings.
    """
    inner, held = hold_out(plans, held_out, seed)

    def transitions(some: Sequence[ToolPlan]) -> Transitions:
        graph = only_seen(source.graph, some) if seen_links else source.graph
        return count_transitions(graph, some if counts else ())

    scores = source.scores(held, names=names)
    chosen = choose_decoder(scores, held, transitions(inner), TEMPERATURES)
    return replace(chosen, transitions=transitions(plans))


def choose_alpha(
    graph: ToolGraph,
    encoder: TextVectors,
    plans: Sequence[ToolPlan],
    *,
    rule: str = "greedy",
    names: bool = True,
) -> float:
    """Return the alpha of SGC whose plans agree best with the true plans given (no test plans).

    The highest alpha, which relies least on the graph, wins ties.
    """
    decoder = Decoder(Transitions(graph), rule="nearest" if rule == "nearest" else "greedy")
    overall_by_alpha = {}
    for alpha in ALPHAS:
        scores = SmoothedScores(graph, encoder, alpha).scores(plans, names=names)
        made = decode(decoder, scores, plans, decoder.transitions)
        overall_by_alpha[alpha] = overall(agreement(made, plans))
    return max(overall_by_alpha, key=lambda alpha: (round(overall_by_alpha[alpha], 9), alpha))


# A method that always names existing tools and links them in a chain gains from both as a side
# effect, so it must also be compared with this control.


def renamed(plan: ToolPlan, graph: ToolGraph) -> ToolPlan:
    """Return a plan whose tool names are corrected where they differ only in case and punctuation.

    Unknown and ambiguous names remain unchanged.
    """
    known: dict[str, list[str]] = {}
    for tool in graph.tools:
        known.setdefault(squeezed(tool.id), []).append(tool.id)

    def right(name: str) -> str:
        candidates = known.get(squeezed(name), [])
        return candidates[0] if name not in graph and len(candidates) == 1 else name

    links = tuple((right(source), right(target)) for source, target in plan.links)
    return replace(plan, tools=tuple(map(right, plan.tools)), links=links)


def relinked(plan: ToolPlan) -> ToolPlan:
    return replace(plan, links=plan.chain)

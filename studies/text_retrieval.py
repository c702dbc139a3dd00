"""Settings of retrieval by texts alone, chosen on true plans: baselines of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hvr.retrieval.text_vectors import TextVectors
from hvr.tools.agreement import agreement
from hvr.tools.datasets import only_seen
from hvr.tools.retrieval.decoders import Decoder, choose_decoder, decode, overall
from hvr.tools.retrieval.pairs import hold_out
from hvr.tools.retrieval.retriever import TextScores
from hvr.tools.retrieval.transitions import Transitions, count_transitions
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

ALPHAS = tuple(round(0.5 + 0.05 * i, 2) for i in range(11))
"""Values of alpha that `choose_alpha` tries for SGC."""
TEMPERATURES = (0.02, 0.04, 0.08)
"""Softmax temperatures that `fit_text_decoder` tries for cosines of texts."""


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
    """Choose the settings of `viterbi` for text scores on a held-out part of some true plans.

    Args:
        source: of the scores; they depend on its links only if `alpha` is below 1.
        plans: true ones.
        counts: count transitions in them; else transitions follow from the links alone.
        seen_links: as for `fit_retriever`.
        names: leave the tools' names in the steps.
        held_out: fraction of the plans on which settings are chosen.
        seed: of the split.
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
    """Return the alpha of SGC whose plans agree best with some true plans, not test ones.

    Of equals the highest, which relies least on the graph.
    """
    decoder = Decoder(Transitions(graph), rule="nearest" if rule == "nearest" else "greedy")
    overall_by_alpha = {}
    for alpha in ALPHAS:
        scores = TextScores(graph, encoder, alpha).scores(plans, names=names)
        made = decode(decoder, scores, plans, decoder.transitions)
        overall_by_alpha[alpha] = overall(agreement(made, plans))
    return max(overall_by_alpha, key=lambda alpha: (round(overall_by_alpha[alpha], 9), alpha))

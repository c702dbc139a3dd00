"""From the steps of plans to tools: a source of scores and a rule for sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hvr.extras import need_gnn
from hvr.retrieval.text_vectors import TextVectors
from hvr.tools.datasets import only_seen, tool_text
from hvr.tools.retrieval.config import RetrieverConfig
from hvr.tools.retrieval.decoders import Decoder, choose_decoder, decode, overall
from hvr.tools.retrieval.decoding import Scores
from hvr.tools.retrieval.pairs import hold_out
from hvr.tools.retrieval.propagation import propagate
from hvr.tools.retrieval.steps import cleaned
from hvr.tools.retrieval.transitions import Transitions, count_transitions
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

if TYPE_CHECKING:
    from hvr.tools.retrieval.training import Progress

ALPHAS = tuple(round(0.5 + 0.05 * i, 2) for i in range(11))
"""What is tried for SGC, from 0.5 to 1."""
TEMPERATURES = (0.02, 0.04, 0.08)
"""What is tried for cosines of texts."""


class ScoreSource(Protocol):
    """Scores all tools of a graph for the steps of plans."""

    @property
    def graph(self) -> ToolGraph:
        """Its tools are the columns of the scores."""

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """(steps, tools) for each plan; higher is better.

        Args:
            plans: only request and steps are looked at.
            names: leave the tools' names in the steps.
        """


@dataclass(frozen=True)
class TextScores:
    """Cosines of steps and tools as their texts say, or smoothed over the graph (SGC).

    Args:
        graph: the tools.
        encoder: of texts.
        alpha: share of a tool's own text, see `propagate`; 1 leaves the graph out.
        hops: of SGC.
        types: tools' texts say what they take and give as well.
    """

    graph: ToolGraph
    encoder: TextVectors
    alpha: float = 1.0
    hops: int = 1
    types: bool = False

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """See `ScoreSource`. With `alpha` < 1 the tools' vectors are no longer of length 1."""
        texts = [tool_text(t, types=self.types) for t in self.graph.tools]
        tools = propagate(self.encoder.encode(texts, "passage"), self.graph, self.alpha, self.hops)
        ids = [t.id for t in self.graph.tools]
        steps = [cleaned(p.steps, ids, names=names) for p in plans]
        vectors = self.encoder.encode([s for some in steps for s in some], "query")
        if not len(vectors):
            return [np.zeros((0, len(ids))) for _ in plans]
        ends = np.cumsum([len(some) for some in steps])
        return [rows @ tools.T for rows in np.split(vectors, ends[:-1])]


@dataclass(frozen=True)
class Retriever:
    """Finds the tools of plans whose steps are given.

    Args:
        source: of scores.
        decoder: of sequences, over the same tools.
    """

    source: ScoreSource
    decoder: Decoder

    def retrieve(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[ToolPlan]:
        """Return plans with the same requests and steps, and with the tools found, linked in a
        chain.

        Args:
            plans: their own tools are not looked at. One without steps gets no tools.
            names: read the tools' names in the steps too.
        """
        found = decode(
            self.decoder,
            self.source.scores(plans, names=names),
            # Ids may repeat among requests; places do not.
            [replace(p, id=str(i)) for i, p in enumerate(plans)],
            self.decoder.transitions,
        )
        return [replace(f, id=p.id) for f, p in zip(found.values(), plans, strict=True)]


def fit_retriever(
    config: RetrieverConfig,
    graph: ToolGraph,
    plans: Sequence[ToolPlan],
    encoder: TextVectors | None = None,
    *,
    seen_links: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Retriever:
    """Train a scorer, and choose the settings of `viterbi`, on true plans.

    A part of the plans decides how long to train and which settings to take; with
    `config.refit` the scorer is then trained on all of them. Transitions are counted in all.

    Args:
        config: how to score and learn.
        graph: tools and links.
        plans: true ones.
        encoder: of texts; made by its name in the settings if None.
        seen_links: keep only links that occur in the plans learnt from. While settings are
            chosen, these are the plans without the held-out part, so that links do not tell
            what is held out.
        device: `cpu` or `cuda`.
        progress: told of each epoch.

    Returns:
        The retriever; its source is a `TrainedScores`, which other rules can use too.

    Raises:
        MissingExtraError: a package of the extras `gnn` and `embeddings` is not installed.
        UsageError: no step can be paired with a tool.
    """
    need_gnn()
    from hvr.tools.retrieval.trained_scores import TrainedScores
    from hvr.tools.retrieval.training import train_scorer

    encoder = encoder or TextVectors(config.encoder)
    inner, held = hold_out(plans, config.held_out, config.seed) if plans else ((), ())
    first = only_seen(graph, inner) if seen_links else graph
    last = only_seen(graph, plans) if seen_links else graph
    trained = train_scorer(
        config, first, inner, encoder, held=held, device=device, progress=progress
    )
    decoder = Decoder(count_transitions(first, inner))
    if held:
        scores = TrainedScores(first, config, trained.scorer, encoder, trained.language_model)
        shown = [n for n in (True, False) if (config.unnamed < 1 if n else config.unnamed > 0)]
        found = [row for n in shown for row in scores.scores(held, names=n)]
        # Ids tell plans apart, and each is there once per way of showing it.
        twice = [replace(p, id=f"{p.id} {n}") for n in shown for p in held]
        decoder = choose_decoder(found, twice, decoder.transitions)
    if config.refit and held:
        again = replace(config, epochs=max(1, trained.best))
        trained = train_scorer(again, last, plans, encoder, device=device, progress=progress)
    source = TrainedScores(last, config, trained.scorer, encoder, trained.language_model)
    return Retriever(source, replace(decoder, transitions=count_transitions(last, plans)))


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
    """Choose `viterbi`'s settings for scores of texts on a part of some true plans.

    Args:
        source: of the scores; its links do not matter for them unless `alpha` is below 1.
        plans: true ones.
        counts: count transitions in them; else the graph's links alone say what follows what.
        seen_links: as for `fit_retriever`.
        names: leave the tools' names in the steps.
        held_out: share of the plans that the settings are chosen by.
        seed: of that share.
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
    """Return the alpha of SGC whose plans agree best with some true ones, which must not be test
    ones.

    Of equals the highest, which leans least on the graph.
    """
    from hvr.tools.agreement import agreement

    decoder = Decoder(Transitions(graph), rule="nearest" if rule == "nearest" else "greedy")
    overall_by_alpha = {}
    for alpha in ALPHAS:
        scores = TextScores(graph, encoder, alpha).scores(plans, names=names)
        made = decode(decoder, scores, plans, decoder.transitions)
        overall_by_alpha[alpha] = overall(agreement(made, plans))
    return max(overall_by_alpha, key=lambda alpha: (round(overall_by_alpha[alpha], 9), alpha))

"""Retrievers: from the steps of plans to tools, by a score source and a decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.base.extras import need_gnn
from hvr.knowledge.retrieval.text_vectors import TextVectors
from hvr.tools.datasets import only_seen, tool_text
from hvr.tools.retrieval.config import RetrieverConfig
from hvr.tools.retrieval.decoders import Decoder, choose_decoder, decode
from hvr.tools.retrieval.decoding import Scores
from hvr.tools.retrieval.pairs import hold_out
from hvr.tools.retrieval.steps import cleaned
from hvr.tools.retrieval.transitions import Transitions, count_transitions
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

if TYPE_CHECKING:
    from hvr.tools.retrieval.training import ProgressCallback

UNTRAINED = Decoder(Transitions(ToolGraph(())), weight=0.4, temperature=0.08, skip=-5.0)
"""The decoder of `untrained_retriever`, apart from the tools; chosen on UltraTool's training plans
and on TMDB's."""
FINE_SKIP = -3.0
"""Its `skip` where steps are finer than tools; chosen on steps that GPT-4 wrote, without having
seen the tools, for training requests."""


class ScoreSource(Protocol):
    """A source of scores of all tools of a graph for the steps of plans."""

    @property
    def graph(self) -> ToolGraph:
        """The graph whose tools are the columns of the scores."""

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """Return the scores of each plan (steps, tools); higher is better.

        Args:
            plans: only request and steps are read.
            names: leave the tools' names in the steps.
        """


@dataclass(frozen=True)
class TextScores:
    """Cosines of the texts of steps and tools.

    Args:
        graph: the tools.
        encoder: of texts.
    """

    graph: ToolGraph
    encoder: TextVectors

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """Return the scores of each plan (steps, tools); see `ScoreSource`."""
        tools = self.tools()
        ids = [t.id for t in self.graph.tools]
        steps = [cleaned(p.steps, ids, names=names) for p in plans]
        vectors = self.encoder.encode([s for some in steps for s in some], "query")
        if not len(vectors):
            return [np.zeros((0, len(ids))) for _ in plans]
        ends = np.cumsum([len(some) for some in steps])
        return [rows @ tools.T for rows in np.split(vectors, ends[:-1])]

    def tools(self) -> NDArray[np.float32]:
        """Return the vectors of the tools' texts (tools, d), of length 1."""
        return self.encoder.encode([tool_text(t) for t in self.graph.tools], "passage")


@dataclass(frozen=True)
class Retriever:
    """Retrieval of the tools of plans whose steps are given.

    Args:
        source: of scores.
        decoder: over the same tools.
    """

    source: ScoreSource
    decoder: Decoder

    def retrieve(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[ToolPlan]:
        """Return the plans with the tools retrieved for their steps, as chains.

        Args:
            plans: their own tools are ignored. A plan without steps gets no tools.
            names: read the tools' names in the steps too.
        """
        decoded = decode(
            self.decoder,
            self.source.scores(plans, names=names),
            # Ids may repeat among requests; places do not.
            [replace(p, id=str(i)) for i, p in enumerate(plans)],
            self.decoder.transitions,
        )
        return [replace(f, id=p.id) for f, p in zip(decoded.values(), plans, strict=True)]


def untrained_retriever(graph: ToolGraph, encoder: TextVectors, *, fine: bool = False) -> Retriever:
    """Return a retriever that needs no plans to learn from, for any number of tools.

    Texts of steps and tools are compared, and the best whole sequence along the links is taken.
    Steps that continue a call are merged with it.

    Args:
        graph: the tools; without links their texts alone decide.
        encoder: of texts.
        fine: steps are finer than tools, so that steps that nothing fits are skipped.
    """
    weight = UNTRAINED.weight if graph.links else 0.0
    return Retriever(
        TextScores(graph, encoder),
        replace(
            UNTRAINED,
            transitions=Transitions(graph),
            weight=weight,
            skip=FINE_SKIP if fine else UNTRAINED.skip,
        ),
    )


def fit_retriever(
    config: RetrieverConfig,
    graph: ToolGraph,
    plans: Sequence[ToolPlan],
    encoder: TextVectors | None = None,
    *,
    seen_links: bool = False,
    device: str = "cpu",
    progress: ProgressCallback | None = None,
) -> Retriever:
    """Train a scorer, and choose the settings of `viterbi`, on true plans.

    A held-out part of the plans is used for early stopping and for the choice of settings; with
    `config.refit` the scorer is then retrained on all plans. Transitions are counted in all.

    Args:
        config: of the scorer and its training.
        graph: tools and links.
        plans: true ones.
        encoder: of texts; the one named in the settings if None.
        seen_links: keep only links that occur in the training plans. While settings are chosen,
            these exclude the held-out part, so that the links do not leak it.
        device: `cpu` or `cuda`.
        progress: called after each epoch.

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
        scores = TrainedScores(first, config, trained.scorer, encoder)
        shown = [n for n in (True, False) if (config.unnamed < 1 if n else config.unnamed > 0)]
        rows = [row for n in shown for row in scores.scores(held, names=n)]
        # `choose_decoder` tells plans apart by id, and a plan shown both ways is there twice.
        twice = [replace(p, id=f"{p.id} {n}") for n in shown for p in held]
        decoder = choose_decoder(rows, twice, decoder.transitions)
    if config.refit and held:
        again = replace(config, epochs=max(1, trained.best))
        trained = train_scorer(again, last, plans, encoder, device=device, progress=progress)
    source = TrainedScores(last, config, trained.scorer, encoder)
    return Retriever(source, replace(decoder, transitions=count_transitions(last, plans)))

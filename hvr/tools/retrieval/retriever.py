"""Retrievers of tools for the steps of plans: settings, training samples, score sources."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from hvr.base.extras import need_gnn
from hvr.errors import UsageError
from hvr.knowledge.retrieval.text_vectors import TextVectors
from hvr.tools.datasets import only_seen, tool_text
from hvr.tools.retrieval.decoding import (
    Decoder,
    Scores,
    Transitions,
    choose_decoder,
    count_transitions,
    decode,
)
from hvr.tools.tool_plans import ToolGraph, ToolNameRemover, ToolPlan, cleaned, without_number
from hvr.values import cached_property

if TYPE_CHECKING:
    from hvr.tools.retrieval.scorer import ProgressCallback


# Config -------------------------------------------------------------------------------------------
# Settings of a retriever, with GNN4Plan's values as defaults.

Layer = Literal["none", "sage"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""Kinds of graph layers, see `ToolEncoder`."""


@dataclass(frozen=True)
class RetrieverConfig:
    """Settings of a scorer of tools for steps, and of its training.

    The defaults are those of GNN4Plan (sections 4.3, E.1 and F.1), except for the encoder; the
    paper's e5-large is `encoder="st:intfloat/e5-large"`. `own` gives hvr's settings.

    Args:
        encoder: of texts, see `hvr.knowledge.retrieval.text_vectors`.
        layer: kind of graph layer over the tools.
        hidden: width of the MLP of `context`.
        dropout: probability of dropout in it.
        loss: `bpr`, against `negatives` other tools; `softmax`, over all tools.
        negatives: per step and epoch, with `bpr`.
        near: size of the neighbourhood of hard negatives: with probability one half a negative
            is one of the `near` tools with the most similar text, else any tool.
        scale: factor on inner products. GNN4Plan takes e5's vectors as they are,
            which are long; with vectors of length 1, as here, differences of scores would be
            too small for either loss.
        context: score with the request and the neighbouring steps as well, through an MLP; else
            the step's vector is compared as it is.
        free: learn a vector per tool besides its text. Such a model knows no other tools.
        unnamed: probability that a step is shown without the tool's name.
        epochs: at most.
        patience: epochs without improvement on the held-out part before training stops.
        batch: steps in one update.
        lr: Adam's learning rate.
        weight_decay: Adam's (decoupled).
        held_out: fraction of the training plans for early stopping.
        refit: retrain on all plans for the best number of epochs.
        seed: of all random numbers.
    """

    encoder: str = "minilm"
    layer: Layer = "sage"
    hidden: int = 512
    dropout: float = 0.0
    loss: Literal["bpr", "softmax"] = "bpr"
    negatives: int = 2
    near: int = 5
    scale: float = 20.0
    context: bool = False
    free: bool = False
    unnamed: float = 0.0
    epochs: int = 20
    patience: int = 5
    batch: int = 512
    lr: float = 1e-3
    weight_decay: float = 0.0
    held_out: float = 0.1
    refit: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.layer not in LAYERS:
            raise UsageError(f"unknown layer {self.layer!r} (layers: {', '.join(LAYERS)})")
        if self.loss not in ("bpr", "softmax"):
            raise UsageError(f"unknown loss {self.loss!r} (losses: bpr, softmax)")
        for name in ("hidden", "negatives", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give at least 1")
        if not self.scale > 0:
            raise UsageError(f"scale is {self.scale}: give a number above 0")
        for name in ("dropout", "unnamed", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give a number from 0 to 1")


def paper(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return GNN4Plan's settings; the language model stays as it is."""
    return RetrieverConfig(layer=layer, seed=seed)


def own(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return hvr's settings: request and neighbouring steps as context, softmax over all tools."""
    return RetrieverConfig(
        layer=layer,
        loss="softmax",
        dropout=0.3,
        context=True,
        free=True,
        unnamed=0.5,
        epochs=40,
        batch=256,
        weight_decay=1e-2,
        refit=True,
        seed=seed,
    )


# Samples ------------------------------------------------------------------------------------------
# Inputs of a scorer: the steps of plans as numbers of texts.


@dataclass
class TextList:
    """Texts and their numbers, in order of appearance."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a text, assigned on first use; -1 for an empty one."""
        if not text.strip():
            return -1
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


@dataclass(frozen=True)
class Sample:
    """The input and the label of a scorer for one step.

    Args:
        read: numbers of the texts of the step, the request, the previous and the next step; -1
            for none.
        tool: number of the true tool; -1 if it is not known.
    """

    read: tuple[int, int, int, int]
    tool: int = -1


@dataclass(frozen=True)
class Encodable:
    """Texts of tools and steps with common numbers."""

    graph: ToolGraph
    list: TextList = field(default_factory=TextList)

    def tools(self) -> tuple[int, ...]:
        """Return the numbers of the texts of the tools."""
        return tuple(self.list.number(tool_text(t)) for t in self.graph.tools)

    def samples(
        self, plan: ToolPlan, tools: Sequence[str | None] | None = None, *, names: bool = True
    ) -> tuple[Sample, ...]:
        """Return a sample for each step of a plan.

        Args:
            plan: its `tools` are ignored.
            tools: labels of the steps, where they are known.
            names: leave the tools' names in the steps.
        """
        clean = without_number if names else self._unnamed
        steps = [self.list.number(clean(s)) for s in plan.steps]
        request = self.list.number(plan.request)
        around = [-1, *steps, -1]
        labels = tools if tools is not None else [None] * len(steps)
        return tuple(
            Sample(
                (step, request, around[i], around[i + 2]),
                self.graph.index(label) if label is not None and label in self.graph else -1,
            )
            for i, (step, label) in enumerate(zip(steps, labels, strict=True))
        )

    @cached_property
    def _unnamed(self) -> ToolNameRemover:
        return ToolNameRemover(t.id for t in self.graph.tools)


# Pairs --------------------------------------------------------------------------------------------
# Labels for retrievers: the tool that each step of a true plan calls.


def paired(plan: ToolPlan) -> tuple[str, ...] | None:
    """Return the tool of each step by GNN4Plan's rule; None for a plan that the rule excludes.

    A plan must have as many steps as tools, no tool twice, and links that form a single path
    through all tools; the tools are taken in the order of the path.
    """
    tools = plan.tools
    if not tools or len(plan.steps) != len(tools) or len(set(tools)) != len(tools):
        return None
    after = dict(plan.links)
    heads = [t for t in tools if t not in after.values()]
    if len(plan.links) != len(tools) - 1 or len(after) != len(plan.links) or len(heads) != 1:
        return None
    path = [heads[0]]
    while path[-1] in after and len(path) <= len(tools):
        path.append(after[path[-1]])
    return tuple(path) if sorted(path) == sorted(tools) else None


def aligned(plan: ToolPlan) -> tuple[str | None, ...]:
    """Return the tool of each step, for plans of any shape (hvr's own); None if it is unclear.

    A step that names exactly one of the plan's tools calls it; the other steps are paired by
    their place if there are as many steps as tools.
    """
    same = len(plan.steps) == len(plan.tools)
    labels: list[str | None] = []
    for i, step in enumerate(plan.steps):
        named = [t for t in dict.fromkeys(plan.tools) if _names(step, t)]
        if len(named) == 1:
            labels.append(named[0])
        else:
            labels.append(plan.tools[i] if same else None)
    return tuple(labels)


def hold_out(
    plans: Sequence[ToolPlan], fraction: float, seed: int
) -> tuple[tuple[ToolPlan, ...], tuple[ToolPlan, ...]]:
    """Split plans at random into a part to train on and a part to choose by.

    Args:
        plans: at least one.
        fraction: size of the second part, from 0 to 1; at least one plan stays in the first.
        seed: of the choice.
    """
    order = list(range(len(plans)))
    random.Random(seed).shuffle(order)
    size = min(round(fraction * len(plans)), len(plans) - 1)
    held = set(order[:size])
    inner = tuple(p for i, p in enumerate(plans) if i not in held)
    return inner, tuple(p for i, p in enumerate(plans) if i in held)


def _names(step: str, tool: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", step) is not None


# Retriever ----------------------------------------------------------------------------------------
# Retrievers: from the steps of plans to tools, by a score source and a decoder.

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
    """Cosines of the texts of steps and tools."""

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
    """Retrieval of the tools of plans whose steps are given."""

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
    from hvr.tools.retrieval.scorer import TrainedScores, train_scorer

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

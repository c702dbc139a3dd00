"""Retrievers of tools for the steps of plans, with their settings and training samples."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from hvr.base.registry import need_gnn
from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
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


# Settings -----------------------------------------------------------------------------------------

Layer = Literal["none", "sage"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""Kinds of graph layers; see `ToolEncoder`."""


@dataclass(frozen=True)
class RetrieverConfig:
    """Settings of a scorer and its training.

    The defaults follow GNN4Plan (sections 4.3, E.1 and F.1), except for the encoder; the paper's
    e5-large is `encoder="st:intfloat/e5-large"`. `own` returns hvr's settings.

    Args:
        hidden: Width of the context MLP.
        dropout: Dropout probability of the context MLP.
        loss: `bpr`, against `negatives` other tools, or `softmax`, over all tools.
        negatives: Number of negatives per step and epoch for `bpr`.
        near: Negatives are drawn with equal probability from the `near` tools with the most
            similar texts, or from all other tools.
        scale: Factor applied to inner products. GNN4Plan uses e5's unnormalised vectors; hvr uses
            unit vectors, whose score differences would be too small for either loss.
        context: Whether an MLP adds the request and the neighbouring steps to the step's vector.
        free: Whether to learn a vector for each tool in addition to its text. The model then works
            only for the tools seen in training.
        unnamed: Probability of removing the tool's name from a step during training.
        epochs: Maximum number of epochs.
        patience: Number of epochs without improvement on the held-out part before training stops.
        lr: Learning rate of AdamW.
        weight_decay: Decoupled weight decay of AdamW.
        held_out: Fraction of the training plans held out for early stopping.
        refit: Whether to retrain on all plans for the best number of epochs.

    Raises:
        UsageError: A setting is unknown or out of range.
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
                raise UsageError(f"{name} must be at least 1, found {getattr(self, name)}")
        if not self.scale > 0:
            raise UsageError(f"scale must be positive, found {self.scale}")
        for name in ("dropout", "unnamed", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must be from 0 to 1, found {getattr(self, name)}")


def paper(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return GNN4Plan's settings, except for the encoder."""
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


@dataclass
class TextList:
    """Distinct texts, numbered in order of first appearance."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a text, which is added if new; -1 for a blank text."""
        if not text.strip():
            return -1
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


@dataclass(frozen=True)
class Sample:
    """A scorer's input and label for one step.

    Args:
        read: Indexes of the texts of the step, the request, and the previous and next steps; -1 if
            missing.
        tool: Index of the true tool; -1 if unknown.
    """

    read: tuple[int, int, int, int]
    tool: int = -1


@dataclass(frozen=True)
class Encodable:
    graph: ToolGraph
    list: TextList = field(default_factory=TextList)

    def tools(self) -> tuple[int, ...]:
        return tuple(self.list.number(tool_text(t)) for t in self.graph.tools)

    def samples(
        self, plan: ToolPlan, tools: Sequence[str | None] | None = None, *, names: bool = True
    ) -> tuple[Sample, ...]:
        """Return a sample for each step of a plan.

        Args:
            tools: True tool of each step; None in place of an unknown one.
            names: Whether the steps keep tool names.
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


# Labels -------------------------------------------------------------------------------------------


def paired(plan: ToolPlan) -> tuple[str, ...] | None:
    """Return the tool of each step by GNN4Plan's rule; None if the rule does not cover the plan.

    The rule requires as many steps as tools, no repeated tool, and links that form a single path
    through all tools. The path determines the order of the tools.
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
    """Return the tool of each step by hvr's rule, which covers any plan; None where it is unclear.

    A step that names exactly one of the plan's tools calls it. If there are as many steps as tools,
    the other steps are paired with tools by position.
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
    """Split plans at random into a training part and a held-out part, which is `fraction` of them.

    At least one plan stays in the training part.
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

UNTRAINED = Decoder(Transitions(ToolGraph(())), weight=0.4, temperature=0.08, skip=-5.0)
"""Decoder settings of `untrained_retriever`, chosen on training plans of UltraTool and TMDB."""
FINE_SKIP = -3.0
"""The `skip` for steps finer than tools, chosen on steps that GPT-4 wrote for training requests
without seeing the tools.
"""


class ScoreSource(Protocol):
    """A source of scores for all tools of a graph, given the steps of a plan."""

    @property
    def graph(self) -> ToolGraph:
        """The graph whose tools are the columns of the scores."""

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        """Return scores per plan, shape (steps, tools); if `names`, steps keep tool names."""


@dataclass(frozen=True)
class TextScores:
    """Scores that are the cosines between the texts of steps and tools."""

    graph: ToolGraph
    encoder: TextVectors

    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        tools = self.tools()
        ids = [t.id for t in self.graph.tools]
        steps = [cleaned(p.steps, ids, names=names) for p in plans]
        vectors = self.encoder.encode([s for some in steps for s in some], "query")
        if not len(vectors):
            return [np.zeros((0, len(ids))) for _ in plans]
        ends = np.cumsum([len(some) for some in steps])
        return [rows @ tools.T for rows in np.split(vectors, ends[:-1])]

    def tools(self) -> NDArray[np.float32]:
        return self.encoder.encode([tool_text(t) for t in self.graph.tools], "passage")


@dataclass(frozen=True)
class Retriever:
    source: ScoreSource
    decoder: Decoder

    def retrieve(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[ToolPlan]:
        """Return the plans with the tools retrieved for their steps, as chains.

        The plans' own tools are ignored, and a plan without steps gets no tools. `names` keeps tool
        names in the steps.
        """
        decoded = decode(
            self.decoder,
            self.source.scores(plans, names=names),
            # Request ids may repeat, so use positions.
            [replace(p, id=str(i)) for i, p in enumerate(plans)],
            self.decoder.transitions,
        )
        return [replace(f, id=p.id) for f, p in zip(decoded.values(), plans, strict=True)]


def untrained_retriever(graph: ToolGraph, encoder: TextVectors, *, fine: bool = False) -> Retriever:
    """Return a retriever that needs no training plans, for any number of tools.

    It compares the texts of steps and tools, and finds the best sequence along the links. A step
    that continues the previous call is merged with it.

    Args:
        graph: Tools; if they have no links, only the texts count.
        fine: Whether steps may be finer than tools, so that a step without a match is skipped.
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
    """Train a scorer on true plans, and choose the decoder's settings.

    A part of the plans is held out for early stopping and for choosing the settings. If
    `config.refit`, the scorer is then retrained on all plans. Transitions are counted in all plans.

    Args:
        seen_links: Whether to keep only the links that occur in the training plans. While settings
            are chosen, links that occur only in the held-out part are excluded, so that they do not
            leak.

    Returns:
        The retriever, whose source is a `TrainedScores`.

    Raises:
        UsageError: No step can be paired with a tool.
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
        # `choose_decoder` identifies plans by id, so a plan used with and without names needs two
        # ids.
        twice = [replace(p, id=f"{p.id} {n}") for n in shown for p in held]
        decoder = choose_decoder(rows, twice, decoder.transitions)
    if config.refit and held:
        again = replace(config, epochs=max(1, trained.best))
        trained = train_scorer(again, last, plans, encoder, device=device, progress=progress)
    source = TrainedScores(last, config, trained.scorer, encoder)
    return Retriever(source, replace(decoder, transitions=count_transitions(last, plans)))

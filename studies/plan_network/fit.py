"""Training and evaluation of a verifier, from true plans to thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.judging.verifier.config import ProgressCallback, VerifierConfig, no_progress
from hvr.judging.verifier.features import (
    Alignment,
    Encoder,
    Margins,
    PathCounts,
    ToolEmbeddings,
    count_paths,
)
from hvr.judging.verifier.graph import PlanGraph, plan_graph
from hvr.judging.verifier.verdict import Thresholds
from hvr.judging.verifier.verifier import Plan, Verifier, fingerprint, logistic, make_encoder
from hvr.judging.verifier.wrong_plans import WRONG_PLAN_KINDS, WrongPlans
from hvr.tools.tool_plans import ToolGraph
from studies.plan_network.alignment_fit import FoldedAlignment, train_alignment
from studies.plan_network.perturbations import Perturbed, Perturber, made_wrong
from studies.plan_network.training import (
    Aucs,
    ContrastGroup,
    aucs,
    own_paths,
    samples,
    train_network,
)

_MORE = 4
"""Number of additional negatives per plan beyond the paper's."""
AnyPlan = TypeVar("AnyPlan")


def train(
    config: VerifierConfig,
    plans: Sequence[Plan],
    tools: ToolGraph,
    progress: ProgressCallback = no_progress,
    encoder: Encoder | None = None,
) -> Verifier:
    """Train a verifier on true plans.

    A part of the plans is held out for early stopping and for choosing the thresholds.

    Args:
        plans: True plans; plans without steps are skipped.
        encoder: Text encoder; by default the one that `config` names.

    Raises:
        UsageError: There are fewer than two plans, or the tools do not fit the configuration.
    """
    graphs = [
        p if isinstance(p, PlanGraph) else plan_graph(p, tools)
        for p in plans
        if isinstance(p, PlanGraph) or p.tools
    ]
    if len(graphs) < 2:
        raise UsageError(f"training needs at least two plans with steps, got {len(graphs)}")
    embeddings = ToolEmbeddings(tools, encoder or make_encoder(config), config)
    embeddings.prepare(graphs)
    fit, held = split(graphs, config)
    counts = count_paths(g.tools for g in graphs)
    alignment = train_alignment(config, embeddings, _pairs(fit), progress)
    perturber = Perturber(config, embeddings, counts, alignment)
    perturber.prepare(graphs)
    more = _more_negatives(config, embeddings, graphs)
    groups = [(*perturber.contrast_group(g), *more(g)) for g in fit]
    margins = None if config.own_margins else _cross_fitted(config, embeddings, groups, progress)
    held_groups = [(*perturber.contrast_group(g), *more(g)) for g in held]
    data = TrainingData(groups, held_groups, margins)
    return train_on(config, embeddings, counts, alignment, data, progress)


def _more_negatives(
    config: VerifierConfig, embeddings: ToolEmbeddings, graphs: Sequence[PlanGraph]
) -> Callable[[PlanGraph], list[Perturbed]]:
    if config.negatives == "paper":
        return lambda _: []
    maker = WrongPlans(embeddings, [g.plan() for g in graphs], config.seed)

    def more(graph: PlanGraph) -> list[Perturbed]:
        rng = Random(f"negatives {config.seed} {graph.id}")
        made = maker.of(graph.plan(), rng.sample(WRONG_PLAN_KINDS, _MORE))
        return [made_wrong(plan_graph(p, embeddings.tools), graph) for p in made.values()]

    return more


def _cross_fitted(
    config: VerifierConfig,
    embeddings: ToolEmbeddings,
    groups: Sequence[ContrastGroup],
    progress: ProgressCallback,
) -> FoldedAlignment:
    """Train two scorers, each on one half of the groups, for the margins of the other half."""
    folds = 2
    models = [
        train_alignment(
            config,
            embeddings,
            _pairs(f[0].graph for i, f in enumerate(groups) if i % folds != k),
            progress,
        )
        for k in range(folds)
    ]
    fold = [i % folds for i, f in enumerate(groups) for p in f for _ in p.graph.nodes]
    return FoldedAlignment(models, np.array(fold, dtype=np.int64))


@dataclass(frozen=True)
class TrainingData:
    """Contrast groups of true and wrong plans, from any source.

    Args:
        fit: Groups to train on.
        held: Groups for early stopping and for choosing the thresholds.
        margins: Source of the alignment margins of `fit`; by default the scorer g.
    """

    fit: Sequence[ContrastGroup]
    held: Sequence[ContrastGroup]
    margins: Margins | None = None


def train_on(
    config: VerifierConfig,
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    alignment: Alignment,
    data: TrainingData,
    progress: ProgressCallback = no_progress,
) -> Verifier:
    fit = samples(
        data.fit, config, embeddings, counts, data.margins or alignment,
        own_paths(data.fit, config),
    )  # fmt: skip
    held = samples(data.held, config, embeddings, counts, alignment, own_paths(data.held, config))
    network = train_network(config, fit, held, embeddings.texts.matrix, progress)
    logits = network.logits(held.arrays, embeddings.texts.matrix)
    thresholds = Thresholds(
        # Search the threshold on the risk scale, where wrong plans are the positives.
        round(1 - best_threshold(1 - logistic(logits.graph), held.wrong), 2),
        best_threshold(logistic(logits.node), held.node.numpy().astype(np.int64)),
        best_threshold(logistic(logits.edge), held.edge.numpy().astype(np.int64)),
    )
    trained_on = fingerprint([group[0].graph for group in (*data.fit, *data.held)])
    return Verifier(config, embeddings, counts, alignment, network, thresholds, trained_on)


def evaluate(verifier: Verifier, plans: Iterable[Plan], seed: int = 1) -> Aucs:
    """Measure the ROC-AUC of true plans outside the training set against their perturbations."""
    graphs = [verifier.graph(p) for p in plans]
    perturber = Perturber(
        verifier.config, verifier.embeddings, verifier.counts, verifier.alignment, seed
    )
    perturber.prepare(graphs)
    groups = [perturber.contrast_group(g) for g in graphs]
    held = samples(
        groups, verifier.config, verifier.embeddings, verifier.counts, verifier.alignment
    )
    return aucs(verifier.network.logits(held.arrays, verifier.embeddings.texts.matrix), held)


def split(plans: Sequence[AnyPlan], config: VerifierConfig) -> tuple[list[AnyPlan], list[AnyPlan]]:
    """Split at least two plans into a training part and a held-out part, as `train` does."""
    order = list(plans)
    Random(f"split {config.seed}").shuffle(order)
    held = min(max(1, round(config.held_out * len(order))), len(order) - 1)
    return order[held:], order[:held]


def _pairs(graphs: Iterable[PlanGraph]) -> list[tuple[str, str]]:
    return [(n.text, n.tool) for g in graphs for n in g.nodes]


def best_threshold(
    scores: Sequence[float] | NDArray[np.float32],
    labels: Sequence[int] | NDArray[np.int64],
    default: float = 0.5,
) -> float:
    """Return the threshold among .05, .10 … .95 with the highest F1 (appendix B.2).

    Scores at or above the threshold count as positive; the lowest threshold wins ties. The result
    is `default` if there are no positives.
    """
    values, positive = np.asarray(scores), np.asarray(labels) > 0
    best_f1, best = 0.0, default
    for threshold in [round(0.05 * i, 2) for i in range(1, 20)]:
        flagged = values >= threshold
        hits = int((flagged & positive).sum())
        f1 = 2 * hits / max(int(flagged.sum()) + int(positive.sum()), 1)
        if f1 > best_f1:
            best_f1, best = f1, threshold
    return best

"""Training and measuring a verifier, from true plans to thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

import numpy as np

from hvr.errors import UsageError
from hvr.tools.tool_graph import ToolGraph
from hvr.verifier.checkpoint import fingerprint
from hvr.verifier.config import VerifierConfig
from hvr.verifier.graph import PlanGraph, plan_graph
from hvr.verifier.network.alignment import Alignment, FoldedAlignment, Margins
from hvr.verifier.network.alignment_fit import train_alignment
from hvr.verifier.network.auc import best_threshold
from hvr.verifier.network.logistic import logistic
from hvr.verifier.network.path_counts import PathCounts, count_paths
from hvr.verifier.network.perturbations import Perturber
from hvr.verifier.network.progress import Tell, silent
from hvr.verifier.network.training import Aucs, Family, aucs, own_paths, samples, train_network
from hvr.verifier.tool_embeddings import Encoder, ToolSpace
from hvr.verifier.verdict import Thresholds
from hvr.verifier.verifier import Plan, Verifier, make_encoder

AnyPlan = TypeVar("AnyPlan")


def train(
    config: VerifierConfig,
    plans: Sequence[Plan],
    tools: ToolGraph,
    tell: Tell = silent,
    encoder: Encoder | None = None,
) -> Verifier:
    """Train a verifier on true plans.

    A share of them is held out: the stages are stopped by it, and thresholds chosen on it.

    Args:
        config: how.
        plans: true plans; those without steps are left out.
        tools: what plans can call.
        tell: is told of each epoch.
        encoder: of texts; what the configuration names if None.

    Raises:
        UsageError: there are fewer than two plans, or tools that do not fit the configuration.
    """
    graphs = [
        p if isinstance(p, PlanGraph) else plan_graph(p, tools)
        for p in plans
        if isinstance(p, PlanGraph) or p.tools
    ]
    if len(graphs) < 2:
        raise UsageError(f"{len(graphs)} plans to train on: there must be at least two")
    space = ToolSpace(tools, encoder or make_encoder(config), config)
    space.prepare(graphs)
    fit, held = split(graphs, config)
    counts = count_paths(g.tools for g in graphs)
    alignment = train_alignment(config, space, _pairs(fit), tell)
    perturber = Perturber(config, space, counts, alignment)
    perturber.prepare(graphs)
    families = [perturber.family(g) for g in fit]
    margins = None if config.own_margins else _folded(config, space, families, tell)
    judged = [perturber.family(g) for g in held]
    return train_on(config, space, counts, alignment, families, judged, tell, margins)


def _folded(
    config: VerifierConfig, space: ToolSpace, families: Sequence[Family], tell: Tell
) -> FoldedAlignment:
    """Two scorers, each for the families that the other learned from."""
    folds = 2
    models = [
        train_alignment(
            config,
            space,
            _pairs(f[0].graph for i, f in enumerate(families) if i % folds != k),
            tell,
        )
        for k in range(folds)
    ]
    fold = [i % folds for i, f in enumerate(families) for p in f for _ in p.graph.nodes]
    return FoldedAlignment(models, np.array(fold, dtype=np.int64))


def train_on(
    config: VerifierConfig,
    space: ToolSpace,
    counts: PathCounts,
    alignment: Alignment,
    fit: Sequence[Family],
    held: Sequence[Family],
    tell: Tell = silent,
    margins: Margins | None = None,
) -> Verifier:
    """Train a verifier on families of true and wrong plans, however they were made.

    Args:
        config: how.
        space: of the tools.
        counts: of paths in the training plans.
        alignment: the scorer g, trained.
        fit: families to learn from.
        held: families to stop by and to choose thresholds on.
        tell: is told of each epoch.
        margins: what the margins of `fit` come from; the scorer g if None.
    """
    own = own_paths(fit, config)
    fit_samples = samples(fit, config, space, counts, margins or alignment, own)
    held_samples = samples(held, config, space, counts, alignment, own_paths(held, config))
    network = train_network(config, fit_samples, held_samples, space.texts.matrix, tell)
    said = network.logits(held_samples.arrays, space.texts.matrix)
    thresholds = Thresholds(
        round(1 - best_threshold(1 - logistic(said.graph), held_samples.wrong), 2),
        best_threshold(logistic(said.node), held_samples.node.numpy().astype(np.int64)),
        best_threshold(logistic(said.edge), held_samples.edge.numpy().astype(np.int64)),
    )
    data = fingerprint([f[0].graph for f in (*fit, *held)])
    return Verifier(config, space, counts, alignment, network, thresholds, data)


def evaluate(verifier: Verifier, plans: Iterable[Plan], seed: int = 1) -> Aucs:
    """ROC-AUC on true plans and wrong ones that are made of them.

    Args:
        verifier: the judge.
        plans: true plans that it has not seen.
        seed: of the wrong ones.
    """
    graphs = [verifier.graph(p) for p in plans]
    perturber = Perturber(
        verifier.config, verifier.space, verifier.counts, verifier.alignment, seed
    )
    perturber.prepare(graphs)
    families = [perturber.family(g) for g in graphs]
    held = samples(families, verifier.config, verifier.space, verifier.counts, verifier.alignment)
    return aucs(verifier.network.logits(held.arrays, verifier.space.texts.matrix), held)


def split(plans: Sequence[AnyPlan], config: VerifierConfig) -> tuple[list[AnyPlan], list[AnyPlan]]:
    """Return the plans that `train` learns from, and those that it holds out; in whatever form.

    Args:
        plans: at least two.
        config: has the share and the seed.
    """
    order = list(plans)
    Random(f"split {config.seed}").shuffle(order)
    held = min(max(1, round(config.held_out * len(order))), len(order) - 1)
    return order[held:], order[:held]


def _pairs(graphs: Iterable[PlanGraph]) -> list[tuple[str, str]]:
    return [(n.text, n.tool) for g in graphs for n in g.nodes]

"""A trained verifier: plans in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np

from hvr.errors import UsageError
from hvr.plangraph.alignment import Alignment, FoldedAlignment, Margins, train_alignment
from hvr.plangraph.auc import best_threshold
from hvr.plangraph.batch import plan_arrays
from hvr.plangraph.config import VerifierConfig
from hvr.plangraph.graph import START, PlanGraph, plan_graph
from hvr.plangraph.network import PlanNetwork
from hvr.plangraph.path_counts import PathCounts, count_paths
from hvr.plangraph.perturb import Perturber
from hvr.plangraph.progress import Tell, silent
from hvr.plangraph.space import Encoder, Floats, ToolSpace
from hvr.plangraph.tool_plan import ToolPlan
from hvr.plangraph.tools import ToolGraph
from hvr.plangraph.training import (
    Aucs,
    Family,
    aucs,
    device_of,
    own_paths,
    predict,
    samples,
    train_network,
)
from hvr.plangraph.verdict import Finding, Thresholds, Verdict

Plan = ToolPlan | PlanGraph
AnyPlan = TypeVar("AnyPlan")


@dataclass
class Verifier:
    """Judges plans over the tools that it was trained on; unknown tools get no risk for free.

    Args:
        config: how it was trained.
        space: of the tools.
        counts: of paths in the training plans.
        alignment: the scorer g.
        network: the judge.
        thresholds: chosen on plans that were held out.
        data: fingerprint of the training plans.
    """

    config: VerifierConfig
    space: ToolSpace
    counts: PathCounts
    alignment: Alignment
    network: PlanNetwork
    thresholds: Thresholds
    data: str = ""

    @property
    def tools(self) -> ToolGraph:
        """The tools that it knows."""
        return self.space.tools

    def graph(self, plan: Plan) -> PlanGraph:
        """The graph of a plan.

        Raises:
            UsageError: the plan is empty or goes round in a circle.
        """
        return plan if isinstance(plan, PlanGraph) else plan_graph(plan, self.tools)

    def score(self, plans: Iterable[Plan]) -> list[Verdict]:
        """Judge plans, all in one go.

        Raises:
            UsageError: a plan is empty or goes round in a circle.
        """
        graphs = [self.graph(p) for p in plans]
        if not graphs:
            return []
        said = self._logits(graphs)
        node, edge = said[1].tolist(), said[2].tolist()
        found = []
        n = e = 0
        for graph, score in zip(graphs, said[0].tolist(), strict=True):
            nodes, edges = len(graph.nodes), len(graph.roots) + len(graph.edges)
            risks = tuple(node[n : n + nodes]), tuple(edge[e : e + edges])
            found.append(self._judged(graph, score, *risks))
            n, e = n + nodes, e + edges
        return found

    def plausibility(self, graphs: Sequence[PlanGraph]) -> Floats:
        """S of each graph (graphs,): what `score` finds, without the rest."""
        return self._logits(graphs)[0] if graphs else np.zeros(0, np.float32)

    def _logits(self, graphs: Sequence[PlanGraph]) -> tuple[Floats, Floats, Floats]:
        """S, P^V and P^E."""
        arrays = plan_arrays(graphs, self.space, self.counts, self.alignment)
        said = predict(self.network, arrays, self.space.texts.matrix, device_of(self.config))
        graph, node, edge = (x.sigmoid().numpy() for x in (said.graph, said.node, said.edge))
        return graph, node, edge

    def _judged(
        self, graph: PlanGraph, score: float, nodes: tuple[float, ...], edges: tuple[float, ...]
    ) -> Verdict:
        plain = Verdict(graph, score, nodes, edges, self.thresholds)
        limits = self.thresholds
        if max(nodes) < limits.node and max(edges) < limits.edge:
            return plain
        links = graph.all_edges
        found = [Finding(i, nodes[i], self._why_node(graph, i)) for i in plain.risky_nodes]
        found += [
            Finding(links[i], edges[i], self._why_edge(graph, *links[i])) for i in plain.risky_edges
        ]
        return replace(plain, findings=tuple(sorted(found, key=lambda f: -f.risk)))

    def _why_node(self, graph: PlanGraph, at: int) -> str:
        tool = graph.nodes[at].tool
        if not self.space.known(tool):
            return f"{tool} is not among the tools"
        near = self.space.near(tool)
        row = self.space.texts.rows([self.space.step_text(graph.nodes[at].text)])
        numbers = [self.tools.index(t) for t in (tool, *near)]
        g = self.alignment.table(self.space.texts.matrix[row], self.space.vectors[numbers])[0]
        if near and g[1:].max() > g[0]:
            return f"{near[int(g[1:].argmax())]} fits what the step says better than {tool}"
        return f"{tool} seems the wrong tool here, for this request and the steps beside it"

    def _why_edge(self, graph: PlanGraph, source: int, target: int) -> str:
        to = graph.nodes[target].tool
        if source == START:
            return f"a step before {to} seems to be missing"
        first = graph.nodes[source].tool
        between = self.counts.usual_between(first, to)
        if between:
            return f"between {first} and {to} there is usually {', '.join(between)}"
        if not self.counts.of((first, to)):
            return f"{to} never comes straight after {first} in the training plans"
        return f"a step between {first} and {to} seems to be missing"

    def save(self, folder: Path) -> None:
        """Write a checkpoint; see `hvr.plangraph.checkpoint`."""
        from hvr.plangraph.checkpoint import save

        save(self, folder)

    @classmethod
    def load(cls, folder: Path, encoder: Encoder | None = None) -> Verifier:
        """Read a checkpoint; see `hvr.plangraph.checkpoint`."""
        from hvr.plangraph.checkpoint import load

        return load(folder, encoder)


def make_encoder(config: VerifierConfig) -> Encoder:
    """The encoder that a configuration names, with vectors kept on disk.

    Raises:
        UsageError: there is no such encoder.
    """
    from hvr.retrieval.text_vectors import TextVectors

    return TextVectors(config.encoder)


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
    from hvr.plangraph.checkpoint import fingerprint

    own = own_paths(fit, config)
    fit_samples = samples(fit, config, space, counts, margins or alignment, own)
    held_samples = samples(held, config, space, counts, alignment, own_paths(held, config))
    network = train_network(config, fit_samples, held_samples, space.texts.matrix, tell)
    said = predict(network, held_samples.arrays, space.texts.matrix, device_of(config))
    thresholds = Thresholds(
        round(1 - best_threshold(1 - said.graph.sigmoid().numpy(), held_samples.wrong), 2),
        best_threshold(said.node.sigmoid().numpy(), held_samples.node.numpy().astype(np.int64)),
        best_threshold(said.edge.sigmoid().numpy(), held_samples.edge.numpy().astype(np.int64)),
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
    return aucs(verifier.network, held, verifier.space.texts.matrix, device_of(verifier.config))


def split(plans: Sequence[AnyPlan], config: VerifierConfig) -> tuple[list[AnyPlan], list[AnyPlan]]:
    """The plans that `train` learns from, and those that it holds out; in whatever form.

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

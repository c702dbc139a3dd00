"""The trained verifier: from plans to verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hvr.base.forks import NO_FORK
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.graph import START, PlanGraph, plan_graph
from hvr.judging.verifier.network.alignment import Alignment
from hvr.judging.verifier.network.arrays import plan_arrays
from hvr.judging.verifier.network.inference import TrainedNetwork
from hvr.judging.verifier.network.logistic import logistic
from hvr.judging.verifier.network.path_counts import PathCounts
from hvr.judging.verifier.tool_embeddings import Encoder, Floats, ToolEmbeddings
from hvr.judging.verifier.verdict import RiskFinding, Thresholds, Verdict
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

Plan = ToolPlan | PlanGraph


@dataclass
class Verifier:
    """A verifier of plans over the tools that it was trained on.

    Unknown tools are no risk by themselves: they are judged by their texts.

    Args:
        config: of its training.
        embeddings: of the tools.
        counts: of paths in the training plans.
        alignment: the scorer g.
        network: the graph neural network.
        thresholds: chosen on held-out plans.
        data: fingerprint of the training plans.
    """

    config: VerifierConfig
    embeddings: ToolEmbeddings
    counts: PathCounts
    alignment: Alignment
    network: TrainedNetwork
    thresholds: Thresholds
    data: str = ""

    @property
    def tools(self) -> ToolGraph:
        """The tools that it knows."""
        return self.embeddings.tools

    def graph(self, plan: Plan) -> PlanGraph:
        """Return the graph of a plan.

        Raises:
            UsageError: the plan is empty or goes round in a circle.
        """
        return plan if isinstance(plan, PlanGraph) else plan_graph(plan, self.tools)

    def score(self, plans: Iterable[Plan]) -> list[Verdict]:
        """Judge plans, all in one batch.

        Raises:
            UsageError: a plan is empty or goes round in a circle.
        """
        graphs = [self.graph(p) for p in plans]
        if not graphs:
            return []
        with NO_FORK:
            return self._verdicts(graphs)

    def _verdicts(self, graphs: Sequence[PlanGraph]) -> list[Verdict]:
        scores, node, edge = (values.tolist() for values in self._probabilities(graphs))
        verdicts = []
        n = e = 0
        for graph, score in zip(graphs, scores, strict=True):
            nodes, edges = len(graph.nodes), len(graph.roots) + len(graph.edges)
            risks = tuple(node[n : n + nodes]), tuple(edge[e : e + edges])
            verdicts.append(self._verdict(graph, score, *risks))
            n, e = n + nodes, e + edges
        return verdicts

    def plausibility(self, graphs: Sequence[PlanGraph]) -> Floats:
        """Return S of each graph (graphs,), as `score` does but without risks and reasons."""
        if not graphs:
            return np.zeros(0, np.float32)
        with NO_FORK:
            return self._probabilities(graphs)[0]

    def _probabilities(self, graphs: Sequence[PlanGraph]) -> tuple[Floats, Floats, Floats]:
        """Return S, P^V and P^E of equation 8."""
        arrays = plan_arrays(graphs, self.embeddings, self.counts, self.alignment)
        logits = self.network.logits(arrays, self.embeddings.texts.matrix)
        return logistic(logits.graph), logistic(logits.node), logistic(logits.edge)

    def _verdict(
        self, graph: PlanGraph, score: float, nodes: tuple[float, ...], edges: tuple[float, ...]
    ) -> Verdict:
        plain = Verdict(graph, score, nodes, edges, self.thresholds)
        limits = self.thresholds
        if max(nodes) < limits.node and max(edges) < limits.edge:
            return plain
        links = graph.all_edges
        findings = [RiskFinding(i, nodes[i], self._why_node(graph, i)) for i in plain.risky_nodes]
        findings += [
            RiskFinding(links[i], edges[i], self._why_edge(graph, *links[i]))
            for i in plain.risky_edges
        ]
        return replace(plain, findings=tuple(sorted(findings, key=lambda f: -f.risk)))

    def _why_node(self, graph: PlanGraph, at: int) -> str:
        tool = graph.nodes[at].tool
        if not self.embeddings.known(tool):
            return f"{tool} is not among the tools"
        near = self.embeddings.near(tool)
        row = self.embeddings.texts.rows([self.embeddings.step_text(graph.nodes[at].text)])
        numbers = [self.tools.index(t) for t in (tool, *near)]
        g = self.alignment.table(
            self.embeddings.texts.matrix[row], self.embeddings.vectors[numbers]
        )[0]
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

    def save(self, folder: Path, *, half: bool = False) -> None:
        """Write a checkpoint; see `hvr.judging.verifier.checkpoint`."""
        from hvr.judging.verifier.checkpoint import save

        save(self, folder, half=half)

    @classmethod
    def load(cls, folder: Path, encoder: Encoder | None = None) -> Verifier:
        """Read a checkpoint; see `hvr.judging.verifier.checkpoint`."""
        from hvr.judging.verifier.checkpoint import load

        return load(folder, encoder)


def make_encoder(config: VerifierConfig) -> Encoder:
    """Return the encoder that a configuration names, with vectors kept on disk.

    Raises:
        UsageError: there is no such encoder.
    """
    from hvr.knowledge.retrieval.text_vectors import TextVectors

    return TextVectors(config.encoder)

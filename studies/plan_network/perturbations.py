"""Perturb true plans, with labels (GNNVerifier, section 3.5 and appendix A).

Costs η of the operations, equations 17 to 19, with g as a probability, s the cosine of request and
tool, and m the length of the span:

REPLACE     1 - g(s_i, t')
DROP        m sum over dropped t of max(0, s(r, t))
COMPRESS    (m - 1) (1 - g(s_span, t*))
MADE WRONG  `MADE_WRONG_COST`, of `hvr.judging.verifier.wrong_plans`    hvr's own
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.features import Alignment, Floats, PathCounts, ToolEmbeddings
from hvr.judging.verifier.graph import PlanGraph, PlanGraphDraft, PlanNode, Span
from hvr.judging.verifier.verifier import logistic

Kind = Literal["REPLACE", "DROP", "COMPRESS", "MADE WRONG"]
MAX_TRIES = 50
"""Draws per requested perturbation; many fail or repeat another if there are few tools."""
UNSEEN_WEIGHT = 0.1
"""Weight of a span with an unobserved path, added to log(1 + f_n) of the others."""
MADE_WRONG_COST = 1.0
"""η of a plan from `hvr.judging.verifier.wrong_plans`, the same as for a bad REPLACE."""


@dataclass(frozen=True)
class Operation:
    """One operation on a true plan.

    Args:
        added: Id of the added tool, if any.
        cost: η of equations 17 to 19, at least 0.
    """

    kind: Kind
    removed: tuple[str, ...]
    added: str | None
    cost: float


@dataclass(frozen=True)
class Perturbed:
    """A perturbed plan with its labels (section 3.5.2).

    Args:
        operations: Operations applied to the true plan; empty for the true plan itself.
        node_labels: 1 for a wrong tool, by node.
        edge_labels: 1 for an edge with missing steps, by edge of `graph.all_edges`.
    """

    graph: PlanGraph
    operations: tuple[Operation, ...]
    node_labels: tuple[int, ...]
    edge_labels: tuple[int, ...]

    @property
    def cost(self) -> float:
        return sum(o.cost for o in self.operations)


def unharmed(graph: PlanGraph) -> Perturbed:
    """Return a true plan as a case without operations, with all labels 0."""
    return Perturbed(graph, (), (0,) * len(graph.nodes), (0,) * len(graph.all_edges))


def made_wrong(graph: PlanGraph, true: PlanGraph) -> Perturbed:
    """Label the tools in a wrong plan that the true plan of the same steps lacks."""
    called = set(true.tools)
    nodes = tuple(int(n.tool not in called) for n in graph.nodes)
    operation = Operation("MADE WRONG", (), None, MADE_WRONG_COST)
    return Perturbed(graph, (operation,), nodes, (0,) * len(graph.all_edges))


def replace_cost(fit: float) -> float:
    """Return η(REPLACE) = 1 - g (equation 17), where `fit` is g as a probability."""
    return 1 - fit


def drop_cost(relevances: Sequence[float]) -> float:
    """Return η(DROP) (equation 18), where `relevances` are s(r, t) of the dropped tools."""
    return len(relevances) * sum(max(0.0, s) for s in relevances)


def compress_cost(span: int, fit: float) -> float:
    """Return η(COMPRESS) (equation 19), where `span` tools became one with probability `fit`."""
    return (span - 1) * (1 - fit)


class Perturber:
    """Makes perturbations, which depend only on the seed and the plan's id.

    g is a logit, so costs of 1 - g would be unbounded; they use σ(g).

    Args:
        embeddings: Embeddings of the tools that may be added.
        seed: Seed to use instead of the configured one.
    """

    def __init__(
        self,
        config: VerifierConfig,
        embeddings: ToolEmbeddings,
        counts: PathCounts,
        alignment: Alignment,
        seed: int | None = None,
    ) -> None:
        self._config = config
        self._embeddings = embeddings
        self._counts = counts
        self._alignment = alignment
        self._projected_tools = alignment.project_tools(embeddings.vectors)
        self._seed = config.seed if seed is None else seed

    def prepare(self, graphs: Iterable[PlanGraph]) -> None:
        """Encode all texts of the plans and of their spans at once."""
        graphs = list(graphs)
        texts: dict[str, None] = {}
        for graph in graphs:
            draft = PlanGraphDraft(graph)
            for length in self._config.compress_spans:
                for span in draft.spans(length):
                    texts[self._joined(draft, span)] = None
        self._embeddings.prepare(graphs, texts)

    def contrast_group(self, graph: PlanGraph) -> tuple[Perturbed, ...]:
        """Return a true plan and its perturbations, two to four of them (equation 11) or fewer.

        No two of these plans call the same tools in the same order.
        """
        rng = Random(f"{self._seed} {graph.id}")
        count = 2 + _categorical(rng, self._config.graphs)
        group = [unharmed(graph)]
        seen = {graph.tools}
        for _ in range(MAX_TRIES * count):
            if len(group) > count:
                break
            perturbed = self._attempt(rng, graph)
            if perturbed is not None and perturbed.graph.tools not in seen:
                seen.add(perturbed.graph.tools)
                group.append(perturbed)
        return tuple(group)

    def _attempt(self, rng: Random, graph: PlanGraph) -> Perturbed | None:
        draft = PlanGraphDraft(graph)
        operations = []
        # Draw the number of operations, equation 12.
        for _ in range(1 + _categorical(rng, self._config.budgets)):
            operation = self._operate(rng, draft)
            if operation is None:
                return None
            operations.append(operation)
        perturbed, nodes, edges = draft.finish()
        return Perturbed(perturbed, tuple(operations), nodes, edges)

    def _operate(self, rng: Random, draft: PlanGraphDraft) -> Operation | None:
        """Apply one operation of a random kind; None if none is possible.

        If the one drawn of DROP and COMPRESS is impossible, the other is used.
        """
        if rng.random() < self._config.wrong_tool:
            return self._replace(rng, draft)
        if rng.random() < self._config.drop:
            return self._drop(rng, draft) or self._compress(rng, draft)
        return self._compress(rng, draft) or self._drop(rng, draft)

    def _replace(self, rng: Random, draft: PlanGraphDraft) -> Operation | None:
        """Replace a step's tool by one that fits, usually a similar one (A.1.2)."""
        places = [k for k in draft.sequence if k not in draft.wrong]
        rng.shuffle(places)
        for key in places:
            node = draft.nodes[key]
            tools = self._between(draft.before(key), draft.after(key), draft)
            tools -= {node.tool}
            near = [t for t in self._embeddings.near(node.tool) if t in tools]
            far = sorted(tools.difference(near))
            first, second = (near, far) if rng.random() < self._config.near else (far, near)
            if not (first or second):
                continue
            new = rng.choice(first or second)
            draft.retool(key, self._node(new, node.text))
            fit = self._fit(node.text, [new])[0]
            return Operation("REPLACE", (node.tool,), new, replace_cost(float(fit)))
        return None

    def _drop(self, rng: Random, draft: PlanGraphDraft) -> Operation | None:
        """Cut out a span whose ends fit together (A.1.3, equation 14)."""
        by_length = {
            length: [
                s
                for s in draft.spans(length)
                if self._untouched(s, draft) and self._shortcut_fits(s, draft)
            ]
            for length in range(1, len(self._config.spans) + 1)
        }
        lengths = [n for n, some in by_length.items() if some and self._config.spans[n - 1] > 0]
        if not lengths:
            return None
        # Redrawing the length until a span exists equals drawing from the lengths that have spans.
        probabilities = [self._config.spans[n - 1] for n in lengths]
        spans = by_length[rng.choices(lengths, probabilities)[0]]
        if rng.random() < self._config.by_motif:
            weights = [self._motif_weight(s, draft) for s in spans]
            span = rng.choices(spans, weights)[0]
        else:
            span = rng.choice(spans)
        tools = tuple(draft.nodes[k].tool for k in span.keys)
        relevance = self._embeddings.relevance(draft.request)
        cost = drop_cost([self._relevance(relevance, t) for t in tools])
        draft.cut(span)
        return Operation("DROP", tools, None, cost)

    def _compress(self, rng: Random, draft: PlanGraphDraft) -> Operation | None:
        """Replace a span by one tool, P(t*) ∝ exp(g(s_span, t*)) (A.1.3, equation 16)."""
        spans = [
            s
            for length in self._config.compress_spans
            for s in draft.spans(length)
            if self._untouched(s, draft)
        ]
        rng.shuffle(spans)
        for span in spans:
            tools = sorted(self._between(span.before, span.after, draft))
            if not tools:
                continue
            removed = tuple(draft.nodes[k].tool for k in span.keys)
            text = self._joined(draft, span)
            g = self._logits(text, tools)
            weights = np.exp(g - g.max())
            at = rng.choices(range(len(tools)), weights.tolist())[0]
            draft.merge(span, self._node(tools[at], text))
            cost = compress_cost(len(removed), float(logistic(g[at : at + 1])[0]))
            return Operation("COMPRESS", removed, tools[at], cost)
        return None

    def _between(
        self, before: Iterable[int], after: Iterable[int], draft: PlanGraphDraft
    ) -> set[str]:
        """Return the tools that fit between nodes and are not in the plan (equations 13, 15)."""
        fitting = self._embeddings.between(
            [draft.nodes[k].tool for k in before], [draft.nodes[k].tool for k in after]
        )
        present = {draft.nodes[k].tool for k in draft.sequence}
        return {self._embeddings.tools.tools[i].id for i in fitting.tolist()} - present

    def _shortcut_fits(self, span: Span, draft: PlanGraphDraft) -> bool:
        return all(
            connects(self._embeddings, draft.nodes[a].tool, draft.nodes[b].tool)
            for a in span.before
            for b in span.after
        )

    @staticmethod
    def _untouched(span: Span, draft: PlanGraphDraft) -> bool:
        return not draft.wrong.intersection(span.keys)

    def _motif_weight(self, span: Span, draft: PlanGraphDraft) -> float:
        """Return log(1 + f_n) of the span with its ends, plus `UNSEEN_WEIGHT`."""
        path = [draft.nodes[k].tool for k in (*span.before[:1], *span.keys, *span.after[:1])]
        return math.log1p(self._counts.of(path)) + UNSEEN_WEIGHT

    def _node(self, tool_id: str, text: str) -> PlanNode:
        tool = self._embeddings.tools.tool(tool_id)
        return PlanNode(tool_id, text, tool.inputs, tool.outputs)

    def _joined(self, draft: PlanGraphDraft, span: Span) -> str:
        return " ".join(self._embeddings.step_text(draft.nodes[k].text) for k in span.keys)

    def _logits(self, text: str, tools: Sequence[str]) -> Floats:
        row = self._embeddings.texts.rows([self._embeddings.step_text(text)])
        numbers = [self._embeddings.tools.index(t) for t in tools]
        return self._alignment.step_logits(
            self._embeddings.texts.matrix[row[0]], self._projected_tools[numbers]
        )

    def _fit(self, text: str, tools: Sequence[str]) -> Floats:
        return logistic(self._logits(text, tools))

    def _relevance(self, relevance: Floats, tool_id: str) -> float:
        if not self._embeddings.known(tool_id):
            return 0.0
        return float(relevance[self._embeddings.tools.index(tool_id)])


def connects(embeddings: ToolEmbeddings, source: str, target: str) -> bool:
    if not (embeddings.known(source) and embeddings.known(target)):
        return False
    tools = embeddings.tools
    return bool(embeddings.fits[tools.index(source), tools.index(target)])


def _categorical(rng: Random, probabilities: Sequence[float]) -> int:
    return rng.choices(range(len(probabilities)), probabilities)[0]

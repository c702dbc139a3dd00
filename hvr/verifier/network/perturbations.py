"""Plans made wrong on purpose, with a log of what is wrong (GNNVerifier, 3.5 and appendix A)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from hvr.verifier.config import VerifierConfig
from hvr.verifier.draft import PlanGraphDraft, Span
from hvr.verifier.graph import START, PlanGraph, PlanNode
from hvr.verifier.network.alignment import Alignment
from hvr.verifier.network.logistic import logistic
from hvr.verifier.network.path_counts import PathCounts
from hvr.verifier.tool_embeddings import Floats, ToolSpace

Kind = Literal["REPLACE", "DROP", "COMPRESS", "INSERT"]
_TRIES = 50
_SEEN_LEAST = 0.1


@dataclass(frozen=True)
class Operation:
    """One thing that was done to a true plan.

    Args:
        kind: what.
        removed: ids of the tools that went.
        added: id of the tool that came, if one did.
        cost: η of equations 17 to 19, at least 0.
    """

    kind: Kind
    removed: tuple[str, ...]
    added: str | None
    cost: float


@dataclass(frozen=True)
class Perturbed:
    """A plan, how wrong it is and where.

    Args:
        graph: the plan.
        operations: what was done to the true plan; none for the true plan itself.
        node_labels: 1 for a wrong tool (3.5.2), by node.
        edge_labels: 1 for an edge that skips something, by edge of `graph.all_edges`.
    """

    graph: PlanGraph
    operations: tuple[Operation, ...]
    node_labels: tuple[int, ...]
    edge_labels: tuple[int, ...]

    @property
    def cost(self) -> float:
        """c, the sum of the costs of the operations."""
        return sum(o.cost for o in self.operations)

    def target(self, tau: float) -> float:
        """Return the soft target y = exp(-c / tau), equation 9."""
        return math.exp(-self.cost / tau)


def unharmed(graph: PlanGraph) -> Perturbed:
    """Return a true plan: nothing is wrong with it."""
    return Perturbed(graph, (), (0,) * len(graph.nodes), (0,) * len(graph.all_edges))


def replace_cost(fit: float) -> float:
    """η(REPLACE), equation 17; `fit` is g as a share from 0 to 1."""
    return 1 - fit


def drop_cost(relevances: Sequence[float]) -> float:
    """η(DROP), equation 18; `relevances` are s(r, t) of the dropped tools."""
    return len(relevances) * sum(max(0.0, s) for s in relevances)


def compress_cost(span: int, fit: float) -> float:
    """η(COMPRESS), equation 19; `span` tools became one that fits so well, 0 to 1."""
    return (span - 1) * (1 - fit)


class Perturber:
    """Makes wrong plans from true ones; what comes out depends on the seed and the plan's id.

    g is a logit, which the costs cannot use as it is (1 - g would have no lower bound): there
    it goes through the logistic function.

    Args:
        config: chances and the seed.
        space: tools that may be put in.
        counts: of paths, for spans that are likely.
        alignment: the scorer g.
        seed: in place of the configuration's.
    """

    def __init__(
        self,
        config: VerifierConfig,
        space: ToolSpace,
        counts: PathCounts,
        alignment: Alignment,
        seed: int | None = None,
    ) -> None:
        self._config = config
        self._space = space
        self._counts = counts
        self._alignment = alignment
        self._sides = alignment.sides(space.vectors)
        self._seed = config.seed if seed is None else seed

    def prepare(self, graphs: Iterable[PlanGraph]) -> None:
        """Encode the texts of some plans and of their spans at once."""
        graphs = list(graphs)
        texts: dict[str, None] = {}
        for graph in graphs:
            draft = PlanGraphDraft(graph)
            for length in self._config.compress_spans:
                for span in draft.spans(length):
                    texts[self._joined(draft, span)] = None
        self._space.prepare(graphs, texts)

    def family(self, graph: PlanGraph) -> tuple[Perturbed, ...]:
        """Return a true plan, then the wrong ones made of it (equation 11): two to four, or fewer.

        No two of them call the same tools in the same order.
        """
        draw = Random(f"{self._seed} {graph.id}")
        wanted = 2 + _category(draw, self._config.graphs)
        found = [unharmed(graph)]
        seen = {graph.tools}
        for _ in range(_TRIES * wanted):
            if len(found) > wanted:
                break
            made = self._attempt(draw, graph)
            if made is not None and made.graph.tools not in seen:
                seen.add(made.graph.tools)
                found.append(made)
        return tuple(found)

    def _attempt(self, draw: Random, graph: PlanGraph) -> Perturbed | None:
        draft = PlanGraphDraft(graph)
        operations = []
        for _ in range(1 + _category(draw, self._config.budgets)):
            done = self._operate(draw, draft)
            if done is None:
                return None
            operations.append(done)
        made, nodes, edges = draft.finish()
        return Perturbed(made, tuple(operations), nodes, edges)

    def _operate(self, draw: Random, draft: PlanGraphDraft) -> Operation | None:
        """Return one operation; None where none of the drawn family can be done: the graph is
        redrawn.

        Of DROP and COMPRESS, the other one is done where the drawn one cannot be.
        """
        if draw.random() < self._config.insert:
            return self._insert(draw, draft)
        if draw.random() < self._config.wrong_tool:
            return self._replace(draw, draft)
        if draw.random() < self._config.drop:
            return self._drop(draw, draft) or self._compress(draw, draft)
        return self._compress(draw, draft) or self._drop(draw, draft)

    def _replace(self, draw: Random, draft: PlanGraphDraft) -> Operation | None:
        places = [k for k in draft.sequence if k not in draft.wrong]
        draw.shuffle(places)
        for key in places:
            node = draft.nodes[key]
            tools = self._between(draft.before(key), draft.after(key), draft)
            tools -= {node.tool}
            near = [t for t in self._space.near(node.tool) if t in tools]
            far = sorted(tools.difference(near))
            first, second = (near, far) if draw.random() < self._config.near else (far, near)
            if not (first or second):
                continue
            new = draw.choice(first or second)
            draft.retool(key, self._node(new, node.text))
            fit = self._fit(node.text, [new])[0]
            return Operation("REPLACE", (node.tool,), new, replace_cost(float(fit)))
        return None

    def _drop(self, draw: Random, draft: PlanGraphDraft) -> Operation | None:
        by_length = {
            length: [
                s
                for s in draft.spans(length, tail=self._config.drop_tail)
                if self._untouched(s, draft) and self._shortcut_fits(s, draft)
            ]
            for length in range(1, len(self._config.spans) + 1)
        }
        lengths = [n for n, spans_ in by_length.items() if spans_ and self._config.spans[n - 1] > 0]
        if not lengths:
            return None
        # Drawing the length again until there is a span is drawing from those that have one.
        chances = [self._config.spans[n - 1] for n in lengths]
        spans = by_length[draw.choices(lengths, chances)[0]]
        if draw.random() < self._config.by_motif:
            weights = [self._seen(s, draft) for s in spans]
            span = draw.choices(spans, weights)[0]
        else:
            span = draw.choice(spans)
        tools = tuple(draft.nodes[k].tool for k in span.keys)
        relevance = self._space.relevance(draft.request)
        cost = drop_cost([self._of(relevance, t) for t in tools])
        draft.cut(span)
        return Operation("DROP", tools, None, cost)

    def _compress(self, draw: Random, draft: PlanGraphDraft) -> Operation | None:
        spans = [
            s
            for length in self._config.compress_spans
            for s in draft.spans(length)
            if self._untouched(s, draft)
        ]
        draw.shuffle(spans)
        for span in spans:
            tools = sorted(self._between(span.before, span.after, draft))
            if not tools:
                continue
            gone = tuple(draft.nodes[k].tool for k in span.keys)
            text = self._joined(draft, span)
            g = self._logits(text, tools)
            weights = np.exp(g - g.max())
            at = draw.choices(range(len(tools)), weights.tolist())[0]
            draft.merge(span, self._node(tools[at], text))
            cost = compress_cost(len(gone), float(logistic(g[at : at + 1])[0]))
            return Operation("COMPRESS", gone, tools[at], cost)
        return None

    def _insert(self, draw: Random, draft: PlanGraphDraft) -> Operation | None:
        """Return hvr's own: a step too many, of a tool that the request may seem to need."""
        gaps = draft.gaps()
        draw.shuffle(gaps)
        relevance = self._space.relevance(draft.request)
        for source, target in gaps:
            before = [source] if source != START else []
            after = [target] if target is not None else []
            tools = sorted(self._between(before, after, draft))
            if not tools:
                continue
            near = np.array([self._of(relevance, t) for t in tools])
            at = draw.choices(range(len(tools)), np.exp(8 * (near - near.max())).tolist())[0]
            text = self._space.tools.tool(tools[at]).description or tools[at]
            draft.insert(source, target, self._node(tools[at], text))
            return Operation("INSERT", (), tools[at], 1 - max(0.0, float(near[at])))
        return None

    def _between(
        self, before: Iterable[int], after: Iterable[int], draft: PlanGraphDraft
    ) -> set[str]:
        """Return tools that fit between these nodes and are not in the plan (equations 13
        and 15).
        """
        fitting = self._space.between(
            [draft.nodes[k].tool for k in before], [draft.nodes[k].tool for k in after]
        )
        present = {draft.nodes[k].tool for k in draft.sequence}
        return {self._space.tools.tools[i].id for i in fitting.tolist()} - present

    def _shortcut_fits(self, span: Span, draft: PlanGraphDraft) -> bool:
        return all(
            self._space.connects(draft.nodes[a].tool, draft.nodes[b].tool)
            for a in span.before
            for b in span.after
        )

    @staticmethod
    def _untouched(span: Span, draft: PlanGraphDraft) -> bool:
        return not draft.wrong.intersection(span.keys)

    def _seen(self, span: Span, draft: PlanGraphDraft) -> float:
        """Return how usual the span is with its ends: log(1 + f_n), and a little for the unseen."""
        path = [draft.nodes[k].tool for k in (*span.before[:1], *span.keys, *span.after[:1])]
        return math.log1p(self._counts.of(path)) + _SEEN_LEAST

    def _node(self, tool_id: str, text: str) -> PlanNode:
        tool = self._space.tools.tool(tool_id)
        return PlanNode(tool_id, text, tool.inputs, tool.outputs)

    def _joined(self, draft: PlanGraphDraft, span: Span) -> str:
        return " ".join(self._space.step_text(draft.nodes[k].text) for k in span.keys)

    def _logits(self, text: str, tools: Sequence[str]) -> Floats:
        row = self._space.texts.rows([self._space.step_text(text)])
        numbers = [self._space.tools.index(t) for t in tools]
        return self._alignment.row(self._space.texts.matrix[row[0]], self._sides[numbers])

    def _fit(self, text: str, tools: Sequence[str]) -> Floats:
        return logistic(self._logits(text, tools))

    def _of(self, relevance: Floats, tool_id: str) -> float:
        return (
            float(relevance[self._space.tools.index(tool_id)])
            if (self._space.known(tool_id))
            else 0.0
        )


def _category(draw: Random, chances: Sequence[float]) -> int:
    return draw.choices(range(len(chances)), chances)[0]

"""Features of plan graphs (GNNVerifier, section 3.3): alignment, path counts and arrays."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.graph import PlanGraph, PlanNode
from hvr.tools.tool_plans import ToolGraph, without_tool
from hvr.values import cached_property

# Tool embeddings ----------------------------------------------------------------------------------
# Tool embeddings: text vectors, similar tools and compatibility.

Floats = NDArray[np.float32]
_WORD = re.compile(r"[A-Za-z0-9_.\-]+")


class Encoder(Protocol):
    def encode(self, texts: Sequence[str], role: Literal["", "query", "passage"] = "") -> Floats:
        """Return one vector per text, as a float32 array of shape (texts, dimension).

        `role` is the role of the texts in a search, which some models distinguish.
        """


class TextTable:
    """A growing table of vectors with one row per distinct text."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[tuple[str, str], int] = {}
        self._parts: list[Floats] = []

    def rows(
        self, texts: Sequence[str], role: Literal["", "query", "passage"] = "query"
    ) -> NDArray[np.int64]:
        """Return the row indexes of texts; new texts are encoded in one call."""
        new = list(dict.fromkeys(t for t in texts if (role, t) not in self._rows))
        if new:
            self._parts.append(np.asarray(self._encoder.encode(new, role), dtype=np.float32))
            size = len(self._rows)
            self._rows.update({(role, t): size + i for i, t in enumerate(new)})
        return np.fromiter((self._rows[role, t] for t in texts), np.int64, len(texts))

    def know(self, texts: Sequence[str], vectors: Floats) -> None:
        """Add texts whose vectors are known, shape (texts, dimension)."""
        if len(vectors) != len(texts):
            raise ValueError(f"expected {len(texts)} vectors, found {len(vectors)}")
        places = {t: i for i, t in enumerate(texts) if ("query", t) not in self._rows}
        if places:
            self._parts.append(np.asarray(vectors[list(places.values())], dtype=np.float32))
            size = len(self._rows)
            self._rows.update({("query", t): size + i for i, t in enumerate(places)})

    @property
    def matrix(self) -> Floats:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.zeros((0, 0), np.float32)


class ToolEmbeddings:
    """Vectors e(t) of tools and e(s) of texts (GNNVerifier, section 3.3.1)."""

    def __init__(self, tools: ToolGraph, encoder: Encoder, config: VerifierConfig) -> None:
        if not len(tools):
            raise UsageError("a verifier needs at least one tool")
        self.tools = tools
        self.texts = TextTable(encoder)
        self.config, self._typed = config, tools.typed
        self._ids = frozenset(t.id for t in tools.tools)
        self._clean: dict[str, str] = {}
        self.rows = self.texts.rows([self.tool_text(t.id) for t in tools.tools], "passage")
        self.vectors: Floats = self.texts.matrix[self.rows]
        self.types = sorted({x for t in tools.tools for x in (*t.inputs, *t.outputs)})

    def tool_text(self, tool_id: str) -> str:
        """Return the text that represents a tool to the encoder; for an unknown tool, its id."""
        if tool_id not in self.tools:
            return tool_id.replace("_", " ")
        description = self.tools.tool(tool_id).description or tool_id.replace("_", " ")
        if self.config.tool_text == "name_and_description":
            return f"{tool_id} # {description}"
        return description

    def step_text(self, text: str) -> str:
        """Return the text of a step for the encoder, with or without tool names as configured."""
        if self.config.step_names == "keep":
            return text
        if text not in self._clean:
            named = self._ids.intersection(_WORD.findall(text))
            self._clean[text] = without_tool(text, sorted(named, key=lambda t: (-len(t), t)))
        return self._clean[text]

    def default_step(self, number: int) -> str:
        tool = self.tools.tools[number]
        return self.step_text(tool.description or tool.id.replace("_", " "))

    def known(self, tool_id: str) -> bool:
        return tool_id in self.tools

    @cached_property
    def similarity(self) -> Floats:
        """Cosines cos(e(t), e(t')) between tools, shape (n, n)."""
        return np.asarray(self.vectors @ self.vectors.T, dtype=np.float32)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """N_K(t): indexes of the K most similar other tools, nearest first, shape (n, K)."""
        similarity = self.similarity.copy()
        np.fill_diagonal(similarity, -np.inf)
        k = min(self.config.neighbours, len(self.tools) - 1)
        # Rounding and a stable sort make the order of ties independent of the machine.
        return np.argsort(-np.round(similarity, 5), axis=1, kind="stable")[:, :k].astype(np.int64)

    def near(self, tool_id: str) -> tuple[str, ...]:
        """Return the ids of N_K(t), nearest first; empty for an unknown tool."""
        if not self.known(tool_id):
            return ()
        return tuple(
            self.tools.tools[i].id for i in self.neighbours[self.tools.index(tool_id)].tolist()
        )

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the row's tool can directly precede the column's tool; boolean, shape (n, n).

        It can if an output type of the former is an input type of the latter or, if no tool has
        types, if the tool graph links them.
        """
        n = len(self.tools)
        fits = np.zeros((n, n), dtype=np.bool_)
        if not self._typed:
            for a, b in self.tools.links:
                fits[self.tools.index(a), self.tools.index(b)] = True
            return fits
        place = {x: i for i, x in enumerate(self.types)}
        outputs = np.zeros((n, len(place)), np.float32)
        inputs = np.zeros((n, len(place)), np.float32)
        for i, tool in enumerate(self.tools.tools):
            outputs[i, [place[x] for x in tool.outputs]] = 1
            inputs[i, [place[x] for x in tool.inputs]] = 1
        return np.asarray(outputs @ inputs.T > 0)

    def between(self, before: Iterable[str], after: Iterable[str]) -> NDArray[np.int64]:
        """Return the indexes of the tools that fit after all of `before` and before all of `after`.

        There are none if `before` or `after` contains an unknown tool.
        """
        fitting = np.ones(len(self.tools), dtype=np.bool_)
        for tool in before:
            fitting &= self.fits[self.tools.index(tool)] if self.known(tool) else False
        for tool in after:
            fitting &= self.fits[:, self.tools.index(tool)] if self.known(tool) else False
        return np.flatnonzero(fitting).astype(np.int64)

    def compat(self, source: PlanNode, target: PlanNode) -> float:
        """Return the compatibility of an edge, from 0 to 1 (equation 4 of the GNNVerifier paper).

        For the tools t_u of `source` and t_v of `target`, it is
        |out(t_u) ∩ in(t_v)| / max(|in(t_v)|, 1) or, if no tool has types, 1 for a link of the tool
        graph and 0 otherwise.
        """
        if not self._typed:
            return float(self.tools.linked(source.tool, target.tool))
        needed = set(target.inputs)
        return len(needed.intersection(source.outputs)) / max(len(needed), 1)

    def relevance(self, request: str) -> Floats:
        """Return the similarity s(r, t) = cos(e(r), e(t)) of a request to each tool, shape (n,)."""
        row = self.texts.rows([request])[0]
        return np.asarray(self.vectors @ self.texts.matrix[row], dtype=np.float32)

    def prepare(self, graphs: Iterable[PlanGraph], more: Iterable[str] = ()) -> None:
        """Encode all texts of the plans, and `more`, in one call."""
        texts = dict.fromkeys(more)
        unknown: dict[str, None] = {}
        for graph in graphs:
            texts[graph.request] = None
            for node in graph.nodes:
                texts[self.step_text(node.text)] = None
                if not self.known(node.tool):
                    unknown[self.tool_text(node.tool)] = None
        self.texts.rows(list(texts))
        self.texts.rows(list(unknown), "passage")


# Alignment ----------------------------------------------------------------------------------------

_CHUNK = 8192
"""Rows per chunk, to bound memory."""


class Margins(Protocol):
    """A source of the alignment margins Δ in equation 3 of the GNNVerifier paper."""

    def margins(
        self, embeddings: ToolEmbeddings, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return Δ, shape (m,); see `Alignment.margins`."""


class Alignment:
    """The trained scorer g of how well a step and a tool match (section 3.3.2), in numpy.

        g(s, t) = MLP([e(s); e(t)]) = w · relu(W_s e(s) + b + W_t e(t)) + b_out      (equation 2)

    The first layer is applied to steps and tools separately and the results are added, which costs
    steps + tools instead of steps x tools.

    Args:
        tensors: W_s as `step.weight`, shape (hidden, dim); b as `step.bias`, shape (hidden,); W_t
            as `tool.weight`, shape (hidden, dim); w as `out.weight`, shape (1, hidden); b_out as
            `out.bias`, shape (1,).
    """

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self.tensors = dict(tensors)
        self._step, self._bias = tensors["step.weight"], tensors["step.bias"]
        self._tool = tensors["tool.weight"]
        self._out, self._shift = tensors["out.weight"][0], float(tensors["out.bias"][0])

    @staticmethod
    def shapes(dim: int, hidden: int) -> dict[str, tuple[int, ...]]:
        return {
            "step.weight": (hidden, dim),
            "step.bias": (hidden,),
            "tool.weight": (hidden, dim),
            "out.weight": (1, hidden),
            "out.bias": (1,),
        }

    def project_tools(self, tools: Floats) -> Floats:
        """Return W_t e(t), shape (tools, hidden), for tool vectors, shape (tools, dim)."""
        return np.asarray(tools @ self._tool.T, dtype=np.float32)

    def step_logits(self, step: Floats, projected: Floats) -> Floats:
        """Return g, shape (tools,), of a step vector, shape (dim,), and projected tools."""
        return self._last(self._step @ step + self._bias + projected)

    def table(self, steps: Floats, tools: Floats) -> Floats:
        """Return g for each step and tool, shape (steps, tools)."""
        right = self.project_tools(tools)
        # Bound the size of the intermediate array (steps, tools, hidden).
        size = max(1, _CHUNK * 64 // max(len(tools), 1))
        logits = np.zeros((len(steps), len(tools)), dtype=np.float32)
        for i in range(0, len(steps), size):
            left = steps[i : i + size] @ self._step.T + self._bias
            logits[i : i + size] = self._last(left[:, None] + right)
        return logits

    def margins(
        self, embeddings: ToolEmbeddings, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return the margins of equation 3 of the GNNVerifier paper, shape (m,).

            Δ = g(s, t) - max over t' in N_K(t) of g(s, t')

        Args:
            steps: Rows of the steps s in `embeddings.texts`, shape (m,).
            tools: Indexes of the tools t, shape (m,); -1 for an unknown tool, whose margin is 0.
        """
        if embeddings.neighbours.shape[1] == 0 or not len(steps):
            return np.zeros(len(steps), dtype=np.float32)
        # Plans of a contrast group share most steps and tools: compute each pair once.
        pairs, back = np.unique(np.stack([steps, tools], 1), axis=0, return_inverse=True)
        matrix = embeddings.texts.matrix
        right = self.project_tools(embeddings.vectors)
        margins = np.zeros(len(pairs), dtype=np.float32)
        for i in range(0, len(pairs), _CHUNK):
            part = pairs[i : i + _CHUNK]
            choice = np.concatenate([part[:, 1:], embeddings.neighbours[part[:, 1]]], axis=1)
            left = matrix[part[:, 0]] @ self._step.T + self._bias
            g = self._last(left[:, None] + right[choice])
            margins[i : i + _CHUNK] = g[:, 0] - g[:, 1:].max(1)
        # Unknown tools have no neighbours to compare with.
        margins[pairs[:, 1] < 0] = 0.0
        return np.asarray(margins[back.reshape(-1)], dtype=np.float32)

    def _last(self, hidden: Floats) -> Floats:
        return np.asarray(np.maximum(hidden, 0) @ self._out + self._shift, dtype=np.float32)


# Path counts --------------------------------------------------------------------------------------

Path = tuple[str, ...]
MAX_PATH = 4
"""Maximum number of tools in a counted path."""


@dataclass(frozen=True)
class PathCounts:
    """Counts f_2, f_3 and f_4 of paths of consecutive tools in training plans (section 3.3.1)."""

    counts: Mapping[Path, int] = field(default_factory=dict)
    _ends: Mapping[tuple[str, str], tuple[Path, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        ends: dict[tuple[str, str], list[Path]] = {}
        for path in self.counts:
            if len(path) > 2:
                ends.setdefault((path[0], path[-1]), []).append(path)
        object.__setattr__(self, "_ends", {k: tuple(v) for k, v in ends.items()})

    def of(self, path: Sequence[str], own: Mapping[Path, int] | None = None) -> int:
        """Return the count of a path, less its count in `own`."""
        key = tuple(path)
        count = self.counts.get(key, 0)
        return max(count - own.get(key, 0), 0) if own else count

    def pairwise(self, source: str, target: str, own: Mapping[Path, int] | None = None) -> float:
        """Return log(1 + f_2(t_u, t_v)), section 3.3.3."""
        return math.log1p(self.of((source, target), own))

    def multi_step(self, source: str, target: str, own: Mapping[Path, int] | None = None) -> float:
        """Return m(u, v), the maximum of log(1 + f_n) over paths of 3 or 4 tools.

        This is equation 5 of the GNNVerifier paper.
        """
        paths = self._ends.get((source, target), ())
        return math.log1p(max((self.of(p, own) for p in paths), default=0))

    def usual_between(self, source: str, target: str) -> Path:
        """Return the inner tools of the most frequent path of 3 or 4 tools between two tools.

        The result is empty unless this path is more frequent than a direct link.
        """
        paths = self._ends.get((source, target), ())
        best = max(paths, key=lambda p: (self.counts[p], -len(p), p), default=())
        return best[1:-1] if best and self.counts[best] > self.of((source, target)) else ()


def paths_of(tools: Sequence[str]) -> Counter[Path]:
    """Count the paths of two to four consecutive tools in a sequence."""
    return Counter(
        tuple(tools[i : i + n]) for n in range(2, MAX_PATH + 1) for i in range(len(tools) - n + 1)
    )


def count_paths(plans: Iterable[Sequence[str]]) -> PathCounts:
    total: Counter[Path] = Counter()
    for tools in plans:
        total.update(paths_of(tools))
    return PathCounts(dict(total))


# Arrays -------------------------------------------------------------------------------------------
# Features of the node of step s_i with tool t_i (section 3.3.2):
#
# e(t_i), e(s_i)           text embeddings, as rows of a table
# x_in(t_i), x_out(t_i)    multi-hot input and output types
# Δ_i                      alignment margin, equation 3
#
# Features of the edge from u to v (section 3.3.3):
#
# compat(u, v)             |out(t_u) ∩ in(t_v)| / max(|in(t_v)|, 1), equation 4
# log(1 + f_2(t_u, t_v))   pairwise co-occurrence
# m(u, v)                  max over paths π of 3 or 4 tools from t_u to t_v of log(1 + f_n(π)),
#                          equation 5
#
# Here f_n are the counts of paths of n tools in the training plans. Start and its edges have no
# features: the network learns embeddings for them.

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PlanArrays:
    """Features of several plan graphs, concatenated; the first node of each graph is Start.

    Args:
        request: Row of each request in the text table, shape (graphs,).
        node_ptr: Index of each graph's first node, then the number of nodes, shape (graphs + 1,).
        edge_ptr: Index of each graph's first edge, then the number of edges, shape (graphs + 1,).
        tool: Row of each tool text in the text table, shape (nodes,); 0 for Start.
        step: Row of each step text in the text table, shape (nodes,); 0 for Start.
        types: x_in, then x_out, shape (nodes, 2 x types).
        margin: Δ, shape (nodes,).
        edges: Sources and targets, shape (2, edges), as indexes in their graph, where Start is 0.
        edge_values: compat, log(1 + f_2) and m, shape (edges, 3); 0 for edges from Start.
    """

    request: Ints
    node_ptr: Ints
    edge_ptr: Ints
    tool: Ints
    step: Ints
    types: Floats
    margin: Floats
    edges: Ints
    edge_values: Floats

    def __len__(self) -> int:
        return len(self.request)

    def rows(self, graphs: Ints) -> tuple[Ints, Ints]:
        """Return the rows of graphs in the arrays of node labels (no Start) and of edge labels."""
        nodes, _, at = row_ranges(self.node_ptr, graphs)
        graph_of = np.searchsorted(self.node_ptr, nodes, side="right")
        return (nodes - graph_of)[at > 0], row_ranges(self.edge_ptr, graphs)[0]


def plan_arrays(
    graphs: Sequence[PlanGraph],
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    alignment: Margins,
    own: Sequence[Mapping[Path, int] | None] | None = None,
) -> PlanArrays:
    """Compute the features of plan graphs (section 3.3).

    `own` contains the path counts of each graph's own plan, which are subtracted from `counts`.
    """
    embeddings.prepare(graphs)
    nodes = [n for g in graphs for n in g.nodes]
    step_rows = embeddings.texts.rows([embeddings.step_text(n.text) for n in nodes])
    numbers, tool_rows = _tool_rows(nodes, embeddings)
    sizes = np.fromiter((len(g.nodes) for g in graphs), np.int64, len(graphs))
    node_ptr = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
    real = np.ones(int(node_ptr[-1]), dtype=np.bool_)
    real[node_ptr[:-1]] = False

    def with_start(values: NDArray[np.generic]) -> NDArray[np.generic]:
        padded = np.zeros((len(real), *values.shape[1:]), dtype=values.dtype)
        padded[real] = values
        return padded

    edge_ptr, edges, edge_values = _edge_arrays(
        graphs, embeddings, counts, own or [None] * len(graphs)
    )
    margins = alignment.margins(embeddings, step_rows, numbers)
    return PlanArrays(
        request=embeddings.texts.rows([g.request for g in graphs]),
        node_ptr=node_ptr,
        edge_ptr=edge_ptr,
        tool=np.asarray(with_start(tool_rows), np.int64),
        step=np.asarray(with_start(step_rows), np.int64),
        types=np.asarray(with_start(_types(nodes, embeddings)), np.float32),
        margin=np.asarray(with_start(margins), np.float32),
        edges=edges,
        edge_values=edge_values,
    )


def _tool_rows(nodes: Sequence[PlanNode], embeddings: ToolEmbeddings) -> tuple[Ints, Ints]:
    """Return each node's tool index (-1 if unknown), and the row of the tool's text."""
    numbers = np.fromiter(
        (embeddings.tools.index(n.tool) if embeddings.known(n.tool) else -1 for n in nodes),
        np.int64,
        len(nodes),
    )
    rows = embeddings.rows[numbers]
    for i in np.flatnonzero(numbers < 0).tolist():
        rows[i] = embeddings.texts.rows([embeddings.tool_text(nodes[i].tool)], "passage")[0]
    return numbers, rows


def _edge_arrays(
    graphs: Sequence[PlanGraph],
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    own: Sequence[Mapping[Path, int] | None],
) -> tuple[Ints, Ints, Floats]:
    ptr = [0]
    edges: list[tuple[int, int]] = []
    values: list[tuple[float, float, float]] = []
    for graph, own_paths in zip(graphs, own, strict=True):
        roots = graph.roots
        edges += [(0, root + 1) for root in roots]
        values += [(0.0, 0.0, 0.0)] * len(roots)
        for a, b in graph.edges:
            u, v = graph.nodes[a], graph.nodes[b]
            edges.append((a + 1, b + 1))
            values.append(
                (
                    embeddings.compat(u, v),
                    counts.pairwise(u.tool, v.tool, own_paths),
                    counts.multi_step(u.tool, v.tool, own_paths),
                )
            )
        ptr.append(len(edges))
    return (
        np.array(ptr, dtype=np.int64),
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        np.array(values, dtype=np.float32).reshape(-1, 3),
    )


def _types(nodes: Sequence[PlanNode], embeddings: ToolEmbeddings) -> Floats:
    """Return x_in and x_out, shape (nodes, 2 x types), without types that no tool has."""
    place = {t: i for i, t in enumerate(embeddings.types)}
    multi_hot = np.zeros((len(nodes), 2 * len(place)), dtype=np.float32)
    if not place:
        return multi_hot
    for i, node in enumerate(nodes):
        for kind in node.inputs:
            if kind in place:
                multi_hot[i, place[kind]] = 1
        for kind in node.outputs:
            if kind in place:
                multi_hot[i, len(place) + place[kind]] = 1
    return multi_hot


def row_ranges(ptr: Ints, graphs: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the rows of the selected graphs, concatenated.

    Args:
        ptr: Index of each graph's first row, then the number of rows, shape (all graphs + 1,).
        graphs: Indexes of the selected graphs.

    Returns:
        For each row: its index, its graph's index in the selection, and its index in its graph.
    """
    sizes = ptr[graphs + 1] - ptr[graphs]
    which = np.repeat(np.arange(len(graphs)), sizes)
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return ptr[graphs][which] + at, which, at

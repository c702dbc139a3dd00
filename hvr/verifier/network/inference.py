"""The trained network as it is used: numpy alone, which loads in a moment.

`network.py` is the same network as it is trained. A robot's plan is judged once, and the second
that this takes should not begin with ten for the import of a library to train with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hvr.verifier.config import VerifierConfig
from hvr.verifier.network.arrays import Ints, PlanArrays
from hvr.verifier.tool_embeddings import Floats

_AT_ONCE = 2048


@dataclass(frozen=True)
class PlanLogits:
    """What the heads say, before the logistic function (equation 8).

    Args:
        graph: z(G) (graphs,); high is plausible.
        node: z^V (nodes without Start,); high is risky.
        edge: z^E (edges,); high is risky.
    """

    graph: Floats
    node: Floats
    edge: Floats


class TrainedNetwork:
    """Attributes in, three kinds of logits out.

    Args:
        config: widths and what is taken away.
        tensors: those of `shapes`, as `PlanNetwork.state_dict` names them.
    """

    def __init__(self, config: VerifierConfig, tensors: Mapping[str, Floats]) -> None:
        self.config = config
        self.tensors = dict(tensors)

    @staticmethod
    def shapes(config: VerifierConfig, text: int, types: int) -> dict[str, tuple[int, ...]]:
        """Return which tensors there are.

        Args:
            config: widths and what is taken away.
            text: size of the vectors of texts.
            types: number of types, of inputs and outputs together.
        """
        wide = config.hidden
        shapes: dict[str, tuple[int, ...]] = {"start_node": (wide,), "start_edge": (wide,)}

        def linear(name: str, size_in: int, size_out: int) -> None:
            shapes[f"{name}.weight"] = (size_out, size_in)
            shapes[f"{name}.bias"] = (size_out,)

        def two_layers(name: str, size_in: int, size_out: int) -> None:
            linear(f"{name}.0", size_in, wide)
            linear(f"{name}.3", wide, size_out)

        linear("node_in.0", text + types + (text + 1 if config.node_features else 0), wide)
        linear("edge_in.0", 3 if config.edge_features else 1, wide)
        for i in range(config.layers):
            shapes[f"layers.{i}.epsilon"] = ()
            two_layers(f"layers.{i}.update", wide, wide)
            if config.use_messages:
                two_layers(f"layers.{i}.into.phi", 2 * wide + text, wide)
                two_layers(f"layers.{i}.out.phi", 2 * wide + text, wide)
            else:
                two_layers(f"layers.{i}.alone", wide + text, wide)
        two_layers("graph_head", 2 * wide if config.readout == "mean_max" else wide, 1)
        two_layers("node_head", wide, 1)
        two_layers("edge_head", 3 * wide, 1)
        return shapes

    def logits(self, arrays: PlanArrays, texts: Floats) -> PlanLogits:
        """Judge plans.

        Args:
            arrays: the plans, at least one.
            texts: the text table (rows, text).
        """
        parts = [
            self._part(arrays, texts, i, min(i + _AT_ONCE, len(arrays)))
            for i in range(0, len(arrays), _AT_ONCE)
        ]
        graph, node, edge = (np.concatenate([p[k] for p in parts]) for k in range(3))
        return PlanLogits(graph, node, edge)

    def _part(
        self, arrays: PlanArrays, texts: Floats, first: int, last: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return logits of the graphs from `first` to before `last`."""
        n0, n1 = arrays.node_ptr[first], arrays.node_ptr[last]
        e0, e1 = arrays.edge_ptr[first], arrays.edge_ptr[last]
        node_ptr = arrays.node_ptr[first : last + 1] - n0
        edge_sizes = np.diff(arrays.edge_ptr[first : last + 1])
        start = np.zeros(n1 - n0, dtype=np.bool_)
        start[node_ptr[:-1]] = True
        node_graph = np.repeat(np.arange(last - first), np.diff(node_ptr))
        edge_graph = np.repeat(np.arange(last - first), edge_sizes)
        source, target = arrays.edges[:, e0:e1] + node_ptr[:-1][edge_graph]
        request = texts[arrays.request[first:last]]

        given = [texts[arrays.tool[n0:n1]], arrays.types[n0:n1]]
        if self.config.node_features:
            given += [texts[arrays.step[n0:n1]], arrays.margin[n0:n1, None]]
        h = np.maximum(self._linear("node_in.0", np.concatenate(given, axis=1)), 0)
        h[start] = self.tensors["start_node"]
        values = arrays.edge_values[e0:e1]
        values = values if self.config.edge_features else values[:, :1]
        x = np.maximum(self._linear("edge_in.0", values), 0)
        x[start[source]] = self.tensors["start_edge"]
        to_target, to_source = _Groups(target, len(h)), _Groups(source, len(h))
        for i in range(self.config.layers):
            name = f"layers.{i}"
            if self.config.use_messages:
                heard = self._heard(
                    f"{name}.into.phi", h, x, request, edge_graph, source, to_target
                )
                heard += self._heard(
                    f"{name}.out.phi", h, x, request, edge_graph, target, to_source
                )
            else:
                heard = self._two(f"{name}.alone", np.concatenate([h, request[node_graph]], axis=1))
            h = self._two(f"{name}.update", (1 + self.tensors[f"{name}.epsilon"]) * h + heard)
        ends = np.concatenate([h[source], h[target], x], axis=1)
        graph = self._two("graph_head", self._readout(h[~start], node_graph[~start], last - first))
        return (
            graph[:, 0],
            self._two("node_head", h[~start])[:, 0],
            self._two("edge_head", ends)[:, 0],
        )

    def _heard(
        self, phi: str, h: Floats, x: Floats, request: Floats, of: Ints, who: Ints, whom: _Groups
    ) -> Floats:
        """Return one line of equation 6; φ's first layer for nodes, edges and requests apart."""
        wide = self.config.hidden
        weight, bias = self.tensors[f"{phi}.0.weight"], self.tensors[f"{phi}.0.bias"]
        asked = request @ weight[:, 2 * wide :].T + bias
        told = (h @ weight[:, :wide].T)[who] + x @ weight[:, wide : 2 * wide].T + asked[of]
        return whom.total(self._linear(f"{phi}.3", np.maximum(told, 0)))

    def _readout(self, h: Floats, graph: Ints, graphs: int) -> Floats:
        """Return the mean over the steps of each plan, and their largest where that is chosen."""
        groups = _Groups(graph, graphs)
        count = np.maximum(np.bincount(graph, minlength=graphs), 1)[:, None]
        mean = groups.total(h) / count.astype(np.float32)
        if self.config.readout == "mean":
            return np.asarray(mean, dtype=np.float32)
        return np.concatenate([mean, groups.largest(h)], axis=1)

    def _two(self, name: str, values: Floats) -> Floats:
        return self._linear(f"{name}.3", np.maximum(self._linear(f"{name}.0", values), 0))

    def _linear(self, name: str, values: Floats) -> Floats:
        outputs = values @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]
        return np.asarray(outputs, dtype=np.float32)


class _Groups:
    """Rows that belong together.

    Args:
        group: of each row (rows,).
        count: how many groups there are.
    """

    def __init__(self, group: Ints, count: int) -> None:
        self._order = np.argsort(group, kind="stable")
        there, self._first = np.unique(group[self._order], return_index=True)
        self._there, self._count = there, count

    def total(self, rows: Floats) -> Floats:
        """Return the sum of the rows of each group; 0 for an empty one (count, size)."""
        return self._of(np.add, rows)

    def largest(self, rows: Floats) -> Floats:
        """Return the largest of the rows of each group; 0 for an empty one (count, size)."""
        return self._of(np.maximum, rows)

    def _of(self, how: np.ufunc, rows: Floats) -> Floats:
        found = np.zeros((self._count, rows.shape[1]), dtype=np.float32)
        if len(self._there):
            found[self._there] = how.reduceat(rows[self._order], self._first, axis=0)
        return found

"""The trained verifier: from plans to verdicts, with a network in numpy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from hvr.base.files import digest, file_set_name, read_set, write_set
from hvr.base.forks import NO_FORK
from hvr.base.texts import read_bytes, read_json
from hvr.errors import DataFileError, HvrError
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.features import (
    Alignment,
    Encoder,
    Floats,
    Ints,
    PathCounts,
    PlanArrays,
    ToolEmbeddings,
    plan_arrays,
)
from hvr.judging.verifier.graph import START, PlanGraph, plan_graph
from hvr.judging.verifier.verdict import RiskFinding, Thresholds, Verdict
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan

# Inference ----------------------------------------------------------------------------------------
# Inference in numpy alone: a robot's plan is judged once, in less than a second, and importing
# PyTorch and PyG would take several times as long.

_CHUNK = 2048
"""Plans per chunk, to bound memory."""

Values = TypeVar("Values")


@dataclass(frozen=True)
class PlanLogits(Generic[Values]):
    """Outputs of the network's heads before the logistic function.

    Equation 8 of the GNNVerifier paper gives their probabilities.

    Args:
        graph: z(G), shape (graphs,); high means plausible.
        node: z^V, shape (nodes without Start,); high means risky.
        edge: z^E, shape (edges,); high means risky.
    """

    graph: Values
    node: Values
    edge: Values


class TrainedNetwork:
    """The verifier network (sections 3.3 and 3.4): logits of a plan, its steps and its links.

        h_v = relu(W_node [e(t); x_in; x_out; e(s); Δ] + b)    a learnt vector for Start
        x_uv = relu(W_edge [compat; log(1 + f_2); m] + b)      a learnt vector for Start's edges
        h_v <- MLP((1 + ε) h_v + m_v,in + m_v,out)             L rounds, equations 6 and 7
        z(G) = MLP_graph(readout of h_v)                       equation 8
        z^V(v) = MLP_node(h_v)
        z^E(u, v) = MLP_edge([h_u; h_v; x_uv])

    h has shape (nodes, hidden), x shape (edges, hidden). The readout is the mean over the steps,
    without Start, or mean and maximum (`config.readout`).

    Args:
        tensors: Tensors by name, as in `shapes` and `PlanNetwork.state_dict`.
    """

    def __init__(self, config: VerifierConfig, tensors: Mapping[str, Floats]) -> None:
        self.config = config
        self.tensors = dict(tensors)

    @staticmethod
    def shapes(config: VerifierConfig, text: int, types: int) -> dict[str, tuple[int, ...]]:
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

    def logits(self, arrays: PlanArrays, texts: Floats) -> PlanLogits[Floats]:
        """Compute the logits of plans; `texts` are the vectors in the text table."""
        parts = [
            self._part(arrays, texts, i, min(i + _CHUNK, len(arrays)))
            for i in range(0, len(arrays), _CHUNK)
        ]
        graph, node, edge = (np.concatenate([p[k] for p in parts]) for k in range(3))
        return PlanLogits(graph, node, edge)

    def _part(
        self, arrays: PlanArrays, texts: Floats, first: int, last: int
    ) -> tuple[Floats, Floats, Floats]:
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

        features = [texts[arrays.tool[n0:n1]], arrays.types[n0:n1]]
        if self.config.node_features:
            features += [texts[arrays.step[n0:n1]], arrays.margin[n0:n1, None]]
        h = np.maximum(self._linear("node_in.0", np.concatenate(features, axis=1)), 0)
        # Start has neither text nor types, only a learnt embedding.
        h[start] = self.tensors["start_node"]
        values = arrays.edge_values[e0:e1]
        values = values if self.config.edge_features else values[:, :1]
        x = np.maximum(self._linear("edge_in.0", values), 0)
        x[start[source]] = self.tensors["start_edge"]
        to_target, to_source = _Segments(target, len(h)), _Segments(source, len(h))
        for i in range(self.config.layers):
            name = f"layers.{i}"
            if self.config.use_messages:
                received = self._messages(
                    f"{name}.into.phi", h, x, request, edge_graph, source, to_target
                )
                received += self._messages(
                    f"{name}.out.phi", h, x, request, edge_graph, target, to_source
                )
            else:
                joined = np.concatenate([h, request[node_graph]], axis=1)
                received = self._mlp(f"{name}.alone", joined)
            h = self._mlp(f"{name}.update", (1 + self.tensors[f"{name}.epsilon"]) * h + received)
        ends = np.concatenate([h[source], h[target], x], axis=1)
        graph = self._mlp("graph_head", self._readout(h[~start], node_graph[~start], last - first))
        return (
            graph[:, 0],
            self._mlp("node_head", h[~start])[:, 0],
            self._mlp("edge_head", ends)[:, 0],
        )

    def _messages(
        self,
        phi: str,
        h: Floats,
        x: Floats,
        request: Floats,
        of: Ints,
        sender: Ints,
        receivers: _Segments,
    ) -> Floats:
        """Return the sum of messages to each node along links of one direction (equation 6)."""
        # The result has the shape (nodes, hidden). φ's first layer is split as in
        # `studies.plan_network.network.Messages`.
        wide = self.config.hidden
        weight, bias = self.tensors[f"{phi}.0.weight"], self.tensors[f"{phi}.0.bias"]
        context = request @ weight[:, 2 * wide :].T + bias
        hidden = (h @ weight[:, :wide].T)[sender] + x @ weight[:, wide : 2 * wide].T + context[of]
        return receivers.sum(self._linear(f"{phi}.3", np.maximum(hidden, 0)))

    def _readout(self, h: Floats, graph: Ints, graphs: int) -> Floats:
        plans = _Segments(graph, graphs)
        count = np.maximum(np.bincount(graph, minlength=graphs), 1)[:, None]
        mean = plans.sum(h) / count.astype(np.float32)
        if self.config.readout == "mean":
            return np.asarray(mean, dtype=np.float32)
        return np.concatenate([mean, plans.max(h)], axis=1)

    def _mlp(self, name: str, values: Floats) -> Floats:
        return self._linear(f"{name}.3", np.maximum(self._linear(f"{name}.0", values), 0))

    def _linear(self, name: str, values: Floats) -> Floats:
        outputs = values @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]
        return np.asarray(outputs, dtype=np.float32)


class _Segments:
    """Sums and maxima over segments of rows, as in `torch_scatter`; rows are sorted only once."""

    def __init__(self, segment: Ints, count: int) -> None:
        self._order = np.argsort(segment, kind="stable")
        self._present, self._first = np.unique(segment[self._order], return_index=True)
        self._count = count

    def sum(self, rows: Floats) -> Floats:
        return self._reduced(np.add, rows)

    def max(self, rows: Floats) -> Floats:
        return self._reduced(np.maximum, rows)

    def _reduced(self, ufunc: np.ufunc, rows: Floats) -> Floats:
        reduced = np.zeros((self._count, rows.shape[1]), dtype=np.float32)
        if len(self._present):
            reduced[self._present] = ufunc.reduceat(rows[self._order], self._first, axis=0)
        return reduced


# Logistic -----------------------------------------------------------------------------------------


def logistic(logits: Floats) -> Floats:
    """Return σ(z) = 1 / (1 + exp(-z)) of logits without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), dtype=np.float32)


# Verifier -----------------------------------------------------------------------------------------

Plan = ToolPlan | PlanGraph


@dataclass
class Verifier:
    """A verifier of plans for the tools of its training data.

    An unknown tool is judged by the text of its step, and is not a risk in itself.
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
        return self.embeddings.tools

    def graph(self, plan: Plan) -> PlanGraph:
        return plan if isinstance(plan, PlanGraph) else plan_graph(plan, self.tools)

    def score(self, plans: Iterable[Plan]) -> list[Verdict]:
        """Judge plans in one batch.

        Raises:
            UsageError: A plan is empty or has a cycle.
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
        """Return the score S of each graph, shape (graphs,), without risks and reasons."""
        if not graphs:
            return np.zeros(0, np.float32)
        with NO_FORK:
            return self._probabilities(graphs)[0]

    def _probabilities(self, graphs: Sequence[PlanGraph]) -> tuple[Floats, Floats, Floats]:
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
            return f"{near[int(g[1:].argmax())]} fits the text of the step better than {tool}"
        return f"{tool} seems wrong for this request and the neighbouring steps"

    def _why_edge(self, graph: PlanGraph, source: int, target: int) -> str:
        to = graph.nodes[target].tool
        if source == START:
            return f"a step before {to} seems to be missing"
        first = graph.nodes[source].tool
        between = self.counts.usual_between(first, to)
        if between:
            return f"{', '.join(between)} usually comes between {first} and {to}"
        if not self.counts.of((first, to)):
            return f"{to} never directly follows {first} in the training plans"
        return f"a step between {first} and {to} seems to be missing"

    def save(self, folder: Path, *, half: bool = False) -> None:

        save(self, folder, half=half)

    @classmethod
    def load(cls, folder: Path, encoder: Encoder | None = None) -> Verifier:
        return load(folder, encoder)


def make_encoder(config: VerifierConfig) -> Encoder:
    """Return the encoder that a configuration names; it caches vectors on disk."""
    from hvr.knowledge.retrieval.embedders import TextVectors

    return TextVectors(config.encoder)


# Checkpoint ---------------------------------------------------------------------------------------
# Checkpoints of verifiers: a folder whose `verifier.json` names its other files.
#
# verifier.json                settings, tools and links; for a network also counts and thresholds
# verifier-….safetensors       tensors of a network
# judge-….json                 a judge (`hvr.judging.verifier.judgement.judge`)
# judge-….safetensors          tensors of the judge

VALUES = "verifier.json"
_KIND = "hvr plan verifier"
_VERSION = 2


def fingerprint(graphs: Iterable[PlanGraph]) -> str:
    """Return 16 hex digits that identify a set of plans, whatever the order of the plans."""
    lines = sorted(
        json.dumps([g.id, g.request, [(n.tool, n.text) for n in g.nodes], g.edges]) for g in graphs
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def tools_fingerprint(tools: ToolGraph) -> str:
    return hashlib.sha256(json.dumps(_tools_json(tools)).encode()).hexdigest()[:16]


def save(verifier: Verifier, folder: Path, *, half: bool = False) -> None:
    """Write a verifier's checkpoint atomically.

    Args:
        folder: Folder to write to, created if missing. A verifier and its judge in it are replaced.
        half: Whether to store the tensors in half precision, which halves the file.

    Raises:
        DataFileError: The checkpoint cannot be written; the earlier checkpoint is kept.
    """
    from safetensors.numpy import save as to_bytes

    tensors = {f"network.{k}": v for k, v in verifier.network.tensors.items()}
    tensors |= {f"alignment.{k}": v for k, v in verifier.alignment.tensors.items()}
    kept = np.float16 if half else np.float32
    data = to_bytes({k: np.asarray(v, kept, order="C") for k, v in tensors.items()})
    values = {
        "thresholds": asdict(verifier.thresholds),
        "data": verifier.data,
        "counts": [[list(p), n] for p, n in sorted(verifier.counts.counts.items())],
        "tensors": digest(data),
    }
    parts = {file_set_name("verifier", digest(data), ".safetensors"): data}
    write(folder, verifier.embeddings, values, parts)


def write(
    folder: Path, embeddings: ToolEmbeddings, values: Mapping[str, Any], parts: Mapping[str, bytes]
) -> None:
    """Atomically replace the checkpoint in a folder.

    `values` is the content of its head, `verifier.json`; `parts` maps the names of the other files
    to their contents.
    """
    head = {
        "kind": _KIND,
        "version": _VERSION,
        "config": embeddings.config.to_dict(),
        "text_size": int(embeddings.vectors.shape[1]),
        "tools_fingerprint": tools_fingerprint(embeddings.tools),
        "tools": _tools_json(embeddings.tools),
        "tensors": None,
        "judge": None,
        **values,
    }
    text = json.dumps(head, ensure_ascii=False)
    write_set(folder / VALUES, text, dict(parts), ("verifier", "judge"))


def load(folder: Path, encoder: Encoder | None = None) -> Verifier:
    """Read a verifier from a folder that `save` wrote; by default with the encoder saved there."""
    return read_set(folder / VALUES, lambda: _load(folder, encoder))


def _load(folder: Path, encoder: Encoder | None) -> Verifier:

    values = head_of(folder)
    embeddings = embeddings_of(folder, values, encoder)
    config = embeddings.config
    if values.get("tensors") is None:
        raise DataFileError(f"the verifier {folder} has no network: it is for tool plans")
    try:
        counts = PathCounts({tuple(path): int(n) for path, n in values["counts"]})
        thresholds = Thresholds(**{k: float(v) for k, v in values["thresholds"].items()})
        tensors = _tensors(folder, str(values["tensors"]))
        text, types = embeddings.vectors.shape[1], 2 * len(embeddings.types)
        alignment = Alignment(
            _part(tensors, "alignment.", Alignment.shapes(text, config.align_hidden))
        )
        network = TrainedNetwork(
            config, _part(tensors, "network.", TrainedNetwork.shapes(config, text, types))
        )
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the verifier {folder} is damaged: {reason}") from error
    data = str(values.get("data", ""))
    return Verifier(config, embeddings, counts, alignment, network, thresholds, data)


def embeddings_of(
    folder: Path, values: Mapping[str, Any], encoder: Encoder | None = None
) -> ToolEmbeddings:
    """Return the embeddings of a checkpoint's tools; by default with the encoder that it names."""

    try:
        config = VerifierConfig.from_dict(values["config"], f"{folder / VALUES}")
        tools = _tools(values["tools"])
        if tools_fingerprint(tools) != values["tools_fingerprint"]:
            raise DataFileError(f"the verifier {folder} is damaged: its tools were changed")
        embeddings = ToolEmbeddings(tools, encoder or make_encoder(config), config)
        if embeddings.vectors.shape[1] != values["text_size"]:
            raise DataFileError(
                f"the verifier {folder} needs text vectors of size {values['text_size']}, found "
                f"{embeddings.vectors.shape[1]}: use the encoder {config.encoder}"
            )
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the verifier {folder} is damaged: {reason}") from error
    except HvrError as error:
        if isinstance(error, DataFileError) or "encoder" in str(error):
            raise
        raise DataFileError(f"the verifier {folder} is damaged: {error}") from error
    return embeddings


def head_of(folder: Path) -> dict[str, Any]:
    return read_values(folder / VALUES, "verifier", _KIND, _VERSION)


def read_values(path: Path, what: str, kind: str, version: int) -> dict[str, Any]:
    """Read a JSON file of a checkpoint, which errors call `what`: `verifier` or `judge`."""
    if not path.is_file():
        raise DataFileError(f"{path.parent} is not a {what} folder: {path.name} is missing")
    values = read_json(path, strict=False)
    if not isinstance(values, dict) or values.get("kind") != kind:
        raise DataFileError(f"{path} is not part of a plan {what} written by hvr")
    if values.get("version") != version:
        raise DataFileError(
            f"{path} has version {values.get('version')}, but this hvr reads version {version}: "
            f"train the {what} again"
        )
    return values


def read_tensors(folder: Path, stem: str, expected: str) -> bytes:
    path = folder / file_set_name(stem, expected, ".safetensors")
    data = read_bytes(path)
    if digest(data) != expected:
        raise DataFileError(f"the {stem} {folder} is damaged: {path.name} was changed")
    return data


def _tensors(folder: Path, expected: str) -> dict[str, Floats]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = read_tensors(folder, "verifier", expected)
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise DataFileError(f"the verifier {folder} is damaged: {error}") from error
    # Half precision is for storage only; computation uses single precision.
    return {name: tensor.astype(np.float32, copy=False) for name, tensor in tensors.items()}


def _part(
    tensors: dict[str, Floats], prefix: str, shapes: dict[str, tuple[int, ...]]
) -> dict[str, Floats]:
    selected = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    for name in sorted(selected.keys() ^ shapes.keys()):
        raise ValueError(f"{prefix}{name} is {'missing' if name in shapes else 'unknown'}")
    for name, shape in shapes.items():
        if selected[name].shape != shape:
            raise ValueError(
                f"{prefix}{name} must have shape {shape}, found {selected[name].shape}"
            )
    return selected


def _tools_json(tools: ToolGraph) -> dict[str, Any]:
    return {
        "tools": [[t.id, t.description, list(t.inputs), list(t.outputs)] for t in tools.tools],
        "links": [list(link) for link in tools.links],
    }


def _tools(values: dict[str, Any]) -> ToolGraph:
    return ToolGraph(
        tuple(Tool(i, d, tuple(a), tuple(b)) for i, d, a, b in values["tools"]),
        tuple((a, b) for a, b in values["links"]),
    )

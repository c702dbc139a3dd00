"""The scoring network: encoders, training, scores and checkpoints."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch_geometric.nn as geometric
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

import hvr
from hvr.base.declared import decode
from hvr.base.files import digest, file_set_name, read_set, write_set
from hvr.base.texts import read_bytes, read_json
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.retrieval.decoding import Decoder, Rule, Scores, Transitions
from hvr.tools.retrieval.retriever import (
    Encodable,
    Layer,
    Retriever,
    RetrieverConfig,
    Sample,
    aligned,
    paired,
)
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan

# Network ------------------------------------------------------------------------------------------

_CONTEXT_TEXTS = 4
"""Number of texts that `context` reads: the step, the request, and the previous and next steps."""


class ToolEncoder(nn.Module):
    """Computes tool vectors H from the vectors X of their texts, both of shape (tools, d).

    - `none`:  H = X
    - `sage`:  H = (X + SAGE(X)) / 2  (GNN4Plan, section 4.3), one GraphSAGE convolution over the
      incoming links: messages pass from a tool to its successors.
    """

    def __init__(self, layer: Layer, width: int) -> None:
        super().__init__()
        self.convolution = geometric.SAGEConv(width, width) if layer == "sage" else None

    def forward(self, vectors: Tensor, links: Tensor) -> Tensor:
        """Return H, given X and the source and target indexes of the links, shape (2, links)."""
        if self.convolution is None:
            return vectors
        mixed: Tensor = (vectors + self.convolution(vectors, links)) / 2
        return mixed


class Scorer(nn.Module):
    """Computes scores S of all tools for each step, shape (steps, tools).

    - without `context`:  S[i, t] = scale <h_t, x_i>  (GNN4Plan, section 4.3; there scale = 1)
    - with `context`:     S[i, t] = scale cos(h_t, x_i + MLP([x_i; r; x_(i-1); x_(i+1)])) (hvr's
      own), with a learnt scale that starts at `config.scale`

    x_i is the vector of step i, r that of the request, and h_t that of tool t, each of shape (d,).
    h_t is the output of `ToolEncoder`, plus a learnt vector per tool with `config.free`.
    """

    def __init__(self, config: RetrieverConfig, width: int, tools: int) -> None:
        super().__init__()
        self.width = width
        self.encoder = ToolEncoder(config.layer, width)
        self.own = nn.Parameter(torch.zeros(tools, width)) if config.free else None
        self.context: nn.Module | None = None
        if config.context:
            self.context = nn.Sequential(
                nn.Dropout(config.dropout),
                nn.Linear(_CONTEXT_TEXTS * width, config.hidden),
                nn.GELU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.hidden, width),
            )
        scale = torch.tensor(math.log(config.scale))
        if config.context:
            self.scale = nn.Parameter(scale)
        else:
            self.register_buffer("scale", scale)

    def tools(self, vectors: Tensor, links: Tensor) -> Tensor:
        """Return the tools' vectors h, shape (tools, d), given X and the links."""
        encoded: Tensor = self.encoder(vectors, links)
        return encoded if self.own is None else encoded + self.own

    def forward(self, tools: Tensor, read: Tensor) -> Tensor:
        """Return S, shape (steps, tools).

        Args:
            tools: Result of the method `tools`, shape (tools, d).
            read: Vectors of the step, the request, and the previous and next steps, shape (steps,
                4, d); zeros for missing ones.
        """
        step = read[:, 0]
        if self.context is None:
            return self.scale.exp() * (step @ tools.T)
        mixed = nn.functional.normalize(step + self.context(read.flatten(1)), dim=-1)
        return self.scale.exp() * (mixed @ nn.functional.normalize(tools, dim=-1).T)


# Texts --------------------------------------------------------------------------------------------


def vectors_of(encoder: TextVectors, texts: Sequence[str]) -> Tensor:
    return torch.from_numpy(encoder.encode(texts).copy())


def gather(vectors: Tensor, numbers: Tensor) -> Tensor:
    """Return the vectors with the given indexes, shape (…, d); zeros for the index -1."""
    return vectors[numbers.clamp(min=0)] * (numbers >= 0).unsqueeze(-1)


# Training -----------------------------------------------------------------------------------------
# With S[i, t] the score of tool t for step i, t_i its true tool and σ the logistic function:
#
# bpr        L = mean over (i, t') of -log σ(S[i, t_i] - S[i, t'])      GNN4Plan, section 4.3:
#            Bayesian personalised ranking against `negatives` tools t' per step, half of them
#            hard negatives from the nearest neighbours of t_i
# softmax    L = mean over i of -log softmax_t(S[i, t])[t_i]            hvr's own


@dataclass(frozen=True)
class ScorerEpoch:
    number: int
    loss: float
    accuracy: float


ProgressCallback = Callable[[ScorerEpoch], None]
"""Called after each epoch."""


@dataclass(frozen=True)
class TrainedScorer:
    """A trained scorer with its training history.

    Args:
        scorer: Network in evaluation mode, on the CPU.
        best: Number of the epoch whose weights were kept.
    """

    scorer: Scorer
    epochs: tuple[ScorerEpoch, ...]
    best: int


@dataclass(frozen=True)
class _StepTensors:
    """Text indexes of the training steps, shape (steps, 4), and the indexes of their tools."""

    named: Tensor
    unnamed: Tensor
    tools: Tensor

    @staticmethod
    def of(
        plans: Sequence[ToolPlan], config: RetrieverConfig, encodable: Encodable
    ) -> _StepTensors:
        named: list[Sample] = []
        unnamed: list[Sample] = []
        for plan in plans:
            labels = aligned(plan) if config.context else paired(plan)
            if labels is not None:
                named += encodable.samples(plan, labels, names=True)
                unnamed += encodable.samples(plan, labels, names=False)
        kept = [i for i, sample in enumerate(named) if sample.tool >= 0]
        return _StepTensors(
            torch.tensor([named[i].read for i in kept], dtype=torch.int64).reshape(-1, 4),
            torch.tensor([unnamed[i].read for i in kept], dtype=torch.int64).reshape(-1, 4),
            torch.tensor([named[i].tool for i in kept], dtype=torch.int64),
        )

    def to(self, device: str) -> _StepTensors:
        return _StepTensors(self.named.to(device), self.unnamed.to(device), self.tools.to(device))


def train_scorer(
    config: RetrieverConfig,
    graph: ToolGraph,
    plans: Sequence[ToolPlan],
    encoder: TextVectors,
    *,
    held: Sequence[ToolPlan] = (),
    device: str = "cpu",
    progress: ProgressCallback | None = None,
) -> TrainedScorer:
    """Train a scorer on true plans.

    Training stops early according to the plans in `held` or, if none of their steps can be paired
    with a tool, the training plans. If no plans are held out, the last epoch is kept.

    Raises:
        UsageError: No step of the plans can be paired with a tool of the graph, or the device is
            not available.
    """
    if device != "cpu" and not torch.cuda.is_available():
        raise UsageError(f"the device {device!r} is not available; use cpu")
    torch.manual_seed(config.seed)
    encodable = Encodable(graph)
    tools = torch.tensor(encodable.tools(), device=device)
    fit = _StepTensors.of(plans, config, encodable).to(device)
    checked = _StepTensors.of(held, config, encodable).to(device)
    if not len(fit.tools):
        raise UsageError(
            "no step of the training plans can be paired with a tool: give plans with steps whose "
            "tools are in the graph"
        )
    texts = vectors_of(encoder, encodable.list.texts).to(device)
    scorer = Scorer(config, texts.shape[1], len(graph)).to(device)
    trainer = _Trainer(config, scorer, texts, tools, links_of(graph).to(device))
    validation = checked if len(checked.tools) else fit
    epochs, best = trainer.run(fit, validation, early_stopping=bool(held), progress=progress)
    return TrainedScorer(scorer.eval().cpu(), epochs, best)


def links_of(graph: ToolGraph) -> Tensor:
    """Return the source and target indexes of the links, int64, shape (2, links)."""
    pairs = [(graph.index(s), graph.index(t)) for s, t in graph.links]
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()


class _Trainer:
    def __init__(
        self, config: RetrieverConfig, scorer: Scorer, texts: Tensor, tools: Tensor, links: Tensor
    ) -> None:
        self.config, self.scorer, self.texts = config, scorer, texts
        self.tools, self.links = tools, links
        self.random = torch.Generator().manual_seed(config.seed)
        learnt = list(scorer.parameters())
        self.optimiser = (
            torch.optim.AdamW(learnt, config.lr, weight_decay=config.weight_decay)
            if learnt
            else None
        )
        self.near = _nearest(texts, tools, config.near)

    def run(
        self,
        fit: _StepTensors,
        validation: _StepTensors,
        *,
        early_stopping: bool,
        progress: ProgressCallback | None,
    ) -> tuple[tuple[ScorerEpoch, ...], int]:
        history: list[ScorerEpoch] = []
        highest, best = -1.0, 0
        state: dict[str, Any] = {}
        for number in range(1, self.config.epochs + 1):
            loss = self.epoch(fit)
            accuracy = self.accuracy(validation)
            history.append(ScorerEpoch(number, loss, accuracy))
            if progress is not None:
                progress(history[-1])
            if accuracy > highest or not early_stopping:
                highest, best = accuracy, number
                state = copy.deepcopy(self.scorer.state_dict())
            elif number - best >= self.config.patience:
                break
        self.scorer.load_state_dict(state)
        return tuple(history), best

    def epoch(self, part: _StepTensors) -> float:
        self.scorer.train()
        losses = []
        order = torch.randperm(len(part.tools), generator=self.random)
        for chosen in torch.split(order, self.config.batch):
            batch = chosen.to(part.tools.device)
            unnamed = torch.rand(len(batch), generator=self.random) < self.config.unnamed
            unnamed = unnamed.to(batch.device).unsqueeze(-1)
            read = torch.where(unnamed, part.unnamed[batch], part.named[batch])
            loss = self._loss(self._scores(read), part.tools[batch])
            losses.append(float(loss.detach()))
            if self.optimiser is not None:
                self.optimiser.zero_grad()
                torch.autograd.backward(loss)
                self.optimiser.step()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def accuracy(self, part: _StepTensors) -> float:
        # Weight steps with and without tool names as in training.
        self.scorer.eval()
        unnamed = self.config.unnamed
        variants = [(1 - unnamed, part.named), (unnamed, part.unnamed)]
        total = 0.0
        for weight, read in variants:
            if weight:
                best = torch.cat([self._scores(r).argmax(-1) for r in torch.split(read, 512)])
                total += weight * float((best == part.tools).float().mean())
        return total

    def _scores(self, read: Tensor) -> Tensor:
        tools = self.scorer.tools(gather(self.texts, self.tools), self.links)
        if not self.config.context:
            read = read[:, :1]  # without context only the step itself counts
        scores: Tensor = self.scorer(tools, gather(self.texts, read))
        return scores

    def _loss(self, scores: Tensor, tools: Tensor) -> Tensor:
        if self.config.loss == "softmax":
            return nn.functional.cross_entropy(scores, tools)
        negatives = self._negatives(tools.cpu()).to(tools.device)
        gap = scores.gather(1, tools.unsqueeze(1)) - scores.gather(1, negatives)
        return nn.functional.softplus(-gap).mean()  # softplus(-x) = -log σ(x)

    def _negatives(self, tools: Tensor) -> Tensor:
        size = (len(tools), self.config.negatives)
        count = len(self.tools)
        shift = torch.randint(1, max(2, count), size, generator=self.random)
        # a shift by 1 to count - 1 never yields the true tool itself
        anything = (tools.unsqueeze(1) + shift) % count
        if not self.near.shape[1]:
            return anything
        pick = torch.randint(0, self.near.shape[1], size, generator=self.random)
        near = self.near[tools].gather(1, pick)
        return torch.where(torch.rand(size, generator=self.random) < 0.5, near, anything)


def _nearest(texts: Tensor, tools: Tensor, count: int) -> Tensor:
    vectors = nn.functional.normalize(gather(texts, tools), dim=-1)
    cosine = vectors @ vectors.T
    cosine.fill_diagonal_(-2)
    return cosine.topk(min(count, max(0, len(tools) - 1)), dim=-1).indices.cpu()


# Trained scores -----------------------------------------------------------------------------------

_CHUNK = 2048


class TrainedScores:
    """The scores of a trained network, as a `ScoreSource`.

    Tools and links may differ from those in training only if `config.free` is false.
    """

    def __init__(
        self, graph: ToolGraph, config: RetrieverConfig, scorer: Scorer, encoder: TextVectors
    ) -> None:
        self.graph, self.config, self.scorer = graph, config, scorer.eval()
        self.encoder = encoder
        self._links = links_of(graph)
        self._tools: torch.Tensor | None = None

    @torch.no_grad()
    def scores(self, plans: Sequence[ToolPlan], *, names: bool = True) -> list[Scores]:
        encodable = Encodable(self.graph)
        numbers = torch.tensor(encodable.tools())
        samples = [encodable.samples(p, names=names) for p in plans]
        read = torch.tensor([s.read for some in samples for s in some], dtype=torch.int64)
        read = read.reshape(-1, 4)
        if not self.config.context:
            read = read[:, :1]
        vectors = vectors_of(self.encoder, encodable.list.texts)
        if self._tools is None:
            self._tools = self.scorer.tools(gather(vectors, numbers), self._links)
        parts = [
            self.scorer(self._tools, gather(vectors, part)) for part in torch.split(read, _CHUNK)
        ]
        rows = torch.cat(parts).numpy() if parts else np.zeros((0, len(self.graph)))
        ends = np.cumsum([len(some) for some in samples])
        return list(np.split(rows, ends[:-1])) if plans else []


# Checkpoints --------------------------------------------------------------------------------------
# A checkpoint is a self-contained folder; `retriever.json` names the file of parameters.
#
# retriever.json        format, settings, tools and links, transition counts, decoder, fingerprints
# model-….safetensors   the parameters of the network

FORM = "hvr-tool-retriever-2"
"""Name and version of the file format."""

_JSON = "retriever.json"


def graph_fingerprint(graph: ToolGraph) -> str:
    return _digest([[asdict(t) for t in graph.tools], graph.links])


def data_fingerprint(plans: Iterable[ToolPlan]) -> str:
    return _digest([asdict(p) for p in plans])


def save_retriever(retriever: Retriever, folder: Path, data: str = "") -> None:
    """Write a retriever to a folder.

    Args:
        folder: Folder of the checkpoint, created if missing; an existing checkpoint is replaced
            atomically.
        data: Fingerprint of the training plans.

    Raises:
        UsageError: The retriever has no trained network.
        DataFileError: The folder cannot be written; its content is unchanged.
    """
    source, decoder = retriever.source, retriever.decoder
    if not isinstance(source, TrainedScores):
        raise UsageError("only a retriever with a trained network can be saved")
    transitions = decoder.transitions
    values = {
        "form": FORM,
        "hvr": hvr.__version__,
        "config": asdict(source.config),
        "width": source.scorer.width,
        "tools": [asdict(t) for t in source.graph.tools],
        "links": source.graph.links,
        "tools_fingerprint": graph_fingerprint(source.graph),
        "data_fingerprint": data,
        "decoder": {
            "rule": decoder.rule,
            "weight": decoder.weight,
            "temperature": decoder.temperature,
            "skip": None if decoder.skip == -math.inf else decoder.skip,
            "once": decoder.once,
        },
        "counts": {
            "links": [[*link, count] for link, count in sorted(transitions.links.items())],
            "starts": dict(sorted(transitions.starts.items())),
            "steps": transitions.steps,
            "stays": transitions.stays,
        },
    }
    parameters = save({k: v.contiguous() for k, v in source.scorer.state_dict().items()})
    values["parameters"] = digest(parameters)
    parts = {file_set_name("model", digest(parameters), ".safetensors"): parameters}
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    write_set(folder / _JSON, text, parts, ("model",))


def load_retriever(
    folder: Path, graph: ToolGraph | None = None, encoder: TextVectors | None = None
) -> Retriever:
    """Read a retriever from the folder of a checkpoint.

    `graph` replaces the tools and links used in training, which requires `config.free` to be false.

    Raises:
        DataFileError: The checkpoint is missing, damaged, or of another version of the format.
        UsageError: The network was trained for different tools.
    """
    return read_set(folder / _JSON, lambda: _load(folder, graph, encoder))


def _load(folder: Path, graph: ToolGraph | None, encoder: TextVectors | None) -> Retriever:
    path = folder / _JSON
    values = read_json(path)
    if not isinstance(values, dict) or values.get("form") != FORM:
        raise DataFileError(
            f"{path}: not a retriever file that this version of hvr can read "
            f"(expected format {FORM}); train the retriever again"
        )
    try:
        config = decode(RetrieverConfig, values["config"], "config", ValueError)
        trained = _graph(values)
        decoder = _decoder(values, graph or trained)
        scorer = Scorer(config, int(values["width"]), len(trained))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path} is damaged: {type(error).__name__}: {error}") from None
    if values.get("tools_fingerprint") != graph_fingerprint(trained):
        raise DataFileError(f"{path} is damaged: its tools were changed after training")
    if config.free and graph is not None and graph.tools != trained.tools:
        raise UsageError(
            f"{folder} supports only the {len(trained)} tools it was trained on: train it on the "
            "given tools, or with `free` off"
        )
    _load_parameters(scorer, folder, str(values.get("parameters")))
    encoder = encoder or TextVectors(config.encoder)
    source = TrainedScores(graph or trained, config, scorer, encoder)
    return Retriever(source, decoder)


def _graph(values: Mapping[str, Any]) -> ToolGraph:
    return ToolGraph(
        tuple(
            Tool(t["id"], t["description"], tuple(t["inputs"]), tuple(t["outputs"]))
            for t in values["tools"]
        ),
        tuple((source, target) for source, target in values["links"]),
    )


@dataclass(frozen=True)
class _DecodingRule:
    rule: Rule
    weight: float
    temperature: float
    skip: float | None
    once: bool


def _decoder(values: Mapping[str, Any], graph: ToolGraph) -> Decoder:
    counts, rule = values["counts"], values["decoder"]
    links = {(source, target): int(count) for source, target, count in counts["links"]}
    starts = {tool: int(count) for tool, count in counts["starts"].items()}
    read = decode(_DecodingRule, rule, "decoder", ValueError)
    return Decoder(
        Transitions(graph, links, starts, int(counts["steps"]), int(counts["stays"])),
        read.rule,
        read.weight,
        read.temperature,
        -math.inf if read.skip is None else read.skip,
        read.once,
    )


def _load_parameters(scorer: Scorer, folder: Path, expected: str) -> None:
    path = folder / file_set_name("model", expected, ".safetensors")
    data = read_bytes(path)
    if digest(data) != expected:
        raise DataFileError(f"{path} does not belong to {_JSON}; train the retriever again")
    try:
        scorer.load_state_dict(load(data))
    except (SafetensorError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(
            f"{path} does not contain this network's parameters: {reason}; "
            "train the retriever again"
        ) from None
    if not all(bool(torch.isfinite(v).all()) for v in scorer.state_dict().values()):
        raise DataFileError(
            f"{path} contains infinite or undefined parameters; train the retriever again"
        )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()

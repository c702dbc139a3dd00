"""Training of the network in two stages (GNNVerifier, 3.5.3 and A.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hvr.verifier.config import VerifierConfig
from hvr.verifier.network.alignment import Margins
from hvr.verifier.network.arrays import Ints, PlanArrays, plan_arrays
from hvr.verifier.network.auc import roc_auc
from hvr.verifier.network.batch import PlanBatch, select
from hvr.verifier.network.inference import PlanLogits, TrainedNetwork
from hvr.verifier.network.losses import balance, graph_loss, local_loss, ranking_loss
from hvr.verifier.network.network import PlanNetwork
from hvr.verifier.network.path_counts import Path, PathCounts, paths_of
from hvr.verifier.network.perturbations import Perturbed
from hvr.verifier.network.progress import Epoch, Tell
from hvr.verifier.tool_embeddings import Floats, ToolSpace

Family = Sequence[Perturbed]
"""A true plan, then wrong ones made of it."""
_SCORED = 4096
_LEAST_GAIN = 0.0005


@dataclass(frozen=True)
class Samples:
    """Families as arrays, with what the network should say of them.

    Args:
        arrays: of all graphs.
        family: number of the family (graphs,).
        cost: c (graphs,).
        target: y (graphs,).
        node: labels of the nodes, Start left out.
        edge: labels of the edges.
    """

    arrays: PlanArrays
    family: Tensor
    cost: Tensor
    target: Tensor
    node: Tensor
    edge: Tensor

    @property
    def wrong(self) -> Ints:
        """1 for each graph that something was done to (graphs,)."""
        return (self.cost.numpy() > 0).astype(np.int64)


def samples(
    families: Sequence[Family],
    config: VerifierConfig,
    space: ToolSpace,
    counts: PathCounts,
    alignment: Margins,
    own: Sequence[Mapping[Path, int] | None] | None = None,
) -> Samples:
    """Return families as arrays.

    Args:
        families: true plans with wrong ones.
        config: its `tau`.
        space, counts, alignment: what attributes are made with.
        own: for each family, paths that do not count; None counts all.
    """
    flat = [p for family in families for p in family]
    which = [i for i, family in enumerate(families) for _ in family]
    mine = None if own is None else [own[i] for i in which]
    cost = torch.tensor([p.cost for p in flat], dtype=torch.float32)
    # A plan with something done to it costs more than nothing, so that it is told apart.
    done = torch.tensor([bool(p.operations) for p in flat])
    cost = torch.where(done, cost.clamp(min=0.01), cost)
    return Samples(
        plan_arrays([p.graph for p in flat], space, counts, alignment, mine),
        torch.tensor(which),
        cost,
        torch.exp(-cost / config.tau),
        torch.tensor([x for p in flat for x in p.node_labels], dtype=torch.float32),
        torch.tensor([x for p in flat for x in p.edge_labels], dtype=torch.float32),
    )


def own_paths(
    families: Sequence[Family], config: VerifierConfig
) -> list[Mapping[Path, int] | None]:
    """Return the paths of each family's true plan, not to be counted unless the configuration says
    so.
    """
    if config.own_counts:
        return [None] * len(families)
    return [paths_of(family[0].graph.tools) for family in families]


def device_of(config: VerifierConfig) -> str:
    """Return where to compute."""
    if config.device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return config.device


def predict(network: PlanNetwork, arrays: PlanArrays, texts: Floats, device: str) -> PlanLogits:
    """Return the logits of all graphs, in their order, of a network that is being trained."""
    network.eval()
    table = torch.from_numpy(texts).to(device)
    parts = []
    with torch.inference_mode():
        for i in range(0, len(arrays), _SCORED):
            part = np.arange(i, min(i + _SCORED, len(arrays)))
            parts.append(network(select(arrays, part, device), table))
    return PlanLogits(
        torch.cat([f.graph for f in parts]).float().cpu().numpy(),
        torch.cat([f.node for f in parts]).float().cpu().numpy(),
        torch.cat([f.edge for f in parts]).float().cpu().numpy(),
    )


@dataclass(frozen=True)
class Aucs:
    """ROC-AUC of graph scores (true or wrong), node risks and edge risks."""

    graph: float
    node: float
    edge: float


def aucs(logits: PlanLogits, held: Samples) -> Aucs:
    """Return how well the three heads tell right from wrong."""
    return Aucs(
        roc_auc(-logits.graph, held.wrong),
        roc_auc(logits.node, held.node.numpy().astype(np.int64)),
        roc_auc(logits.edge, held.edge.numpy().astype(np.int64)),
    )


def train_network(
    config: VerifierConfig, fit: Samples, held: Samples, texts: Floats, tell: Tell
) -> TrainedNetwork:
    """Return both stages.

    Args:
        config: everything about the training.
        fit: to learn from.
        held: to stop by.
        texts: the text table.
        tell: is told of each epoch.
    """
    torch.manual_seed(config.seed)
    device = device_of(config)
    network = PlanNetwork(config, texts.shape[1], fit.arrays.types.shape[1]).to(device)
    run = _Run(config, network, fit, texts, device)
    if config.use_stage_one:
        run.stage(
            "graph", config.epochs_graph, list(network.parameters()), config.lr, run.graph_step,
            lambda: aucs(predict(network, held.arrays, texts, device), held).graph, tell,
        )  # fmt: skip
    if config.use_stage_two:
        for parameter in network.parameters():
            parameter.requires_grad_(False)
        local = list(network.local_parameters())
        for parameter in local:
            parameter.requires_grad_(True)

        def validation() -> float:
            found = aucs(predict(network, held.arrays, texts, device), held)
            known = [x for x in (found.node, found.edge) if not math.isnan(x)]
            return sum(known) / len(known) if known else 0.0

        run.stage(
            "local", config.epochs_local, local, config.lr_local, run.local_step, validation, tell
        )
    return network.trained()


def rate_after(share: float, schedule: str) -> float:
    """Return what part of the learning rate is left after a share of a stage's epochs, 0 to 1."""
    return (1 + math.cos(math.pi * share)) / 2 if schedule == "cosine" else 1.0


class _Run:
    def __init__(
        self,
        config: VerifierConfig,
        network: PlanNetwork,
        fit: Samples,
        texts: Floats,
        device: str,
    ) -> None:
        self._config, self._network, self._fit, self._device = config, network, fit, device
        self._table = torch.from_numpy(texts).to(device)
        self._draw = np.random.default_rng(config.seed)
        self._weights = balance(fit.node), balance(fit.edge)
        sizes = np.bincount(fit.family.numpy())
        self._ends = np.concatenate([[0], np.cumsum(sizes)])

    def stage(
        self,
        name: str,
        epochs: int,
        parameters: list[nn.Parameter],
        lr: float,
        step: Callable[[Ints, PlanBatch], Tensor],
        validation: Callable[[], float],
        tell: Tell,
    ) -> None:
        """Train some parameters; the best by validation are kept."""
        optimiser = torch.optim.Adam(parameters, lr=lr, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda done: rate_after(done / epochs, self._config.schedule)
        )
        best, waited = -math.inf, 0
        kept = [p.detach().clone() for p in parameters]
        for epoch in range(epochs):
            self._network.train()
            losses = []
            for graphs in self._batches():
                batch = select(self._fit.arrays, graphs, self._device)
                with self._precision():
                    loss = step(graphs, batch)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(parameters, 5.0)
                optimiser.step()
                losses.append(loss.item())
            schedule.step()
            value = validation()
            mean = sum(losses) / max(len(losses), 1)
            tell(Epoch(name, epoch + 1, epochs, mean, value))
            if value > best + _LEAST_GAIN or math.isnan(value):
                best, waited = value, 0
                kept = [p.detach().clone() for p in parameters]
            else:
                waited += 1
                if waited >= self._config.patience:
                    break
        with torch.no_grad():
            for parameter, value_kept in zip(parameters, kept, strict=True):
                parameter.copy_(value_kept)

    def graph_step(self, graphs: Ints, batch: PlanBatch) -> Tensor:
        """Return the loss of stage I, equation 22."""
        h, _ = self._network.encode(batch, self._table)
        return self._graph_loss(graphs, batch, h)

    def local_step(self, graphs: Ints, batch: PlanBatch) -> Tensor:
        """Return the loss of stage II, equation 24, and stage I's where it is kept."""
        h, x = self._network.encode(batch, self._table)
        said_node, said_edge = self._network.parts(batch, h, x)
        nodes, edges = self._fit.arrays.rows(graphs)
        labels_node = self._fit.node[torch.from_numpy(nodes)].to(self._device)
        labels_edge = self._fit.edge[torch.from_numpy(edges)].to(self._device)
        node = local_loss(said_node.float(), labels_node, self._weights[0], len(graphs))
        edge = local_loss(said_edge.float(), labels_edge, self._weights[1], len(graphs))
        loss = node + self._config.lambda_edge * edge
        if self._config.use_stage_one and self._config.keep_graph:
            loss = loss + self._config.keep_graph * self._graph_loss(graphs, batch, h)
        return loss

    def _graph_loss(self, graphs: Ints, batch: PlanBatch, h: Tensor) -> Tensor:
        said = self._network.whole(batch, h).float()
        at = torch.from_numpy(graphs)
        fit, device = self._fit, self._device
        rank = ranking_loss(
            said, fit.cost[at].to(device), fit.family[at].to(device), self._config.margin
        )
        plain = graph_loss(said, fit.target[at].to(device))
        return rank + self._config.lambda_graph * plain

    def _batches(self) -> list[Ints]:
        """Return whole families, in a new order, so many graphs together as a batch has."""
        order = self._draw.permutation(len(self._ends) - 1)
        batches: list[Ints] = []
        part: list[Ints] = []
        size = 0
        for family in order:
            graphs = np.arange(self._ends[family], self._ends[family + 1])
            if part and size + len(graphs) > self._config.batch:
                batches.append(np.concatenate(part))
                part, size = [], 0
            part.append(graphs)
            size += len(graphs)
        if part:
            batches.append(np.concatenate(part))
        return batches

    def _precision(self) -> torch.autocast | nullcontext[None]:
        if self._config.autocast and self._device == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return nullcontext()

"""Two-stage training of the verifier network (GNNVerifier, section 3.5.3 and appendix A.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from hvr.judging.verifier.config import Epoch, ProgressCallback, VerifierConfig
from hvr.judging.verifier.features import (
    Floats,
    Ints,
    Margins,
    Path,
    PathCounts,
    PlanArrays,
    ToolEmbeddings,
    paths_of,
    plan_arrays,
)
from hvr.judging.verifier.verifier import PlanLogits, TrainedNetwork
from hvr.judging.verifier.wrong_plans import roc_auc
from studies.plan_network.network import PlanBatch, PlanNetwork, select
from studies.plan_network.perturbations import Perturbed

# Losses -------------------------------------------------------------------------------------------
# Stage I trains the whole network on  L_1 = L_rank + λ_graph L_graph   (equation 22). Stage II
# trains its last layer and the local heads on  L_2 = L_node + λ_edge L_edge   (equation 24).


def ranking_loss(logits: Tensor, costs: Tensor, group: Tensor, margin: float = 0.2) -> Tensor:
    """Return the margin ranking loss of contrast groups, equation 21.

        L_rank = 1/G sum over groups, over pairs (i, j) of a group with c_i < c_j, of
                 max(0, m_ij - z_i + z_j),   m_ij = margin (c_j - c_i)

    The plan with fewer errors must score higher, by a margin that grows with the cost gap. The
    paper sums over the plans of one request; hvr takes the mean over the G groups of a batch.

    Args:
        logits: z, shape (graphs,).
        costs: c, shape (graphs,).
        group: Group number of each graph, shape (graphs,); the graphs of a group are consecutive.
        margin: Margin per unit of cost.
    """
    number = torch.unique_consecutive(group, return_inverse=True)[1]
    groups = int(number[-1]) + 1 if len(number) else 0
    if not groups:
        return logits.sum() * 0  # keeps the gradient's path
    sizes = torch.bincount(number, minlength=groups)
    width = int(sizes.max())
    first = torch.cumsum(sizes, 0) - sizes
    at = torch.arange(len(group), device=group.device) - first[number]
    z = logits.new_zeros(groups, width)
    z[number, at] = logits
    c = costs.new_full((groups, width), float("nan"))
    c[number, at] = costs
    gap = c[:, None, :] - c[:, :, None]  # c_j - c_i (groups, i, j); nan pads the smaller groups
    loss = torch.relu(margin * gap - z[:, :, None] + z[:, None, :])
    return torch.where(gap > 0, loss, torch.zeros_like(loss)).sum() / groups


def graph_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy with soft targets, equation 20, as the mean over graphs.

        L_graph = -mean over graphs of y log σ(z) + (1 - y) log(1 - σ(z)),   y = exp(-c / τ)

    Args:
        logits: z, shape (graphs,).
        targets: y of equation 9, from 0 to 1, shape (graphs,).
    """
    return binary_cross_entropy_with_logits(logits, targets)


def local_loss(logits: Tensor, labels: Tensor, weight: float, graphs: int) -> Tensor:
    """Return the weighted cross-entropy of nodes or edges, one line of equation 23.

        L = -1/graphs sum over nodes (edges) of ω l log σ(z) + (1 - l) log(1 - σ(z))

    Args:
        logits: z, shape (n,).
        labels: l, 0 or 1, shape (n,).
        weight: ω of the positives, from `balance`.
    """
    pos = logits.new_tensor(weight)
    total = binary_cross_entropy_with_logits(logits, labels, pos_weight=pos, reduction="sum")
    return total / max(graphs, 1)


def balance(labels: Tensor) -> float:
    """Return the class weight ω of equation 23: negatives / positives, at least 1.

    It is 1 without positives.
    """
    positive = float(labels.sum())
    return max(1.0, (len(labels) - positive) / positive) if positive else 1.0


# Stages -------------------------------------------------------------------------------------------

ContrastGroup = Sequence[Perturbed]
"""True plans of a request, followed by wrong ones; the ranking loss compares them."""
MIN_COST = 0.01
"""Lower bound of a wrong plan's cost, so that the ranking loss separates it from the true one."""
MIN_IMPROVEMENT = 0.0005
"""Increase of the validation criterion that counts as progress for early stopping."""
MAX_GRADIENT_NORM = 5.0
_CHUNK = 4096


@dataclass(frozen=True)
class Samples:
    """Contrast groups as arrays, with the network's targets.

    Args:
        cost: c, shape (graphs,).
        target: y = exp(-c / τ), shape (graphs,).
        node: Labels of the nodes, without Start.
        edge: Labels of the edges.
    """

    arrays: PlanArrays
    group: Tensor
    cost: Tensor
    target: Tensor
    node: Tensor
    edge: Tensor

    @property
    def wrong(self) -> Ints:
        return (self.cost.numpy() > 0).astype(np.int64)


def samples(
    groups: Sequence[ContrastGroup],
    config: VerifierConfig,
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    alignment: Margins,
    own: Sequence[Mapping[Path, int] | None] | None = None,
) -> Samples:
    """Return contrast groups as arrays.

    Args:
        embeddings, counts, alignment: Sources of the features.
        own: Path counts to subtract for each group; None to subtract none.
    """
    plans = [p for group in groups for p in group]
    number = [i for i, group in enumerate(groups) for _ in group]
    own_by_plan = None if own is None else [own[i] for i in number]
    cost = torch.tensor([p.cost for p in plans], dtype=torch.float32)
    perturbed = torch.tensor([bool(p.operations) for p in plans])
    cost = torch.where(perturbed, cost.clamp(min=MIN_COST), cost)
    return Samples(
        plan_arrays([p.graph for p in plans], embeddings, counts, alignment, own_by_plan),
        torch.tensor(number),
        cost,
        torch.exp(-cost / config.tau),
        torch.tensor([x for p in plans for x in p.node_labels], dtype=torch.float32),
        torch.tensor([x for p in plans for x in p.edge_labels], dtype=torch.float32),
    )


def own_paths(
    groups: Sequence[ContrastGroup], config: VerifierConfig
) -> list[Mapping[Path, int] | None]:
    """Return the path counts of each group's true plan, to be subtracted from the group's counts.

    An entry is None if the configuration lets a plan's own paths count.
    """
    if config.own_counts:
        return [None] * len(groups)
    return [paths_of(group[0].graph.tools) for group in groups]


def device_of(config: VerifierConfig) -> str:
    if config.device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return config.device


def predict(
    network: PlanNetwork, arrays: PlanArrays, texts: Floats, device: str
) -> PlanLogits[Floats]:
    network.eval()
    table = torch.from_numpy(texts).to(device)
    parts = []
    with torch.inference_mode():
        for i in range(0, len(arrays), _CHUNK):
            part = np.arange(i, min(i + _CHUNK, len(arrays)))
            parts.append(network(select(arrays, part, device), table))
    return PlanLogits(
        torch.cat([f.graph for f in parts]).float().cpu().numpy(),
        torch.cat([f.node for f in parts]).float().cpu().numpy(),
        torch.cat([f.edge for f in parts]).float().cpu().numpy(),
    )


@dataclass(frozen=True)
class Aucs:
    """ROC-AUC of graph scores (true or wrong plan), node risks and edge risks."""

    graph: float
    node: float
    edge: float


def aucs(logits: PlanLogits[Floats], held: Samples) -> Aucs:
    return Aucs(
        roc_auc(-logits.graph, held.wrong),
        roc_auc(logits.node, held.node.numpy().astype(np.int64)),
        roc_auc(logits.edge, held.edge.numpy().astype(np.int64)),
    )


def train_network(
    config: VerifierConfig, fit: Samples, held: Samples, texts: Floats, progress: ProgressCallback
) -> TrainedNetwork:
    """Train the network in both stages; `held` is for early stopping."""
    torch.manual_seed(config.seed)
    device = device_of(config)
    network = PlanNetwork(config, texts.shape[1], fit.arrays.types.shape[1]).to(device)
    trainer = _StageTrainer(config, network, fit, texts, device)

    def validation_aucs() -> Aucs:
        return aucs(predict(network, held.arrays, texts, device), held)

    if config.use_stage_one:
        parameters = list(network.parameters())
        stage = _Stage("graph", config.epochs_graph, config.lr, parameters, trainer.graph_step)
        trainer.run(stage, lambda: validation_aucs().graph, progress)
    if config.use_stage_two:
        for parameter in network.parameters():
            parameter.requires_grad_(False)
        local = list(network.local_parameters())
        for parameter in local:
            parameter.requires_grad_(True)

        def validation() -> float:
            measured = validation_aucs()
            known = [x for x in (measured.node, measured.edge) if not math.isnan(x)]
            return sum(known) / len(known) if known else 0.0

        stage = _Stage("local", config.epochs_local, config.lr_local, local, trainer.local_step)
        trainer.run(stage, validation, progress)
    return network.trained()


def rate_factor(done: float, schedule: str) -> float:
    """Return the factor of the learning rate after a fraction `done` of a stage's epochs.

    It is 1 for `constant`, and (1 + cos(π done)) / 2 for `cosine`.
    """
    return (1 + math.cos(math.pi * done)) / 2 if schedule == "cosine" else 1.0


@dataclass(frozen=True)
class _Stage:
    """A training stage; `step` returns the loss of a batch, given as indexes and as tensors."""

    name: str
    epochs: int
    lr: float
    parameters: list[nn.Parameter]
    step: Callable[[Ints, PlanBatch], Tensor]


class _StageTrainer:
    def __init__(
        self, config: VerifierConfig, network: PlanNetwork, fit: Samples, texts: Floats, device: str
    ) -> None:
        self._config, self._network, self._fit, self._device = config, network, fit, device
        self._table = torch.from_numpy(texts).to(device)
        self._draw = np.random.default_rng(config.seed)
        self._weights = balance(fit.node), balance(fit.edge)
        sizes = np.bincount(fit.group.numpy())
        self._ends = np.concatenate([[0], np.cumsum(sizes)])

    def run(
        self, stage: _Stage, validation: Callable[[], float], progress: ProgressCallback
    ) -> None:
        """Train, then restore the parameters of the epoch with the best validation."""
        optimiser = torch.optim.Adam(stage.parameters, lr=stage.lr, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda done: rate_factor(done / stage.epochs, self._config.schedule)
        )
        best, waited = -math.inf, 0
        kept = [p.detach().clone() for p in stage.parameters]
        for epoch in range(stage.epochs):
            loss = self._epoch(stage, optimiser)
            schedule.step()
            value = validation()
            progress(Epoch(stage.name, epoch + 1, stage.epochs, loss, value))
            # Without validation errors to rank, the criterion is nan: never stop early.
            if value > best + MIN_IMPROVEMENT or math.isnan(value):
                best, waited = value, 0
                kept = [p.detach().clone() for p in stage.parameters]
            else:
                waited += 1
                if waited >= self._config.patience:
                    break
        with torch.no_grad():
            for parameter, best_value in zip(stage.parameters, kept, strict=True):
                parameter.copy_(best_value)

    def _epoch(self, stage: _Stage, optimiser: torch.optim.Optimizer) -> float:
        self._network.train()
        losses = []
        for graphs in self._batches():
            batch = select(self._fit.arrays, graphs, self._device)
            loss = stage.step(graphs, batch)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(stage.parameters, MAX_GRADIENT_NORM)
            optimiser.step()
            losses.append(loss.item())
        return sum(losses) / max(len(losses), 1)

    def graph_step(self, graphs: Ints, batch: PlanBatch) -> Tensor:
        """Return L_1 = L_rank + λ_graph L_graph, equation 22."""
        h, _ = self._network.encode(batch, self._table)
        return self._graph_loss(graphs, batch, h)

    def local_step(self, graphs: Ints, batch: PlanBatch) -> Tensor:
        """Return L_2 = L_node + λ_edge L_edge, equation 24, plus `keep_graph` L_1."""
        h, x = self._network.encode(batch, self._table)
        z_node, z_edge = self._network.local_logits(batch, h, x)
        nodes, edges = self._fit.arrays.rows(graphs)
        labels_node = self._fit.node[torch.from_numpy(nodes)].to(self._device)
        labels_edge = self._fit.edge[torch.from_numpy(edges)].to(self._device)
        node = local_loss(z_node.float(), labels_node, self._weights[0], len(graphs))
        edge = local_loss(z_edge.float(), labels_edge, self._weights[1], len(graphs))
        loss = node + self._config.lambda_edge * edge
        if self._config.use_stage_one and self._config.keep_graph:
            loss = loss + self._config.keep_graph * self._graph_loss(graphs, batch, h)
        return loss

    def _graph_loss(self, graphs: Ints, batch: PlanBatch, h: Tensor) -> Tensor:
        z = self._network.graph_logits(batch, h).float()
        at = torch.from_numpy(graphs)
        fit, device = self._fit, self._device
        rank = ranking_loss(
            z, fit.cost[at].to(device), fit.group[at].to(device), self._config.margin
        )
        return rank + self._config.lambda_graph * graph_loss(z, fit.target[at].to(device))

    def _batches(self) -> list[Ints]:
        """Return batches in random order; a group stays in one batch for the ranking loss."""
        order = self._draw.permutation(len(self._ends) - 1)
        batches: list[Ints] = []
        part: list[Ints] = []
        size = 0
        for group in order:
            graphs = np.arange(self._ends[group], self._ends[group + 1])
            # Never split a group: the ranking loss compares all of its plans.
            if part and size + len(graphs) > self._config.batch:
                batches.append(np.concatenate(part))
                part, size = [], 0
            part.append(graphs)
            size += len(graphs)
        if part:
            batches.append(np.concatenate(part))
        return batches

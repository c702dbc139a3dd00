"""Training of a scorer: pairwise ranking (BPR) as in GNN4Plan, or over all tools at once."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from hvr.errors import UsageError
from hvr.retrieval.text_vectors import TextVectors
from hvr.tools.retrieval.config import RetrieverConfig
from hvr.tools.retrieval.pairs import aligned, paired
from hvr.tools.retrieval.propagation import normalised
from hvr.tools.retrieval.samples import Encodable, Sample
from hvr.tools.retrieval.scorer import Scorer
from hvr.tools.retrieval.texts import FixedTexts, TunedTexts, sentence_model
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

Texts = FixedTexts | TunedTexts


@dataclass(frozen=True)
class ScorerEpoch:
    """What one epoch brought.

    Args:
        number: from 1.
        loss: mean over its updates.
        accuracy: share of held-out steps whose best tool is the true one; of the training
            steps where nothing is held out.
        seconds: since training began.
    """

    number: int
    loss: float
    accuracy: float
    seconds: float


Progress = Callable[[ScorerEpoch], None]


@dataclass(frozen=True)
class Trained:
    """A scorer and how it came about.

    Args:
        scorer: in evaluation mode, on the CPU.
        texts: where its vectors come from.
        epochs: what each brought.
        best: number of the epoch that was kept.
    """

    scorer: Scorer
    texts: Texts
    epochs: tuple[ScorerEpoch, ...]
    best: int

    @property
    def language_model(self) -> Any:
        """The encoder, if it was trained along; else None."""
        return self.texts.model if isinstance(self.texts, TunedTexts) else None


@dataclass(frozen=True)
class _Part:
    """Steps as tensors, with the tool's name in them and without; tools (steps,)."""

    named: Tensor
    unnamed: Tensor
    tools: Tensor

    @staticmethod
    def of(plans: Sequence[ToolPlan], config: RetrieverConfig, encodable: Encodable) -> _Part:
        named: list[Sample] = []
        unnamed: list[Sample] = []
        for plan in plans:
            labels = aligned(plan) if config.context else paired(plan)
            if labels is not None:
                named += encodable.samples(plan, labels, names=True)
                unnamed += encodable.samples(plan, labels, names=False)
        kept = [i for i, sample in enumerate(named) if sample.tool >= 0]
        return _Part(
            torch.tensor([named[i].read for i in kept], dtype=torch.int64).reshape(-1, 4),
            torch.tensor([unnamed[i].read for i in kept], dtype=torch.int64).reshape(-1, 4),
            torch.tensor([named[i].tool for i in kept], dtype=torch.int64),
        )

    def to(self, device: str) -> _Part:
        return _Part(self.named.to(device), self.unnamed.to(device), self.tools.to(device))


def train_scorer(
    config: RetrieverConfig,
    graph: ToolGraph,
    plans: Sequence[ToolPlan],
    encoder: TextVectors,
    *,
    held: Sequence[ToolPlan] = (),
    device: str = "cpu",
    progress: Progress | None = None,
) -> Trained:
    """Train on true plans until held-out ones are not read any better.

    Args:
        config: see there.
        graph: tools, and the links that messages pass along.
        plans: true ones.
        encoder: of texts; not used when it is trained along.
        held: plans that decide when to stop; without them all epochs are done and the last
            one is kept.
        device: `cpu` or `cuda`.
        progress: told of each epoch.

    Raises:
        UsageError: no step of the plans can be paired with a tool of the graph, or the device
            is not there.
        MissingExtraError: the package of the encoder is not installed.
    """
    if device != "cpu" and not torch.cuda.is_available():
        raise UsageError(f"the device {device!r} is not there: use cpu")
    began = time.perf_counter()
    torch.manual_seed(config.seed)
    encodable = Encodable(graph, config.types)
    tools = torch.tensor(encodable.tools(), device=device)
    part = _Part.of(plans, config, encodable).to(device)
    checked = _Part.of(held, config, encodable).to(device)
    if not len(part.tools):
        raise UsageError(
            "no step of the training plans goes with a tool: give plans with steps, whose tools "
            "are in the graph"
        )
    texts: Texts
    if config.tune_encoder:
        texts = TunedTexts(sentence_model(config.encoder), encodable.list.texts)
    else:
        texts = FixedTexts(encoder, encodable.list.texts)
    texts = texts.to(device)
    scorer = Scorer(config, texts.width, len(graph)).to(device)
    run = _Run(config, scorer, texts, tools, links_of(graph).to(device),
               torch.from_numpy(normalised(graph)).to(device))  # fmt: skip
    kept: tuple[float, int, dict[str, Any], dict[str, Any] | None] = (-1.0, 0, {}, None)
    history: list[ScorerEpoch] = []
    for number in range(1, config.epochs + 1):
        loss = run.epoch(part)
        accuracy = run.accuracy(checked if len(checked.tools) else part)
        history.append(ScorerEpoch(number, loss, accuracy, time.perf_counter() - began))
        if progress is not None:
            progress(history[-1])
        if accuracy > kept[0] or not held:
            tuned = copy.deepcopy(texts.state_dict()) if config.tune_encoder else None
            kept = (accuracy, number, copy.deepcopy(scorer.state_dict()), tuned)
        elif number - kept[1] >= config.patience:
            break
    scorer.load_state_dict(kept[2])
    if kept[3] is not None:
        texts.load_state_dict(kept[3])
    return Trained(
        scorer.eval().cpu(), texts.eval().cpu(), tuple(history), kept[1]
    )  # fmt: skip


def links_of(graph: ToolGraph) -> Tensor:
    """int64 (2, links): numbers of sources above those of targets."""
    pairs = [(graph.index(s), graph.index(t)) for s, t in graph.links]
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()


class _Run:
    """One training: the network, its optimiser and its random numbers."""

    def __init__(
        self,
        config: RetrieverConfig,
        scorer: Scorer,
        texts: Texts,
        tools: Tensor,
        links: Tensor,
        smoothing: Tensor,
    ) -> None:
        self.config, self.scorer, self.texts = config, scorer, texts
        self.tools, self.links, self.smoothing = tools, links, smoothing
        self.random = torch.Generator().manual_seed(config.seed)
        groups = [{"params": list(scorer.parameters()), "lr": config.lr}]
        if config.tune_encoder:
            groups.append({"params": list(texts.parameters()), "lr": config.encoder_lr})
        groups = [g for g in groups if g["params"]]
        self.optimiser = (
            torch.optim.AdamW(groups, weight_decay=config.weight_decay) if groups else None
        )
        self.near = _nearest(texts, tools, config.near)

    def epoch(self, part: _Part) -> float:
        """Return one pass over all steps; returns the mean loss."""
        self.scorer.train()
        self.texts.train()
        losses = []
        order = torch.randperm(len(part.tools), generator=self.random)
        for chosen in torch.split(order, self.config.batch):
            batch = chosen.to(part.tools.device)
            bare = torch.rand(len(batch), generator=self.random) < self.config.unnamed
            bare = bare.to(batch.device).unsqueeze(-1)
            read = torch.where(bare, part.unnamed[batch], part.named[batch])
            loss = self._loss(self._scores(read), part.tools[batch])
            losses.append(float(loss.detach()))
            if self.optimiser is not None:
                self.optimiser.zero_grad()
                torch.autograd.backward(loss)
                self.optimiser.step()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def accuracy(self, part: _Part) -> float:
        """Share of steps whose best tool is the true one, as mean over what was trained for."""
        self.scorer.eval()
        self.texts.eval()
        share = self.config.unnamed
        variants = [(1 - share, part.named), (share, part.unnamed)]
        total = 0.0
        for weight, read in variants:
            if weight:
                best = torch.cat([self._scores(r).argmax(-1) for r in torch.split(read, 512)])
                total += weight * float((best == part.tools).float().mean())
        return total

    def _scores(self, read: Tensor) -> Tensor:
        tools = self.scorer.tools(self.texts(self.tools), self.links, self.smoothing)
        if not self.config.context:
            # Only the step is looked at; a trained encoder need not encode the rest.
            read = read[:, :1]
        scores: Tensor = self.scorer(tools, self.texts(read))
        return scores

    def _loss(self, scores: Tensor, tools: Tensor) -> Tensor:
        if self.config.loss == "softmax":
            return nn.functional.cross_entropy(scores, tools)
        # BPR: the true tool should score higher than others, see GNN4Plan, section 4.3.
        others = self._negatives(tools.cpu()).to(tools.device)
        gap = scores.gather(1, tools.unsqueeze(1)) - scores.gather(1, others)
        return nn.functional.softplus(-gap).mean()

    def _negatives(self, tools: Tensor) -> Tensor:
        """(steps, negatives): one of the nearest, or any other tool, with equal chances."""
        size = (len(tools), self.config.negatives)
        count = len(self.tools)
        shift = torch.randint(1, max(2, count), size, generator=self.random)
        anything = (tools.unsqueeze(1) + shift) % count
        if not self.near.shape[1]:
            return anything
        pick = torch.randint(0, self.near.shape[1], size, generator=self.random)
        near = self.near[tools].gather(1, pick)
        return torch.where(torch.rand(size, generator=self.random) < 0.5, near, anything)


@torch.no_grad()
def _nearest(texts: Texts, tools: Tensor, count: int) -> Tensor:
    """(tools, count): the tools with the most similar texts, on the CPU."""
    texts.eval()
    vectors = nn.functional.normalize(texts(tools), dim=-1)
    likeness = vectors @ vectors.T
    likeness.fill_diagonal_(-2)
    return likeness.topk(min(count, max(0, len(tools) - 1)), dim=-1).indices.cpu()

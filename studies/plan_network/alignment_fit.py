"""Training of the alignment scorer g (GNNVerifier, sections 3.3.2 and 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hvr.judging.verifier.config import Epoch, ProgressCallback, VerifierConfig, no_progress
from hvr.judging.verifier.features import Alignment, Floats, ToolEmbeddings

MIN_IMPROVEMENT = 1e-3
"""Decrease of the loss that counts as progress for early stopping."""


class AlignmentNetwork(nn.Module):
    """The alignment scorer during training: equation 2 with one hidden layer.

        g(s, t) = MLP([e(s); e(t)]) = w · relu(W_s e(s) + b + W_t e(t)) + b_out

    `Alignment` computes the same in NumPy, and explains why the first layer is split.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.step = nn.Linear(dim, hidden)
        self.tool = nn.Linear(dim, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)

    def forward(self, steps: Tensor, tools: Tensor) -> Tensor:
        """Return g, shape (…), of pairs of e(s), shape (…, dim), and a broadcastable e(t)."""
        logits: Tensor = self.out(torch.relu(self.step(steps) + self.tool(tools))).squeeze(-1)
        return logits

    def trained(self) -> Alignment:
        return Alignment({k: v.detach().cpu().numpy() for k, v in self.state_dict().items()})


def train_alignment(
    config: VerifierConfig,
    embeddings: ToolEmbeddings,
    pairs: Sequence[tuple[str, str]],
    progress: ProgressCallback = no_progress,
) -> Alignment:
    """Train g to separate a step's true tool from similar tools (section 3.3.2).

        L = -mean over pairs (s, t) of log softmax over {t} ∪ N_K(t) of g(s, ·), at t

    Pairs (step text, tool id) with unknown tools are skipped. Training stops once the loss has not
    fallen for `align_patience` epochs (section 4.1).
    """
    torch.manual_seed(config.seed)
    dim = embeddings.vectors.shape[1]
    model = AlignmentNetwork(dim, config.align_hidden)
    kept = [
        (embeddings.step_text(s), embeddings.tools.index(t))
        for s, t in pairs
        if embeddings.known(t)
    ]
    if not kept or embeddings.neighbours.shape[1] == 0:
        return model.trained()
    rows = embeddings.texts.rows([s for s, _ in kept])
    steps = torch.from_numpy(embeddings.texts.matrix[rows])
    own = np.array([t for _, t in kept])
    choice = torch.from_numpy(np.concatenate([own[:, None], embeddings.neighbours[own]], axis=1))
    tools = torch.from_numpy(embeddings.vectors)
    draw = torch.Generator().manual_seed(config.seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=config.align_lr, fused=True)
    target = torch.zeros(config.align_batch, dtype=torch.long)
    best, waited = float("inf"), 0
    for epoch in range(config.align_epochs):
        total = 0.0
        for part in minibatches(len(steps), config.align_batch, draw):
            logits = model(steps[part][:, None], tools[choice[part]])
            loss = nn.functional.cross_entropy(logits, target[: len(part)])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total += loss.item() * len(part)
        mean = total / len(steps)
        progress(Epoch("alignment", epoch + 1, config.align_epochs, mean))
        if mean < best - MIN_IMPROVEMENT:
            best, waited = mean, 0
        else:
            waited += 1
            if waited >= config.align_patience:
                break
    return model.trained()


def minibatches(size: int, batch: int, draw: torch.Generator) -> list[Tensor]:
    order = torch.randperm(size, generator=draw)
    return [order[i : i + batch] for i in range(0, size, batch)]


class FoldedAlignment:
    """Margins of training plans, each from a scorer that was not trained on the plan.

    A scorer is more certain about its training steps than about new steps, and a network trained on
    such margins would rely on them too much. `fold`, shape (m,), is the index of each step's
    scorer.
    """

    def __init__(self, models: Sequence[Alignment], fold: NDArray[np.int64]) -> None:
        self._models = models
        self._fold = fold

    def margins(
        self, embeddings: ToolEmbeddings, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """Return Δ as in `Alignment.margins`, for exactly the steps of the training plans."""
        margins = np.zeros(len(steps), dtype=np.float32)
        for k, model in enumerate(self._models):
            mine = self._fold == k
            margins[mine] = model.margins(embeddings, steps[mine], tools[mine])
        return margins

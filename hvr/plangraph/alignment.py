"""How well a tool fits what a step says: the scorer g (GNNVerifier, section 3.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hvr.plangraph.config import VerifierConfig
from hvr.plangraph.progress import Epoch, Tell, silent
from hvr.plangraph.space import Floats, ToolSpace

_CHUNK = 8192


class Margins(Protocol):
    """What tells how much better a tool fits a step than the tools like it."""

    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """As `Alignment.margins`."""


class Alignment(nn.Module):
    """g(s, t) = MLP([e(s); e(t)]), equation 2, with one hidden layer.

    The first layer is computed for steps and tools apart and added, which is the same as for
    the joined vectors and much cheaper for many tools.

    Args:
        dim: of the vectors of texts.
        hidden: width of the hidden layer.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.step = nn.Linear(dim, hidden)
        self.tool = nn.Linear(dim, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)

    def forward(self, steps: Tensor, tools: Tensor) -> Tensor:
        """Logits of pairs.

        Args:
            steps: (..., dim).
            tools: (..., dim), of a shape that fits by broadcasting.

        Returns:
            (...).
        """
        found: Tensor = self.out(torch.relu(self.step(steps) + self.tool(tools))).squeeze(-1)
        return found

    @torch.no_grad()
    def table(self, steps: Floats, tools: Floats) -> Floats:
        """Logits of each step with each tool (steps, tools)."""
        device = self.out.weight.device
        right = self.tool(torch.from_numpy(np.ascontiguousarray(tools)).to(device))
        size = max(1, _CHUNK * 64 // max(len(tools), 1))
        parts = []
        for i in range(0, len(steps), size):
            part = torch.from_numpy(np.ascontiguousarray(steps[i : i + size])).to(device)
            left = self.step(part)[:, None]
            parts.append(self.out(torch.relu(left + right)).squeeze(-1).cpu().numpy())
        found = np.concatenate(parts) if parts else np.zeros((0, len(tools)))
        return np.asarray(found, dtype=np.float32)

    @torch.no_grad()
    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """The margin of equation 3: g of the tool, less the best g of the tools like it.

        Args:
            space: of the tools.
            steps: rows of `space.texts` (m,).
            tools: numbers of tools (m,); -1 is an unknown one, whose margin is 0.

        Returns:
            (m,).
        """
        found = np.zeros(len(steps), dtype=np.float32)
        if space.neighbours.shape[1] == 0 or not len(steps):
            return found
        device = self.out.weight.device
        pairs, back = np.unique(np.stack([steps, tools], 1), axis=0, return_inverse=True)
        matrix = space.texts.matrix
        right = self.tool(torch.from_numpy(space.vectors).to(device))
        margins = np.zeros(len(pairs), dtype=np.float32)
        for i in range(0, len(pairs), _CHUNK):
            part = pairs[i : i + _CHUNK]
            choice = np.concatenate([part[:, 1:], space.neighbours[part[:, 1]]], axis=1)
            left = self.step(torch.from_numpy(matrix[part[:, 0]]).to(device))
            both = left[:, None] + right[torch.from_numpy(choice).to(device)]
            g = self.out(torch.relu(both)).squeeze(-1)
            margins[i : i + _CHUNK] = (g[:, 0] - g[:, 1:].amax(1)).cpu().numpy()
        margins[pairs[:, 1] < 0] = 0.0
        return np.asarray(margins[back.reshape(-1)], dtype=np.float32)


def train_alignment(
    config: VerifierConfig,
    space: ToolSpace,
    pairs: Sequence[tuple[str, str]],
    tell: Tell = silent,
) -> Alignment:
    """Train g: cross-entropy over the true tool and the K tools like it (section 3.3.2).

    It stops when the training loss has not fallen for `align_patience` epochs (section 4.1).

    Args:
        config: widths, rates, seed.
        space: of the tools.
        pairs: what true steps say, and ids of their tools; pairs with unknown tools are left
            out.
        tell: is told of each epoch.
    """
    torch.manual_seed(config.seed)
    dim = space.vectors.shape[1]
    model = Alignment(dim, config.align_hidden)
    kept = [(space.step_text(s), space.tools.index(t)) for s, t in pairs if space.known(t)]
    if not kept or space.neighbours.shape[1] == 0:
        return model.eval()
    rows = space.texts.rows([s for s, _ in kept])
    steps = torch.from_numpy(space.texts.matrix[rows])
    own = np.array([t for _, t in kept])
    choice = torch.from_numpy(np.concatenate([own[:, None], space.neighbours[own]], axis=1))
    tools = torch.from_numpy(space.vectors)
    draw = torch.Generator().manual_seed(config.seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=config.align_lr)
    target = torch.zeros(config.align_batch, dtype=torch.long)
    best, waited = float("inf"), 0
    for epoch in range(config.align_epochs):
        total = 0.0
        for part in parts(len(steps), config.align_batch, draw):
            logits = model(steps[part][:, None], tools[choice[part]])
            loss = nn.functional.cross_entropy(logits, target[: len(part)])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total += loss.item() * len(part)
        mean = total / len(steps)
        tell(Epoch("alignment", epoch + 1, config.align_epochs, mean))
        if mean < best - 1e-3:
            best, waited = mean, 0
        else:
            waited += 1
            if waited >= config.align_patience:
                break
    return model.eval()


class FoldedAlignment:
    """Margins of plans that were learned from, each by a scorer that has not seen the plan.

    A scorer is surer of the steps that it learned from than of new ones; a network that learns
    from such margins trusts them too much.

    Args:
        models: one for each fold.
        fold: which model is asked about each of the steps to come (m,).
    """

    def __init__(self, models: Sequence[Alignment], fold: NDArray[np.int64]) -> None:
        self._models = models
        self._fold = fold

    def margins(
        self, space: ToolSpace, steps: NDArray[np.int64], tools: NDArray[np.int64]
    ) -> Floats:
        """As `Alignment.margins`, of just the steps that the folds were given for."""
        found = np.zeros(len(steps), dtype=np.float32)
        for k, model in enumerate(self._models):
            mine = self._fold == k
            found[mine] = model.margins(space, steps[mine], tools[mine])
        return found


def parts(size: int, batch: int, draw: torch.Generator) -> list[Tensor]:
    """The numbers below `size` in a new order, in parts."""
    order = torch.randperm(size, generator=draw)
    return [order[i : i + batch] for i in range(0, size, batch)]

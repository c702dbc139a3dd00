"""Training of the scorer g (GNNVerifier, sections 3.3.2 and 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from hvr.verifier.config import VerifierConfig
from hvr.verifier.network.alignment import Alignment
from hvr.verifier.network.progress import Epoch, Tell, silent
from hvr.verifier.tool_embeddings import ToolSpace


class AlignmentNetwork(nn.Module):
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
        """Return logits of pairs.

        Args:
            steps: (..., dim).
            tools: (..., dim), of a shape that fits by broadcasting.

        Returns:
            (...).
        """
        logits: Tensor = self.out(torch.relu(self.step(steps) + self.tool(tools))).squeeze(-1)
        return logits

    def trained(self) -> Alignment:
        """Return the scorer with what was learned."""
        return Alignment({k: v.detach().cpu().numpy() for k, v in self.state_dict().items()})


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
    model = AlignmentNetwork(dim, config.align_hidden)
    kept = [(space.step_text(s), space.tools.index(t)) for s, t in pairs if space.known(t)]
    if not kept or space.neighbours.shape[1] == 0:
        return model.trained()
    rows = space.texts.rows([s for s, _ in kept])
    steps = torch.from_numpy(space.texts.matrix[rows])
    own = np.array([t for _, t in kept])
    choice = torch.from_numpy(np.concatenate([own[:, None], space.neighbours[own]], axis=1))
    tools = torch.from_numpy(space.vectors)
    draw = torch.Generator().manual_seed(config.seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=config.align_lr, fused=True)
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
    return model.trained()


def parts(size: int, batch: int, draw: torch.Generator) -> list[Tensor]:
    """Return the numbers below `size` in a new order, in parts."""
    order = torch.randperm(size, generator=draw)
    return [order[i : i + batch] for i in range(0, size, batch)]

"""The models that habits are made of: which tool comes next, which tool a step means."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from hvr.verifier.tool_embeddings import Floats

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class HabitsConfig:
    """How habits are learned; chosen on a held-out part of UltraTool's training plans.

    Args:
        hidden: width of the hidden layers.
        dropout: share left out while training.
        decay: of the weights.
        lr: learning rate.
        epochs, epochs_steps: passes over the plans, of either model.
        batch: plans in a batch.
        rare: a word must be in so many requests to count.
        seed: of everything drawn.
    """

    hidden: int = 384
    dropout: float = 0.5
    decay: float = 0.3
    lr: float = 2e-3
    epochs: int = 24
    epochs_steps: int = 24
    batch: int = 64
    rare: int = 3
    seed: int = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread for a while: a plan's few rows are slower with several.

    Several times slower where other programs want the cores as well, as threads wait for each
    other.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


class Words:
    """Texts as bags of words, weighted by how rare each is, of length 1.

    Args:
        known: words with their weights.
    """

    def __init__(self, known: dict[str, float]) -> None:
        self.known = known
        self._place = {w: i for i, w in enumerate(known)}
        self._weight = np.fromiter(known.values(), np.float32, len(known))

    @classmethod
    def of(cls, texts: Sequence[str], rare: int) -> Words:
        """Return the words of some texts, without the rarest and those of more than half of
        them.
        """
        counts = Counter(w for t in texts for w in set(_words(t)))
        most = max(len(texts) / 2, rare)
        return cls(
            {
                w: math.log(len(texts) / n) + 1
                for w, n in sorted(counts.items())
                if rare <= n <= most
            }
        )

    def bags(self, texts: Sequence[str]) -> Floats:
        """(texts, words)."""
        found = np.zeros((len(texts), len(self.known)), dtype=np.float32)
        for i, text in enumerate(texts):
            places = sorted({self._place[w] for w in _words(text) if w in self._place})
            found[i, places] = self._weight[places]
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.maximum(lengths, 1e-6), dtype=np.float32)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class NextTool(nn.Module):
    """Which tool comes next, or none: from the request, the last tool and those used so far.

    Args:
        text: size of what is known of the request.
        tools: how many there are; this number also stands for the start and for the end.
        config: widths.
    """

    def __init__(self, text: int, tools: int, config: HabitsConfig) -> None:
        super().__init__()
        self.request = nn.Linear(text, config.hidden)
        self.last = nn.Embedding(tools + 1, config.hidden)
        self.used = nn.Linear(tools, config.hidden, bias=False)
        self.drop = nn.Dropout(config.dropout)
        self.out = nn.Linear(config.hidden, tools + 1)
        self.pair = nn.Embedding(tools + 1, tools + 1)
        nn.init.zeros_(self.pair.weight)

    def forward(self, asked: Tensor, last: Tensor, used: Tensor) -> Tensor:
        """Return logits (m, tools + 1).

        Args:
            asked: `self.request` of the request (m, hidden).
            last: number of the last tool (m,).
            used: 1 for each tool used so far (m, tools).
        """
        hidden = torch.relu(asked + self.last(last) + self.used(used))
        logits: Tensor = self.out(self.drop(hidden)) + self.pair(last)
        return logits


class StepTool(nn.Module):
    """Which tool a step means, from what it says without the tool's name, and the request.

    Args:
        text: size of what is known of a step and its request together.
        tools: how many there are.
        config: widths.
    """

    def __init__(self, text: int, tools: int, config: HabitsConfig) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(text, config.hidden), nn.ReLU(), nn.Dropout(config.dropout),
            nn.Linear(config.hidden, tools),
        )  # fmt: skip

    def forward(self, step: Tensor) -> Tensor:
        """Return logits (m, tools)."""
        logits: Tensor = self.net(step)
        return logits


def state_of(prefixes: Sequence[tuple[int, ...]], tools: int) -> tuple[Tensor, Tensor]:
    """Return the last tool and the tools used so far of each prefix."""
    last = torch.tensor([p[-1] if p else tools for p in prefixes])
    rows = torch.tensor([i for i, p in enumerate(prefixes) for _ in p], dtype=torch.long)
    columns = torch.tensor([t for p in prefixes for t in p], dtype=torch.long)
    used = torch.zeros(len(prefixes), tools)
    used[rows, columns] = 1
    return last, used

"""The two networks of the sequence prior: the next tool, and the tool that a step means."""

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
class PriorConfig:
    """Settings of the sequence prior, chosen on a held-out part of UltraTool's training plans.

    Args:
        hidden: width of the hidden layers.
        dropout: probability of dropout.
        decay: of the weights.
        lr: learning rate.
        epochs, epochs_steps: passes over the plans for `NextTool` and for `StepTool`.
        batch: plans in a batch.
        rare: texts that a word must occur in to get into the vocabulary.
        seed: of all random numbers.
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
    """Compute with one thread within the context.

    The few rows of a plan are slower with several threads: several times so where other programs
    compete for the cores, as threads wait for each other.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


class BagOfWords:
    """Binary TF-IDF vectors of texts, of length 1.

    x_w = idf(w) [w in text] / norm,   idf(w) = log(texts / texts with w) + 1

    Args:
        idf: of the words of the vocabulary.
    """

    def __init__(self, idf: dict[str, float]) -> None:
        self.idf = idf
        self._place = {w: i for i, w in enumerate(idf)}
        self._weight = np.fromiter(idf.values(), np.float32, len(idf))

    @classmethod
    def of(cls, texts: Sequence[str], rare: int) -> BagOfWords:
        """Return the vocabulary of some texts.

        Args:
            texts: the texts.
            rare: texts that a word must occur in; words of more than half of them are left out.
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

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts (texts, words)."""
        vectors = np.zeros((len(texts), len(self.idf)), dtype=np.float32)
        for i, text in enumerate(texts):
            places = sorted({self._place[w] for w in _words(text) if w in self._place})
            vectors[i, places] = self._weight[places]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class NextTool(nn.Module):
    """The next tool of a plan, or its end: p(t_(k+1) | request, t_1 … t_k) = softmax(z).

    z = W_out dropout(relu(W_r x_r + E[t_k] + W_u u)) + B[t_k]

    x_r (text,) are the features of the request, E (tools + 1, hidden) embeds the last tool,
    u (tools,) is 1 for the tools used so far, B (tools + 1, tools + 1) is a table of bigrams.

    Args:
        text: size of x_r.
        tools: number of tools; as a tool's number it stands for the start and for the end.
        config: widths.
    """

    def __init__(self, text: int, tools: int, config: PriorConfig) -> None:
        super().__init__()
        self.request = nn.Linear(text, config.hidden)
        self.last = nn.Embedding(tools + 1, config.hidden)
        self.used = nn.Linear(tools, config.hidden, bias=False)
        self.drop = nn.Dropout(config.dropout)
        self.out = nn.Linear(config.hidden, tools + 1)
        self.pair = nn.Embedding(tools + 1, tools + 1)
        nn.init.zeros_(self.pair.weight)

    def forward(self, request: Tensor, last: Tensor, used: Tensor) -> Tensor:
        """Return z (m, tools + 1).

        Args:
            request: W_r x_r, which is shared by all prefixes of a plan (m, hidden).
            last: t_k (m,).
            used: u (m, tools).
        """
        hidden = torch.relu(request + self.last(last) + self.used(used))
        logits: Tensor = self.out(self.drop(hidden)) + self.pair(last)
        return logits


class StepTool(nn.Module):
    """The tool that a step means: p(t | step, request) = softmax(MLP(x)), one hidden layer.

    x (text,) are the features of the step, without the tool's name, and of its request.

    Args:
        text: size of x.
        tools: number of tools.
        config: widths.
    """

    def __init__(self, text: int, tools: int, config: PriorConfig) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(text, config.hidden), nn.ReLU(), nn.Dropout(config.dropout),
            nn.Linear(config.hidden, tools),
        )  # fmt: skip

    def forward(self, step: Tensor) -> Tensor:
        """Return the logits of steps x (m, text): (m, tools)."""
        logits: Tensor = self.net(step)
        return logits


def prefix_state(prefixes: Sequence[tuple[int, ...]], tools: int) -> tuple[Tensor, Tensor]:
    """Return t_k (m,) and u (m, tools) of prefixes of plans, see `NextTool`."""
    last = torch.tensor([p[-1] if p else tools for p in prefixes])
    rows = torch.tensor([i for i, p in enumerate(prefixes) for _ in p], dtype=torch.long)
    columns = torch.tensor([t for p in prefixes for t in p], dtype=torch.long)
    used = torch.zeros(len(prefixes), tools)
    used[rows, columns] = 1
    return last, used

"""Training of the n-gram weights: one linear model per slot over words and word pairs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np
import torch
from torch import Tensor, nn

from hvr.language.learnt.frames import KINDS, grams, shares
from hvr.language.learnt.reader import POINTERS, split
from studies.learnt_reader.batches import Meanings
from studies.learnt_reader.examples import Example
from studies.learnt_reader.network import Targets, loss_of

_LEAST = 3
"""Minimum number of sentences that must contain an n-gram."""

_BATCH, _EPOCHS, _RATE, _DECAY = 256, 10, 0.02, 1e-4


class _Linear(nn.Module):
    def __init__(self, known: int, classes: int) -> None:
        super().__init__()
        self.classes = classes
        columns = len(KINDS) + 1 + len(POINTERS) * (classes + 1)
        self.table = nn.EmbeddingBag(known, columns, mode="sum")
        nn.init.zeros_(self.table.weight)
        self.bias = nn.Parameter(torch.zeros(columns))

    def forward(self, numbers: Tensor, starts: Tensor, weights: Tensor) -> dict[str, Tensor]:
        scores = self.table(numbers, starts, per_sample_weights=weights) + self.bias
        slots = split(scores, self.classes)
        return {**slots, "sliced": slots["sliced"][:, 0]}


def ngrams(
    examples: Sequence[Example], meanings: Meanings, share: float, seed: int,
    say: Callable[[str], None] = print,
) -> tuple[list[str], Mapping[str, np.ndarray]]:  # fmt: skip
    """Return the known n-grams, and the arrays for `hvr.language.learnt.frames`.

    `share` is the weight of the scores relative to the network's.
    """
    counts = Counter(gram for e in examples for gram in grams(e.text))
    known = sorted(gram for gram, count in counts.items() if count >= _LEAST)
    numbers = {gram: number for number, gram in enumerate(known)}
    rarity = np.array([log(len(examples) / counts[gram]) + 1 for gram in known], np.float32)

    def batch(some: Sequence[Example]) -> tuple[tuple[Tensor, Tensor, Tensor], Targets]:
        found = [[numbers[g] for g in grams(e.text) if g in numbers] for e in some]
        starts = np.cumsum([0, *map(len, found[:-1])])
        weights = np.concatenate([shares(rarity[row]) for row in found])
        flat = torch.tensor([number for row in found for number in row])
        given = (flat, torch.from_numpy(starts), torch.from_numpy(weights))
        return given, meanings.of(some)

    order = list(examples)
    rng = random.Random(seed)
    rng.shuffle(order)
    batches = [batch(order[i : i + _BATCH]) for i in range(0, len(order), _BATCH)]
    model = _Linear(len(known), len(meanings.vocabulary.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=_RATE)
    total = _EPOCHS * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 - n / total)
    for epoch in range(_EPOCHS):
        rng.shuffle(batches)
        losses = []
        for given, targets in batches:
            loss = loss_of(model(*given), targets)
            used = model.table.weight[given[0].unique()]
            optimizer.zero_grad()
            (loss + _DECAY * (used * used).sum()).backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        say(f"words, epoch {epoch + 1}: loss {np.mean(losses):.3f}")
    table = share * model.table.weight.detach().numpy()
    bias = share * model.bias.detach().numpy()
    return known, {"rarity": rarity, "table": table, "bias": bias}

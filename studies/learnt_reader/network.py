"""The head of the learnt reader in PyTorch: the encoder's top layers and a pointer per slot.

`hvr.language.learnt.reader` computes the same function in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from hvr.language.learnt.encoder import HEADS, WIDTH, SentenceEncoder
from hvr.language.learnt.frames import KINDS, ONLY_PLACING, OTHER, PLACING
from hvr.language.learnt.reader import POINTERS, ROOM, SLOTS

_NONE = -1e4
"""Score of an excluded option."""


class Layer(nn.Module):
    """One transformer layer of the encoder, which starts with the encoder's weights."""

    def __init__(self, weights: Mapping[str, object]) -> None:
        super().__init__()
        self.names = sorted(weights)
        for name in self.names:
            self.register_parameter(
                name.replace(".", "_"), nn.Parameter(torch.tensor(weights[name]))
            )

    def _of(self, name: str) -> Tensor:
        return getattr(self, name.replace(".", "_"))

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self._of(f"{name}.weight"), self._of(f"{name}.bias"))

    def _normal(self, x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(
            x, (WIDTH,), self._of(f"{name}.weight"), self._of(f"{name}.bias"), 1e-12
        )

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the states after the layer; `mask` is true for actual word pieces."""
        batch, length, _ = states.shape
        query, key, value = (
            self._linear(states, f"attention.self.{n}")
            .view(batch, length, HEADS, -1)
            .transpose(1, 2)
            for n in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask[:, None, None, :]
        )
        mixed = mixed.transpose(1, 2).reshape(batch, length, WIDTH)
        attended = functional.dropout(
            self._linear(mixed, "attention.output.dense"), 0.1, self.training
        )
        attended = self._normal(attended + states, "attention.output.LayerNorm")
        inner = functional.gelu(self._linear(attended, "intermediate.dense"))
        inner = functional.dropout(self._linear(inner, "output.dense"), 0.1, self.training)
        return self._normal(inner + attended, "output.LayerNorm")

    def weights(self) -> dict[str, Tensor]:
        return {name: self._of(name).detach() for name in self.names}


@dataclass(frozen=True)
class Targets:
    """Meanings of sentences as tensors; the number of classes in `pointers` is an empty slot."""

    kind: Tensor
    sliced: Tensor
    pointers: Mapping[str, Tensor]
    allowed: Tensor


@dataclass(frozen=True)
class Batch:
    """Sentences of similar length with their targets.

    Args:
        mask: True for actual word pieces.
        marks: Classes that each word piece names.
    """

    states: Tensor
    mask: Tensor
    marks: Tensor
    targets: Targets


class Network(nn.Module):
    """The head of the learnt reader; `tuned` are the indexes of the encoder layers to tune."""

    def __init__(
        self, encoder: SentenceEncoder, tuned: Sequence[int], label_vectors: Tensor, owners: Tensor,
        classes: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = nn.ModuleList(Layer(encoder.layer(n)) for n in tuned)
        self.register_buffer("labels", label_vectors)
        self.register_buffer("owners", owners)
        self.classes = classes
        self.query = nn.ParameterDict({s: nn.Parameter(torch.randn(WIDTH) * 0.1) for s in SLOTS})
        self.kind = nn.Linear(WIDTH, len(KINDS))
        self.sliced = nn.Linear(WIDTH, 1)
        self.aim = nn.ModuleDict({s: nn.Linear(WIDTH, ROOM) for s in POINTERS})
        self.label = nn.Linear(WIDTH, ROOM, bias=False)
        self.own = nn.ParameterDict(
            {s: nn.Parameter(torch.zeros(classes + 1, ROOM)) for s in POINTERS}
        )
        self.copy = nn.ParameterDict({s: nn.Parameter(torch.tensor(4.0)) for s in POINTERS})
        self.bias = nn.ParameterDict({s: nn.Parameter(torch.zeros(classes + 1)) for s in POINTERS})

    def forward(self, states: Tensor, mask: Tensor, marks: Tensor) -> dict[str, Tensor]:
        for layer in self.layers:
            states = layer(states, mask)
        states = functional.dropout(states, 0.1, self.training)
        pooled, looks = {}, {}
        for slot in SLOTS:
            weight = (states @ self.query[slot] / math.sqrt(WIDTH)).masked_fill(~mask, _NONE)
            looks[slot] = weight.softmax(-1)
            pooled[slot] = (looks[slot][..., None] * states).sum(1)
        scores = {"kind": self.kind(pooled["kind"]), "sliced": self.sliced(pooled["sliced"])[:, 0]}
        known = self.label(self.labels)
        for slot in POINTERS:
            point = self.aim[slot](pooled[slot])
            by_label = point @ known.T / math.sqrt(ROOM)
            best = torch.full((len(point), self.classes + 1), _NONE)
            best = best.scatter_reduce(
                1, self.owners.expand_as(by_label), by_label, "amax", include_self=False
            )
            best = torch.where(best <= _NONE, torch.zeros_like(best), best)
            own = self.own[slot]
            # Drop class-specific weights at random, so that unseen classes rely on labels.
            if self.training:
                own = own * (torch.rand(len(own), 1) > 0.2)
            named = (looks[slot][:, None, :] @ marks)[:, 0]
            scores[slot] = best + point @ own.T / math.sqrt(ROOM) + self.bias[slot]
            scores[slot] = scores[slot] + self.copy[slot] * named
        return scores


KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_PLACING = torch.tensor([k in PLACING for k in KINDS])
_SAID = torch.tensor([k != OTHER for k in KINDS])
_STACK = KIND_NUMBERS["stack"]


def loss_of(scores: Mapping[str, Tensor], targets: Targets) -> Tensor:
    """Return the loss over the slots of each kind, with and without restriction to the scene."""
    counts = {
        "thing": _SAID[targets.kind],
        "place": _PLACING[targets.kind],
        "carrier": targets.kind == _STACK,
    }
    total = functional.cross_entropy(scores["kind"], targets.kind, label_smoothing=0.02)
    said = counts["thing"].float()
    sliced = functional.binary_cross_entropy_with_logits(
        scores["sliced"], targets.sliced, reduction="none"
    )
    total = total + (sliced * said).sum() / said.sum().clamp(min=1)
    for slot in POINTERS:
        some = counts[slot]
        if not some.any():
            continue
        target, every = targets.pointers[slot][some], scores[slot][some]
        # Rank within the scene, and with less weight over all classes.
        here = every.masked_fill(~targets.allowed[some], _NONE)
        share = some.float().mean()
        total = total + share * (
            functional.cross_entropy(here, target)
            + 0.5 * functional.cross_entropy(every, target, label_smoothing=0.02)
        )
    return total


__all__ = ["KIND_NUMBERS", "ONLY_PLACING", "Batch", "Layer", "Network", "Targets", "loss_of"]

"""Vectors of the texts that a retriever reads."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hvr.knowledge.retrieval.text_vectors import TextVectors


def vectors_of(encoder: TextVectors, texts: Sequence[str]) -> Tensor:
    """Return the vectors of texts (texts, d)."""
    return torch.from_numpy(encoder.encode(texts).copy())


def looked_up(vectors: Tensor, numbers: Tensor) -> Tensor:
    """Return the vectors of texts by number (…, d); zeros for the number -1."""
    return vectors[numbers.clamp(min=0)] * (numbers >= 0).unsqueeze(-1)

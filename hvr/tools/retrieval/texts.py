"""Vectors of the texts that a retriever reads."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hvr.retrieval.text_vectors import TextVectors


class FixedTexts(nn.Module):
    """Precomputed vectors of texts, without trainable parameters.

    Args:
        encoder: of texts.
        texts: all texts that will be looked up.
    """

    def __init__(self, encoder: TextVectors, texts: Sequence[str]) -> None:
        super().__init__()
        vectors = torch.from_numpy(encoder.encode(texts).copy())
        self.register_buffer("vectors", vectors, persistent=False)
        self.width = int(vectors.shape[1])

    def forward(self, numbers: Tensor) -> Tensor:
        """Return the vectors of texts by number (…, d); zeros for the number -1."""
        vectors: Tensor = self.vectors  # type: ignore[assignment]
        rows = vectors[numbers.clamp(min=0)]
        return rows * (numbers >= 0).unsqueeze(-1)

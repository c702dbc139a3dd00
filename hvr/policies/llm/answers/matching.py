"""Which known name a written one means: by spelling, by what it may be called, by embeddings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Protocol

from hvr.retrieval.words import singular, squeezed, words

_INSTANCE = re.compile(r"(?P<base>.*?[^\W\d])[-_ |#(]*(?P<number>\d{1,4})\)?\W*")


_SLIP = 0.85
"""Texts that are as alike as this letter by letter differ by a slip."""


class Similarity(Protocol):
    """What is needed of an embedder; see `hvr.retrieval.embedders.Embedder`."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from -1 to 1."""


class KnownNames:
    """Known names with the phrases that mean them.

    Args:
        embedder: compares what is spelt differently.
        names: the names, the preferred first.
        phrases: what else a name may be called.
    """

    def __init__(
        self,
        embedder: Similarity,
        names: Iterable[str],
        phrases: Mapping[str, Sequence[str]],
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._embedder = embedder
        pairs = [(_plain(p), n) for n in self.names for p in (n, *phrases.get(n, ()))]
        self._pairs = tuple(dict.fromkeys(pairs))
        self._candidates = tuple(dict.fromkeys(p for p, _ in self._pairs))
        self._spelt: dict[str, dict[str, None]] = {}
        for phrase, name in self._pairs:
            self._spelt.setdefault(_key(phrase), {})[name] = None
        self._known: dict[str, dict[str, float]] = {}

    def scores(self, text: str) -> dict[str, float]:
        """Return how well each name fits a text, from 0 to 1, the best first.

        1 is a name or one of its phrases in other spelling at most.
        """
        plain = _plain(text)
        if plain not in self._known:
            self._known[plain] = self._compare(plain)
        return self._known[plain]

    def _compare(self, plain: str) -> dict[str, float]:
        scores = dict.fromkeys(self.names, 0.0)
        if not plain or not self._candidates:
            return scores
        same = self._spelt.get(_key(plain))
        if same:
            return {**dict.fromkeys(same, 1.0), **{n: 0.0 for n in scores if n not in same}}
        similar = self._embedder.similarities(plain, self._candidates)
        by_phrase = dict(zip(self._candidates, similar, strict=True))
        for phrase, name in self._pairs:
            # Rounded: the last bits of a sum may depend on the machine. Only spelling gives 1.
            likeness = max(round(by_phrase[phrase], 6), _spelling(plain, phrase))
            scores[name] = max(scores[name], min(0.99, likeness))
        order = sorted(scores, key=lambda n: -scores[n])
        return {name: scores[name] for name in order}


def split_instance(text: str) -> tuple[str, int | None]:
    """Return a name without its number, and the number: `Mug_1`, `mug 1` and `mug-1` are mug, 1."""
    match = _INSTANCE.fullmatch(text.strip())
    if match is None:
        return text.strip(), None
    return match["base"].strip(" -_|#"), int(match["number"])


def _spelling(one: str, other: str) -> float:
    """Return how alike two texts are letter by letter; 0 where that is more than a slip of
    the pen.
    """
    if min(len(one), len(other)) < 4 or abs(len(one) - len(other)) > 2 or len(one) > 40:
        return 0.0
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio if ratio >= _SLIP else 0.0


def _plain(text: str) -> str:
    return " ".join(words(text))


def _key(plain: str) -> str:
    parts = plain.split()
    return squeezed(" ".join([*parts[:-1], singular(parts[-1])])) if parts else ""

"""Match written names to known ones: by spelling, by their phrases, by embeddings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Protocol

from hvr.knowledge.retrieval.words import singular, squeezed, words

_INSTANCE = re.compile(r"(?P<base>.*?[^\W\d])[-_ |#(]*(?P<number>\d{1,4})\)?\W*")


_SLIP = 0.85
"""Letter-by-letter similarity from which two texts are taken to differ by a slip of the pen."""


class Similarity(Protocol):
    """The part of `hvr.knowledge.retrieval.embedders.Embedder` that matching needs."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the angle between the query and each candidate, from -1 to 1."""


class KnownNames:
    """Known names with the phrases that mean them.

    Args:
        embedder: compares texts that are spelt differently.
        names: the names, the preferred ones first.
        phrases: other phrases for each name.
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

        Only the name itself and its phrases score 1, in whatever spelling.
        """
        plain = _plain(text)
        if plain not in self._known:
            self._known[plain] = self._compare(plain)
        return self._known[plain]

    def _compare(self, plain: str) -> dict[str, float]:
        scores = dict.fromkeys(self.names, 0.0)
        if not plain or not self._candidates:
            return scores
        # An exact match needs no embedding, and no other name may compete with it.
        same = self._spelt.get(_key(plain))
        if same:
            return {**dict.fromkeys(same, 1.0), **{n: 0.0 for n in scores if n not in same}}
        similar = self._embedder.similarities(plain, self._candidates)
        by_phrase = dict(zip(self._candidates, similar, strict=True))
        for phrase, name in self._pairs:
            # Rounded, since the last bits of a sum may depend on the machine; below 1, which is
            # kept for the exact matches above.
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
    """Return the letter-by-letter similarity of two texts; 0 for more than a slip of the pen."""
    # In a short word one other letter makes another word; a long text is a sentence, not a name.
    if min(len(one), len(other)) < 4 or abs(len(one) - len(other)) > 2 or len(one) > 40:
        return 0.0
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio if ratio >= _SLIP else 0.0


def _plain(text: str) -> str:
    return " ".join(words(text))


def _key(plain: str) -> str:
    parts = plain.split()
    return squeezed(" ".join([*parts[:-1], singular(parts[-1])])) if parts else ""

"""Words and pairs of neighbours in a sentence, with a weight for every score of the head.

They know what the encoder blurs: that "knife in it" speaks of a dish, whatever the dish. Learnt
apart from the pointers, they err elsewhere, so the sum of both is right more often than either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from hvr.base.extras import load
from hvr.language.learnt.encoder import EXTRA, Array

_WORD = re.compile(r"[a-z]+|\d+|[.,;]")
_BEGIN, _END = "<", ">"


def grams(text: str) -> list[str]:
    """Return the words of a sentence and its pairs of neighbours, each once, in order of code."""
    words = _WORD.findall(text.lower())
    marked = [_BEGIN, *words, _END]
    return sorted({*words, *map(" ".join, pairwise(marked))})


def shares(rarity: Sequence[float]) -> Array:
    """Return how much each gram of a sentence counts: by its rarity, to length 1.

    Args:
        rarity: of each gram, its inverse document frequency.
    """
    np = load("numpy", "numpy", EXTRA)
    weights = np.asarray(rarity, np.float32)
    return weights / max(1e-6, float(np.linalg.norm(weights)))


class Ngrams:
    """The weights of known grams.

    Args:
        known: the grams.
        rarity: of each.
        table: a row for each gram, a column for each score.
        bias: of each score.
    """

    def __init__(self, known: Sequence[str], rarity: Array, table: Array, bias: Array) -> None:
        self._numbers: Mapping[str, int] = {gram: number for number, gram in enumerate(known)}
        self._rarity, self._table, self._bias = rarity, table, bias

    def scores(self, text: str) -> Array:
        """Return what the grams of a sentence add to each score."""
        found = [self._numbers[gram] for gram in grams(text) if gram in self._numbers]
        return shares(self._rarity[found]) @ self._table[found] + self._bias

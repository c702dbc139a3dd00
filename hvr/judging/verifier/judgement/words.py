"""Vectors of the words of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from hvr.judging.verifier.tool_embeddings import Floats

_WORD = re.compile(r"[a-z]+")


class BagOfWords:
    """Binary TF-IDF vectors of texts, of length 1.

    x_w = idf(w) [w in text] / norm,   idf(w) = log(texts / texts with w) + 1

    Args:
        idf: of the words of the vocabulary.
    """

    def __init__(self, idf: Mapping[str, float]) -> None:
        self.idf = dict(idf)
        self._place = {w: i for i, w in enumerate(idf)}
        self._weight = np.fromiter(idf.values(), np.float32, len(idf))

    @classmethod
    def of(cls, texts: Sequence[str]) -> BagOfWords:
        """Return the vocabulary of some texts.

        Words of more than half of the texts are left out, and, where there are many texts, those
        of one or two.
        """
        rare = 1 if len(texts) < 100 else 3
        counts = Counter(w for t in texts for w in set(_WORD.findall(t.lower())))
        most = max(len(texts) / 2, rare)
        kept = sorted((w, n) for w, n in counts.items() if rare <= n <= most)
        return cls({w: math.log(len(texts) / n) + 1 for w, n in kept})

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts (texts, words); a row of zeros for a text without any."""
        vectors = np.zeros((len(texts), len(self.idf)), dtype=np.float32)
        for i, text in enumerate(texts):
            found = set(_WORD.findall(text.lower()))
            places = sorted(self._place[w] for w in found if w in self._place)
            vectors[i, places] = self._weight[places]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)

"""Where a sentence names which class by one of its labels, piece by piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hvr.base.extras import load
from hvr.language.learnt.encoder import EXTRA, Array
from hvr.language.learnt.tokens import WordPieces
from hvr.language.lexicon import plurals


class Mentions:
    """Finds labels of classes in sentences.

    Args:
        labels: the labels of each class, in the order of the classes.
        pieces: cuts labels as it does sentences.
    """

    def __init__(self, labels: Mapping[str, Iterable[str]], pieces: WordPieces) -> None:
        self._np = load("numpy", "numpy", EXTRA)
        self._width = len(labels) + 1
        owners: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for number, texts in enumerate(labels.values()):
            for text in texts:
                for form in (text, *plurals(text)):
                    owners[tuple(pieces.numbers(form)[1:-1])].add(number)
        self._owners = {label: sorted(classes) for label, classes in owners.items()}
        self._longest = max(map(len, self._owners), default=0)

    def marks(self, numbers: Sequence[int]) -> Array:
        """Return for each piece of a sentence the share of each class that it names.

        The longest label counts, from left to right; classes of one label share it. The last
        column is that of no class.
        """
        marks = self._np.zeros((len(numbers), self._width), self._np.float32)
        start = 0
        while start < len(numbers):
            ends = range(min(len(numbers), start + self._longest), start, -1)
            end = next((e for e in ends if tuple(numbers[start:e]) in self._owners), 0)
            if end:
                classes = self._owners[tuple(numbers[start:end])]
                marks[start:end, classes] = 1.0 / len(classes)
            start = max(end, start + 1)
        return marks

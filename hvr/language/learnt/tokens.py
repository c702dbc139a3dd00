"""WordPiece: a sentence as numbers of pieces of words, as the encoder was trained on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from hvr.errors import DataFileError

MAX_PIECES = 128
"""Pieces that are read of a sentence, marks at the ends included."""

_LONGEST_WORD = 100
_UNKNOWN, _BEGIN, _END = "[UNK]", "[CLS]", "[SEP]"


class WordPieces:
    """Cuts sentences into the pieces of a vocabulary, the longest first.

    Args:
        vocabulary: a file with one piece a line.

    Raises:
        DataFileError: it cannot be read, or lacks the marks.
    """

    def __init__(self, vocabulary: Path) -> None:
        try:
            lines = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(f"{vocabulary}: cannot be read: {error}") from error
        self._numbers = {piece: number for number, piece in enumerate(lines)}
        missing = [mark for mark in (_UNKNOWN, _BEGIN, _END) if mark not in self._numbers]
        if missing:
            raise DataFileError(f"{vocabulary}: no vocabulary: {missing[0]} is missing")

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of a sentence's pieces between the marks for begin and end."""
        pieces = [piece for word in _words(text) for piece in self._pieces(word)]
        marked = [_BEGIN, *pieces[: MAX_PIECES - 2], _END]
        return [self._numbers[piece] for piece in marked]

    def _pieces(self, word: str) -> list[str]:
        if len(word) > _LONGEST_WORD:
            return [_UNKNOWN]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            lead = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if lead + word[start:e] in self._numbers), 0)
            if not end:
                return [_UNKNOWN]
            pieces.append(lead + word[start:end])
            start = end
        return pieces


def _words(text: str) -> Iterator[str]:
    """Yield words and signs in lower case, without accents and control characters."""
    word = ""
    for sign in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(sign)
        if category == "Mn" or (category.startswith("C") and not sign.isspace()):
            continue
        if sign.isspace() or category == "Zs" or _stands_alone(sign, category):
            if word:
                yield word
            word = ""
            if not sign.isspace() and category != "Zs":
                yield sign
        else:
            word += sign
    if word:
        yield word


def _stands_alone(sign: str, category: str) -> bool:
    ascii_sign = sign.isascii() and sign.isprintable() and not sign.isalnum() and sign != " "
    ideograph = "\u4e00" <= sign <= "\u9fff" or "\u3400" <= sign <= "\u4dbf"
    return ascii_sign or category.startswith("P") or ideograph

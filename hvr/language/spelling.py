"""Correction of misspelt words.

An unknown word is read as the one known word that it resembles. Ordinary English words are left
alone: 'cake' is not a misspelt 'make'.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

from hvr.language.lexicon import Lexicon

_SHORTEST = 4
"""Minimum length of a word that is corrected."""

_LONG = 5
"""Minimum length of a word in which two mistakes are corrected instead of one."""


def correct(tokens: Sequence[str], lexicon: Lexicon) -> tuple[tuple[str, ...], list[str]]:
    """Correct misspelt words; return the words and one note per correction."""
    corrected: list[str] = []
    notes: list[str] = []
    tokens = _rejoined(tokens, lexicon)
    for token in tokens:
        meant = None if _known(token, lexicon) else correction(token, lexicon)
        corrected.append(meant or token)
        if meant:
            notes.append(f"read {token!r} as {meant!r}")
    return tuple(corrected), list(dict.fromkeys(notes))


def _rejoined(tokens: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Split or join compounds as the lexicon writes them: 'sauce pan' becomes 'saucepan'."""
    words: list[str] = []
    for token in tokens:
        joined = words[-1] + token if words else ""
        halves = [(token[:i], token[i:]) for i in range(3, len(token) - 2)]
        apart = next((pair for pair in halves if pair in lexicon.entries), None)
        if (joined,) in lexicon.entries and not (
            words[-1] in lexicon.parts and _known(token, lexicon)
        ):
            words[-1] = joined
        elif apart and not _known(token, lexicon):
            words += apart
        else:
            words.append(token)
    return tuple(words)


def _known(token: str, lexicon: Lexicon) -> bool:
    return not token.isalpha() or token in lexicon.parts


def correction(word: str, lexicon: Lexicon) -> str | None:
    """Return the one known word that a misspelt word resembles most, or None.

    Examples:
        >>> from hvr.knowledge.ontology import load_ontology
        >>> from hvr.language.lexicon import load_lexicon
        >>> lexicon = load_lexicon(load_ontology())
        >>> correction("tomatoe", lexicon), correction("cake", lexicon)
        ('tomato', None)
    """
    if len(word) < _SHORTEST or word in _ordinary_words():
        return None
    most = 2 if len(word) >= _LONG else 1
    near: dict[str, int] = {}
    for other in lexicon.words:
        if len(other) >= _SHORTEST and abs(len(other) - len(word)) <= most and other[0] == word[0]:
            apart = distance(word, other)
            if apart <= most:
                near[other] = apart
    best = min(near.values(), default=0)
    nearest = sorted(other for other, apart in near.items() if apart == best)
    if len(nearest) > 1:
        # A word and its plural, or a verb and its -ing form, count as one suggestion.
        nearest = [w for w in nearest if not any(w != o and w.startswith(o) for o in nearest)]
    return nearest[0] if len(nearest) == 1 else None


@lru_cache(maxsize=4096)
def distance(one: str, other: str) -> int:
    """Return the edit distance of two words; swapping neighbouring letters counts as one edit.

    Examples:
        >>> distance("tabel", "table"), distance("aple", "apple"), distance("mug", "bug")
        (1, 1, 1)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, above, row = row, before, [i]
        for j, b in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, above[j - 2] + 1)
            row.append(least)
    return row[-1]


@lru_cache(maxsize=1)
def _ordinary_words() -> frozenset[str]:
    text = resources.files("hvr.language").joinpath("ordinary_words.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())

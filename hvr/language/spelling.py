"""Spelling mistakes: words that hvr does not know, read as the one known word that they resemble.

A word that is an ordinary word of English is left alone: a 'cake' is no misspelt 'make'.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

from hvr.language.lexicon import Lexicon

_SHORTEST = 4
"""Letters of the shortest word that is corrected."""

_LONG = 5
"""Letters from which two mistakes are corrected; before that, one."""


def correct(tokens: Sequence[str], lexicon: Lexicon) -> tuple[tuple[str, ...], list[str]]:
    """Return words with the misspelt ones corrected, and a note for each of these."""
    corrected: list[str] = []
    notes: list[str] = []
    tokens = _rejoined(tokens, lexicon)
    for token in tokens:
        meant = None if _known(token, lexicon) else meant_by(token, lexicon)
        corrected.append(meant or token)
        if meant:
            notes.append(f"read {token!r} as {meant!r}")
    return tuple(corrected), list(dict.fromkeys(notes))


def _rejoined(tokens: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return words with compounds as hvr knows them: 'sauce pan' as 'saucepan', 'saltshaker' as
    'salt shaker'.
    """
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


def meant_by(word: str, lexicon: Lexicon) -> str | None:
    """Return the one known word that a misspelt word resembles most; None without one.

    Examples:
        >>> from hvr.knowledge.ontology import load_ontology
        >>> from hvr.language.lexicon import load_lexicon
        >>> lexicon = load_lexicon(load_ontology())
        >>> meant_by("tomatoe", lexicon), meant_by("cake", lexicon)
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
        # A word and its plural, or a verb and its -ing form, are one suggestion.
        nearest = [w for w in nearest if not any(w != o and w.startswith(o) for o in nearest)]
    return nearest[0] if len(nearest) == 1 else None


@lru_cache(maxsize=4096)
def distance(one: str, other: str) -> int:
    """Return how many letters must be put in, left out, replaced or swapped with their neighbour.

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

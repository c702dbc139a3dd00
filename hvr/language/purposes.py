"""Objects named by their purpose: 'something to cut with', 'a soup serving tool'.

The ontology gives the purposes of a class (`k:usedFor`). A general word such as 'tool' and the
words around it name the classes whose purpose has exactly these words.
"""

from __future__ import annotations

from collections.abc import Iterator

from hvr.language.cursor import PAUSES, Cursor
from hvr.language.lexicon import PURPOSELESS, Lexicon, stem

_BEFORE, _AFTER = 3, 5
"""Numbers of words before and after a general word that can name its purpose."""


_GENERAL = frozenset(
    "something anything tool tools device utensil implement instrument container item object "
    "vessel receptacle gadget thing equipment appliance holder furniture surface items "
    "things".split()
)
"""General words for things."""

_PRONOUNS = frozenset({"something", "anything"})
"""General words without an article."""


def with_names(
    text: str, tokens: tuple[str, ...], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace the things that a purpose describes by their names; return the words and notes."""
    notes: list[str] = []
    at = 0
    while at < len(tokens):
        cursor = Cursor(text, tokens, lexicon)
        found = _described(cursor, at) if tokens[at] in _GENERAL else None
        if found is not None:
            start, end, names = found
            article = ("a",) if start == at and tokens[at] in _PRONOUNS else ()
            words = " or a ".join(names).split()
            notes.append(f"read {' '.join(tokens[start:end])!r} as {' or '.join(names)!r}")
            tokens = (*tokens[:start], *article, *words, *tokens[end:])
            at = start + len(words)
        at += 1
    return tokens, tuple(notes)


def _described(cursor: Cursor, at: int) -> tuple[int, int, tuple[str, ...]] | None:
    """Return the start and end of a description and its names, the longest description first."""
    after = at + 1
    for start in range(max(0, at - _BEFORE), at + 1):
        before = frozenset(map(stem, cursor.tokens[start:at]))
        for end, words in _complements(cursor, after):
            if names := cursor.lexicon.purposes.get(before | words):
                return start, end, names
    return None


def _complements(cursor: Cursor, at: int) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the ends and words of the phrases of purpose after a general word, longest first."""
    link = cursor.function("serving", at=at)
    phrases: list[tuple[int, frozenset[str]]] = [(at, frozenset())]
    words: frozenset[str] = frozenset()
    end = at + (link.length if link else 0)
    limit = end + _AFTER if link else end
    while end < min(limit, len(cursor.tokens)) and cursor.word(end) not in PAUSES:
        word = cursor.word(end)
        end += 1
        if word not in PURPOSELESS:
            words |= {stem(word)}
            last = int(cursor.word(end) in PURPOSELESS and not cursor.starts_thing(end + 1))
            phrases.append((end + last, words))
    return iter(phrases[::-1])

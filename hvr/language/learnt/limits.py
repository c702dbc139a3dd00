"""Words that no frame can say: where one stands, the learnt reader leaves a request alone.

It would read the rest and do what was not asked: "slice half the bread", "if it is dirty, wash it".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.lexicon import tokenize

_BACK = re.compile(r" (?:back|return it|return them) (?=$|[.,;!?]|and |then |after |before )")
"""'Put it back', which says no place, but not 'put it back on the table'."""

_MOST = 2
"""Things of a kind that a frame can speak of."""


def beyond(request: str) -> str:
    """Return the first word or phrase of a request that no frame can say, or ''.

    Raises:
        LanguageError: the request is empty or far too long.
    """
    text = f" {' '.join(tokenize(request))} "
    text = _BACK.sub(" back where it was ", text)
    found = [(text.index(f" {phrase} "), phrase) for phrase in _PHRASES if f" {phrase} " in text]
    return min(found)[1] if found else ""


def _phrases() -> Iterator[str]:
    for role in ("unsupported", "question", "everything", "except", "rest", "until", "instead",
                 "none"):  # fmt: skip
        yield from _words(role)
    yield from (phrase for phrase in _words("origin") if " " in phrase)
    for role in ("det", "number"):
        words = FUNCTION_WORDS[role]
        assert isinstance(words, Mapping)
        yield from (
            phrase for phrase, count in words.items()
            if (count == 0 and "both" not in phrase and phrase != "each")
            or (isinstance(count, int) and count > _MOST)
        )  # fmt: skip


def _words(role: str) -> Iterable[str]:
    return FUNCTION_WORDS.get(role, ())


_PHRASES = tuple(sorted(set(_phrases())))

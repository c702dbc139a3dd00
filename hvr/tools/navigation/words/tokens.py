"""The words, signs and values of a text, in their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hvr.tools.navigation.words.english import (
    ACTIONS,
    AUXILIARIES,
    COURTESY,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    SUBJECTS,
)
from hvr.tools.navigation.words.stems import is_participle, stem
from hvr.tools.navigation.words.values import ValueSpan, spans_of

GENERAL_VERBS = frozenset(stem(verb) for group in ACTIONS for verb in group)
"""The stems of the verbs that any request may use."""

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?:'[a-z]+)?|\d+\w*|[^\w\s]|_+")
_NO_VERBS = DETERMINERS | PRONOUNS | PREPOSITIONS | AUXILIARIES | QUESTION_WORDS | SUBJECTS
_BASE_ING = frozenset(stem(word) for word in ("ring", "bring", "sing", "ping", "string"))


@dataclass(frozen=True)
class Token:
    """A word, a sign, or a value.

    Args:
        text: As it is written.
        start: The index of its first character in the text.
        span: The value that it says, if it says one.
    """

    text: str
    start: int
    span: ValueSpan | None = None

    @property
    def lower(self) -> str:
        """The word in small letters; empty for a value."""
        return "" if self.span is not None else self.text.lower()

    @property
    def is_word(self) -> bool:
        """Whether it is a word and not a sign or a value."""
        return self.span is None and self.text[0].isalpha()


def tokens_of(text: str) -> list[Token]:
    """Return the words, signs and values of a text, without quotation marks."""
    found: list[Token] = []
    at = 0
    plain = text.replace("’", "'")
    for span in (*spans_of(text), None):
        end = len(text) if span is None else span.start
        found += [Token(m[0], at + m.start()) for m in _WORD.finditer(plain[at:end])]
        if span is not None:
            found.append(Token(span.text, span.start, span))
            at = span.end
    return [token for token in found if token.text not in ("'", '"', "“", "”", "‘", "`")]


def written(tokens: Sequence[Token]) -> str:
    """Return the words of tokens in small letters, one space apart, each value as a square."""
    return " ".join("\N{WHITE SQUARE}" if t.span is not None else t.text.lower() for t in tokens)


def after(tokens: Sequence[Token], length: int) -> list[Token]:
    """Return the tokens that follow a beginning of what `written` returns."""
    at = 0
    for index, token in enumerate(tokens):
        if at >= length:
            return list(tokens[index:])
        at += (1 if token.span is not None else len(token.text)) + 1
    return []


def is_verb(tokens: Sequence[Token], verbs: Collection[str]) -> bool:
    """Return whether the first of some tokens is a verb in the imperative, as far as one can tell.

    A word before a determiner is a verb whatever it is; a known verb is one before anything that
    may be its object.

    Args:
        tokens: The beginning of a clause.
        verbs: The stems of known verbs.
    """
    first = tokens[0]
    following = tokens[1].lower if len(tokens) > 1 else ""
    if not first.is_word or first.lower in _NO_VERBS | COURTESY:
        return False
    if is_participle(first.lower):
        return False
    if first.lower.endswith(("ing", "'s")) and stem(first.lower) not in _BASE_ING:
        return False
    if following in DETERMINERS or following in PRONOUNS - {"one", "ones"}:
        return True
    if stem(first.lower) not in verbs or first.lower.endswith("ed"):
        return False
    return following not in AUXILIARIES

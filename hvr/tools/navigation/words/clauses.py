"""The clauses of a request: what each one orders, asks, forbids, or merely states.

Only a clause that orders something may lead to a call that writes. A question leads to reading
calls alone, what is forbidden and what is merely stated to none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from hvr.tools.navigation.words.english import (
    ADVERBS,
    AUXILIARIES,
    DETERMINERS,
    QUESTION_WORDS,
    SUBJECTS,
)
from hvr.tools.navigation.words.moods import (
    Mood,
    RequestClause,
    is_open_order,
    is_wish,
    judged,
    stripped,
)
from hvr.tools.navigation.words.stems import stem
from hvr.tools.navigation.words.tokens import GENERAL_VERBS, Token, is_verb, tokens_of, written


def clauses_of(text: str, verbs: Collection[str] = ()) -> tuple[RequestClause, ...]:
    """Return the clauses of a request.

    Args:
        text: The request.
        verbs: The stems of further verbs, such as the verbs in tools' names.
    """
    known = GENERAL_VERBS | frozenset(verbs)
    found: list[RequestClause] = []
    for sentence, end in _sentences(tokens_of(text)):
        found += _clauses(sentence, end, known)
    return tuple(found)


def _sentences(tokens: Sequence[Token]) -> list[tuple[list[Token], str]]:
    """Return sentences, each with the sign that ends it."""
    found: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    for token in tokens:
        if token.span is not None or token.text not in ".!?;…":
            part.append(token)
        elif part:
            found.append((part, token.text))
            part = []
        elif token.text == "?" and found:
            found[-1] = (found[-1][0], "?")
    if part:
        found.append((part, ""))
    return found


_JOINERS = frozenset(["and", "but", "then", "or", "nor", "plus", "&"])
_GOING_ON = frozenset(["and", "or", "nor"])
"""Words that join a verb to the one before: "don't move or delete it"."""
_SIGNS = ",:—–-"
_CONDITIONS = frozenset(["if", "unless", "when", "once", "until"])
_EXCLUSIONS = frozenset(["without", "instead", "rather"])
_REASONS = frozenset(["because", "since", "although", "though", "while", "as", "so"])
_TIMES = frozenset(["after", "before"])
_SUBORDINATE = _CONDITIONS | _EXCLUSIONS | _REASONS | _TIMES
_TAG = re.compile(r"\b(?:would|will|could|can) you(?: please)?$")
_POLITE = re.compile(
    r"(?:you (?:can|could|would|don't mind|do not mind|please|like)|possible|needed|necessary|"
    r"i may|it is possible|it's possible|at all)\b"
)
_ASKING = frozenset(
    stem(word)
    for word in ("know", "see", "check", "find", "tell", "ask", "wonder", "verify", "learn", "say",
                 "determine", "confirm", "sure", "out")
)  # fmt: skip
"""Verbs after which "if" and "when" ask: "see if it came"."""


def _clauses(tokens: list[Token], end: str, verbs: frozenset[str]) -> list[RequestClause]:
    """Return the clauses of a sentence: split, judged, and joined where one bears on another."""
    found: list[RequestClause] = []
    if end == "?" and (tag := _TAG.search(written(tokens))):
        tokens, end = tokens[: -len(tag[0].split())], ""
    condition = False
    conditions: list[Token] = []
    for part, opener in _parts(tokens, verbs):
        body = stripped(part)
        if not body:
            continue
        inverted = end != "?" and body[0].lower in ("should", "had", "were")
        polite = len(part) <= 5 and _POLITE.match(written(part))
        if inverted or (opener in _CONDITIONS and not polite):
            found.append(RequestClause(tuple(body), Mood.STATEMENT, opener))
            orders = [clause for clause in found if clause.mood is Mood.ORDER]
            # "Cancel it if it is late": the condition follows what it bears on.
            found = [replace(c, mood=Mood.CONDITIONAL) if c in orders else c for c in found]
            condition = not orders
            conditions = body if opener in ("if", "when") and not orders else []
        elif opener in _EXCLUSIONS:
            found.append(RequestClause(tuple(body), Mood.FORBIDDEN, opener))
        elif opener in _REASONS | _TIMES or (polite and opener in _CONDITIONS):
            found.append(RequestClause(tuple(body), Mood.STATEMENT, opener))
        elif found and _goes_on(found[-1], opener, body):
            found.append(RequestClause(tuple(body), found[-1].mood))
        else:
            clause = judged(body, end, verbs, found)
            if opener == "or" and clause.mood is Mood.ORDER and found[-1:] != []:
                # "Cancel it or redirect it": one of the two is meant.
                found[-1] = _held(found[-1])
                clause = _held(clause)
            if condition and clause.mood is Mood.ORDER:
                clause = replace(clause, mood=Mood.CONDITIONAL)
            elif conditions and clause.mood is Mood.QUESTION:
                # "If it is noon here, what time is it there?" asks of both.
                clause = replace(clause, tokens=(*conditions, *clause.tokens))
                found.pop()
            found.append(clause)
    return found


def _held(clause: RequestClause) -> RequestClause:
    held = clause.mood is Mood.ORDER
    return replace(clause, mood=Mood.CONDITIONAL) if held else clause


def _goes_on(before: RequestClause, opener: str, body: Sequence[Token]) -> bool:
    """Return whether a verb is forbidden, or stated, together with the one before.

    A comma ends that, as in "it is late, cancel it", unless a list of wishes goes on.
    """
    if before.mood not in (Mood.FORBIDDEN, Mood.STATEMENT) or before.opener or is_open_order(body):
        return False
    listed = before.mood is Mood.STATEMENT and opener == "," and is_wish(before.tokens)
    return opener in _GOING_ON or listed


def _parts(tokens: list[Token], verbs: frozenset[str]) -> list[tuple[list[Token], str]]:
    """Split a sentence before each clause; each part comes with the word that opens it."""
    parts: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    opener = ""
    skip = False
    for index, token in enumerate(tokens):
        word, rest = token.lower, tokens[index + 1 :]
        sign = token.span is None and token.text in _SIGNS
        new = None
        if skip:
            skip = False
            continue
        if word in _EXCLUSIONS and _gerund(_after_of(rest)):
            new, skip = word, rest[0].lower in ("of", "than")
        elif _opens(word, rest, tokens[:index]):
            new = word
        elif ((sign or word in _JOINERS) and _starts_clause(rest, verbs)) or (
            sign and opener in _SUBORDINATE
        ):
            new = (
                "," if sign else word if word in _GOING_ON and rest[0].lower not in ADVERBS else ""
            )
        if new is None:
            part.append(token)
            continue
        parts.append((part, opener))
        part, opener = [], new
    parts.append((part, opener))
    return [(some, word) for some, word in parts if some]


def _after_of(rest: Sequence[Token]) -> Sequence[Token]:
    return rest[1:] if rest and rest[0].lower in ("of", "than") else rest


def _gerund(rest: Sequence[Token]) -> bool:
    return bool(rest) and len(rest[0].lower) > 4 and rest[0].lower.endswith("ing")


def _opens(word: str, rest: Sequence[Token], before: Sequence[Token]) -> bool:
    """Return whether a word opens a clause, and is not a preposition or an adverb here."""
    if not rest:
        return False
    first = rest[0].lower
    asked = bool(before) and stem(before[-1].lower or "x") in _ASKING
    if word == "if":
        polite = first == "you" and len(rest) > 1 and rest[1].lower in ("can", "could", "would")
        return not asked and not polite and not (before and before[-1].lower == "me")
    if word in ("unless", "because", "although", "though", "until"):
        return first != "of"
    if word == "so":
        return first in SUBJECTS or first == "that"
    if word == "when" and not before:
        return first not in AUXILIARIES
    if word in ("when", "since", "as", "while", "once"):
        subject = first in SUBJECTS or first in DETERMINERS or rest[0].span is not None
        return subject and not asked and any(
            t.lower in AUXILIARIES or t.lower.endswith(("ed", "s")) for t in rest[1:5]
        )  # fmt: skip
    return word in _TIMES and (first in SUBJECTS or _gerund(rest))


def _starts_clause(rest: Sequence[Token], verbs: frozenset[str]) -> bool:
    """Return whether a clause begins here, rather than another part of an enumeration."""
    rest = list(rest)
    while rest and (rest[0].lower in ADVERBS or rest[0].lower in _JOINERS | {","}):
        rest.pop(0)
    if not rest or rest[0].span is not None:
        return False
    first = rest[0].lower
    following = rest[1].lower if len(rest) > 1 else ""
    if first in ("don't", "never", "do", "let's", "not", "dont"):
        return True
    if first in ("want", "wish", "need", "would") and following in ("to", "like"):
        return True
    if first.split("'")[0] in SUBJECTS:
        return len(rest) > 1 and (rest[1].is_word or "'" in first)
    if first in QUESTION_WORDS:
        return first not in ("who", "which", "whose")
    if first in AUXILIARIES:
        return following in SUBJECTS or following in DETERMINERS
    return is_verb(rest, verbs)

"""Which values of a log's calls come from where: the user's messages, earlier results, nowhere.

A text or a result explains a value if it has all the value's words and numbers. That is lenient:
names composed of known parts are known, such as `notes.txt` after "notes" and "txt", so an unknown
value is one that neither the user nor a tool has mentioned. Only identifiers count as evidence;
numbers may be computed, and sentences composed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.tools.tool_plan import LoggedCall

Leaf = tuple[str, str | int | float]
"""Name of a value and the value: the nearest key above it."""

_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(r"\d{4}-\d\d|\d{1,2}[:/]\d{1,2}")
_IDENTIFYING = 4
"""Characters from which a text with a digit identifies something."""
_IDENTIFYING_NUMBER = 100_000
"""Whole numbers below may be counts, sizes or defaults."""


def leaves(value: Any, name: str = "") -> Iterator[Leaf]:
    """Yield the texts and numbers in a JSON value, and its keys as texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield name, str(key)
            yield from leaves(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield name, value


def given(arguments: Mapping[str, Any]) -> Iterator[Leaf]:
    """Yield the texts and numbers in arguments, without the keys."""
    for name, value in arguments.items():
        if isinstance(value, dict):
            yield from given(value)
        elif isinstance(value, list):
            for inner in value:
                yield from given({name: inner})
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield name, value


def words_of(value: str | float) -> frozenset[str]:
    """Return the words and numbers of a value, in lower case."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return frozenset(word.lower() for word in _WORD.findall(text))


def identifies(value: str | float) -> bool:
    """Return whether a value can only be known from somewhere: an identifier, not a quantity."""
    if isinstance(value, str):
        has_digit = any(character.isdigit() for character in value)
        plain = has_digit and " " not in value.strip() and len(value) >= _IDENTIFYING
        return plain and not _DATE.search(value) and not _is_number(value)
    return isinstance(value, int) and abs(value) >= _IDENTIFYING_NUMBER


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < _IDENTIFYING_NUMBER and len(text) <= _IDENTIFYING
    except ValueError:
        return False


@dataclass(frozen=True)
class KnownWords:
    """Words that a message or a result brought into the conversation."""

    words: frozenset[str]

    @classmethod
    def of(cls, value: Any) -> KnownWords:
        """Return the words of a text or a JSON value."""
        return cls(frozenset().union(*(words_of(leaf) for _, leaf in leaves(value))))

    def has(self, value: str | float) -> bool:
        """Return whether every word of a value is here, or is a known number with a prefix."""
        return all(word in self.words or self._prefixed(word) for word in words_of(value))

    def _prefixed(self, word: str) -> bool:
        bare = word.lstrip("abcdefghijklmnopqrstuvwxyz")
        return len(bare) > _IDENTIFYING and bare in self.words

    def __or__(self, other: KnownWords) -> KnownWords:
        return KnownWords(self.words | other.words)


@dataclass(frozen=True)
class CallValues:
    """Where the identifying values of one call come from.

    Args:
        unknown: Values that nothing before the call has mentioned, with their parameters.
        echoed: Those of them that the call's own result repeats.
        later: Index of the first later call whose result has the value, for unknown values.
        readers: Later calls that use a value of this call's result.
    """

    unknown: tuple[Leaf, ...]
    echoed: frozenset[Leaf]
    later: Mapping[Leaf, int]
    readers: frozenset[int]


def call_values(said: tuple[str, ...], calls: tuple[LoggedCall, ...]) -> tuple[CallValues, ...]:
    """Return where the values of each call come from."""
    results = [KnownWords.of(call.result) for call in calls]
    inputs = [tuple(given(named(call))) for call in calls]
    found = []
    before = KnownWords(frozenset())
    for at, call in enumerate(calls):
        known = before | KnownWords.of(list(said[: call.turn]))
        unknown = tuple(
            leaf for leaf in inputs[at] if identifies(leaf[1]) and not known.has(leaf[1])
        )
        echoed = frozenset(leaf for leaf in unknown if results[at].has(leaf[1]))
        later = {
            leaf: place
            for leaf in unknown
            for place in reversed(range(at + 1, len(calls)))
            if results[place].has(leaf[1]) and leaf not in inputs[place]
        }
        readers = frozenset(
            place
            for place in range(at + 1, len(calls))
            if _uses(inputs[place], call.result, results[at])
        )
        found.append(CallValues(unknown, echoed, later, readers))
        before = before | results[at] | KnownWords.of([value for _, value in inputs[at]])
    return tuple(found)


def named(call: LoggedCall) -> Mapping[str, Any]:
    """Return the arguments of a call by name, or by number where they have no name."""
    return {**(call.arguments or {}), **{str(n): v for n, v in enumerate(call.unnamed)}}


def _uses(inputs: Iterable[Leaf], result: Any, source: KnownWords) -> bool:
    """Return whether an argument is a value of a result, or a text that quotes one."""
    for _, value in inputs:
        words = words_of(value)
        if _telling(value) and words and words <= source.words:
            return True
        if isinstance(value, str) and len(words) > 1:
            for _, leaf in leaves(result):
                if _telling(leaf) and (some := words_of(leaf)) and some <= words:
                    return True
    return False


def _telling(value: str | float) -> bool:
    """Return whether two equal values are unlikely to be equal by chance."""
    return len(value.strip()) > 2 if isinstance(value, str) else abs(value) > 9

"""Comparisons of numbers in the clauses of PDDL worlds, such as "the battery is at least 5"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hvr.pddl.model import Function
from hvr.worlds.facts.lexicon import words_of

OPERATORS = {
    "at least": ">=",
    "no less than": ">=",
    "at most": "<=",
    "no more than": "<=",
    "more than": ">",
    "greater than": ">",
    "above": ">",
    "over": ">",
    "less than": "<",
    "fewer than": "<",
    "below": "<",
    "under": "<",
    "exactly": "=",
    "equal to": "=",
    "": "=",
}
_SYMBOLS = (">=", "<=", ">", "<", "=")
COMPARISON_WORDS = tuple(
    dict.fromkeys(word for text in ("is not", *OPERATORS) for word in text.split())
)
"""The words of comparisons, other than the names of functions and objects."""

_OPERATOR = "|".join(f"{text} " if text else "" for text in OPERATORS)
_COMPARED = re.compile(
    rf"(?P<left>.+?) (?:(?:is|are) (?P<denied>not )?(?P<word>{_OPERATOR})"
    rf"|(?:is |are )?(?P<symbol>{'|'.join(_SYMBOLS)}) ?)(?P<right>\S.*)"
)

_HAVING = re.compile(
    rf"(?P<left>.+?) (?:has|(?:(?:should|must|shall|needs? to) )?have) "
    rf"(?P<word>{_OPERATOR})(?P<right>[0-9.]+) (?:units? of )?(?P<function>.+)"
)


@dataclass(frozen=True)
class ComparisonClause:
    """A clause that compares two numbers; `positive` is False if it contains "not"."""

    left: str
    operator: str
    right: str
    positive: bool = True


_THERE = re.compile(
    rf"there (?:is|are|(?:should|must|shall) be) (?P<word>{_OPERATOR})(?P<right>[0-9.]+) "
    r"(?:units? of )?(?P<function>.+?) (?:in|on|at) (?P<left>.+)"
)


def parse_comparison(text: str) -> ComparisonClause | None:
    """Parse a clause as a comparison; return None if it is not one."""
    if (having := _HAVING.fullmatch(text) or _THERE.fullmatch(text)) is not None:
        operator = OPERATORS[(having["word"] or "").strip()]
        return ComparisonClause(
            f"the {having['function']} of {having['left']}", operator, having["right"]
        )
    match = _COMPARED.fullmatch(text)
    if match is None:
        return None
    operator = match["symbol"] or OPERATORS[match["word"].strip()]
    return ComparisonClause(match["left"], operator, match["right"], positive=not match["denied"])


def function_patterns(
    functions: Mapping[str, Function],
) -> Iterator[tuple[str, re.Pattern[str], tuple[int, ...]]]:
    """Yield (function, pattern, argument positions) for each way to name a function."""
    for function in functions.values():
        name = re.escape(words_of(function.name).lower())
        places = tuple(range(len(function.parameters)))
        args = " and ".join(f"(?P<p{place}>.+?)" for place in places)
        of = f" of {args}" if places else ""
        yield function.name, re.compile(f"(?:the )?{name}{of}"), places
        if len(places) == 1:
            yield function.name, re.compile(rf"(?P<p0>.+?)(?:'s|s'|') {name}"), places

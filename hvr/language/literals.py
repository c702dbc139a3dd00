"""The literals of a condition on `?x`: enough to see that two conditions exclude each other.

Disjunctions are not told apart from conjunctions: 'hot or warm' counts as both.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LITERAL = re.compile(r"(\(not \()?\b([a-z_]+) \?x\b")
_PART = re.compile(r"\(not \([a-z_]+ \?x\)\)|\([a-z_]+ \?x\)")
_EXCLUDING = frozenset(
    frozenset(pair.split()) for pair in ("hot cold", "warm_liquid cold", "opened toggled")
)
"""Pairs of predicates that do not hold of one thing at once; appliances with a door run only with
the door closed."""

Literal = tuple[str, bool]


@lru_cache(maxsize=1024)
def literals(condition: str) -> frozenset[Literal]:
    """Return the predicates of a condition, each with whether it is to hold.

    Examples:
        >>> sorted(literals("(and (washed ?x) (not (dirty ?x)))"))
        [('dirty', False), ('washed', True)]
    """
    return frozenset((name, not negated) for negated, name in _LITERAL.findall(condition))


def asks(condition: str, predicate: str) -> bool:
    """Return whether a condition wants a predicate to hold."""
    return (predicate, True) in literals(condition)


def cuts(condition: str) -> bool:
    """Return whether a condition wants a thing cut up or cracked, which leaves pieces of it."""
    return asks(condition, "sliced") or asks(condition, "cracked")


def negated(condition: str) -> str:
    """Return the opposite of a condition.

    Examples:
        >>> negated("(not (opened ?x))"), negated("(dirty ?x)")
        ('(opened ?x)', '(not (dirty ?x))')
    """
    if condition.startswith("(not "):
        return condition.removeprefix("(not ").removesuffix(")")
    parts = _PART.findall(condition)
    if condition.startswith(("(or ", "(and ")) and len(parts) > 1:
        word = "and" if condition.startswith("(or ") else "or"
        return f"({word} {' '.join(map(negated, parts))})"
    return f"(not {condition})"


def telling(condition: str) -> str:
    """Return the part of a conjunction that tells it from others: the last that is to hold.

    Examples:
        >>> telling("(and (washed ?x) (not (dirty ?x)))")
        '(washed ?x)'
    """
    if not condition.startswith("(and "):
        return condition
    positive = [part for part in _PART.findall(condition) if not part.startswith("(not ")]
    return positive[-1] if positive else condition


def opposed(one: str, other: str) -> bool:
    """Return whether two conditions cannot hold of one thing at once.

    Examples:
        >>> opposed("(opened ?x)", "(not (opened ?x))"), opposed("(hot ?x)", "(cold ?x)")
        (True, True)
    """
    return any(
        (a == b and wanted != also) or (wanted and also and frozenset({a, b}) in _EXCLUDING)
        for a, wanted in literals(one)
        for b, also in literals(other)
    )

"""The literals of a condition on `?x`: enough to see what it asks for.

Disjunctions are not told apart from conjunctions: 'hot or warm' counts as both.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LITERAL = re.compile(r"(\(not )?\(([\w-]+) \?x\b")
_PART = re.compile(r"\(not \([\w-]+ \?x\)\)|\([\w-]+ \?x\)")

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

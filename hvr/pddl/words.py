"""Expressions as nested tuples of words, for programs that want no classes.

`(and (p ?x) (not (q)))` is `("and", ("p", "?x"), ("not", ("q",)))`; numbers stay words. The
variables of a quantifier are a tuple of names and types, such as `(("?y", ("block",)),)`.
"""

from __future__ import annotations

import re
from typing import Any

_WORD = re.compile(r"[()]|[^\s()]+")


def words_of(expression: object) -> Any:
    """Return an expression of the lifted model as nested tuples of words."""
    stack: list[list[Any]] = [[]]
    for word in _WORD.findall(str(expression)):
        if word == "(":
            stack.append([])
            continue
        if word != ")":
            stack[-1].append(word)
            continue
        inner = stack.pop()
        if inner[:1] in (["forall"], ["exists"]) and isinstance(inner[1], tuple):
            inner[1] = _typed(inner[1])
        stack[-1].append(tuple(inner))
    return stack[0][0]


def _typed(words: tuple[Any, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Take a typed list apart; what is behind the last type is of type object."""
    found: list[tuple[str, tuple[str, ...]]] = []
    names: list[str] = []
    rest = iter((*words, "-", "object"))
    for word in rest:
        if word != "-":
            names.append(word)
            continue
        kind = next(rest)
        types = kind[1:] if isinstance(kind, tuple) else (kind,)
        found += [(name, types) for name in names]
        names = []
    return tuple(found)

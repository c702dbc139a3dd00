"""Recursion of any depth on a heap-allocated stack; Python's stack holds a few hundred levels.

A recursive function is a generator that yields its recursive calls and receives their results:

    def depth(node: Node) -> Steps[int]:
        deepest = 0
        for inner in node.inner:
            deepest = max(deepest, (yield depth(inner)))
        return deepest + 1

    run_trampoline(depth(node))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator[Any, Any, T]
"""A suspended call that will return a T."""


def run_trampoline(call: Steps[T]) -> T:
    """Run a call to its end and return its result."""
    stack: list[Steps[Any]] = [call]
    result: Any = None
    while stack:
        try:
            inner = stack[-1].send(result)
        except StopIteration as done:
            stack.pop()
            result = done.value
        else:
            stack.append(inner)
            result = None
    return result  # type: ignore[no-any-return]

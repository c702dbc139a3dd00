"""Functions over nested values, on a stack of their own: Python's holds a few hundred levels.

Such a function is a generator, which yields a call of itself where it would call itself and is
sent what that returned:

    def depth(node: Node) -> Steps[int]:
        deepest = 0
        for inner in node.inner:
            deepest = max(deepest, (yield depth(inner)))
        return deepest + 1

    finish(depth(node))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator[Any, Any, T]
"""A call that is under way, and will return a T."""


def run_trampoline(call: Steps[T]) -> T:
    """Return what a call returns."""
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

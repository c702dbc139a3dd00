"""The order of moments, which are times since the origin of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

from hvr.errors import ContinuousChangeError
from hvr.pddl.numeric import Rational
from hvr.validation.continuous.polynomials import Polynomial, Root

Moment: TypeAlias = "Rational | Root"
"""A time since the origin of a motion."""

_SAME = 256
"""Binary places after which the order of two times counts as undecided."""


def compare(one: Moment, two: Moment) -> int:
    """Return -1, 0 or 1 as one moment is before, at or after another.

    Raises:
        ContinuousChangeError: The moments are too close to be told apart.
    """
    return compare_roots(as_root(one), as_root(two))


def as_root(moment: Moment) -> Root:
    """Return a moment as a root."""
    return moment if isinstance(moment, Root) else Root(Polynomial(()), moment, moment)


def compare_roots(one: Root, two: Root) -> int:
    """Return -1, 0 or 1 as one root is smaller than, equal to or larger than another."""
    if one.rational and two.rational:
        return (one.low > two.low) - (one.low < two.low)
    if one is two:
        return 0
    if not _apart(one, two) and one.same(two):
        return 0
    algebraic = one.algebraic and two.algebraic
    while not _apart(one, two):
        width = max(one.high - one.low, two.high - two.low)
        if not algebraic and width < Fraction(1, 1 << _SAME):
            raise ContinuousChangeError(
                f"which of two things comes first at {float(one.low):.9g} after the last happening "
                f"is not decided: their times agree in {_SAME} binary places"
            )
        try:
            for root in (one, two):
                if not root.rational:
                    root.refine()
        except ContinuousChangeError:
            raise ContinuousChangeError(
                f"which of two things comes first is not decided: both happen between "
                f"{float(one.low):.17g} and {float(one.high):.17g} after the last happening"
            ) from None
    return -1 if one.high < two.low else 1


def _apart(one: Root, two: Root) -> bool:
    return one.high < two.low or two.high < one.low


def in_order(sources: Iterable[Iterable[Root | Rational]]) -> Iterator[Root]:
    """Merge ordered sources of roots; yield each time once.

    Each source is read as late as possible: its next root may be undecided, yet never matter.
    """
    waiting = [_Source(iter(source)) for source in sources]
    while True:
        best: Root | None = None
        for source in waiting:
            if source.head is not None and (best is None or compare_roots(source.head, best) < 0):
                best = source.head
        behind = [
            source
            for source in waiting
            if source.head is None
            and not source.done
            and (best is None or source.reached is None or source.reached < best.high)
        ]
        if behind:
            min(behind, key=_Source.place).advance()
        elif best is None:
            return
        else:
            yield best
            for source in waiting:
                if source.head is not None and compare_roots(source.head, best) == 0:
                    source.head = None


class _Source:
    """An iterator over roots, with its next root and the time it has searched up to."""

    def __init__(self, items: Iterator[Root | Rational]) -> None:
        self._items = items
        self.head: Root | None = None
        self.reached: Rational | None = None
        self.done = False

    def place(self) -> Fraction:
        return Fraction(-1 if self.reached is None else self.reached)

    def advance(self) -> None:
        item = next(self._items, None)
        if item is None:
            self.done = True
        elif isinstance(item, Root):
            self.head, self.reached = item, item.low
        else:
            self.reached = item

"""Choices in a request: 'the apple or the tomato', 'in the bowl or on the plate'.

A request with choices is read once for each way to choose. While it is read, `Picks` says which
alternative counts, and learns how many there are; `explore` then goes through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from hvr.errors import LanguageError

MOST = 16
"""Most ways to choose in one request."""

_T = TypeVar("_T")


class Picks:
    """The alternatives that count in one way of reading.

    Args:
        picks: the numbers of the alternatives, in the order in which they are met; from then on
            the first counts.
    """

    def __init__(self, picks: tuple[int, ...] = ()) -> None:
        self.picks = picks
        self.sizes: list[int] = []

    def take(self, size: int) -> int:
        """Return the number of the alternative that counts, of so many."""
        number = self.picks[len(self.sizes)] if len(self.sizes) < len(self.picks) else 0
        self.sizes.append(size)
        return number


def explore(attempt: Callable[[Picks], _T]) -> Iterator[_T]:
    """Yield what comes of each way to choose, that of all first alternatives first.

    Args:
        attempt: reads with given picks.

    Raises:
        LanguageError: there are more ways than anyone means.
    """
    waiting: list[tuple[int, ...]] = [()]
    done = 0
    while waiting:
        picks = Picks(waiting.pop(0))
        yield attempt(picks)
        done += 1
        for position in range(len(picks.picks), len(picks.sizes)):
            before = (*picks.picks, *[0] * (position - len(picks.picks)))
            waiting += [(*before, number) for number in range(1, picks.sizes[position])]
        if done + len(waiting) > MOST:
            raise LanguageError(f"there are more than {MOST} ways to choose: leave some out")

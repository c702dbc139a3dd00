"""The engine without processes: this one does each cell, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from hvr.engines.contract import Finished

C = TypeVar("C")
R = TypeVar("R")


class Here:
    """Does cells in this process."""

    width = 1

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Iterator[Finished[R]]:
        """See `Engine.run`."""
        del ordered
        for number, cell in enumerate(cells):
            yield Finished(number, function(cell))

    def close(self) -> None:
        """See `Engine.close`."""

"""The engine without processes: this one does each cell, in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from hvr.base.engines.contract import DoneCell

C = TypeVar("C")
R = TypeVar("R")


class Here:
    """Does cells in this process."""

    width = 1

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """See `Engine.run`."""
        del ordered
        for number, cell in enumerate(cells):
            yield DoneCell(number, function(cell))

    def close(self) -> None:
        """See `Engine.close`."""

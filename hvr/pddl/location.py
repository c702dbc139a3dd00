"""Where something was read: one type, from the lexer to the last message."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple

    class _Place(NamedTuple):
        file: str
        line: int
        column: int

else:

    class _Place(tuple):
        # A NamedTuple without the millisecond that it takes to make one.
        __slots__ = ()

        def __new__(cls, file, line, column):
            return tuple.__new__(cls, (file, line, column))

        def __getnewargs__(self):
            return tuple(self)

        file = property(itemgetter(0))
        line = property(itemgetter(1))
        column = property(itemgetter(2))


class Location(_Place):
    """A place in a text. Lines and columns count from 1; columns count characters."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Location(file={self.file!r}, line={self.line}, column={self.column})"

"""Where something was read: one type, from the lexer to the last message."""

from __future__ import annotations

from typing import NamedTuple


class Location(NamedTuple):
    """A place in a text. Lines and columns count from 1; columns count characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

"""The lines of the files that a report points into."""

from __future__ import annotations

import re
from pathlib import Path

from hvr.errors import HvrError
from hvr.pddl import Location

_LINE_END = re.compile(r"\r\n|\r|\n")
_FILES_KEPT = 4
_LONGEST = 10_000


class SourceLines:
    """Reads files again to show a line of them; what cannot be read has no lines."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, place: Location) -> str:
        """Return the line of a place, "" when it cannot be had."""
        lines = self._lines(place.file)
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""

    def end_column(self, place: Location) -> int | None:
        """Return the column after the list or word at a place, None when it cannot be had.

        A list that goes on in the next line, or for very long, ends with its line.
        """
        line = self.line(place)
        start = place.column - 1
        if start >= len(line):
            return None
        depth = 0
        for index in range(start, min(len(line), start + _LONGEST)):
            character = line[index]
            depth += (character == "(") - (character == ")")
            if character == ")" and depth <= 0:
                return index + 1 + (depth == 0)
            if depth == 0 and character.isspace():
                return index + 1
        return len(line.rstrip()) + 1

    def _lines(self, file: str) -> list[str]:
        if file not in self._files:
            # Plans come and go, the domain and the problem are asked for again and again: the
            # newest files are kept, and a file that is asked for becomes the newest.
            while len(self._files) >= _FILES_KEPT:
                del self._files[next(iter(self._files))]
            self._files[file] = _read(file)
        self._files[file] = lines = self._files.pop(file)
        return lines


def _read(file: str) -> list[str]:
    from hvr.pddl.lexer import SourceText

    try:
        if not Path(file).is_file():
            return []
        return _LINE_END.split(SourceText.read(Path(file), lenient=True).text)
    except (HvrError, OSError, ValueError):
        return []

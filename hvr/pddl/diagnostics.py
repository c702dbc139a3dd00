"""Messages about PDDL text, and the locations they refer to."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from hvr.base.printable import nearest as nearest
from hvr.errors import PddlSemanticError, PddlSyntaxError
from hvr.values import JsonObject, Value

# Location -----------------------------------------------------------------------------------------

if TYPE_CHECKING:
    from typing import NamedTuple

    class _Place(NamedTuple):
        file: str
        line: int
        column: int

else:

    class _Place(tuple):
        # A NamedTuple without the millisecond that creating its class takes.
        __slots__ = ()

        def __new__(cls, file, line, column):
            return tuple.__new__(cls, (file, line, column))

        def __getnewargs__(self):
            return tuple(self)

        file: str = property(itemgetter(0))
        line: int = property(itemgetter(1))
        column: int = property(itemgetter(2))


class Location(JsonObject, _Place):
    """A place in a text. Lines and columns are 1-based; columns count characters."""

    __slots__ = ()
    json_shape = "file line column"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Location(file={self.file!r}, line={self.line}, column={self.column})"


# Diagnostics --------------------------------------------------------------------------------------


class Diagnostic(Value):
    """An error or warning about a PDDL text.

    Attributes:
        source_line: The line at `location`, or the part of a very long line around it.
        suggestion: The nearest known name, if any.
        context: The enclosing construct, such as "action pick, :effect".
        caret: The column in `source_line`; 0 if it equals the column of `location`.
    """

    location: Location
    message: str
    source_line: str = ""
    expected: str = ""
    found: str = ""
    suggestion: str = ""
    context: str = ""
    caret: int = 0

    json_shape = "message expected? suggestion? location"

    def __str__(self) -> str:
        lines = [f"{self.location}: {self.message}"]
        line, column = _excerpt(self.source_line, self.caret or self.location.column)
        if line.strip():
            # Tabs are kept in the padding so that the caret is below its character.
            padding = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
            lines += [f"    {line}", f"    {padding}^"]
        if self.context:
            lines.append(f"  in: {self.context}")
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.found:
            lines.append(f"  found: {self.found}")
        if self.suggestion:
            lines.append(f"  did you mean {self.suggestion!r}?")
        return "\n".join(lines)


class PddlTextSyntaxError(PddlSyntaxError):
    """A syntax error with a location; see `diagnostic`."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))

    def __reduce__(self) -> tuple[type[PddlTextSyntaxError], tuple[Diagnostic]]:
        return type(self), (self.diagnostic,)


class PddlTextSemanticError(PddlSemanticError):
    """A semantic error with a location; see `diagnostic`."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))

    def __reduce__(self) -> tuple[type[PddlTextSemanticError], tuple[Diagnostic]]:
        return type(self), (self.diagnostic,)


class UnsupportedPddlError(PddlTextSemanticError):
    """The text uses a feature of PDDL that hvr does not support.

    Such a plan is "not judged", which differs from an invalid file.
    """


def _excerpt(line: str, column: int, width: int = 100) -> tuple[str, int]:
    """Cut a long line to a window around the column."""
    if len(line) <= width:
        return line, column
    start = max(0, min(column - 1 - width // 2, len(line) - width))
    cut = line[start : start + width]
    column -= start
    if start:
        cut, column = "…" + cut, column + 1
    if start + width < len(line):
        cut += "…"
    return cut, column

"""Text to tokens. A token keeps its offset; `SourceText` turns offsets into locations."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain, count, islice
from operator import add
from pathlib import Path
from typing import NoReturn

from hvr.base.printable import short_names
from hvr.base.texts import read_bytes
from hvr.pddl.diagnostics import (
    Diagnostic,
    PddlTextSemanticError,
    PddlTextSyntaxError,
    UnsupportedPddlError,
)
from hvr.pddl.location import Location

_FLAT_LIST = r"\([^();]*+\)"
_NESTED_LIST = rf"\((?:[^();]++|\((?:[^();]++|\((?:[^();]++|{_FLAT_LIST})*+\))*+\))*+\)"
# A list that is nested at most four deep, most of any file, is one token.
_TOKEN = re.compile(rf";[^\r\n]*|{_NESTED_LIST}|[()]|[^\s();]+")
_SMALL_TOKEN = re.compile(r";[^\r\n]*|[()]|[^\s();]+")
_WORD = re.compile(r"\S+")
_MOST_WARNINGS = 100
_LINE = 500
"""Diagnostics keep at most so many characters of a line on either side of the fault."""
_MANY = 1_000_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_INSIDE_WORD = r"(?<=[^\s();\0])\0+(?=[^\s();\0])"
_NULS = r"\0+"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


_new_tuple = tuple.__new__


class SourceText:
    """A text with a name, and the only maker of errors about it.

    Args:
        text: the text itself.
        file: the name that messages give it.
        lenient: whether what can be overlooked is a warning; otherwise it is an error.

    Attributes:
        warnings: what was overlooked.

    Raises:
        PddlSyntaxError: The text has a NUL character and the reading is strict, or one is inside
            a word.
    """

    __slots__ = ("_digit_noted", "_starts", "file", "lenient", "text", "warnings")

    def __init__(self, text: str, file: str, *, lenient: bool = False) -> None:
        self.text = text
        self.file = file
        self.lenient = lenient
        self.warnings: list[Diagnostic] = []
        self._starts: array[int] | None = None
        self._digit_noted = False
        if "\0" in text:
            self._replace_nuls()

    @classmethod
    def read(
        cls,
        source: str | Path,
        *,
        file: str | None = None,
        default: str = "<text>",
        lenient: bool = False,
    ) -> SourceText:
        """Wrap a text, or read a file (UTF-8, UTF-16 with a byte order mark, else Latin-1).

        Raises:
            DataFileError: the file cannot be read.
            PddlSyntaxError: the content is not text.
        """
        if isinstance(source, str):
            return cls(source.removeprefix("\ufeff"), file or default, lenient=lenient)
        name = file or str(source)
        return cls(decode(read_bytes(source), name), name, lenient=lenient)

    def _replace_nuls(self) -> None:
        """Put spaces in the place of NUL characters, unless they would take a word apart."""
        message = "a NUL character: this is not a PDDL text"
        expected = "a text file"
        if (inside := re.search(_INSIDE_WORD, self.text)) is not None:
            self.syntax_error(inside.start(), message, expected=expected)
        for nuls in islice(re.finditer(_NULS, self.text), _MOST_WARNINGS + 1):
            self.overlook(nuls.start(), message, expected=expected, error=PddlTextSyntaxError)
        self.text = self.text.replace("\0", " ")

    def folded(self) -> str:
        """Return the text as it is compared: PDDL does not tell upper from lower case."""
        return self.text.lower()

    def location(self, offset: int) -> Location:
        """Return the location of a character offset."""
        starts = self._starts
        if starts is None:
            starts = self._starts = _line_starts(self.text)
        line = bisect_right(starts, offset)
        return _new_tuple(Location, (self.file, line, offset - starts[line - 1] + 1))

    def line_at(self, offset: int) -> tuple[str, int]:
        """Return the line that an offset lies in, without its end, and the column there.

        Of a line of more than _LINE characters that is what is around the offset.
        """
        text = self.text
        first = max(0, offset - _LINE)
        start = max(text.rfind("\n", first, offset), text.rfind("\r", first, offset), first - 1) + 1
        end = _LINE_END.search(text, offset, min(len(text), offset + _LINE))
        line = text[start : end.start() if end else offset + _LINE]
        return re.sub(_CONTROL, "\ufffd", line), offset - start + 1

    def syntax_error(
        self, offset: int, message: str, *, expected: str = "", found: str = "", context: str = ""
    ) -> NoReturn:
        """Raise a PddlSyntaxError at an offset."""
        raise PddlTextSyntaxError(
            self._diagnostic(offset, message, expected, found, "", context)
        ) from None

    def semantic_error(
        self,
        offset: int,
        message: str,
        *,
        expected: str = "",
        found: str = "",
        suggestion: str = "",
        context: str = "",
    ) -> NoReturn:
        """Raise a PddlSemanticError at an offset."""
        raise PddlTextSemanticError(
            self._diagnostic(offset, message, expected, found, suggestion, context)
        ) from None

    def overlook(
        self,
        offset: int,
        message: str,
        *,
        expected: str = "",
        found: str = "",
        suggestion: str = "",
        context: str = "",
        error: type[PddlTextSyntaxError | PddlTextSemanticError] = PddlTextSemanticError,
    ) -> None:
        """Raise an error, or note a warning when the reading is lenient."""
        if self.lenient:
            self._keep(offset, message, expected, found, suggestion, context)
        else:
            raise error(
                self._diagnostic(offset, message, expected, found, suggestion, context)
            ) from None

    def warn(self, offset: int, message: str, *, expected: str = "", suggestion: str = "") -> None:
        """Note a slip that leaves the meaning clear, whether the reading is lenient or not."""
        self._keep(offset, message, expected, "", suggestion, "")

    def note_digit(self, offset: int, name: str) -> None:
        """Note the first name of a text that begins with a digit."""
        if not self._digit_noted:
            self._digit_noted = True
            message = f"the name {name!r} begins with a digit, which PDDL does not allow"
            self.warn(offset, message, expected="a letter, then letters, digits, '-' and '_'")

    def _keep(
        self, offset: int, message: str, expected: str, found: str, suggestion: str, context: str
    ) -> None:
        """Note a warning, unless there are very many: then note that there are more."""
        if len(self.warnings) > _MOST_WARNINGS:
            return
        if len(self.warnings) == _MOST_WARNINGS:
            message = "there are more warnings, which are not listed"
            expected = found = suggestion = context = ""
        self.warnings.append(
            self._diagnostic(offset, message, expected, found, suggestion, context)
        )

    def unsupported(self, offset: int, feature: str, *, context: str = "") -> NoReturn:
        """Raise the error for a part of PDDL that is not supported; `feature` is a plural."""
        raise UnsupportedPddlError(
            self._diagnostic(offset, f"{feature} are not supported", "", "", "", context)
        )

    def _diagnostic(
        self, offset: int, message: str, expected: str, found: str, suggestion: str, context: str
    ) -> Diagnostic:
        line, column = self.line_at(offset)
        location = self.location(offset)
        return Diagnostic(
            location=location,
            message=short_names(message),
            source_line=line,
            caret=0 if column == location.column else column,
            expected=short_names(expected),
            found=short_names(found),
            suggestion=short_names(suggestion),
            context=short_names(context),
        )


class Word:
    """A token that is not a parenthesis, in lower case."""

    __slots__ = ("offset", "text")

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset

    def __repr__(self) -> str:
        return f"Word({self.text!r}, {self.offset})"


def tokens(source: SourceText) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a text, folded, with their offsets; comments are left out.

    A token is "(", ")", a word, or a whole list without comments that is nested a few deep.
    """
    text = source.folded()
    # Folding all at once is faster; some letters outside ASCII change their length by it.
    if len(text) != len(source.text):
        for match in _SMALL_TOKEN.finditer(source.text):
            if (token := match.group())[0] != ";":
                yield token.lower(), match.start()
        return
    for match in _TOKEN.finditer(text):
        if (token := match.group())[0] != ";":
            yield token, match.start()


def inner_tokens(text: str, offset: int) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a folded text without comments that begins at an offset."""
    for match in _TOKEN.finditer(text):
        yield match.group(), offset + match.start()


def _line_starts(text: str) -> array[int]:
    """Return the offset of the beginning of each line."""
    if "\r" in text or len(text) > _MANY:
        # Not a list: a text may have a line for each of its characters.
        return array("q", chain((0,), (match.end() for match in _LINE_END.finditer(text))))
    ends = accumulate(map(len, text.split("\n")))
    return array("q", chain((0,), map(add, ends, count(1))))


def words(text: str, offset: int) -> list[Word]:
    """Split the text of a list that has no list in it, without its parentheses."""
    return [Word(match.group(), offset + match.start()) for match in _WORD.finditer(text)]


def first_word(text: str, offset: int) -> Word | None:
    """Return the first of the `words` of a text, None if it has none."""
    match = _WORD.search(text)
    return Word(match.group(), offset + match.start()) if match else None


def decode(data: bytes, file: str) -> str:
    """Return the text of a file of PDDL, which may be older than UTF-8.

    Raises:
        PddlSyntaxError: it is UTF-16 by its byte order mark, and is not.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                location = Location(file, 1, 1)
                message = f"the file begins like {encoding} text and is not: {error.reason}"
                raise PddlTextSyntaxError(Diagnostic(location, message)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")

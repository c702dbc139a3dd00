"""Turn PDDL text into tokens, and tokens into nested lists, without recursion."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain, count, islice
from operator import add, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hvr.base.printable import short_names
from hvr.base.texts import read_bytes
from hvr.errors import PddlSemanticError, PddlSyntaxError
from hvr.values import JsonObject, Value

# Diagnostics --------------------------------------------------------------------------------------
# Messages about PDDL text, and the locations they refer to.

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
    """A place in PDDL text. Lines and columns are 1-based; columns count characters.

    Attributes:
        file: The name of the file or text.
        line: 1-based line number.
        column: 1-based column, in characters.
    """

    __slots__ = ()
    json_shape = "file line column"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Location(file={self.file!r}, line={self.line}, column={self.column})"


# Diagnostics --------------------------------------------------------------------------------------


class Diagnostic(Value):
    """An error or warning about PDDL text.

    Attributes:
        location: The place in the text.
        message: The problem, in one sentence.
        source_line: The line at `location`, or the part of a very long line around it.
        expected: The forms that the grammar allows at this place.
        found: The text found instead.
        suggestion: The nearest known name, if any.
        context: The enclosing construct, such as "action pick, :effect".
        caret: The column in `source_line`, or 0 if it equals the column of `location`.
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

    Plans for such a model are reported as not judged rather than as invalid.
    """


def _excerpt(line: str, column: int, width: int = 100) -> tuple[str, int]:
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


# --------------------------------------------------------------------------------------------------

# Lexer --------------------------------------------------------------------------------------------
# Tokens keep their offsets; `SourceText` turns offsets into locations.

_FLAT_LIST = r"\([^();]*+\)"
_NESTED_LIST = rf"\((?:[^();]++|\((?:[^();]++|\((?:[^();]++|{_FLAT_LIST})*+\))*+\))*+\)"
# A list nested at most four deep, as most lists are, is a single token.
_TOKEN = re.compile(rf";[^\r\n]*|{_NESTED_LIST}|[()]|[^\s();]+")
_SMALL_TOKEN = re.compile(r";[^\r\n]*|[()]|[^\s();]+")
_WORD = re.compile(r"\S+")
_MOST_WARNINGS = 100
_LINE = 500
"""Number of characters of a line that diagnostics keep on either side of the error."""
_MANY = 1_000_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_INSIDE_WORD = r"(?<=[^\s();\0])\0+(?=[^\s();\0])"
_NULS = r"\0+"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


_new_tuple = tuple.__new__


class SourceText:
    """A named text that creates all diagnostics about it.

    Args:
        lenient: Whether harmless errors become warnings, listed in `warnings`.

    Raises:
        PddlSyntaxError: The text has a NUL character, and the reader is strict or the character is
            inside a word.
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
        """Wrap PDDL text, or read a file and `decode` it.

        Messages call the text `file` or, if that is None, by its path or, if it has none,
        `default`.

        Raises:
            DataFileError: The file cannot be read.
            PddlSyntaxError: The content does not match its byte order mark, or has a NUL character
                that the reader rejects.
        """
        if isinstance(source, str):
            return cls(source.removeprefix("\ufeff"), file or default, lenient=lenient)
        name = file or str(source)
        return cls(decode(read_bytes(source), name), name, lenient=lenient)

    def _replace_nuls(self) -> None:
        message = "a NUL character: this is not a PDDL text"
        expected = "a text file"
        if (inside := re.search(_INSIDE_WORD, self.text)) is not None:
            self.syntax_error(inside.start(), message, expected=expected)
        for nuls in islice(re.finditer(_NULS, self.text), _MOST_WARNINGS + 1):
            self.overlook(nuls.start(), message, expected=expected, error=PddlTextSyntaxError)
        self.text = self.text.replace("\0", " ")

    def folded(self) -> str:
        """Return the text in lower case, because PDDL is case-insensitive."""
        return self.text.lower()

    def location(self, offset: int) -> Location:
        starts = self._starts
        if starts is None:
            starts = self._starts = _line_starts(self.text)
        line = bisect_right(starts, offset)
        return _new_tuple(Location, (self.file, line, offset - starts[line - 1] + 1))

    def line_at(self, offset: int) -> tuple[str, int]:
        """Return the line at an offset (part of it, if it is long) and the offset's column."""
        text = self.text
        first = max(0, offset - _LINE)
        start = max(text.rfind("\n", first, offset), text.rfind("\r", first, offset), first - 1) + 1
        end = _LINE_END.search(text, offset, min(len(text), offset + _LINE))
        line = text[start : end.start() if end else offset + _LINE]
        return re.sub(_CONTROL, "\ufffd", line), offset - start + 1

    def syntax_error(self, offset: int, message: str, **details: str) -> NoReturn:
        raise PddlTextSyntaxError(self._diagnostic(offset, message, **details)) from None

    def semantic_error(self, offset: int, message: str, **details: str) -> NoReturn:
        raise PddlTextSemanticError(self._diagnostic(offset, message, **details)) from None

    def overlook(
        self,
        offset: int,
        message: str,
        *,
        error: type[PddlTextSyntaxError | PddlTextSemanticError] = PddlTextSemanticError,
        **details: str,
    ) -> None:
        """Raise an error of type `error`, or add a warning if the reader is lenient."""
        if not self.lenient:
            raise error(self._diagnostic(offset, message, **details)) from None
        self.warn(offset, message, **details)

    def warn(self, offset: int, message: str, **details: str) -> None:
        """Add a warning, even in a strict reader, about an error that leaves the meaning clear."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(self._diagnostic(offset, message, **details))
        elif len(self.warnings) == _MOST_WARNINGS:
            self.warnings.append(self._diagnostic(offset, "further warnings are not listed"))

    def note_digit(self, offset: int, name: str) -> None:
        """Warn about the first name of a text that begins with a digit."""
        if not self._digit_noted:
            self._digit_noted = True
            message = f"the name {name!r} begins with a digit, which PDDL does not allow"
            self.warn(offset, message, expected="a letter, then letters, digits, '-' and '_'")

    def unsupported(self, offset: int, feature: str, *, context: str = "") -> NoReturn:
        message = f"{feature} are not supported"
        raise UnsupportedPddlError(self._diagnostic(offset, message, context=context))

    def _diagnostic(self, offset: int, message: str, **details: str) -> Diagnostic:
        line, column = self.line_at(offset)
        location = self.location(offset)
        return Diagnostic(
            location=location,
            message=short_names(message),
            source_line=line,
            caret=0 if column == location.column else column,
            **{name: short_names(text) for name, text in details.items()},
        )


class Word:
    """A token other than a parenthesis, in lower case."""

    __slots__ = ("offset", "text")

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset

    def __repr__(self) -> str:
        return f"Word({self.text!r}, {self.offset})"


def tokens(source: SourceText) -> Iterator[tuple[str, int]]:
    """Yield the lower-case tokens of PDDL text with their offsets, skipping comments.

    A token is "(", ")", a word, or a whole list without comments nested at most four deep.
    """
    text = source.folded()
    # Lowering the whole text is faster, but changes the length of some non-ASCII letters.
    if len(text) != len(source.text):
        for match in _SMALL_TOKEN.finditer(source.text):
            if (token := match.group())[0] != ";":
                yield token.lower(), match.start()
        return
    for match in _TOKEN.finditer(text):
        if (token := match.group())[0] != ";":
            yield token, match.start()


def inner_tokens(text: str, offset: int) -> Iterator[tuple[str, int]]:
    for match in _TOKEN.finditer(text):
        yield match.group(), offset + match.start()


def _line_starts(text: str) -> array[int]:
    if "\r" in text or len(text) > _MANY:
        # Saves memory for texts with very many lines.
        return array("q", chain((0,), (match.end() for match in _LINE_END.finditer(text))))
    ends = accumulate(map(len, text.split("\n")))
    return array("q", chain((0,), map(add, ends, count(1))))


def words(text: str, offset: int) -> list[Word]:
    """Return the words of a flat list, given without its parentheses."""
    return [Word(match.group(), offset + match.start()) for match in _WORD.finditer(text)]


def decode(data: bytes, file: str) -> str:
    """Decode a PDDL file by its byte order mark, or else as UTF-8, or else as Latin-1.

    Raises:
        PddlSyntaxError: The content does not match the byte order mark.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                location = Location(file, 1, 1)
                message = (
                    f"the byte order mark says {encoding}, but the text is not valid {encoding}: "
                    f"{error.reason}"
                )
                raise PddlTextSyntaxError(Diagnostic(location, message)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


# Reader -------------------------------------------------------------------------------------------
# Nested lists are built without recursion, so that deep files get a proper error message.

MAX_NESTING = 12_000

_FLAT = 150
"""Nesting depth beyond which lists are flattened first, for speed."""

MAX_SURPLUS = 100
"""Maximum number of surplus `)`; with more, the structure of the text is unclear."""

_FIRST_WORD = re.compile(r"\s*+([^\s()]++)")


class Group:
    """A parenthesised list, split into items on first access.

    Attributes:
        text: The text between the parentheses, or None if it contains lists.
        inside: The text between the parentheses, if it contains lists and is not yet split.
        tokens: The unconverted items, if both `text` and `inside` are None; deeply nested lists are
            groups.
    """

    __slots__ = ("inside", "items", "offset", "places", "text", "tokens")

    items: list[Word | Group]
    tokens: list[str | Group]
    places: array[int]

    def __init__(self, offset: int, text: str | None = None, inside: str | None = None) -> None:
        self.offset = offset
        self.text = text
        self.inside = inside

    def __getattr__(self, name: str) -> list[Word | Group]:
        # Called only while `items` is not set.
        if name != "items":
            raise AttributeError(name)
        if self.text is not None:
            self.items = [*words(self.text, self.offset + 1)]
        elif self.inside is not None:
            tokens = inner_tokens(self.inside, self.offset + 1)
            self.items = [node_of(token, place) for token, place in tokens]
            self.inside = None
        else:
            self.items = [
                node_of(token, place) if isinstance(token, str) else token
                for token, place in zip(self.tokens, self.places, strict=True)
            ]
            del self.tokens, self.places
        return self.items

    def raw(self) -> Iterator[tuple[str, int, Node | None]]:
        """Yield ("", offset, item) for each item, or (token, offset, None) while it is unconverted.

        The token of a list includes its parentheses.
        """
        if self.inside is not None:
            for token, place in inner_tokens(self.inside, self.offset + 1):
                yield token, place, None
        elif self.text is None and hasattr(self, "tokens"):
            for place, part in zip(self.places, self.tokens, strict=True):
                yield (part, place, None) if isinstance(part, str) else ("", place, part)
        else:
            for node in self.items:
                yield "", node.offset, node

    def used_up(self) -> Iterator[tuple[str, int, Node | None]]:
        """Yield the items like `raw`, freeing each; the group cannot be used afterwards."""
        if self.inside is not None:
            yield from self.raw()
            return
        if self.text is None and hasattr(self, "tokens"):
            places, tokens = self.places, self.tokens
            del self.tokens, self.places
            tokens.reverse()
            for place in places:
                token = tokens.pop()
                yield (token, place, None) if isinstance(token, str) else ("", place, token)
            return
        nodes = self.items[::-1]
        self.items.clear()
        while nodes:
            node = nodes.pop()
            yield "", node.offset, node


Node = Word | Group


def node_of(token: str, offset: int) -> Node:
    """Convert a token, which may be a whole list, to an object."""
    if token[0] != "(":
        return Word(token, offset)
    inside = token[1:-1]
    return Group(offset, None, inside) if "(" in inside else Group(offset, inside)


def read_nodes(source: SourceText) -> list[Node]:
    """Read the list or word at the beginning of a text, and the sections after it.

    Reading stops at the first token that does not begin a section; this token is the last node. A
    strict reader also stops at sections after the end. A lenient reader skips surplus `)` with a
    warning.

    Raises:
        PddlSyntaxError: Parentheses are unbalanced or nested deeper than MAX_NESTING.
    """
    lenient = source.lenient
    surplus = 0
    top: list[Node] = []
    stack: list[Group] = []
    deep = False
    items: list[str | Group] = []
    places: array[int] = array("q")
    for token, offset in tokens(source):
        if token == "(":
            if top and not stack and not lenient:
                return [*top, Word(token, offset)]
            group = Group(offset)
            if stack:
                items.append(group)
                places.append(offset)
            else:
                top.append(group)
            stack.append(group)
            if len(stack) > _FLAT and not deep:
                deep = True
                _check_depth(source)
            items = group.tokens = []
            places = group.places = array("q")
        elif token == ")":
            if not stack:
                surplus += 1
                _overlook_surplus(source, offset, surplus, begun=bool(top))
                continue
            closed = stack.pop()
            if not stack and closed is not top[0] and head_of(closed)[:1] != ":":
                return top
            if stack:
                items, places = stack[-1].tokens, stack[-1].places
        elif stack:
            items.append(token)
            places.append(offset)
        else:
            top.append(node := node_of(token, offset))
            late = isinstance(node, Group) and head_of(node)[:1] == ":"
            if len(top) > 1 and not (late and lenient):
                return top
    if stack:
        _unclosed(source, stack)
    if deep:
        from hvr.pddl.lists import flatten

        flatten(top)
    return top


def _overlook_surplus(source: SourceText, offset: int, count: int, *, begun: bool) -> None:
    message = "one ')' too many"
    if not begun:
        source.syntax_error(offset, message, expected="'('", found="')'")
    if count > MAX_SURPLUS:
        source.syntax_error(offset, f"more than {MAX_SURPLUS} surplus ')'", found="')'")
    source.overlook(offset, message, expected="end of text", found="')'", error=PddlTextSyntaxError)


def _check_depth(source: SourceText) -> None:
    # Runs before the nested objects are built, which need far more memory than the text.
    opened = array("q")
    for token, offset in tokens(source):
        if token == "(":
            opened.append(offset)
            if len(opened) > MAX_NESTING:
                source.syntax_error(
                    offset,
                    f"parentheses are nested more than {MAX_NESTING} levels deep",
                    expected="a flatter formula",
                )
        elif token == ")" and opened:
            opened.pop()
    if opened:
        _never_closed(source, opened[-1], "")


def _unclosed(source: SourceText, stack: list[Group]) -> NoReturn:
    # A section inside a section means that the outer one was not closed: report this place, because
    # the end of the text is far from the error.
    queue = [stack[0]]
    for outer in queue:
        for inner in outer.items:
            if not isinstance(inner, Group):
                continue
            queue.append(inner)
            if head_of(inner)[:1] == head_of(outer)[:1] == ":":
                source.syntax_error(
                    inner.offset,
                    f"a ')' is missing before '({head_of(inner)}': the list '({head_of(outer)}' at "
                    f"{source.location(outer.offset)} is still open",
                    expected="')'",
                    found=f"'({head_of(inner)}'",
                )
    opened = stack[-1]
    _never_closed(source, opened.offset, head_of(opened))


def _never_closed(source: SourceText, offset: int, head: str) -> NoReturn:
    source.syntax_error(
        len(source.text.rstrip()),
        f"the text ends before the list '({head}' is closed",
        expected=f"')' for the '(' at {source.location(offset)}",
        found="end of text",
    )


def same_words(one: Group, two: Group) -> bool:
    """Return whether two lists have the same words and structure."""
    waiting: list[tuple[Node, Node]] = [(one, two)]
    while waiting:
        left, right = waiting.pop()
        if isinstance(left, Word) or isinstance(right, Word):
            if not (isinstance(left, Word) and isinstance(right, Word) and left.text == right.text):
                return False
        elif len(left.items) != len(right.items):
            return False
        else:
            waiting += zip(left.items, right.items, strict=True)
    return True


def first_of(group: Group) -> Node | None:
    """Return the first item of a list, or None, without splitting the rest."""
    if group.text is not None:
        match = _WORD.search(group.text)
        return Word(match.group(), group.offset + 1 + match.start()) if match else None
    if group.inside is not None:
        return node_of(*next(inner_tokens(group.inside, group.offset + 1)))
    if hasattr(group, "tokens"):
        if not group.tokens:
            return None
        first = group.tokens[0]
        return node_of(first, group.places[0]) if isinstance(first, str) else first
    return group.items[0] if group.items else None


def head_of(group: Group) -> str:
    """Return the first word of a list, or "" if it is empty or begins with a list."""
    if (text := group.text or group.inside) is not None:
        match = _FIRST_WORD.match(text)
        return match[1] if match else ""
    first = first_of(group)
    return first.text if isinstance(first, Word) else ""

"""A fault-tolerant reader of PDDL texts: words and lists with their positions.

Lines and columns are 0-based; columns count characters. Tokens never cross a line, so an unchanged
line needs no second pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

# Texts --------------------------------------------------------------------------------------------
# Positions of the language server protocol in texts, and the changes that an editor sends.

_LINE_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends; the protocol knows three ends."""
    return _LINE_END.split(text)


def units(text: str, encoding: str) -> int:
    """Return the length of a text in code units of `utf-8`, `utf-16` or `utf-32`."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    width = 1 if encoding == "utf-8" else 2
    # An editor may split a pair of surrogates.
    return len(text.encode(f"{encoding}-le" if width == 2 else encoding, "surrogatepass")) // width


def column(line: str, position: int, encoding: str) -> int:
    """Return the number of characters before a position in code units, at most the whole line."""
    if encoding == "utf-32" or line.isascii():
        return min(position, len(line))
    passed = count = 0
    for character in line:
        if passed >= position:
            break
        passed += units(character, encoding)
        count += 1
    return count


def offset(text: str, line: int, position: int, encoding: str) -> int:
    """Return the offset of a position; positions after the last line mean the end of the text."""
    start = 0
    for _ in range(line):
        end = _LINE_END.search(text, start)
        if end is None:
            return len(text)
        start = end.end()
    end = _LINE_END.search(text, start)
    last = len(text) if end is None else end.start()
    return start + column(text[start:last], position, encoding)


def changed(
    text: str, start: tuple[int, int], end: tuple[int, int], new: str, encoding: str
) -> str:
    """Return a text with the range between two positions replaced."""
    first, last = offset(text, *start, encoding), offset(text, *end, encoding)
    return text[:first] + new + text[max(first, last) :]


# --------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r";.*|[()]|[^\s();]+")


class Leaf:
    """A word in lower case; `line` and `end` tell where it is."""

    __slots__ = ("end", "line", "start", "text")

    def __init__(self, text: str, line: int, start: int, end: int) -> None:
        self.text = text
        self.line = line
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Leaf({self.text!r}, {self.line}:{self.start})"


class List:
    """A parenthesised list with both parentheses; it ends with the text if it is not `closed`."""

    __slots__ = ("closed", "end", "end_line", "items", "line", "start")

    def __init__(self, line: int, start: int) -> None:
        self.items: list[Leaf | List] = []
        self.line = line
        self.start = start
        self.end_line = line
        self.end = start + 1
        self.closed = False

    @property
    def head(self) -> str:
        """The first word; empty if the list begins otherwise."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Leaf) else ""

    def contains(self, line: int, column: int) -> bool:
        """Return whether a position is between the parentheses."""
        inside = (self.line, self.start) < (line, column)
        return inside and (not self.closed or (line, column) < (self.end_line, self.end))

    def __repr__(self) -> str:
        return f"List({self.items!r})"


Item = Leaf | List


class Tree:
    """A text as lines and lists.

    Attributes:
        lines: The lines without their ends.
        items: The words and lists at the top.
        stray: The places of closing parentheses without an opening one.
    """

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.items: list[Item] = []
        self.stray: list[tuple[int, int]] = []
        stack: list[List] = []
        inner = self.items
        for number, line in enumerate(self.lines):
            for token, start, end in _tokens(line):
                if token == "(":
                    opened = List(number, start)
                    inner.append(opened)
                    stack.append(opened)
                    inner = opened.items
                elif token != ")":
                    inner.append(Leaf(token, number, start, end))
                elif stack:
                    closed = stack.pop()
                    closed.end_line, closed.end, closed.closed = number, end, True
                    inner = stack[-1].items if stack else self.items
                else:
                    self.stray.append((number, start))
        for left in stack:
            left.end_line, left.end = len(self.lines) - 1, len(self.lines[-1])

    def path(self, line: int, column: int) -> list[List]:
        """Return the lists around a position, from the outermost to the innermost."""
        path: list[List] = []
        items = self.items
        while True:
            around = [i for i in items if isinstance(i, List) and i.contains(line, column)]
            if not around:
                return path
            path.append(around[-1])
            items = around[-1].items

    def comment_above(self, line: int) -> str:
        """Return the comment lines directly above a line, without semicolons."""
        found: list[str] = []
        while line > 0 and (text := self.lines[line - 1].strip()).startswith(";"):
            found.append(text.lstrip("; ").rstrip("; "))
            line -= 1
        return "\n".join(text for text in reversed(found) if text.strip("-=*# "))


def line_tokens(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield parentheses and words of a line with their columns; comments are left out."""
    yield from _tokens(line)


@lru_cache(maxsize=50_000)
def _tokens(line: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        [
            (match.group().lower(), match.start(), match.end())
            for match in _TOKEN.finditer(line)
            if match.group()[0] != ";"
        ]
    )

"""Positions of the language server protocol in texts, and the changes that an editor sends."""

from __future__ import annotations

import re

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

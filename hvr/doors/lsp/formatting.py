"""Formatting: indentation by nesting, without moving a word to another line."""

from __future__ import annotations

import re

from hvr.doors.lsp.syntax import line_tokens
from hvr.doors.lsp.texts import split_lines

_INDENT = 2
_COMMENT = re.compile(r"[^;]*")
_BLANKS = re.compile(r"[ \t]+")


def formatted(text: str, *, indent: int = _INDENT) -> str:
    """Return a text with each line indented by its depth of nesting.

    Words and comments keep their order and lines; only blanks change. Formatting a formatted text
    changes nothing.

    Args:
        indent: Number of blanks for each level.
    """
    lines: list[str] = []
    depth = 0
    for line in split_lines(text):
        tokens = [token for token, _, _ in line_tokens(line)]
        closing = 0
        while closing < len(tokens) and tokens[closing] == ")":
            closing += 1
        level = max(0, depth - closing)
        lines.append((" " * (indent * level) + _tidy(line)).rstrip())
        depth = max(0, depth + tokens.count("(") - tokens.count(")"))
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return "\n".join(_few_blank(lines)) + "\n" if any(lines) else ""


def _tidy(line: str) -> str:
    """Return a line without redundant blanks; the gap before a trailing comment stays."""
    code = _COMMENT.match(line)
    assert code is not None
    words = _BLANKS.sub(" ", code.group().strip())
    words = re.sub(r"\( +", "(", words)
    words = re.sub(r" +\)", ")", words)
    comment = line[code.end() :].rstrip()
    return f"{words}  {comment}" if words and comment else words or comment


def _few_blank(lines: list[str]) -> list[str]:
    """Return the lines with at most one blank line in a row, and none at the beginning."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept

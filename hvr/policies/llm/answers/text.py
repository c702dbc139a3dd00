"""The surface of answers: characters, thoughts, Markdown, line numbers, JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MOST_CHARACTERS = 200_000
"""Characters of an answer with its thoughts that are looked at."""

MOST_READ = 20_000
"""Characters of an answer without its thoughts that are read; no sensible answer is longer."""

MOST_OF_A_LINE = 2_000
"""Characters of a line that are read."""

MOST_LINES = 4_000
"""Lines of an answer that are read."""

_CHARACTERS = str.maketrans(
    {
        "\u20e3": ")",
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "“": '"', "”": '"', "„": '"', "«": '"',
        "»": '"', "`": "`", "‐": "-", "‑": "-", "−": "-", "、": ",", "。": ".", "【": "[",
        "】": "]", "「": '"', "」": '"', "\t": " ", "\u200b": None, "\u200c": None, "\u200d": None,
        "\u2060": None, "\ufeff": None, "\u00ad": None, "→": "->", "⇒": "->", "➜": "->",
        "➔": "->", "➡": "->", "⟶": "->", "▶": "->", "\ufe0f": None, "\x00": " ",
        "\x0b": "\n", "\x0c": "\n", "\x1c": "\n", "\x1d": "\n", "\x1e": "\n", "\x85": "\n",
        "\u2028": "\n", "\u2029": "\n",
    }
)  # fmt: skip
_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_TURN = re.compile(
    r"^ {0,9}(?:<\|?(?:user|human|im_start|end|eot_id|im_end|endoftext|start_header_id)"
    r"[^>\n]{0,40}>"
    r"|#{2,} *(?:instruction|user|human|question|input)\b[^\n]{0,80}$"
    r"|(?:user|human) *:)",
    re.IGNORECASE | re.MULTILINE,
)
# Expressions that try a run of blanks from each of its blanks take the square of its length.
_WIDE = re.compile(r" {20,}")
_BLANK = re.compile(r"^\s*$")
_MARKER = re.compile(
    r"""\s*(?:
        (?P<number>\(?\[?(?:step|action|task|macro\s?action|ma|aa)?\s?\#?
            (?P<digits>\d{1,3})(?:\.0*)?\s?[.):\]]+(?!\d))
      | (?P<named>(?:step|action|macro\s?action)\s?\#?(?P<named_digits>\d{1,3})\s+-+\s)
      | (?P<dash>(?P<dash_digits>\d{1,3})\s+-+(?!>)\s?)
      | (?P<bare>(?P<bare_digits>\d{1,3})\s+(?=\(|[a-z]+_))
      | (?P<letter>[a-z][.)]\s)
      | (?P<bullet>[-*+•‣▪◦·●○■□✓✔–—>]+(?=\s)|[•‣▪◦·●○■✓✔])
      | (?P<box>\[[ xX]?\](?=\s))
    )\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_DIGITS = ("digits", "named_digits", "dash_digits", "bare_digits")
_FENCED = re.compile(r"^\s*(?:`{3,}|~{3,})\s*[\w+-]*\s*$")


@dataclass(frozen=True)
class Line:
    """A line of an answer.

    Args:
        text: its text, without marker and emphasis.
        number: its number in a numbered list.
        listed: whether it is an item of a list, numbered or not.
        indent: the spaces before it.
        heading: whether it is set as a heading: with `#`, all in bold, or ending in a colon.
        fenced: whether it stands in a code fence.
    """

    text: str
    number: int | None = None
    listed: bool = False
    indent: int = 0
    heading: bool = False
    fenced: bool = False


def clean(text: str) -> str:
    """Return plain characters: no full-width forms, curly quotes, CRLF, thoughts or further turns.

    A thought that is never closed extends to the end of the text. The answer ends where the model
    begins to speak for the user.
    """
    text = text[:MOST_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")
    # Some characters become a dozen others.
    text = unicodedata.normalize("NFKC", text)[:MOST_CHARACTERS].translate(_CHARACTERS)
    text = _WIDE.sub(" " * 20, re.sub(r"(?<=[A-Za-z])[–—](?=\d)", "-", text))
    text = _without_thoughts(text)[:MOST_READ]
    text = "\n".join(text.split("\n", MOST_LINES)[:MOST_LINES])
    cut = next((m for m in _TURN.finditer(text) if text[: m.start()].strip()), None)
    return text[: cut.start()] if cut else text


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    depth = position = 0
    for mark in _THOUGHT.finditer(text):
        if not mark[1]:
            if not depth:
                kept.append(text[position : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
        else:  # the prompt had the opening mark
            kept.clear()
        position = mark.end()
    if not depth:
        kept.append(text[position:])
    return "\n".join(kept)


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of a cleaned text with words in them, without code fences and rules."""
    fenced = False
    for full in text.split("\n"):
        raw = full[:MOST_OF_A_LINE].rstrip()
        if _FENCED.match(raw):
            fenced = not fenced
            continue
        if _BLANK.match(raw):
            continue
        line = read_line(raw, fenced)
        if re.search(r"\w", line.text):
            yield line


def read_line(raw: str, fenced: bool = False) -> Line:
    """Return one line with its list marker, indentation and text told apart."""
    indent = len(raw) - len(raw.lstrip())
    rest = raw.strip()
    # "> 1. …": a quotation
    while rest.startswith("> "):
        rest = rest[2:].lstrip()
    heading = bool(re.match(r"#{1,6}\s", rest))
    if heading:
        rest = rest.lstrip("#").strip()
    bold = re.fullmatch(r"(\*\*|__)(?=\S)[^*]+(\*\*|__)\s*:?", rest) is not None
    rest = _without_emphasis(rest)
    number: int | None = None
    listed = False
    for _ in range(3):  # "- 1. Step 1: …"
        marker = _MARKER.match(rest)
        if marker is None or not rest[marker.end() :].strip():
            break
        digits = next((d for d in map(marker.group, _DIGITS) if d), None)
        number = int(digits) if digits and number is None else number
        listed = True
        rest = rest[marker.end() :]
    rest = _without_emphasis(rest).strip()
    heading = heading or rest.endswith(":") or (bold and not listed)
    return Line(rest, number, listed, indent, heading, fenced)


def _without_emphasis(text: str) -> str:
    text = text.replace("\\_", "_").replace("**", "").replace("`", "")
    text = re.sub(r"(?<![\w])__(?=\w)|(?<=\w)__(?![\w])", "", text)
    # *so* is emphasis, "* so" an item of a list
    text = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])", r"\1", text)
    return re.sub(r"(?<![\w])_(?=[A-Za-z])([^_\n]*)(?<=\w)_(?![\w])", r"\1", text)


def json_values(text: str) -> list[Any]:
    """Return the outermost JSON arrays and objects in a cleaned text, in order."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    position = 0
    # Each failure may read to the end of the text: few are allowed.
    failures = 0
    while failures < 20:
        start = re.compile(r"[\[{]").search(text, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            failures += 1
            position = start.end()
            continue
        if value and not _numbers_only(value):
            values.append(value)
    return values


def _numbers_only(value: Any) -> bool:
    """Return whether a value is a footnote such as [1]."""
    return isinstance(value, list) and all(isinstance(v, int | float) for v in value)

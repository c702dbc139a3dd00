"""What of a tool's parameters a request may state: spans of kinds, and words that leave open."""

from __future__ import annotations

import re

from hvr.tools.catalogue.schema import ToolParameter, ToolSchema

KINDS = ("choice", "number", "switch", "file", "text", "name", "other")
"""Kinds of parameters, by what states them."""

_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"")
_NUMBER = re.compile(
    r"\b\d[\d.,]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|"
    r"thousand|half|full|double|all)\b"
)
_FILE = re.compile(r"\b\w+\.(?:txt|py|md|docx?|pdf|csv|json|xlsx|jpg|png|log|js|sh)\b")
_TAG = re.compile(r"@\w+|#\w+")
_CODE = re.compile(r"\b[A-Z]{2,}\d*\b|\b\w*\d\w*\b")
_NAME = re.compile(r"(?<=[a-z,'] )[A-Z][a-z]+")
_OPEN = re.compile(
    r"\b(?:a|an|some|any|certain|specific|particular|another|different|one of)\s+(?:\w+\s+)?"
    r"(?:amount|number|word|name|title|note|value|area|keyword|date|level|mode|priority|"
    r"file|document|folder|directory|stock|company|sector|message|tweet|ticket|flight|booking|"
    r"order|user|contact|city|location|destination|place|card|budget|statistics|symbol|tag|"
    r"hashtag|post|airport|currency|temperature|speed|colleague|friend)s?\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:specific|certain|particular|someone|somebody|somewhere|something)\b", re.I
)
_INDEFINITE = re.compile(r"\b(?:a|an|some|any|another|different|friend|cousin|colleague)\b", re.I)
_POINTING = re.compile(r"\b(?:this|that|these|those|it)\b", re.IGNORECASE)
_SPANS = (_QUOTED, _NUMBER, _FILE, _TAG, _CODE, _NAME, _OPEN)

_FILES = ("file", "folder", "dir", "source", "destination", "path")
_TEXTS = ("message", "content", "comment", "description", "query", "title", "text", "body",
          "resolution")  # fmt: skip
_NAMES = ("id", "user", "receiver", "password", "token", "symbol", "stock", "card")


def kind_of(parameter: ToolParameter) -> str:
    """Return the kind of a parameter; see `KINDS`."""
    name = parameter.name.lower()
    if parameter.choices:
        return "choice"
    if parameter.type in ("integer", "number"):
        return "number"
    if parameter.type == "boolean":
        return "switch"
    for kind, words in (("file", _FILES), ("text", _TEXTS), ("name", _NAMES)):
        if any(word in name for word in words):
            return kind
    return "other"


def required(tool: ToolSchema) -> list[int]:
    """Return how many parameters of each of `KINDS` a tool cannot do without."""
    kinds = [kind_of(parameter) for parameter in tool.takes if parameter.required]
    return [kinds.count(kind) for kind in KINDS]


def spans(text: str) -> list[int]:
    """Return how many quoted texts, numbers, files, tags, codes, names and open things it has."""
    return [len(pattern.findall(text)) for pattern in _SPANS]


def manner(text: str) -> list[int]:
    """Return how much a text leaves open: vague, indefinite and pointing words; its length."""
    return [
        len(_VAGUE.findall(text)), len(_INDEFINITE.findall(text)), len(_POINTING.findall(text)),
        len(text.split()), text.count("?"),
    ]  # fmt: skip


def masked(text: str) -> str:
    """Return a text with a word for each span instead of what it says."""
    for pattern, word in _MASKS:
        text = pattern.sub(f" {word} ", text)
    return text


_MASKS = (
    (_QUOTED, "QUOTED"),
    (_FILE, "FILE"),
    (re.compile(r"\d[\d.,]*"), "NUMBER"),
    (re.compile(r"@\w+"), "AT"),
    (re.compile(r"#\w+"), "TAG"),
    (_NAME, "NAME"),
)

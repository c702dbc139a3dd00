"""What of a tool's parameters a request may state: spans of kinds, and words that leave open."""

from __future__ import annotations

import re
from collections.abc import Collection

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
_VAGUE = re.compile(
    r"\b(?:specific|certain|particular|someone|somebody|somewhere|something)\b", re.I
)
_INDEFINITE = re.compile(r"\b(?:a|an|some|any|another|different|friend|cousin|colleague)\b", re.I)
_POINTING = re.compile(r"\b(?:this|that|these|those|it)\b", re.IGNORECASE)
_SPANS = (_QUOTED, _NUMBER, _FILE, _TAG, _CODE, _NAME)

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
    """Return how many quoted texts, numbers, files, tags, codes and names it has."""
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

_DETERMINERS = (
    frozenset({"specific", "certain", "particular", "some", "another", "different", "any"}),
    frozenset({"a", "an", "some", "any", "another", "one"}),
    frozenset({"my", "your", "their", "his", "her", "our"}),
    frozenset({"the", "that", "this", "these", "those"}),
)
"""Words before a noun: it is left open; it is new; it is somebody's; it is known already."""

_PEOPLE = frozenset({"friend", "cousin", "colleague", "advisor", "brother", "sister", "companion",
                     "someone", "teammate", "boss", "contact", "mother", "father"})  # fmt: skip
_TELLS = frozenset({"QUOTED", "FILE", "NUMBER", "AT", "TAG", "NAME", "CODE"})
_ENDING = frozenset(".,;?!") - {","}
_SHORT = re.compile(r"\b(?!(?:QUOTED|FILE|NUMBER|AT|TAG|NAME)\b)[A-Z]{2,5}\b")
_TOKEN = re.compile(r"[\w']+|[.,;?!]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_UNTELLING = frozenset({"name", "names", "with", "that", "from", "this", "only", "optional", "used",
                        "default", "note", "list", "current", "will", "should", "string", "value",
                        "number"})  # fmt: skip

AHEAD, BEHIND = 5, 2
"""Words after and before a noun in which a value is taken to be the noun's."""


def nouns(tool: ToolSchema) -> frozenset[str]:
    """Return words that may stand for a tool's parameters, from their names and descriptions."""
    found: set[str] = set()
    for parameter in tool.takes:
        found |= {part.lower() for part in _PART.findall(parameter.name)}
        found |= {word.lower() for word in _PART.findall(parameter.description) if len(word) > 3}
    return frozenset(found - _UNTELLING)


def left_open(text: str, known: Collection[str]) -> list[int]:
    """Return how many nouns stand without a value near them.

    Args:
        text: a request.
        known: nouns that may stand for parameters.

    Returns:
        Five counts: nouns after each kind of determiner (left open, new, somebody's, known
        already), and people without a name.
    """
    tokens = _TOKEN.findall(_SHORT.sub("CODE", masked(text)))
    counts = [0] * (len(_DETERMINERS) + 1)
    for place, token in enumerate(tokens):
        kinds = [k for k, words in enumerate(_DETERMINERS) if token.lower() in words]
        noun = _noun_after(tokens, place, known) if kinds else 0
        if noun and not _told(tokens, place, noun):
            for kind in kinds:
                counts[kind] += 1
        if token.lower() in _PEOPLE and not _TELLS & set(tokens[place + 1 : place + 4]):
            counts[-1] += 1
    return counts


def _noun_after(tokens: list[str], place: int, known: Collection[str]) -> int:
    """Return the place of the first noun of the three words after a place; 0 if there is none."""
    for at in range(place + 1, min(place + 4, len(tokens))):
        word = tokens[at].lower()
        one = word.removesuffix("s")
        if word in known or one in known or one in _PEOPLE:
            return at
        if tokens[at] in _TELLS or not word.isalpha():
            return 0
    return 0


def _told(tokens: list[str], place: int, noun: int) -> bool:
    """Whether a value stands shortly before a determiner, or after its noun in the sentence."""
    after = tokens[noun + 1 : noun + 1 + AHEAD]
    end = next((n for n, token in enumerate(after) if token in _ENDING), len(after))
    return bool(_TELLS & set(after[:end] + tokens[max(0, place - BEHIND) : place]))

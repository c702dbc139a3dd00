"""Reader of the objects that a model picks: names, separated by commas or one a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from hvr.policies.llm.answers.text import Line, clean, json_values, lines
from hvr.policies.llm.answers.words import words

_HEADING = re.compile(
    r"(?:[\w ,']{0,60}?\b)?(?:objects?|items?|ingredients|tools|answer|list|needed|required"
    r"|utensils|appliances|classes|output|furniture|following)\b[^:.]{0,80}?(?::|\bare\b)\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_KEYS = ("objects", "items", "relevant_objects", "needed_objects", "required_objects", "classes")
_NAME_KEYS = ("name", "object", "class", "type", "id", "item")
_EXPLAINED = re.compile(r"\s*(?:\(|\[|\s[-–—]+\s|:\s|\s--|->|=>|#|//|;\s|\s=\s).*$")
_NAME = re.compile(r"[A-Za-z][A-Za-z_]*(?:[ -][A-Za-z_]+){0,2}(?:[-_ |]\d+)?")
_OPENING = re.compile(r"^(?:and|or|the|an?|some|also|optionally|plus|possibly)\s+", re.IGNORECASE)
MOST_NAMES = 100
"""Names that are read; a kitchen has fewer kinds of objects."""

_CHAT = words(
    """to is are was be will would should you your i i'm we this that these those need needed task
    here sure certainly okay ok yes note please let hope because since if for which it they
    there make makes order can based given first then step help required not none nothing n/a"""
)


def read_objects(text: str) -> tuple[str, ...]:
    """Return the first `MOST_NAMES` names in an answer as written, each once, in order.

    Commas, bullets, numbers, JSON, code fences and headings are understood. Explanations behind a
    dash or a colon or in parentheses are left out, and so is chat around the list.

    Args:
        text: the answer.
    """
    text = clean(text)
    for value in json_values(text):
        names = list(_from_json(value))
        if names:
            return _unique(names)
    return _unique(_from_lines(list(lines(text))))


def _from_json(value: Any, nested: bool = True) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield from _names(entry)
            elif isinstance(entry, dict):
                named = next((entry[k] for k in _NAME_KEYS if isinstance(entry.get(k), str)), None)
                if named is not None:
                    yield from _names(named)
    elif isinstance(value, dict) and nested:
        chosen = [value[k] for k in _KEYS if k in value] or [
            v for v in value.values() if isinstance(v, list)
        ]
        for entry in chosen:
            yield from _from_json(entry, nested=False)


def _from_lines(answer_lines: list[Line]) -> Iterator[str]:
    # Where there is a list, running text beside it is chat.
    headed = False
    has_list = any(line.listed for line in answer_lines)
    for line in answer_lines:
        rest = line.text
        heading = _HEADING.fullmatch(rest)
        if heading is not None and not (line.listed and not _group(rest)):
            headed = True
            rest = heading["rest"]
        elif line.listed and (group := re.fullmatch(r"([\w &/]+):\s+(.*,.*)", rest)):
            rest = group[2]  # "- Cookware: Pan, Pot"
        elif has_list and not line.listed and not line.fenced and not (headed and "," in rest):
            continue
        names = list(_names(rest))
        if names and (line.listed or _is_list(rest, names)):
            yield from names


def _group(text: str) -> bool:
    """Return whether a list item is a heading with its own list, such as `Tools: Knife, Pan`."""
    _, colon, rest = text.partition(":")
    return bool(colon) and (not rest.strip() or "," in rest)


def _is_list(text: str, names: list[str]) -> bool:
    """Return whether a line without a marker is a list of names rather than a sentence."""
    parts = [p for p in re.split(r",|\s+and\s+", re.sub(r"\([^()]*\)", "", text)) if p.strip()]
    return bool(names) and len(names) >= len(parts)


def _names(text: str) -> Iterator[str]:
    text = re.sub(r"\([^()]*\)", "", text)
    for piece in re.split(r"[,;|]|\s+and\s+|\s+&\s+", text):
        part = _bare(piece)
        if _NAME.fullmatch(part) and not _CHAT & set(part.lower().split()):
            yield part


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(re.sub(r"[\s_]+", "", name).lower(), name)
    return tuple(known.values())[:MOST_NAMES]


def _bare(piece: str) -> str:
    """Return a name without quotes, articles, explanations and counts such as `2` or `1x`."""
    name = _EXPLAINED.sub("", piece.strip().strip("\"'[]{}<>*").strip())
    name = _OPENING.sub("", _OPENING.sub("", name)).strip(" .!\"'[]{}<>*:")
    return re.sub(r"^\d+\s?x?\s+", "", name)

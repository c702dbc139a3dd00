"""Parsers of macro plans, of batched blocks, and of selected objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hvr.policies.llm.answers.text import (
    Line,
    clean,
    json_values,
    lines,
    starts_with_verb,
    without_leading,
    words,
)

# Macro plans --------------------------------------------------------------------------------------

_LONGEST = 200
"""Maximum length of a macro action; its name appears in every later prompt."""

_KEYS = ("macro_plan", "macro_actions", "plan", "steps", "actions")
_STEP_KEYS = ("macro_action", "action", "step", "name", "description", "task", "text")
_PLAN = re.compile(
    r"(?:[\w ']{0,40}\b)?(?:macro[ -]?(?:plan|actions?)|plan|steps|answer)\b[^:.]{0,60}:",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:correct(?:ed|ion)|revised|updated|final|improved|fixed|better|new)\b", re.IGNORECASE
)
_END = re.compile(
    r"(?:\W*(?:notes?|explanations?|reasoning|assumptions?|considerations|rationale|tips?"
    r"|preconditions?|objects?|ingredients|why)\b.{0,60}:)",
    re.IGNORECASE,
)
_IN_ONE_LINE = re.compile(r"^[^\n]{0,80}\b1[.)] [^\n]{1,1000}? 2[.)] [^\n]*$", re.MULTILINE)
_NUMBER = re.compile(r"(?<=\S) (?=\d{1,2}[.)] [A-Z])")
_SENTENCE = re.compile(
    r"\b(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|after that|afterwards|after this"
    r"|finally|lastly|and then)\b,?\s*",
    re.IGNORECASE,
)


def read_macro_plan(text: str) -> tuple[str, ...]:
    """Return the macro actions of an answer, one phrase each, in order.

    Numbers, bullets, `Step 1:`, bold type, code fences and JSON are accepted. Nested items explain
    the step above them and are ignored, as is chat around the list. A later plan headed as
    corrected or final replaces the earlier one. An answer in one paragraph ("First, …, then …") is
    split.
    """
    text = _IN_ONE_LINE.sub(lambda line: _NUMBER.sub("\n", line[0]), clean(text))
    for value in reversed(json_values(text)):
        if steps := _from_json(value):
            return tuple(steps)
    answer_lines = list(lines(text))
    steps = (
        _from_list(answer_lines) or _from_plain_lines(answer_lines) or _from_paragraph(answer_lines)
    )
    return tuple(steps)


def _from_json(value: Any) -> list[str]:
    if isinstance(value, dict):
        for key in _KEYS:
            if isinstance(value.get(key), list):
                return _from_json(value[key])
        numbered = [v for k, v in value.items() if re.fullmatch(r"(?:step\W?)?\d+", str(k).lower())]
        return _from_json(numbered)
    if not isinstance(value, list):
        return []
    steps = []
    for entry in value:
        phrase = entry
        if isinstance(entry, dict):
            phrase = next((entry[k] for k in _STEP_KEYS if isinstance(entry.get(k), str)), None)
        if isinstance(phrase, str):
            step = _step(next((line.text for line in lines(phrase)), ""))
            steps += [step] if step else []
    return steps


def _from_list(answer_lines: Sequence[Line]) -> list[str]:
    """Return the outermost items of the last list; only the numbered ones if there are any."""
    plans: list[list[Line]] = [[]]
    ended = False
    for line in answer_lines:
        if not line.listed:
            if _END.match(line.text):
                ended = True
            elif _PLAN.match(line.text) or (line.heading and _AGAIN.search(line.text)):
                ended = False
                if plans[-1] and _AGAIN.search(line.text):
                    plans.append([])
        elif not ended:
            plans[-1].append(line)
    chosen = next((plan for plan in reversed(plans) if plan), [])
    if any(line.number is not None for line in chosen):
        chosen = [line for line in chosen if line.number is not None]
    if not chosen:
        return []
    outermost = min(line.indent for line in chosen)
    # One extra space is carelessness, not nesting.
    steps = [step for line in chosen if line.indent <= outermost + 1 and (step := _step(line.text))]
    if len(steps) == 1 and len(chosen) > 2:
        return [step for line in chosen if (step := _step(line.text))]
    return steps


def _from_plain_lines(answer_lines: Sequence[Line]) -> list[str]:
    texts = [line.text for line in answer_lines]
    if len(texts) == 1 and len(_SENTENCE.findall(texts[0])) > 1:
        return []
    return [step for text in texts if starts_with_verb(text) and (step := _step(text))]


def _from_paragraph(answer_lines: Sequence[Line]) -> list[str]:
    steps = []
    for line in answer_lines:
        for sentence in re.split(r"(?<=[.!;])\s+", line.text):
            for piece in _SENTENCE.split(sentence):
                part = re.sub(r"[,\s]+and$", "", without_leading(piece.strip(" ,;.")))
                if starts_with_verb(part) and (step := _step(part)):
                    steps.append(step[:1].upper() + step[1:])
    return steps


def _step(text: str) -> str:
    """Return a step without label and explanation; empty if the text is not a step."""
    text = text.strip().strip("\"'").strip()[:_LONGEST]
    title, colon, rest = text.partition(":")
    if colon:
        # "Slice the tomato: use the knife" and "Preparation: Slice the tomato"
        rest = rest.strip()
        is_step = starts_with_verb(title) and not re.fullmatch(r"\w+ing", title.strip())
        text = rest if rest and not is_step and starts_with_verb(rest) else title
    text = re.sub(r"\s+[-–—]+\s+.*$", "", text)
    text = re.sub(r"\s*\((?![^()]*-\d)[^()]*\)\s*\.?$", "", text)
    text = text.strip().rstrip(".,;").strip("\"'").strip()
    return text if re.search(r"[^\W\d_]{2}", text) else ""


# Blocks -------------------------------------------------------------------------------------------

_HEADING = re.compile(
    r"^[ \t>#*_\d.)-]{0,12}(?:macro[ _-]?action|macro|block|sub-?task)[ \t*_#:-]{0,6}"
    r"(?P<number>\d{1,3})\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN = re.compile(r"^[#*_ \t]{0,6}(?P<number>\d{1,3})[.):][ \t*]*(?=[A-Z])[^\n(]*$", re.MULTILINE)


def read_blocks(text: str, count: int) -> tuple[str | None, ...]:
    """Return the part of an answer for each macro action; None for missing parts.

    Headings are `Macro action 2: …`, or numbered sentences if there are none. If a number occurs
    twice, the later part counts, since corrections come last.
    """
    text = clean(text)
    headings = list(_HEADING.finditer(text)) or list(_PLAIN.finditer(text))
    parts: list[str | None] = [None] * count
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=bool(headings)):
        number = int(heading["number"])
        if 1 <= number <= count:
            parts[number - 1] = text[heading.end() : end].strip("\n")
    return tuple(parts)


# Objects ------------------------------------------------------------------------------------------

_OBJECTS_HEADING = re.compile(
    r"(?:[\w ,']{0,60}?\b)?(?:objects?|items?|ingredients|tools|answer|list|needed|required"
    r"|utensils|appliances|classes|output|furniture|following)\b[^:.]{0,80}?(?::|\bare\b)\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_OBJECT_KEYS = (
    "objects",
    "items",
    "relevant_objects",
    "needed_objects",
    "required_objects",
    "classes",
)
_NAME_KEYS = ("name", "object", "class", "type", "id", "item")
_EXPLAINED = re.compile(r"\s*(?:\(|\[|\s[-–—]+\s|:\s|\s--|->|=>|#|//|;\s|\s=\s).*$")
_NAME = re.compile(r"[A-Za-z][A-Za-z_]*(?:[ -][A-Za-z_]+){0,2}(?:[-_ |]\d+)?")
_OPENING = re.compile(r"^(?:and|or|the|an?|some|also|optionally|plus|possibly)\s+", re.IGNORECASE)
MAX_NAMES = 100
"""Maximum number of names; a kitchen has fewer kinds of objects."""

_CHAT = words(
    """to is are was be will would should you your i i'm we this that these those need needed task
    here sure certainly okay ok yes note please let hope because since if for which it they
    there make makes order can based given first then step help required not none nothing n/a"""
)


def read_objects(text: str) -> tuple[str, ...]:
    """Return the distinct names in an answer, as written and in order, at most `MAX_NAMES`.

    Commas, bullets, numbers, JSON, code fences and headings are accepted. Explanations after a dash
    or colon or in parentheses are ignored, as is chat around the list.
    """
    text = clean(text)
    for value in json_values(text):
        names = list(_objects_from_json(value))
        if names:
            return _unique(names)
    return _unique(_from_lines(list(lines(text))))


def _objects_from_json(value: Any, nested: bool = True) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield from _names(entry)
            elif isinstance(entry, dict):
                named = next((entry[k] for k in _NAME_KEYS if isinstance(entry.get(k), str)), None)
                if named is not None:
                    yield from _names(named)
    elif isinstance(value, dict) and nested:
        chosen = [value[k] for k in _OBJECT_KEYS if k in value] or [
            v for v in value.values() if isinstance(v, list)
        ]
        for entry in chosen:
            yield from _objects_from_json(entry, nested=False)


def _from_lines(answer_lines: list[Line]) -> Iterator[str]:
    # Beside a list, running text is chat.
    headed = False
    has_list = any(line.listed for line in answer_lines)
    for line in answer_lines:
        rest = line.text
        heading = _OBJECTS_HEADING.fullmatch(rest)
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
    _, colon, rest = text.partition(":")
    return bool(colon) and (not rest.strip() or "," in rest)


def _is_list(text: str, names: list[str]) -> bool:
    parts = [p for p in re.split(r",|\s+and\s+", re.sub(r"\([^()]*\)", "", text)) if p.strip()]
    return bool(names) and len(names) >= len(parts)


def _names(text: str) -> Iterator[str]:
    text = re.sub(r"\([^()]*\)", "", text)
    for piece in re.split(r"[,;|]|\s+and\s+|\s+&\s+", text):
        part = _bare_object(piece)
        if _NAME.fullmatch(part) and not _CHAT & set(part.lower().split()):
            yield part


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(re.sub(r"[\s_]+", "", name).lower(), name)
    return tuple(known.values())[:MAX_NAMES]


def _bare_object(piece: str) -> str:
    name = _EXPLAINED.sub("", piece.strip().strip("\"'[]{}<>*").strip())
    name = _OPENING.sub("", _OPENING.sub("", name)).strip(" .!\"'[]{}<>*:")
    return re.sub(r"^\d+\s?x?\s+", "", name)

"""The lexer of requests: words, punctuation, and values with a form (ids, dates, amounts)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from typing import TypeAlias
from zoneinfo import available_timezones

from hvr.tools.calling.calls import Json
from hvr.tools.navigation.words.english import (
    ACTIONS,
    AUXILIARIES,
    COURTESY,
    DETERMINERS,
    LOOSE_CAPITALS,
    MONTHS,
    NAMED,
    NUMBER_WORDS,
    PHRASAL,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RELATIVE_DAYS,
    SUBJECTS,
    UNITS,
    WEEKDAYS,
    is_participle,
    stem,
)

# Values -------------------------------------------------------------------------------------------
# A span is a part of the text together with its value. Spans never overlap: if several forms match,
# the first one in `_FORMS` wins, because it is the most specific.


class ValueForm(StrEnum):
    QUOTED = "quoted text"
    URL = "URL"
    EMAIL = "e-mail address"
    ZONE = "time zone"
    PATH = "file path"
    DATE = "date"
    TIME = "time of day"
    PHONE = "phone number"
    ID = "id"
    NUMBER = "number"
    ADDRESS = "street address"
    NAME = "proper name"
    PHRASE = "words"
    """Words in a position where a parameter expects a value."""
    CHOICE = "choice of the schema"


@dataclass(frozen=True)
class ValueSpan:
    """A part of a text that states a value.

    Args:
        start: Index of its first character.
        end: Index after its last character.
        unit: Unit of a number, in the singular; empty if none.
    """

    start: int
    end: int
    text: str
    form: ValueForm
    value: Json
    unit: str = ""


def spans_of(text: str) -> tuple[ValueSpan, ...]:
    found: list[ValueSpan] = []
    free = [True] * (len(text) + 1)
    for form, pattern, read in _FORMS:
        for match in pattern.finditer(text):
            # The group "v" is the value without its context, such as quotation marks.
            start, end = match.span("v") if "v" in pattern.groupindex else match.span()
            end -= len(text[start:end]) - len(text[start:end].rstrip(_ENDS[form]))
            if end <= start or not all(free[start:end]):
                continue
            span = read(text, start, end, form)
            if span is not None:
                found.append(span)
                outer = form is ValueForm.QUOTED
                whole = match.start() if outer else span.start, max(match.end(), span.end)
                free[whole[0] : whole[1]] = [False] * (whole[1] - whole[0])
    found += _names(text, free)
    return tuple(sorted(found, key=lambda span: span.start))


_Read = Callable[[str, int, int, ValueForm], "ValueSpan | None"]
_FormRule: TypeAlias = tuple[ValueForm, re.Pattern[str], _Read]


def _plain(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    return ValueSpan(start, end, text[start:end], form, text[start:end])


def _zone(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    name = time_zone(text[start:end])
    return ValueSpan(start, end, text[start:end], form, name) if name else None


@cache
def _zones() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones()}


@cache
def _zone_cities() -> dict[str, list[str]]:
    cities: dict[str, list[str]] = {}
    for name in sorted(_zones().values()):
        region, _, city = name.rpartition("/")
        if region and not region.startswith(
            ("Etc", "SystemV", "posix", "right", "US", "Canada", "Brazil", "Mexico", "Chile")
        ):
            cities.setdefault(city.replace("_", " ").lower(), []).append(name)
    return cities


def time_zone(name: str) -> str:
    """Return the IANA time zone of a zone or city name; empty if unknown or ambiguous."""
    plain = name.strip().lower()
    if exact := _zones().get(plain.replace(" ", "_")):
        return exact
    of_city = _zone_cities().get(plain, [])
    return of_city[0] if len(of_city) == 1 else ""


def _path(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    if said.lower() in _NO_PATHS or not re.search(r"[A-Za-z0-9]", said):
        return None
    return ValueSpan(start, end, said, form, said)


_NO_PATHS = frozenset(
    (
        "and/or his/her her/his he/she she/he yes/no km/h e.g i.e a.m p.m n/a w/o either/or on/off"
    ).split()
)


def _date(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    value = read_date(said)
    return ValueSpan(start, end, said, form, value) if value else None


def read_date(said: str) -> str:
    """Return a date in ISO 8601; a date without a year ("3 May", "tomorrow") is returned as text.

    The result is empty if the text is not a date.
    """
    iso = re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", said)
    if iso:
        return _iso(*map(int, iso.groups()))
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", said.lower()))
    months = [MONTHS[word] for word in words if word in MONTHS]
    numbers = [int(word) for word in words if word.isdigit()]
    if months and numbers:
        years = [n for n in numbers if n > 31]
        days = [n for n in numbers if n <= 31]
        if days and years:
            return _iso(years[0], months[0], days[0])
        return said
    return said.lower() if words and words[-1] in {*WEEKDAYS, *RELATIVE_DAYS} else ""


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _time(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    named = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}.get(said.lower())
    if named:
        return ValueSpan(start, end, said, form, named)
    if (spoken := re.fullmatch(r"(half|quarter)\s+(past|to)\s+(\w+)", said.lower())) is not None:
        hour = NUMBER_WORDS.get(spoken[3]) or int(spoken[3] if spoken[3].isdecimal() else 99)
        minutes = (30 if spoken[1] == "half" else 15) * (1 if spoken[2] == "past" else -1)
        if not 1 <= hour <= 12 or (spoken[1], spoken[2]) == ("half", "to"):
            return None
        hour, minute_ = divmod(hour * 60 + minutes, 60)
        return ValueSpan(start, end, said, form, f"{hour or 12:02d}:{minute_:02d}")
    parts = re.match(r"(\d{1,2})(?::(\d{2})(:\d{2})?)?\s*([ap])?", said.lower())
    assert parts is not None
    hour, minute, second = int(parts[1]), int(parts[2] or 0), parts[3] or ""
    if hour > 23 or minute > 59 or (parts[4] and not 1 <= hour <= 12):
        return None
    if parts[4]:
        hour = hour % 12 + (12 if parts[4] == "p" else 0)
    return ValueSpan(start, end, said, form, f"{hour:02d}:{minute:02d}{second}")


def _id(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    number = re.fullmatch(r"\d+(?:\.\d+)?([A-Za-z]+)", said)
    if number and (number[1].lower() in _ORDINAL_ENDS or unit_of(number[1])):
        return None
    return ValueSpan(start, end, said, form, said)


_ORDINAL_ENDS = frozenset(["st", "nd", "rd", "th", "x", "k", "m", "am", "pm"])


def unit_of(word: str) -> str:
    plain = word.lower().rstrip(".")
    return UNITS.get(plain) or UNITS.get(plain.removesuffix("s"), "")


def _number(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    digits = re.search(r"-?\d[\d,]*(?:\.\d+)?", said)
    if digits:
        if re.match(r"(st|nd|rd|th)\b", text[end:]):
            return None
        plain = digits[0].replace(",", "")
        value: Json = float(plain) if "." in plain else int(plain)
    else:
        number = _worded(said)
        if number is None or (number == 1 and _pronoun(text, start, end)):
            return None
        value = number
    before = unit_of(text[max(0, start - 1) : start])
    after = re.match(r"\s?([A-Za-z°%]+|€|£)(?![\w])", text[end:])
    unit = before or (unit_of(after[1]) if after else "")
    if unit and not before and after:
        end += after.end()
    start -= bool(before)
    return ValueSpan(start, end, text[start:end], form, value, unit)


def _pronoun(text: str, start: int, end: int) -> bool:
    before = re.search(r"([A-Za-z]+)\s+$", text[:start])
    after = re.match(r"\s+([A-Za-z]+)", text[end:])
    follows = after[1].lower() if after else ""
    if follows in ("", "of", "that", "which", "who", "with", "from", "is", "and", "in", "for"):
        return True
    return bool(before) and before[1].lower() in _BEFORE_ONE if before else False


_BEFORE_ONE = frozenset(
    "the this that which first last second third other next new old no any each every".split()
)


def _worded(said: str) -> int | None:
    total, part, seen = 0, 0, False
    for word in re.findall(r"[a-z]+", said.lower()):
        if word == "and":
            continue
        number = NUMBER_WORDS.get(word)
        if number is None:
            return None
        if number == 100:
            part = (part or 1) * 100
        elif number >= 1000:
            total, part = total + (part or 1) * number, 0
        elif number == 12 and word == "dozen":
            part = (part or 1) * 12
        else:
            part += number
        seen = True
    return total + part if seen else None


def _names(text: str, free: list[bool]) -> Iterator[ValueSpan]:
    """Yield proper names: capitalised words, except ordinary words that begin a sentence."""
    pattern = re.compile(
        r"[A-Z][\w&.-]*(?:'(?!s\b)[A-Za-z]+)?(?:\s+(?:of\s+|de\s+|van\s+|the\s+)?"
        r"(?=[A-Z])[A-Z][\w&.-]*)*"
    )
    for match in pattern.finditer(text):
        start, end = match.span()
        words = [(m.start() + start, m.end() + start) for m in re.finditer(r"\S+", match[0])]
        while words and (
            not all(free[words[0][0] : words[0][1]])
            or text[words[0][0] : words[0][1]].strip(".,") in LOOSE_CAPITALS
            or (_first(text, words[0][0]) and not _surely_name(text, words))
        ):
            words.pop(0)
        kept = []
        for word in words:
            said = text[word[0] : word[1]].strip(".,")
            if not all(free[word[0] : word[1]]) or said in LOOSE_CAPITALS:
                break
            kept.append(word)
            if text[word[1] - 1] == "." and said.lower() not in _ABBREVIATIONS:
                break
        if not kept:
            continue
        start, end = kept[0][0], kept[-1][1]
        end -= len(text[start:end]) - len(text[start:end].rstrip(".,-&"))
        # Abbreviations keep their full stop: "Quasar Ltd.".
        said = text[start:end]
        if len(said) < 2 and not said.isupper():
            continue
        if said == "I" or said.lower().rstrip(".") in _TITLES:
            continue
        # "Mr" is not part of a name, but "Dr" often is.
        name = _ADDRESS.sub("", said)
        yield ValueSpan(start, end, said, ValueForm.NAME, name or said)


def _first(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'“‘(*-")
    return not before or before[-1] in ".!?:;\n"


def _surely_name(text: str, words: list[tuple[int, int]]) -> bool:
    said = text[words[0][0] : words[0][1]]
    if text.startswith("'s ", words[0][1]) and said.lower() not in _CONTRACTED:
        return True
    return len(said) > 1 and said.isupper() and len(words) == 1 and said.isalpha()


_TITLES = frozenset("mr mrs ms dr prof".split())
_ABBREVIATIONS = _TITLES | frozenset("ltd inc corp co st mt jr sr no vs".split())
_ADDRESS = re.compile(r"^(?:Mr|Mrs|Ms)\.?\s+")
_CONTRACTED = frozenset(
    ["it", "that", "what", "here", "there", "let", "who", "where", "how", "he", "she", "when"]
)
"""Words after which 's is a verb."""

_WORDED = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join([*WEEKDAYS, *RELATIVE_DAYS])


def _compiled() -> tuple[_FormRule, ...]:
    return (*_quoted_forms(), *_names_and_paths(), *_times_and_numbers())


_STREET = re.compile(
    r"\b\d{1,5}[A-Za-z]?\s+(?:[A-Z][\w'-]*\s+){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr"
    r"|Way|Walk|Hill|Court|Square|Place|Close|Crescent|Terrace|Boulevard|Blvd|Quay|Row|Gardens|Park"
    r"|Grove|Parade|Alley|Highway)\b(?:,\s+[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*(?:\s+\d[\w-]*)?)*"
)


def _quoted_forms() -> tuple[_FormRule, ...]:
    return (
        (ValueForm.QUOTED, re.compile(r'"(?P<v>[^"\n]+)"'), _plain),
        (ValueForm.QUOTED, re.compile(r"“(?P<v>[^”\n]+)”"), _plain),
        (ValueForm.QUOTED, re.compile(r"`(?P<v>[^`\n]+)`"), _plain),
        (
            ValueForm.QUOTED,
            re.compile(r"(?<![\w])['‘](?P<v>[^'’\n]*(?:['’]\w[^'’\n]*)*)['’](?!\w)"),
            _plain,
        ),
    )


def _names_and_paths() -> tuple[_FormRule, ...]:
    return (
        (ValueForm.ADDRESS, _STREET, _plain),
        (ValueForm.URL, re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s<>]+"), _plain),
        (ValueForm.EMAIL, re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), _plain),
        (
            ValueForm.ZONE,
            re.compile(r"\b(?:[A-Z][A-Za-z]+/[A-Z][\w+-]*(?:/[A-Z]\w*)?|UTC|GMT)\b"),
            _zone,
        ),
        (
            ValueForm.NAME,
            re.compile(rf"\b(?:{'|'.join(NAMED)})\s+(?:it\s+)?(?P<v>[a-z][\w.-]*)"),
            _plain,
        ),
        (
            ValueForm.DATE,
            re.compile(
                r"(?<![\w-])\d{4}-\d{1,2}-\d{1,2}(?![\w-])|"
                r"(?<![\w/])\d{4}/\d{1,2}/\d{1,2}(?![\w/])"
            ),
            _date,
        ),
        (
            ValueForm.PATH,
            re.compile(
                r"(?<![\w/])(?:~|\.{1,2})?/[\w.~@%+-]*(?:/[\w.~@%+*-]*)*|"
                r"(?<!\w)[A-Za-z]:\\[\w\\.-]+"
            ),
            _path,
        ),
        (ValueForm.PATH, re.compile(r"(?<![\w/.#@-])[\w.-]+(?:/[\w.*-]+)+/?"), _path),
        (
            ValueForm.PATH,
            re.compile(
                r"(?<![\w/.])(?:[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}|"
                r"\.[a-z][\w-]+|\*\.\w+)(?![\w/])"
            ),
            _path,
        ),
    )


def _times_and_numbers() -> tuple[_FormRule, ...]:
    day = r"\d{1,2}(?:st|nd|rd|th)?"
    return (
        (
            ValueForm.DATE,
            re.compile(
                rf"(?i)\b(?:{_MONTH})\.?\s+{day}(?:,?\s+\d{{4}})?\b|"
                rf"\b{day}(?:\s+of)?\s+(?:{_MONTH})\b(?:,?\s+\d{{4}})?"
            ),
            _date,
        ),
        (ValueForm.DATE, re.compile(rf"(?i)\b(?:next |this )?(?:{_DAY})\b"), _date),
        (
            ValueForm.TIME,
            re.compile(
                r"(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?|"
                r"\b\d{1,2}\s*[ap]\.?m\b\.?|\b(?:noon|midday|midnight)\b|"
                rf"\b(?:half|quarter)\s+(?:past|to)\s+(?:\d{{1,2}}|{_WORDED})\b"
            ),
            _time,
        ),
        (ValueForm.ID, re.compile(r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), _plain),
        (ValueForm.PHONE, re.compile(r"(?<![\w-])\+?\d{1,4}(?:[ -]\d{3,4}){2,3}(?![\w-])"), _plain),
        (
            ValueForm.ID,
            re.compile(
                r"(?<![\w#@])(?:[#@]\w[\w-]*|"
                r"(?=[\w~^-]*\d)(?=[\w~^-]*[A-Za-z])\w[\w~^-]*\w[~^]?\d*|"
                r"[A-Za-z]+(?:_\w+)+|HEAD)(?![\w])"
            ),
            _id,
        ),
        (ValueForm.ID, re.compile(r"\bv?\d+(?:\.\d+){2,}(?!\w)"), _plain),  # a version
        (ValueForm.NUMBER, re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?"), _number),
        (
            ValueForm.NUMBER,
            re.compile(rf"(?i)\b(?:a\s+)?(?:{_WORDED})(?:(?:\s+and)?[\s-]+(?:{_WORDED}))*\b"),
            _worded_number,
        ),
    )


def _worded_number(text: str, start: int, end: int, form: ValueForm) -> ValueSpan | None:
    said = text[start:end]
    skip = re.match(r"(?i)a\s+", said)
    return _number(text, start + (skip.end() if skip else 0), end, form)


_ENDS = dict.fromkeys(ValueForm, "") | {
    ValueForm.URL: ".,;:!?)'\"",
    ValueForm.PATH: ".,;:!?",
    ValueForm.EMAIL: ".-",
    ValueForm.NUMBER: ",",
    ValueForm.TIME: ".",
    ValueForm.NAME: ".-",
}
_FORMS = _compiled()


# Tokens -------------------------------------------------------------------------------------------

GENERAL_VERBS = frozenset(stem(verb) for group in ACTIONS for verb in group)
"""Stems of verbs that any request may use."""

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?:'[a-z]+)?|\d+\w*|[^\w\s]|_+")
_NO_VERBS = DETERMINERS | PRONOUNS | PREPOSITIONS | AUXILIARIES | QUESTION_WORDS | SUBJECTS
_BASE_ING = frozenset(stem(word) for word in ("ring", "bring", "sing", "ping", "string"))


@dataclass(frozen=True)
class Token:
    """A word, punctuation mark or value; `start` is its index in the whole text."""

    text: str
    start: int
    span: ValueSpan | None = None

    @property
    def lower(self) -> str:
        return "" if self.span is not None else self.text.lower()

    @property
    def is_word(self) -> bool:
        return self.span is None and self.text[0].isalpha()


def tokens_of(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    plain = text.replace("’", "'")
    for span in (*spans_of(text), None):
        end = len(text) if span is None else span.start
        found += [Token(m[0], at + m.start()) for m in _WORD.finditer(plain[at:end])]
        if span is not None:
            found.append(Token(span.text, span.start, span))
            at = span.end
    return [token for token in found if token.text not in ("'", '"', "“", "”", "‘", "`")]


def written(tokens: Sequence[Token]) -> str:
    """Return tokens in lower case, joined by spaces, with a square replacing each value."""
    return " ".join("\N{WHITE SQUARE}" if t.span is not None else t.text.lower() for t in tokens)


def after(tokens: Sequence[Token], length: int) -> list[Token]:
    """Return the tokens after the first `length` characters of the text from `written`."""
    at = 0
    for index, token in enumerate(tokens):
        if at >= length:
            return list(tokens[index:])
        at += (1 if token.span is not None else len(token.text)) + 1
    return []


def is_verb(tokens: Sequence[Token], verbs: Collection[str]) -> bool:
    """Return whether the first token is probably a verb in the imperative.

    Before a determiner or pronoun, any word counts as a verb; elsewhere, only a known verb.
    """
    first = tokens[0]
    following = tokens[1].lower if len(tokens) > 1 else ""
    if not first.is_word or first.lower in _NO_VERBS | COURTESY:
        return False
    if is_participle(first.lower):
        return False
    if f"{first.lower} {following}" in PHRASAL:
        return True
    if first.lower.endswith(("ing", "'s")) and stem(first.lower) not in _BASE_ING:
        return False
    if following in DETERMINERS or following in PRONOUNS - {"one", "ones"}:
        return True
    if stem(first.lower) not in verbs or first.lower.endswith("ed"):
        return False
    return following not in AUXILIARIES

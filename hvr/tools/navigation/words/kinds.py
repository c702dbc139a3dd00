"""The kinds of values that parameters take, and how well a stated value matches each."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Any

from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import ToolParameter
from hvr.tools.navigation.entities import ID_WORDS
from hvr.tools.navigation.known_values import last_word
from hvr.tools.navigation.words.english import CONVERSIONS, UNITS, stem, stems_of, words_in
from hvr.tools.navigation.words.lexer import ValueForm, ValueSpan, time_zone


class ValueKind(StrEnum):
    CHOICE = "choice"
    FLAG = "flag"
    NUMBER = "number"
    OBJECT = "object"
    EMAIL = "email"
    URL = "url"
    PATH = "path"
    ZONE = "zone"
    DATE = "date"
    TIME = "time"
    PHONE = "phone"
    ID = "id"
    TEXT = "text"
    NAME = "name"
    ANY = "any"


_BY_NAME: tuple[tuple[ValueKind, frozenset[str]], ...] = tuple(
    (kind, frozenset(map(stem, words.split())))
    for kind, words in (
        (ValueKind.EMAIL, "email mail"),
        (ValueKind.ZONE, "timezone zone tz"),
        (ValueKind.URL, "url uri link href website"),
        (ValueKind.PATH, "path file directory folder filename source destination"),
        (ValueKind.PHONE, "phone telephone mobile"),
        (ValueKind.DATE, "date day deadline birthday dob weekday"),
        (ValueKind.TIME, "time hour timestamp"),
        (
            ValueKind.TEXT,
            "message content text body comment reason note query pattern topic "
            "subject prompt question summary keyword keywords search caption "
            "instructions feedback observation sentence",
        ),
        (
            ValueKind.ID,
            "id uuid guid key code number reference slug sku sha hash revision symbol "
            "isbn token version tag",
        ),
        (
            ValueKind.NAME,
            "name title city town country author person user member owner place "
            "location branch label category genre street state artist street sector "
            "company brand airport team project recipient receiver",
        ),
    )
)


_BARE = frozenset(map(stem, ("name", "number", "value")))


@lru_cache(maxsize=20_000)
def kind_of(parameter: ToolParameter) -> ValueKind:
    """Return the kind of value that a parameter takes, from its type, name and description."""
    types = set(parameter.type.split("|")) - {"null"}
    if parameter.choices:
        return ValueKind.CHOICE
    if types & {"integer", "number"} and not types & {"string"}:
        return ValueKind.NUMBER
    if types == {"boolean"}:
        return ValueKind.FLAG
    if types == {"object"} or (types == {"array"} and parameter.items in ("object", "array")):
        return ValueKind.OBJECT
    last = {stem(last_word(parameter.name))}
    words = stems_of(parameter.name)
    # "file_name" is a path, and "passport_number" is not a number.
    first = (words - last) if last <= _BARE else last
    for tested in (first, last, words, stems_of(" ".join(words_in(parameter.description)[:6]))):
        for kind, names in _BY_NAME:
            if tested & names:
                return kind
    return ValueKind.ANY


_ADDRESS = stem("address")
_SUITS: dict[ValueKind, dict[ValueForm, float]] = {
    ValueKind.EMAIL: {ValueForm.EMAIL: 1.0},
    ValueKind.URL: {ValueForm.URL: 1.0, ValueForm.QUOTED: 0.6, ValueForm.PATH: 0.4},
    ValueKind.PATH: {
        ValueForm.PATH: 1.0,
        ValueForm.QUOTED: 0.8,
        ValueForm.NAME: 0.5,
        ValueForm.ID: 0.5,
        ValueForm.PHRASE: 0.3,
    },
    ValueKind.ZONE: {ValueForm.ZONE: 1.0},
    ValueKind.DATE: {ValueForm.DATE: 1.0, ValueForm.QUOTED: 0.5},
    ValueKind.TIME: {ValueForm.TIME: 1.0, ValueForm.QUOTED: 0.5, ValueForm.DATE: 0.4},
    ValueKind.PHONE: {ValueForm.PHONE: 1.0, ValueForm.QUOTED: 0.6, ValueForm.NUMBER: 0.5},
    ValueKind.ID: {
        ValueForm.ID: 1.0,
        ValueForm.NUMBER: 0.7,
        ValueForm.QUOTED: 0.6,
        ValueForm.NAME: 0.5,
        ValueForm.PATH: 0.4,
    },
    ValueKind.TEXT: {
        ValueForm.QUOTED: 1.0,
        ValueForm.PHRASE: 0.6,
        ValueForm.NAME: 0.4,
        ValueForm.ID: 0.4,
        ValueForm.PATH: 0.4,
        ValueForm.URL: 0.4,
    },
    ValueKind.NAME: {
        ValueForm.NAME: 1.0,
        ValueForm.QUOTED: 0.9,
        ValueForm.ID: 0.6,
        ValueForm.PATH: 0.5,
        ValueForm.PHRASE: 0.5,
    },
    ValueKind.ANY: {
        ValueForm.QUOTED: 0.8,
        ValueForm.NAME: 0.7,
        ValueForm.ID: 0.7,
        ValueForm.PATH: 0.6,
        ValueForm.ZONE: 0.5,
        ValueForm.DATE: 0.4,
        ValueForm.EMAIL: 0.6,
        ValueForm.URL: 0.6,
        ValueForm.PHONE: 0.5,
        ValueForm.ADDRESS: 0.5,
        ValueForm.PHRASE: 0.5,
    },
}


def value_compatibility(span: ValueSpan, parameter: ToolParameter) -> tuple[float, Json]:
    """Return how well a value matches a parameter, from 0 to 1, and the converted value."""
    kind = kind_of(parameter)
    if kind is ValueKind.NUMBER:
        return _as_number(span, parameter)
    if kind is ValueKind.ZONE and span.form in (ValueForm.NAME, ValueForm.QUOTED):
        zone = time_zone(str(span.value))
        return (0.9, zone) if zone else (0.0, None)
    value: Json = span.value
    if span.form is ValueForm.NUMBER and kind is ValueKind.TIME:  # "at 6"
        whole = isinstance(span.value, int) and 0 <= span.value < 24 and not span.unit
        return (0.6, f"{span.value:02d}:00") if whole else (0.0, None)
    if span.form is ValueForm.NUMBER and kind in (ValueKind.ID, ValueKind.PHONE):
        value = span.text
        if span.unit:
            return 0.0, None
    if span.form is ValueForm.NAME and last_word(parameter.name) in ID_WORDS:
        # In "the depot in Harbourtown", "Harbourtown" is not the depot's id.
        return (0.5, value) if span.text.isupper() else (0.0, None)
    if span.form is ValueForm.PATH and not _surely_path(span.text) and kind is ValueKind.PATH:
        return 0.8, value  # "feature/login" may be a branch
    if span.form is ValueForm.ADDRESS and _ADDRESS in stems_of(parameter.name):
        return 1.0, value
    form = examples_form(parameter.description)
    if form and span.form in (ValueForm.ID, ValueForm.NAME, ValueForm.NUMBER):
        # The description contains an example of the format.
        return (1.0, span.text) if re.fullmatch(form, span.text) else (0.0, None)
    return _SUITS.get(kind, {}).get(span.form, 0.0), value


def _surely_path(text: str) -> bool:
    return bool(re.match(r"[~./]|[A-Za-z]:", text) or re.search(r"\.\w+$|/$", text))


_HOUR = stem("hour")


def _as_number(span: ValueSpan, parameter: ToolParameter) -> tuple[float, Json]:
    value: Any = span.value
    if span.form is ValueForm.TIME and _HOUR in stems_of(parameter.name):
        hour, *minutes = str(value).split(":")
        return (1.0, int(hour)) if not any(map(int, minutes)) else (0.0, None)
    if span.form is not ValueForm.NUMBER:
        return 0.0, None
    named = units_of(parameter)
    if span.unit == "percent" and not named and not re.search(r"\b100\b|%", parameter.description):
        return 0.0, None  # a share such as a percentage, that the parameter does not ask for
    if span.unit and named and span.unit not in named:
        factor = next(
            (CONVERSIONS[span.unit, unit] for unit in named if (span.unit, unit) in CONVERSIONS), 0
        )
        if not factor:
            return 0.0, None
        value = round(value * factor, 9)
    if "integer" in parameter.type.split("|"):
        if value != int(value):
            return 0.0, None
        value = int(value)
    elif isinstance(value, float) and value == int(value) and not isinstance(span.value, float):
        value = int(value)
    return 1.0, value


@lru_cache(maxsize=20_000)
def units_of(parameter: ToolParameter) -> frozenset[str]:
    """Return the units in a parameter's name or, if it names none, in its description."""
    for text in (parameter.name, parameter.description):
        words = (word for word in words_in(text) if len(word) > 2)
        found = frozenset(
            UNITS.get(word) or UNITS.get(word.removesuffix("s"), "") for word in words
        )
        if found - {""}:
            return found - {""}
    return frozenset()


def _letters(part: str) -> str:
    """Return a pattern for the letters of an example in any case, or other letters in its case."""
    case = "A-Z" if part.isupper() else "a-z" if part.islower() else "A-Za-z"
    return rf"(?:[{case}]+|(?i:{part}))"


_EXAMPLE = re.compile(r"(?:such as|e\.g\.,?|like|for example,?|format:?)\s+['\"]?([^\s'\",;)]+)")


@lru_cache(maxsize=20_000)
def examples_form(description: str) -> str:
    """Return a regular expression for values like the example in a description; empty if none."""
    match = _EXAMPLE.search(description)
    example = match[1].rstrip(".") if match else ""
    if not re.search(r"\d", example) or not re.search(r"[A-Za-z#]", example):
        return ""
    return "".join(
        r"\d+" if part.isdigit() else _letters(part) if part.isalpha() else re.escape(part)
        for part in re.findall(r"[A-Za-z]+|\d+|.", example)
    )

"""Values recognised by their form, each with its place in the text."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hvr.tools.catalogue.schema import ToolParameter
from hvr.tools.navigation.words.kinds import value_compatibility
from hvr.tools.navigation.words.lexer import ValueForm, spans_of, time_zone

LETTERS = some.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)


@given(some.text(max_size=80))
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = spans_of(text)
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))


@given(some.integers(-(10**9), 10**9))
def test_a_number_is_read_as_it_is_written(number: int) -> None:
    (span,) = spans_of(f"set it to {number} please")
    assert (span.form, span.value) == (ValueForm.NUMBER, number)
    (span,) = spans_of(f"set it to {number:,} please")
    assert span.value == number


@given(LETTERS, LETTERS, some.sampled_from(["com", "org", "de"]))
def test_an_address_is_one_value(name: str, host: str, end: str) -> None:
    address = f"{name}@{host}.{end}"
    (span,) = spans_of(f"write to {address}.")
    assert (span.form, span.value) == (ValueForm.EMAIL, address)


@given(some.dates(date(1900, 1, 1), date(2100, 12, 31)))
def test_a_date_is_read_however_it_is_written(day: date) -> None:
    number, year = day.day, day.year
    for text in (
        f"on {day.isoformat()}",
        f"on {day:%B} {number}, {year}",
        f"on {number} {day:%b} {year}",
        f"on the {number}th of {day:%B} {year}",
    ):
        (span,) = spans_of(text)
        assert (span.form, span.value) == (ValueForm.DATE, day.isoformat()), text


@given(some.integers(0, 23), some.integers(0, 59))
def test_a_time_is_read_in_24_hours(hour: int, minute: int) -> None:
    half = "am" if hour < 12 else "pm"
    for text in (f"at {hour:02d}:{minute:02d}", f"at {(hour - 1) % 12 + 1}:{minute:02d} {half}"):
        (span,) = spans_of(text)
        assert (span.form, span.value) == (ValueForm.TIME, f"{hour:02d}:{minute:02d}"), text


@given(some.text("abc xyz.,;:!?#@/-0123456789", min_size=1, max_size=30).filter(str.strip))
def test_a_quoted_text_is_one_value_whatever_is_in_it(text: str) -> None:
    for left, right in (('"', '"'), ("“", "”"), ("`", "`")):
        (span,) = spans_of(f"say {left}{text}{right} now")
        assert (span.form, span.value) == (ValueForm.QUOTED, text)


@pytest.mark.parametrize(
    ("text", "form", "value"),
    [
        ("look at P-1001 now", ValueForm.ID, "P-1001"),
        ("look at #W2378156.", ValueForm.ID, "#W2378156"),
        ("look at emma_kim_9957", ValueForm.ID, "emma_kim_9957"),
        ("look at /tmp/a b", ValueForm.PATH, "/tmp/a"),
        ("look at notes.txt.", ValueForm.PATH, "notes.txt"),
        ("see https://a.org/b?c=1.", ValueForm.URL, "https://a.org/b?c=1"),
        ("in Europe/Paris", ValueForm.ZONE, "Europe/Paris"),
        ("a file called notes", ValueForm.NAME, "notes"),
        ("tell Bob Reed", ValueForm.NAME, "Bob Reed"),
        ("it is twenty-five", ValueForm.NUMBER, 25),
        ("it is two hundred and fifty", ValueForm.NUMBER, 250),
        ("call 555-123-2002", ValueForm.PHONE, "555-123-2002"),
    ],
)
def test_values_are_told_by_their_form(text: str, form: ValueForm, value: object) -> None:
    (span,) = spans_of(text)
    assert (span.form, span.value) == (form, value)


@pytest.mark.parametrize(
    "text", ["Please look at the last one.", "He and/or she, e.g. at once", "the 2nd of them",
             "Could you do it?", "I am sure that I can."]
)  # fmt: skip
def test_other_words_say_no_value(text: str) -> None:
    assert not spans_of(text)


def test_a_unit_is_converted_to_that_of_the_parameter_or_refused() -> None:
    grams = ToolParameter("weight_grams", "integer")
    (kilos,) = spans_of("send 1.2 kg")
    (liters,) = spans_of("send 38 liters")
    (plain,) = spans_of("send 800")
    assert value_compatibility(kilos, grams) == (1.0, 1200)
    assert value_compatibility(plain, grams) == (1.0, 800)
    assert value_compatibility(liters, grams)[0] == 0


def test_a_city_that_has_one_time_zone_names_it() -> None:
    assert time_zone("Tokyo") == "Asia/Tokyo" and time_zone("new york") == "America/New_York"
    assert time_zone("Millbrook") == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cancel my visit to Dr. Chen on Friday", "Dr. Chen"),
        ("write to Mr. Tom Jones. Then stop.", "Tom Jones"),
        ("the parcel of Mrs Lopez", "Lopez"),
        ("fly to St. Louis", "St. Louis"),
    ],
)
def test_a_title_belongs_to_the_name_and_ends_no_sentence(text: str, name: str) -> None:
    (found,) = [span for span in spans_of(text) if span.form is ValueForm.NAME]
    assert found.value == name

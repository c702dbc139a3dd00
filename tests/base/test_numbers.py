"""Numbers from users are finite and in range, or refused in one line that names the option."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.texts import (
    MAX_INTEGER,
    MAX_REAL,
    check_integer,
    check_positive,
    check_real,
    parse_integer,
    parse_real,
)
from hvr.errors import UsageError
from hvr.models.choice import ModelChoice
from hvr.models.limits import Limits
from hvr.planning.search.planners import make_planner
from hvr.runs.request import Options

HOSTILE = (
    "nan", "NaN", "inf", "-inf", "Infinity", "1e308", "1" + "0" * 30, "9" * 5000, "", " ", "1 ",
    "1_000", "٣", "１", "²", "0x10", "1,5", "--1", "+", "-", ".", "e5", "1e", "1/2", "true", "\n1",
)  # fmt: skip
"""Texts that are not numbers, or that no clock, sampler or file can hold."""

NO_NUMBERS = (
    math.nan, math.inf, -math.inf, 10**30, -(10**30), 10**5000, 1e308, Decimal("NaN"),
    Decimal("Infinity"), "3", "", None, [], 1j, object(),
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("read", [parse_integer, parse_real])
def test_what_is_no_number_is_refused_in_a_line(read: object, text: str) -> None:
    with pytest.raises(ValueError) as refused:
        read(text)  # type: ignore[operator]
    said = str(refused.value)
    assert said and "\n" not in said and len(said) < 200


@given(st.text() | st.integers().map(str) | st.floats().map(str) | st.decimals().map(str))
def test_whatever_is_read_is_in_range(text: str) -> None:
    for read, most in ((parse_integer, MAX_INTEGER), (parse_real, MAX_REAL)):
        try:
            value = read(text)
        except ValueError:
            continue
        assert 0 <= value <= most
        assert text.isascii() and float(text) == value


@given(st.integers(0, MAX_INTEGER), st.floats(0, MAX_REAL))
def test_numbers_in_range_are_read_as_they_are_written(whole: int, real: float) -> None:
    assert parse_integer(str(whole)) == whole
    assert parse_real(repr(real)) == real
    check_integer("n", whole)
    check_real("x", real)
    check_real("x", Fraction(real))


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(type(value)))
@pytest.mark.parametrize("check", [check_integer, check_real, check_positive])
def test_values_that_are_no_numbers_are_refused(check: object, value: object) -> None:
    with pytest.raises(UsageError, match=r"^patience must be") as refused:
        check("patience", value)  # type: ignore[operator]
    assert refused.value.field == "patience"
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda value: Options(budget=value), "budget"),
        (lambda value: Options(seed=value), "seed"),
        (lambda value: Options(max_replans=value), "max_replans"),
        (lambda value: Options(error_rate=value), "error_rate"),
        (lambda value: ModelChoice(temperature=value), "temperature"),
        (lambda value: Limits(calls=value), "calls"),
        (lambda value: Limits(tokens=value), "tokens"),
        (lambda value: Limits(dollars=value), "dollars"),
        (lambda value: make_planner("fast-downward", value), "budget"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("value", [math.nan, math.inf, -(10**30), 10**30, "3", [1]], ids=repr)
def test_options_of_the_library_name_the_field(make: object, field: str, value: object) -> None:
    with pytest.raises(UsageError) as refused:
        make(value)  # type: ignore[operator]
    assert refused.value.field == field
    assert field in str(refused.value)


@pytest.mark.parametrize(
    "good",
    [
        lambda: Options(budget=1, seed=-3, max_replans=0, error_rate=0.49),
        lambda: Options(budget=Fraction(1, 3), seed=True),
        lambda: ModelChoice(temperature=2),
        lambda: Limits(calls=0, tokens=10**9, dollars=0.001),
    ],
)
def test_numbers_that_make_sense_are_taken(good: object) -> None:
    good()  # type: ignore[operator]

"""Polynomials and their roots, against individually computed values."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.validation.continuous.functions import TimeFunction, value_at
from hvr.validation.continuous.polynomials import (
    Polynomial,
    Root,
    common_divisor,
    in_order,
    roots,
    sign_at,
    square_free,
)

whole = st.integers(-9, 9)
small = st.fractions(-4, 4, max_denominator=6)
polynomials = st.lists(small, max_size=5).map(Polynomial)
END = Fraction(5)
LAW = settings(max_examples=25)


def from_roots(*numbers: Fraction | int) -> Polynomial:
    result = Polynomial((1,))
    for number in numbers:
        result = result * Polynomial((-number, 1))
    return result


def sign(number: Fraction | int) -> int:
    return (number > 0) - (number < 0)


@pytest.mark.slow
@given(polynomials, polynomials, small)
def test_arithmetic_is_that_of_the_values(one: Polynomial, two: Polynomial, time: Fraction) -> None:
    assert (one + two)(time) == one(time) + two(time)
    assert (one - two)(time) == one(time) - two(time)
    assert (one * two)(time) == one(time) * two(time)
    assert (3 - one)(time) == 3 - one(time)
    assert one.integral(2).derivative() == one
    assert one.integral(2)(0) == 2
    if two.coefficients:
        assert one.quotient(two) * two + one.remainder(two) == one


@pytest.mark.slow
@given(st.lists(small, min_size=1, max_size=4))
def test_rational_roots_are_found_as_numbers(numbers: list[Fraction]) -> None:
    found = roots(from_roots(*numbers), END)
    assert all(root.rational for root in found)
    assert [root.low for root in found] == sorted({n for n in numbers if 0 < n <= END})


@pytest.mark.slow
@LAW
@given(polynomials)
def test_every_change_of_sign_is_a_root_and_between_roots_there_is_none(
    polynomial: Polynomial,
) -> None:
    found = roots(polynomial, END)
    times = sorted({Fraction(i, 16) for i in range(1, 81)})
    places = [root.approximation() for root in found]
    for one, two in pairwise(times):
        if sign(polynomial(one)) * sign(polynomial(two)) < 0:
            assert any(one <= place <= two for place in places)
    cuts = [Fraction(0), *places, END]
    for low, high in pairwise(cuts):
        inner = [t for t in times if low < t < high and polynomial(t) != 0]
        assert len({sign(polynomial(t)) for t in inner}) <= 1
    assert all(sign_at(polynomial, root) == 0 for root in found)


@pytest.mark.slow
@LAW
@given(polynomials, polynomials)
def test_the_sign_at_a_root_is_that_of_the_value_nearby(
    polynomial: Polynomial, other: Polynomial
) -> None:
    for root in roots(polynomial, END):
        low, high = root.enclosure(256)
        value = other(Fraction(low + high) / 2)
        exact = sign_at(other, root)
        # Values this small must be exactly 0 for coefficients this small.
        assert exact == (0 if abs(value) < Fraction(1, 10**40) else sign(value))


@pytest.mark.slow
@LAW
@given(polynomials, polynomials)
def test_roots_of_several_polynomials_come_in_order_each_once(
    one: Polynomial, two: Polynomial
) -> None:
    merged = list(in_order([roots(one, END), roots(two, END)]))
    places = [root.approximation() for root in merged]
    assert places == sorted(places)
    both = one * two
    assert len(merged) == (len(roots(both, END)) if both.coefficients else len(merged))


def test_an_irrational_root_is_isolated_and_its_powers_are_exact() -> None:
    (root,) = roots(Polynomial((-2, 0, 1)), END)  # the square root of 2
    assert not root.rational
    low, high = root.enclosure(256)
    assert low**2 < 2 < high**2
    assert high - low < Fraction(1, 10**70)
    assert value_at(Polynomial((5, 0, 3)), root) == 11
    assert isinstance(value_at(Polynomial((0, 1)), root), TimeFunction)
    assert sign_at(Polynomial((Fraction(-7, 5), 1)), root) == 1
    assert sign_at(Polynomial((0, -2, 0, 1)), root) == 0


def test_a_root_that_is_shared_with_a_rational_one_keeps_the_others_apart() -> None:
    found = roots(from_roots(1, 1, 3) * Polynomial((-2, 0, 1)), Fraction(3))
    assert [root.rational for root in found] == [True, False, True]
    assert found[1].polynomial.degree == 2 or found[1].polynomial(1) != 0
    assert value_at(Polynomial((0, 0, 1)), found[1]) == 2


@pytest.mark.parametrize(
    ("polynomial", "expected"),
    [
        (Polynomial(()), []),
        (Polynomial((3,)), []),
        (Polynomial((0, 1)), []),  # only 0, which is excluded
        (from_roots(5), [5]),  # the end counts
        (from_roots(6), []),
        (from_roots(0, 0, 2), [2]),
    ],
)
def test_ends(polynomial: Polynomial, expected: list[int]) -> None:
    assert [root.low for root in roots(polynomial, END)] == expected


def test_square_free_and_common_divisor() -> None:
    assert square_free(from_roots(1, 1, 2)) in (from_roots(1, 2), -from_roots(1, 2))
    assert common_divisor(from_roots(1, 2), from_roots(2, 3)).degree == 1


def test_a_quotient_by_what_changes_is_a_function() -> None:
    quotient = 1 / Polynomial((1, 1))
    assert value_at(quotient, 3) == Fraction(1, 4)
    assert value_at(quotient * Polynomial((2, 2)), 3) == 2
    assert Polynomial((2, 4)) / 2 == Polynomial((1, 2))


def test_printing() -> None:
    assert repr(Polynomial((1, 2))) == "Polynomial((1, 2))"
    assert repr(Root(Polynomial(()), 1, 2)) == "Root(1.0, 2.0)"

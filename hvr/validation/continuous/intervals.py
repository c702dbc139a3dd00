"""Interval arithmetic on a binary grid, rounded outwards.

An interval is a pair of integers: its ends in units of `2**-bits`. Every operation returns an
interval that contains all results for operands in the given intervals. No operation uses floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from hvr.errors import ContinuousChangeError
from hvr.pddl.numeric import Rational

Interval: TypeAlias = "tuple[int, int]"

_MOST_EXPONENT = 20_000
"""Larger powers of e are refused: they have tens of thousands of bits."""


class DivisorError(ContinuousChangeError):
    """The enclosure of a divisor contains 0."""


class LostError(ContinuousChangeError):
    """Numbers cannot be enclosed beyond some time.

    Attributes:
        final: Whether more binary places would not help.
    """

    def __init__(self, message: str, final: bool) -> None:
        super().__init__(message)
        self.final = final


def enclosed(number: Rational, bits: int) -> Interval:
    """Return the smallest interval that contains a number."""
    over, under = number.numerator << bits, number.denominator
    return over // under, -(-over // under)


def times(one: Interval, two: Interval, bits: int) -> Interval:
    """Return the product."""
    a, b = one
    c, d = two
    if c >= 0:
        low = a * c if a >= 0 else a * d
        high = b * d if b >= 0 else b * c
        return low >> bits, -(-high >> bits)
    products = (a * c, a * d, b * c, b * d)
    return min(products) >> bits, -(-max(products) >> bits)


def scaled(one: Interval, factor: Rational) -> Interval:
    """Return the product with a rational number."""
    over, under = factor.numerator, factor.denominator
    low, high = (one[0] * over, one[1] * over) if over >= 0 else (one[1] * over, one[0] * over)
    return low // under, -(-high // under)


def power(base: Interval, exponent: int, bits: int) -> Interval:
    """Return a power with a positive integer exponent."""
    low, high = base
    if exponent % 2 == 0 and low < 0:
        # An even power depends only on the distance from 0.
        low, high = (-high, -low) if high <= 0 else (0, max(-low, high))
    result = (low, high)
    for _ in range(exponent - 1):
        result = times(result, (low, high), bits)
    return result


def inverse(one: Interval, bits: int) -> Interval:
    """Return the reciprocal.

    Raises:
        DivisorError: The interval contains 0.
    """
    low, high = one
    if low <= 0 <= high:
        raise DivisorError("a divisor cannot be told from 0")
    unit = 1 << 2 * bits
    return unit // high, -(-unit // low)


def convolution(
    one: Sequence[Interval], two: Sequence[Interval], order: int, bits: int
) -> Interval:
    """Return one coefficient of the product of two power series."""
    low = high = 0
    for j in range(order + 1):
        a, b = one[j]
        c, d = two[order - j]
        if a >= 0:
            low += a * c if c >= 0 else b * c
            high += b * d if d >= 0 else a * d
        elif b <= 0:
            low += a * d if d >= 0 else b * d
            high += a * c if c <= 0 else b * c
        else:
            products = (a * c, a * d, b * c, b * d)
            low += min(products)
            high += max(products)
    return low >> bits, -(-high >> bits)


def horner(coefficients: Sequence[Interval], at: Interval, bits: int) -> Interval:
    """Return the values of a polynomial over an interval."""
    low = high = 0
    for coefficient in reversed(coefficients):
        low, high = times((low, high), at, bits)
        low += coefficient[0]
        high += coefficient[1]
    return low, high


def hull(one: Interval, two: Interval) -> Interval:
    """Return the smallest interval that contains both."""
    return min(one[0], two[0]), max(one[1], two[1])


def sign_of(one: Interval) -> int | None:
    """Return the common sign of all points of an interval; None if they differ."""
    low, high = one
    if low > 0:
        return 1
    if high < 0:
        return -1
    return 0 if low == high == 0 else None


def exponential(one: Interval, bits: int) -> Interval:
    """Return e to the power of an interval.

    Raises:
        ContinuousChangeError: The result has too many digits.
    """
    low, high = one
    return _exponential(low, bits)[0], _exponential(high, bits)[1]


@lru_cache(maxsize=1024)
def _exponential(exponent: int, bits: int) -> Interval:
    size = abs(exponent)
    whole = size >> bits
    if exponent < 0 and whole > bits:
        return 0, 1
    if whole > _MOST_EXPONENT:
        raise ContinuousChangeError(f"a number grows beyond e^{_MOST_EXPONENT}")
    # Compute e^(x / 2^n), whose series converges fast, and square it n times. Each square doubles
    # the relative error, and e^x has about 1.443 x binary digits: `work` has places for both.
    halvings = max(size.bit_length() - bits + 8, 0)
    work = bits + halvings + 3 * whole // 2 + 24
    small = size << (work - bits) >> halvings
    low = high = term_low = term_high = 1 << work
    step = 0
    while term_high > 3:
        step += 1
        term_low = (term_low * small >> work) // step
        term_high = (term_high * (small + 1) >> work) // step + 2
        low += term_low
        high += term_high
    # The rest of the series is less than its last term.
    high += term_high + 1
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    if exponent < 0:
        unit = 1 << 2 * work
        low, high = unit // high, -(-unit // low)
    return low >> (work - bits), -(-high >> (work - bits))

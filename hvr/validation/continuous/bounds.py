"""Enclosures and signs of constants that are sums of terms.

Sums of rational multiples of powers of e with different rational exponents are never 0 (Lindemann
and Weierstrass, 1885), so a constant of this kind is 0 only if its normal form is. The sign of any
other constant is undecided where no enclosure tells it from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hvr.errors import ContinuousChangeError
from hvr.pddl.numeric import Rational
from hvr.validation.continuous.intervals import (
    DivisorError,
    Interval,
    LostError,
    enclosed,
    exponential,
    power,
    scaled,
    sign_of,
    times,
)
from hvr.validation.continuous.symbols import Term, product, symbols_in
from hvr.validation.report import decimal_text

PRECISIONS = (64, 128, 256, 512)
"""Binary places to try, one after the other, before a sign counts as undecided."""


class UndecidedError(ContinuousChangeError):
    """The enclosure of a number does not decide a comparison.

    Attributes:
        low, high: The enclosure of the difference that is compared with 0.
    """

    def __init__(self, low: Fraction, high: Fraction) -> None:
        bounds = f"{decimal_text(low)} and {decimal_text(high)}"
        super().__init__(f"a comparison is not decided: the difference is between {bounds}")
        self.low = low
        self.high = high


def enclose_term(term: Term, bits: int) -> Interval:
    """Return an enclosure of a term of constants."""
    result: Interval = (1 << bits, 1 << bits)
    powers, exponent = term
    for symbol, count in powers:
        result = times(result, power(symbol.enclose(bits), count, bits), bits)
    if exponent:
        low = high = 0
        for part, factor in exponent:
            one = enclosed(factor, bits) if part is None else scaled(part.enclose(bits), factor)
            low += one[0]
            high += one[1]
        result = times(result, exponential((low, high), bits), bits)
    return result


def enclose_sum(terms: Mapping[Term, Rational], bits: int) -> Interval:
    """Return an enclosure of a sum of terms of constants."""
    low = high = 0
    for term, coefficient in terms.items():
        part = scaled(enclose_term(term, bits), coefficient)
        low += part[0]
        high += part[1]
    return low, high


def narrow_bounds(terms: Mapping[Term, Rational]) -> tuple[int, int, int]:
    """Return the ends of a narrow enclosure of a constant, and their binary places.

    Raises:
        LostError: The constant cannot be enclosed.
    """
    for bits in PRECISIONS[1:]:
        try:
            low, high = enclose_sum(terms, bits)
        except (DivisorError, LostError):
            if bits == PRECISIONS[-1]:
                raise
            continue
        if high - low < 1 << bits - 40:
            break
    return low, high, bits


def sign_of_sum(terms: Mapping[Term, Rational]) -> int:
    """Return the sign of a constant whose normal form is not 0.

    Raises:
        UndecidedError: The constant cannot be told from 0.
    """
    terms = _leading(terms)
    for bits in PRECISIONS:
        try:
            found = enclose_sum(terms, bits)
        except (DivisorError, LostError) as error:
            if bits == PRECISIONS[-1] or (isinstance(error, LostError) and error.final):
                raise
            continue
        result = sign_of(found)
        if result is not None:
            return result
    if not any(True for _ in symbols_in(terms)):
        # By Lindemann and Weierstrass it is not 0, so some precision will show its sign.
        bits = 2 * PRECISIONS[-1]
        while (result := sign_of(enclose_sum(terms, bits))) is None:
            bits *= 2
        return result
    raise UndecidedError(Fraction(found[0], 1 << bits), Fraction(found[1], 1 << bits))


def _leading(terms: Mapping[Term, Rational]) -> Mapping[Term, Rational]:
    """Return a positive multiple, so that the largest constant exponent of e is 0."""
    offsets = [dict(exponent).get(None, 0) for _, exponent in terms]
    most = max(offsets)
    if not most:
        return terms
    factor: Term = (frozenset(), frozenset([(None, -most)]))
    return {product(term, factor): coefficient for term, coefficient in terms.items()}

"""The symbols and terms of functions of time: interval enclosures, signs and text.

An interval is a pair of integers: its ends in units of `2**-bits`, where `bits` is the precision.
Results are rounded outwards, so they contain the exact results for all operands. Floats are never
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from hvr.errors import ContinuousChangeError
from hvr.pddl.state import Rational
from hvr.validation.continuous.polynomials import Moment, Root
from hvr.validation.report import decimal_text

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity, TimeFunction
    from hvr.validation.continuous.integration import Flow


# Intervals ----------------------------------------------------------------------------------------
# Interval arithmetic on a binary grid, rounded outwards.
#
# An interval is a pair of integers: its ends in units of `2**-bits`. Every operation returns an
# interval that contains all results for operands in the given intervals. Floats are never used.

Interval: TypeAlias = "tuple[int, int]"

_MOST_EXPONENT = 20_000
"""Larger powers of e are refused: they have tens of thousands of bits."""


class DivisorError(ContinuousChangeError):
    """The enclosure of a divisor contains 0."""


class LostError(ContinuousChangeError):
    """Numbers cannot be enclosed beyond some time. If `final`, higher precision does not help."""

    def __init__(self, message: str, final: bool) -> None:
        super().__init__(message)
        self.final = final


def enclosed(number: Rational, bits: int) -> Interval:
    """Return the smallest interval that contains a number."""
    over, under = number.numerator << bits, number.denominator
    return over // under, -(-over // under)


def times(one: Interval, two: Interval, bits: int) -> Interval:
    a, b = one
    c, d = two
    if c >= 0:
        low = a * c if a >= 0 else a * d
        high = b * d if b >= 0 else b * c
        return low >> bits, -(-high >> bits)
    products = (a * c, a * d, b * c, b * d)
    return min(products) >> bits, -(-max(products) >> bits)


def scaled(one: Interval, factor: Rational) -> Interval:
    over, under = factor.numerator, factor.denominator
    low, high = (one[0] * over, one[1] * over) if over >= 0 else (one[1] * over, one[0] * over)
    return low // under, -(-high // under)


def power(base: Interval, exponent: int, bits: int) -> Interval:
    low, high = base
    if exponent % 2 == 0 and low < 0:
        # An even power depends only on the distance from 0.
        low, high = (-high, -low) if high <= 0 else (0, max(-low, high))
    result = (low, high)
    for _ in range(exponent - 1):
        result = times(result, (low, high), bits)
    return result


def inverse(one: Interval, bits: int) -> Interval:
    """Return the reciprocal of an interval; raise a DivisorError if it contains 0."""
    low, high = one
    if low <= 0 <= high:
        raise DivisorError("a divisor cannot be distinguished from 0")
    unit = 1 << 2 * bits
    return unit // high, -(-unit // low)


def convolution(
    one: Sequence[Interval], two: Sequence[Interval], order: int, bits: int
) -> Interval:
    """Return the coefficient of the given order in the product of two power series."""
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
    """Return the enclosure of a polynomial over an interval."""
    low = high = 0
    for coefficient in reversed(coefficients):
        low, high = times((low, high), at, bits)
        low += coefficient[0]
        high += coefficient[1]
    return low, high


def hull(one: Interval, two: Interval) -> Interval:
    return min(one[0], two[0]), max(one[1], two[1])


def sign_of(one: Interval) -> int | None:
    """Return the sign that all points of an interval share, or None if the signs differ."""
    low, high = one
    if low > 0:
        return 1
    if high < 0:
        return -1
    return 0 if low == high == 0 else None


def exponential(one: Interval, bits: int) -> Interval:
    """Return an enclosure of e to the power of an interval.

    A result that is too large raises a ContinuousChangeError.
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


# Symbols ------------------------------------------------------------------------------------------
# The symbols that functions of time are made of, and the terms built from them.
#
# A symbol is the time, a number that is integrated numerically, a quotient, or a constant that is
# known only as an enclosure. A term is a product of powers of symbols and a power of e, whose
# exponent is a linear form in symbols.

MOST_DEPTH = 20
"""Longest chain of enclosures that depend on each other before it is cut: see `Enclosed`."""

_CUT_BITS = 384
"""Binary places of the enclosure that replaces a chain."""


class Symbol:
    """A factor in a term of a function."""

    __slots__ = ()

    constant = False
    depth = 0
    """Length of the longest chain of irrational times and sampled values that a constant needs."""

    def enclose(self, bits: int) -> Interval:
        """Return an interval that contains the symbol, which must be constant."""
        raise NotImplementedError


class _Time(Symbol):
    __slots__ = ()

    def __repr__(self) -> str:
        return "t"


TIME = _Time()
"""The time since the origin of the motion."""


class StateVariable(Symbol):
    """A number whose rate is a function of the state variables."""

    __slots__ = ("flow", "index", "name", "place")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name
        self.flow: Flow | None = None
        self.place = 0

    def __repr__(self) -> str:
        return self.name

    def derivative(self) -> Quantity:
        assert self.flow is not None
        return self.flow.rates[self.place]


class Inverse(Symbol):
    __slots__ = ("constant", "depth", "function")

    def __init__(self, function: TimeFunction) -> None:
        self.function = function
        self.constant = function.constant
        self.depth = function.depth

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inverse) and self.function.terms == other.function.terms

    def __hash__(self) -> int:
        return hash((Inverse, self.function.key))

    def __repr__(self) -> str:
        return f"1/({self.function})"

    def enclose(self, bits: int) -> Interval:
        return inverse(self.function.enclose(bits), bits)


class Instant(Symbol):
    """An irrational time, as a constant."""

    __slots__ = ("depth", "root")

    constant = True

    def __init__(self, root: Root) -> None:
        self.root = root
        self.depth = root.depth + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and self.root is other.root

    def __hash__(self) -> int:
        return id(self.root)

    def __repr__(self) -> str:
        return "T"

    def enclose(self, bits: int) -> Interval:
        low, high = self.root.enclosure(bits)
        return enclosed(low, bits)[0], enclosed(high, bits)[1]


class SampledValue(Symbol):
    """The value of a state variable at a moment."""

    __slots__ = ("_known", "depth", "moment", "variable")

    constant = True

    def __init__(self, variable: StateVariable, moment: Moment) -> None:
        assert variable.flow is not None
        self.variable = variable
        self.moment = moment
        irrational = moment.depth if isinstance(moment, Root) else 0
        self.depth = 1 + max(irrational, variable.flow.depth)
        self._known: dict[int, Interval] = {}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SampledValue)
            and self.variable is other.variable
            and (self.moment is other.moment or self.moment == other.moment)
        )

    def __hash__(self) -> int:
        return hash((self.variable, self.moment))

    def __repr__(self) -> str:
        return f"{self.variable}@{self.moment}"

    def enclose(self, bits: int) -> Interval:
        if bits not in self._known:
            flow = self.variable.flow
            assert flow is not None
            at = enclose_moment(self.moment, bits)
            self._known[bits] = flow.enclose(at, bits)[self.variable.place]
        return self._known[bits]


class Enclosed(Symbol):
    """A constant that counts as a single number, however many terms it was computed from."""

    __slots__ = ("_function", "_known", "depth")

    constant = True

    def __init__(self, function: TimeFunction) -> None:
        self._function: TimeFunction | None = function
        self.depth = function.depth
        self._known: dict[int, Interval] = {}
        if function.depth > MOST_DEPTH:
            # Keep one enclosure and drop the function: thousands of events in a row would
            # otherwise form a chain that each new enclosure has to follow.
            self._known[_CUT_BITS] = function.enclose(_CUT_BITS)
            self._function = None
            self.depth = 0

    def __repr__(self) -> str:
        low, high = self.enclose(64)
        return f"[{low / 2**64:.9g}, {high / 2**64:.9g}]"

    def enclose(self, bits: int) -> Interval:
        if bits not in self._known:
            if self._function is None:
                self._known[bits] = round_outwards(self._known[_CUT_BITS], _CUT_BITS, bits)
            else:
                self._known[bits] = self._function.enclose(bits)
        return self._known[bits]


def round_outwards(one: Interval, bits: int, wanted: int) -> Interval:
    """Convert an interval from the precision `bits` to the precision `wanted`."""
    if wanted >= bits:
        return one[0] << (wanted - bits), one[1] << (wanted - bits)
    return one[0] >> (bits - wanted), -(-one[1] >> (bits - wanted))


def enclose_moment(moment: Moment, bits: int) -> Interval:
    if isinstance(moment, Root):
        return Instant(moment).enclose(bits)
    return enclosed(moment, bits)


# Terms --------------------------------------------------------------------------------------

Powers: TypeAlias = "frozenset[tuple[Symbol, int]]"
Exponent: TypeAlias = "frozenset[tuple[Symbol | None, Rational]]"
"""A linear form: the factor of each symbol, and the constant part under None."""

Term: TypeAlias = "tuple[Powers, Exponent]"

NO_POWERS: Powers = frozenset()
NO_EXPONENT: Exponent = frozenset()
UNIT: Term = (NO_POWERS, NO_EXPONENT)


def product(one: Term, two: Term) -> Term:
    powers, exponent = one[0] or two[0], one[1] or two[1]
    if one[0] and two[0]:
        counts = dict(one[0])
        for symbol, count in two[0]:
            counts[symbol] = counts.get(symbol, 0) + count
        powers = frozenset(counts.items())
    if one[1] and two[1]:
        parts = dict(one[1])
        for part, factor in two[1]:
            parts[part] = parts.get(part, 0) + factor
        exponent = frozenset((p, f) for p, f in parts.items() if f)
    return powers, exponent


def symbols_in(terms: Iterable[Term]) -> Iterable[Symbol]:
    for powers, exponent in terms:
        for symbol, _ in powers:
            yield symbol
        for part, _ in exponent:
            if part is not None:
                yield part


# Bounds -------------------------------------------------------------------------------------------
# Enclosures and signs of constants that are sums of terms.
#
# Sums of rational multiples of powers of e with different rational exponents are never 0 (Lindemann
# and Weierstrass, 1885), so a constant of this kind is 0 only if its normal form is. The sign of
# any other constant is undecided where no enclosure tells it from 0.

PRECISIONS = (64, 128, 256, 512)
"""Binary places to try, one after the other, before a sign counts as undecided."""


class UndecidedError(ContinuousChangeError):
    """The enclosures of two numbers are too wide to compare the numbers.

    Attributes:
        low, high: The bounds of the difference of the numbers.
    """

    def __init__(self, low: Fraction, high: Fraction) -> None:
        bounds = f"{decimal_text(low)} and {decimal_text(high)}"
        super().__init__(f"a comparison is undecided: the difference is between {bounds}")
        self.low = low
        self.high = high


def enclose_term(term: Term, bits: int) -> Interval:
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
    low = high = 0
    for term, coefficient in terms.items():
        part = scaled(enclose_term(term, bits), coefficient)
        low += part[0]
        high += part[1]
    return low, high


def narrow_bounds(terms: Mapping[Term, Rational]) -> tuple[int, int, int]:
    """Return a narrow enclosure of a constant: its ends in units of `2**-bits`, and `bits`.

    Raises:
        LostError, DivisorError: The constant cannot be enclosed.
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
        UndecidedError: The constant cannot be distinguished from 0.
        LostError, DivisorError: The constant cannot be enclosed.
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
    """Scale terms by a power of e so that the largest constant exponent becomes 0."""
    offsets = [dict(exponent).get(None, 0) for _, exponent in terms]
    most = max(offsets)
    if not most:
        return terms
    factor: Term = (frozenset(), frozenset([(None, -most)]))
    return {product(term, factor): coefficient for term, coefficient in terms.items()}


# Formulas -----------------------------------------------------------------------------------------
# Functions of time as text.


def sum_text(terms: Mapping[Term, Rational]) -> str:
    """Return a sum of terms as text, such as `2 - 3 e^(-0.5 t)`."""
    parts: list[tuple[Rational, list[str]]] = []
    for (powers, exponent), coefficient in sorted(terms.items(), key=_place):
        factors = [
            f"{symbol}" if count == 1 else f"{symbol}^{count}"
            for symbol, count in sorted(powers, key=lambda item: str(item[0]))
        ]
        if exponent:
            factors.append(f"e^({_exponent_text(exponent)})")
        parts.append((coefficient, factors))
    return _signed(parts) or "0"


def _place(item: tuple[Term, Rational]) -> tuple[int, str, str]:
    powers, exponent = item[0]
    return (
        len(powers) + 2 * len(exponent),
        str(sorted(map(str, powers))),
        str(sorted(map(str, exponent))),
    )


def _exponent_text(exponent: Exponent) -> str:
    ordered = sorted(exponent, key=lambda item: (item[0] is None, str(item[0])))
    return _signed([(f, [] if symbol is None else [str(symbol)]) for symbol, f in ordered])


def _signed(parts: Iterable[tuple[Rational, list[str]]]) -> str:
    texts = []
    for coefficient, factors in parts:
        size = decimal_text(abs(Fraction(coefficient)))
        if size == "1" and factors:
            size = ""
        texts.append(("- " if coefficient < 0 else "+ ") + " ".join([size, *factors]).strip())
    text = " ".join(texts)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)

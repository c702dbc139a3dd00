"""Functions of time beyond polynomials, in a normal form that shows when two are equal.

A function is a sum of terms: a rational coefficient, powers of symbols, and a power of e whose
exponent is a linear form in symbols. A symbol is the time, a number that is integrated numerically,
a quotient, or a constant that is known as an enclosure only. Without the time it is a constant.

Sums of rational multiples of powers of e with different rational exponents are never 0 (Lindemann
and Weierstrass, 1885), so that a constant of this kind is 0 only where its normal form is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from hvr.errors import ContinuousChangeError, UndefinedValueError
from hvr.pddl.numeric import Rational, exact
from hvr.validation.continuous.intervals import (
    DivisorError,
    Interval,
    LostError,
    enclosed,
    exponential,
    inverse,
    power,
    scaled,
    sign_of,
    times,
)
from hvr.validation.continuous.moments import Moment
from hvr.validation.continuous.polynomials import Polynomial, Root

if TYPE_CHECKING:
    from hvr.validation.continuous.flows import Flow

Quantity: TypeAlias = "Rational | Polynomial | TimeFunction"
"""What a number is while time goes by."""

PRECISIONS = (64, 128, 256, 512)
"""Binary places to try, one after the other, before a sign counts as undecided."""

_MOST_TERMS = 2_000

_DEEPEST = 20
"""Longest chain of enclosures that depend on each other before it is cut: see `Enclosed`."""

_FIXED = 384
_MOST_PARTS = 8


class UndecidedError(ContinuousChangeError):
    """A comparison is not decided by the enclosure of a number.

    Attributes:
        low, high: an enclosure of the difference that is compared with 0.
    """

    def __init__(self, low: Fraction, high: Fraction) -> None:
        bounds = f"{decimal(low)} and {decimal(high)}"
        super().__init__(f"a comparison is not decided: the difference is between {bounds}")
        self.low = low
        self.high = high


# Symbols ------------------------------------------------------------------------------------


class Symbol:
    """What functions are made of."""

    __slots__ = ()

    constant = False
    depth = 0
    """How many enclosures a constant depends on, one after the other."""

    def enclose(self, bits: int) -> Interval:
        """Return an enclosure; constants have one."""
        raise NotImplementedError


class _Time(Symbol):
    __slots__ = ()

    def __repr__(self) -> str:
        return "t"


TIME = _Time()
"""The time since the origin of the motion."""


class StateVariable(Symbol):
    """A number whose rate is a function of such numbers.

    Attributes:
        index: the index of the numeric fluent.
        flow, place: the system that determines it, and its place there, once these are known.
    """

    __slots__ = ("flow", "index", "name", "place")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name
        self.flow: Flow | None = None
        self.place = 0

    def __repr__(self) -> str:
        return self.name

    def at(self, moment: Moment) -> Quantity:
        """Return the value at a moment."""
        assert self.flow is not None
        if moment is self.flow.start or moment == self.flow.start:
            return self.flow.initial[self.place]
        return TimeFunction.of(SampledValue(self, moment))

    def derivative(self) -> Quantity:
        """Return the rate."""
        assert self.flow is not None
        return self.flow.rates[self.place]


class Inverse(Symbol):
    """One divided by a function."""

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
    """An irrational time."""

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
    """The value of a variable at a moment."""

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
    """A constant whose origin no longer matters: a number to continue with."""

    __slots__ = ("_fixed", "_function", "_known", "depth")

    constant = True

    def __init__(self, function: TimeFunction) -> None:
        self._function = function
        self.depth = function.depth
        self._known: dict[int, Interval] = {}
        self._fixed = function.depth > _DEEPEST
        if self._fixed:
            # What it was made of is let go: thousands of events in a row would make a chain.
            self._known[_FIXED] = function.enclose(_FIXED)
            self._function = _NOTHING
            self.depth = 0

    def __repr__(self) -> str:
        low, high = self.enclose(64)
        return f"[{low / 2**64:.9g}, {high / 2**64:.9g}]"

    def enclose(self, bits: int) -> Interval:
        if bits not in self._known:
            if self._fixed:
                self._known[bits] = regrid(self._known[_FIXED], _FIXED, bits)
            else:
                self._known[bits] = self._function.enclose(bits)
        return self._known[bits]


def regrid(one: Interval, bits: int, wanted: int) -> Interval:
    """Return an interval in other units."""
    if wanted >= bits:
        return one[0] << (wanted - bits), one[1] << (wanted - bits)
    return one[0] >> (bits - wanted), -(-one[1] >> (bits - wanted))


def enclose_moment(moment: Moment, bits: int) -> Interval:
    """Return an enclosure of a moment."""
    if isinstance(moment, Root):
        return Instant(moment).enclose(bits)
    return enclosed(moment, bits)


# Terms --------------------------------------------------------------------------------------

Powers: TypeAlias = "frozenset[tuple[Symbol, int]]"
Exponent: TypeAlias = "frozenset[tuple[Symbol | None, Rational]]"
"""A linear form: the factor of each symbol, and the constant part under None."""

Term: TypeAlias = "tuple[Powers, Exponent]"

_NO_POWERS: Powers = frozenset()
_NO_EXPONENT: Exponent = frozenset()
UNIT: Term = (_NO_POWERS, _NO_EXPONENT)


def _product(one: Term, two: Term) -> Term:
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


class TimeFunction:
    """A function of time that is no polynomial, or a constant that is not rational. Immutable.

    Attributes:
        terms: the coefficient of each term; none is 0.
        constant: whether it does not depend on the time.
    """

    __slots__ = ("_derivative", "_key", "constant", "depth", "terms")

    def __init__(self, terms: Mapping[Term, Rational]) -> None:
        if len(terms) > _MOST_TERMS:
            raise ContinuousChangeError(f"a number is a sum of more than {_MOST_TERMS} terms")
        self.terms = terms
        symbols = list(_symbols(terms))
        self.constant = all(symbol.constant for symbol in symbols)
        self.depth: int = max([symbol.depth for symbol in symbols], default=0)
        self._derivative: Quantity | None = None
        self._key: frozenset[tuple[Term, Rational]] | None = None

    @classmethod
    def of(cls, symbol: Symbol) -> TimeFunction:
        """Return a symbol as a function."""
        return cls({(frozenset([(symbol, 1)]), _NO_EXPONENT): 1})

    @property
    def key(self) -> frozenset[tuple[Term, Rational]]:
        """What makes it this function."""
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    def symbols(self) -> set[Symbol]:
        """Return the symbols in it; what quotients are made of is not looked at."""
        return set(_symbols(self.terms))

    # Arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Quantity) -> Quantity:
        terms = dict(self.terms)
        for term, coefficient in terms_of(other).items():
            terms[term] = terms.get(term, 0) + coefficient
        return simple(terms)

    __radd__ = __add__

    def __neg__(self) -> TimeFunction:
        return TimeFunction({term: -c for term, c in self.terms.items()})

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __rsub__(self, other: Quantity) -> Quantity:
        return -self + other

    def __mul__(self, other: Quantity) -> Quantity:
        terms: dict[Term, Rational] = {}
        for one, a in self.terms.items():
            for two, b in terms_of(other).items():
                term = _product(one, two)
                terms[term] = terms.get(term, 0) + a * b
        return simple(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity) -> Quantity:
        return self * inverse_of(other)

    def __rtruediv__(self, other: Quantity) -> Quantity:
        return inverse_of(self) * other

    # Comparison, of constants only ----------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Fraction | Polynomial | TimeFunction):
            return NotImplemented
        difference = self - other
        if isinstance(difference, TimeFunction) and difference.constant:
            return difference.sign() == 0
        return not isinstance(difference, TimeFunction | Polynomial) and difference == 0

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Quantity) -> bool:
        return sign(self - other) < 0

    def __le__(self, other: Quantity) -> bool:
        return sign(self - other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return sign(self - other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return sign(self - other) >= 0

    def __abs__(self) -> Quantity:
        return -self if self.sign() < 0 else self

    def sign(self, most: int = PRECISIONS[-1]) -> int:
        """Return the sign of a constant.

        Raises:
            UndecidedError: The constant cannot be told from 0.
        """
        function = self._leading()
        for bits in PRECISIONS:
            if bits > most:
                break
            try:
                found = function.enclose(bits)
            except (DivisorError, LostError) as error:
                if bits == PRECISIONS[-1] or (isinstance(error, LostError) and error.final):
                    raise
                continue
            result = sign_of(found)
            if result is not None:
                return result
        if not function.symbols():
            # Not 0, only small: see above.
            bits = 2 * PRECISIONS[-1]
            while (result := sign_of(function.enclose(bits))) is None:
                bits *= 2
            return result
        raise UndecidedError(Fraction(found[0], 1 << bits), Fraction(found[1], 1 << bits))

    def _leading(self) -> TimeFunction:
        """Return a positive multiple whose largest power of e is 1, where that is plain."""
        offsets = [dict(exponent).get(None, 0) for _, exponent in self.terms]
        most = max(offsets)
        if not most and min(offsets) == 0:
            return self
        factor = TimeFunction({(_NO_POWERS, frozenset([(None, -most)])): 1}) if most else 1
        product = self * factor
        return product if isinstance(product, TimeFunction) else TimeFunction(terms_of(product))

    def enclose(self, bits: int) -> Interval:
        """Return an enclosure of a constant."""
        low = high = 0
        for term, coefficient in self.terms.items():
            part = scaled(enclose_term(term, bits), coefficient)
            low += part[0]
            high += part[1]
        return low, high

    def approximation(self) -> Fraction:
        """Return a number near a constant, to be shown."""
        low, high, bits = self.bounds()
        return Fraction(low + high, 2 << bits)

    def bounds(self) -> tuple[int, int, int]:
        """Return the ends of a narrow enclosure of a constant, and their binary places.

        Raises:
            LostError: The constant cannot be enclosed.
        """
        for bits in PRECISIONS[1:]:
            try:
                low, high = self.enclose(bits)
            except (DivisorError, LostError):
                if bits == PRECISIONS[-1]:
                    raise
                continue
            if high - low < 1 << bits - 40:
                break
        return low, high, bits

    # In time --------------------------------------------------------------------------------

    def derivative(self) -> Quantity:
        """Return the derivative."""
        if self._derivative is None:
            result: Quantity = 0
            for term, coefficient in self.terms.items():
                powers, exponent = term
                growth = dict(exponent).get(TIME, 0)
                if growth:
                    result = result + TimeFunction({term: coefficient * growth})
                for symbol, count in powers:
                    if symbol.constant:
                        continue
                    counts = {**dict(powers), symbol: count - 1}
                    rest = frozenset((s, n) for s, n in counts.items() if n)
                    part = simple({(rest, exponent): coefficient * count})
                    result = result + part * _slope(symbol)
            self._derivative = result
        return self._derivative

    def replace(self, value: Callable[[Symbol], Quantity | None]) -> Quantity:
        """Return the function with values for some of its symbols."""
        known = {symbol: value(symbol) for symbol in self.symbols()}
        if all(found is None for found in known.values()):
            return self
        result: Quantity = 0
        for (powers, exponent), coefficient in self.terms.items():
            kept = frozenset(item for item in powers if known[item[0]] is None)
            fixed = _linear_form(exponent, known)
            part = simple({(kept, fixed): coefficient})
            for symbol, count in powers:
                found = known[symbol]
                if found is not None:
                    for _ in range(count):
                        part = part * found
            result = result + part
        return result

    def __repr__(self) -> str:
        return text_of(self)


def _linear_form(exponent: Exponent, known: Mapping[Symbol, Quantity | None]) -> Exponent:
    parts: dict[Symbol | None, Rational] = {}
    for symbol, factor in exponent:
        found = None if symbol is None else known[symbol]
        if symbol is None or found is None:
            parts[symbol] = parts.get(symbol, 0) + factor
            continue
        # Only the time stands in exponents and is replaced, by something linear.
        for (powers, _), coefficient in terms_of(found).items():
            target = next((s for s, _ in powers), None)
            parts[target] = parts.get(target, 0) + coefficient * factor
    return frozenset((s, exact(Fraction(f))) for s, f in parts.items() if f)


def _symbols(terms: Iterable[Term]) -> Iterable[Symbol]:
    for powers, exponent in terms:
        for symbol, _ in powers:
            yield symbol
        for part, _ in exponent:
            if part is not None:
                yield part


def _value(symbol: Symbol, moment: Moment) -> Quantity | None:
    if symbol is TIME:
        return TimeFunction.of(Instant(moment)) if isinstance(moment, Root) else moment
    if isinstance(symbol, StateVariable):
        return symbol.at(moment)
    if isinstance(symbol, Inverse) and not symbol.constant:
        return inverse_of(value_at(symbol.function, moment))
    return None


def value_at(number: Quantity, moment: Moment) -> Quantity:
    """Return the value at a moment: rational, or a constant function."""
    if not isinstance(number, TimeFunction | Polynomial):
        return number
    if isinstance(moment, Root):
        if moment.rational:
            return value_at(number, moment.low)
        number = moment.reduce(number)
        if not isinstance(number, TimeFunction | Polynomial):
            return number
        if isinstance(number, Polynomial):
            number = TimeFunction(terms_of(number))
    elif isinstance(number, Polynomial):
        return exact(Fraction(number(moment)))
    return number.replace(lambda symbol: _value(symbol, moment))


def _slope(symbol: Symbol) -> Quantity:
    if symbol is TIME:
        return 1
    if isinstance(symbol, StateVariable):
        return symbol.derivative()
    assert isinstance(symbol, Inverse)
    square = TimeFunction({(frozenset([(symbol, 2)]), _NO_EXPONENT): -1})
    return square * symbol.function.derivative()


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


# Making them --------------------------------------------------------------------------------


def terms_of(number: Quantity) -> Mapping[Term, Rational]:
    """Return a number as a sum of terms."""
    if isinstance(number, TimeFunction):
        return number.terms
    if isinstance(number, Polynomial):
        return {
            (frozenset([(TIME, n)]) if n else _NO_POWERS, _NO_EXPONENT): c
            for n, c in enumerate(number.coefficients)
            if c
        }
    return {UNIT: number} if number else {}


def simple(terms: Mapping[Term, Rational]) -> Quantity:
    """Return a sum of terms, as a number or a polynomial if it is one."""
    kept = {term: c for term, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and UNIT in kept:
        return exact(Fraction(kept[UNIT]))
    coefficients: dict[int, Rational] = {}
    for (powers, exponent), coefficient in kept.items():
        if exponent or len(powers) > 1:
            return TimeFunction(kept)
        for symbol, count in powers:
            if symbol is not TIME:
                return TimeFunction(kept)
            coefficients[count] = coefficient
        if not powers:
            coefficients[0] = coefficient
    return Polynomial([coefficients.get(n, 0) for n in range(max(coefficients) + 1)])


def remainder(function: TimeFunction, divisor: Polynomial) -> Quantity:
    """Return a function that is the same where a polynomial is 0, with lower powers of the time."""
    parts: dict[Term, dict[int, Rational]] = {}
    for (powers, exponent), coefficient in function.terms.items():
        counts = dict(powers)
        degree = counts.pop(TIME, 0)
        parts.setdefault((frozenset(counts.items()), exponent), {})[degree] = coefficient
    result: Quantity = 0
    for term, found in parts.items():
        polynomial = Polynomial([found.get(n, 0) for n in range(max(found) + 1)])
        result = result + simple({term: 1}) * polynomial.remainder(divisor)
    return result


def growing(rate: Rational) -> Quantity:
    """Return e to the power of a multiple of the time."""
    return simple({(_NO_POWERS, frozenset([(TIME, rate)]) if rate else _NO_EXPONENT): 1})


def partial(number: Quantity, variable: StateVariable) -> Quantity:
    """Return the derivative with respect to a variable."""
    result: Quantity = 0
    if not isinstance(number, TimeFunction):
        return result
    for (powers, exponent), coefficient in number.terms.items():
        for symbol, count in powers:
            slope: Quantity = 0
            if symbol is variable:
                slope = 1
            elif isinstance(symbol, Inverse) and not symbol.constant:
                square = TimeFunction({(frozenset([(symbol, 2)]), _NO_EXPONENT): -1})
                slope = square * partial(symbol.function, variable)
            counts = {**dict(powers), symbol: count - 1}
            rest = frozenset((s, n) for s, n in counts.items() if n)
            result = result + simple({(rest, exponent): coefficient * count}) * slope
    return result


def inverse_of(number: Quantity) -> Quantity:
    """Return one divided by a number.

    Raises:
        UndefinedValueError: the number is 0.
    """
    if not isinstance(number, TimeFunction | Polynomial):
        if number == 0:
            raise UndefinedValueError("a division by zero")
        return exact(Fraction(1) / number)
    if isinstance(number, Polynomial) and number.degree < 1:
        return inverse_of(number.constant)
    function = number if isinstance(number, TimeFunction) else TimeFunction(terms_of(number))
    if len(function.terms) == 1:
        ((powers, exponent), coefficient) = next(iter(function.terms.items()))
        if not powers:
            negative = frozenset((symbol, -factor) for symbol, factor in exponent)
            return TimeFunction({(_NO_POWERS, negative): exact(1 / Fraction(coefficient))})
    # Made monic in some term, so that multiples of one divisor are one symbol.
    coefficient = next(iter(sorted(function.terms.values(), key=lambda c: (abs(c), c))))
    monic = function * exact(1 / Fraction(coefficient))
    assert isinstance(monic, TimeFunction | Polynomial)
    symbol = Inverse(monic if isinstance(monic, TimeFunction) else TimeFunction(terms_of(monic)))
    return TimeFunction.of(symbol) * exact(1 / Fraction(coefficient))


def sign(number: Quantity) -> int:
    """Return the sign of a constant."""
    if isinstance(number, TimeFunction):
        return number.sign()
    assert not isinstance(number, Polynomial)
    return (number > 0) - (number < 0)


def condensed(number: Quantity) -> Quantity:
    """Return a constant as one symbol if it has many parts or a long past."""
    if not isinstance(number, TimeFunction) or not number.constant or not number.depth:
        return number
    if len(number.terms) <= _MOST_PARTS and number.depth <= _DEEPEST:
        return number
    return TimeFunction.of(Enclosed(number))


_NOTHING = TimeFunction({UNIT: 0})


# Text ---------------------------------------------------------------------------------------


def text_of(function: Quantity) -> str:
    """Return a function as text: 2 - 3 e^(-0.5 t)."""
    parts = []
    for (powers, exponent), coefficient in sorted(terms_of(function).items(), key=_place):
        factors = [
            f"{symbol}" if count == 1 else f"{symbol}^{count}"
            for symbol, count in sorted(powers, key=lambda item: str(item[0]))
        ]
        if exponent:
            factors.append(f"e^({_exponent_text(exponent)})")
        size = decimal(abs(Fraction(coefficient)))
        if size == "1" and factors:
            size = ""
        parts.append(("- " if coefficient < 0 else "+ ") + " ".join([size, *factors]).strip())
    text = " ".join(parts)
    return (text[2:] if text.startswith("+") else text.replace("- ", "-", 1)) or "0"


def shown(function: TimeFunction, later: Rational) -> str:
    """Return a function as text, in the time since a later origin, with rounded constants.

    It is empty if the function has no closed form.
    """
    if any(isinstance(symbol, StateVariable | Inverse) for symbol in function.symbols()):
        return ""
    moved = function.replace(lambda symbol: Polynomial((later, 1)) if symbol is TIME else None)
    sums: dict[Term, Quantity] = {}
    for (powers, exponent), coefficient in terms_of(moved).items():
        time = frozenset(item for item in powers if item[0] is TIME)
        growth = frozenset(item for item in exponent if item[0] is TIME)
        constant = simple({(powers - time, exponent - growth): coefficient})
        sums[time, growth] = sums.get((time, growth), 0) + constant
    rounded = {
        term: number.approximation() if isinstance(number, TimeFunction) else number
        for term, number in sums.items()
    }
    return text_of(simple(rounded))  # type: ignore[arg-type]


def _place(item: tuple[Term, Rational]) -> tuple[int, str, str]:
    powers, exponent = item[0]
    return (
        len(powers) + 2 * len(exponent),
        str(sorted(map(str, powers))),
        str(sorted(map(str, exponent))),
    )


def _exponent_text(exponent: Exponent) -> str:
    parts = []
    for symbol, factor in sorted(exponent, key=lambda item: (item[0] is None, str(item[0]))):
        size = decimal(abs(Fraction(factor)))
        name = "" if symbol is None else str(symbol)
        size = "" if size == "1" and name else size
        parts.append(("- " if factor < 0 else "+ ") + f"{size} {name}".strip())
    text = " ".join(parts)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)


def decimal(number: Fraction) -> str:
    """Return a rational number as text."""
    from hvr.validation.report import decimal_text

    return decimal_text(number)

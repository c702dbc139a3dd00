"""Non-polynomial functions of time, in a normal form that decides equality.

A function is a sum of terms with rational coefficients: see `symbols`. A function that does not
depend on time is a constant. Only constants can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from hvr.errors import ContinuousChangeError, UndefinedValueError
from hvr.pddl.state import Rational, exact
from hvr.validation.continuous.polynomials import Moment, Polynomial, Root
from hvr.validation.continuous.symbols import (
    MOST_DEPTH,
    NO_EXPONENT,
    NO_POWERS,
    TIME,
    UNIT,
    Enclosed,
    Exponent,
    Instant,
    Interval,
    Inverse,
    SampledValue,
    StateVariable,
    Symbol,
    Term,
    convolution,
    enclose_sum,
    enclose_term,
    exponential,
    inverse,
    narrow_bounds,
    product,
    scaled,
    sign_of_sum,
    sum_text,
    symbols_in,
    times,
)

Quantity: TypeAlias = "Rational | Polynomial | TimeFunction"

_MOST_TERMS = 2_000

_MOST_PARTS = 8
"""A constant with more terms becomes one symbol before it is used in further functions."""


class TimeFunction:
    """An immutable non-polynomial function of time, or an irrational constant.

    `depth` is the length of the longest chain of irrational times and sampled values that the
    function depends on, each computed from the next.

    Raises:
        ContinuousChangeError: The function has too many terms.
    """

    __slots__ = ("_derivative", "_key", "constant", "depth", "terms")

    def __init__(self, terms: Mapping[Term, Rational]) -> None:
        if len(terms) > _MOST_TERMS:
            raise ContinuousChangeError(f"a changing number has more than {_MOST_TERMS} terms")
        self.terms = terms
        symbols = list(symbols_in(terms))
        self.constant = all(symbol.constant for symbol in symbols)
        self.depth: int = max([symbol.depth for symbol in symbols], default=0)
        self._derivative: Quantity | None = None
        self._key: frozenset[tuple[Term, Rational]] | None = None

    @classmethod
    def of(cls, symbol: Symbol) -> TimeFunction:
        return cls({(frozenset([(symbol, 1)]), NO_EXPONENT): 1})

    @property
    def key(self) -> frozenset[tuple[Term, Rational]]:
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    def symbols(self) -> set[Symbol]:
        return set(symbols_in(self.terms))

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
                term = product(one, two)
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

    def sign(self) -> int:
        """Return the sign of a constant: -1, 0 or 1; see `sign_of_sum`."""
        return sign_of_sum(self.terms)

    def enclose(self, bits: int) -> Interval:
        return enclose_sum(self.terms, bits)

    def approximation(self) -> Fraction:
        low, high, bits = self.bounds()
        return Fraction(low + high, 2 << bits)

    def bounds(self) -> tuple[int, int, int]:
        """Return a narrow enclosure of a constant; see `narrow_bounds`."""
        return narrow_bounds(self.terms)

    # In time --------------------------------------------------------------------------------

    def derivative(self) -> Quantity:
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
        return sum_text(self.terms)


def _linear_form(exponent: Exponent, known: Mapping[Symbol, Quantity | None]) -> Exponent:
    parts: dict[Symbol | None, Rational] = {}
    for symbol, factor in exponent:
        found = None if symbol is None else known[symbol]
        if symbol is None or found is None:
            parts[symbol] = parts.get(symbol, 0) + factor
            continue
        # The time is the only symbol of an exponent that is ever replaced, by a linear function.
        for (powers, _), coefficient in terms_of(found).items():
            target = next((s for s, _ in powers), None)
            parts[target] = parts.get(target, 0) + coefficient * factor
    return frozenset((s, exact(Fraction(f))) for s, f in parts.items() if f)


def _value(symbol: Symbol, moment: Moment) -> Quantity | None:
    if symbol is TIME:
        return TimeFunction.of(Instant(moment)) if isinstance(moment, Root) else moment
    if isinstance(symbol, StateVariable):
        flow = symbol.flow
        assert flow is not None
        if moment is flow.start or moment == flow.start:
            return flow.initial[symbol.place]
        return TimeFunction.of(SampledValue(symbol, moment))
    if isinstance(symbol, Inverse) and not symbol.constant:
        return inverse_of(value_at(symbol.function, moment))
    return None


def value_at(number: Quantity, moment: Moment) -> Quantity:
    """Return the value of a number at a moment: a rational number or a constant function."""
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
    square = TimeFunction({(frozenset([(symbol, 2)]), NO_EXPONENT): -1})
    return square * symbol.function.derivative()


# Constructors -------------------------------------------------------------------------------


def terms_of(number: Quantity) -> Mapping[Term, Rational]:
    """Return a number as a sum, which maps terms to their coefficients."""
    if isinstance(number, TimeFunction):
        return number.terms
    if isinstance(number, Polynomial):
        return {
            (frozenset([(TIME, n)]) if n else NO_POWERS, NO_EXPONENT): c
            for n, c in enumerate(number.coefficients)
            if c
        }
    return {UNIT: number} if number else {}


def simple(terms: Mapping[Term, Rational]) -> Quantity:
    """Return a sum of terms as a number or polynomial, if it is one, or else as a TimeFunction."""
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
    """Reduce a function modulo a polynomial in time; its values at the roots do not change."""
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


def exponential_of(rate: Rational) -> Quantity:
    """Return the function e^(rate t)."""
    return simple({(NO_POWERS, frozenset([(TIME, rate)]) if rate else NO_EXPONENT): 1})


def partial(number: Quantity, variable: StateVariable) -> Quantity:
    """Return the partial derivative of a number with respect to a state variable."""
    result: Quantity = 0
    if not isinstance(number, TimeFunction):
        return result
    for (powers, exponent), coefficient in number.terms.items():
        for symbol, count in powers:
            slope: Quantity = 0
            if symbol is variable:
                slope = 1
            elif isinstance(symbol, Inverse) and not symbol.constant:
                square = TimeFunction({(frozenset([(symbol, 2)]), NO_EXPONENT): -1})
                slope = square * partial(symbol.function, variable)
            counts = {**dict(powers), symbol: count - 1}
            rest = frozenset((s, n) for s, n in counts.items() if n)
            result = result + simple({(rest, exponent): coefficient * count}) * slope
    return result


def inverse_of(number: Quantity) -> Quantity:
    """Return the reciprocal of a number; 0 raises an UndefinedValueError."""
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
            return TimeFunction({(NO_POWERS, negative): exact(1 / Fraction(coefficient))})
    # Divide by one coefficient first, so that multiples of a divisor share one symbol.
    coefficient = next(iter(sorted(function.terms.values(), key=lambda c: (abs(c), c))))
    monic = function * exact(1 / Fraction(coefficient))
    assert isinstance(monic, TimeFunction | Polynomial)
    symbol = Inverse(monic if isinstance(monic, TimeFunction) else TimeFunction(terms_of(monic)))
    return TimeFunction.of(symbol) * exact(1 / Fraction(coefficient))


def sign(number: Quantity) -> int:
    if isinstance(number, TimeFunction):
        return number.sign()
    assert not isinstance(number, Polynomial)
    return (number > 0) - (number < 0)


def condense(number: Quantity) -> Quantity:
    """Replace a constant that has many terms or a large `depth` with one symbol.

    Functions of time, and constants of depth 0, are returned unchanged.
    """
    if not isinstance(number, TimeFunction) or not number.constant or not number.depth:
        return number
    if len(number.terms) <= _MOST_PARTS and number.depth <= MOST_DEPTH:
        return number
    return TimeFunction.of(Enclosed(number))


# Taylor coefficients ------------------------------------------------------------------------------
# Enclosures of the Taylor coefficients of functions of time.
#
# The coefficients over an interval of time enclose the coefficients at each of its points: order 0
# encloses the values and order 1 the slopes. Recurrences compute each order from the lower ones,
# and the coefficients of variables from their rates (Moore, "Methods and applications of interval
# analysis", 1979, chapter 3).

Coefficients = list[Interval]

_Node = tuple[str, object, int, int]
"""The operation, its parameter, and the indexes of its operands."""


class Tape:
    """Several functions of the same variables, compiled to a list of operations."""

    def __init__(
        self,
        functions: Sequence[Quantity],
        variables: Sequence[StateVariable] = (),
        rates: Sequence[Quantity] = (),
    ) -> None:
        self._nodes: list[_Node] = []
        self._known: dict[object, int] = {}
        self._variables = [self._node("variable", v) for v in variables]
        self._rates = [self._function(rate) for rate in rates]
        self.outputs = [self._function(function) for function in functions]
        self._constants: dict[int, list[Interval]] = {}

    def coefficients(
        self, at: Interval, boxes: Sequence[Interval], order: int, bits: int
    ) -> list[Coefficients]:
        """Return enclosures of the Taylor coefficients of the functions, up to `order`.

        Args:
            at: An interval of time.
            boxes: Enclosures of the variables over this interval.

        Raises:
            DivisorError: The enclosure of a divisor contains 0.
        """
        rows = self._run(at, boxes, order, bits)
        return [rows[node] for node in self.outputs]

    def variable_coefficients(
        self, at: Interval, boxes: Sequence[Interval], order: int, bits: int
    ) -> list[Coefficients]:
        """Return the Taylor coefficients of the variables; see `coefficients` for the arguments."""
        rows = self._run(at, boxes, order, bits)
        return [rows[node] for node in self._variables]

    def _run(
        self, at: Interval, boxes: Sequence[Interval], order: int, bits: int
    ) -> list[Coefficients]:
        nodes = self._nodes
        rows: list[Coefficients] = [[] for _ in nodes]
        for node, box in zip(self._variables, boxes, strict=True):
            rows[node].append(box)
        constants = self._constants_at(bits)
        for k in range(order + 1):
            for place, (kind, known, one, two) in enumerate(nodes):
                row = rows[place]
                if kind == "product":
                    row.append(convolution(rows[one], rows[two], k, bits))
                elif kind == "sum":
                    low = high = 0
                    for factor, constant, part in known:  # type: ignore[attr-defined]
                        if part >= 0:
                            a, b = rows[part][k]
                        elif k:
                            continue
                        else:
                            a = b = 1 << bits
                        if constant >= 0:
                            a, b = times((a, b), constants[constant], bits)
                        if factor != 1:
                            a, b = scaled((a, b), factor)
                        low += a
                        high += b
                    row.append((low, high))
                elif kind == "time":
                    row.append(at if k == 0 else (1 << bits, 1 << bits) if k == 1 else (0, 0))
                elif kind == "power":
                    factor = known
                    if k == 0:
                        row.append(exponential(scaled(at, factor), bits))  # type: ignore[arg-type]
                    else:
                        low, high = scaled(row[-1], factor)  # type: ignore[arg-type]
                        row.append((low // k, -(-high // k)))
                elif kind == "inverse":
                    if k == 0:
                        row.append(inverse(rows[one][0], bits))
                    else:
                        low, high = convolution(rows[one][1:], row, k - 1, bits)
                        row.append(times((-high, -low), row[0], bits))
            if k < order:
                for node, rate in zip(self._variables, self._rates, strict=True):
                    low, high = rows[rate][k]
                    rows[node].append((low // (k + 1), -(-high // (k + 1))))
        return rows

    def _constants_at(self, bits: int) -> list[Interval]:
        if bits not in self._constants:
            terms = [key[1] for key in self._known if isinstance(key, tuple) and key[0] == "term"]
            self._constants[bits] = [enclose_term(term, bits) for term in terms]
        return self._constants[bits]

    def _node(self, kind: str, known: object, one: int = -1, two: int = -1) -> int:
        key = kind, known, one, two
        if key not in self._known:
            self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return self._known[key]

    def _function(self, function: Quantity) -> int:
        parts: list[tuple[Rational, int, int]] = []
        for (powers, exponent), coefficient in terms_of(function).items():
            fixed: Term = (
                frozenset(item for item in powers if item[0].constant),
                frozenset(item for item in exponent if item[0] is not TIME),
            )
            constant = -1
            if fixed != UNIT:
                key = "term", fixed
                if key not in self._known:
                    self._known[key] = sum(
                        isinstance(k, tuple) and k[0] == "term" for k in self._known
                    )
                constant = self._known[key]
            factors = [self._symbol(s) for s, n in sorted_powers(powers) for _ in range(n)]
            growth = dict(exponent).get(TIME, 0)
            if growth:
                factors.append(self._node("power", growth))
            product = -1
            for factor in factors:
                product = factor if product < 0 else self._node("product", None, product, factor)
            parts.append((coefficient, constant, product))
        return self._node("sum", tuple(parts))

    def _symbol(self, symbol: Symbol) -> int:
        if symbol is TIME:
            return self._node("time", None)
        if isinstance(symbol, Inverse):
            return self._node("inverse", None, self._function(symbol.function))
        return self._node("variable", symbol)


def sorted_powers(powers: frozenset[tuple[Symbol, int]]) -> list[tuple[Symbol, int]]:
    # In a fixed order, so that products are shared.
    return sorted((item for item in powers if not item[0].constant), key=lambda item: str(item[0]))


def variables_of(functions: Sequence[Quantity]) -> list[StateVariable]:
    """Return the state variables that functions depend on, including those inside quotients."""
    found: dict[StateVariable, None] = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if isinstance(function, TimeFunction):
            for symbol in function.symbols():
                if isinstance(symbol, StateVariable):
                    found[symbol] = None
                elif isinstance(symbol, Inverse):
                    waiting.append(symbol.function)
    return list(found)

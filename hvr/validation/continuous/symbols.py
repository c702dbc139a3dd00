"""The symbols that functions of time are made of, and the terms built from them.

A symbol is the time, a number that is integrated numerically, a quotient, or a constant that is
known only as an enclosure. A term is a product of powers of symbols and a power of e, whose
exponent is a linear form in symbols.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from hvr.pddl.numeric import Rational
from hvr.validation.continuous.intervals import Interval, enclosed, inverse
from hvr.validation.continuous.moments import Moment
from hvr.validation.continuous.polynomials import Root

if TYPE_CHECKING:
    from hvr.validation.continuous.flows import Flow
    from hvr.validation.continuous.functions import Quantity, TimeFunction

MOST_DEPTH = 20
"""Longest chain of enclosures that depend on each other before it is cut: see `Enclosed`."""

_CUT_BITS = 384
"""Binary places of the enclosure that replaces a chain."""


class Symbol:
    """A factor in the terms of a function."""

    __slots__ = ()

    constant = False
    depth = 0
    """Length of the longest chain of enclosures that a constant depends on."""

    def enclose(self, bits: int) -> Interval:
        """Return an enclosure of a constant."""
        raise NotImplementedError


class _Time(Symbol):
    __slots__ = ()

    def __repr__(self) -> str:
        return "t"


TIME = _Time()
"""The time since the origin of the motion."""


class StateVariable(Symbol):
    """A number whose rate is a function of the state variables.

    Attributes:
        index: The index of the numeric fluent.
        flow, place: The system that determines the number, and its index there, once known.
    """

    __slots__ = ("flow", "index", "name", "place")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name
        self.flow: Flow | None = None
        self.place = 0

    def __repr__(self) -> str:
        return self.name

    def derivative(self) -> Quantity:
        """Return the rate."""
        assert self.flow is not None
        return self.flow.rates[self.place]


class Inverse(Symbol):
    """The reciprocal of a function."""

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
    """A constant that later functions treat as a plain number, whatever it was computed from."""

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
                self._known[bits] = regrid(self._known[_CUT_BITS], _CUT_BITS, bits)
            else:
                self._known[bits] = self._function.enclose(bits)
        return self._known[bits]


def regrid(one: Interval, bits: int, wanted: int) -> Interval:
    """Return an interval with another number of binary places, rounded outwards."""
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

NO_POWERS: Powers = frozenset()
NO_EXPONENT: Exponent = frozenset()
UNIT: Term = (NO_POWERS, NO_EXPONENT)


def product(one: Term, two: Term) -> Term:
    """Return the product of two terms."""
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
    """Yield the symbols in terms, but not the symbols inside quotients."""
    for powers, exponent in terms:
        for symbol, _ in powers:
            yield symbol
        for part, _ in exponent:
            if part is not None:
                yield part

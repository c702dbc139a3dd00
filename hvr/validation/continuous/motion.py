"""How numbers change between two happenings: polynomials in time, and conditions along them.

Rates may depend on numbers that change themselves, as long as none depends on its own rate: then
each is a polynomial and its integral the next (a triangular system). Anything else has solutions
that are no polynomials and is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

from hvr.errors import ContinuousChangeError, NumberTooLargeError, UndefinedValueError
from hvr.nested import Steps, finish
from hvr.pddl.conditions import Conjunction
from hvr.pddl.numeric import Compiled, NumericTest, Rational, Values, evaluate, exact
from hvr.validation.continuous.polynomials import (
    Number,
    Polynomial,
    Root,
    compare_roots,
    in_order,
    roots,
    sign_at,
    value_at,
)

Moment: TypeAlias = "Rational | Root"
"""A time since the origin of a motion."""

Numbers: TypeAlias = "Sequence[Number | None]"
"""The numbers at a moment: each a number, or a polynomial to be read at the moment."""

_MOST_BITS = 13_000
_MOST_DEGREE = 40
_DOUBTFUL = Fraction(1, 10**30)
"""Two numbers that are nearer than this and were rounded (to `PRECISION`) are not told apart."""


class Rate:
    """A part of the rate of a numeric fluent: how much it grows in a unit of time.

    Attributes:
        index: that of the fluent.
        sign: 1 or -1.
        amount: the amount, compiled.
    """

    __slots__ = ("amount", "index", "sign")

    def __init__(self, index: int, sign: int, amount: Compiled) -> None:
        self.index = index
        self.sign = sign
        self.amount = amount


class Motion:
    """The numbers from a moment on, while certain rates apply: each a polynomial in time.

    It can be read like `Values`, and gives polynomials for what changes.

    Args:
        numbers: what they are at the moment.
        moment: when, since the origin of all polynomials here.
        rates: what changes them.
        name: the name of the fluent of an index, for errors.
        is_exact: whether nothing was rounded before.

    Attributes:
        is_exact: whether nothing was rounded; a root that is not rational may make it necessary.
    """

    def __init__(
        self,
        numbers: Numbers,
        moment: Moment,
        rates: Iterable[Rate],
        name: Callable[[int], object],
        is_exact: bool = True,
    ) -> None:
        self.is_exact = is_exact
        self.moment = moment
        self._numbers = numbers
        self._name = name
        self._rates: dict[int, list[Rate]] = {}
        for rate in rates:
            self._rates.setdefault(rate.index, []).append(rate)
        self._length = max([len(numbers), *(index + 1 for index in self._rates)])
        self._known: dict[int, Number | None] = {}
        self._open: list[int] = []
        if self._rates:
            # All at once, so that what cannot be solved is refused here.
            self.numbers()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Number | None:
        if index not in self._known:
            self._known[index] = self._solve(index)
        return self._known[index]

    def at(self, moment: Moment) -> Values:
        """Return the numbers at a moment; they are rounded where they are not rational."""
        return tuple(
            [self._at(number, moment) for number in map(self.__getitem__, range(len(self)))]
        )

    def numbers(self) -> list[Number | None]:
        """Return all numbers, to be read at any moment."""
        return [self[index] for index in range(len(self))]

    def _at(self, number: Number | None, moment: Moment) -> Rational | None:
        if not isinstance(number, Polynomial):
            return number
        value = value_at(number, moment)[0] if isinstance(moment, Root) else number(moment)
        return _bounded(value)

    def _solve(self, index: int) -> Number | None:
        value = self._numbers[index] if index < len(self._numbers) else None
        rates = self._rates.get(index)
        if rates is None:
            return None if value is None else self._constant(value)
        if value is None:
            raise UndefinedValueError(f"{self._name(index)} has no value")
        if index in self._open:
            raise ContinuousChangeError(self._cycle(self._open[self._open.index(index) :]))
        self._open.append(index)
        rate = self._rate(index, cast("Values", self))
        self._open.pop()
        if rate.degree >= _MOST_DEGREE:
            raise ContinuousChangeError(
                f"{self._name(index)} changes by a polynomial of a degree above {_MOST_DEGREE}"
            )
        growth = rate.integral(0)
        constant = self._constant(value - growth if growth.degree >= 0 else value)
        result = growth + constant
        # What does not change after all is a number like any other.
        return result if result.degree > 0 else exact(Fraction(result.constant))

    def _rate(self, index: int, values: Values) -> Polynomial:
        rate = Polynomial(())
        for part in self._rates[index]:
            rate = rate + evaluate(part.amount, values) * part.sign
        return rate

    def _constant(self, number: Number) -> Rational:
        """Return the value of a number at the moment from which on it is to be constant."""
        if not isinstance(number, Polynomial):
            return number
        if isinstance(self.moment, Root):
            value, is_exact = value_at(number, self.moment)
            self.is_exact &= is_exact
        else:
            value = number(self.moment)
        return _bounded(value)

    def _cycle(self, indexes: list[int]) -> str:
        """Say what would be needed for numbers whose rates depend on each other."""
        names = " and ".join(str(self._name(i)) for i in indexes)
        which = "its own value" if len(indexes) == 1 else "each other"
        rate = f"the rate of {names}" if len(indexes) == 1 else f"the rates of {names}"
        depends = "depends" if len(indexes) == 1 else "depend"
        # Along a line through the space of the numbers, linear rates are linear.
        along: list[Number | None] = list(self._numbers)
        along += [None] * (self._length - len(along))
        for place, index in enumerate(indexes):
            along[index] = Polynomial((place + 1, 2 * place + 1))
        try:
            degree = max(self._rate(i, cast("Values", tuple(along))).degree for i in indexes)
        except (ContinuousChangeError, UndefinedValueError):
            degree = 2
        needed = "exponential functions" if degree <= 1 else "numerical integration with bounds"
        return f"{rate} {depends} on {which}: {needed} would be needed"


def _bounded(value: Rational) -> Rational:
    if isinstance(value, Fraction):
        size = max(value.numerator.bit_length(), value.denominator.bit_length())
        if size > _MOST_BITS:
            raise NumberTooLargeError(f"a number that changes has more than {_MOST_BITS} bits")
        return exact(value)
    return value


# Conditions ---------------------------------------------------------------------------------


class MovingState:
    """The truth of conditions while numbers change and nothing else does.

    Args:
        numbers: a motion, or the numbers at one moment.
        bits: the atoms that are true.
        is_exact: whether no number was rounded.
    """

    def __init__(self, numbers: Motion | Numbers, bits: int, is_exact: bool = True) -> None:
        self._values = cast("Values", numbers)
        self.bits = bits
        self.is_exact = is_exact
        # By the test itself: that of a condition is made once and kept with it.
        self._differences: dict[NumericTest, Number | None] = {}

    def holds(self, condition: Conjunction, moment: Moment, *, after: bool = False) -> bool:
        """Say whether a condition holds at a moment, or just after it."""
        return finish(self._holds(condition, moment, after))

    def _holds(self, condition: Conjunction, moment: Moment, after: bool) -> Steps[bool]:
        bits = self.bits
        if bits & condition.positive != condition.positive or bits & condition.negative:
            return False
        for clause in condition.clauses:
            if bits & clause.positive or clause.negative & ~bits:
                continue
            for part in clause.parts:
                if (yield self._holds(part, moment, after)):
                    break
            else:
                return False
        return all(self._true(test, moment, after) for test in condition.tests)

    def turns(self, conditions: Iterable[Conjunction], start: Moment, end: Moment) -> list[Root]:
        """Return the moments in (start, end] at which the truth of conditions may change."""
        last = end.high if isinstance(end, Root) else end
        found: dict[Polynomial, list[Root]] = {}
        for condition in conditions:
            if self.bits & condition.positive != condition.positive:
                continue
            if self.bits & condition.negative:
                continue
            for part in condition.parts():
                for test in part.tests:
                    for polynomial in self._bounds(test):
                        if polynomial not in found:
                            found[polynomial] = roots(polynomial, last)
        first, final = _as_root(start), _as_root(end)
        return in_order(
            root
            for some in found.values()
            for root in some
            if compare_roots(first, root) < 0 and compare_roots(root, final) <= 0
        )

    def doubt(self, condition: Conjunction, moment: Moment) -> None:
        """Refuse a condition if any comparison in it is decided by what was rounded.

        Raises:
            ContinuousChangeError: there is one.
        """
        for part in condition.parts():
            for test in part.tests:
                self._true(test, moment, False)

    def rests(self, condition: Conjunction) -> bool:
        """Say whether a condition is at a boundary and stays there."""
        for part in condition.parts():
            for test in part.tests:
                difference = self._difference(test)
                if difference is not None and difference == 0:
                    return True
        return False

    def _bounds(self, test: NumericTest) -> list[Polynomial]:
        difference = self._difference(test)
        if not isinstance(difference, Polynomial) or difference.degree < 1:
            return []
        if not test.tolerance:
            return [difference]
        return [difference - test.tolerance, difference + test.tolerance]

    def _difference(self, test: NumericTest) -> Number | None:
        if test not in self._differences:
            try:
                left, right = evaluate(test.left, self._values), evaluate(test.right, self._values)
                self._differences[test] = left - right
            except UndefinedValueError:
                self._differences[test] = None
        return self._differences[test]

    def _true(self, test: NumericTest, moment: Moment, after: bool) -> bool:
        difference = self._difference(test)
        if difference is None:
            return False
        forgiven = test.tolerance
        match test.symbol:
            case "=" if forgiven:
                result = (
                    self._sign(difference - forgiven, moment, after) < 0
                    and self._sign(difference + forgiven, moment, after) > 0
                )
            case "=":
                result = self._sign(difference, moment, after) == 0
            case "<":
                result = self._sign(difference - forgiven, moment, after) < 0
            case "<=":
                result = self._sign(difference - forgiven, moment, after) <= 0
            case ">":
                result = self._sign(difference + forgiven, moment, after) > 0
            case _:
                result = self._sign(difference + forgiven, moment, after) >= 0
        return result == test.positive

    def _sign(self, number: Number, moment: Moment, after: bool) -> int:
        if not isinstance(number, Polynomial):
            self._trust(number)
            return (number > 0) - (number < 0)
        sign = sign_at(number, moment)
        if sign and not self.is_exact:
            time = moment.approximation() if isinstance(moment, Root) else moment
            self._trust(number(time))
        while after and not sign and number.degree > 0:
            # Just after a root the sign is that of the first derivative that is not 0 there.
            number = number.derivative()
            sign = sign_at(number, moment)
        return sign

    def _trust(self, difference: Rational) -> None:
        if not self.is_exact and 0 < abs(Fraction(difference)) < _DOUBTFUL:
            raise ContinuousChangeError(
                "a comparison is decided by less than 1e-30 after an event at an irrational time: "
                "arithmetic of algebraic numbers would be needed"
            )


def compare(one: Moment, two: Moment) -> int:
    """Return -1, 0 or 1 as one moment is before, at or after another."""
    return compare_roots(_as_root(one), _as_root(two))


def _as_root(moment: Moment) -> Root:
    return moment if isinstance(moment, Root) else Root(Polynomial(()), moment, moment)

"""The motion of numbers between two happenings, and the truth of conditions along it.

Rates may depend on numbers that change. If no number depends on itself (a triangular system), each
number is the integral of a rate that is already known, and usually a polynomial in time.
`integration` solves all other rates; it is imported only when a task needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, TypeAlias, cast

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import ContinuousChangeError, HvrError, NumberTooLargeError, UndefinedValueError
from hvr.pddl.state import Compiled, Conjunction, NumericTest, Rational, Values, evaluate, exact
from hvr.validation.continuous.polynomials import (
    Moment,
    Polynomial,
    Root,
    as_root,
    compare,
    compare_roots,
    in_order,
    roots,
    sign_at,
)
from hvr.validation.report import decimal_text
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity
    from hvr.validation.continuous.integration import Flow


Numbers: TypeAlias = "Sequence[Quantity | None]"
"""The numbers at a moment: rational numbers, or functions to be evaluated at the moment."""

_MOST_BITS = 13_000
_MOST_DEGREE = 40
_MOST_DERIVATIVES = 12


class Rate:
    """The summand `sign * amount` in the rate of change of the numeric fluent with this index."""

    __slots__ = ("amount", "index", "sign")

    def __init__(self, index: int, sign: int, amount: Compiled) -> None:
        self.index = index
        self.sign = sign
        self.amount = amount


class _CoupledError(Exception):
    """The rates depend on each other, or are not polynomials."""


class Motion:
    """The numeric fluents as functions of time under given rates.

    A motion is indexed like `Values`. An item is a number, a function of time or, if
    undefined, None.
    """

    def __init__(
        self, numbers: Numbers, moment: Moment, rates: Iterable[Rate], name: Callable[[int], object]
    ) -> None:
        self.moment = moment
        self.name = name
        self._numbers = numbers
        self._rates: dict[int, list[Rate]] = {}
        for rate in rates:
            self._rates.setdefault(rate.index, []).append(rate)
        self._length = max([len(numbers), *(index + 1 for index in self._rates)])
        self._known: dict[int, Quantity | None] = {}
        self._open: list[int] = []
        self._flow: Flow | None = None
        if self._rates:
            # Solve eagerly, so that rates without a solution are refused here.
            try:
                self.numbers()
            except _CoupledError:
                self._open = []
                self._known |= self._solve_together()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Quantity | None:
        if index not in self._known:
            self._known[index] = self._solve(index)
        return self._known[index]

    def at(self, moment: Moment) -> Values:
        return values_at(self.numbers(), moment)

    def numbers(self) -> list[Quantity | None]:
        return [self[index] for index in range(len(self))]

    def follow(self, moment: Moment) -> None:
        """Integrate up to a moment, or raise a ContinuousChangeError."""
        if self._flow is not None:
            self._flow.follow(moment)

    def _solve(self, index: int) -> Quantity | None:
        value = self._numbers[index] if index < len(self._numbers) else None
        rates = self._rates.get(index)
        if rates is None:
            return None if value is None else self._constant(value)
        if value is None:
            raise UndefinedValueError(f"{self.name(index)} has no value")
        if index in self._open:
            raise _CoupledError
        self._open.append(index)
        rate = self._rate(index, cast("Values", self))
        self._open.pop()
        if isinstance(rate, int | Fraction):
            rate = Polynomial((rate,))
        if not isinstance(rate, Polynomial):
            # `systems` finds the closed form of such rates, if there is one.
            raise _CoupledError
        if rate.degree >= _MOST_DEGREE:
            raise ContinuousChangeError(
                f"{self.name(index)} changes by a polynomial of a degree above {_MOST_DEGREE}"
            )
        growth = rate.integral(0)
        # Subtract the growth as a sum of terms: at the start it cancels and leaves the value.
        result = growth + self._constant(value) - _value_at(growth, self.moment)
        if isinstance(result, Polynomial) and result.degree <= 0:
            # The rate is 0, so the result is a plain number.
            return exact(Fraction(result.constant))
        return result

    def _solve_together(self) -> dict[int, Quantity | None]:
        from hvr.validation.continuous.functions import TimeFunction
        from hvr.validation.continuous.integration import solve
        from hvr.validation.continuous.symbols import StateVariable

        variables = {index: StateVariable(index, str(self.name(index))) for index in self._rates}
        values: list[Quantity | None] = []
        for index in range(len(self)):
            if index in variables:
                values.append(TimeFunction.of(variables[index]))
            else:
                value = self._numbers[index]
                values.append(None if value is None else self._constant(value))
        rates = [self._rate(index, cast("Values", tuple(values))) for index in variables]
        initial: list[Quantity] = []
        for index in variables:
            value = self._numbers[index] if index < len(self._numbers) else None
            if value is None:
                raise UndefinedValueError(f"{self.name(index)} has no value")
            initial.append(self._constant(value))
        solved = solve(list(variables.values()), rates, initial, self.moment)
        self._flow = next((v.flow for v in variables.values() if v.flow is not None), None)
        return {variable.index: number for variable, number in solved.items()}

    def _rate(self, index: int, values: Values) -> Quantity:
        rate: Quantity = Polynomial(())
        for part in self._rates[index]:
            rate = rate + evaluate(part.amount, values) * part.sign
        return rate

    def _constant(self, number: Quantity) -> Quantity:
        value = _value_at(number, self.moment)
        if isinstance(value, int | Fraction):
            return value
        from hvr.validation.continuous.functions import condense

        return condense(value)


def values_at(numbers: Numbers, moment: Moment) -> Values:
    """Evaluate numbers at a moment, as rational numbers or constant functions."""
    found = [None if number is None else _value_at(number, moment) for number in numbers]
    return cast("Values", tuple(found))


def _value_at(number: Quantity, moment: Moment) -> Quantity:
    if isinstance(number, int):
        return number
    if isinstance(number, Fraction):
        return _bounded(number)
    if isinstance(number, Polynomial):
        if not isinstance(moment, Root):
            return _bounded(number(moment))
        if moment.rational:
            return _bounded(number(moment.low))
    from hvr.validation.continuous.functions import value_at

    return value_at(number, moment)


def _bounded(value: Rational) -> Rational:
    if isinstance(value, Fraction):
        size = max(value.numerator.bit_length(), value.denominator.bit_length())
        if size > _MOST_BITS:
            raise NumberTooLargeError(f"a changing number has more than {_MOST_BITS} bits")
        return exact(value)
    return value


def exact_time(origin: Fraction, moment: Moment) -> Quantity:
    """Return `origin` plus a moment, exactly; a constant function represents an irrational time."""
    if not isinstance(moment, Root):
        return origin + moment
    if moment.rational:
        return origin + moment.low
    from hvr.validation.continuous.functions import TimeFunction
    from hvr.validation.continuous.symbols import Instant

    return TimeFunction.of(Instant(moment)) + origin


# Conditions ---------------------------------------------------------------------------------


class MovingState:
    """The truth of conditions while the atoms stay the same and the numbers change.

    Args:
        name: A function that returns the name of a fluent from its index, for error messages.
        origin: The time of moment 0, for error messages.
    """

    def __init__(
        self, numbers: Motion | Numbers, bits: int, name: Callable[[int], object], origin: Fraction
    ) -> None:
        self._values = cast("Values", numbers)
        self.bits = bits
        self._name = name
        self._origin = origin
        # A condition keeps its tests, so the tests themselves can be the keys.
        self._differences: dict[NumericTest, Quantity | None] = {}
        self._zeros: dict[tuple[Quantity, Moment, Rational], list[Root]] = {}

    def holds(self, condition: Conjunction, moment: Moment, *, after: bool = False) -> bool:
        """Return whether a condition holds at a moment, or immediately `after` it."""
        bits = self.bits
        if bits & condition.positive != condition.positive or bits & condition.negative:
            return False
        if not condition.clauses:
            # Fast path: most conditions are conjunctions.
            return all(self._true(test, moment, after) for test in condition.tests)
        return run_trampoline(self._holds(condition, moment, after))

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

    def turns(
        self, conditions: Iterable[Conjunction], start: Moment, end: Moment
    ) -> Iterator[Root]:
        """Yield the moments in (start, end] at which the truth of conditions may change."""
        bounds: dict[Quantity, NumericTest] = {}
        for condition in conditions:
            for part in self._reachable(condition):
                for test in part.tests:
                    for bound in self._bounds(test):
                        bounds.setdefault(bound, test)
        if not bounds:
            return
        last = end.high if isinstance(end, Root) else end
        sources = [self._zeros_of(bound, test, start, last) for bound, test in bounds.items()]
        first, final = as_root(start), as_root(end)
        for root in in_order(sources):
            if compare_roots(first, root) < 0:
                if compare_roots(root, final) > 0:
                    return
                yield root

    def _reachable(self, condition: Conjunction) -> Iterator[Conjunction]:
        """Yield the parts of a condition whose atoms hold, so that only numeric tests can fail."""
        bits = self.bits
        if bits & condition.positive != condition.positive or bits & condition.negative:
            return
        if not condition.clauses:
            yield condition
            return
        for part in condition.parts():
            if bits & part.positive == part.positive and not bits & part.negative:
                yield part

    def _zeros_of(
        self, bound: Quantity, test: NumericTest, start: Moment, last: Rational
    ) -> Iterable[Root | Rational]:
        if isinstance(bound, Polynomial):
            key = bound, 0, last
            if key not in self._zeros:
                self._zeros[key] = roots(bound, last)
            return self._zeros[key]
        return self._crossings(bound, test, start, last)

    def _crossings(
        self, bound: Quantity, test: NumericTest, start: Moment, last: Rational
    ) -> Iterator[Root | Rational]:
        from hvr.validation.continuous.crossings import zeros
        from hvr.validation.continuous.symbols import UndecidedError

        try:
            yield from zeros(bound, start, last)
        except (UndecidedError, UndefinedValueError) as error:
            raise self._undecided(test, error, None) from None

    def rests(self, condition: Conjunction) -> bool:
        """Return whether a condition has a comparison whose sides stay equal."""
        for part in condition.parts():
            for test in part.tests:
                difference = self._difference(test)
                if isinstance(difference, int | Fraction) and difference == 0:
                    return True
        return False

    def decide(self, test: NumericTest) -> None:
        """Raise a ContinuousChangeError that names a comparison if it is undecided at moment 0."""
        self._true(test, 0, False)

    def _bounds(self, test: NumericTest) -> list[Quantity]:
        difference = self._difference(test)
        if difference is None or not changes(difference):
            return []
        if not test.tolerance:
            return [difference]
        return [difference - test.tolerance, difference + test.tolerance]

    def _difference(self, test: NumericTest) -> Quantity | None:
        if test not in self._differences:
            try:
                left, right = evaluate(test.left, self._values), evaluate(test.right, self._values)
                self._differences[test] = left - right
            except UndefinedValueError:
                self._differences[test] = None
        return self._differences[test]

    def _true(self, test: NumericTest, moment: Moment, after: bool) -> bool:
        try:
            return self._compared(test, moment, after)
        except UndefinedValueError:
            # A divisor is 0 at this moment, so neither the comparison nor its negation holds.
            return False

    def _compared(self, test: NumericTest, moment: Moment, after: bool) -> bool:
        difference = self._difference(test)
        if difference is None:
            return False
        forgiven = test.tolerance
        match test.symbol:
            case "=" if forgiven:
                result = (
                    self._sign(test, difference - forgiven, moment, after) < 0
                    and self._sign(test, difference + forgiven, moment, after) > 0
                )
            case "=":
                result = self._sign(test, difference, moment, after) == 0
            case "<":
                result = self._sign(test, difference - forgiven, moment, after) < 0
            case "<=":
                result = self._sign(test, difference - forgiven, moment, after) <= 0
            case ">":
                result = self._sign(test, difference + forgiven, moment, after) > 0
            case _:
                result = self._sign(test, difference + forgiven, moment, after) >= 0
        return result == test.positive

    def _sign(self, test: NumericTest, number: Quantity, moment: Moment, after: bool) -> int:
        if isinstance(number, int | Fraction):
            return (number > 0) - (number < 0)
        try:
            sign = _sign_at(number, moment)
            tried = 0
            while after and not sign and changes(number):
                # By Taylor, the first derivative that is not 0 decides the sign just after a root.
                number = cast("Polynomial", number).derivative()
                sign = _sign_at(number, moment)
                tried += 1
                if tried > _MOST_DERIVATIVES and not isinstance(number, Polynomial):
                    raise ContinuousChangeError(
                        f"the first {tried} derivatives of the difference of its sides are 0"
                    )
        except ContinuousChangeError as error:
            raise self._undecided(test, error, moment) from None
        return sign

    def _undecided(
        self, test: NumericTest, error: HvrError, moment: Moment | None
    ) -> ContinuousChangeError:
        from hvr.validation.continuous.symbols import UndecidedError

        text = comparison_text(test, self._name, len(self._values))
        if moment is None:
            when = f"after {decimal_text(self._origin)}"
        else:
            time = self._origin + (moment.approximation() if isinstance(moment, Root) else moment)
            when = f"at {decimal_text(Fraction(time))}"
        if not isinstance(error, UndecidedError):
            return ContinuousChangeError(f"cannot decide whether {text} holds {when}: {error}")
        return ContinuousChangeError(
            f"cannot decide whether {text} holds {when}: the difference of its sides is between "
            f"{decimal_text(error.low)} and {decimal_text(error.high)}"
        )


def changes(number: Quantity) -> bool:
    if isinstance(number, int | Fraction):
        return False
    return number.degree > 0 if isinstance(number, Polynomial) else not number.constant


def _sign_at(number: Quantity, moment: Moment) -> int:
    if isinstance(number, int | Fraction):
        return (number > 0) - (number < 0)
    if isinstance(number, Polynomial) and (not isinstance(moment, Root) or moment.algebraic):
        return sign_at(number, moment)
    from hvr.validation.continuous.functions import sign, value_at

    return sign(value_at(number, moment))


def comparison_text(test: NumericTest, name: Callable[[int], object], count: int) -> str:
    from hvr.validation.continuous.functions import TimeFunction, terms_of
    from hvr.validation.continuous.symbols import StateVariable, sum_text

    values = tuple(
        TimeFunction.of(StateVariable(index, str(name(index)))) for index in range(count)
    )
    sides = []
    for side in (test.left, test.right):
        try:
            number = cast("Quantity", evaluate(side, cast("Values", values)))
            sides.append(sum_text(terms_of(number)))
        except (ContinuousChangeError, UndefinedValueError):
            sides.append("?")
    text = f"{sides[0]} {test.symbol} {sides[1]}"
    return text if test.positive else f"not {text}"


# Segment ------------------------------------------------------------------------------------------
# The conditions that hold between two happenings, while numbers change.

_PLACES = 15

_SOON = Fraction(1, 10**6)
"""Width to which an irrational time is enclosed before a sample is taken after it."""


class SegmentSample(Value):
    """The numbers at one time in an interval during which the truth of no condition changes.

    Attributes:
        since: The exact beginning of the interval. An irrational beginning is a constant function,
            which can be compared exactly.
        after: The beginning of the interval, rounded if it is irrational.
        time: The time of the numbers: the beginning, or shortly after it if the interval excludes
            its beginning.
    """

    since: Quantity
    after: Fraction
    time: Fraction
    values: Values


class Segment:
    """The open interval between two moments."""

    def __init__(
        self, motion: Motion, state: MovingState, origin: Fraction, start: Moment, end: Moment
    ) -> None:
        self._motion = motion
        self._state = state
        self._origin = origin
        self._start = start
        self._end = end

    def broken(self, condition: Conjunction) -> SegmentSample | None:
        """Return a sample where a condition is first false, or None if it holds throughout."""
        state = self._state
        if condition.is_empty:
            return None
        turns = self._turns([condition])
        if not state.holds(condition, self._start, after=True):
            return self._sample(self._start, turns[0] if turns else self._end)
        for turn, following in zip(turns, (*turns[1:], self._end), strict=False):
            if not state.holds(condition, turn):
                return self._sample_at(turn)
            if not state.holds(condition, turn, after=True):
                return self._sample(turn, following)
        return None

    def states(self, conditions: Iterable[Conjunction]) -> Iterator[SegmentSample]:
        """Yield samples that together show every change in the truth of the conditions."""
        last = self._start
        for turn in self._turns(conditions):
            # No condition changes between two turns, so one sample stands for the interval.
            yield self._sample(last, turn)
            yield self._sample_at(turn)
            last = turn
        yield self._sample(last, self._end)

    def time(self, moment: Moment) -> Fraction:
        return self._origin + approximate(moment)

    def _turns(self, conditions: Iterable[Conjunction]) -> list[Root]:
        turns = self._state.turns(conditions, self._start, self._end)
        return [turn for turn in turns if compare(turn, self._end) < 0]

    def _sample_at(self, moment: Moment) -> SegmentSample:
        time = self.time(moment)
        return SegmentSample(exact_time(self._origin, moment), time, time, self._motion.at(moment))

    def _sample(self, start: Moment, end: Moment) -> SegmentSample:
        one, two = as_root(start), as_root(end)
        while one.high >= two.low or one.high - one.low > _SOON:
            # `compare` refuses moments that it cannot tell apart, so this loop ends.
            compare(start, end)
            for root in (one, two):
                if not root.rational:
                    root.refine()
        moment = (
            short_decimal_between(self._origin + one.high, self._origin + two.low) - self._origin
        )
        return SegmentSample(
            exact_time(self._origin, start),
            self.time(start),
            self._origin + moment,
            self._motion.at(exact(moment)),
        )


def short_decimal_between(low: Fraction, high: Fraction) -> Fraction:
    """Return a number with few decimals strictly between two numbers, close to the lower one."""
    scale = 1000
    while True:
        number = Fraction(floor(low * scale) + 1, scale)
        if number < high:
            return number
        scale *= 10


def approximate(moment: Moment) -> Rational:
    """Return a moment as a rational number, rounded for display if it is irrational."""
    if not isinstance(moment, Root):
        return moment
    return moment.low if moment.rational else round(Fraction(moment.approximation()), _PLACES)

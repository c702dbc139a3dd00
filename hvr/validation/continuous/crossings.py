"""Find the zeros of non-polynomial functions in order, with proof that none is missed.

The search rests on two exclusion tests. If the enclosure of a function over an interval excludes 0,
the interval has no zero. If the slope excludes 0, it has at most one zero, which a change of sign
proves.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hvr.pddl.state import Rational
from hvr.validation.continuous.functions import (
    Quantity,
    Tape,
    TimeFunction,
    exponential_of,
    sign,
    terms_of,
    value_at,
    variables_of,
)
from hvr.validation.continuous.polynomials import Moment, Polynomial, Root, roots
from hvr.validation.continuous.symbols import (
    PRECISIONS,
    TIME,
    DivisorError,
    Interval,
    LostError,
    Term,
    UndecidedError,
    enclose_moment,
    enclosed,
    sign_of,
    times,
)

_LEAST_WIDTH = 60
"""Give up on intervals shorter than this power of one half."""

_MOST_DERIVATIVES = 12


class Enclosure:
    """A function of time that can be enclosed over intervals of time.

    `original` has the same zeros as `function`; `Crossing.reduce` subtracts multiples of it.
    """

    def __init__(self, function: Quantity, original: Quantity | None = None) -> None:
        self.function = function
        self.original = function if original is None else original
        self._variables = variables_of([function])
        flow = self._variables[0].flow if self._variables else None
        self.flow = flow
        if flow is None:
            self._tape = Tape([function])
        else:
            self._tape = Tape([function], flow.variables, flow.rates)
        self._derivatives: list[Enclosure | None] = []

    def ranges(self, at: Interval, bits: int) -> tuple[Interval, Interval]:
        """Return enclosures of the values and of the slopes over an interval of time.

        Raises:
            LostError, DivisorError: The function cannot be enclosed over the interval.
        """
        boxes = [] if self.flow is None else self.flow.enclose(at, bits)
        ((value, slope),) = self._tape.coefficients(at, boxes, 1, bits)
        return value, slope

    def over(self, low: Rational, high: Rational, bits: int) -> tuple[Interval, Interval]:
        """Return `ranges` over [low, high], with the values narrowed by the mean value theorem."""
        at = enclosed(low, bits)[0], enclosed(high, bits)[1]
        value, slope = self.ranges(at, bits)
        middle = (at[0] + at[1]) // 2
        half = middle - at[0], at[1] - middle
        centre, _ = self.ranges((middle, middle), bits)
        change = times(slope, (-half[0], half[1]), bits)
        return ((max(value[0], centre[0] + change[0]), min(value[1], centre[1] + change[1])), slope)

    def derivative(self) -> Enclosure | None:
        if not self._derivatives:
            slope = (
                self.function.derivative() if not isinstance(self.function, int | Fraction) else 0
            )
            changes = isinstance(slope, Polynomial) or (
                isinstance(slope, TimeFunction) and not slope.constant
            )
            self._derivatives.append(Enclosure(slope) if changes else None)
        return self._derivatives[0]


class Crossing(Root):
    """A time at which a function passes 0 strictly upwards or downwards.

    Attributes:
        low, high: The ends of an interval that contains no other zero of the function.
        course: The function.
        rising: Whether the function passes 0 upwards.
    """

    __slots__ = ("_finest", "_places", "course", "depth", "rising")

    algebraic = False

    def __init__(self, course: Enclosure, low: Rational, high: Rational, rising: bool) -> None:
        super().__init__(Polynomial(()), low, high)
        self.course = course
        self.rising = rising
        self._finest = False
        self._places = 0
        function = course.function
        self.depth: int = 1 + (function.depth if isinstance(function, TimeFunction) else 0)

    @property
    def rational(self) -> bool:
        return False

    def refine(self) -> None:
        """Shrink the interval to at most half its length, or raise an UndecidedError."""
        width = Fraction(self.high) - self.low
        places = width.denominator.bit_length() - width.numerator.bit_length()
        bits = max(64, 2 * places + 32)
        while not self._finest and bits <= 4 * PRECISIONS[-1]:
            if self._narrow(bits) and self.high - self.low <= width / 2:
                return
            bits *= 2
        # The function depends on a constant that is not known more precisely.
        self._finest = True
        raise UndecidedError(Fraction(0), Fraction(0))

    def enclosure(self, bits: int) -> tuple[Rational, Rational]:
        """Return the ends of the interval, narrowed as far as a precision of `bits` allows."""
        if bits > self._places:
            # Newton's method converges quadratically until rounding dominates; then stop.
            width = Fraction(self.high - self.low)
            while self._narrow(bits) and self.high - self.low <= width / 2:
                width = Fraction(self.high - self.low)
            self._places = bits
        return self.low, self.high

    def _narrow(self, bits: int) -> bool:
        try:
            middle = _between(self.low, self.high, bits)
            at = enclosed(middle, bits)
            value, _ = self.course.ranges(at, bits)
            over = enclosed(self.low, bits)[0], enclosed(self.high, bits)[1]
            _, slope = self.course.ranges(over, bits)
        except (LostError, DivisorError):
            return False
        before = self.low, self.high
        found = sign_of(value)
        if found:
            if (found > 0) == self.rising:
                self.high = middle
            else:
                self.low = middle
        if sign_of(slope):
            # By the mean value theorem, the zero is at `middle - value / slope` for one of the
            # slopes over the interval: intersect with the enclosure of all these points.
            quotients = [Fraction(-v, s) for v in value for s in slope]
            low, high = at[0], at[1]
            self.low = max(self.low, Fraction(low, 1 << bits) + min(quotients))
            self.high = min(self.high, Fraction(high, 1 << bits) + max(quotients))
            self.low = Fraction(enclosed(self.low, bits)[0], 1 << bits)
            self.high = Fraction(enclosed(self.high, bits)[1], 1 << bits)
            self.low, self.high = max(self.low, before[0]), min(self.high, before[1])
        return (self.low, self.high) != before

    def same(self, other: Root) -> bool:
        """Return whether a root whose interval overlaps this one is proven to be this crossing."""
        if not isinstance(other, Crossing):
            return False
        # The function is monotonic on both overlapping intervals, so their union has one zero.
        alike = terms_of(self.course.function) == terms_of(other.course.function)
        return alike and self.rising == other.rising

    def reduce(self, number: TimeFunction | Polynomial) -> Quantity:
        """Simplify a number by subtracting a multiple of the function, which is 0 at this time.

        The number is returned unchanged if that would add terms.
        """
        zero = terms_of(self.course.original)
        term = next((t for t in zero if _changes(t)), None)
        share = None if term is None else terms_of(number).get(term)
        if term is None or share is None:
            return number
        factor = Fraction(share) / zero[term]
        rest = number - self.course.original * factor
        # Subtracting a multiple of the function pays only if it cancels terms.
        if isinstance(rest, TimeFunction | Polynomial) and len(terms_of(rest)) > len(
            terms_of(number)
        ):
            return number
        return rest


def _changes(term: Term) -> bool:
    powers, exponent = term
    return any(not symbol.constant for symbol, _ in powers) or any(
        symbol is TIME for symbol, _ in exponent
    )


def _between(low: Rational, high: Rational, bits: int) -> Fraction:
    middle = Fraction(low + high) / 2
    short = Fraction(round(middle * (1 << bits)), 1 << bits)
    return short if low < short < high else middle


# Search -------------------------------------------------------------------------------------


def zeros(number: Quantity, start: Moment, end: Rational) -> Iterator[Root | Rational]:
    """Yield the zeros of a number after `start`, up to `end`, in order.

    The zeros are of type `Root`. A rational number is a time up to which the search has progressed.
    For a polynomial, `start` is ignored: its zeros begin after 0.

    Raises:
        UndecidedError: The number cannot be distinguished from 0. All earlier zeros are yielded
            first.
        ContinuousChangeError: The number cannot be enclosed up to `end`.
    """
    if not isinstance(number, TimeFunction | Polynomial):
        return
    damped = _dampened(number) if isinstance(number, TimeFunction) else number
    if isinstance(damped, Polynomial):
        yield from roots(damped, end)
    elif isinstance(damped, TimeFunction) and not damped.constant:
        yield from _Search(Enclosure(damped, number), start, end).zeros(start)


def _dampened(function: TimeFunction) -> Quantity:
    """Divide a function by its fastest-growing power of e, so that its enclosures stay moderate."""
    rates = [dict(exponent).get(TIME, 0) for _, exponent in function.terms]
    offsets = [dict(exponent).get(None, 0) for _, exponent in function.terms]
    if not max(rates) and not min(rates):
        return function
    damped = function * exponential_of(-max(rates))
    if isinstance(damped, TimeFunction) and len(set(offsets)) == 1 and offsets[0]:
        damped = damped * TimeFunction({(frozenset(), frozenset([(None, -offsets[0])])): 1})
    return damped


class _Search:
    """Finds the zeros of a function by bisection.

    An interval needs no further search if its values exclude 0, or if its slopes exclude 0 and the
    signs at its ends are known. Any other interval is halved.
    """

    def __init__(self, course: Enclosure, start: Moment, end: Rational) -> None:
        self._course = course
        self._end = end
        # Find a sufficient precision: wide enclosures of constants would blur every test.
        for self._bits in PRECISIONS:
            try:
                value, _ = course.ranges(enclose_moment(start, self._bits), self._bits)
            except (LostError, DivisorError):
                continue
            if value[1] - value[0] < 1 << self._bits - 40:
                break

    def zeros(self, start: Moment) -> Iterator[Root | Rational]:
        while True:
            low, before = self._leave(start)
            yield low
            found: Root | tuple[Rational, int] | None = None
            for high in self._stretches(low):
                for found in self._cells(low, high, before):
                    if isinstance(found, Root):
                        yield found
                    else:
                        low, before = found
                        yield low
                if isinstance(found, Root):
                    break
            if not isinstance(found, Root) or found.low >= self._end:
                return
            # The last zero is a rational time: start again from it.
            start = found.low

    def _leave(self, start: Moment) -> tuple[Rational, int]:
        """Return a time before which no zero follows the start, and the function's sign there."""
        # The function may be 0 at the start, so enclosures around it never exclude 0.
        course: Enclosure | None = self._course
        after: Rational = self._end
        for _ in range(_MOST_DERIVATIVES):
            assert course is not None
            found = value_at(course.function, start)
            if sign(found):
                break
            following = course.derivative()
            if following is None:
                # The first derivative that is not 0 is constant, so there is no other zero.
                slope = course.function
                assert isinstance(slope, TimeFunction | Polynomial)
                return after, sign(value_at(slope.derivative(), start))
            course = following
        else:
            raise UndecidedError(Fraction(0), Fraction(0))
        begin: Rational = start.high if isinstance(start, Root) else start
        width = Fraction(next(self._stretches(begin)) - begin)
        # All lower derivatives are 0 at the start. By Taylor, the function has the sign of this
        # derivative as long as the derivative keeps it.
        for halvings in range(_LEAST_WIDTH):
            bits = self._bits + -(-halvings // 32) * 32
            low, begin = start.enclosure(bits) if isinstance(start, Root) else (start, start)
            after = begin + width / (1 << halvings)
            if halvings:
                after = _between(begin, begin + 2 * (after - begin), bits)
            try:
                value, _ = course.over(low, after, bits)
            except (LostError, DivisorError):
                continue
            result = sign_of(value)
            if result:
                return after, result
        raise UndecidedError(Fraction(value[0], 1 << bits), Fraction(value[1], 1 << bits))

    def _stretches(self, low: Rational) -> Iterator[Rational]:
        flow = self._course.flow
        if flow is not None:
            for bits in PRECISIONS:
                try:
                    for time in flow.boundaries(self._end, bits):
                        if time > low:
                            yield time
                            low = time
                    break
                except LostError as error:
                    if error.final or bits == PRECISIONS[-1]:
                        raise
        yield self._end

    def _cells(
        self, low: Rational, high: Rational, before: int
    ) -> Iterator[Root | tuple[Rational, int]]:
        """Yield the zeros in an interval, then the time reached and the sign there.

        A zero at a rational time comes last, without a sign. `before` is the sign at `low`.
        """
        # A zero at a rational time ends the search: no sign follows it.
        waiting: list[tuple[Rational, int]] = [(high, 0)]
        while waiting:
            high, depth = waiting.pop()
            value, slope = self._over(low, high, self._places(depth))
            if value is not None and sign_of(value):
                low = high
                continue
            if slope is not None and sign_of(slope):
                after = self._sign(high)
                if after == 0:
                    yield Root(Polynomial(()), high, high)
                    return
                if after is not None:
                    if after != before:
                        yield Crossing(self._course, low, high, rising=after > 0)
                        before = after
                    low = high
                    continue
                if high < self._end and not waiting:
                    # The sign at this end is undecided; leave it to the next interval.
                    break
                if high < self._end and depth < _LEAST_WIDTH:
                    waiting.append((_between(high, waiting[-1][0], 64 + depth), depth + 1))
                    continue
            if depth >= _LEAST_WIDTH:
                value = value or (0, 0)
                unit = 1 << self._places(depth)
                raise UndecidedError(Fraction(value[0], unit), Fraction(value[1], unit))
            waiting += (high, depth + 1), (_between(low, high, depth + 4), depth + 1)
        yield low, before

    def _places(self, depth: int) -> int:
        return self._bits + -(-depth // 32) * 32

    def _sign(self, time: Rational) -> int | None:
        try:
            return sign(value_at(self._course.function, time))
        except UndecidedError:
            if time >= self._end:
                raise
            return None

    def _over(
        self, low: Rational, high: Rational, bits: int
    ) -> tuple[Interval | None, Interval | None]:
        try:
            return self._course.over(low, high, bits)
        except (LostError, DivisorError):
            if bits > self._bits + _LEAST_WIDTH // 2:
                raise
            return None, None

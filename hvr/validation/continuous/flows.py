"""Verified integration of rates that have no solution in closed form.

Each step of this high-order enclosure (HOE) is a Taylor polynomial with a remainder. If the
remainder over a box keeps the solution inside the box, the box contains the unique solution
(Nedialkov, Jackson & Pryce, "An effective high-order interval method for validating existence and
uniqueness of the solution of an IVP for an ODE", 2001). Boxes widen from step to step (the wrapping
effect); more binary places compensate for that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction

from hvr.pddl.numeric import Rational
from hvr.validation.continuous.bounds import PRECISIONS
from hvr.validation.continuous.functions import Quantity, TimeFunction, partial
from hvr.validation.continuous.intervals import (
    DivisorError,
    Interval,
    LostError,
    enclosed,
    exponential,
    horner,
    hull,
    times,
)
from hvr.validation.continuous.moments import Moment
from hvr.validation.continuous.polynomials import Polynomial, Root
from hvr.validation.continuous.symbols import StateVariable, enclose_moment
from hvr.validation.continuous.taylor import Tape, variables_of

_MOST_STEPS = 20_000
_THIN = 16
_SHORTEST = 30
"""No step is shorter than this power of one half."""


class Flow:
    """An initial value problem.

    Args:
        variables: The numbers, which must not belong to another flow.
        initial: The value of each variable at the start.
        rates: The rate of each variable, a function of the variables and the time.
        start: The moment at which the flow starts.
    """

    def __init__(
        self,
        variables: Sequence[StateVariable],
        initial: Sequence[Quantity],
        rates: Sequence[Quantity],
        start: Moment,
    ) -> None:
        self.variables = tuple(variables)
        self.initial = tuple(initial)
        self.rates = tuple(rates)
        self.start = start
        for place, variable in enumerate(self.variables):
            variable.flow, variable.place = self, place
        depths = [f.depth for f in (*initial, *rates) if isinstance(f, TimeFunction)]
        self.depth = max([start.depth if isinstance(start, Root) else 0, *depths])
        self._tape = Tape((), self.variables, self.rates)
        # Variables whose rates depend on no other variable: `_Run._narrow` needs their slopes.
        alone = [
            (place, partial(rate, self.variables[place]))
            for place, rate in enumerate(self.rates)
            if variables_of([rate]) == [self.variables[place]]
        ]
        self._alone = [place for place, _ in alone]
        self._slopes = Tape([slope for _, slope in alone], self.variables, self.rates)
        self._runs: dict[int, _Run] = {}

    def enclose(self, at: Interval, bits: int) -> list[Interval]:
        """Return enclosures of the variables over an interval of time.

        Raises:
            LostError: The variables cannot be enclosed that far.
        """
        # Round up to a power of 2, because each precision needs a separate integration.
        work = 64
        while work < bits:
            work *= 2
        shift = work - bits
        boxes = self._run(work).enclose((at[0] << shift, at[1] << shift))
        return [(low >> shift, -(-high >> shift)) for low, high in boxes]

    def follow(self, moment: Moment) -> None:
        """Integrate up to a moment.

        Raises:
            LostError: The variables cannot be enclosed that far.
        """
        for bits in PRECISIONS:
            try:
                self.enclose(enclose_moment(moment, bits), bits)
                return
            except LostError as error:
                if error.final or bits == PRECISIONS[-1]:
                    raise

    def boundaries(self, end: Rational, bits: int) -> Iterator[Fraction]:
        """Yield the ends of the integration steps before `end`."""
        run = self._run(bits)
        offset = Fraction(run.origin[1], 1 << bits)
        place = 0
        while True:
            if place == len(run.ends):
                run.step()
            time = offset + Fraction(run.ends[place], 1 << bits)
            place += 1
            if time >= end:
                return
            yield time

    def names(self) -> str:
        """Return the names of the variables."""
        return ", ".join(variable.name for variable in self.variables)

    def _run(self, bits: int) -> _Run:
        if bits not in self._runs:
            self._runs[bits] = _Run(self, self._tape, self._slopes, self._alone, bits)
        return self._runs[bits]


class _Run:
    """The integration of a flow at one precision.

    Attributes:
        origin: An enclosure of the start.
        ends: The end of each step, counted from the start.
    """

    def __init__(
        self, flow: Flow, tape: Tape, slopes: Tape, alone: Sequence[int], bits: int
    ) -> None:
        self._flow = flow
        self._tape = tape
        self._slopes = slopes
        self._alone = alone
        self._bits = bits
        self._order = bits // 3 + 4
        self.origin = enclose_moment(flow.start, bits)
        self.ends: list[int] = []
        self._state = [_enclose(number, bits) for number in flow.initial]
        self._series: list[list[list[Interval]]] = []
        self._length = 1 << bits - 2
        self._lost: LostError | None = None

    def enclose(self, at: Interval) -> list[Interval]:
        low = max(at[0] - self.origin[1], 0)
        high = max(at[1] - self.origin[0], low)
        while not self.ends or self.ends[-1] < high:
            self.step()
        place = bisect_left(self.ends, low)
        result: list[Interval] | None = None
        while True:
            begin = self.ends[place - 1] if place else 0
            inside = max(low - begin, 0), min(high, self.ends[place]) - begin
            boxes = [horner(row, inside, self._bits) for row in self._series[place]]
            result = boxes if result is None else list(map(hull, result, boxes))
            if self.ends[place] >= high:
                return result
            place += 1

    def step(self) -> None:
        """Add one step."""
        if self._lost is not None:
            raise self._lost
        bits, order = self._bits, self._order
        begin = self.ends[-1] if self.ends else 0
        time = self.origin[0] + begin, self.origin[1] + begin
        try:
            rows = self._tape.variable_coefficients(time, self._state, order, bits)
            length = self._propose(rows)
            if len(self.ends) >= _MOST_STEPS:
                raise LostError("", final=True)
            while True:
                if length < 1 << bits - _SHORTEST:
                    raise LostError("", final=self._is_sharp())
                found = self._remainder(rows, time, length)
                if found is not None:
                    break
                length >>= 1
        except (LostError, DivisorError) as error:
            final = error.final if isinstance(error, LostError) else self._is_sharp()
            when = Fraction(begin + self.origin[0], 1 << bits)
            self._lost = LostError(
                f"{self._flow.names()} cannot be enclosed beyond {float(when):.6g} after the last "
                "happening: a number grows without bound, a divisor reaches 0, or the enclosure "
                "has become too wide",
                final,
            )
            raise self._lost from None
        rests, boxes = found
        series = [[*row[:order], rest] for row, rest in zip(rows, rests, strict=True)]
        state = [horner(row, (length, length), bits) for row in series]
        if any(self._state[place][1] - self._state[place][0] > _THIN for place in self._alone):
            self._narrow(state, rests, boxes, time, length)
        self._series.append(series)
        self.ends.append(begin + length)
        self._state = state
        self._length = length

    def _narrow(
        self,
        state: list[Interval],
        rests: Sequence[Interval],
        boxes: Sequence[Interval],
        time: Interval,
        length: int,
    ) -> None:
        """Narrow the variables whose rates depend on no other variable.

        By the mean value theorem, the distance of two solutions grows by e to the power of the
        integral of the slope of the rate between them. A negative slope therefore narrows the
        bounds around the solution from the centre, where plain Taylor steps would widen them.
        """
        bits, order = self._bits, self._order
        centres = [((a + b) // 2, (a + b) // 2) for a, b in self._state]
        rows = self._tape.variable_coefficients(time, centres, order, bits)
        over = time[0], time[1] + length
        slopes = self._slopes.coefficients(over, boxes, 0, bits)
        for place, (slope,) in zip(self._alone, slopes, strict=True):
            end = horner([*rows[place][:order], rests[place]], (length, length), bits)
            factor = exponential(times(slope, (length, length), bits), bits)
            low, high = self._state[place]
            centre = centres[place][0]
            spread = times(factor, (low - centre, high - centre), bits)
            state[place] = (
                max(state[place][0], end[0] + spread[0]),
                min(state[place][1], end[1] + spread[1]),
            )

    def _is_sharp(self) -> bool:
        """Return whether the enclosures are so narrow that more binary places would not help."""
        return all(high - low <= max(abs(low), abs(high)) >> 20 for low, high in self._state)

    def _propose(self, rows: list[list[Interval]]) -> int:
        """Return a step length for which the last Taylor terms are below the grid."""
        bits, order = self._bits, self._order
        longest = min(self._length * 4, 1 << bits + 6)
        for row in rows:
            for k in (order - 1, order):
                size = max(abs(row[k][0]), abs(row[k][1]))
                # Choose h so that size h^k is about one unit of 2^-bits.
                excess = size.bit_length()
                shift = -(-excess // k)
                longest = min(longest, 1 << max(bits - shift, 1))
        return longest

    def _remainder(
        self, rows: list[list[Interval]], time: Interval, length: int
    ) -> tuple[list[Interval], list[Interval]] | None:
        """Return the remainder coefficients and the boxes that enclose the variables over a step.

        None means that the step is too long for a proof.
        """
        bits, order = self._bits, self._order
        span = 0, length
        # The length is a power of 2, so multiplying by its powers is a shift.
        shift = order * (bits + 1 - length.bit_length())
        shapes = [horner(row[:order], span, bits) for row in rows]
        margins = []
        for row in rows:
            size = max(abs(row[order][0]), abs(row[order][1]))
            margins.append((4 * size >> shift) + 16)
        over = time[0], time[1] + length
        for _ in range(3):
            # A box is proven if the remainder computed over it stays within its margins;
            # otherwise wider margins may succeed.
            boxes = [(a - m, b + m) for (a, b), m in zip(shapes, margins, strict=True)]
            try:
                found = self._tape.variable_coefficients(over, boxes, order, bits)
            except DivisorError:
                return None
            rests = [row[order] for row in found]
            grown = [(min(a >> shift, 0), max(-(-b >> shift), 0)) for a, b in rests]
            if all(-m <= a and b <= m for (a, b), m in zip(grown, margins, strict=True)):
                return rests, boxes
            margins = [2 * max(-a, b, m) for (a, b), m in zip(grown, margins, strict=True)]
            if any(m > 1 << 2 * bits for m in margins):
                return None
        return None


def _enclose(number: Quantity, bits: int) -> Interval:
    assert not isinstance(number, Polynomial)
    return number.enclose(bits) if isinstance(number, TimeFunction) else enclosed(number, bits)

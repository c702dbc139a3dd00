"""Solve systems of rates in closed form or by verified integration."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import factorial

from hvr.pddl.state import Rational, exact
from hvr.validation.continuous.functions import (
    Quantity,
    Tape,
    TimeFunction,
    condense,
    exponential_of,
    inverse_of,
    partial,
    simple,
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
    Inverse,
    LostError,
    StateVariable,
    Symbol,
    enclose_moment,
    enclosed,
    exponential,
    horner,
    hull,
    times,
)

# Flows --------------------------------------------------------------------------------------------
# Verified integration of rates that have no solution in closed form.
#
# Each step of this high-order enclosure (HOE) is a Taylor polynomial with a remainder. If the
# remainder over a box keeps the solution inside the box, the box contains the unique solution
# (Nedialkov, Jackson & Pryce, "An effective high-order interval method for validating existence and
# uniqueness of the solution of an IVP for an ODE", 2001). Boxes widen from step to step (the
# wrapping effect); more binary places compensate for that.

_MOST_STEPS = 20_000
_THIN = 16
_SHORTEST = 30
"""No step is shorter than this power of one half."""


class Flow:
    """An initial value problem: variables with their rates, and their values at the start.

    Args:
        variables: The variables, which must not belong to another flow.
        rates: The rate of each variable, as a function of the variables and of time.
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
        """Return an enclosure of each variable over an interval of time, or raise a LostError."""
        # Round up to a power of 2, because each precision needs a separate integration.
        work = 64
        while work < bits:
            work *= 2
        shift = work - bits
        boxes = self._run(work).enclose((at[0] << shift, at[1] << shift))
        return [(low >> shift, -(-high >> shift)) for low, high in boxes]

    def follow(self, moment: Moment) -> None:
        """Integrate up to a moment; raise a LostError if the variables cannot be enclosed."""
        for bits in PRECISIONS:
            try:
                self.enclose(enclose_moment(moment, bits), bits)
                return
            except LostError as error:
                if error.final or bits == PRECISIONS[-1]:
                    raise

    def boundaries(self, end: Rational, bits: int) -> Iterator[Fraction]:
        """Yield the ends of the integration steps before `end`, or raise a LostError."""
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
        return ", ".join(variable.name for variable in self.variables)

    def _run(self, bits: int) -> _Run:
        if bits not in self._runs:
            self._runs[bits] = _Run(self, self._tape, self._slopes, self._alone, bits)
        return self._runs[bits]


class _Run:
    """The integration of a flow at one precision, from an enclosure of the start."""

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
        # By the mean value theorem, the distance of two solutions grows by e to the power of the
        # integral of the slope of the rate between them. A negative slope therefore narrows the
        # bounds around the solution from the centre, where plain Taylor steps would widen them.
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
        return all(high - low <= max(abs(low), abs(high)) >> 20 for low, high in self._state)

    def _propose(self, rows: list[list[Interval]]) -> int:
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
        """Return a step's Taylor remainders and boxes of the variables; None if it is too long."""
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


# Systems ------------------------------------------------------------------------------------------
# Coupled rates and rates with quotients: solved in closed form, or integrated.
#
# If a linear system has constant rational coefficients and rational eigenvalues, its solutions are
# sums of polynomials times powers of e. Putzer's method finds them ("Avoiding the Jordan canonical
# form in the discussion of linear systems with constant coefficients", 1966). Every other system
# becomes a `Flow`.

_LARGEST_SYSTEM = 8
"""Larger systems are integrated, because their closed forms are too long to be useful."""

_MOST_TERMS = 200


def solve(
    variables: Sequence[StateVariable],
    rates: Sequence[Quantity],
    initial: Sequence[Quantity],
    start: Moment,
) -> dict[StateVariable, Quantity]:
    """Return the solution of a system of rates as functions of time.

    Args:
        rates: The rate of each variable, as a function of the variables and of time.
        initial: The value of each variable at `start`.

    Returns:
        The solution by variable. A variable without a closed form maps to itself; its `flow`
        encloses its values.
    """
    rate_of = dict(zip(variables, rates, strict=True))
    first = dict(zip(variables, initial, strict=True))
    solved: dict[StateVariable, Quantity] = {}
    flowing: list[StateVariable] = []
    for group in _groups(rate_of):
        found = None
        needed = {v for member in group for v in variables_of([rate_of[member]])}
        if not any(variable in flowing for variable in needed):
            own = [_replaced(rate_of[member], solved) for member in group]
            found = _closed(group, own, [first[member] for member in group], start)
        if found is None:
            flowing += group
        else:
            solved |= found
    if flowing:
        begin = [condense(first[variable]) for variable in flowing]
        Flow(flowing, begin, [_replaced(rate_of[v], solved) for v in flowing], start)
        solved |= {variable: TimeFunction.of(variable) for variable in flowing}
    return solved


def integral(number: Quantity) -> Quantity | None:
    """Return an antiderivative with respect to time, or None if no closed form was found."""
    result: Quantity = 0
    for (powers, exponent), coefficient in terms_of(number).items():
        counts = dict(powers)
        degree = counts.pop(TIME, 0)
        if not all(symbol.constant for symbol in counts):
            return None
        rest = frozenset(counts.items())
        growth = dict(exponent).get(TIME, 0)
        if not growth:
            time = frozenset([(TIME, degree + 1)])
            result = result + simple(
                {(rest | time, exponent): Fraction(coefficient) / (degree + 1)}
            )
            continue
        for k in range(degree + 1):
            # Repeated integration by parts lowers the power of the time to 0.
            factor = Fraction((-1) ** k * factorial(degree), factorial(degree - k))
            time = frozenset([(TIME, degree - k)] if degree > k else [])
            share = factor * coefficient / Fraction(growth) ** (k + 1)
            result = result + simple({(rest | time, exponent): share})
    return result


def _replaced(number: Quantity, solved: Mapping[StateVariable, Quantity]) -> Quantity:
    if not isinstance(number, TimeFunction):
        return number

    def value(symbol: Symbol) -> Quantity | None:
        if isinstance(symbol, StateVariable):
            return solved.get(symbol)
        if isinstance(symbol, Inverse) and not symbol.constant:
            return inverse_of(symbol.function.replace(value))
        return None

    return number.replace(value)


def _groups(rates: Mapping[StateVariable, Quantity]) -> list[list[StateVariable]]:
    needs = {variable: variables_of([rate]) for variable, rate in rates.items()}
    order: list[StateVariable] = []
    seen: set[StateVariable] = set()
    for variable in rates:
        _visit(variable, needs, seen, order)
    needed_by: dict[StateVariable, list[StateVariable]] = {variable: [] for variable in rates}
    for variable, needed in needs.items():
        for other in needed:
            needed_by[other].append(variable)
    seen = set()
    groups: list[list[StateVariable]] = []
    for variable in reversed(order):
        if variable not in seen:
            group: list[StateVariable] = []
            _visit(variable, needed_by, seen, group)
            groups.append(group)
    # Kosaraju's algorithm finds dependent groups before the groups they depend on.
    return groups[::-1]


def _visit(
    first: StateVariable,
    following: Mapping[StateVariable, list[StateVariable]],
    seen: set[StateVariable],
    order: list[StateVariable],
) -> None:
    if first in seen:
        return
    seen.add(first)
    stack = [(first, iter(following[first]))]
    while stack:
        variable, others = stack[-1]
        other = next((o for o in others if o not in seen), None)
        if other is None:
            order.append(variable)
            stack.pop()
        else:
            seen.add(other)
            stack.append((other, iter(following[other])))


# Linear systems -----------------------------------------------------------------------------

_Row = list[Rational]


def _closed(
    group: Sequence[StateVariable],
    rates: Sequence[Quantity],
    initial: Sequence[Quantity],
    start: Moment,
) -> dict[StateVariable, Quantity] | None:
    if len(group) > _LARGEST_SYSTEM:
        return None
    linear = [_linear(rate, group) for rate in rates]
    if any(row is None for row in linear):
        return None
    matrix = [row[0] for row in linear if row is not None]
    forcing = [row[1] for row in linear if row is not None]
    if any(integral(part) is None for part in forcing):
        return None
    if len(group) == 1:
        eigenvalues: list[Rational] | None = [matrix[0][0]]
    else:
        eigenvalues = _eigenvalues(matrix)
    if eigenvalues is None:
        return None
    size = range(len(group))
    result: list[Quantity] = [0 for _ in size]
    product: list[_Row] = [[int(i == j) for j in size] for i in size]
    driving: list[Quantity] = list(forcing)
    begin: list[Quantity] = list(initial)
    for eigenvalue in eigenvalues:
        # Putzer reduces the system to a chain of scalar equations, one per eigenvalue:
        # y' = eigenvalue y + driving, and y drives the next equation. Each solution is weighted
        # with the product of `matrix - eigenvalue I` over the earlier eigenvalues.
        found = [_scalar(eigenvalue, driving[i], begin[i], start) for i in size]
        if any(part is None or len(terms_of(part)) > _MOST_TERMS for part in found):
            return None
        driving = [part for part in found if part is not None]
        begin = [0 for _ in size]
        for i in size:
            for j in size:
                if product[i][j]:
                    result[i] = result[i] + driving[j] * product[i][j]
        shifted = [
            [a - eigenvalue * (i == j) for j, a in enumerate(r)] for i, r in enumerate(matrix)
        ]
        product = _times(product, shifted)
    return dict(zip(group, result, strict=True))


def _linear(rate: Quantity, group: Sequence[StateVariable]) -> tuple[_Row, Quantity] | None:
    row: _Row = [0] * len(group)
    rest: dict[tuple[frozenset[tuple[Symbol, int]], object], Rational] = {}
    places = {variable: place for place, variable in enumerate(group)}
    for term, coefficient in terms_of(rate).items():
        powers, exponent = term
        if not any(variable in places for variable in variables_of([simple({term: 1})])):
            rest[term] = coefficient
            continue
        if exponent or len(powers) != 1:
            return None
        ((symbol, count),) = powers
        if count != 1 or not isinstance(symbol, StateVariable):
            return None
        row[places[symbol]] = coefficient
    return row, simple(rest)  # type: ignore[arg-type]


def _scalar(
    eigenvalue: Rational, driving: Quantity, begin: Quantity, start: Moment
) -> Quantity | None:
    """Solve `y' = eigenvalue y + driving`, `y(start) = begin`; None if no closed form is found."""
    whole = integral(driving * exponential_of(-eigenvalue) if eigenvalue else driving)
    if whole is None:
        return None
    constant = value_at(exponential_of(-eigenvalue), start) * begin - value_at(whole, start)
    return exponential_of(eigenvalue) * (whole + constant)


def _eigenvalues(matrix: Sequence[_Row]) -> list[Rational] | None:
    rest = _characteristic(matrix)
    found: list[Rational] = []
    bound = 1 + max(abs(Fraction(c)) for c in rest.coefficients)
    for flipped in (1, -1):
        mirror = Polynomial([c * flipped**k for k, c in enumerate(rest.coefficients)])
        found += [flipped * root.low for root in roots(mirror, bound) if root.rational]
    result: list[Rational] = []
    for value in (0, *found):
        factor = Polynomial((-value, 1))
        while rest.degree > 0 and rest(value) == 0:
            rest = rest.quotient(factor)
            result.append(value)
    return result if rest.degree < 1 else None


def _characteristic(matrix: Sequence[_Row]) -> Polynomial:
    size = len(matrix)
    coefficients: list[Rational] = [1]
    power: list[_Row] = [[0] * size for _ in range(size)]
    for k in range(1, size + 1):
        last = coefficients[-1]
        power = _times(matrix, power)
        power = [[a + last * (i == j) for j, a in enumerate(r)] for i, r in enumerate(power)]
        product = _times(matrix, power)
        trace = sum(product[i][i] for i in range(size))
        coefficients.append(exact(Fraction(-trace) / k))
    return Polynomial(coefficients[::-1])


def _times(one: Sequence[_Row], two: Sequence[_Row]) -> list[_Row]:
    columns = list(zip(*two, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in one]

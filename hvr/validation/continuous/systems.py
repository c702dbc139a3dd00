"""Coupled rates and rates with quotients: solved in closed form, or integrated.

If a linear system has constant rational coefficients and rational eigenvalues, its solutions are
sums of polynomials times powers of e. Putzer's method finds them ("Avoiding the Jordan canonical
form in the discussion of linear systems with constant coefficients", 1966). Every other system
becomes a `Flow`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import factorial

from hvr.pddl.numeric import Rational, exact
from hvr.validation.continuous.flows import Flow
from hvr.validation.continuous.functions import (
    Quantity,
    TimeFunction,
    condensed,
    growing,
    inverse_of,
    simple,
    terms_of,
    value_at,
)
from hvr.validation.continuous.moments import Moment
from hvr.validation.continuous.polynomials import Polynomial, roots
from hvr.validation.continuous.symbols import TIME, Inverse, StateVariable, Symbol
from hvr.validation.continuous.taylor import variables_of

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
        variables: The numbers that change.
        rates: The rate of each variable, in terms of the variables and the time.
        initial: The value of each variable at the start.
        start: The moment from which the rates apply.
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
        begin = [condensed(first[variable]) for variable in flowing]
        Flow(flowing, begin, [_replaced(rate_of[v], solved) for v in flowing], start)
        solved |= {variable: TimeFunction.of(variable) for variable in flowing}
    return solved


def integral(number: Quantity) -> Quantity | None:
    """Return an antiderivative; None if this module finds no closed form."""
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
    """Return the groups of mutually dependent variables, each after the groups it depends on."""
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
    """Append the unseen variables that can be reached, in postorder."""
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
    """Return the solution of a group in closed form; None if it has none."""
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
    """Split a rate into factors of the group's variables and a rest; None if it is not linear."""
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
    """Solve `y' = eigenvalue y + driving` for a value at the start."""
    whole = integral(driving * growing(-eigenvalue) if eigenvalue else driving)
    if whole is None:
        return None
    constant = value_at(growing(-eigenvalue), start) * begin - value_at(whole, start)
    return growing(eigenvalue) * (whole + constant)


def _eigenvalues(matrix: Sequence[_Row]) -> list[Rational] | None:
    """Return the eigenvalues with multiplicity; None if one is not rational."""
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
    """Return the characteristic polynomial (Faddeev and Le Verrier)."""
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

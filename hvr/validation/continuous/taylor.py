"""Enclosures of the Taylor coefficients of functions of time.

The coefficients over an interval of time enclose the coefficients at each of its points: order 0
encloses the values and order 1 the slopes. Recurrences compute each order from the lower ones, and
the coefficients of variables from their rates (Moore, "Methods and applications of interval
analysis", 1979, chapter 3).
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl.numeric import Rational
from hvr.validation.continuous.bounds import enclose_term
from hvr.validation.continuous.functions import Quantity, TimeFunction, terms_of
from hvr.validation.continuous.intervals import (
    Interval,
    convolution,
    exponential,
    inverse,
    scaled,
    times,
)
from hvr.validation.continuous.symbols import (
    TIME,
    UNIT,
    Inverse,
    StateVariable,
    Symbol,
    Term,
)

Coefficients = list[Interval]

_Node = tuple[str, object, int, int]
"""The operation, its parameter, and the indexes of its operands."""


class Tape:
    """Several functions of the same variables, compiled to a list of operations.

    Args:
        functions: The functions to evaluate.
        variables: The variables of the functions, in the order of their enclosures.
        rates: The rates of the variables, in the same order.
    """

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
        """Return the coefficients of the functions up to an order.

        Args:
            at: The interval of time.
            boxes: Enclosures of the variables over the interval.
            order: The highest order to return.
            bits: The binary places of all intervals.
        """
        rows = self._run(at, boxes, order, bits)
        return [rows[node] for node in self.outputs]

    def variable_coefficients(
        self, at: Interval, boxes: Sequence[Interval], order: int, bits: int
    ) -> list[Coefficients]:
        """Return the coefficients of the variables, with the arguments of `coefficients`."""
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
    """Return the powers of symbols that change, in a fixed order, so that products are shared."""
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

"""Exact arithmetic: compiled numeric expressions and comparisons."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import NumberTooLargeError, UndefinedValueError

Rational: TypeAlias = int | Fraction
"""An exact number; integers are used where possible because they are much faster."""

Values: TypeAlias = tuple[Rational | None, ...]
"""The values of the numeric fluents by index; None, or an index beyond the end, is undefined."""

Compiled: TypeAlias = Rational | Callable[[Values], Rational]
"""A constant, or a function that computes the value."""

MAX_DIGITS = 1000

_FEW_DIGITS = 100

_FLAT = 20
"""Nesting depth beyond which expressions are evaluated without recursion."""

_MOST_BITS = 13_000
"""About 3900 digits. Exact numbers never overflow: (scale-up (f) (f)) doubles the digits with every
step, so forty steps would fill any memory."""


def exact(value: Decimal | Fraction) -> Rational:
    """Return an integer if the number is whole, else a fraction, or raise a NumberTooLargeError."""
    if isinstance(value, Decimal):
        if abs(value.adjusted()) < _FEW_DIGITS:
            whole, divisor = value.as_integer_ratio()
            if divisor == 1:
                return whole
        if max(len(value.as_tuple().digits), abs(value.adjusted())) > 3 * MAX_DIGITS:
            raise NumberTooLargeError(f"a number has more than {3 * MAX_DIGITS} digits")
        value = Fraction(value)
    if value.denominator == 1:
        return value.numerator
    return value


def evaluate(compiled: Compiled, values: Values) -> Rational:
    """Return the value of a compiled expression.

    Raises:
        UndefinedValueError: The expression is undefined.
        NumberTooLargeError: The value is too large.
    """
    return compiled(values) if callable(compiled) else compiled


def fluent(index: int, name: str) -> Callable[[Values], Rational]:
    """Return a function that reads a numeric fluent; `name` identifies it in errors."""

    def read(values: Values) -> Rational:
        value = values[index] if index < len(values) else None
        if value is None:
            raise UndefinedValueError(f"{name} has no value")
        return value

    return read


def undefined(name: str) -> Callable[[Values], Rational]:
    """Return a function that always raises an UndefinedValueError about the fluent `name`."""

    def read(_: Values) -> Rational:
        raise UndefinedValueError(f"{name} has no value")

    return read


class _Arithmetic:
    __slots__ = ("_depth", "_expression", "_operands", "_symbol")

    def __init__(self, symbol: str, operands: list[Compiled], expression: object) -> None:
        self._symbol = symbol
        self._operands = operands
        # Printed only in error messages.
        self._expression = expression
        depths = [operand._depth for operand in operands if isinstance(operand, _Arithmetic)]
        self._depth: int = 1 + max(depths, default=0)

    def __call__(self, values: Values) -> Rational:
        if self._depth > _FLAT:
            return run_trampoline(self._steps(values))
        return self._of([evaluate(operand, values) for operand in self._operands])

    def _of(self, numbers: list[Rational]) -> Rational:
        result = numbers[0]
        if len(numbers) == 1:
            return -result
        for number in numbers[1:]:
            try:
                result = calculate(self._symbol, result, number)
            except (NumberTooLargeError, UndefinedValueError):
                calculate(self._symbol, result, number, str(self._expression))
        return result

    def _steps(self, values: Values) -> Steps[Rational]:
        numbers: list[Rational] = []
        for operand in self._operands:
            if isinstance(operand, _Arithmetic):
                numbers.append((yield operand._steps(values)))
            else:
                numbers.append(evaluate(operand, values))
        return self._of(numbers)


def arithmetic(symbol: str, operands: list[Compiled], expression: object) -> Compiled:
    """Compile `+`, `-`, `*` or `/`, shown as `expression` in error messages."""
    compute = _Arithmetic(symbol, operands, expression)
    if any(callable(operand) for operand in operands):
        return compute
    # Constant folding. A division by zero is kept: it matters only if a step or condition reads
    # it.
    try:
        return compute(())
    except UndefinedValueError:
        return compute


def calculate(symbol: str, left: Rational, right: Rational, text: str = "") -> Rational:
    """Apply an arithmetic operator or a numeric effect to two numbers.

    `text` is the expression to show in messages.

    Raises:
        UndefinedValueError: The divisor is zero.
        NumberTooLargeError: The result is too large.
    """
    result: Rational
    match symbol:
        case "+" | "increase":
            result = left + right
        case "-" | "decrease":
            result = left - right
        case "*" | "scale-up":
            result = left * right
        case _:
            if right == 0:
                raise UndefinedValueError(f"{text or symbol} divides by zero")
            result = (Fraction(left) if isinstance(left, int) else left) / right
    if isinstance(result, Fraction):
        if result.denominator == 1:
            return result.numerator
        size = max(result.numerator.bit_length(), result.denominator.bit_length())
    elif isinstance(result, int):
        size = result.bit_length()
    else:
        # A function of time, which supports arithmetic (`hvr.validation.continuous`).
        return result
    if size > _MOST_BITS:
        raise NumberTooLargeError(
            f"{text or symbol} yields a number with more than {_MOST_BITS} bits"
        )
    return result


_TESTS: dict[str, Callable[[Rational, Rational], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


def rounded(value: Rational) -> Fraction:
    """Return a number as a fraction for display; irrational constants are approximated."""
    if isinstance(value, int | Fraction):
        return Fraction(value)
    return value.approximation()


def is_assigned_anew(value: Rational | None, before: Rational | None) -> bool:
    """Return whether a number has changed; functions of time are compared by their normal forms."""
    if value is before:
        return False
    plain = isinstance(value, int | Fraction) or value is None
    if plain != (isinstance(before, int | Fraction) or before is None):
        return True
    return value != before if plain else value.key != before.key  # type: ignore[union-attr]


class NumericTest:
    """A compiled comparison or its negation."""

    __slots__ = ("left", "positive", "right", "symbol", "tolerance")

    def __init__(
        self, symbol: str, left: Compiled, right: Compiled, positive: bool, tolerance: Rational = 0
    ) -> None:
        self.symbol = symbol
        self.left = left
        self.right = right
        self.positive = positive
        self.tolerance = tolerance

    def holds(self, values: Values) -> bool:
        """Return whether the test succeeds. If a side is undefined, it fails, even if negated."""
        try:
            left, right = evaluate(self.left, values), evaluate(self.right, values)
        except UndefinedValueError:
            return False
        return compare(self.symbol, left, right, self.tolerance) == self.positive

    @property
    def constant(self) -> bool:
        return not (callable(self.left) or callable(self.right))


def compare(symbol: str, left: Rational, right: Rational, tolerance: Rational = 0) -> bool:
    """Return whether `left symbol right` holds; the tolerance relaxes it, as in VAL."""
    if not tolerance:
        return _TESTS[symbol](left, right)
    match symbol:
        case "=":
            return -tolerance < left - right < tolerance
        case "<":
            return _TESTS["<"](left, right + tolerance)
        case "<=":
            return _TESTS["<="](left, right + tolerance)
        case ">":
            return _TESTS["<"](right, left + tolerance)
        case _:
            return _TESTS["<="](right, left + tolerance)

"""States as bit sets with numbers, and ground conditions and operators over them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import InconsistentEffectError, NumberTooLargeError, UndefinedValueError
from hvr.pddl.formulas import Atom, Expression, FunctionTerm
from hvr.pddl.model import GroundAction

if TYPE_CHECKING:
    from hvr.pddl.task import Task


# Numbers ------------------------------------------------------------------------------------------


Rational: TypeAlias = int | Fraction
"""An exact number; integers are used where possible because they are much faster."""

Values: TypeAlias = tuple[Rational | None, ...]
"""The values of the numeric fluents by index; None, or an index beyond the end, is undefined."""

Compiled: TypeAlias = Rational | Callable[[Values], Rational]
"""A constant, or a function that computes the value."""

MAX_DIGITS = 1000

_FEW_DIGITS = 100

_FLAT_NUMBERS = 20
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
        if self._depth > _FLAT_NUMBERS:
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


# Conditions ---------------------------------------------------------------------------------------
# Ground conditions and operators over bit sets and numeric values.

_FLAT = 20
"""Nesting depth beyond which conditions are tested without recursion."""

NumericChange = tuple[str, int, Compiled]
"""A numeric effect: its operator, the index of the fluent, and the amount."""


class Disjunction:
    """A disjunction of positive literals, negative literals and conditions.

    Literals are stored as two masks, so that a clause of literals only, the usual case, is tested
    by two operations whatever its length.
    """

    __slots__ = ("depth", "negative", "parts", "positive")

    def __init__(self, positive: int, negative: int, parts: tuple[Conjunction, ...]) -> None:
        self.positive = positive
        self.negative = negative
        self.parts = parts
        self.depth: int = 1 + max([c.depth for part in parts for c in part.clauses], default=0)

    def holds(self, bits: int, values: Values = ()) -> bool:
        if bits & self.positive or self.negative & ~bits:
            return True
        if self.depth > _FLAT:
            return run_trampoline(self._steps(bits, values))
        # A loop is faster than `any` here: this runs very often on few parts.
        for part in self.parts:  # noqa: SIM110
            if part.holds(bits, values):
                return True
        return False

    def _steps(self, bits: int, values: Values) -> Steps[bool]:
        if bits & self.positive or self.negative & ~bits:
            return True
        for part in self.parts:
            if not part.holds_without_clauses(bits, values):
                continue
            for clause in part.clauses:
                if not (yield clause._steps(bits, values)):
                    break
            else:
                return True
        return False


class Conjunction:
    """A conjunction of positive literals, negative literals, disjunctions and comparisons.

    Conditions stay nested: their normal form may be exponentially larger. Only planning needs it
    (`hvr.planning.search.ground.disjuncts`).
    """

    __slots__ = ("clauses", "negative", "positive", "tests")

    def __init__(
        self,
        positive: int = 0,
        negative: int = 0,
        clauses: tuple[Disjunction, ...] = (),
        tests: tuple[NumericTest, ...] = (),
    ) -> None:
        self.positive = positive
        self.negative = negative
        self.clauses = clauses
        self.tests = tests

    @property
    def is_empty(self) -> bool:
        return not (self.positive or self.negative or self.clauses or self.tests)

    def holds(self, bits: int, values: Values = ()) -> bool:
        if bits & self.positive != self.positive or bits & self.negative:
            return False
        for clause in self.clauses:
            if not clause.holds(bits, values):
                return False
        return not self.tests or all(test.holds(values) for test in self.tests)

    def holds_without_clauses(self, bits: int, values: Values) -> bool:
        if bits & self.positive != self.positive or bits & self.negative:
            return False
        return all(test.holds(values) for test in self.tests)

    def parts(self) -> Iterator[Conjunction]:
        """Yield the condition and all conditions inside its disjunctions."""
        stack = [self]
        while stack:
            item = stack.pop()
            yield item
            stack += [part for clause in reversed(item.clauses) for part in reversed(clause.parts)]

    def mentioned(self) -> int:
        mask = 0
        for part in self.parts():
            mask |= part.positive | part.negative
            for clause in part.clauses:
                mask |= clause.positive | clause.negative
        return mask


TRUE = Conjunction()
FALSE = Conjunction(clauses=(Disjunction(0, 0, ()),))


def conjunction(parts: Iterable[Conjunction]) -> Conjunction:
    """Return the conjunction, or the constant TRUE or FALSE if it is decided."""
    positive = negative = 0
    clauses: list[Disjunction] = []
    tests: list[NumericTest] = []
    for part in parts:
        if part is FALSE:
            return FALSE
        positive |= part.positive
        negative |= part.negative
        clauses += part.clauses
        tests += part.tests
    if positive & negative:
        return FALSE
    if not (positive or negative or clauses or tests):
        return TRUE
    return Conjunction(positive, negative, tuple(clauses), tuple(tests))


def disjunction(parts: Iterable[Conjunction]) -> Conjunction:
    """Return the disjunction, or the constant TRUE or FALSE if it is decided."""
    positive = negative = 0
    rest: list[Conjunction] = []
    for part in parts:
        if part is TRUE:
            return TRUE
        if part is FALSE:
            continue
        if part.clauses or part.tests:
            # Flatten a disjunction inside a disjunction.
            alone = len(part.clauses) == 1 and not (part.positive or part.negative or part.tests)
            if alone:
                clause = part.clauses[0]
                positive |= clause.positive
                negative |= clause.negative
                rest += clause.parts
            else:
                rest.append(part)
        elif part.negative == 0 and part.positive.bit_count() == 1:
            positive |= part.positive
        elif part.positive == 0 and part.negative.bit_count() == 1:
            negative |= part.negative
        else:
            rest.append(part)
    # p or not p
    if positive & negative:
        return TRUE
    # A single part needs no clause around it; a single literal is tested by the masks.
    if not rest:
        if not (positive or negative):
            return FALSE
        if not negative and positive.bit_count() == 1:
            return Conjunction(positive)
        if not positive and negative.bit_count() == 1:
            return Conjunction(0, negative)
    elif len(rest) == 1 and not (positive or negative):
        return rest[0]
    return Conjunction(clauses=(Disjunction(positive, negative, tuple(rest)),))


def set_bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Operator:
    """A compiled ground action, or one end of a durative action.

    Attributes:
        add: The atoms that the operator adds unconditionally.
        delete: The atoms that the operator deletes unconditionally, before adding.
        conditional: Triples (condition, add, delete); conditions are evaluated before the action.
        numeric: Pairs (condition, change) of the numeric effects.
        preferences: Pairs (name, condition) of the preferences in the precondition.
    """

    __slots__ = (
        "action",
        "add",
        "conditional",
        "delete",
        "keep",
        "negative",
        "numeric",
        "plain",
        "positive",
        "precondition",
        "preferences",
    )

    def __init__(
        self,
        action: GroundAction,
        precondition: Conjunction,
        add: int,
        delete: int,
        conditional: tuple[tuple[Conjunction, int, int], ...],
        numeric: tuple[tuple[Conjunction, NumericChange], ...] = (),
        preferences: tuple[tuple[str, Conjunction], ...] = (),
    ) -> None:
        self.action = action
        self.precondition = precondition
        self.add = add
        self.delete = delete
        self.keep = ~delete
        # Cached parts of the precondition: steps are tested by the million.
        self.positive = precondition.positive
        self.negative = precondition.negative
        self.plain = not (precondition.clauses or precondition.tests)
        self.conditional = conditional
        self.numeric = numeric
        self.preferences = preferences

    def applicable(self, bits: int, values: Values = ()) -> bool:
        return self.precondition.holds(bits, values)

    def apply(self, bits: int, values: Values = ()) -> int:
        """Return the bits after the action; an atom that is both deleted and added is true."""
        if not self.conditional:
            return bits & self.keep | self.add
        add, delete = self.add, self.delete
        for condition, more_add, more_delete in self.conditional:
            if condition.holds(bits, values):
                add |= more_add
                delete |= more_delete
        return bits & ~delete | add

    def apply_numbers(self, bits: int, values: Values) -> Values:
        """Return the numbers after the action; see `change_numbers` for the errors."""
        if not self.numeric:
            return values
        changes = [change for condition, change in self.numeric if condition.holds(bits, values)]
        return change_numbers(changes, values, values)


def change_numbers(changes: Iterable[NumericChange], before: Values, values: Values) -> Values:
    """Return `values` after the changes; amounts are evaluated in `before`.

    Raises:
        InconsistentEffectError: A fluent is changed twice by effects that do not commute.
        UndefinedValueError: An amount, or a fluent to be increased or scaled, is undefined.
        NumberTooLargeError: A number grows too large.
    """
    # PDDL 2.1 (Fox & Long 2003): increases and decreases of a fluent commute, so each is applied
    # to the result of the previous one. Any other pair of changes depends on an order, which
    # simultaneous effects do not have.
    after = list(values)
    changed: dict[int, bool] = {}
    for symbol, index, amount in changes:
        adds = symbol in ("increase", "decrease")
        if index in changed and not (adds and changed[index]):
            raise InconsistentEffectError("it assigns two values to one numeric fluent")
        changed[index] = adds
        if index >= len(after):
            after += [None] * (index + 1 - len(after))
        number = evaluate(amount, before)
        if symbol != "assign":
            old = after[index]
            if old is None:
                raise UndefinedValueError(f"cannot {symbol} a fluent without a value")
            number = calculate(symbol, old, number)
        after[index] = number
    return tuple(after)


def is_satisfiable(condition: Conjunction, true: int, false: int) -> bool:
    """Return whether a condition is satisfiable; numeric comparisons count as satisfiable.

    `true` and `false` are masks of the atoms that may be true and false.
    """
    return run_trampoline(_may_hold(condition, true, false))


def _may_hold(condition: Conjunction, true: int, false: int) -> Steps[bool]:
    if condition.positive & ~true or condition.negative & ~false:
        return False
    for clause in condition.clauses:
        if clause.positive & true or clause.negative & false:
            continue
        for part in clause.parts:
            if (yield _may_hold(part, true, false)):
                break
        else:
            return False
    return True


# State --------------------------------------------------------------------------------------------
# A state is an integer whose bits are the true fluents, and the values of the numeric fluents.


class State:
    """An immutable state; states of the same task compare and hash by value.

    Args:
        bits: The mask of the true fluents.
        closed: Whether `bits` includes the derived atoms; if not, they are derived on access.
    """

    __slots__ = ("_bits", "_closed", "task", "values")

    _bits: int
    _closed: bool
    task: Task
    values: Values

    def __init__(self, task: Task, bits: int, values: Values = (), *, closed: bool = True) -> None:
        object.__setattr__(self, "task", task)
        object.__setattr__(self, "_bits", bits)
        object.__setattr__(self, "_closed", closed)
        object.__setattr__(self, "values", values)

    @property
    def bits(self) -> int:
        """The mask of the true fluents, including derived atoms."""
        if not self._closed:
            object.__setattr__(self, "_bits", self.task.close(self._bits, self.values))
            object.__setattr__(self, "_closed", True)
        return self._bits

    def bits_for_steps(self) -> int:
        """Return the mask of the true fluents; derived atoms that no action reads may be absent."""
        return self._bits if self._closed else self.task.close_for_steps(self._bits, self.values)

    def atoms(self, *, static: bool = False) -> frozenset[Atom]:
        """Return the true fluent atoms, with the static facts if `static` is set."""
        fluents = frozenset(self.task.atoms_in(self.bits))
        return fluents.union(self.task.static_facts.atoms()) if static else fluents

    def numbers(self) -> dict[FunctionTerm, Fraction]:
        known = enumerate(self.values)
        return {self.task.term(i): rounded(v) for i, v in known if v is not None}

    def holds(self, formula: Expression) -> bool:
        return self.task.condition(formula).holds(self.bits, self.values)

    def __contains__(self, atom: Atom) -> bool:
        return self.holds(atom)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        same = self.bits == other.bits and self.values == other.values
        return same and self.task is other.task

    def __hash__(self) -> int:
        return hash(self.bits)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a State cannot be changed: {name} = {value!r}")

    def __reduce__(self) -> tuple[type[State], tuple[Task, int, Values]]:
        return State, (self.task, self.bits, self.values)

    def __repr__(self) -> str:
        return f"<State with {self.bits.bit_count()} true fluents>"


def holds(state: State, formula: Expression) -> bool:
    """Return whether a formula is true in a state; a free variable raises a PddlSemanticError."""
    return state.holds(formula)

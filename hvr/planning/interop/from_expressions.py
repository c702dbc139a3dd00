"""Translate expressions and effects of unified-planning to PDDL.

An object-valued fluent, a number or a truth value that is an argument becomes a variable in PDDL:
`(exists (?v) (and (f x ?v) (p ?v)))` means p(f(x)).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import Any

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Effect,
    Equal,
    Exists,
    Forall,
    Formula,
    FunctionTerm,
    Imply,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Timed,
    Trajectory,
    TypedName,
    When,
)
from hvr.pddl.formulas import TimeSpecifier
from hvr.planning.interop.names import InteropError, Vocabulary, decimal

FALSE = Or(())


class Lifted:
    """Variables that represent the values of terms, and the conditions that define them."""

    def __init__(self) -> None:
        self.variables: list[TypedName] = []
        self.guards: list[Formula] = []


class UnifiedExpressionReader:
    """A translator for the expressions of an action, or of the other parts of a problem.

    `where` names this part in messages. The methods raise an InteropError if PDDL cannot express an
    expression.
    """

    def __init__(self, vocabulary: Vocabulary, where: str = "", parameters: Any = ()) -> None:
        self.vocabulary = vocabulary
        self.where = where
        self._names = vocabulary.names.local()
        self.needed: list[Formula] = []
        self.parameters = tuple(
            TypedName(
                "?" + self._names.add("parameter", parameter.name), vocabulary.types(parameter.type)
            )
            for parameter in parameters
        )

    # Formulas -------------------------------------------------------------------------------

    def condition(self, node: Any) -> Formula:
        """Translate a condition, which is false if a fluent in it is undefined."""
        return conjunction(self.formula(node), self._defined(node))

    def formula(self, node: Any) -> Formula:
        """Translate an expression, assuming that every fluent is defined."""
        return run_trampoline(self._formula(node))

    def _formula(self, node: Any) -> Steps[Formula]:
        if node.is_bool_constant():
            return TRUE if node.bool_constant_value() else FALSE
        if node.is_and() or node.is_or():
            parts = []
            for part in node.args:
                parts.append((yield self._formula(part)))
            return And(tuple(parts)) if node.is_and() else Or(tuple(parts))
        if node.is_not():
            return Not((yield self._formula(node.arg(0))))
        if node.is_implies() or node.is_iff():
            left = yield self._formula(node.arg(0))
            right = yield self._formula(node.arg(1))
            return Imply(left, right) if node.is_implies() else _both_ways(left, right)
        if node.is_exists() or node.is_forall():
            kind = Exists if node.is_exists() else Forall
            variables = tuple([self.variable(v) for v in node.variables()])
            return kind(variables, (yield self._formula(node.arg(0))))
        lifted = Lifted()
        return _lower(lifted, (yield self._atomic(node, lifted)))

    def trajectory(self, node: Any) -> Formula:
        return run_trampoline(self._trajectory(node))

    def _trajectory(self, node: Any) -> Steps[Formula]:
        if node.is_and():
            parts = []
            for part in node.args:
                parts.append((yield self._trajectory(part)))
            return And(tuple(parts))
        if node.is_forall():
            variables = tuple([self.variable(v) for v in node.variables()])
            return Forall(variables, (yield self._trajectory(node.arg(0))))
        operators = {
            "always": node.is_always(),
            "sometime": node.is_sometime(),
            "at-most-once": node.is_at_most_once(),
            "sometime-after": node.is_sometime_after(),
            "sometime-before": node.is_sometime_before(),
        }
        for operator, applies in operators.items():
            if applies:
                return Trajectory(operator, (), tuple([self.condition(a) for a in node.args]))
        if node.is_bool_constant() and node.bool_constant_value():
            return TRUE
        raise self._unsupported("this trajectory constraint", node)

    def _atomic(self, node: Any, lifted: Lifted) -> Steps[Formula]:
        if node.is_fluent_exp():
            args = yield self._arguments(node, lifted)
            return Atom(self.vocabulary.fluent(node.fluent()), args)
        if node.is_parameter_exp() or node.is_variable_exp():
            return Equal((yield self._term(node, lifted)), self.vocabulary.truth(True))
        if node.is_le() or node.is_lt():
            left = yield self._number(node.arg(0), lifted)
            right = yield self._number(node.arg(1), lifted)
            return Comparison("<=" if node.is_le() else "<", left, right)
        if node.is_equals():
            left, right = node.args
            kind = left.type
            if kind.is_int_type() or kind.is_real_type():
                first = yield self._number(left, lifted)
                return Comparison("=", first, (yield self._number(right, lifted)))
            if kind.is_bool_type():
                one = yield self._formula(left)
                return _both_ways(one, (yield self._formula(right)))
            if not left.is_fluent_exp():
                left, right = right, left
            if left.is_fluent_exp():
                args = yield self._arguments(left, lifted)
                args = (*args, (yield self._term(right, lifted)))
                return Atom(self.vocabulary.fluent(left.fluent()), args)
            name = yield self._term(left, lifted)
            return Equal(name, (yield self._term(right, lifted)))
        raise self._unsupported("this condition", node)

    # Terms ----------------------------------------------------------------------------------

    def variable(self, variable: Any) -> TypedName:
        name = self._names.add(f"variable {variable.type}", variable.name)
        return TypedName(f"?{name}", self.vocabulary.types(variable.type))

    def term(self, node: Any, lifted: Lifted) -> str:
        """Return the name or variable for the value of an expression; add variables to `lifted`."""
        return run_trampoline(self._term(node, lifted))

    def _term(self, node: Any, lifted: Lifted) -> Steps[str]:
        kind = node.type
        if node.is_object_exp():
            return self.vocabulary.names.new("object", node.object().name)
        if node.is_parameter_exp():
            return "?" + self._names.new("parameter", node.parameter().name)
        if node.is_variable_exp():
            return self.variable(node.variable()).name
        if node.is_bool_constant():
            return self.vocabulary.truth(node.bool_constant_value())
        if node.is_int_constant() or node.is_real_constant():
            return self.vocabulary.number(node.constant_value())
        if kind.is_user_type() and node.is_fluent_exp():
            args = yield self._arguments(node, lifted)
            value = self._fresh(kind, lifted)
            lifted.guards.append(Atom(self.vocabulary.fluent(node.fluent()), (*args, value)))
            return value
        if kind.is_bool_type():
            value = self._fresh(kind, lifted)
            is_true = Equal(value, self.vocabulary.truth(True))
            lifted.guards.append(_both_ways(is_true, (yield self._formula(node))))
            return value
        if kind.is_int_type() or kind.is_real_type():
            number = yield self._number(node, lifted)
            name = "?" + self._names.fresh("value")
            types = (self.vocabulary.names.add("type", "number-value"),)
            lifted.variables.append(TypedName(name, types))
            lifted.guards.append(Comparison("=", self.vocabulary.value_of(name), number))
            return name
        raise self._unsupported("this term", node)

    def number(self, node: Any, lifted: Lifted | None = None) -> NumericExpression:
        """Translate a numeric expression, which must not need new variables if `lifted` is None."""
        return run_trampoline(self._number(node, lifted))

    def _number(self, node: Any, lifted: Lifted | None = None) -> Steps[NumericExpression]:
        if node.is_int_constant() or node.is_real_constant():
            return _constant(Fraction(node.constant_value()))
        symbols = {
            "+": node.is_plus(),
            "-": node.is_minus(),
            "*": node.is_times(),
            "/": node.is_div(),
        }
        for symbol, applies in symbols.items():
            if applies:
                parts: list[NumericExpression] = []
                for operand in node.args:
                    parts.append((yield self._number(operand, lifted)))
                return reduce(lambda a, b, s=symbol: Arithmetic(s, (a, b)), parts)  # type: ignore[misc]
        inside = Lifted() if lifted is None else lifted
        result: NumericExpression
        if node.is_fluent_exp():
            args = yield self._arguments(node, inside)
            result = FunctionTerm(self.vocabulary.fluent(node.fluent()), args)
        elif node.is_parameter_exp() or node.is_variable_exp():
            result = self.vocabulary.value_of((yield self._term(node, inside)))
        else:
            raise self._unsupported("this number", node)
        if lifted is None and inside.variables:
            raise self._unsupported("a fluent or sum as an argument in this number", node)
        return result

    def _args(self, node: Any, lifted: Lifted) -> tuple[str, ...]:
        return run_trampoline(self._arguments(node, lifted))

    def _arguments(self, node: Any, lifted: Lifted) -> Steps[tuple[str, ...]]:
        args = []
        for part in node.args:
            args.append((yield self._term(part, lifted)))
        return tuple(args)

    def _fresh(self, kind: Any, lifted: Lifted) -> str:
        name = "?" + self._names.fresh("value")
        lifted.variables.append(TypedName(name, self.vocabulary.types(kind)))
        return name

    # Effects --------------------------------------------------------------------------------

    def effect(self, effect: Any, when: TimeSpecifier | None = None) -> Effect:
        """Translate an effect; `when` is its time in a durative action."""
        if effect.is_continuous_increase() or effect.is_continuous_decrease():
            raise InteropError("a continuous effect", self.where)
        variables = [self.variable(v) for v in effect.forall]
        self._need(effect, variables, when)
        parts: list[tuple[Formula, Lifted, Effect]] = []
        condition = self.condition(effect.condition)
        for extra, lifted, change in self._changes(effect):
            parts.append((conjunction(condition, extra, *lifted.guards), lifted, change))
        changes = [
            timed_effect(change, guard, [*variables, *lifted.variables], when)
            for guard, lifted, change in parts
        ]
        return changes[0] if len(changes) == 1 else And(tuple(changes))

    def increase(self, function: str, amount: Any, when: TimeSpecifier | None) -> Effect:
        lifted = Lifted()
        change = NumericEffect("increase", FunctionTerm(function), self.number(amount, lifted))
        return timed_effect(change, conjunction(*lifted.guards), lifted.variables, when)

    def _changes(self, effect: Any) -> Iterable[tuple[Formula, Lifted, Effect]]:
        fluent, value = effect.fluent.fluent(), effect.value
        name = self.vocabulary.fluent(fluent)
        lifted = Lifted()
        args = self._args(effect.fluent, lifted)
        kind = fluent.type
        if kind.is_int_type() or kind.is_real_type():
            operator = "decrease" if effect.is_decrease() else "assign"
            operator = "increase" if effect.is_increase() else operator
            amount = self.number(value, lifted)
            yield TRUE, lifted, NumericEffect(operator, FunctionTerm(name, args), amount)
        elif kind.is_bool_type():
            atom = Atom(name, args)
            known = self._becomes_known(fluent, args)
            if value.is_bool_constant():
                change: Effect = atom if value.bool_constant_value() else Not(atom)
                yield TRUE, lifted, And((change, *known)) if known else change
                return
            given = self.formula(value)
            yield given, lifted, And((atom, *known)) if known else atom
            yield Not(given), lifted, And((Not(atom), *known)) if known else Not(atom)
        else:
            # Delete before adding, so that the assigned value remains true.
            other = TypedName("?" + self._names.fresh("other"), self.vocabulary.types(kind))
            clear = Forall((other,), Not(Atom(name, (*args, other.name))))
            chosen = self.term(value, lifted)
            yield TRUE, lifted, And((clear, Atom(name, (*args, chosen))))

    def _need(self, effect: Any, variables: list[TypedName], when: TimeSpecifier | None) -> None:
        condition, value = self._defined(effect.condition), self._defined(effect.value)
        if value != TRUE and effect.is_conditional():
            value = Imply(self.formula(effect.condition), value)
        needed = conjunction(condition, value)
        if needed == TRUE:
            return
        if variables:
            needed = Forall(tuple(variables), needed)
        self.needed.append(needed if when is None else Timed(when, needed))

    def _becomes_known(self, fluent: Any, args: tuple[str, ...]) -> tuple[Effect, ...]:
        if fluent not in self.vocabulary.unknown_fluents:
            return ()
        return (Not(self.vocabulary.unknown_atom(self.vocabulary.fluent(fluent), args)),)

    # Fluents without a value ----------------------------------------------------------------

    def _defined(self, node: Any) -> Formula:
        return run_trampoline(self._all_defined(node)) if self.vocabulary.unknown_fluents else TRUE

    def _all_defined(self, node: Any) -> Steps[Formula]:
        parts = []
        for part in node.args:
            parts.append((yield self._all_defined(part)))
        inside = conjunction(*parts)
        if inside != TRUE and (node.is_exists() or node.is_forall()):
            inside = Forall(tuple([self.variable(v) for v in node.variables()]), inside)
        if not node.is_fluent_exp() or node.fluent() not in self.vocabulary.unknown_fluents:
            return inside
        lifted = Lifted()
        args = self._args(node, lifted)
        name, kind = self.vocabulary.fluent(node.fluent()), node.fluent().type
        own: Formula
        if kind.is_bool_type():
            own = Not(self.vocabulary.unknown_atom(name, args))
        else:
            value = TypedName("?" + self._names.fresh("any"), self.vocabulary.types(kind))
            own = Exists((value,), Atom(name, (*args, value.name)))
        if lifted.variables:
            own = Forall(tuple(lifted.variables), Imply(conjunction(*lifted.guards), own))
        return conjunction(inside, own)

    def _unsupported(self, what: str, node: Any) -> InteropError:
        return InteropError(f"{what}: {node}", self.where)


def timed_effect(
    effect: Effect, condition: Formula, variables: list[TypedName], when: TimeSpecifier | None
) -> Effect:
    result: Effect = effect
    if condition != TRUE:
        if when is None:
            result = When(condition, effect)
        else:
            result = When(Timed(when, condition), Timed(when, effect))
    elif when is not None:
        result = Timed(when, effect)
    return Forall(tuple(variables), result) if variables else result


def conjunction(*parts: Formula) -> Formula:
    some = [part for part in parts if part != TRUE]
    return some[0] if len(some) == 1 else And(tuple(some))


def _both_ways(left: Formula, right: Formula) -> Formula:
    return And((Imply(left, right), Imply(right, left)))


def _lower(lifted: Lifted, formula: Formula) -> Formula:
    if not lifted.variables:
        return formula
    return Exists(tuple(lifted.variables), And((*lifted.guards, formula)))


def _constant(value: Fraction) -> NumericExpression:
    try:
        return Number(decimal(value))
    except InteropError:
        parts = (Number(decimal(value.numerator)), Number(decimal(value.denominator)))
        return Arithmetic("/", parts)

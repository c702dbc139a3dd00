"""Formulas and numbers of PDDL as expressions of unified-planning."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Duration,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    IsViolated,
    Not,
    Number,
    NumericExpression,
    Or,
    Preference,
    Timed,
    Trajectory,
    TypedName,
)
from hvr.planning.interop.errors import InteropError


class ExpressionWriter:
    """Writes the expressions of one action, or of the rest of the problem.

    Args:
        types: the type there of each type.
        fluents: the fluents, by predicate or function.
        objects: the objects.
        manager: the expression manager of the environment.
        where: the name of the action, for errors.
    """

    def __init__(
        self,
        types: Any,
        fluents: Mapping[str, Any],
        objects: Mapping[str, Any],
        manager: Any,
        where: str = "",
    ) -> None:
        self.types = types
        self.fluents = fluents
        self.objects = objects
        self.manager = manager
        self.where = where
        self.parameters: dict[str, Any] = {}
        self.duration: NumericExpression | None = None

    def formula(self, formula: Expression, scope: Mapping[str, Any] | None = None) -> Any:
        """Convert a condition; `scope` has the quantified variables.

        Raises:
            InteropError: unified-planning cannot say it.
        """
        return finish(self._formula(formula, scope or {}))

    def _formula(self, formula: Expression, scope: Mapping[str, Any]) -> Steps[Any]:
        m = self.manager
        match formula:
            case Atom(predicate, args):
                terms = [self.term(a, scope) for a in args]
                return self._apply(predicate, terms)
            case Equal(left, right):
                one, two = self.term(left, scope), self.term(right, scope)
                if self.types.related(one.type, two.type):
                    return m.Equals(one, two)
                # Nothing can be of both types.
                return m.FALSE()
            case Comparison(operator, left_, right_):
                one, two = self.number(left_, scope), self.number(right_, scope)
                make = {"<": m.LT, "<=": m.LE, "=": m.Equals, ">=": m.GE, ">": m.GT}
                return make[operator](one, two)
            case Not(operand):
                return m.Not((yield self._formula(operand, scope)))
            case And(operands) | Or(operands):
                parts = []
                for part in operands:
                    parts.append((yield self._formula(part, scope)))
                return (m.And if isinstance(formula, And) else m.Or)(parts)
            case Imply(left_, right_):
                condition = yield self._formula(left_, scope)
                return m.Implies(condition, (yield self._formula(right_, scope)))
            case Exists(variables, body):
                return (yield self._quantified(m.Exists, m.Or, variables, body, scope))
            case Forall(variables, body):
                return (yield self._quantified(m.Forall, m.And, variables, body, scope))
            case Preference():
                raise InteropError("preferences outside of goals", self.where)
            case Trajectory(operator):
                raise InteropError(f"({operator} …) here", self.where)
            case Timed():
                raise InteropError("conditions for different times under one operator", self.where)
            case _:
                raise InteropError(f"{formula}", self.where)

    def variables(
        self, variables: tuple[TypedName, ...], scope: Mapping[str, Any]
    ) -> list[tuple[list[Any], dict[str, Any]]]:
        """Return the ways to type some quantified variables: several for `(either …)`.

        Returns:
            the variables there, and the scope with them.
        """
        from unified_planning.model import Variable

        result: list[tuple[list[Any], dict[str, Any]]] = [([], dict(scope))]
        for item in variables:
            wider: list[tuple[list[Any], dict[str, Any]]] = []
            for kind in item.types:
                variable = Variable(item.name[1:], self.types.of(kind))
                for chosen, inner in result:
                    wider.append(([*chosen, variable], {**inner, item.name: variable}))
            result = wider
        return result

    def term(self, name: str, scope: Mapping[str, Any]) -> Any:
        """Convert a variable, parameter or object."""
        if name in scope:
            return self.manager.VariableExp(scope[name])
        if name in self.parameters:
            return self.manager.ParameterExp(self.parameters[name])
        if name in self.objects:
            return self.manager.ObjectExp(self.objects[name])
        raise InteropError(f"the unknown name {name!r}", self.where)

    def number(self, number: NumericExpression, scope: Mapping[str, Any] | None = None) -> Any:
        """Convert a numeric expression.

        Raises:
            InteropError: unified-planning cannot say it.
        """
        return finish(self._number(number, scope or {}))

    def _number(self, number: NumericExpression, scope: Mapping[str, Any]) -> Steps[Any]:
        m = self.manager
        match number:
            case Number(value):
                return m.auto_promote(Fraction(value))[0]
            case FunctionTerm(function, args):
                return self._apply(function, [self.term(a, scope) for a in args])
            case Arithmetic(symbol, operands):
                parts = []
                for operand in operands:
                    parts.append((yield self._number(operand, scope)))
                if len(parts) == 1:
                    return m.Minus(0, parts[0])
                if symbol in "+*":
                    return (m.Plus if symbol == "+" else m.Times)(*parts)
                result = parts[0]
                for part in parts[1:]:
                    result = (m.Minus if symbol == "-" else m.Div)(result, part)
                return result
            case Duration():
                if self.duration is None:
                    raise InteropError("?duration outside of the duration", self.where)
                return (yield self._number(self.duration, scope))
            case IsViolated():
                raise InteropError("is-violated in this metric", self.where)

    def trajectory(self, constraint: Expression, scope: Mapping[str, Any] | None = None) -> Any:
        """Convert a trajectory constraint."""
        return finish(self._trajectory(constraint, scope or {}))

    def _trajectory(self, constraint: Expression, scope: Mapping[str, Any]) -> Steps[Any]:
        m = self.manager
        make = {
            "always": m.Always,
            "sometime": m.Sometime,
            "at-most-once": m.AtMostOnce,
            "sometime-after": m.SometimeAfter,
            "sometime-before": m.SometimeBefore,
        }
        if isinstance(constraint, Forall):
            ways = self.variables(constraint.variables, scope)
            parts = []
            for chosen, inner in ways:
                parts.append(m.Forall((yield self._trajectory(constraint.body, inner)), *chosen))
            return parts[0] if len(parts) == 1 else m.And(parts)
        if isinstance(constraint, Preference):
            raise InteropError("preferences of trajectories")
        if not isinstance(constraint, Trajectory) or constraint.operator not in make:
            operator = constraint.operator if isinstance(constraint, Trajectory) else constraint
            raise InteropError(f"the trajectory constraint {operator}")
        formulas = [self.formula(f, scope) for f in constraint.formulas]
        return make[constraint.operator](*formulas)

    def _quantified(
        self,
        quantifier: Any,
        combine: Any,
        variables: tuple[TypedName, ...],
        body: Expression,
        scope: Mapping[str, Any],
    ) -> Steps[Any]:
        parts = []
        for chosen, inner in self.variables(variables, scope):
            inside = yield self._formula(body, inner)
            parts.append(quantifier(inside, *chosen) if chosen else inside)
        return parts[0] if len(parts) == 1 else combine(parts)

    def _apply(self, name: str, terms: list[Any]) -> Any:
        fluent = self.fluents[name]
        for parameter, term in zip(fluent.signature, terms, strict=True):
            if not parameter.type.is_compatible(term.type):
                what = f"{name} of a {term.type.name}, where it takes a {parameter.type.name}"
                raise InteropError(what, self.where)
        return self.manager.FluentExp(fluent, tuple(terms))

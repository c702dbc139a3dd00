"""Translate PDDL formulas, numbers, types and effects to unified-planning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
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
    Problem,
    Timed,
    Trajectory,
    TypedName,
    When,
)
from hvr.pddl.facts import conjuncts
from hvr.pddl.formulas import TimeSpecifier, walk
from hvr.planning.interop.names import InteropError, UnifiedNames

# To expressions -----------------------------------------------------------------------------------


class ExpressionWriter:
    """A translator for the expressions of an action, or of the other parts of a problem.

    `where` names this part in messages. The methods raise an InteropError if unified-planning
    cannot express an expression.
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
        """Translate a condition; `scope` contains the quantified variables."""
        return run_trampoline(self._formula(formula, scope or {}))

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
                # No object has both types.
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
                raise InteropError(f"({operator} …) in a condition", self.where)
            case Timed():
                raise InteropError("conditions for different times under one operator", self.where)
            case _:
                raise InteropError(f"{formula}", self.where)

    def variables(
        self, variables: tuple[TypedName, ...], scope: Mapping[str, Any]
    ) -> list[tuple[list[Any], dict[str, Any]]]:
        """Return the possible typings of quantified variables as (variables, extended scope).

        `(either …)` gives several typings.
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
        if name in scope:
            return self.manager.VariableExp(scope[name])
        if name in self.parameters:
            return self.manager.ParameterExp(self.parameters[name])
        if name in self.objects:
            return self.manager.ObjectExp(self.objects[name])
        raise InteropError(f"no object, parameter or variable named {name!r}, used in {self.where}")

    def number(self, number: NumericExpression, scope: Mapping[str, Any] | None = None) -> Any:
        return run_trampoline(self._number(number, scope or {}))

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
                    raise InteropError("?duration outside a duration constraint", self.where)
                return (yield self._number(self.duration, scope))
            case IsViolated():
                raise InteropError("is-violated in this metric", self.where)

    def trajectory(self, constraint: Expression) -> Any:
        return run_trampoline(self._trajectory(constraint, {}))

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
            raise InteropError("preferences over trajectory constraints are not supported")
        if not isinstance(constraint, Trajectory) or constraint.operator not in make:
            operator = constraint.operator if isinstance(constraint, Trajectory) else constraint
            raise InteropError(f"the trajectory constraint {operator} is not supported")
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
                what = f"{name} of type {term.type.name} instead of {parameter.type.name}"
                raise InteropError(what, self.where)
        return self.manager.FluentExp(fluent, tuple(terms))


# To types -----------------------------------------------------------------------------------------
# In unified-planning, each type has at most one parent.


class Types:
    """The types of a domain in unified-planning."""

    def __init__(self, domain: Domain, problem: Problem, names: UnifiedNames, manager: Any) -> None:
        self._domain = domain
        for name, parents in domain.types.items():
            if len(parents) > 1:
                raise InteropError("a type with several supertypes", name)
            self._line(name)
        self._made: dict[str, Any] = {}
        root = None
        # Add a root type only if something needs it.
        if any(self._common(item.types) == OBJECT for item in _typed(domain, problem)):
            root = manager.UserType(names.add("type", OBJECT))
            self._made[OBJECT] = root

        def make(name: str) -> Any:
            if name not in self._made:
                (parent,) = domain.types.get(name, (OBJECT,))
                father = root if parent == OBJECT else make(parent)
                self._made[name] = manager.UserType(names.add("type", name), father)
            return self._made[name]

        for name in domain.types:
            make(name)

    def of(self, name: str) -> Any:
        return self._made[name]

    def common(self, types: tuple[str, ...]) -> Any:
        return self._made[self._common(types)]

    def all(self) -> list[Any]:
        return list(self._made.values())

    @staticmethod
    def related(one: Any, two: Any) -> bool:
        """Return whether unified-planning can compare objects of two types."""
        return not {*one.ancestors}.isdisjoint(two.ancestors)

    def _common(self, types: tuple[str, ...]) -> str:
        lines = [self._line(name) for name in types]
        return next(n for n in lines[0] if all(n in line for line in lines))

    def _line(self, name: str) -> list[str]:
        line = [name]
        while line[-1] != OBJECT:
            parent = self._domain.types.get(line[-1], (OBJECT,))[0]
            if parent in line:
                raise InteropError("a type that is its own supertype", parent)
            line.append(parent)
        return line


def _typed(domain: Domain, problem: Problem) -> list[TypedName]:
    typed = [*domain.constants, *problem.objects]
    parts: list[Expression] = [domain.constraints, problem.goal, problem.constraints]
    for predicate in domain.predicates.values():
        typed += predicate.parameters
    for function in domain.functions.values():
        typed += function.parameters
    for action in domain.actions.values():
        typed += action.parameters
        parts += [action.precondition, action.effect]
    for durative in domain.durative_actions.values():
        typed += durative.parameters
        parts += [durative.condition, durative.effect]
    for part in parts:
        for item in walk(part):
            if isinstance(item, Exists | Forall):
                # A variable with several types becomes several quantifiers.
                typed += [TypedName(v.name, (t,)) for v in item.variables for t in v.types]
    return typed


# Flattening ---------------------------------------------------------------------------------------
# Conditions and effects split into the parts that other libraries represent separately.

_Around = tuple[Expression, tuple[TypedName, ...], Expression, tuple[TimeSpecifier, ...]]


def changes(effect: Expression) -> Iterator[tuple[tuple[TypedName, ...], Expression, Expression]]:
    """Yield (variables, condition, change) for each change of an effect, possibly `Timed`."""
    # A stack of the effects to visit; `times` are the enclosing times.
    open_: list[_Around] = [(effect, (), TRUE, ())]
    while open_:
        effect, variables, condition, times = open_.pop()
        match effect:
            case And(operands):
                open_ += [(o, variables, condition, times) for o in reversed(operands)]
            case Forall(more, body):
                open_.append((body, (*variables, *more), condition, times))
            case When(further, body):
                both = further if condition == TRUE else And((condition, further))
                open_.append((body, variables, both, times))
            case Timed(when, And() | Forall() | When() as body):
                open_.append((body, variables, condition, (*times, when)))
            case _:
                for when in reversed(times):
                    effect = Timed(when, effect)
                yield variables, condition, effect


def timed_parts(
    condition: Expression, variables: tuple[TypedName, ...], where: str
) -> Iterator[tuple[TimeSpecifier, tuple[TypedName, ...], Expression]]:
    """Yield (time, variables, formula) for the parts of a durative action's condition.

    Raises:
        InteropError: A part is a preference or has no time.
    """
    open_ = [(condition, variables)]
    while open_:
        condition, variables = open_.pop()
        match condition:
            case And(operands):
                open_ += [(operand, variables) for operand in reversed(operands)]
            case Forall(more, body):
                open_.append((body, (*variables, *more)))
            case Timed(when, body):
                yield when, variables, body
            case Preference():
                raise InteropError("preferences outside of goals", where)
            case _:
                raise InteropError(f"a condition without a time: {condition}", where)


def one_time(
    condition: Expression, change: Expression, where: str
) -> tuple[TimeSpecifier, Expression, Expression]:
    """Return the time of an effect, the part of its condition at that time, and the change.

    Raises:
        InteropError: The effect has no time, or a part of its condition has another time.
    """
    if not isinstance(change, Timed):
        raise InteropError(f"an effect without a time: {change}", where)
    parts: list[Expression] = []
    for part in conjuncts(condition):
        if not isinstance(part, Timed):
            # Inside a `Timed` effect, the condition is evaluated at the time of the effect.
            parts.append(part)
        elif part.when == change.when:
            parts.append(part.body)
        else:
            raise InteropError("an effect at one time with a condition at another", where)
    at_once = parts[0] if len(parts) == 1 else And(tuple(parts))
    return change.when, at_once, change.body

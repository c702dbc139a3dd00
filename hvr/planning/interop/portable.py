"""Rewrite models for other planners: for strict parsers, or without types."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from itertools import product
from math import prod

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    OBJECT,
    TRUE,
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    DurativeActionSchema,
    Effect,
    Exists,
    Expression,
    Forall,
    Formula,
    FunctionTerm,
    Imply,
    Not,
    NumericEffect,
    NumericExpression,
    Or,
    Predicate,
    Preference,
    Problem,
    Timed,
    TypedName,
    When,
)
from hvr.pddl.formulas import parts_of, walk, with_parts

# Portable models ----------------------------------------------------------------------------------
# PDDL that the strictest parsers accept, above all VAL.
#
# VAL rejects numeric effects outside of `and`, `and` inside the `and` of an effect, sums of three
# operands, empty `or`, actions without a precondition, and untyped names in typed domains.
# Rewriting them does not change the meaning of a model.


def portable(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Rewrite a domain and a problem so that strict parsers accept the printed text."""
    top = OBJECT
    if domain.types:
        top, number = "thing", 2
        while top in domain.types:
            top, number = f"thing-{number}", number + 1
    writer = _Writer(top)
    return writer.domain(domain), writer.problem(problem)


class _Writer:
    def __init__(self, top: str) -> None:
        self.top = top

    def domain(self, domain: Domain) -> Domain:
        types = {
            name: tuple([self.top if p == OBJECT else p for p in parents])
            for name, parents in domain.types.items()
        }
        if self.top != OBJECT:
            types[self.top] = (OBJECT,)
        actions = {}
        for name, action in domain.actions.items():
            condition = self._formula(action.precondition)
            actions[name] = action.replace(
                parameters=self._names(action.parameters),
                # An empty precondition would be omitted when printed.
                precondition=And((TRUE,)) if condition == TRUE else condition,
                effect=self._effect(action.effect),
            )
        durative = {
            name: action.replace(
                parameters=self._names(action.parameters),
                duration=self._formula(action.duration),
                condition=self._formula(action.condition),
                effect=self._effect(action.effect),
            )
            for name, action in domain.durative_actions.items()
        }
        return domain.replace(
            types=types,
            constants=self._names(domain.constants),
            predicates={
                name: predicate.replace(parameters=self._names(predicate.parameters))
                for name, predicate in domain.predicates.items()
            },
            functions={
                name: function.replace(parameters=self._names(function.parameters))
                for name, function in domain.functions.items()
            },
            actions=actions,
            durative_actions=durative,
            derived=tuple(
                rule.replace(parameters=self._names(rule.parameters), body=self._formula(rule.body))
                for rule in domain.derived
            ),
            constraints=self._formula(domain.constraints),
        )

    def problem(self, problem: Problem) -> Problem:
        metric = problem.metric
        return problem.replace(
            objects=self._names(tuple(problem.objects)),
            goal=self._formula(problem.goal),
            constraints=self._formula(problem.constraints),
            metric=metric and metric.replace(expression=_number(metric.expression)),
        )

    def _names(self, names: tuple[TypedName, ...]) -> tuple[TypedName, ...]:
        return tuple(
            TypedName(n.name, tuple([self.top if t == OBJECT else t for t in n.types]))
            for n in names
        )

    def _formula(self, formula: Expression) -> Formula:
        return run_trampoline(self._rewritten(formula))

    def _rewritten(self, formula: Expression) -> Steps[Formula]:
        match formula:
            case Not(Or(())):
                return TRUE
            case Or(()):
                return Not(TRUE)
            case Comparison(_, one, two):
                return formula.replace(left=_number(one), right=_number(two))
            case When() | NumericEffect():
                raise TypeError(f"expected a condition, found the effect {formula}")
            case Forall(variables) | Exists(variables):
                formula = formula.replace(variables=self._names(variables))
        parts = []
        for part in parts_of(formula):
            parts.append((yield self._rewritten(part)))
        return with_parts(formula, parts)  # type: ignore[return-value]

    def _effect(self, effect: Expression) -> Effect:
        return run_trampoline(self._flat(effect))

    def _flat(self, effect: Expression) -> Steps[Effect]:
        match effect:
            case And(operands):
                parts: list[Expression] = []
                for operand in operands:
                    part = yield self._flat(operand)
                    parts += part.operands if isinstance(part, And) else (part,)
                return And(tuple(parts))
            case Forall(variables, body):
                return Forall(self._names(variables), (yield self._flat(body)), effect.location)
            case Timed(_, body):
                return effect.replace(body=(yield self._flat(body)))
            case When(condition, body):
                return When(self._formula(condition), (yield self._flat(body)))
            case NumericEffect():
                return And((effect.replace(amount=_number(effect.amount)),))
            case _:
                return effect  # type: ignore[return-value]


def _number(number: NumericExpression) -> NumericExpression:
    return run_trampoline(_in_pairs(number))


def _in_pairs(number: NumericExpression) -> Steps[NumericExpression]:
    if not isinstance(number, Arithmetic):
        return number
    parts: list[NumericExpression] = []
    for operand in number.operands:
        parts.append((yield _in_pairs(operand)))
    if len(parts) < 3:
        return Arithmetic(number.operator, tuple(parts))
    return reduce(lambda one, two: Arithmetic(number.operator, (one, two)), parts)


# Models without vacuous quantifiers ---------------------------------------------------------------
# Fast Downward's translator reduces a quantifier with a constant body to the body, even if the type
# has no object. It may therefore refute a solvable problem.


def formulas_of(domain: Domain, problem: Problem) -> list[Expression]:
    """Return the goal, the constraints, and the conditions and effects of actions and rules."""
    formulas: list[Expression] = [problem.goal, problem.constraints, domain.constraints]
    for action in domain.actions.values():
        formulas += (action.precondition, action.effect)
    for durative in domain.durative_actions.values():
        formulas += (durative.condition, durative.effect)
    return formulas + [rule.body for rule in domain.derived]


def without_vacuous_quantifiers(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Replace every quantifier over a type without objects by its truth value.

    The domain must have no processes or events. A model without such quantifiers is returned
    unchanged.
    """
    every = (*domain.constants, *problem.objects)

    def is_vacuous(part: Expression) -> bool:
        return isinstance(part, Forall | Exists) and any(
            not any(domain.has_type(item.types, variable.types) for item in every)
            for variable in part.variables
        )

    def value(part: Expression) -> Steps[Expression]:
        if is_vacuous(part):
            return TRUE if isinstance(part, Forall) else Or(())
        parts = []
        for inner in parts_of(part):
            parts.append((yield value(inner)))
        return with_parts(part, parts)

    def changed(formula: Expression) -> Expression:
        return run_trampoline(value(formula))

    if not any(
        is_vacuous(part) for formula in formulas_of(domain, problem) for part in walk(formula)
    ):
        return domain, problem
    new_domain = domain.replace(
        actions={
            name: a.replace(precondition=changed(a.precondition), effect=changed(a.effect))
            for name, a in domain.actions.items()
        },
        durative_actions={
            name: a.replace(condition=changed(a.condition), effect=changed(a.effect))
            for name, a in domain.durative_actions.items()
        },
        derived=tuple([rule.replace(body=changed(rule.body)) for rule in domain.derived]),
        constraints=changed(domain.constraints),
    )
    goal, constraints = changed(problem.goal), changed(problem.constraints)
    return new_domain, problem.replace(goal=goal, constraints=constraints)


# Untyped models -----------------------------------------------------------------------------------
# Models without types, for engines without support for type hierarchies.
#
# Types become static predicates: parameters and variables range over all objects, and conditions
# test the type of each object.

_MOST_VALUES = 20_000


def without_types(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Return an equivalent domain and problem without types; predicates replace them.

    The domain must have no derived predicates, processes or events.
    """
    writer = _Untyped(domain)
    actions = {name: writer.action(action) for name, action in domain.actions.items()}
    durative = {name: writer.durative(a) for name, a in domain.durative_actions.items()}
    constraints = writer.formula(domain.constraints)
    goal, further = writer.formula(problem.goal), writer.formula(problem.constraints)
    untyped = {
        p.name: p.replace(parameters=_bare(p.parameters)) for p in domain.predicates.values()
    }
    one = (TypedName("?x", (OBJECT,)),)
    new_domain = domain.replace(
        types={},
        constants=_bare(domain.constants),
        predicates={**untyped, **{n: Predicate(n, one) for n in writer.names.values()}},
        functions={
            f.name: f.replace(parameters=_bare(f.parameters)) for f in domain.functions.values()
        },
        actions=actions,
        durative_actions=durative,
        constraints=constraints,
    )
    every = (*domain.constants, *problem.objects)
    types = frozenset(
        Atom(name, (item.name,))
        for kind, name in writer.names.items()
        for item in every
        if domain.has_type(item.types, (kind,))
    )
    new_problem = problem.replace(
        objects=_bare(problem.objects),
        init=frozenset(problem.init) | types,
        goal=goal,
        constraints=further,
    )
    return new_domain, new_problem


def _bare(names: Iterable[TypedName]) -> tuple[TypedName, ...]:
    return tuple([TypedName(item.name, (OBJECT,)) for item in names])


def with_all_values(domain: Domain, problem: Problem) -> Problem:
    """Return the problem with undefined functions set to 0, because some engines crash on them.

    A plan that reads such a value is invalid for the original problem. A function with more than
    20,000 possible instances is left unchanged.
    """
    every = (*domain.constants, *problem.objects)
    values: dict[FunctionTerm, Decimal] = {}
    for function in domain.functions.values():
        fitting = [
            [item.name for item in every if domain.has_type(item.types, parameter.types)]
            for parameter in function.parameters
        ]
        if prod(map(len, fitting)) <= _MOST_VALUES:
            for args in product(*fitting):
                values[FunctionTerm(function.name, args)] = Decimal(0)
    return problem.replace(numeric_init={**values, **problem.numeric_init})


class _Untyped:
    """Rewrites expressions without types; `names` maps each type to its predicate."""

    def __init__(self, domain: Domain) -> None:
        self.names: dict[str, str] = {}
        self._taken = {*domain.predicates, *domain.functions}

    def action(self, action: ActionSchema) -> ActionSchema:
        return action.replace(
            parameters=_bare(action.parameters),
            precondition=_both(self._typed(action.parameters), self.formula(action.precondition)),
            effect=self._effect(action.effect, ()),
        )

    def durative(self, action: DurativeActionSchema) -> DurativeActionSchema:
        typed = [Timed("at start", part) for part in self._typed(action.parameters)]
        return action.replace(
            parameters=_bare(action.parameters),
            condition=_both(typed, run_trampoline(self._timed(action.condition, ()))),
            effect=self._effect(action.effect, ()),
        )

    def _timed(self, condition: Expression, guard: tuple[Expression, ...]) -> Steps[Expression]:
        match condition:
            case And(operands):
                parts = []
                for operand in operands:
                    parts.append((yield self._timed(operand, guard)))
                return And(tuple(parts))
            case Forall(variables, body):
                inner = yield self._timed(body, (*guard, *self._typed(variables)))
                return Forall(_bare(variables), inner)
            case Preference(_, body):
                return condition.replace(body=(yield self._timed(body, guard)))
            case Timed(when, body):
                inner = yield self._formula(body)
                return Timed(when, Imply(And(guard), inner) if guard else inner)
        return condition

    def formula(self, formula: Expression) -> Expression:
        return run_trampoline(self._formula(formula))

    def _formula(self, formula: Expression) -> Steps[Expression]:
        match formula:
            case Forall(variables, body):
                inner = yield self._formula(body)
                guard = And(tuple(self._typed(variables)))
                return Forall(_bare(variables), Imply(guard, inner) if guard.operands else inner)
            case Exists(variables, body):
                inner = yield self._formula(body)
                return Exists(_bare(variables), _both(self._typed(variables), inner))
        parts = []
        for part in parts_of(formula):
            parts.append((yield self._formula(part)))
        return with_parts(formula, parts)

    def _effect(self, effect: Expression, guard: tuple[Expression, ...]) -> Expression:
        return run_trampoline(self._guarded(effect, guard))

    def _guarded(self, effect: Expression, guard: tuple[Expression, ...]) -> Steps[Expression]:
        match effect:
            case And(operands):
                parts = []
                for operand in operands:
                    parts.append((yield self._guarded(operand, guard)))
                return And(tuple(parts))
            case Forall(variables, body):
                inner = yield self._guarded(body, (*guard, *self._typed(variables)))
                return Forall(_bare(variables), inner)
            case When(condition, body):
                inner = yield self._guarded(body, guard)
                return When((yield self._formula(condition)), inner)
            case Timed(when, body):
                # Guard the inner effect: a condition outside would need a time.
                return Timed(when, (yield self._guarded(body, guard)))
        return When(And(guard), effect) if guard else effect

    def _typed(self, variables: Iterable[TypedName]) -> list[Expression]:
        parts: list[Expression] = []
        for variable in variables:
            if OBJECT in variable.types:
                continue
            kinds = [Atom(self._name(kind), (variable.name,)) for kind in variable.types]
            parts.append(kinds[0] if len(kinds) == 1 else Or(tuple(kinds)))
        return parts

    def _name(self, kind: str) -> str:
        if kind not in self.names:
            name = f"is-{kind}"
            while name in self._taken:
                name += "-"
            self._taken.add(name)
            self.names[kind] = name
        return self.names[kind]


def _both(conditions: Iterable[Expression], formula: Expression) -> Expression:
    parts = (*conditions, *((formula,) if formula != TRUE else ()))
    return parts[0] if len(parts) == 1 else And(parts)

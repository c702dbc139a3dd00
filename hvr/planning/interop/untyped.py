"""Problems without types, for engines that know no type hierarchies.

Types become static predicates: parameters and variables range over all objects, and conditions
test the type of each object.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import product
from math import prod

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    OBJECT,
    TRUE,
    ActionSchema,
    And,
    Atom,
    Domain,
    DurativeActionSchema,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    Or,
    Predicate,
    Preference,
    Problem,
    Timed,
    Trajectory,
    TypedName,
    When,
)

_MOST_VALUES = 20_000
"""Values that are given to a function where its types leave it undefined."""


def without_types(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Return a domain and a problem in which every object has the type `object`.

    Plans are the same.

    Args:
        domain: The domain; it must have neither derived predicates nor processes and events.
        problem: A problem of the domain.
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
    """Return a problem in which functions without a value have the value 0.

    Some engines crash where a value is undefined. A plan that reads such a value is not valid for
    the problem itself. A function with more than 20,000 undefined values keeps them undefined.
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
    """Rewrites expressions; `names` gives each type that they mention its predicate."""

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
            condition=_both(typed, finish(self._timed(action.condition, ()))),
            effect=self._effect(action.effect, ()),
        )

    def _timed(self, condition: Expression, guard: tuple[Expression, ...]) -> Steps[Expression]:
        """Rewrite the condition of a durative action, with the types of its variables."""
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
        return finish(self._formula(formula))

    def _formula(self, formula: Expression) -> Steps[Expression]:
        match formula:
            case Forall(variables, body):
                inner = yield self._formula(body)
                guard = And(tuple(self._typed(variables)))
                return Forall(_bare(variables), Imply(guard, inner) if guard.operands else inner)
            case Exists(variables, body):
                inner = yield self._formula(body)
                return Exists(_bare(variables), _both(self._typed(variables), inner))
            case And(operands) | Or(operands):
                parts = []
                for operand in operands:
                    parts.append((yield self._formula(operand)))
                return formula.replace(operands=tuple(parts))
            case Not(operand):
                return formula.replace(operand=(yield self._formula(operand)))
            case Imply(left, right):
                first = yield self._formula(left)
                return formula.replace(left=first, right=(yield self._formula(right)))
            case Timed(_, body) | Preference(_, body):
                return formula.replace(body=(yield self._formula(body)))
            case Trajectory(_, _, formulas):
                parts = []
                for part in formulas:
                    parts.append((yield self._formula(part)))
                return formula.replace(formulas=tuple(parts))
        return formula

    def _effect(self, effect: Expression, guard: tuple[Expression, ...]) -> Expression:
        return finish(self._guarded(effect, guard))

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
                # Inside, since a condition outside would have to be given a time.
                return Timed(when, (yield self._guarded(body, guard)))
        return When(And(guard), effect) if guard else effect

    def _typed(self, variables: Iterable[TypedName]) -> list[Expression]:
        """Return one condition per variable that has a type other than `object`."""
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

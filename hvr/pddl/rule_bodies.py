"""Bodies of rules for derived predicates, taken apart into conjunctions that can be joined."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

from hvr.base.nested import Steps, finish
from hvr.pddl.facts import Literal
from hvr.pddl.model import (
    And,
    Atom,
    DerivedPredicate,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
    substitute,
)
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl.task import Task

_MOST_DISJUNCTS = 64
"""A rule body that multiplies out into more conjunctions than this is checked as it stands."""


class _Disjunct(Value):
    """A conjunction: variables to find, literals to join, and what is left to be checked."""

    variables: tuple[TypedName, ...] = ()
    literals: tuple[Literal, ...] = ()
    rest: tuple[Expression, ...] = ()


class Clause(Value):
    """A head and one conjunction that it follows from; `variables` are those of both."""

    head: Atom
    variables: tuple[TypedName, ...]
    literals: tuple[Literal, ...]
    rest: tuple[Expression, ...]

    def fits(self, task: Task, binding: Mapping[str, str]) -> bool:
        """Say whether what some variables stand for has their types."""
        members = task.members
        return all(binding[v.name] in members(v.types) for v in self.variables if v.name in binding)


def clauses_of(rule: DerivedPredicate) -> list[Clause]:
    """Take a rule apart as far as it pays."""
    head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
    return [
        Clause(head, (*rule.parameters, *body.variables), body.literals, body.rest)
        for body in finish(_disjuncts(rule.body, True, _Names(), {}))
    ]


class _Names:
    """Makes new names for the variables of inner quantifiers."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}.{self.count}"


def _disjuncts(
    formula: Expression, positive: bool, names: _Names, renamed: Mapping[str, str]
) -> Steps[list[_Disjunct]]:
    """Take a formula (or its negation) apart as far as it pays.

    Each disjunct becomes a rule of its own, whose literals can be joined. Negation is pushed
    inwards on the way. `renamed` has the names that variables have in the rule.
    """
    match formula:
        case Atom() | Equal():
            literal = substitute(formula, renamed)
            assert isinstance(literal, Atom | Equal)
            return [_Disjunct(literals=((literal, positive),))]
        case Not(operand):
            found: list[_Disjunct] = yield _disjuncts(operand, not positive, names, renamed)
            return found
        case And(operands) | Or(operands):
            sides = [(operand, positive) for operand in operands]
            # De Morgan: a negated conjunction is a disjunction, and the other way round.
            either = isinstance(formula, And) != positive
        case Imply(left, right):
            sides = [(left, not positive), (right, positive)]
            either = positive
        case Exists(variables, body) | Forall(variables, body) if (
            isinstance(formula, Exists) == positive
        ):
            # A variable of a quantifier becomes one of the rule, where its name may be taken.
            new = {v.name: names.fresh(v.name) for v in variables}
            own = tuple([TypedName(new[v.name], v.types) for v in variables])
            inner = yield _disjuncts(body, positive, names, {**renamed, **new} if new else renamed)
            return [_Disjunct((*own, *one.variables), one.literals, one.rest) for one in inner]
        case _:
            return _as_it_is(formula, positive, renamed)
    parts: list[list[_Disjunct]] = []
    for side, sign in sides:
        parts.append((yield _disjuncts(side, sign, names, renamed)))
    if either:
        return [one for part in parts for one in part]
    return _all_of(parts) or _as_it_is(formula, positive, renamed)


def _as_it_is(formula: Expression, positive: bool, renamed: Mapping[str, str]) -> list[_Disjunct]:
    formula = substitute(formula, renamed) if renamed else formula
    return [_Disjunct(rest=(formula if positive else Not(formula),))]


def _all_of(parts: list[list[_Disjunct]]) -> list[_Disjunct]:
    """Return the conjunction of disjunctions as one disjunction, nothing when it is too long.

    Nothing, too, where a part is never true; the caller then keeps the formula as it is.
    """
    size = 1
    for part in parts:
        size *= len(part)
        if size > _MOST_DISJUNCTS:
            return []
    return [
        _Disjunct(
            tuple([v for one in row for v in one.variables]),
            tuple([item for one in row for item in one.literals]),
            tuple([item for one in row for item in one.rest]),
        )
        for row in product(*parts)
    ]

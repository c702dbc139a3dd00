"""What a problem asks of a planner."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from hvr.pddl import (
    And,
    Comparison,
    Domain,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    NumericEffect,
    Or,
    Preference,
    Problem,
    When,
)
from hvr.pddl.model import TRUE, changes_of, functions_of, walk

TOTAL_COST = "total-cost"
_COMPOUND = (And, Or, Not, Imply, Forall, Exists)


class Feature(StrEnum):
    """A part of PDDL that not every planner has."""

    DURATIVE = "durative actions"
    NUMERIC = "numeric fluents"
    CONTINUOUS = "processes, events or continuous effects"
    TIMED = "timed initial literals"
    CONSTRAINTS = "trajectory constraints"
    PREFERENCES = "preferences"
    DERIVED = "derived predicates"
    CONDITIONAL = "conditional effects"
    UNIVERSAL = "universal conditions or a goal with alternatives"
    COSTS = "action costs"
    METRIC = "a metric other than total-cost"


def features_of(domain: Domain, problem: Problem) -> frozenset[Feature]:
    """Return what the domain and the problem use, not what `:requirements` says."""
    return frozenset(_used(domain, problem))


def _used(domain: Domain, problem: Problem) -> Iterator[Feature]:
    if domain.durative_actions:
        yield Feature.DURATIVE
    if domain.moves:
        yield Feature.CONTINUOUS
    if problem.timed_init:
        yield Feature.TIMED
    if domain.derived:
        yield Feature.DERIVED
    if domain.constraints != TRUE or problem.constraints != TRUE:
        yield Feature.CONSTRAINTS
    formulas: list[Expression] = [problem.goal, problem.constraints, domain.constraints]
    for action in domain.actions.values():
        formulas += (action.precondition, action.effect)
    for durative in domain.durative_actions.values():
        formulas += (durative.condition, durative.effect)
    formulas += (rule.body for rule in domain.derived)
    parts = [part for formula in formulas for part in walk(formula)]
    if any(isinstance(part, Preference) for part in parts):
        yield Feature.PREFERENCES
    if any(isinstance(part, When) for part in parts):
        yield Feature.CONDITIONAL
    conditions: list[Expression] = [a.precondition for a in domain.actions.values()]
    conditions += (part.condition for part in parts if isinstance(part, When))
    if not _conjunctive(problem.goal) or any(map(_universal, conditions)):
        yield Feature.UNIVERSAL
    effects = [action.effect for action in domain.actions.values()]
    effects += (action.effect for action in domain.durative_actions.values())
    changed = {
        change.fluent.function
        for effect in effects
        for change in changes_of(effect)
        if isinstance(change, NumericEffect)
    }
    if changed - {TOTAL_COST} or any(isinstance(part, Comparison) for part in parts):
        yield Feature.NUMERIC
    if TOTAL_COST in changed:
        yield Feature.COSTS
    if problem.metric is not None:
        wanted = {term.function for term in functions_of(problem.metric.expression)}
        if problem.metric.direction != "minimize" or wanted != {TOTAL_COST}:
            yield Feature.METRIC


def _conjunctive(goal: Expression) -> bool:
    open_ = [goal]
    while open_:
        part = open_.pop()
        if isinstance(part, And):
            open_ += part.operands
        elif isinstance(part.operand if isinstance(part, Not) else part, _COMPOUND):
            return False
    return True


def _universal(condition: Expression) -> bool:
    """Return whether a condition has "for all", if only as a negated "there is"."""
    return any(
        isinstance(part, Forall) or (isinstance(part, Not) and isinstance(part.operand, _COMPOUND))
        for part in walk(condition)
    )

"""Durative actions as two instantaneous ones: a start and an end (Fox & Long 2003).

The search estimates distances with them: they have the conditions and effects of the durative
action, without its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Expression,
    Forall,
    NumericEffect,
    NumericExpression,
    Predicate,
    Problem,
    When,
)
from hvr.pddl.durative import part_at
from hvr.pddl.facts import conjuncts
from hvr.pddl.model import Effect, Formula, Timed


@dataclass(frozen=True)
class Snapped:
    """A domain with starts and ends beside its durative actions.

    Args:
        domain: The domain.
        starts, ends: Names of durative actions by the names of their starts and ends.
        running: Predicates that are true while an action goes on, by its name.
        literals: Indexes of timed initial literals by the names of the actions that stand for them.
    """

    domain: Domain
    starts: Mapping[str, str]
    ends: Mapping[str, str]
    running: Mapping[str, str]
    literals: Mapping[str, int]


def snapped(domain: Domain, problem: Problem) -> Snapped:
    """Return a domain with a start and an end for each durative action.

    Timed initial literals become actions without conditions.
    """
    taken = {*domain.predicates, *domain.functions, *domain.actions, *domain.durative_actions}

    def fresh(name: str) -> str:
        while name in taken:
            name += "-"
        taken.add(name)
        return name

    actions = dict(domain.actions)
    predicates = dict(domain.predicates)
    starts: dict[str, str] = {}
    ends: dict[str, str] = {}
    running: dict[str, str] = {}
    for schema in domain.durative_actions.values():
        predicate = running[schema.name] = fresh(f"{schema.name}-goes-on")
        predicates[predicate] = Predicate(predicate, schema.parameters)
        going_on = Atom(predicate, tuple([p.name for p in schema.parameters]))
        for when, names in (("at start", starts), ("at end", ends)):
            name = fresh(f"{schema.name}-{when[3:]}s")
            names[name] = schema.name
            actions[name] = _end_of(schema, name, when, going_on)
    literals: dict[str, int] = {}
    for number, timed in enumerate(problem.timed_init):
        name = fresh(f"literal-{number}")
        literals[name] = number
        actions[name] = ActionSchema(name, effect=timed.effect)
    changed = domain.replace(actions=actions, predicates=predicates)
    return Snapped(changed, starts, ends, running, literals)


def _end_of(schema: DurativeActionSchema, name: str, when: str, going_on: Atom) -> ActionSchema:
    condition = cast(Formula, part_at(schema.condition, when))
    effect = cast(Effect, finish(_without_duration(part_at(schema.effect, when), _bound(schema))))
    if when == "at start":
        return ActionSchema(name, schema.parameters, condition, And((effect, going_on)))
    needs = And((going_on, condition, part_at(schema.condition, "over all")))
    # That it goes on may stay true: estimates ignore deletes.
    return ActionSchema(name, schema.parameters, needs, effect)


def _bound(schema: DurativeActionSchema) -> NumericExpression:
    """Return a bound of the duration: the least one that is written, else any."""
    for symbols in (("=",), (">=", ">"), ("<=", "<")):
        for part in conjuncts(schema.duration):
            test = part.body if isinstance(part, Timed) else part
            if isinstance(test, Comparison) and test.operator in symbols:
                return test.right
    return Duration()


def _without_duration(effect: Expression, bound: NumericExpression) -> Steps[Expression]:
    match effect:
        case And(operands):
            parts: list[Expression] = []
            for operand in operands:
                parts.append((yield _without_duration(operand, bound)))
            return And(tuple(parts))
        case Forall(_, body):
            return effect.replace(body=(yield _without_duration(body, bound)))
        case When(condition, body):
            return When(condition, (yield _without_duration(body, bound)))
        case NumericEffect(_, _, amount):
            return effect.replace(amount=finish(_number(amount, bound)))
    return effect


def _number(number: NumericExpression, bound: NumericExpression) -> Steps[NumericExpression]:
    if isinstance(number, Duration):
        return bound
    if isinstance(number, Arithmetic):
        operands: list[NumericExpression] = []
        for operand in number.operands:
            operands.append((yield _number(operand, bound)))
        return number.replace(operands=tuple(operands))
    return number

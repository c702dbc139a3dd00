"""Durative actions, compiled: an operator for the start, one for the end, what holds between."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.pddl import conditions
from hvr.pddl.compiler import Binding, Compiler, Effects
from hvr.pddl.conditions import Conjunction, Operator
from hvr.pddl.model import (
    TRUE,
    And,
    Comparison,
    DurativeActionSchema,
    Expression,
    Forall,
    GroundAction,
    Preference,
    Timed,
    TimeSpecifier,
    When,
)
from hvr.pddl.numeric import Compiled, Rational
from hvr.pddl.task import Task, binding_of
from hvr.values import Value


class DurationTest(Value):
    """A constraint on the duration: `?duration` `symbol` `bound`, read at the start or end."""

    when: TimeSpecifier
    symbol: str
    bound: Compiled
    text: Comparison


class SpanningEffect(Value):
    """An effect at the end with a condition on the start or the time between.

    Attributes:
        start, between, end: the parts of its condition, compiled.
        effects: the operator whose effects it has.
        condition, effect: its condition and effect at the end, as they are written.
        binding: what their variables stand for.
    """

    start: Conjunction
    between: Conjunction
    end: Conjunction
    effects: Operator
    condition: Expression
    effect: Expression
    binding: Binding


class Wish(Value):
    """A preference in the condition of a durative action: its parts, compiled."""

    name: str
    start: Conjunction
    between: Conjunction
    end: Conjunction


class DurativeOperator(Value):
    """A ground durative action with its duration, compiled.

    Attributes:
        start, end: what happens at its start and at its end.
        invariant: what must hold between, in the open interval.
        wishes: the preferences in its condition.
        tests: the constraints on its duration.
        spanning: conditional effects that look at more than one time.
    """

    schema: DurativeActionSchema
    binding: Binding
    start: Operator
    invariant: Conjunction
    end: Operator
    wishes: tuple[Wish, ...]
    tests: tuple[DurationTest, ...]
    spanning: tuple[SpanningEffect, ...]


def ground_durative(
    task: Task, action: GroundAction, duration: Rational | None
) -> DurativeOperator:
    """Compile a durative action that fits the task.

    Raises:
        GroundingLimitError: its quantifiers have too many instances.
    """
    schema = task.domain.durative_actions[action.name]
    binding = binding_of(schema, action)
    compiler = Compiler(task, duration)

    def parts(formula: Expression, found: Binding) -> tuple[Conjunction, Conjunction, Conjunction]:
        start, between, end = (
            compiler.condition(condition_at(formula, when), found)
            for when in ("at start", "over all", "at end")
        )
        return start, between, end

    start, invariant, end = parts(schema.condition, binding)
    wishes = [
        Wish(preference.name, *parts(preference.body, found))
        for preference, found in compiler.preferences(schema.condition, binding)
    ]
    spanning = []
    for effect, found in _spanning(compiler, schema.effect, binding):
        at_end = effect_at(effect.effect, "at end")
        spanning.append(
            SpanningEffect(
                *parts(effect.condition, found),
                _operator(compiler, action, conditions.TRUE, at_end, found),
                condition_at(effect.condition, "at end"),
                at_end,
                found,
            )
        )
    tests = [
        DurationTest(when, test.operator, compiler.number(test.right, binding), test)
        for when, test in _duration_tests(schema.duration, "at start")
    ]
    return DurativeOperator(
        schema,
        binding,
        _operator(compiler, action, start, effect_at(schema.effect, "at start"), binding),
        invariant,
        _operator(compiler, action, end, effect_at(schema.effect, "at end"), binding),
        tuple(wishes),
        tuple(tests),
        tuple(spanning),
    )


def _operator(
    compiler: Compiler,
    action: GroundAction,
    condition: Conjunction,
    effect: Expression,
    binding: Binding,
) -> Operator:
    effects = Effects()
    compiler.effect(effect, binding, conditions.TRUE, effects)
    return Operator(
        action,
        condition,
        effects.add,
        effects.delete,
        tuple(effects.conditional),
        tuple(effects.numeric),
    )


def condition_at(formula: Expression, when: str) -> Expression:
    """Return the part of the condition of a durative action that belongs to a time."""
    match formula:
        case Timed(time, body):
            return body if time == when else TRUE
        case And(operands):
            parts = [condition_at(o, when) for o in operands]
            return And(tuple([part for part in parts if part != TRUE]))
        case Forall(variables, body):
            inner = condition_at(body, when)
            return TRUE if inner == TRUE else Forall(variables, inner, location=formula.location)
        case Preference(name, body):
            inner = condition_at(body, when)
            return TRUE if inner == TRUE else Preference(name, inner, location=formula.location)
        case _:
            return TRUE


def times_of(formula: Expression) -> set[str]:
    """Return the times that the condition of a durative action speaks of."""
    match formula:
        case Timed(time, _):
            return {time}
        case And(operands):
            return set().union(*map(times_of, operands))
        case Forall(_, body) | Preference(_, body):
            return times_of(body)
        case _:
            return set()


def effect_at(effect: Expression, when: str) -> Expression:
    """Return the part of an effect that depends on a single time, and takes place then."""
    match effect:
        case Timed(time, body):
            return body if time == when else TRUE
        case And(operands):
            parts = [effect_at(o, when) for o in operands]
            return And(tuple([part for part in parts if part != TRUE]))
        case Forall(variables, body):
            inner = effect_at(body, when)
            return TRUE if inner == TRUE else Forall(variables, inner)
        case When(condition, body):
            inner = effect_at(body, when)
            if inner == TRUE or not times_of(condition) <= {when}:
                return TRUE
            return When(condition_at(condition, when), inner)
        case _:
            return TRUE


def _spanning(
    compiler: Compiler, effect: Expression, binding: Binding
) -> Iterator[tuple[When, Binding]]:
    """Yield the conditional effects at the end whose condition looks at another time."""
    match effect:
        case And(operands):
            for operand in operands:
                yield from _spanning(compiler, operand, binding)
        case Forall(variables, body):
            for found in compiler.instances(variables, TRUE, True, binding):
                yield from _spanning(compiler, body, found)
        case When(condition, body):
            if not times_of(condition) <= {"at end"} and effect_at(body, "at end") != TRUE:
                yield effect, binding
        case _:
            pass


def _duration_tests(
    formula: Expression, when: TimeSpecifier
) -> Iterator[tuple[TimeSpecifier, Comparison]]:
    match formula:
        case And(operands):
            for operand in operands:
                yield from _duration_tests(operand, when)
        case Timed(time, body):
            yield from _duration_tests(body, time)
        case Comparison():
            yield when, formula
        case _:
            pass

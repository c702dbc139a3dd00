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
    # Nothing is cached here: conditions and effects may depend on `?duration`.
    schema = task.domain.durative_actions[action.name]
    binding = binding_of(schema, action)
    compiler = Compiler(task, duration)

    def parts(
        formula: Expression, instance: Binding
    ) -> tuple[Conjunction, Conjunction, Conjunction]:
        start, between, end = (
            compiler.condition(part_at(formula, when), instance)
            for when in ("at start", "over all", "at end")
        )
        return start, between, end

    start, invariant, end = parts(schema.condition, binding)
    wishes = [
        Wish(preference.name, *parts(preference.body, instance))
        for preference, instance in compiler.preferences(schema.condition, binding)
    ]
    spanning = []
    for effect, instance in _spanning(compiler, schema.effect, binding):
        at_end = part_at(effect.effect, "at end")
        spanning.append(
            SpanningEffect(
                *parts(effect.condition, instance),
                _operator(compiler, action, conditions.TRUE, at_end, instance),
                part_at(effect.condition, "at end"),
                at_end,
                instance,
            )
        )
    tests = [
        DurationTest(when, test.operator, compiler.number(test.right, binding), test)
        for when, test in _duration_tests(schema.duration, "at start")
    ]
    return DurativeOperator(
        schema,
        binding,
        _operator(compiler, action, start, part_at(schema.effect, "at start"), binding),
        invariant,
        _operator(compiler, action, end, part_at(schema.effect, "at end"), binding),
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


def part_at(expression: Expression, when: str) -> Expression:
    """Return the part of a condition or effect of a durative action that belongs to a time.

    Effects that take place then and depend on another time, too, are left out: see `_spanning`.
    """
    match expression:
        case Timed(time, body):
            return body if time == when else TRUE
        case And(operands):
            parts = [part_at(o, when) for o in operands]
            return And(tuple([part for part in parts if part != TRUE]))
        case Forall(variables, body):
            inner = part_at(body, when)
            return TRUE if inner == TRUE else Forall(variables, inner, expression.location)
        case Preference(name, body):
            inner = part_at(body, when)
            return TRUE if inner == TRUE else Preference(name, inner, expression.location)
        case When(condition, body):
            inner = part_at(body, when)
            if inner == TRUE or not times_of(condition) <= {when}:
                return TRUE
            return When(part_at(condition, when), inner)
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


def _spanning(
    compiler: Compiler, effect: Expression, binding: Binding
) -> Iterator[tuple[When, Binding]]:
    """Yield the conditional effects at the end whose condition looks at another time.

    No single state decides them, so that whoever executes the action has to remember the outcome
    of the earlier parts until it ends. Effects at the start cannot look ahead and are not among
    them.
    """
    match effect:
        case And(operands):
            for operand in operands:
                yield from _spanning(compiler, operand, binding)
        case Forall(variables, body):
            for instance in compiler.instances(variables, TRUE, True, binding):
                yield from _spanning(compiler, body, instance)
        case When(condition, body):
            if not times_of(condition) <= {"at end"} and part_at(body, "at end") != TRUE:
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

"""Compiled durative actions: operators for start and end, and the invariant between them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import state
from hvr.pddl.compiler import Binding, Compiler, Effects, template_of_parts
from hvr.pddl.formulas import (
    TRUE,
    And,
    Arithmetic,
    Comparison,
    Duration,
    Expression,
    Forall,
    NumericExpression,
    Preference,
    Timed,
    TimeSpecifier,
    When,
    numbers_of,
    walk,
)
from hvr.pddl.model import DurativeActionSchema, GroundAction
from hvr.pddl.state import Compiled, Conjunction, Operator, Rational
from hvr.pddl.task import Task, binding_of
from hvr.values import Value

_TIMES = ("at start", "over all", "at end")
_MOST_KNOWN = 2000


class DurationTest(Value):
    """A duration constraint `?duration symbol bound`, evaluated at the start or end."""

    when: TimeSpecifier
    symbol: str
    bound: Compiled
    text: Comparison


class SpanningEffect(Value):
    """An end effect whose condition also reads the start of the action or the states in between.

    Attributes:
        start, between, end: The compiled parts of the condition.
        condition_at_start: The uncompiled part of the condition at the start.
        condition, effect: The uncompiled condition and effect at the end.
    """

    start: Conjunction
    between: Conjunction
    end: Conjunction
    effects: Operator
    condition_at_start: Expression
    condition: Expression
    effect: Expression
    binding: Binding


class DurativePreference(Value):
    """A preference in the condition of a durative action, with its compiled parts."""

    name: str
    start: Conjunction
    between: Conjunction
    end: Conjunction


class DurativeOperator(Value):
    """A compiled ground durative action with its duration.

    Attributes:
        template: The schema, split by time.
        invariant: The condition that must hold strictly between start and end.
        spanning: The end effects whose conditions also read earlier states.
    """

    template: DurativeTemplate
    binding: Binding
    start: Operator
    invariant: Conjunction
    end: Operator
    preferences: tuple[DurativePreference, ...]
    tests: tuple[DurationTest, ...]
    spanning: tuple[SpanningEffect, ...]

    @property
    def is_guarded(self) -> bool:
        """Whether the action depends on the states between its start and end."""
        return bool(not self.invariant.is_empty or self.preferences or self.spanning)


class DurativeTemplate:
    """A durative action schema, split into its start, its invariant and its end.

    It also compiles the end effects whose conditions read earlier states ("spanning" effects).
    """

    def __init__(self, task: Task, schema: DurativeActionSchema) -> None:
        self.schema = schema
        self.conditions = {when: part_at(schema.condition, when) for when in _TIMES}
        self.effects = {when: part_at(schema.effect, when) for when in ("at start", "at end")}
        self._task = task
        self._tests = tuple(_duration_tests(schema.duration, "at start"))
        self._spanning = any(isinstance(part, When) for part in walk(schema.effect))
        effects = {**self.effects, "over all": TRUE}
        self._parts = {
            when: template_of_parts(task, schema, self.conditions[when], effects[when])
            for when in _TIMES
        }
        numbers = [n for part in (schema.condition, schema.effect) for n in numbers_of(part)]
        numbers += [test.right for _, test in self._tests]
        self._depends = any(map(_names_duration, numbers))
        self._known: dict[tuple[GroundAction, Rational | None], DurativeOperator] = {}

    def ground(self, action: GroundAction, duration: Rational | None) -> DurativeOperator:
        key = action, duration if self._depends else None
        operator = self._known.get(key)
        if operator is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            operator = self._known[key] = self._compiled(action, duration)
        return operator

    def _compiled(self, action: GroundAction, duration: Rational | None) -> DurativeOperator:
        binding = binding_of(self.schema, action)
        compiler = Compiler(self._task, duration)
        invariant = self._parts["over all"]
        preferences = tuple(
            [
                DurativePreference(preference.name, *_parts(compiler, preference.body, instance))
                for preference, instance in compiler.preferences(self.schema.condition, binding)
            ]
        )
        return DurativeOperator(
            self,
            binding,
            self._end(compiler, action, binding, "at start"),
            compiler.condition(self.conditions["over all"], binding)
            if invariant is None
            else invariant.condition(action),
            self._end(compiler, action, binding, "at end"),
            preferences,
            tuple(
                [
                    DurationTest(when, test.operator, compiler.number(test.right, binding), test)
                    for when, test in self._tests
                ]
            ),
            tuple(self._spanning_of(compiler, action, binding)) if self._spanning else (),
        )

    def _end(
        self, compiler: Compiler, action: GroundAction, binding: Binding, when: str
    ) -> Operator:
        template = self._parts[when]
        if template is not None:
            return template.ground(action, compiler.duration)
        condition = compiler.condition(self.conditions[when], binding)
        return _operator(compiler, action, condition, self.effects[when], binding)

    def _spanning_of(
        self, compiler: Compiler, action: GroundAction, binding: Binding
    ) -> Iterator[SpanningEffect]:
        for effect, instance in _spanning(compiler, self.schema.effect, binding):
            at_end = part_at(effect.effect, "at end")
            yield SpanningEffect(
                *_parts(compiler, effect.condition, instance),
                _operator(compiler, action, state.TRUE, at_end, instance),
                part_at(effect.condition, "at start"),
                part_at(effect.condition, "at end"),
                at_end,
                instance,
            )


def ground_durative(
    task: Task, action: GroundAction, duration: Rational | None
) -> DurativeOperator:
    """Return the operator of a durative action of the task; `duration` may be unknown (None)."""
    template = task.durative_templates.get(action.name)
    if template is None:
        template = DurativeTemplate(task, task.domain.durative_actions[action.name])
        task.durative_templates[action.name] = template
    return template.ground(action, duration)


def _parts(
    compiler: Compiler, formula: Expression, binding: Binding
) -> tuple[Conjunction, Conjunction, Conjunction]:
    start, between, end = (compiler.condition(part_at(formula, when), binding) for when in _TIMES)
    return start, between, end


def _names_duration(number: NumericExpression) -> bool:
    stack = [number]
    while stack:
        item = stack.pop()
        if isinstance(item, Duration):
            return True
        if isinstance(item, Arithmetic):
            stack += item.operands
    return False


def _operator(
    compiler: Compiler,
    action: GroundAction,
    condition: Conjunction,
    effect: Expression,
    binding: Binding,
) -> Operator:
    effects = Effects()
    compiler.effect(effect, binding, state.TRUE, effects)
    return Operator(
        action,
        condition,
        effects.add,
        effects.delete,
        tuple(effects.conditional),
        tuple(effects.numeric),
    )


def part_at(expression: Expression, when: str) -> Expression:
    """Return the part of a durative action's condition or effect that has the time `when`.

    Effects whose condition has a part with another time are omitted: see `_spanning`.
    """
    return run_trampoline(_part_at(expression, when))


def _part_at(expression: Expression, when: str) -> Steps[Expression]:
    match expression:
        case Timed(time, body):
            return body if time == when else TRUE
        case And(operands):
            parts: list[Expression] = []
            for operand in operands:
                part = yield _part_at(operand, when)
                if part != TRUE:
                    parts.append(part)
            return And(tuple(parts))
        case Forall(variables, body):
            inner = yield _part_at(body, when)
            return TRUE if inner == TRUE else Forall(variables, inner, expression.location)
        case Preference(name, body):
            inner = yield _part_at(body, when)
            return TRUE if inner == TRUE else Preference(name, inner, expression.location)
        case When(condition, body):
            inner = yield _part_at(body, when)
            if inner == TRUE or not times_of(condition) <= {when}:
                return TRUE
            return When(part_at(condition, when), inner)
        case _:
            return TRUE


def times_of(formula: Expression) -> set[str]:
    """Return the times that the condition of a durative action mentions."""
    times: set[str] = set()
    stack: list[Expression] = [formula]
    while stack:
        match stack.pop():
            case Timed(time, _):
                times.add(time)
            case And(operands):
                stack += operands
            case Forall(_, body) | Preference(_, body):
                stack.append(body)
            case _:
                pass
    return times


def _spanning(
    compiler: Compiler, effect: Expression, binding: Binding
) -> Iterator[tuple[When, Binding]]:
    """Yield (effect, binding) for conditional end effects whose condition reads earlier times."""
    # No single state decides them: the executor must remember the earlier parts until the action
    # ends. Effects at the start cannot depend on later times.
    # The parts still to visit; the last one is next.
    stack: list[Iterator[tuple[Expression, Binding]]] = [iter([(effect, binding)])]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        part, own = item
        match part:
            case And(operands):
                stack.append(iter([(operand, own) for operand in operands]))
            case Forall(variables, body):
                instances = compiler.instances(variables, TRUE, True, own)
                stack.append(zip(repeat(body), instances))
            case When(condition, body):
                if not times_of(condition) <= {"at end"} and part_at(body, "at end") != TRUE:
                    yield part, own
            case _:
                pass


def _duration_tests(
    formula: Expression, when: TimeSpecifier
) -> Iterator[tuple[TimeSpecifier, Comparison]]:
    stack: list[tuple[Expression, TimeSpecifier]] = [(formula, when)]
    while stack:
        item, time = stack.pop()
        match item:
            case And(operands):
                stack += [(operand, time) for operand in reversed(operands)]
            case Timed(own, body):
                stack.append((body, own))
            case Comparison():
                yield time, item
            case _:
                pass

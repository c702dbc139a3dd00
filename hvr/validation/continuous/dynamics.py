"""The ground processes and events of a task, and the continuous effects of its actions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import ContinuousChangeError, InconsistentEffectError, UndefinedValueError
from hvr.pddl import (
    TRUE,
    ActionSchema,
    Comparison,
    Domain,
    DurativeActionSchema,
    Expression,
    Forall,
    GroundAction,
    State,
    Task,
    When,
)
from hvr.pddl import state as compiled
from hvr.pddl.compiler import Binding, Compiler, Effects
from hvr.pddl.durative import part_at, times_of
from hvr.pddl.formulas import And, ContinuousEffect, functions_of, walk
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import (
    Conjunction,
    NumericChange,
    Operator,
    Rational,
    Values,
    change_numbers,
    conjunction,
)
from hvr.validation.continuous.motion import MovingState, Numbers, Rate
from hvr.validation.continuous.polynomials import Moment
from hvr.validation.happenings import StepParts, access, interferences
from hvr.validation.report import FailureKind, StepRef
from hvr.values import Value, cached_property

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity


class GroundProcess(Value):
    """A process that is active while its condition holds, with the rates that it contributes.

    A process with conditional effects becomes several ground processes.
    """

    action: GroundAction
    condition: Conjunction
    rates: tuple[Rate, ...]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class GroundEvent(Value):
    """An event that happens as soon as its condition holds."""

    operator: Operator
    binding: Binding
    schema: ActionSchema

    @property
    def action(self) -> GroundAction:
        return self.operator.action

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class Dynamics:
    """The processes and events of a task, grounded on first use.

    Raises:
        ContinuousChangeError: A derived predicate depends on a fluent that changes continuously.
        GroundingLimitError: The task has too many ground processes or events.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        moving = {effect.fluent.function for effect in continuous_effects(task.domain)}
        for rule in task.domain.derived:
            for part in walk(rule.body):
                if isinstance(part, Comparison) and any(
                    term.function in moving
                    for side in (part.left, part.right)
                    for term in functions_of(side)
                ):
                    raise ContinuousChangeError(
                        f"the derived predicate {rule.predicate!r} depends on {part}, which "
                        "changes continuously: this is not supported"
                    )

    @cached_property
    def processes(self) -> tuple[GroundProcess, ...]:
        compiler = Compiler(self.task)
        return tuple(
            process
            for schema in self.task.domain.processes.values()
            for action, binding, condition in self._instances(schema)
            for process in _processes(compiler, action, condition, schema.effect, binding)
        )

    @cached_property
    def events(self) -> tuple[GroundEvent, ...]:
        return tuple(
            GroundEvent(
                self.task.operator(action, binding, schema.precondition, schema.effect),
                binding,
                schema,
            )
            for schema in self.task.domain.events.values()
            for action, binding, _ in self._instances(schema)
        )

    def _instances(
        self, schema: ActionSchema
    ) -> Iterator[tuple[GroundAction, Binding, Conjunction]]:
        names = [p.name for p in schema.parameters]
        for binding in self.task.instances(schema.parameters, schema.precondition, True, {}):
            condition = self.task.condition(schema.precondition, binding)
            if condition is not compiled.FALSE:
                action = GroundAction(schema.name, tuple([binding[n] for n in names]))
                yield action, binding, condition

    def during(
        self,
        action: GroundAction,
        schema: DurativeActionSchema,
        binding: Binding,
        duration: Rational,
    ) -> tuple[GroundProcess, ...]:
        """Return the continuous effects of a durative action as processes.

        Raises:
            ContinuousChangeError: A continuous effect has a condition at the start or at the end.
        """
        effect = continuous_part(schema.effect)
        if effect == TRUE:
            return ()
        compiler = Compiler(self.task, duration)
        return tuple(_processes(compiler, action, compiled.TRUE, effect, binding))


def _processes(
    compiler: Compiler,
    action: GroundAction,
    condition: Conjunction,
    effect: Expression,
    binding: Binding,
) -> Iterator[GroundProcess]:
    effects = Effects()
    compiler.effect(effect, binding, compiled.TRUE, effects)
    by_guard: dict[Conjunction, list[NumericChange]] = {}
    for guard, change in effects.numeric:
        by_guard.setdefault(guard, []).append(change)
    for guard, changes in by_guard.items():
        rates = [Rate(i, 1 if symbol == "increase" else -1, n) for symbol, i, n in changes]
        yield GroundProcess(action, conjunction((condition, guard)), tuple(rates))


def continuous_part(effect: Expression) -> Expression:
    """Return the continuous effects in an effect, with `over all` removed from their conditions.

    The result is TRUE if there are none.

    Raises:
        ContinuousChangeError: A continuous effect has a condition at the start or at the end.
    """
    return run_trampoline(_continuous_part(effect))


def _continuous_part(effect: Expression) -> Steps[Expression]:
    match effect:
        case ContinuousEffect():
            return effect
        case And(operands):
            parts: list[Expression] = []
            for operand in operands:
                part = yield _continuous_part(operand)
                if part != TRUE:
                    parts.append(part)
            return And(tuple(parts))
        case Forall(variables, body):
            inner = yield _continuous_part(body)
            return TRUE if inner == TRUE else Forall(variables, inner, effect.location)
        case When(condition, body):
            inner = yield _continuous_part(body)
            if inner == TRUE:
                return TRUE
            if not times_of(condition) <= {"over all"}:
                raise ContinuousChangeError(
                    f"the continuous effect {inner} has a condition at the start or the end: "
                    "only (over all …) is supported"
                )
            return When(part_at(condition, "over all"), inner)
        case _:
            return TRUE


def continuous_effects(domain: Domain) -> Iterator[ContinuousEffect]:
    """Yield the lifted continuous effects of processes and durative actions."""
    schemas: Iterable[ActionSchema | DurativeActionSchema] = (
        *domain.processes.values(),
        *domain.durative_actions.values(),
    )
    for schema in schemas:
        for part in walk(schema.effect):
            if isinstance(part, ContinuousEffect):
                yield part


# Events -------------------------------------------------------------------------------------------
# The joint effect of simultaneous events, or the reason that they cannot happen.


class EventEffects(Value):
    """The state after simultaneous events.

    Attributes:
        bits: The true atoms, without derived atoms.
        numbers: The numbers as functions of time, to be evaluated at the time of the events.
        touched: For each event, the atoms (as a mask) and numbers (by index) that it changes.
    """

    bits: int
    numbers: list[Quantity | None]
    touched: tuple[tuple[int, frozenset[int]], ...]


class EventFailure(Value):
    """The reason why one of several simultaneous events cannot happen."""

    kind: FailureKind
    event: GroundEvent
    message: str


def apply_events(
    refs: Sequence[StepRef],
    events: Sequence[GroundEvent],
    happened: Collection[GroundEvent],
    state: State,
    numbers: Numbers,
    moment: Moment,
    reading: MovingState,
) -> EventEffects | EventFailure:
    """Apply events that happen at the same moment.

    Args:
        refs: The references to `events` in messages, in the same order.
        happened: The events that have happened at this moment, which must not be repeated.
        numbers: The numbers before the events, as functions of time.
        reading: The truth of conditions before the events.

    Returns:
        The state after the events, or the reason why one of them cannot happen.
    """
    if (repeated := _repeated(refs, events, happened)) is not None:
        return repeated
    steps = [
        access(state, StepParts(e.binding, e.schema.precondition, e.schema.effect, (e.operator,)))
        for e in events
    ]
    for i, j, over in interferences(state.task, steps):
        message = (
            f"The events {events[i].action} and {events[j].action} interfere: both happen at "
            f"{_time(refs[i])}, and one changes {over}, which the other reads or changes."
        )
        return EventFailure(FailureKind.INTERFERENCE, events[j], message)
    add = delete = 0
    after = list(numbers)
    touched: list[tuple[int, frozenset[int]]] = []
    for ref, event in zip(refs, events, strict=True):
        operator = event.operator
        flips = operator.add | operator.delete
        add |= operator.add
        delete |= operator.delete
        for condition, more_add, more_delete in operator.conditional:
            if reading.holds(condition, moment):
                add |= more_add
                delete |= more_delete
                flips |= more_add | more_delete
        changes = [change for guard, change in operator.numeric if reading.holds(guard, moment)]
        try:
            after = _changed(changes, numbers, after)
        except (UndefinedValueError, InconsistentEffectError) as error:
            message = f"The event {ref} cannot happen: {error}."
            return EventFailure(FailureKind.EVENT, event, message)
        touched.append((flips, frozenset(change[1] for change in changes)))
    return EventEffects(state.bits & ~delete | add, after, tuple(touched))


def _repeated(
    refs: Sequence[StepRef], events: Sequence[GroundEvent], happened: Collection[GroundEvent]
) -> EventFailure | None:
    for ref, event in zip(refs, events, strict=True):
        if event in happened:
            message = (
                f"The event {event.action} would happen again immediately at {_time(ref)}: its "
                "consequences make or leave its condition true."
            )
            return EventFailure(FailureKind.EVENT, event, message)
    return None


def _changed(
    changes: list[NumericChange], before: Numbers, after: Numbers
) -> list[Quantity | None]:
    # Functions of time support the arithmetic of numbers: see `calculate`.
    return list(change_numbers(changes, cast("Values", tuple(before)), cast("Values", after)))


def _time(ref: StepRef) -> str:
    assert ref.time is not None
    return decimal_text(ref.time)

"""The joint effect of simultaneous events, or the reason that they cannot happen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, cast

from hvr.errors import InconsistentEffectError, UndefinedValueError
from hvr.pddl import State, Task
from hvr.pddl.conditions import NumericChange, change_numbers
from hvr.pddl.numeric import Values
from hvr.pddl.plan import decimal_text
from hvr.validation.continuous.dynamics import GroundEvent
from hvr.validation.continuous.moments import Moment
from hvr.validation.continuous.motion import MovingState, Numbers
from hvr.validation.interference import StepParts, access, interferences
from hvr.validation.report import FailureKind, StepRef
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity


class Aftermath(Value):
    """The state after simultaneous events.

    Attributes:
        bits: The true atoms, without derived atoms.
        numbers: The numbers as functions, to be evaluated at the moment of the events.
        touched: The bits and the indexes of numbers that each event changes.
    """

    bits: int
    numbers: list[Quantity | None]
    touched: tuple[tuple[int, frozenset[int]], ...]


class Trouble(Value):
    """A failure of simultaneous events, blamed on one of them."""

    kind: FailureKind
    event: GroundEvent
    message: str


def happen_together(
    task: Task,
    refs: Sequence[StepRef],
    events: Sequence[GroundEvent],
    happened: Collection[GroundEvent],
    state: State,
    numbers: Numbers,
    moment: Moment,
    reading: MovingState,
) -> Aftermath | Trouble:
    """Apply events that happen at the same moment.

    Args:
        task: The task of the events.
        refs: The events with their time, for messages.
        events: The ground events.
        happened: The events that have already happened at this time.
        state: The state before the events.
        numbers: The numbers before the events, to be evaluated at the moment.
        moment: The moment of the events.
        reading: The truth of conditions before the events.
    """
    for ref, event in zip(refs, events, strict=True):
        if event in happened:
            message = (
                f"The event {event.action} would happen again at once at "
                f"{_time(ref)}: what follows from it makes its condition true "
                "again, or leaves it so."
            )
            return Trouble(FailureKind.EVENT, event, message)
    steps = [
        access(state, StepParts(e.binding, e.schema.precondition, e.schema.effect, (e.operator,)))
        for e in events
    ]
    for i, j, over in interferences(task, steps):
        message = (
            f"The events {events[i].action} and {events[j].action} interfere: both happen at "
            f"{_time(refs[i])}, and one changes {over}, which the other needs or "
            "changes."
        )
        return Trouble(FailureKind.INTERFERENCE, events[j], message)
    add = delete = 0
    after = list(numbers)
    touched: list[tuple[int, frozenset[int]]] = []
    for ref, event in zip(refs, events, strict=True):
        operator = event.operator
        mine = operator.add | operator.delete
        add |= operator.add
        delete |= operator.delete
        for condition, more_add, more_delete in operator.conditional:
            if reading.holds(condition, moment):
                add |= more_add
                delete |= more_delete
                mine |= more_add | more_delete
        changes = [change for guard, change in operator.numeric if reading.holds(guard, moment)]
        try:
            after = _changed(changes, numbers, after)
        except (UndefinedValueError, InconsistentEffectError) as error:
            message = f"The event {ref} cannot happen: {error}."
            return Trouble(FailureKind.EVENT, event, message)
        touched.append((mine, frozenset(change[1] for change in changes)))
    return Aftermath(state.bits & ~delete | add, after, tuple(touched))


def _changed(
    changes: list[NumericChange], before: Numbers, after: Numbers
) -> list[Quantity | None]:
    # Functions of time support the arithmetic of numbers: see `calculate`.
    return list(change_numbers(changes, cast("Values", tuple(before)), cast("Values", after)))


def _time(ref: StepRef) -> str:
    assert ref.time is not None
    return decimal_text(ref.time)

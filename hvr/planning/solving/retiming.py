"""Timed plans with the same steps at better times.

Steps that interfere need a gap. Planners disagree on its size, and some leave none. This module
keeps the order of interfering steps, puts the validator's gap between them, and lets every step
start as early as possible. It solves a simple temporal problem (Dechter, Meiri & Pearl 1991) over
the starts and ends of the plan, as in the deordering of plans (Bäckström 1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hvr.errors import HvrError
from hvr.pddl import And, GroundAction, State, Step, Task, TimedAction
from hvr.pddl.compiler import Binding
from hvr.pddl.conditions import Operator
from hvr.pddl.durative import DurativeOperator, ground_durative
from hvr.pddl.model import TRUE, Expression
from hvr.pddl.numeric import exact
from hvr.pddl.task import binding_of
from hvr.validation.interference import Access, StepParts, access, interferences
from hvr.validation.search import execute
from hvr.validation.validator import Validator

_MOST_EVENTS = 600
_ENDS_FIRST = {"at end": 0, "": 1, "at start": 2}


@dataclass(frozen=True)
class _Event:
    """A start, an end, an instantaneous step or a timed initial literal.

    Args:
        time: When it happens in the plan.
        step: Index of its step; -1 for a timed initial literal.
        when: The end of the step; empty for an instantaneous step.
        operator: The compiled effects.
        parts: The conditions and effects, for interference.
    """

    time: Fraction
    step: int
    when: str
    operator: Operator
    parts: StepParts


def retimed(validator: Validator, steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """Return the steps of a timed plan as early as possible; None if that cannot be worked out.

    The result may be invalid where the plan is wrong in more than its times.

    Args:
        validator: The validator of the problem.
        steps: The plan.
    """
    plan = [step for step in steps if isinstance(step, TimedAction)]
    if len(plan) != len(steps) or 2 * len(plan) > _MOST_EVENTS:
        return None
    try:
        ordered = _ordered(validator.task, sorted(_events(validator.task, plan), key=_place))
    except HvrError:
        return None
    times = _earliest(validator.task, plan, ordered, validator.tolerance)
    if times is None:
        return None
    starts = {
        event.step: time
        for (event, _), time in zip(ordered, times, strict=True)
        if event.when != "at end"
    }
    moved = [step.replace(start=starts[number]) for number, step in enumerate(plan)]
    return tuple(sorted(moved, key=lambda step: step.start))


def _place(event: _Event) -> tuple[Fraction, int, int]:
    return event.time, _ENDS_FIRST[event.when], event.step


def _events(task: Task, plan: Sequence[TimedAction]) -> Iterator[_Event]:
    for number, step in enumerate(plan):
        if step.duration is None:
            schema = task.domain.actions[step.action.name]
            operator, binding = task.ground(step.action), binding_of(schema, step.action)
            parts = StepParts(binding, schema.precondition, schema.effect, (operator,))
            yield _Event(step.start, number, "", operator, parts)
            continue
        durative = ground_durative(task, step.action, exact(step.duration))
        yield _Event(step.start, number, "at start", durative.start, _parts(durative, "at start"))
        end = step.start + step.duration
        yield _Event(end, number, "at end", durative.end, _parts(durative, "at end"))
    for timed in task.problem.timed_init:
        operator = task.operator(GroundAction("at"), {}, TRUE, timed.effect)
        parts = StepParts({}, TRUE, timed.effect, (operator,))
        yield _Event(Fraction(timed.time), -1, "", operator, parts)


def _parts(durative: DurativeOperator, when: str) -> StepParts:
    """Return the parts of one end; both ends read the invariant."""
    template = durative.template
    condition: Expression = And((template.conditions[when], template.conditions["over all"]))
    further: list[tuple[Expression, Expression, Binding]] = [
        (s.condition_at_start, TRUE, s.binding) for s in durative.spanning
    ]
    further += [(s.condition, s.effect, s.binding) for s in durative.spanning]
    operator = durative.start if when == "at start" else durative.end
    operators = (operator, *(s.effects for s in durative.spanning if when == "at end"))
    bounds = tuple([test.text.right for test in durative.tests])
    effect = template.effects[when]
    return StepParts(durative.binding, condition, effect, operators, bounds, tuple(further))


def _ordered(task: Task, events: list[_Event]) -> list[tuple[_Event, Access]]:
    """Return the events one after another, each with what it reads and changes.

    Of events at the same time the next one is possible and leaves the most others possible.
    """
    state = task.initial.bits, task.initial.values
    result: list[tuple[_Event, Access]] = []
    waiting = list(events)
    while waiting:
        tied = [event for event in waiting if event.time == waiting[0].time]
        starting = {event.step for event in tied if event.when == "at start"}
        tied = [event for event in tied if event.when != "at end" or event.step not in starting]
        best, after = tied[0], None
        most = -1
        for event in tied:
            then = execute(task, event.operator, *state)
            if then is None:
                continue
            others = sum(execute(task, other.operator, *then) is not None for other in tied)
            if others > most:
                best, after, most = event, then, others
        waiting.remove(best)
        result.append((best, access(State(task, *state), best.parts)))
        state = after or state
    return result


def _earliest(
    task: Task,
    plan: Sequence[TimedAction],
    ordered: Sequence[tuple[_Event, Access]],
    gap: Fraction,
) -> list[Fraction] | None:
    """Return the earliest times of events, None if there are none."""
    least: list[tuple[int, int, Fraction]] = []
    partner: dict[int, int] = {}
    accesses = [one for _, one in ordered]
    for first, second, _ in interferences(task, accesses):
        same = ordered[first][0].step == ordered[second][0].step != -1
        if not same:
            least.append((first, second, gap))
    times = [Fraction(0)] * len(ordered)
    for index, (event, _) in enumerate(ordered):
        if event.step == -1:
            times[index] = event.time
        elif event.when == "at start":
            partner[event.step] = index
        elif event.when == "at end":
            length = plan[event.step].duration or Fraction(0)
            least.append((partner[event.step], index, length))
            least.append((index, partner[event.step], -length))
    fixed = {index for index, (event, _) in enumerate(ordered) if event.step == -1}
    # A longest path has no more edges than there are events; after more rounds there is none.
    for _ in range(len(ordered) + 1):
        changed = False
        for first, second, length in least:
            if times[first] + length > times[second]:
                if second in fixed:
                    return None
                times[second] = times[first] + length
                changed = True
        if not changed:
            return times
    return None

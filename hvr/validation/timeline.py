"""A plan over time as plain values: steps, events, timed literals and processes, for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from hvr.pddl import Step, TimedAction
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.judged import HappeningText
    from hvr.validation.report import ValidationReport


class TimelineStep(Value):
    """A step of the plan.

    Attributes:
        number: 1-based number of the step.
        name: Name of its action.
        args: Objects that the action is applied to.
        start, end: Times of its start and end; equal for an instantaneous action in a timed plan.
    """

    number: int
    name: str
    args: tuple[str, ...]
    start: Fraction
    end: Fraction

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


class TimelineMark(Value):
    """Something that happens by itself at a time: an event or a timed initial literal."""

    time: Fraction
    text: str


class ProcessSpan(Value):
    """A process, with a time span in which it was active."""

    name: str
    start: Fraction
    end: Fraction


class TimelineFailure(Value):
    """A failure: its time, the number of its step (None for the goal), and its message."""

    time: Fraction
    step: int | None
    text: str


class Timeline(Value):
    """A plan over time.

    Attributes:
        steps: The steps of the plan, in its order.
        marks: Events and timed initial literals that happened.
        processes: Processes and continuous effects of events that were active.
        failures: The failures, in the order of the report.
        judged_until: Time up to which the plan was executed; None if to its end.
        end: Time at which the last step, mark or process ends.
        has_times: Whether the plan has times; else each step takes one unit.
    """

    steps: tuple[TimelineStep, ...]
    marks: tuple[TimelineMark, ...]
    processes: tuple[ProcessSpan, ...]
    failures: tuple[TimelineFailure, ...]
    judged_until: Fraction | None
    end: Fraction
    has_times: bool


def timeline_of(
    plan: Sequence[Step],
    happenings: Sequence[HappeningText],
    processes: Sequence[ProcessSpan],
    report: ValidationReport,
    *,
    goes_on: bool,
) -> Timeline:
    """Put a judged plan on a time axis.

    Args:
        plan: The steps.
        happenings: The changes, with their times.
        processes: The processes that were active.
        report: The verdict.
        goes_on: Whether the plan was executed beyond its first failure.
    """
    has_times = any(isinstance(step, TimedAction) for step in plan)
    steps = tuple([_step(number, step) for number, step in enumerate(plan, 1)])
    marks = tuple([TimelineMark(h.time or Fraction(0), str(h)) for h in happenings if not h.step])
    ends = [step.end for step in steps] + [span.end for span in processes]
    ends += [mark.time for mark in marks]
    end = max(ends, default=Fraction(0))
    failures = []
    for failure in report.failures:
        time = failure.time
        if time is None:
            time = end if failure.step is None else steps[failure.step - 1].start
        failures.append(TimelineFailure(time, failure.step, failure.message))
    stops = failures[0] if failures and not goes_on and failures[0].step is not None else None
    return Timeline(
        steps,
        marks,
        tuple(processes),
        tuple(failures),
        stops.time if stops else None,
        max([end, *(failure.time for failure in failures)]),
        has_times,
    )


def _step(number: int, step: Step) -> TimelineStep:
    if isinstance(step, TimedAction):
        end = step.start + (step.duration or 0)
        return TimelineStep(number, step.action.name, step.action.args, step.start, end)
    return TimelineStep(number, step.name, step.args, Fraction(number - 1), Fraction(number))

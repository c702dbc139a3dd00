"""Advice: what would mend a plan.

For sequences steps are looked for that supply what the first failing step or the end needs
(`search.py`). Where they do not make the plan valid, and for timed plans, changes of single steps
are tried (`edits.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.errors import HvrError
from hvr.pddl import GroundAction, GroundingLimitError, Step
from hvr.pddl.conditions import FALSE, Conjunction
from hvr.validation.relaxation import Clock
from hvr.validation.report import Failure, FailureKind, Repair, UnmetLiteral, ValidationReport
from hvr.validation.search import search
from hvr.validation.sequences import action_of, sequence_order
from hvr.validation.validator import Validator, with_times

_MISFITS = (
    FailureKind.UNKNOWN_ACTION,
    FailureKind.UNKNOWN_OBJECT,
    FailureKind.WRONG_ARITY,
    FailureKind.WRONG_TYPE,
)
_NAMED = 3


def find_advice(
    validator: Validator,
    plan: Sequence[Step],
    report: ValidationReport,
    *,
    seconds: float = 5.0,
) -> tuple[Repair | None, str]:
    """Look for what would mend a plan: steps to insert, or another change of one step.

    A change is looked for where no inserted steps make the plan valid, and in timed plans. The
    arguments and the result are those of `find_repair`.
    """
    # Only advice needs them; runs that mend a plan load this module, too.
    from hvr.validation.edits import edit_sequence, edit_timed

    clock = Clock(seconds)
    repair, note = find_repair(validator, plan, report, seconds=seconds)
    failure = report.failure
    if failure is None or failure.kind in _MISFITS or (repair is not None and repair.completes):
        return repair, note
    order = sequence_order(validator.task, plan, validator.epsilon)
    if order is None:
        change = edit_timed(validator, with_times(plan), failure, clock)
        note = "no change of a single step was found that makes the plan valid"
    else:
        change = edit_sequence(validator, [action_of(plan[i]) for i in order], failure, clock)
    return change or repair, "" if change or repair else note


def find_repair(
    validator: Validator,
    plan: Sequence[Step],
    report: ValidationReport,
    *,
    seconds: float = 5.0,
) -> tuple[Repair | None, str]:
    """Look for steps to insert before the first failing step of a sequence, or at the end.

    The fewest steps that were found are taken; of several such sequences one that makes the whole
    plan valid, if there is one, else the first in a fixed order.

    Args:
        validator: where the plan begins.
        plan: the plan.
        report: what the validator says of it.
        seconds: when to give up.

    Returns:
        the advice, and "" or why there is none.
    """
    failure = report.failure
    if failure is None:
        return None, report.reason or "the plan is valid"
    if failure.kind in _MISFITS:
        return None, _misfit(failure)
    order = sequence_order(validator.task, plan, validator.epsilon)
    if order is None:
        return None, "steps are inserted into sequences of instantaneous actions only"
    if failure.kind not in (FailureKind.PRECONDITION, FailureKind.GOAL):
        return None, "steps are inserted for violated preconditions and missed goals only"
    steps = [action_of(plan[i]) for i in order]
    try:
        return _Advice(validator, steps, failure).find(Clock(seconds))
    except GroundingLimitError as error:
        return None, str(error)


class _Advice:
    """The place in a plan where advice is wanted."""

    def __init__(self, validator: Validator, steps: list[GroundAction], failure: Failure) -> None:
        base = validator.step_number
        self.failure = failure
        self.place = len(steps) if failure.step is None else failure.step - 1 - base
        self.here = validator.fork()
        for action in steps[: self.place]:
            self.here.apply(action)
        self.rest = steps[self.place :]

    def find(self, clock: Clock) -> tuple[Repair | None, str]:
        target = self._target()
        if target is FALSE:
            return None, _never(self.failure.literals)
        result = search(self.here.state, target, clock)
        if result.hopeless:
            return None, _hopeless(self.failure)
        usable: Repair | None = None
        for answer in result.answers:
            repair = self._judged(answer)
            if repair is not None and repair.completes:
                return repair, ""
            usable = usable or repair
            if usable is not None and clock.expired:
                break
        if usable is None:
            return None, result.why or "what supplies the condition violates a constraint"
        return usable, ""

    def _target(self) -> Conjunction:
        task = self.here.task
        if self.failure.step is None:
            return task.goal
        return task.ground(self.rest[0]).precondition

    def _judged(self, answer: tuple[GroundAction, ...]) -> Repair | None:
        """Return the repair with these steps, None if it does not help."""
        ahead = self.here.fork()
        try:
            if not all(ahead.apply(action).ok for action in answer):
                return None
            report = ahead.check(self.rest)
        except HvrError:
            return None
        failure = report.failure
        # Steps before the end must make the plan valid; steps before a failing one must at least
        # bring it past that step.
        if failure is not None:
            later = failure.step is None or failure.step > ahead.step_number + 1
            if self.failure.step is None or not later or not report.executed:
                return None
        return Repair(self.failure.step, answer, report.valid)


def _misfit(failure: Failure) -> str:
    sentence = failure.message
    if failure.suggestion:
        sentence += f" The nearest known name is {failure.suggestion!r}."
    return sentence


def _never(literals: Sequence[UnmetLiteral]) -> str:
    fixed = [literal for literal in literals if literal.fixed]
    if not fixed:
        return "the condition can never hold"
    verb = "is" if len(fixed) == 1 else "are"
    values = sorted({"true" if literal.actual else "false" for literal in fixed})
    always = f" always {values[0]}" if len(values) == 1 else " fixed"
    return f"the condition can never hold: {_named(fixed, whole=True)} {verb}{always}"


def _hopeless(failure: Failure) -> str:
    missing = f"; wanting: {_named(failure.literals, whole=False)}" if failure.literals else ""
    if failure.step is None:
        return f"no sequence of actions after the last step reaches the goal{missing}"
    return f"no sequence of actions makes step {failure.step} executable{missing}"


def _named(literals: Sequence[UnmetLiteral], *, whole: bool) -> str:
    """Name literals: with the wanted value, or the formula whatever its value should be."""
    texts = [str(literal.formula if whole else literal) for literal in literals]
    shown = texts[:_NAMED] + (["others"] if len(texts) > _NAMED else [])
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)

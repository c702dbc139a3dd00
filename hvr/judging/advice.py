"""Advice: a shorter plan for the same goal that takes other steps.

What another plan would do is no error of the judged one, so it is never a finding.
"""

from __future__ import annotations

from hvr.judging.verdict import Improvement, PlanVerdict
from hvr.pddl import GroundAction, State, Task
from hvr.planning.search.planners import Planner
from hvr.validation import Validator


def improvement(validator: Validator, verdict: PlanVerdict, planner: Planner) -> Improvement | None:
    """Return a shorter plan than what the judge leaves; None where the planner has none.

    Args:
        validator: where the plan begins.
        verdict: what the judge said of it.
        planner: looks for the shorter plan.

    Raises:
        PlannerError: it found no plan in its time, or cannot plan for such a task.
    """
    left = verdict.repaired
    if not left:
        return None
    found = planner.solve(_from(validator.state)).plan
    if found is None or len(found) >= len(left):
        return None
    # The planner may have looked at less than the validator: costs, preferences, constraints.
    report = validator.check(found)
    if not report.valid or _costs_more(validator, found, left):
        return None
    begin = 0
    while begin < len(found) and found[begin] == left[begin]:
        begin += 1
    end = 0
    while end < len(found) - begin and found[-1 - end] == left[-1 - end]:
        end += 1
    return Improvement(found, begin + 1, len(left) - end, found[begin : len(found) - end])


def _from(state: State) -> Task:
    """Return the task that begins in a state."""
    task = state.task
    return Task(task.domain, task.problem.replace(init=state.atoms(static=True)))


def _costs_more(
    validator: Validator, plan: tuple[GroundAction, ...], other: tuple[GroundAction, ...]
) -> bool:
    metric = validator.task.problem.metric
    if metric is None:
        return False
    new, old = validator.check(plan).cost, validator.check(other).cost
    if new is None or old is None:
        return True
    return new < old if metric.direction == "maximize" else new > old

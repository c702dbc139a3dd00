"""Long plans in stages: reach more and more conditions of a goal, each stage by its own search.

If one search finds no plan in time, a stage is a prefix of the goal's conditions, in the order
of the goal. Each stage keeps the conditions of the earlier ones, and starts in the state in which
they end. The whole plan is validated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hvr.errors import PlannerError
from hvr.pddl import And, Exists, Expression, GroundAction, State, Task, TypedName
from hvr.planning.search.fast_downward import SearchResult
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator

Search = Callable[[Task, float], SearchResult]
"""Finds a plan for a task in some seconds."""


def conditions_of(goal: Expression) -> tuple[Expression, ...]:
    """Return the conjuncts of a goal, also below its quantifier, each with that quantifier."""
    match goal:
        case And(operands):
            return tuple(part for operand in operands for part in conditions_of(operand))
        case Exists(variables, And(operands)) if len(operands) > 1:
            return tuple(Exists(variables, operand) for operand in operands)
        case _:
            return (goal,)


def joined(conditions: Sequence[Expression]) -> And:
    """Return a conjunction in which conditions with equal quantifiers share one."""
    shared: dict[tuple[TypedName, ...], list[Expression]] = {}
    parts: list[Expression] = []
    for condition in conditions:
        if isinstance(condition, Exists):
            shared.setdefault(condition.variables, []).append(condition.body)
        else:
            parts.append(condition)
    quantified = [Exists(variables, And(tuple(bodies))) for variables, bodies in shared.items()]
    return And((*quantified, *parts))


def solve_in_stages(task: Task, search: Search, seconds: float) -> SearchResult:
    """Find a plan in stages.

    Args:
        seconds: Wall time limit of all stages.

    Raises:
        PlannerError: A stage with a single further condition found no plan, or there are no stages.
    """
    started = time.perf_counter()
    conditions = conditions_of(task.problem.goal)
    if len(conditions) < 2:
        raise PlannerError("the goal has a single condition")
    validator, monitor = Validator(task), ConstraintMonitor.of(task)
    plan: list[GroundAction] = []
    done, count, operators = 0, -(-len(conditions) // 8), 0
    while done < len(conditions):
        upto = min(len(conditions), done + count)
        left = started + seconds - time.perf_counter()
        # A stage that is too much must leave time for smaller ones.
        share = left / (1 + -(-(len(conditions) - done) // count))
        try:
            result = search(_stage(task, validator.state, monitor, conditions[:upto]), share)
        except PlannerError:
            if count == 1 or left <= 0:
                raise
            count = -(-count // 2)
            continue
        if result.plan is None:
            raise PlannerError(f"no plan was found in {seconds:g} s, in one search or in stages")
        operators = max(operators, result.operators)
        for action in result.plan:
            validator.apply(action)
            monitor.observe(validator.state)
        plan += result.plan
        done = upto
    if not Validator(task).check(plan).valid:
        raise PlannerError("the stages do not make a plan together")
    elapsed = time.perf_counter() - started
    return SearchResult(tuple(plan), False, elapsed, f"{result.planner} in stages", operators)


def _stage(
    task: Task, state: State, monitor: ConstraintMonitor, conditions: Sequence[Expression]
) -> Task:
    last = len(conditions) == len(conditions_of(task.problem.goal))
    kept = monitor.left if last else monitor.prohibitions
    problem = task.problem.replace(
        init=state.atoms(static=True), goal=joined(conditions), constraints=And(kept)
    )
    return Task(task.domain, problem)


__all__ = ["conditions_of", "joined", "solve_in_stages"]

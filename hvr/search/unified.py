"""Engines of unified-planning on hvr's own grounding.

The search problem goes over as a ground problem: a unary predicate for each variable, true of
its value, and an action without parameters for each operator. So any engine for classical
planning will do, and what it needs to know of PDDL is negative preconditions and conditional
effects. (One nullary predicate for each fluent would be simpler; Fast Downward's translator
then takes many times longer to find the variables.)
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from hvr.errors import PlannerError, UsageError
from hvr.pddl import Task
from hvr.search.fast_downward import SearchResult
from hvr.search.ground import SearchProblem, build, plan_actions
from hvr.search.operators import Literals, bits

_FINISH = "finish"
_OPERATOR = "operator"


def solve_with(task: Task, engine: str, seconds: float) -> SearchResult:
    """Find a plan with an engine of unified-planning.

    Args:
        task: the task.
        engine: its name there, as in `fast-downward`.
        seconds: wall time for the engine.

    Raises:
        PlannerError: there is no such engine, it cannot treat the task, or it found no plan.
    """
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import UPException

    started = time.perf_counter()
    environment = get_environment()
    environment.credits_stream = None
    available = installed_engines()
    if engine not in available:
        names = ", ".join(available) or "none"
        raise UsageError(f"unified-planning has no engine {engine!r} here; it has: {names}")
    problem = build(task, reduce=False)
    name = f"unified-planning {engine}"
    size = len(problem.operators)
    if not problem.goals:
        return SearchResult(None, True, time.perf_counter() - started, name, size)
    try:
        with environment.factory.OneshotPlanner(name=engine) as planner:
            result = planner.solve(to_unified(problem), timeout=seconds)
    except Exception as error:  # Engines raise what they like.
        # What unified-planning itself raises is that the engine is not made for the task.
        code = 2 if isinstance(error, UPException) else None
        raise PlannerError(f"{name} failed: {error}", exit_code=code) from error
    elapsed = time.perf_counter() - started
    optimal = result.status == Status.SOLVED_OPTIMALLY
    if result.plan is not None:
        numbers = operator_numbers(result.plan)
        actions = tuple(plan_actions(problem, numbers))
        bound = len(actions) if optimal else 0
        return SearchResult(actions, optimal, elapsed, name, size, bound)
    if result.status == Status.UNSOLVABLE_PROVEN:
        return SearchResult(None, True, elapsed, name, size)
    status = result.status.name.lower().replace("_", " ")
    code = 2 if result.status == Status.UNSUPPORTED_PROBLEM else None
    raise PlannerError(f"{name} found no plan in {seconds:g} s ({status})", exit_code=code)


def installed_engines() -> tuple[str, ...]:
    """Return the names of the installed engines of unified-planning that plan."""
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    return tuple(sorted(n for n in factory.engines if factory.engine(n).is_oneshot_planner()))


def to_unified(problem: SearchProblem) -> Any:
    """Convert a search problem to a `unified_planning.model.Problem`.

    Operators must stand for one action each. Of several goals each gets an action that
    reaches the one goal of the problem, so that no engine needs to know disjunctions.
    """
    from unified_planning.model import Fluent, InstantaneousAction, Object, Problem
    from unified_planning.shortcuts import BoolType, UserType

    converted = Problem("task")
    kind = UserType("value")
    size = max((len(group) for group in problem.variables), default=0)
    values = [Object(f"value-{number}", kind) for number in range(size)]
    converted.add_objects(values)
    atoms: dict[int, Any] = {}
    for number, group in enumerate(problem.variables):
        variable = Fluent(f"variable-{number}", BoolType(), value=kind)
        converted.add_fluent(variable, default_initial_value=False)
        for value, bit in zip(values, group, strict=False):
            atoms[bit] = variable(value)
            converted.set_initial_value(atoms[bit], bool(problem.initial >> bit & 1))

    def conditions(literals: Literals) -> Iterable[Any]:
        yield from (atoms[bit] for bit in bits(literals.true))
        yield from (atoms[bit].Not() for bit in bits(literals.false))

    def effects(action: Any, add: int, delete: int, condition: Any = True) -> None:
        for bit in bits(delete & ~add):
            action.add_effect(atoms[bit], False, condition)
        for bit in bits(add):
            action.add_effect(atoms[bit], True, condition)

    for number, operator in enumerate(problem.operators):
        action = InstantaneousAction(f"{_OPERATOR}-{number}")
        for needed in conditions(operator.precondition):
            action.add_precondition(needed)
        effects(action, operator.add, operator.delete)
        for condition, add, delete in operator.conditional:
            manager = converted.environment.expression_manager
            effects(action, add, delete, manager.And(*conditions(condition)))
        converted.add_action(action)
    if len(problem.goals) == 1:
        for needed in conditions(problem.goals[0]):
            converted.add_goal(needed)
        return converted
    finished = Fluent("finished")
    converted.add_fluent(finished, default_initial_value=False)
    converted.add_goal(finished)
    for number, goal in enumerate(problem.goals):
        action = InstantaneousAction(f"{_FINISH}-{number}")
        for needed in conditions(goal):
            action.add_precondition(needed)
        action.add_effect(finished, True)
        converted.add_action(action)
    return converted


def operator_numbers(plan: Any) -> list[int]:
    """Return the numbers of the operators in a plan of a converted problem."""
    names = (step.action.name.rsplit("-", 1) for step in plan.actions)
    return [int(number) for kind, number in names if kind == _OPERATOR]

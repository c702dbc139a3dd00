"""Steps as plans of unified-planning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hvr.pddl import GroundAction, Step, TimedAction
from hvr.planning.interop.errors import InteropError
from hvr.planning.interop.names import UnifiedNames


def plan_to_unified(steps: Iterable[Step], problem: Any, names: UnifiedNames | None = None) -> Any:
    """Return steps as a plan for a `unified_planning.model.Problem`.

    Args:
        steps: the steps; all timed, or none.
        problem: the problem, as `to_unified` or `convert` made it.
        names: what everything is called there (`Conversion.names`); None: as in PDDL.

    Returns:
        a TimeTriggeredPlan, or a SequentialPlan when no step has a time; an empty plan is timed
        where the problem has to do with time.

    Raises:
        InteropError: a step, or an object in it, that the problem has not.
    """
    from unified_planning.plans import SequentialPlan, TimeTriggeredPlan

    steps = tuple(steps)
    environment = problem.environment
    timed = [step for step in steps if isinstance(step, TimedAction)]
    in_time = not steps and (any(problem.durative_actions) or problem.timed_effects)
    if timed or in_time:
        rows = [(s.start, _instance(s.action, problem, names), s.duration) for s in timed]
        return TimeTriggeredPlan(rows, environment)
    plain = [step for step in steps if isinstance(step, GroundAction)]
    return SequentialPlan([_instance(s, problem, names) for s in plain], environment)


def _instance(action: GroundAction, problem: Any, names: UnifiedNames | None) -> Any:
    from unified_planning.exceptions import UPTypeError, UPValueError
    from unified_planning.plans import ActionInstance

    def name(kind: str, text: str) -> str:
        return text if names is None else names.new(kind, text)

    try:
        schema = problem.action(name("action", action.name))
        objects = [problem.object(name("object", a)) for a in action.args]
    except UPValueError as error:
        raise InteropError(f"the step {action}: {error}") from error
    if len(objects) != len(schema.parameters):
        raise InteropError(f"the step {action}, with a wrong number of arguments")
    try:
        return ActionInstance(schema, problem.environment.expression_manager.auto_promote(objects))
    except UPTypeError as error:
        raise InteropError(f"the step {action}: {error}") from error

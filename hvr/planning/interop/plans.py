"""Convert plans of unified-planning to steps, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from hvr.pddl import GroundAction, Step, TimedAction
from hvr.planning.interop.from_unified import Moment, Translation, translate
from hvr.planning.interop.names import InteropError, UnifiedNames
from hvr.values import Value

# From plans ---------------------------------------------------------------------------------------


class JudgedStep(Value):
    """A step of a plan to be judged.

    Attributes:
        owner: The index of the step in the plan, or of the step to which a companion belongs, or
            None if it belongs to the whole plan.
    """

    step: Step
    owner: int | None


def plan_from_unified(plan: Any, problem: Any) -> tuple[Step, ...]:
    """Return the steps of a plan for a `unified_planning.model.Problem`.

    A partial order is converted to one of its total orders, a temporal network to the earliest
    times.

    Raises:
        InteropError: The plan is of another kind, or its steps do not belong to the problem.
    """
    ordered = in_order(plan, problem)
    translation = translate(problem, following=plan_numbers(ordered))
    return steps_of(ordered, translation)


def in_order(plan: Any, problem: Any) -> Any:
    """Convert a plan to an equivalent sequential or time-triggered plan."""
    from unified_planning.plans import PlanKind

    kind = plan.kind
    if kind in (PlanKind.SEQUENTIAL_PLAN, PlanKind.TIME_TRIGGERED_PLAN):
        return plan
    if kind == PlanKind.PARTIAL_ORDER_PLAN:
        return plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem)
    if kind == PlanKind.STN_PLAN:
        return plan.convert_to(PlanKind.TIME_TRIGGERED_PLAN, problem)
    raise InteropError(f"plans of kind {kind.name} cannot be converted")


def plan_numbers(plan: Any) -> tuple[Fraction, ...]:
    """Return the numbers among the arguments of a plan."""
    values: dict[Fraction, None] = {}
    for instance in instances_of(plan):
        for node in instance.actual_parameters:
            if node.is_int_constant() or node.is_real_constant():
                values[Fraction(node.constant_value())] = None
    return tuple(values)


def instances_of(plan: Any) -> tuple[Any, ...]:
    """Return the action instances of a sequential or time-triggered plan in order."""
    from unified_planning.plans import TimeTriggeredPlan

    if isinstance(plan, TimeTriggeredPlan):
        return tuple([instance for _, instance, _ in plan.timed_actions])
    return tuple(plan.actions)


def steps_of(plan: Any, translation: Translation) -> tuple[Step, ...]:
    """Return the steps of a sequential or time-triggered plan of a translated problem."""
    from unified_planning.plans import TimeTriggeredPlan

    if isinstance(plan, TimeTriggeredPlan):
        return tuple(
            TimedAction(
                _action(instance, translation),
                Fraction(start),
                None if duration is None else Fraction(duration),
            )
            for start, instance, duration in plan.timed_actions
        )
    return tuple([_action(instance, translation) for instance in plan.actions])


def steps_from_unified(plan: Any, names: UnifiedNames) -> tuple[Step, ...]:
    """Return the steps of a sequential or time-triggered plan; `names` are `Conversion.names`."""
    from unified_planning.plans import TimeTriggeredPlan

    def action(instance: Any) -> GroundAction:
        arguments = [names.old("object", str(p)) for p in instance.actual_parameters]
        return GroundAction(names.old("action", instance.action.name), tuple(arguments))

    if not isinstance(plan, TimeTriggeredPlan):
        return tuple([action(instance) for instance in plan.actions])
    return tuple(
        TimedAction(action(instance), Fraction(start), None if length is None else Fraction(length))
        for start, instance, length in plan.timed_actions
    )


def with_companions(steps: tuple[Step, ...], translation: Translation) -> tuple[JudgedStep, ...]:
    """Return the steps of a plan, followed by the companions that it needs."""
    judged = [JudgedStep(step, index) for index, step in enumerate(steps)]
    timed = [(i, step) for i, step in enumerate(steps) if isinstance(step, TimedAction)]
    for index, step in timed:
        end = step.start + (step.duration or 0)
        companions = _companions(step.action.name, step.action.args, step.start, end, translation)
        judged += [JudgedStep(companion, index) for companion in companions]
    end = max((step.start + (step.duration or 0) for _, step in timed), default=Fraction(0))
    companions = _companions("", (), Fraction(0), end, translation)
    judged += [JudgedStep(companion, None) for companion in companions]
    return tuple(judged)


def _companions(
    owner: str, args: tuple[str, ...], start: Fraction, end: Fraction, translation: Translation
) -> Iterator[TimedAction]:
    def time(moment: Moment) -> Fraction:
        return (end if moment.from_end else start) + moment.delay

    for companion in translation.companions.get(owner, ()):
        action = GroundAction(companion.action, args)
        begin = time(companion.begin)
        if companion.end is None:
            yield TimedAction(action, begin)
            continue
        length = time(companion.end) - begin
        # A left-open interval of length 0 contains no state.
        if length > 0 or not companion.left_open:
            yield TimedAction(action, begin, max(length, Fraction(0)))


def _action(instance: Any, translation: Translation) -> GroundAction:
    if instance.agent is not None:
        raise InteropError("a step of one of several agents")
    name = translation.names.new("action", instance.action.name)
    return GroundAction(name, tuple([translation.argument(p) for p in instance.actual_parameters]))


# To plans -----------------------------------------------------------------------------------------


def plan_to_unified(steps: Iterable[Step], problem: Any, names: UnifiedNames | None = None) -> Any:
    """Convert steps to a plan for a `unified_planning.model.Problem`.

    Args:
        problem: The problem as returned by `to_unified` or `convert`.
        names: The names of the problem (`Conversion.names`), by default the PDDL names.

    Returns:
        A TimeTriggeredPlan if the steps are timed, else a SequentialPlan. An empty plan is timed if
        the problem is temporal.

    Raises:
        InteropError: A step or object does not belong to the problem.
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
        raise InteropError(f"the step {action} has the wrong number of arguments")
    try:
        return ActionInstance(schema, problem.environment.expression_manager.auto_promote(objects))
    except UPTypeError as error:
        raise InteropError(f"the step {action}: {error}") from error

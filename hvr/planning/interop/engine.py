"""hvr as a plan validator for unified-planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from unified_planning.engines import (
    Engine,
    FailedValidationReason,
    LogLevel,
    LogMessage,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.engines.mixins import PlanValidatorMixin
from unified_planning.model import ProblemKind
from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
from unified_planning.plans import PlanKind, TimeTriggeredPlan

from hvr.errors import HvrError
from hvr.pddl import GroundAction, Step, TimedAction
from hvr.pddl.state import Values
from hvr.planning.interop.from_unified import Moment, Translation, translate
from hvr.planning.interop.names import InteropError, UnifiedNames
from hvr.validation.happenings import TimedEvent
from hvr.validation.report import FailureKind, OnFailure, Outcome, ValidationReport
from hvr.validation.temporal import TemporalRun
from hvr.validation.validator import Validator
from hvr.values import Value

# Plans --------------------------------------------------------------------------------------------
# Convert plans of unified-planning to steps, and back.

# From plans ---------------------------------------------------------------------------------------


class JudgedStep(Value):
    """A step of a plan to be judged, or a companion (see `from_unified.Companion`).

    Attributes:
        owner: The index of the original step to which this step belongs, or None for a companion of
            the whole plan.
    """

    step: Step
    owner: int | None


def plan_from_unified(plan: Any, problem: Any) -> tuple[Step, ...]:
    """Return the steps of a plan for a `unified_planning.model.Problem`.

    A partial order becomes one of its total orders; the steps of a temporal network get their
    earliest times.

    Raises:
        InteropError: The plan is of an unsupported kind, or its steps do not belong to the problem.
    """
    ordered = in_order(plan, problem)
    translation = translate(problem, following=plan_numbers(ordered))
    return steps_of(ordered, translation)


def in_order(plan: Any, problem: Any) -> Any:
    """Convert a plan to a sequential or time-triggered plan, as `plan_from_unified` describes.

    Raises:
        InteropError: The plan is of an unsupported kind.
    """
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
    """Return the numbers among the arguments of a plan's steps."""
    values: dict[Fraction, None] = {}
    for instance in instances_of(plan):
        for node in instance.actual_parameters:
            if node.is_int_constant() or node.is_real_constant():
                values[Fraction(node.constant_value())] = None
    return tuple(values)


def instances_of(plan: Any) -> tuple[Any, ...]:
    """Return the action instances of a sequential or time-triggered plan, in order."""
    from unified_planning.plans import TimeTriggeredPlan

    if isinstance(plan, TimeTriggeredPlan):
        return tuple([instance for _, instance, _ in plan.timed_actions])
    return tuple(plan.actions)


def steps_of(plan: Any, translation: Translation) -> tuple[Step, ...]:
    """Return the steps of a sequential or time-triggered plan for a translated problem."""
    return _steps(plan, lambda instance: _action(instance, translation))


def steps_from_unified(plan: Any, names: UnifiedNames) -> tuple[Step, ...]:
    """Return the steps of a sequential or time-triggered plan; `names` are `Conversion.names`."""

    def action(instance: Any) -> GroundAction:
        arguments = [names.old("object", str(p)) for p in instance.actual_parameters]
        return GroundAction(names.old("action", instance.action.name), tuple(arguments))

    return _steps(plan, action)


def _steps(plan: Any, action: Callable[[Any], GroundAction]) -> tuple[Step, ...]:
    from unified_planning.plans import TimeTriggeredPlan

    if not isinstance(plan, TimeTriggeredPlan):
        return tuple([action(instance) for instance in plan.actions])
    return tuple(
        TimedAction(action(instance), Fraction(start), None if length is None else Fraction(length))
        for start, instance, length in plan.timed_actions
    )


def with_companions(steps: tuple[Step, ...], translation: Translation) -> tuple[JudgedStep, ...]:
    """Return the steps of a plan, followed by the companions that the translation adds to them."""
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
        raise InteropError("multi-agent plans are not supported")
    name = translation.names.new("action", instance.action.name)
    return GroundAction(name, tuple([translation.argument(p) for p in instance.actual_parameters]))


# To plans -----------------------------------------------------------------------------------------


def plan_to_unified(steps: Iterable[Step], problem: Any, names: UnifiedNames | None = None) -> Any:
    """Convert steps to a plan for a `unified_planning.model.Problem`.

    Args:
        names: The `Conversion.names` of the problem, by default the PDDL names.

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


# --------------------------------------------------------------------------------------------------

# Unified time -------------------------------------------------------------------------------------
# Timed plans judged by the rules of unified-planning.


@dataclass(slots=True)
class _Writes:
    """The atoms (as a mask) and the numbers (by index) that an event sets."""

    owner: int | None
    atoms: int = 0
    increased: set[int] = field(default_factory=set)
    assigned: set[int] = field(default_factory=set)


class UnifiedRun(TemporalRun):
    """Judges a timed plan by the rules of unified-planning.

    Its rules for simultaneous steps differ from PDDL's: a step may change what another step reads,
    but two steps must not set the same fluent, even to the same value. The validator's epsilon and
    tolerance should be 0.
    """

    def __init__(self, validator: Validator, steps: tuple[JudgedStep, ...]) -> None:
        timed = [item.step for item in steps if isinstance(item.step, TimedAction)]
        super().__init__(validator, timed)
        self._owners = [item.owner for item in steps]

    def judge(self) -> ValidationReport:
        return self.run(OnFailure.STOP)

    def check_interference(self, time: Fraction, events: list[TimedEvent]) -> None:
        writes = [self._writes(event, self.bits, self.values) for event in events]
        for (event, one), (other, two) in combinations(zip(events, writes, strict=True), 2):
            if event.number is None and other.number is None:
                continue
            # A step may set a truth value twice, and true wins, but never a number.
            atoms = 0 if one.owner == two.owner else one.atoms & two.atoms
            numbers = one.assigned & (two.assigned | two.increased) | one.increased & two.assigned
            if not (atoms or numbers):
                continue
            over = (
                str(self.task.fluent((atoms & -atoms).bit_length() - 1))
                if atoms
                else str(self.task.term(min(numbers)))
            )
            late, early = (other, event) if other.number is not None else (event, other)
            assert late.number is not None
            what = f"sets {over} at the same time as {early.ref}"
            self._fail(late.number, FailureKind.INTERFERENCE, what, time=time)
            return

    def _writes(self, event: TimedEvent, bits: int, values: Values) -> _Writes:
        owner = None if event.number is None else self._owners[event.number - 1]
        writes = _Writes(owner, event.operator.add | event.operator.delete)
        for condition, add, delete in event.operator.conditional:
            if condition.holds(bits, values):
                writes.atoms |= add | delete
        for condition, (symbol, index, _) in event.operator.numeric:
            if condition.holds(bits, values):
                adds = symbol in ("increase", "decrease")
                (writes.increased if adds else writes.assigned).add(index)
        return writes


# --------------------------------------------------------------------------------------------------

NAME = "hvr"

_FEATURES = """
    ACTION_BASED
    FLAT_TYPING HIERARCHICAL_TYPING
    BOOL_FLUENT_PARAMETERS BOUNDED_INT_FLUENT_PARAMETERS
    BOOL_ACTION_PARAMETERS BOUNDED_INT_ACTION_PARAMETERS
    UNBOUNDED_INT_ACTION_PARAMETERS REAL_ACTION_PARAMETERS
    BOUNDED_TYPES
    SIMPLE_NUMERIC_PLANNING GENERAL_NUMERIC_PLANNING
    INT_FLUENTS REAL_FLUENTS OBJECT_FLUENTS
    NEGATIVE_CONDITIONS DISJUNCTIVE_CONDITIONS EQUALITIES
    EXISTENTIAL_CONDITIONS UNIVERSAL_CONDITIONS
    CONDITIONAL_EFFECTS FORALL_EFFECTS INCREASE_EFFECTS DECREASE_EFFECTS
    STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS FLUENTS_IN_BOOLEAN_ASSIGNMENTS
    STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS FLUENTS_IN_NUMERIC_ASSIGNMENTS
    STATIC_FLUENTS_IN_OBJECT_ASSIGNMENTS FLUENTS_IN_OBJECT_ASSIGNMENTS
    CONTINUOUS_TIME DISCRETE_TIME INTERMEDIATE_CONDITIONS_AND_EFFECTS
    EXTERNAL_CONDITIONS_AND_EFFECTS
    TIMED_EFFECTS TIMED_GOALS DURATION_INEQUALITIES SELF_OVERLAPPING
    STATIC_FLUENTS_IN_DURATIONS FLUENTS_IN_DURATIONS INT_TYPE_DURATIONS REAL_TYPE_DURATIONS
    STATE_INVARIANTS TRAJECTORY_CONSTRAINTS
    UNDEFINED_INITIAL_NUMERIC UNDEFINED_INITIAL_SYMBOLIC
    ACTIONS_COST FINAL_VALUE MAKESPAN PLAN_LENGTH OVERSUBSCRIPTION
    STATIC_FLUENTS_IN_ACTIONS_COST FLUENTS_IN_ACTIONS_COST
    INT_NUMBERS_IN_ACTIONS_COST REAL_NUMBERS_IN_ACTIONS_COST
    INT_NUMBERS_IN_OVERSUBSCRIPTION REAL_NUMBERS_IN_OVERSUBSCRIPTION
"""

_KINDS = (
    PlanKind.SEQUENTIAL_PLAN,
    PlanKind.TIME_TRIGGERED_PLAN,
    PlanKind.PARTIAL_ORDER_PLAN,
    PlanKind.STN_PLAN,
)


class HvrPlanValidator(Engine, PlanValidatorMixin):  # type: ignore[misc]
    """Validates plans of unified-planning and explains their failures.

    Plans for problems that hvr cannot translate get the status UNKNOWN, with the reason in the log.
    """

    def __init__(self, **_options: Any) -> None:
        Engine.__init__(self)
        PlanValidatorMixin.__init__(self)

    @property
    def name(self) -> str:
        return NAME

    @staticmethod
    def get_credits(**_kwargs: Any) -> None:
        """Return None, so that unified-planning prints no credits."""

    @staticmethod
    def supported_kind() -> ProblemKind:
        return ProblemKind(_FEATURES.split(), LATEST_PROBLEM_KIND_VERSION)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        return bool(problem_kind <= HvrPlanValidator.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        return plan_kind in _KINDS

    def _validate(self, problem: Any, plan: Any) -> ValidationResult:
        try:
            return self._judge(problem, in_order(plan, problem))
        except HvrError as error:
            return self._result(ValidationResultStatus.UNKNOWN, str(error), LogLevel.WARNING)

    def _judge(self, problem: Any, plan: Any) -> ValidationResult:
        for instance in instances_of(plan):
            if instance.action not in problem.actions:
                return self._result(
                    ValidationResultStatus.INVALID,
                    f"The plan's action {instance.action.name!r} does not belong to the problem.",
                    reason=FailedValidationReason.INAPPLICABLE_ACTION,
                    inapplicable_action=instance,
                )
        numbers = plan_numbers(plan)
        translation = translate(problem, following=numbers)
        report = _report(plan, translation)
        if report.outcome is Outcome.UNKNOWN:
            return self._result(ValidationResultStatus.UNKNOWN, report.reason, LogLevel.WARNING)
        if report.outcome is Outcome.INVALID:
            return self._invalid(plan, report, translation)
        values: dict[Any, int | Fraction] = {}
        for index, metric in enumerate(problem.quality_metrics):
            if index:
                report = _report(plan, translate(problem, following=numbers, metric=index))
            value = _value(metric, problem, plan, report)
            if value is not None:
                values[metric] = value
        result = self._result(ValidationResultStatus.VALID, report.explain())
        result.metric_evaluations = values or None
        return result

    def _invalid(
        self, plan: Any, report: ValidationReport, translation: Translation
    ) -> ValidationResult:
        failure = report.failure
        assert failure is not None
        instances = instances_of(plan)
        owner: int | None = None
        if failure.step is not None:
            owner = failure.step - 1
            if isinstance(plan, TimeTriggeredPlan):
                owner = _judged(plan, translation)[owner].owner
        reason = FailedValidationReason.INAPPLICABLE_ACTION
        if failure.kind is FailureKind.INTERFERENCE and isinstance(plan, TimeTriggeredPlan):
            reason, owner = FailedValidationReason.MUTEX_CONFLICT, None
        elif owner is None:
            reason = FailedValidationReason.UNSATISFIED_GOALS
        return self._result(
            ValidationResultStatus.INVALID,
            report.explain(),
            reason=reason,
            inapplicable_action=None if owner is None else instances[owner],
        )

    def _result(
        self,
        status: ValidationResultStatus,
        message: str,
        level: LogLevel = LogLevel.INFO,
        **fields: Any,
    ) -> ValidationResult:
        return ValidationResult(status, NAME, [LogMessage(level, message)], **fields)


def _report(plan: Any, translation: Translation) -> ValidationReport:
    steps = steps_of(plan, translation)
    # No tolerance, because unified-planning compares durations and times exactly.
    zero = Fraction(0)
    validator = Validator(translation.domain, translation.problem, tolerance=zero, epsilon=zero)
    if isinstance(plan, TimeTriggeredPlan):
        return UnifiedRun(validator, _judged(plan, translation)).judge()
    durative = translation.domain.durative_actions
    if any(isinstance(s, GroundAction) and s.name in durative for s in steps):
        raise InteropError("a plan with durative actions must be a time-triggered plan")
    if translation.problem.timed_init or translation.companions:
        raise InteropError("a plan for a temporal problem must be a time-triggered plan")
    return validator.check(steps)


def _judged(plan: Any, translation: Translation) -> tuple[JudgedStep, ...]:
    # A repeated instance of an action owns all its steps.
    first: dict[int, int] = {}
    owners = [first.setdefault(id(i), index) for index, i in enumerate(instances_of(plan))]
    return tuple(
        item if item.owner is None else item.replace(owner=owners[item.owner])
        for item in with_companions(steps_of(plan, translation), translation)
    )


def _value(metric: Any, problem: Any, plan: Any, report: ValidationReport) -> int | Fraction | None:
    value = report.cost
    if metric.is_minimize_sequential_plan_length():
        value = Fraction(len(instances_of(plan)))
    elif metric.is_minimize_makespan():
        value = _makespan(problem, plan)
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else value


def _makespan(problem: Any, plan: Any) -> Fraction:
    times = [Fraction(0)]
    if isinstance(plan, TimeTriggeredPlan):
        times += [Fraction(start + (length or 0)) for start, _, length in plan.timed_actions]
    times += [Fraction(t.delay) for t in problem.timed_effects]
    for interval in problem.timed_goals:
        bound = interval.lower if interval.upper.is_from_end() else interval.upper
        times.append(Fraction(bound.delay))
    return max(times)

"""hvr as an engine of unified-planning, on its own test cases and validators."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from unified_planning.engines import (
    FailedValidationReason,
    SequentialPlanValidator,
    TimeTriggeredPlanValidator,
    ValidationResultStatus,
)
from unified_planning.environment import Environment
from unified_planning.model import (
    DurativeAction,
    EndTiming,
    Fluent,
    GlobalEndTiming,
    GlobalStartTiming,
    InstantaneousAction,
    Object,
    Problem,
    StartTiming,
    TimeInterval,
)
from unified_planning.model.metrics import (
    MinimizeActionCosts,
    MinimizeMakespan,
    MinimizeSequentialPlanLength,
)
from unified_planning.plans import (
    ActionInstance,
    PartialOrderPlan,
    PlanKind,
    SequentialPlan,
    TimeTriggeredPlan,
)
from unified_planning.shortcuts import BoolType, IntType, RealType, UserType

from hvr.planning.interop import register
from hvr.planning.interop.engine import HvrPlanValidator
from tests.planning.interop.unified_examples import PARTS, examples, plans_of, variants

pytestmark = pytest.mark.filterwarnings("ignore")

VALID, INVALID = ValidationResultStatus.VALID, ValidationResultStatus.INVALID
ENGINE = HvrPlanValidator()
BROKEN = {"basic_undef_numeric"}
"""Its "valid" plan gives 2 where the goal is 1; unified-planning's validator also rejects it."""


@cache
def supported() -> list[str]:
    """Return the names of the examples that hvr supports."""
    return sorted(n for n, e in examples().items() if ENGINE.supports(e.problem.kind))


def status(problem: Any, plan: Any) -> ValidationResultStatus:
    return ENGINE.validate(problem, plan).status


def test_plans_of_the_examples() -> None:
    for name in supported():
        example = examples()[name]
        for plan in example.valid_plans:
            expected = INVALID if name in BROKEN else VALID
            assert status(example.problem, plan) is expected, name
        for plan in example.invalid_plans:
            result = ENGINE.validate(example.problem, plan)
            assert result.status is INVALID, name
            assert result.reason is not None, name
            assert result.log_messages, name


def test_what_is_supported() -> None:
    """Everything except continuous change, events, tasks and schedules is supported."""
    missing = set(examples()) - set(supported())
    kinds = [examples()[n].problem.kind for n in missing]
    beyond = {
        "INCREASE_CONTINUOUS_EFFECTS",
        "DECREASE_CONTINUOUS_EFFECTS",
        "EVENTS",
        "HIERARCHICAL",
        "SCHEDULING",
    }
    assert all(kind.features & beyond for kind in kinds)
    assert len(supported()) == 54


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_variants_are_judged_as_by_the_own_validators(part: int) -> None:
    for example, number, plan in plans_of(supported()[part::PARTS]):
        own: Any = SequentialPlanValidator()
        if not own.supports_plan(plan.kind):
            own = TimeTriggeredPlanValidator()
        if not own.supports(example.problem.kind):
            continue
        for variant in variants(plan, number):
            assert (
                status(example.problem, variant) is own.validate(example.problem, variant).status
            ), str(variant)


def test_registered() -> None:
    environment = Environment()
    register(environment)
    register(environment)
    assert environment.factory.preference_list.count("hvr") == 1
    with environment.factory.PlanValidator(name="hvr") as validator:
        assert validator.name == "hvr"
        assert validator.supports_plan(PlanKind.TIME_TRIGGERED_PLAN)
        assert not validator.supports_plan(PlanKind.CONTINGENT_PLAN)


def test_metrics_of_sequences() -> None:
    problem = examples()["basic"].problem.clone()
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    assert values(problem, examples()["basic"].valid_plans[0]) == [1]
    for name, value in (
        ("locations_connected_visited_oversubscription", 15),
        ("locations_connected_cost_minimize", 10),
    ):
        assert values(examples()[name].problem, examples()[name].valid_plans[0]) == [value]


def test_metrics_in_time() -> None:
    """The cases of unified-planning's test_temporal_quality_metric_evaluations."""
    problem = examples()["basic_tils"].problem.clone()
    problem.add_quality_metric(MinimizeMakespan())
    assert values(problem, examples()["basic_tils"].valid_plans[0]) == [8]
    longer = DurativeAction("b")
    longer.set_fixed_duration(Fraction(3, 2))
    longer.add_effect(EndTiming(), problem.fluent("x"), True)
    problem.add_action(longer)
    plan = TimeTriggeredPlan([(Fraction(10), longer(), Fraction(3, 2))])
    assert values(problem, plan) == [Fraction(23, 2)]
    late = TimeInterval(GlobalStartTiming(Fraction(25, 2)), GlobalEndTiming())
    problem.add_timed_goal(late, problem.fluent("x"))
    assert values(problem, plan) == [Fraction(25, 2)]
    problem = examples()["matchcellar"].problem.clone()
    costs = {problem.action("light_match"): Fraction(3, 2)}
    problem.add_quality_metric(MinimizeActionCosts(costs, default=2))
    problem.add_quality_metric(MinimizeMakespan())
    assert values(problem, examples()["matchcellar"].valid_plans[0])[0] == Fraction(21, 2)


def values(problem: Any, plan: Any) -> list[Any]:
    """Return the metric values of a valid plan."""
    result = ENGINE.validate(problem, plan)
    assert result.status is VALID, result.log_messages
    return list((result.metric_evaluations or {}).values())


def test_a_state_invariant_names_the_step() -> None:
    problem = examples()["robot_loader_weak_bridge"].problem
    move, load = problem.action("move"), problem.action("load")
    one, _, three = (problem.object(f"l{i}") for i in (1, 2, 3))
    bad = ActionInstance(move, (three, one))
    steps = [ActionInstance(move, (one, three)), ActionInstance(load, (three,)), bad]
    result = ENGINE.validate(problem, SequentialPlan(steps))
    assert result.status is INVALID
    assert result.reason is FailedValidationReason.INAPPLICABLE_ACTION
    assert result.inapplicable_action is bad


def test_an_unmet_goal_and_a_conflict_have_their_reasons() -> None:
    example = examples()["basic"]
    result = ENGINE.validate(example.problem, SequentialPlan([]))
    assert result.reason is FailedValidationReason.UNSATISFIED_GOALS
    assert "(x) must be true" in result.log_messages[0].message
    light = Fluent("light")
    problem = Problem("switches")
    problem.add_fluent(light, default_initial_value=False)
    actions = []
    for name, value in (("on", True), ("off", False)):
        action = InstantaneousAction(name)
        action.add_effect(light, value)
        problem.add_action(action)
        actions.append(action)
    plan = TimeTriggeredPlan([(Fraction(1), a(), None) for a in actions])
    result = ENGINE.validate(problem, plan)
    assert result.status is INVALID
    assert result.reason is FailedValidationReason.MUTEX_CONFLICT


def test_one_instance_twice_is_one_step_to_unified_planning() -> None:
    example = examples()["basic_tils"]
    ((start, instance, length),) = example.valid_plans[0].timed_actions
    other = ActionInstance(instance.action)
    for second, wanted in ((instance, VALID), (other, INVALID)):
        plan = TimeTriggeredPlan([(start, instance, length), (start, second, length)])
        own = TimeTriggeredPlanValidator().validate(example.problem, plan).status
        assert status(example.problem, plan) is own is wanted


def test_a_partial_order_is_judged_by_one_of_its_orders() -> None:
    example = examples()["robot_fluent_of_user_type_with_int_id"]
    one, two = example.valid_plans[0].actions
    assert status(example.problem, PartialOrderPlan({one: [two]})) is VALID


def test_a_plan_of_another_problem() -> None:
    other = examples()["counter"].valid_plans[0]
    result = ENGINE.validate(examples()["basic"].problem, other)
    assert result.status is INVALID
    assert result.inapplicable_action is other.actions[0]


def test_values_that_are_not_there() -> None:
    """A condition on a fluent without a value is unsatisfied, as in the examples."""
    problem = examples()["basic_undef_bool"].problem
    one, two = problem.action("a1"), problem.action("set_b")
    assert status(problem, SequentialPlan([one()])) is VALID
    assert status(problem, SequentialPlan([two()])) is INVALID
    assert status(problem, SequentialPlan([one(), two()])) is INVALID


def test_objects_as_values() -> None:
    """Fluents as arguments, fluents compared with fluents, and swaps."""
    place = UserType("Place")
    at, goal = Fluent("at", place, robot=IntType(0, 1)), Fluent("goal", place)
    free = Fluent("free", BoolType(), place=place)
    length = Fluent("length", RealType(), place=place)
    problem = Problem("values")
    for fluent in (at, goal, free, length):
        problem.add_fluent(fluent)
    places = [Object(f"P {i}", place) for i in range(3)]
    problem.add_objects(places)
    for index, item in enumerate(places):
        problem.set_initial_value(free(item), index == 2)
        problem.set_initial_value(length(item), Fraction(1, 2) * index)
    problem.set_initial_value(at(0), places[0])
    problem.set_initial_value(at(1), places[1])
    problem.set_initial_value(goal, places[2])
    swap = InstantaneousAction("Swap!")
    swap.add_effect(at(0), at(1))
    swap.add_effect(at(1), at(0))
    jump = InstantaneousAction("jump", robot=IntType(0, 1))
    jump.add_precondition(free(goal))
    jump.add_precondition(length(at(jump.parameter("robot"))) < length(goal))
    jump.add_effect(at(jump.parameter("robot")), goal)
    problem.add_actions([swap, jump])
    problem.add_goal(at(0).Equals(goal))
    problem.add_goal(at(1).Equals(places[0]))
    own = SequentialPlanValidator()
    for steps, wanted in (
        ([swap(), jump(0)], VALID),
        ([jump(0), swap()], INVALID),
        ([swap(), jump(0), jump(0)], INVALID),
        ([jump(0)], INVALID),
    ):
        assert status(problem, SequentialPlan(steps)) is wanted
        assert own.validate(problem, SequentialPlan(steps)).status is wanted


def test_effects_in_the_middle_of_an_action() -> None:
    light = Fluent("light")
    problem = Problem("fuse")
    problem.add_fluent(light, default_initial_value=False)
    burn = DurativeAction("burn")
    burn.set_closed_duration_interval(4, 6)
    burn.add_effect(StartTiming(1), light, True)
    burn.add_effect(EndTiming() - 1, light, False)
    look = DurativeAction("look")
    look.set_fixed_duration(2)
    look.add_condition(TimeInterval(StartTiming(1), EndTiming()), light)
    seen = Fluent("seen")
    problem.add_fluent(seen, default_initial_value=False)
    look.add_effect(EndTiming(), seen, True)
    problem.add_actions([burn, look])
    problem.add_goal(seen)
    for start, length, wanted in ((1, 5, VALID), (Fraction(1, 2), 5, VALID), (3, 5, INVALID)):
        rows = [(Fraction(0), burn(), Fraction(length)), (Fraction(start), look(), Fraction(2))]
        assert status(problem, TimeTriggeredPlan(rows)) is wanted, start
    rows = [(Fraction(0), burn(), Fraction(7)), (Fraction(1), look(), Fraction(2))]
    result = ENGINE.validate(problem, TimeTriggeredPlan(rows))
    assert result.status is INVALID
    assert result.inapplicable_action is rows[0][1]

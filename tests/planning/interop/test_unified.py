"""Round trips of problems and plans through unified-planning preserve the verdict."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from unified_planning.engines import SequentialPlanValidator
from unified_planning.io import PDDLWriter
from unified_planning.plans import SequentialPlan, TimeTriggeredPlan

from hvr.pddl import (
    Domain,
    Problem,
    parse_domain,
    parse_problem,
    print_domain,
    print_problem,
    read_plan,
)
from hvr.planning.interop.engine import (
    HvrPlanValidator,
    in_order,
    plan_from_unified,
    plan_to_unified,
    steps_of,
)
from hvr.planning.interop.from_unified import from_unified, translate
from hvr.planning.interop.names import InteropError, UnifiedNames, pddl_name
from hvr.planning.interop.portable import portable
from hvr.planning.interop.to_unified import convert, to_unified
from hvr.validation import Validator
from tests.planning.interop.unified_examples import PARTS, examples, plans_of, variants

pytestmark = pytest.mark.filterwarnings("ignore")

NOT_IN_PDDL = {
    "timed_connected_locations": "effects in the middle of an action",
    "robot_with_static_fluents_duration_timed_goals": "a goal over an interval",
    "basic_unbounded_int_action_param": "without bounds",
    "robot_continuous": "continuous effects",
    "htn-go": "HierarchicalProblem",
    "sched:basic": "SchedulingProblem",
    "1d_movement": "processes and events",
}


@cache
def said_in_pddl() -> list[str]:
    """Return the names of the examples that PDDL can express."""
    found = []
    for name, example in examples().items():
        try:
            from_unified(example.problem)
        except InteropError:
            continue
        found.append(name)
    return found


def test_most_examples_can_be_said() -> None:
    assert len(said_in_pddl()) == 51
    for name, feature in NOT_IN_PDDL.items():
        with pytest.raises(InteropError, match=feature):
            from_unified(examples()[name].problem)


def test_examples_print_and_parse() -> None:
    for name in said_in_pddl():
        domain, problem = from_unified(examples()[name].problem)
        read = parse_domain(print_domain(domain))
        assert read == domain, name
        assert parse_problem(print_problem(problem), read) == problem, name


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_examples_there_and_back(part: int) -> None:
    """Verdicts are the same after unified-planning -> hvr -> unified-planning -> hvr."""
    engine = HvrPlanValidator()
    for example, number, plan in plans_of(said_in_pddl()[part::PARTS]):
        first = translate(example.problem)
        back = convert(first.domain, first.problem)
        for variant in (plan, *variants(plan, number, 6)):
            steps = steps_of(in_order(variant, example.problem), first)
            again = plan_to_unified(steps, back.unified, back.names)
            assert plan_from_unified(again, back.unified) == steps
            one = engine.validate(example.problem, variant).status
            assert engine.validate(back.unified, again).status is one, str(variant)


# unified-planning's writer does not support preferences, and writes timed effects and several
# constraints in a form that is not PDDL.
NOT_WRITTEN = {
    "basic_numeric_with_timed_effect",
    "basic_oversubscription",
    "basic_tils",
    "counter",
    "locations_connected_visited_oversubscription",
    "robot_loader_weak_bridge",
    "travel_with_consumptions",
}


def test_written_by_unified_planning() -> None:
    """Examples can be read after hvr -> unified-planning -> its PDDLWriter -> hvr."""
    for name in sorted(set(said_in_pddl()) - NOT_WRITTEN):
        writer = PDDLWriter(there_and_back(name))
        domain = parse_domain(writer.get_domain())
        parse_problem(writer.get_problem(), domain)


def there_and_back(name: str) -> Any:
    """Return an example after a round trip through PDDL."""
    return to_unified(*from_unified(examples()[name].problem))


DOMAIN = """
(define (domain depot)
  (:requirements :adl :numeric-fluents)
  (:types truck crane - machine place)
  (:constants yard - place)
  (:predicates (at ?m - machine ?p - place) (full ?m - (either truck crane)) (done))
  (:functions (load ?t - truck) (total-cost) (way ?a ?b - place))
  (:action drive
    :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (not (= ?a ?b)) (>= (way ?a ?b) 0))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (way ?a ?b))))
  (:action fill
    :parameters (?m - (either truck crane))
    :precondition (forall (?o - (either truck crane)) (imply (full ?o) (= ?o ?m)))
    :effect (and (full ?m)
      (forall (?t - truck) (when (at ?t yard) (scale-up (load ?t) 2)))
      (when (exists (?t - truck) (> (load ?t) 3)) (done)))))
"""
PROBLEM = """
(define (problem small)
  (:domain depot)
  (:objects t1 t2 - truck c - crane depot - place)
  (:init (at t1 yard) (at t2 depot) (= (load t1) 1.5) (= (load t2) 1)
    (= (way yard depot) 4) (= (way depot yard) 2.25) (= (total-cost) 0))
  (:goal (and (done) (or (at t1 depot) (full c))))
  (:metric minimize (total-cost)))
"""
PLANS = [
    ("(fill t1) (fill t1) (fill t1) (drive t1 yard depot)", 4),
    ("(fill c) (fill c) (fill c)", 0),
    ("(fill c) (fill t1)", None),
    ("(fill c) (drive t2 depot yard) (fill c)", None),
    ("(drive t1 yard yard) (fill c) (fill c) (fill c)", None),
]


def small() -> tuple[Domain, Problem]:
    """Return a small hand-written domain and problem."""
    domain = parse_domain(DOMAIN)
    return domain, parse_problem(PROBLEM, domain)


@pytest.mark.parametrize(("text", "cost"), PLANS)
def test_a_domain_there_and_back(text: str, cost: int | None) -> None:
    domain, problem = small()
    steps = read_plan(text).steps
    found = convert(domain, problem)
    again, problem_again = from_unified(found.unified)
    for one, two in ((domain, problem), (again, problem_again)):
        report = Validator(one, two).check(steps)
        assert report.valid == (cost is not None), report.explain()
        if report.valid:
            assert report.cost == cost
    plan = plan_to_unified(steps, found.unified, found.names)
    own = SequentialPlanValidator()
    own.skip_checks = True
    result = own.validate(found.unified, plan)
    assert bool(result) == (cost is not None), result
    assert HvrPlanValidator().validate(found.unified, plan).status is result.status
    if cost is not None:
        assert list(result.metric_evaluations.values()) == [cost]


def test_the_model_comes_back_equal() -> None:
    domain, problem = from_unified(examples()["hierarchical_blocks_world"].problem)
    assert from_unified(to_unified(domain, problem)) == (domain, problem)


TEMPORAL = """
(define (domain oven)
  (:requirements :durative-actions :duration-inequalities :timed-initial-literals :fluents)
  (:predicates (hot) (power) (baked))
  (:functions (energy))
  (:durative-action heat
    :parameters ()
    :duration (and (>= ?duration 2) (<= ?duration 5))
    :condition (and (at start (power)) (over all (power)))
    :effect (and (at start (hot)) (at end (not (hot))) (at end (decrease (energy) 1))))
  (:durative-action bake
    :parameters ()
    :duration (= ?duration 2)
    :condition (over all (hot))
    :effect (and (at end (baked)) (at start (decrease (energy) ?duration)))))
"""
OVEN = """
(define (problem bread)
  (:domain oven)
  (:init (power) (at 10 (not (power))) (= (energy) 9))
  (:goal (baked))
  (:constraints (and (sometime (hot)) (always (>= (energy) 0))))
  (:metric minimize (total-time)))
"""


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("1: (heat) [4]\n2: (bake) [2]", True),
        ("1: (heat) [6]\n2: (bake) [2]", False),
        ("1: (heat) [3]\n3: (bake) [2]", False),
        ("7: (heat) [5]\n8: (bake) [2]", False),
    ],
)
def test_time_there_and_back(text: str, valid: bool) -> None:
    domain = parse_domain(TEMPORAL)
    problem = parse_problem(OVEN, domain)
    steps = read_plan(text).steps
    found = convert(domain, problem)
    again = from_unified(found.unified)
    assert Validator(domain, problem).check(steps).valid is valid
    assert Validator(*again).check(steps).valid is valid
    plan = plan_to_unified(steps, found.unified, found.names)
    assert isinstance(plan, TimeTriggeredPlan)
    assert plan_from_unified(plan, found.unified) == steps
    assert bool(HvrPlanValidator().validate(found.unified, plan)) is valid


@pytest.mark.parametrize(
    ("domain", "problem", "feature"),
    [
        ("(:predicates (p) (q)) (:derived (q) (p))", "(:init) (:goal (q))", "derived predicates"),
        (
            "(:predicates (p)) (:action a :precondition (preference x (p)) :effect (p))",
            "(:init) (:goal (p))",
            "preferences outside of goals",
        ),
        (
            "(:predicates (p))",
            "(:init) (:goal (p)) (:constraints (within 3 (p)))",
            "the trajectory constraint within",
        ),
        (
            "(:types a - (either b c) b c) (:predicates (p))",
            "(:init) (:goal (p))",
            "several supertypes",
        ),
        (
            "(:predicates (p)) (:durative-action d :duration (>= ?duration 1) :effect ())",
            "(:init) (:goal (p))",
            "without an upper bound",
        ),
    ],
)
def test_what_unified_planning_cannot_say(domain: str, problem: str, feature: str) -> None:
    read = parse_domain(f"(define (domain d) {domain})")
    with pytest.raises(InteropError, match=feature):
        to_unified(read, parse_problem(f"(define (problem p) (:domain d) {problem})", read))


def test_goals_that_a_plan_may_miss() -> None:
    domain = parse_domain("(define (domain d) (:predicates (p) (q)) (:action a :effect (p)))")
    problem = parse_problem(
        "(define (problem p) (:domain d) (:init)"
        "(:goal (and (preference x (p)) (preference y (q))))"
        "(:metric minimize (+ (* 3 (is-violated x)) (is-violated y))))",
        domain,
    )
    unified = to_unified(domain, problem)
    (metric,) = unified.quality_metrics
    assert sorted(metric.goals.values()) == [1, 3]
    plan = plan_to_unified(read_plan("(a)").steps, unified)
    result = HvrPlanValidator().validate(unified, plan)
    assert result.metric_evaluations == {metric: 3}


def test_names() -> None:
    names = UnifiedNames(pddl_name, {"and"})
    wishes = ["Robot", "robot", "robot!", "and", "2nd", "Große Tür", "_x"]
    given = [names.add("object", wish) for wish in wishes]
    assert given == ["robot", "robot-2", "robot-3", "and-2", "x2nd", "gro-e-t-r", "x_x"]
    assert [names.old("object", name) for name in given] == wishes
    with pytest.raises(InteropError, match="no object 'cup'"):
        names.new("object", "cup")


def test_steps_that_the_problem_has_not() -> None:
    domain, problem = small()
    unified = to_unified(domain, problem)
    for text in ("(fly t1)", "(fill nothing)", "(fill)", "(drive depot yard depot)"):
        with pytest.raises(InteropError, match="the step"):
            plan_to_unified(read_plan(text).steps, unified)
    assert isinstance(plan_to_unified((), unified), SequentialPlan)


@pytest.mark.slow
def test_conditions_of_10_000_levels_come_back() -> None:
    deep = "(or (q) (and (p) " * 5_000 + "(p)" + "))" * 5_000
    domain = parse_domain(
        "(define (domain deep) (:requirements :adl) (:predicates (p) (q))"
        f" (:action a :parameters () :precondition {deep} :effect (when {deep} (q))))"
    )
    problem = parse_problem("(define (problem x) (:domain deep) (:init (p)) (:goal (q)))", domain)
    plan = read_plan("(a)").steps
    again, again_problem = from_unified(to_unified(domain, problem))
    assert Validator(again, again_problem).check(plan).valid
    portable_, portable_problem = portable(domain, problem)
    assert Validator(portable_, portable_problem).check(plan).valid

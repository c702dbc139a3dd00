"""Grounding a task as a search problem keeps everything a shortest plan needs."""

from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.pddl import Task, ground_all, parse_domain, parse_problem
from hvr.pddl.state import Conjunction, Disjunction
from hvr.planning.search import ground
from hvr.planning.search.fast_downward import solve
from hvr.planning.search.ground import build, disjuncts, explore, plan_actions
from hvr.planning.search.operators import Literals, bits, groups, mutexes, simplify
from hvr.validation.minimise import reaches_goal
from tests.planning.search.planning_worlds import (
    cheapest,
    conditions,
    loose_tasks,
    reachable,
    room_tasks,
    shortest,
    states,
    tasks,
)

SLOW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def check(task: Task, *, reduce: bool) -> None:
    problem = build(task, reduce=reduce)
    expected = shortest(task)
    found = cheapest(problem)
    if expected is None:
        assert found is None
        return
    assert found is not None
    actions = tuple(plan_actions(problem, found))
    assert len(actions) == len(expected)
    assert reaches_goal(task, actions)


@pytest.mark.slow
@SLOW
@given(tasks)
def test_the_search_problem_has_shortest_plans_of_the_task(task: Task) -> None:
    check(task, reduce=False)


@pytest.mark.slow
@SLOW
@given(room_tasks())
def test_reduction_keeps_the_length_of_shortest_plans(task: Task) -> None:
    check(task, reduce=True)


@pytest.mark.slow
@SLOW
@given(loose_tasks())
def test_reduction_keeps_the_length_of_shortest_plans_without_structure(task: Task) -> None:
    check(task, reduce=True)


@pytest.mark.slow
@SLOW
@given(tasks)
def test_exploration_reaches_all_that_can_happen(task: Task) -> None:
    operators, can = explore(task)
    known = {operator.action for operator in operators}
    everything = [task.ground(action) for action in ground_all(task)]
    for state in states(task):
        assert not state & ~can.true
        assert not ~state & ~can.false
        assert {o.action for o in everything if o.applicable(state)} <= known


@pytest.mark.slow
@SLOW
@given(tasks)
def test_mutexes_are_never_true_together(task: Task) -> None:
    for reduce in (False, True):
        problem = build(task, reduce=reduce)
        fluents = sum(1 << bit for group in problem.variables for bit in group)
        together = mutexes(problem.initial, problem.operators, fluents)
        reached = reachable(problem)
        for state in reached:
            assert all(not state & ~together[bit] for bit in bits(state))
        for group in problem.variables:
            mask = sum(1 << bit for bit in group)
            assert all((state & mask).bit_count() <= 1 for state in reached)


@pytest.mark.slow
@SLOW
@given(tasks)
def test_variables_cover_what_is_read_and_what_must_be_false_is_alone(task: Task) -> None:
    for reduce in (False, True):
        problem = build(task, reduce=reduce)
        covered = [bit for group in problem.variables for bit in group]
        assert len(covered) == len(set(covered))
        alone = {group[0] for group in problem.variables if len(group) == 1}
        for needs in conditions(problem):
            assert set(bits(needs.all)) <= set(covered)
            assert set(bits(needs.false)) <= alone


@pytest.mark.slow
@SLOW
@given(tasks)
def test_simplifying_twice_changes_nothing(task: Task) -> None:
    problem = build(task, reduce=False)
    fluents = sum(1 << bit for group in problem.variables for bit in group)
    together = mutexes(problem.initial, problem.operators, fluents)
    once = simplify(problem.operators, together)
    assert simplify(once, together) == once
    assert {b for g in groups(once, problem.goals, fluents, together) for b in g} == set(
        bits(fluents)
    )


SPECIAL = {
    # Calling the object changes what going there first would undo.
    "joined although the second does not read": """
        (:action go :parameters (?p - place)
          :effect (and (forall (?q - place) (not (at ?q))) (at ?p)))
        (:action call :effect (at b))
        (:action finish :precondition (and (at a) (at b)) :effect (done))""",
    "not joined, both are needed": """
        (:action go :parameters (?p - place) :effect (at ?p))
        (:action finish :precondition (and (at a) (at b)) :effect (done))""",
    "effects on conditions come together": """
        (:action go :effect (and
          (when (x) (at a)) (when (y) (at b)) (not (x)) (not (y))))
        (:action finish :precondition (and (at a) (at b)) :effect (done))""",
    "places are not alike when one of them is swept": """
        (:action put :parameters (?p - place) :precondition (y) :effect (and (at ?p) (not (y))))
        (:action sweep :precondition (not (y)) :effect (and (not (x)) (not (at a))))
        (:action take :parameters (?p - place) :precondition (and (at ?p) (not (x)))
          :effect (done))""",
    "added wins over deleted": """
        (:action go :effect (and (not (x)) (when (y) (x)) (at a)))
        (:action finish :precondition (and (at a) (x)) :effect (done))""",
}


@pytest.mark.parametrize("actions", SPECIAL.values(), ids=SPECIAL)
def test_special_cases(actions: str) -> None:
    domain = parse_domain(f"""(define (domain d) (:requirements :adl) (:types place)
        (:constants a b - place) (:predicates (at ?p - place) (x) (y) (done)) {actions})""")
    goal = "(define (problem p) (:domain d) (:init (x) (y)) (:goal (done)))"
    for reduce in (False, True):
        task = Task(domain, parse_problem(goal, domain))
        assert shortest(task) is not None
        check(task, reduce=reduce)


@pytest.mark.slow
@SLOW
@given(st.one_of(tasks, room_tasks(), loose_tasks()), st.booleans())
def test_testing_clauses_in_turn_keeps_the_length_of_shortest_plans(
    task: Task, reduce: bool
) -> None:
    with mock.patch.object(ground, "MAX_DISJUNCTS", 1):
        check(task, reduce=reduce)


@pytest.mark.parametrize("actions", SPECIAL.values(), ids=SPECIAL)
def test_special_cases_with_clauses_in_turn(actions: str) -> None:
    with mock.patch.object(ground, "MAX_DISJUNCTS", 1):
        test_special_cases(actions)


@pytest.mark.slow
def test_each_of_many_in_one_of_many_is_not_multiplied_out() -> None:
    domain = parse_domain("""(define (domain d) (:requirements :adl) (:types box ball)
        (:predicates (in ?b - ball ?x - box) (shut ?x - box) (checked))
        (:action put :parameters (?b - ball ?x - box) :precondition (not (shut ?x))
          :effect (and (in ?b ?x) (forall (?y - box) (when (not (= ?x ?y)) (not (in ?b ?y))))))
        (:action check :parameters ()
          :precondition (forall (?b - ball) (exists (?x - box) (in ?b ?x))) :effect (checked)))""")
    balls = [f"b{number}" for number in range(6)]
    boxes = [f"x{number}" for number in range(20)]
    each = " ".join(f"(exists (?x - box) (and (in {b} ?x) (not (shut ?x))))" for b in balls)
    text = f"""(define (problem p) (:domain d)
        (:objects {" ".join(balls)} - ball {" ".join(boxes)} - box)
        (:init (in b0 x1) (shut x1)) (:goal (and (checked) {each})))"""
    task = Task(domain, parse_problem(text, domain))
    problem = build(task)
    assert len(problem.operators) < 2_000
    plan = solve(task, 6, patience=0.5).plan
    assert plan is not None and len(plan) == 7 and reaches_goal(task, plan)


def test_disjuncts_leave_out_what_is_always_or_never_so() -> None:
    # (a or b) and c, where b is never true and c never false.
    condition = Conjunction(0b100, 0, (Disjunction(0b011, 0, ()),))
    assert disjuncts(condition, Literals(~0b010, ~0b100)) == [Literals(0b001)]
    assert disjuncts(Conjunction(0b010), Literals(~0b010, -1)) == []
    assert disjuncts(condition, Literals(-1, ~0b001)) == [Literals(0b100)]


CUP = """(define (domain cup) (:predicates (full ?c) (wet ?c) (dry ?c))
  (:action fill :parameters (?c) :precondition (dry ?c)
    :effect (and (full ?c) (wet ?c) (not (dry ?c)))))"""


@pytest.mark.parametrize(
    "goal",
    [
        "(and (full a) (not (full a)))",
        "(and (full a) (not (wet a)))",  # always equal: one represents both
        "(and (wet a) (dry a))",
    ],
)
def test_a_goal_that_contradicts_itself_is_never_reached(goal: str) -> None:
    domain = parse_domain(CUP)
    problem = parse_problem(
        f"(define (problem p) (:domain cup) (:objects a) (:init (dry a)) (:goal {goal}))", domain
    )
    assert solve(Task(domain, problem), 5.0).plan is None

"""Repairs: a found one makes the step executable, and a missing one has a reason."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hvr.pddl import GroundAction, parse_domain, parse_plan, parse_problem, read_plan
from hvr.validation import Repair, Validator
from hvr.validation.findings import explain_repair
from hvr.validation.relaxation import Deadline
from hvr.validation.repair import edit_sequence, find_repair, find_suggestions

LAW = settings(max_examples=50, suppress_health_check=list(HealthCheck))

BLOCKS = """
(define (domain blocks) (:requirements :strips)
  (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (empty) (holding ?x) (glued ?x))
  (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (empty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (empty)) (holding ?x)))
  (:action put-down :parameters (?x) :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (empty) (ontable ?x)))
  (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (empty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (empty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (empty)) (not (on ?x ?y))))
  (:action paint :parameters (?x) :precondition (glued ?x) :effect (clear ?x)))
"""


def blocks(goal: str = "(and (on a b) (on b c))") -> Validator:
    domain = parse_domain(BLOCKS)
    problem = parse_problem(
        "(define (problem x) (:domain blocks) (:objects a b c d) (:init (on c a) (ontable a) "
        f"(ontable b) (ontable d) (clear c) (clear b) (clear d) (empty)) (:goal {goal}))",
        domain,
    )
    return Validator(domain, problem)


GOOD = """
(unstack c a) (put-down c) (pick-up b) (stack b c) (pick-up a) (stack a b)
"""


def advice(validator: Validator, text: str) -> tuple[Repair | None, str]:
    plan = parse_plan(text) if text.strip() else ()
    return find_repair(validator, plan, validator.check(plan))


@pytest.mark.parametrize("missing", range(6))
def test_a_dropped_step_is_found_again(missing: int) -> None:
    steps = list(parse_plan(GOOD))
    del steps[missing]
    validator = blocks()
    repair, note = find_repair(validator, steps, validator.check(steps))
    assert repair is not None and note == ""
    assert repair.completes
    at = len(steps) if repair.step is None else repair.step - 1
    assert validator.check([*steps[:at], *repair.actions, *steps[at:]]).valid
    assert len(repair.actions) <= 2


def test_the_whole_plan_is_found_for_an_empty_one() -> None:
    repair, _ = advice(blocks(), "")
    assert repair is not None and repair.step is None and repair.completes
    assert len(repair.actions) == 6


def test_the_sequence_that_completes_the_plan_is_preferred() -> None:
    # Two steps empty the hand; the rest is executable after only one of them.
    validator = blocks("(and (on c d) (holding b))")
    repair, _ = advice(validator, "(unstack c a) (pick-up b)")
    assert repair == Repair(2, parse_plan("(stack c d)"), True)


def test_a_step_may_be_made_executable_though_the_plan_stays_invalid() -> None:
    validator = blocks()
    repair, _ = advice(validator, "(pick-up a)")
    assert repair is not None and repair.step == 1 and not repair.completes
    ahead = validator.fork()
    assert all(ahead.apply(action).ok for action in (*repair.actions, *parse_plan("(pick-up a)")))


def test_what_nothing_changes_is_said_at_once() -> None:
    repair, note = advice(blocks(), "(paint a)")
    assert repair is None
    assert note == "the condition can never hold: (glued a) is always false"


def test_what_cannot_be_reached_is_said() -> None:
    repair, note = advice(blocks("(and (on a b) (on b a))"), "")
    assert repair is None
    where = "after the last step"
    assert (
        note == f"no sequence of actions {where} reaches the goal; missing: (on a b) and (on b a)"
    )


def test_a_goal_that_excludes_itself_is_said_to_be_out_of_reach() -> None:
    # Reachable in the relaxation, so that the search visits all states.
    repair, note = advice(blocks("(and (on a b) (on c b))"), "")
    assert repair is None
    where = "after the last step"
    assert (
        note == f"no sequence of actions {where} reaches the goal; missing: (on a b) and (on c b)"
    )


def test_a_misfit_names_the_nearest_name() -> None:
    repair, note = advice(blocks(), "(unstak c a)")
    assert repair is None
    assert "Did you mean 'unstack'?" in note


def test_a_valid_plan_needs_no_advice() -> None:
    assert advice(blocks(), GOOD) == (None, "the plan is valid")


def test_the_time_limit_is_kept_and_named() -> None:
    validator = blocks()
    plan = parse_plan("(stack a b)")
    repair, note = find_repair(validator, plan, validator.check(plan), seconds=-1)
    assert repair is None
    assert "within -1 s" in note


def test_the_validator_stays_where_it_is_and_may_be_under_way() -> None:
    validator = blocks()
    first, *rest = parse_plan(GOOD)
    assert validator.apply(first).ok
    report = validator.check(rest[1:])
    repair, _ = find_repair(validator, rest[1:], report)
    assert repair is not None and repair.completes
    assert repair.step == 2
    assert validator.steps == (first,)


NUMBERS = """
(define (domain trip) (:requirements :typing :numeric-fluents :derived-predicates
    :negative-preconditions :disjunctive-preconditions :conditional-effects)
  (:types place)
  (:predicates (at ?p - place) (road ?p ?q - place) (pump ?p - place) (safe) (belt) (alarm))
  (:functions (fuel) (total-cost))
  (:derived (safe) (and (belt) (not (alarm))))
  (:action drive :parameters (?p ?q - place)
    :precondition (and (at ?p) (road ?p ?q) (>= (fuel) 2) (safe))
    :effect (and (not (at ?p)) (at ?q) (decrease (fuel) 2) (increase (total-cost) 1)))
  (:action fill :parameters (?p - place) :precondition (and (at ?p) (pump ?p))
    :effect (and (increase (fuel) 1) (increase (total-cost) 5)))
  (:action buckle :effect (and (belt) (when (not (belt)) (alarm))))
  (:action hush :effect (not (alarm))))
"""


def trip(goal: str = "(at z)") -> Validator:
    domain = parse_domain(NUMBERS)
    problem = parse_problem(
        "(define (problem x) (:domain trip) (:objects x y z - place) (:init (at x) (road x y) "
        f"(road y z) (road y x) (pump x) (= (fuel) 1) (= (total-cost) 0)) (:goal {goal}))",
        domain,
    )
    return Validator(domain, problem)


def test_numbers_and_derived_predicates_are_supplied() -> None:
    repair, _ = advice(trip(), "(drive x y) (drive y z)")
    assert repair is not None and repair.step == 1
    assert sorted(a.name for a in repair.actions) == ["buckle", "fill", "hush"]
    repair, _ = advice(trip(), "")
    assert repair is not None and repair.completes
    assert len(repair.actions) == 7


def test_a_number_that_can_never_be_reached_ends_the_search() -> None:
    repair, note = advice(trip("(and (at z) (<= (fuel) -1))"), "")
    assert repair is None
    assert note.startswith("no sequence of up to 20 steps was found")


TIMED = """
(define (domain shop) (:requirements :durative-actions) (:predicates (glued) (idle) (sold) (open))
  (:durative-action glue :duration (= ?duration 5)
    :condition (at start (idle))
    :effect (and (at start (not (idle))) (at end (idle)) (at end (glued))))
  (:durative-action sell :duration (= ?duration 2)
    :condition (and (at start (glued)) (over all (idle)))
    :effect (at end (sold))))
"""


def one_change_mends(validator: Validator, plan: str, words: str) -> None:
    steps = read_plan(plan).steps
    report = validator.check(steps)
    assert not report.valid
    repair, note = find_suggestions(validator, steps, report)
    assert repair is not None, note
    assert repair.completes and words in explain_repair(repair)
    assert validator.check(repair.plan).valid


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("0: (glue) [5]  1: (sell) [2]", "step 2 at time 5.002"),
        ("0: (glue) [4]  6: (sell) [2]", "the duration 5 for step 1"),
        ("0: (glue)  6: (sell) [2]", "the duration 5 for step 1"),
        ("6: (sell) [2]", "0.998: (glue) [5] inserted"),
        ("0: (sell) [2]", "all steps from 0 on postponed by 5.004"),
        ("0: (glue) [5]", "5.002: (sell) [2] inserted"),
        ("0: (glue) [5]  1: (glue) [5]  6: (sell) [2]", "step 2 at time "),
        ("0: (sell) [2]  3: (glue) [5]", "step 1 at time 8.002"),
    ],
)
def test_one_change_mends_a_timed_plan(plan: str, words: str) -> None:
    domain = parse_domain(TIMED)
    problem = parse_problem(
        "(define (problem x) (:domain shop) (:init (idle)) (:goal (sold)))", domain
    )
    one_change_mends(Validator(domain, problem), plan, words)


FUEL = """
(define (domain lorry)
  (:requirements :durative-actions :numeric-fluents :duration-inequalities :continuous-effects)
  (:predicates (there)) (:functions (fuel) (oil))
  (:durative-action fill :duration (= ?duration 2) :effect (at end (assign (fuel) 20)))
  (:durative-action pump :duration (<= ?duration 4)
    :effect (and (increase (oil) (* #t 2)) (at start (decrease (fuel) 1))))
  (:durative-action drive :duration (= ?duration 9)
    :condition (and (at start (>= (fuel) 15)) (at start (>= (oil) {oil})))
    :effect (at end (there))))
"""


@pytest.mark.parametrize(
    ("plan", "oil", "words"),
    [
        ("3: (drive) [9]", 0, "0.998: (fill) [2] inserted"),
        ("0: (drive) [9]", 0, "all steps from 0 on postponed by 2.004"),
        ("0: (fill) [2]  9: (drive) [9]", 4, "(pump) [4] inserted"),
    ],
)
def test_numbers_are_supplied_in_timed_plans(plan: str, oil: int, words: str) -> None:
    domain = parse_domain(FUEL.format(oil=oil))
    problem = parse_problem(
        "(define (problem x) (:domain lorry) (:init (= (fuel) 0) (= (oil) 0)) (:goal (there)))",
        domain,
    )
    one_change_mends(Validator(domain, problem), plan, words)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (GOOD.replace("(put-down c)", "(put-down c) (unstack d a)"), "step 3 removed"),
        (
            "(unstack c a) (put-down c) (stack b c) (pick-up b) (pick-up a) (stack a b)",
            "steps 3 and 4 swapped",
        ),
    ],
)
def test_one_change_mends_a_sequence(plan: str, words: str) -> None:
    validator = blocks()
    steps = parse_plan(plan)
    report = validator.check(steps)
    failure = report.failure
    assert failure is not None
    repair = edit_sequence(validator, steps, failure, Deadline(5))
    assert repair is not None and words in repair.change
    assert validator.check(repair.plan).valid


def test_inserted_steps_do_not_violate_a_constraint() -> None:
    domain = parse_domain(BLOCKS.replace(":strips", ":strips :constraints"))
    problem = parse_problem(
        "(define (problem x) (:domain blocks) (:objects a b) (:init (ontable a) (clear a) "
        "(holding b)) (:goal (empty)) (:constraints (always (not (on b a)))))",
        domain,
    )
    repair, _ = advice(Validator(domain, problem), "")
    assert repair == Repair(None, parse_plan("(put-down b)"), True)


@pytest.mark.slow
@LAW
@given(st.lists(st.integers(0, 60), min_size=1, max_size=8), st.data())
def test_advice_holds_what_it_promises(choices: list[int], data: st.DataObject) -> None:
    validator = blocks()
    ahead = validator.fork()
    plan: list[GroundAction] = []
    for choice in choices:
        possible = ahead.applicable_actions()
        plan.append(possible[choice % len(possible)])
        ahead.apply(plan[-1])
    del plan[data.draw(st.integers(0, len(plan) - 1))]
    report = validator.check(plan)
    assume(not report.valid)
    repair, note = find_repair(validator, plan, report)
    assert repair is not None, note
    assert report.failure is not None and repair.step == report.failure.step
    at = len(plan) if repair.step is None else repair.step - 1
    again = validator.check([*plan[:at], *repair.actions, *plan[at:]])
    assert again.valid == repair.completes
    if not again.valid:
        assert again.executed > at + len(repair.actions)
    assert find_repair(validator, plan, report) == (repair, note)

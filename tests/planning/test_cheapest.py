"""The A* of small tasks, and the objects that a plan can need."""

import pytest

from hvr.base.files import data_path
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.search.cheapest import cheap_plan, relevant_problem
from hvr.validation.validator import Validator

WALKS = """
(define (domain walks) (:requirements :typing :action-costs)
  (:types room)
  (:predicates (at ?r - room) (joined ?a ?b - room) (seen ?r - room) (resting))
  (:functions (steps ?a ?b - room) (total-cost))
  (:action walk :parameters (?a ?b - room)
    :precondition (and (at ?a) (joined ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (seen ?b) (increase (total-cost) (steps ?a ?b)))))
"""


def _walks(goal: str, steps: str) -> Task:
    domain = parse_domain(WALKS)
    pairs = [pair.split(":") for pair in steps.split()]
    facts = " ".join(f"(joined {p[0]} {p[1]}) (= (steps {p[0]} {p[1]}) {p[2]})" for p in pairs)
    problem = f"""(define (problem w) (:domain walks) (:objects a b c d - room)
      (:init (at a) {facts}) (:goal {goal}) (:metric minimize (total-cost)))"""
    return Task(domain, parse_problem(problem, domain))


def test_costs_count_and_not_steps() -> None:
    found = cheap_plan(_walks("(at c)", "a:c:9 a:b:2 b:c:3"), 5)
    assert found.plan is not None
    assert [action.args for action in found.plan] == [("a", "b"), ("b", "c")]


def test_without_a_way_there_is_proven_to_be_none() -> None:
    found = cheap_plan(_walks("(at d)", "a:b:1"), 5)
    assert (found.plan, found.optimal) == (None, True)


def test_a_goal_that_holds_needs_no_step() -> None:
    assert cheap_plan(_walks("(at a)", "a:b:1"), 5).plan == ()


@pytest.mark.parametrize("world", ["blocksworld", "logistics", "laboratory"])
def test_plans_of_the_worlds_are_valid(world: str) -> None:
    folder = data_path("worlds") / world
    domain = parse_domain(folder / "domain.pddl")
    for path in sorted((folder / "problems").glob("*.pddl"))[:2]:
        problem = parse_problem(path, domain)
        task = Task(domain, problem)
        found = cheap_plan(task, 10)
        assert found.plan is not None
        assert Validator(task).check(found.plan).valid
        small = cheap_plan(Task(domain, relevant_problem(domain, problem)), 10)
        if small.plan is not None:  # a plan with fewer objects is a plan with all of them
            assert Validator(task).check(small.plan).valid


def test_only_what_the_goal_can_mean_or_needs_is_kept() -> None:
    domain = parse_domain("""
    (define (domain doors) (:requirements :adl :typing)
      (:types ball key door)
      (:predicates (red ?b - ball) (behind ?b - ball ?d - door) (fits ?k - key ?d - door)
        (open ?d - door) (near ?b - ball) (held ?b - ball))
      (:action unlock :parameters (?k - key ?d - door) :precondition (fits ?k ?d)
        :effect (and (open ?d) (forall (?b - ball) (when (behind ?b ?d) (near ?b)))))
      (:action take :parameters (?b - ball) :precondition (near ?b) :effect (held ?b)))""")
    problem = parse_problem(
        """
    (define (problem p) (:domain doors)
      (:objects b1 b2 - ball k1 k2 - key d1 d2 - door)
      (:init (red b1) (behind b1 d1) (behind b2 d2) (fits k1 d1) (fits k2 d2))
      (:goal (exists (?b - ball) (and (red ?b) (held ?b)))))""",
        domain,
    )
    kept = relevant_problem(domain, problem)
    assert {o.name for o in kept.objects} == {"b1", "d1", "k1"}

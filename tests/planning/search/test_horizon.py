"""Plans in stages: each stage keeps the conditions of the earlier ones."""

from __future__ import annotations

import pytest

from hvr.errors import PlannerError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.search.fast_downward import SearchResult, solve
from hvr.planning.search.planners import conditions_of, joined, solve_in_stages
from hvr.validation import Validator
from tests.planning.search.planning_worlds import ROOM

FETCH = """
(define (problem p) (:domain room) (:objects knife loaf cup - thing table shelf box - place)
  (:init (free) (at table) (on knife shelf) (on loaf box) (on cup table) (door box) (tool knife))
  (:goal {goal}) {constraints})
"""
GOAL = "(exists (?p - place) (and (cut loaf) (on loaf ?p) (lamp ?p) (on cup ?p) (free)))"


def task(goal: str, constraints: str = "") -> Task:
    domain = parse_domain(ROOM)
    text = FETCH.format(goal=goal, constraints=constraints).replace(
        "(tool knife)", "(tool knife) (lamp shelf)"
    )
    return Task(domain, parse_problem(text, domain))


def limited(most: int):
    """Return a search that gives up on goals with more new conditions than `most`."""
    done: list[int] = [0]

    def search(one: Task, _seconds: float) -> SearchResult:
        count = len(conditions_of(one.problem.goal))
        if count - done[0] > most:
            raise PlannerError("too many", field="budget")
        done[0] = count
        return solve(one, 600)

    return search


@pytest.mark.parametrize("most", [1, 2])
def test_a_plan_in_stages_is_valid_and_claims_no_proof(most: int) -> None:
    one = task(GOAL)
    result = solve_in_stages(one, limited(most), 600)
    assert result.plan is not None
    assert Validator(one).check(result.plan).valid
    assert not result.optimal
    assert result.planner.endswith("in stages")


def test_constraints_hold_over_all_stages() -> None:
    one = task("(and (on cup shelf) (on knife table) (free))",
               "(:constraints (and (sometime (at box)) (always (not (held knife)))))")  # fmt: skip
    with pytest.raises(PlannerError):
        solve_in_stages(one, limited(1), 600)
    other = task("(and (on cup shelf) (free))", "(:constraints (sometime (at box)))")
    result = solve_in_stages(other, limited(1), 600)
    assert result.plan is not None
    assert Validator(other).check(result.plan).valid


def test_conditions_share_their_quantifier_again() -> None:
    goal = task(GOAL).problem.goal
    assert len(conditions_of(goal)) == 5
    assert set(conditions_of(joined(conditions_of(goal)))) == set(conditions_of(goal))

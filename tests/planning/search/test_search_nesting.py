"""Planning handles conditions nested to 3,000 levels over fluents that actions change."""

from pathlib import Path

import pytest

from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
from hvr.planning.search.constraints import after, negated
from hvr.planning.solving.solve import solve

LEVELS = 3_000
DOMAIN = """(define (domain deep) (:requirements :adl :derived-predicates)
  (:predicates (on) (seen) (done) (shown)) (:derived (shown) DERIVED)
  (:action look :parameters () :precondition CONDITION :effect (done))
  (:action switch :parameters () :precondition (not (on)) :effect (and (on) (not (seen)))))
"""
PROBLEM = "(define (problem p) (:domain deep) (:init (seen)) (:goal (and (done) (on) GOAL)))"


def nested(levels: int) -> str:
    """Return a condition equal to (on), with alternating `and` and `or`."""
    return "(or (shown) (and (on) " * (levels // 2) + "(on)" + "))" * (levels // 2)


@pytest.mark.slow
@pytest.mark.parametrize("derived", [False, True])
def test_deep_conditions_are_planned_with(derived: bool, tmp_path: Path) -> None:
    deep = nested(LEVELS)
    rule = deep.replace("(shown)", "(done)") if derived else ""
    domain = DOMAIN.replace("DERIVED", rule)
    if not derived:
        domain = domain.replace("(:derived (shown) )", "")
    domain = domain.replace("CONDITION", "(shown)" if derived else deep)
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(PROBLEM.replace("GOAL", "(on)" if derived else deep))
    found = solve(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    assert found.steps is not None
    assert [str(step) for step in found.steps] == ["(switch)", "(look)"]


@pytest.mark.slow
def test_a_deep_negation_of_a_negation_holds_where_the_condition_does() -> None:
    goal = nested(LEVELS)
    text = DOMAIN.replace("(:derived (shown) DERIVED)", "").replace("CONDITION", "(seen)")
    domain = parse_domain(text)
    task = Task(domain, parse_problem(PROBLEM.replace("GOAL", goal), domain))
    switch = task.ground(GroundAction("switch"))
    twice = negated(negated(task.goal))
    assert not twice.holds(task.initial.bits)
    assert not after(task.goal, switch).holds(task.initial.bits)

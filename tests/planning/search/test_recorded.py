"""A recorded planner repeats its results, even if the planner would now find others."""

from pathlib import Path

import pytest

from hvr.errors import DataFileError, PlannerError
from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.planners import RecordedPlanner

DOMAIN = parse_domain(
    "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
)


def task(goal: str) -> Task:
    text = f"(define (problem q) (:domain d) (:objects x y) (:init) (:goal {goal}))"
    return Task(DOMAIN, parse_problem(text, DOMAIN))


class Once:
    """Finds one plan, then none."""

    def __init__(self, plan: tuple[GroundAction, ...] | None) -> None:
        self.plan = plan
        self.calls = 0

    def solve(self, task: Task) -> SearchResult:
        del task
        self.calls += 1
        if self.calls > 1:
            raise PlannerError("out of time")
        return SearchResult(self.plan, True, 0.5, "once", 2, 1)


@pytest.mark.parametrize("plan", [(GroundAction("a", ("x",)),), (), None])
def test_what_was_found_is_found_again(
    tmp_path: Path, plan: tuple[GroundAction, ...] | None
) -> None:
    first = RecordedPlanner(Once(plan), tmp_path / "one").solve(task("(p x)"))
    other = Once(None)
    again = RecordedPlanner(other, tmp_path / "two", tmp_path / "one").solve(task("(p x)"))
    assert again.plan == first.plan == plan
    assert other.calls == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_is_not_recorded_is_asked_for(tmp_path: Path) -> None:
    RecordedPlanner(Once(()), tmp_path / "one").solve(task("(p x)"))
    other = Once((GroundAction("a", ("y",)),))
    found = RecordedPlanner(other, tmp_path / "two", tmp_path / "one").solve(task("(p y)"))
    assert found.plan == (GroundAction("a", ("y",)),)


def test_a_failure_is_repeated_too(tmp_path: Path) -> None:
    planner = Once(())
    planner.calls = 1
    with pytest.raises(PlannerError, match="out of time"):
        RecordedPlanner(planner, tmp_path / "one").solve(task("(p x)"))
    other = Once(())
    with pytest.raises(PlannerError, match="out of time"):
        RecordedPlanner(other, tmp_path / "two", tmp_path / "one").solve(task("(p x)"))
    assert other.calls == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("text", ["[]", '{"plan": 3, "problem": "x"}'])
def test_a_file_that_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "one").write_text(text)
    with pytest.raises(DataFileError, match="not a planner record"):
        RecordedPlanner(Once(()), tmp_path / "two", tmp_path / "one")


def test_a_result_that_a_crash_cut_off_is_planned_again(tmp_path: Path) -> None:
    RecordedPlanner(Once(()), tmp_path / "one").solve(task("(p x)"))
    whole = (tmp_path / "one").read_bytes()
    (tmp_path / "one").write_bytes(whole + whole[:20])
    other = Once(())
    again = RecordedPlanner(other, tmp_path / "two", tmp_path / "one")
    again.solve(task("(p x)"))
    assert other.calls == 0

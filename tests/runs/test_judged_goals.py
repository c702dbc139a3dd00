"""Plans judged by goals with several stages, and by ambiguous sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hvr.errors import HvrError
from hvr.judging.verdict import PlanVerdict
from hvr.language.goal_builder import Goal, Stage
from hvr.pddl import And, Problem, parse_constraint, parse_formula, parse_plan, parse_problem
from hvr.runs.judging import JudgedGoal, judge_by_goals
from tests.judging.test_symbolic import gripper

TASK = gripper().task


def problem_of(stages: Sequence[Stage]) -> Problem:
    objects, domain = TASK.problem.objects, TASK.domain
    texts = [text for stage in stages for text in stage.constraints]
    return TASK.problem.replace(
        goal=parse_formula(stages[-1].text, domain, objects),
        constraints=And(tuple([parse_constraint(text, domain, objects) for text in texts])),
    )


def judged(goals: Sequence[Goal], plan: str) -> JudgedGoal:
    return judge_by_goals(goals, problem_of, TASK.domain, parse_plan(plan), work=10**7)


def goal(*wanted: str, said: str = "", constraints: tuple[str, ...] = ()) -> Goal:
    return Goal(tuple([Stage(w, constraints=constraints) for w in wanted]), paraphrase=(said,))


THERE_AND_BACK = "(pick ball a) (move a b) (drop ball b) (pick ball b) (move b a) (drop ball a)"


def outcome(verdict: PlanVerdict) -> tuple[str, frozenset[int]]:
    return verdict.outcome, verdict.removed


def test_an_earlier_stage_is_reached_on_the_way() -> None:
    stages = goal("(at ball b)", "(at ball a)")
    assert outcome(judged([stages], THERE_AND_BACK).verdict) == ("clean", frozenset())
    last = judged([goal("(at ball a)")], THERE_AND_BACK).verdict
    assert last.removed == frozenset(range(1, 7))


def test_stages_have_an_order_and_a_missing_one_is_found() -> None:
    wrong = goal("(at ball c)", "(at ball b)", "(at ball a)")
    verdict = judged([wrong], THERE_AND_BACK).verdict
    assert verdict.missing and not verdict.valid
    found = judged([wrong], " ".join(map(str, verdict.repaired or ()))).verdict
    assert found.outcome == "clean"


def test_stages_are_about_the_objects_of_their_kind_that_the_plan_uses() -> None:
    domain = TASK.domain
    task = parse_problem(
        "(define (problem p) (:domain gripper) (:objects ball-1 ball-2 a b)"
        "(:init (at ball-1 a) (at ball-2 a) (robot a) (free)) (:goal (and)))",
        domain,
    )

    def problem(stages: Sequence[Stage]) -> Problem:
        return task.replace(goal=parse_formula(stages[-1].text, domain, task.objects))

    stages = goal("(holds ball-1)", "(at ball-1 b)")
    plan = parse_plan("(pick ball-2 a) (move a b) (drop ball-2 b)")
    verdict = judge_by_goals([stages], problem, domain, plan, work=10**7).verdict
    assert verdict.outcome == "clean"


def test_what_is_smallest_without_constraints_and_keeps_them_is_proven() -> None:
    goals = [goal("(at ball b)", constraints=("(always (not (at bag b)))",))]
    found = judged(goals, "(pick ball a) (drop ball a) (pick ball a) (move a b) (drop ball b)")
    assert found.verdict.proven and len(found.verdict.removed) == 2


def test_the_plan_tells_which_reading_was_meant() -> None:
    goals = [goal("(at bag b)", said="the bag"), goal("(at ball b)", said="the ball")]
    found = judged(goals, "(pick ball a) (move a b) (drop ball b)")
    assert found.verdict.outcome == "clean" and "the ball" in found.reading
    assert judged(goals[:1], "(pick bag a)").reading == ""


def test_a_plan_that_no_reading_can_judge_is_refused() -> None:
    with pytest.raises(HvrError, match="flies"):
        judged([goal("(flies ball)")], "(pick ball a)")

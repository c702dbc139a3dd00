"""The judge before execution inserts missing steps of a model's plan and removes redundant ones."""

from __future__ import annotations

from hvr.pddl import Task, parse_domain, parse_plan, parse_problem
from hvr.planning.plans import AABlock, MacroAction
from hvr.policies.llm.record import PlanJudged
from hvr.policies.llm.repair import intended_outcome, repair_judged_blocks
from hvr.policies.llm.settings import settings_named
from tests.judging.test_symbolic import gripper


def test_a_plan_is_mended_within_its_blocks() -> None:
    blocks = (
        AABlock(MacroAction("take"), parse_plan("(pick bag a) (drop bag a) (pick ball a)")),
        AABlock(MacroAction("bring"), parse_plan("(drop ball b)")),
    )
    said: list[PlanJudged] = []
    changed, rounds = repair_judged_blocks(
        gripper().task, blocks, frozenset({"robot"}), said.append
    )
    actions = [str(a) for block in changed for a in block.actions]
    assert actions == ["(pick ball a)", "(move a b)", "(drop ball b)"]
    assert len(rounds) == 1
    assert [len(said[0].removed), len(said[0].inserted)] == [2, 1]


def test_a_good_plan_stays() -> None:
    blocks = (AABlock(MacroAction("all"), parse_plan("(pick ball a) (move a b) (drop ball b)")),)
    assert repair_judged_blocks(gripper().task, blocks, frozenset(), lambda _: None) == (blocks, ())


def test_a_plan_that_nothing_mends_stays_and_it_is_said() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (wings) (aloft))"
        "(:action fly :parameters () :precondition (wings) :effect (aloft)))"
    )
    task = Task(
        domain, parse_problem("(define (problem p) (:domain d) (:init) (:goal (and)))", domain)
    )
    blocks = (AABlock(MacroAction("all"), parse_plan("(fly)")),)
    said: list[PlanJudged] = []
    assert repair_judged_blocks(task, blocks, frozenset(), said.append) == (blocks, ())
    assert [bool(event.unmended) for event in said] == [True]


def test_what_a_later_step_supposes_to_be_undone_is_not_wanted() -> None:
    # One hand need not hold both: the bag is put down again, or never picked up.
    task = gripper().task
    goal = intended_outcome(
        task, task.initial, parse_plan("(pick bag a) (pick ball a)"), frozenset()
    )
    assert [str(part) for part in goal.operands] == [
        "(holds ball)", "(not (at ball a))", "(not (free))",
    ]  # fmt: skip


def test_the_judge_is_a_switch_of_its_own() -> None:
    assert settings_named("HVR+judge").judge and not settings_named("HVR+").judge
    assert "judge" not in settings_named("HVR").to_json()

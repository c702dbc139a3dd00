"""Scores of plans made from ground truths, intact and damaged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hvr.bench.cells import Scores
from hvr.bench.metrics import rename_objects
from hvr.bench.scoring import execute_plan, scene_task, score
from hvr.errors import DataFileError
from hvr.models.layers import MeteredUse
from hvr.pddl import GroundAction, parse_plan
from hvr.planning.plans import AABlock, MacroAction, Plan
from hvr.policies.llm.record import BlockRecord, MacroCheck, PlanningRecord
from hvr.runs.tasks import PaperTask, load_task

Blocks = Sequence[Sequence[GroundAction]]


def record(blocks: Blocks, *, ok: bool = True, hierarchical: bool = True) -> PlanningRecord:
    made = [AABlock(MacroAction(f"part {n}"), tuple(b)) for n, b in enumerate(blocks)]
    check = MacroCheck(len(made), len(made)) if hierarchical else None
    return PlanningRecord(
        plan=Plan(tuple(made)),
        blocks=tuple(
            BlockRecord(macro=b.macro, written=b.actions, actions=b.actions,
                        verified_before=ok, verified_after=ok, tries=1)
            for b in made
        ),
        hierarchical=hierarchical, macro_before=check, macro_after=check,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["T1", "T3", "T5bis", "T9", "T12"])
def test_the_ground_truth_scores_full_marks(name: str) -> None:
    task = load_task(name)
    scores = score(record(task.ground_truth.blocks), task, execute=name in {"T1", "T3", "T12"})
    assert (scores.pc, scores.epv, scores.ld) == (1.0, 1.0, 0.0)
    assert (scores.goal_conditions, scores.success) == (1.0, True)
    assert (scores.mpv_before, scores.mpv_after) == (1.0, 1.0)
    assert (scores.aabv_before, scores.aabv_after) == (1.0, 1.0)
    assert scores.failures == {}
    if scores.executed is not None:
        assert (scores.es, scores.reached) == (1.0, True)


@pytest.fixture(scope="module")
def coffee() -> PaperTask:
    return load_task("T2")


@pytest.fixture(scope="module")
def salad() -> PaperTask:
    return load_task("T7")


def test_a_missing_step_stops_the_plan_there(coffee: PaperTask) -> None:
    steps = list(coffee.ground_truth.steps)
    place = next(i for i, a in enumerate(steps) if a.name == "put_on")
    scores = score(record([steps[:place] + steps[place + 1 :]], ok=False), coffee)
    assert scores.pc == pytest.approx(place / len(steps))
    assert scores.epv < 1
    assert not scores.success
    assert scores.aabv_after == 0.0
    assert scores.executed is None
    assert scores.es is None
    assert "inapplicable: hand_empty" in scores.failures


@pytest.mark.slow
def test_a_plan_that_ends_early_is_verified_and_does_not_meet_the_goal(salad: PaperTask) -> None:
    scores = score(record(salad.ground_truth.blocks[:-1]), salad, execute=False)
    assert scores.epv == 1.0
    assert scores.pc == pytest.approx(12 / 16)
    assert scores.ld == pytest.approx(-4 / 16)
    assert scores.goal_conditions == pytest.approx(2 / 3)  # of three, the tomato is missing
    assert scores.failures == {"goal not met": 1}


def test_a_budget_of_steps_is_kept_or_not(coffee: PaperTask) -> None:
    blocks, best = coffee.ground_truth.blocks, len(coffee.ground_truth.steps)
    assert score(record(blocks), coffee, execute=False).within_budget is None
    for budget, kept in ((best, True), (best - 1, False)):
        scores = score(record(blocks), coffee.replace(step_budget=budget), execute=False)
        assert scores.success and scores.within_budget is kept
        assert Scores.from_json(scores.to_json()) == scores
    short = score(record(blocks[:-1]), coffee.replace(step_budget=best), execute=False)
    assert not short.success and short.within_budget is False


def test_blocks_in_another_allowed_order_are_as_correct(salad: PaperTask) -> None:
    blocks = list(salad.ground_truth.blocks)
    blocks[1], blocks[2] = blocks[2], blocks[1]  # cut another object first
    blocks[4], blocks[5] = blocks[5], blocks[4]  # put another object into the bowl first
    assert score(record(blocks), salad, execute=False).pc == 1.0


def test_another_slice_is_as_correct(salad: PaperTask) -> None:
    other = rename_objects(salad.ground_truth, {"tomatosliced-1": "tomatosliced-2"})
    assert score(record(other.blocks), salad, execute=False).pc == 1.0


def test_another_object_that_does_not_work_is_not(coffee: PaperTask) -> None:
    truth = coffee.ground_truth
    other = rename_objects(truth, {"mug-1": "mug-99"})
    scores = score(record(other.blocks), coffee)
    assert scores.pc is not None
    assert scores.pc < 1
    assert scores.failures == {"inapplicable: unknown object": 1}


_FILL_FIRST = """(navigate_to_obj cup-1) (pick_up cup-1) (navigate_to_obj faucet-1)
(put_in cup-1 sinkbasin-1) (toggle_on faucet-1) (toggle_off faucet-1)
(navigate_to_obj microwave-1) (open_obj microwave-1) (navigate_to_obj cup-1) (pick_up cup-1)
(navigate_to_obj microwave-1) (put_in cup-1 microwave-1) (close_obj microwave-1)
(toggle_on microwave-1) (toggle_off microwave-1) (open_obj microwave-1) (pick_up cup-1)"""


@pytest.mark.slow
def test_an_open_ended_task_done_in_another_way_is_measured_against_itself() -> None:
    plan = parse_plan(_FILL_FIRST.replace(") (", ")\n("))
    detour = (GroundAction("navigate_to_obj", ("microwave-1",)), *plan)
    scores = score(record([detour]), load_task("T5bis"), execute=False)
    assert (scores.success, scores.aligned, scores.pc) == (True, True, 1.0)
    # The shortest plan has neither the detour nor one of the walks.
    assert scores.truth_length == 16 == load_task("T5bis").optimum["FloorPlan3"].steps
    assert scores.ld == pytest.approx(2 / 16)
    # T5 requires the microwave: there is only one way, and this plan misses it.
    same = score(record([plan]), load_task("T5"), execute=False)
    assert (same.success, same.aligned) == (True, False)
    assert same.pc is not None
    assert same.pc < 1
    # A plan that misses the goal does not count as a reference.
    cut = score(record([plan[:-1]]), load_task("T5bis"), execute=False)
    assert (cut.success, cut.aligned) == (False, False)
    assert cut.pc == 4 / 16


def test_an_empty_plan(coffee: PaperTask) -> None:
    scores = score(record([]), coffee)
    assert (scores.pc, scores.epv, scores.ld, scores.success) == (0.0, 0.0, -1.0, False)
    assert (scores.executed, scores.es) == (None, None)
    assert scores.failures == {"empty plan": 1, "goal not met": 1}


def test_without_macro_actions_there_is_no_mpv_and_no_aabv(coffee: PaperTask) -> None:
    scores = score(record([coffee.ground_truth.steps], hierarchical=False), coffee, execute=False)
    assert (scores.mpv_before, scores.mpv_after) == (None, None)
    assert (scores.aabv_before, scores.aabv_after) == (None, None)


def test_without_verification_there_is_nothing_after_correction(coffee: PaperTask) -> None:
    full = record(coffee.ground_truth.blocks)
    blocks = tuple(replace(b, verified_after=None) for b in full.blocks)
    scores = score(replace(full, blocks=blocks), coffee, execute=False)
    assert (scores.mpv_before, scores.aabv_before) == (1.0, 1.0)
    assert (scores.mpv_after, scores.aabv_after) == (None, None)


def test_in_another_scene_length_is_compared_with_the_shortest_plan_known(
    coffee: PaperTask,
) -> None:
    scene = next(s for s in coffee.scenes if s != coffee.ground_truth.scene)
    scores = score(record([]), coffee, scene=scene)
    assert (scores.pc, scores.es) == (None, None)
    assert scores.truth_length == coffee.optimum[scene].steps


def test_what_went_wrong_on_the_way_is_counted(coffee: PaperTask) -> None:
    made = record(coffee.ground_truth.blocks)
    blocks = (replace(made.blocks[0], unmapped=("fly away", "sing"), repaired=True),
              *made.blocks[1:])  # fmt: skip
    scores = score(replace(made, blocks=blocks, planner_calls=3, library_used=1), coffee,
                   spent=MeteredUse(calls=7, input=100), execute=False)  # fmt: skip
    assert scores.failures == {"unmapped action": 2}
    assert (scores.corrections, scores.repaired) == (2, 1)
    assert (scores.planner_calls, scores.library_hits) == (3, 1)
    assert (scores.spent.calls, scores.spent.input, scores.spent.cost) == (7, 100, None)


@pytest.mark.slow
def test_execution_stops_where_a_step_is_not_applicable(coffee: PaperTask) -> None:
    truth = coffee.ground_truth
    plan = (*truth.steps[:3], GroundAction("pick_up", ("mug-1",)), *truth.steps[3:])
    run = execute_plan(scene_task(truth.scene), truth.scene, plan)
    assert 2 <= run.executed < len(plan)
    assert run.problem


def test_scores_survive_json(coffee: PaperTask) -> None:
    scores = score(
        record(coffee.ground_truth.blocks), coffee, spent=MeteredUse(calls=2), execute=False
    )
    assert Scores.from_json(json.loads(json.dumps(scores.to_json()))) == scores
    with pytest.raises(DataFileError):
        Scores.from_json({"pc": 1.0})

"""The simulated model's use of feedback: with improve=1 it arrives at the ground truth."""

from __future__ import annotations

import pytest

from hvr.pddl import GroundAction, State
from hvr.policies.llm.answers import read_actions
from hvr.policies.llm.blocks import check_block
from hvr.runs.simulated import ErrorModel, Scripted
from hvr.runs.simulated.prompt import ListedObject, PromptObjects
from hvr.runs.simulated.step_errors import (
    Steps,
    adapted,
    literals,
    read_corrected_conditions,
    undo_conditions,
    undo_step_error,
)
from hvr.runs.tasks import paper_task_ids
from tests.runs.simulated.simulated_cases import (
    COFFEE,
    COFFEE_OBJECTS,
    DISTRACTORS,
    coffee,
    numbered,
    only,
    request,
    scene,
    script,
    step,
)

OBJECTS = COFFEE_OBJECTS + DISTRACTORS
STEPS = COFFEE.steps
ALL = PromptObjects(
    tuple(ListedObject(n) for n in ("mug-1", "mug-2", "coffeemachine-1")), frozenset()
)


def actions(text: str) -> Steps:
    return tuple(GroundAction(a.name, a.args) for a in read_actions(text).actions)


def block(*texts: str) -> Steps:
    return tuple(map(step, texts))


def str_of(action: GroundAction) -> str:
    return " ".join((action.name, *action.args))


def correct(
    model: Scripted, written: Steps, problem: str, attempt: int = 1, objects: str = OBJECTS
) -> Steps:
    asked = request(
        "correct_plan", objects=objects, block=numbered(written), problem=problem,
        attempt=str(attempt),
    )  # fmt: skip
    return actions(model.answer(asked).text)


def failing(number: int) -> str:
    return f"step {number} (pick_up mug-1) cannot be done: (near mug-1) must be true"


# One error at a time ------------------------------------------------------------------------


def test_the_first_error_up_to_the_failing_step_is_undone() -> None:
    written = (*STEPS[:1], step("pick_up mug-2"), *STEPS[2:4], *STEPS[5:])
    fixed = undo_step_error(written, STEPS, failing(2), ALL)
    assert fixed == (*STEPS[:4], *STEPS[5:])
    assert undo_step_error(fixed, STEPS, failing(5), ALL) == STEPS


def test_a_missing_step_is_put_before_the_step_that_failed() -> None:
    written = (*STEPS[:1], *STEPS[2:])
    assert undo_step_error(written, STEPS, failing(3), ALL) == STEPS


def test_what_is_missing_at_the_end_has_all_undone() -> None:
    written = (STEPS[1], step("open_obj mug-2"), *STEPS[3:6])
    problem = "at the end of the block this does not hold: (holding mug-1)"
    assert undo_step_error(written, STEPS, problem, ALL) == STEPS


def test_two_steps_that_changed_places_are_one_error() -> None:
    written = (STEPS[1], STEPS[0], *STEPS[2:])
    assert undo_step_error(written, STEPS, failing(1), ALL) == STEPS


def test_errors_behind_the_failing_step_stay() -> None:
    written = (STEPS[1], *STEPS[2:5], STEPS[6])
    assert undo_step_error(written, STEPS, failing(1), ALL) == (*STEPS[:5], STEPS[6])


def test_navigation_that_a_verifier_put_in_does_not_hide_an_error() -> None:
    """Undoing `navigate_to_obj mug-2` would not help; the wrong object must be undone."""
    written = block(
        "navigate_to_obj mug-2", "navigate_to_obj mug-1", "pick_up mug-1",
        "navigate_to_obj coffeemachine-1", "put_on mug-1 mug-2",
    )  # fmt: skip
    fixed = undo_step_error(written, STEPS[:4], failing(5), ALL)
    assert fixed == STEPS[:4]


def test_an_error_behind_the_failing_step_is_left_alone() -> None:
    written = (*STEPS[:2], STEPS[3], step("open_obj mug-1"), *STEPS[4:6])
    assert undo_step_error(written, STEPS, failing(1), ALL) == written


def test_the_step_that_brings_about_what_is_asked_for_comes_before_an_earlier_error() -> None:
    written = (*STEPS[:1], step("open_obj mug-2"), *STEPS[1:4], *STEPS[5:])
    fixed = undo_step_error(written, STEPS, failing(6), ALL, helpful=(STEPS[4],))
    assert fixed == (*STEPS[:1], step("open_obj mug-2"), *STEPS[1:])


def test_what_was_added_for_earlier_feedback_stays_while_something_else_is_wrong() -> None:
    added = step("put_on mug-2 coffeemachine-1")
    written = (added, *STEPS[:3], step("put_on mug-2 mug-1"), *STEPS[4:])
    fixed = undo_step_error(written, STEPS, failing(5), ALL)
    assert fixed == (added, *STEPS)
    assert undo_step_error(fixed, STEPS, failing(1), ALL) == STEPS


KNIFE = tuple(map(step, ("navigate_to_obj knife-1", "pick_up knife-1")))
AWAY = tuple(map(step, ("navigate_to_obj countertop-1", "put_on knife-1 countertop-1")))
CUT = tuple(map(step, ("navigate_to_obj tomato-1", "slice_obj tomato-1")))
WAYS = {"(holding knife-1)": (KNIFE,), "(hand_empty)": (STEPS[2:4], AWAY)}


def test_what_another_block_was_to_bring_about_is_brought_about() -> None:
    problem = "step 2 (slice_obj tomato-1) cannot be done: (holding knife-1) must be true; it was"
    assert adapted(CUT, 2, problem, WAYS, ()) == (CUT[0], *KNIFE, CUT[1])


def test_the_hand_is_emptied_of_what_is_in_it() -> None:
    take = (step("pick_up plate-1"),)
    problem = "step 1 (pick_up plate-1) cannot be done: (hand_empty) must be true; it was"
    assert adapted(take, 1, problem, WAYS, ("knife-1",)) == (*AWAY, *take)
    made = f"{problem} made false by step 3 (pick_up knife-1)."
    assert adapted(take, 1, made, WAYS, ()) == (*AWAY, *take)


@pytest.mark.parametrize("problem", ["(opened fridge-1) must be true", "something else", ""])
def test_what_the_ground_truth_never_brings_about_is_not_known(problem: str) -> None:
    assert adapted(CUT, 2, problem, WAYS, ()) is None


def test_the_model_adapts_a_right_block_with_probability_improve() -> None:
    true = script("T4").blocks[1]
    asked = request(
        "correct_block", objects=scene("T4")[0], macro=true.macro.name,
        block=numbered(true.actions),
        problem=f"step 2 {true.actions[1]} cannot be done: (holding knife-1) must be true; it is "
        "false, and no step has changed it.",
    )  # fmt: skip
    fetched = block("navigate_to_obj knife-1", "pick_up knife-1")
    adapts = Scripted(script("T4"), ErrorModel(improve=1.0)).answer(asked).text
    assert actions(adapts) == (true.actions[0], *fetched, true.actions[1])
    stays = Scripted(script("T4"), only(improve=0.0)).answer(asked).text
    assert actions(stays) == true.actions


def test_nothing_is_changed_where_nothing_is_wrong() -> None:
    assert undo_step_error(STEPS, STEPS, failing(3), ALL) == STEPS


def test_a_guessed_name_that_was_replaced_is_no_error() -> None:
    """The knife is not listed, so the mapper turned `knife-1` into `butterknife-1`."""
    true = block("pick_up knife-1", "navigate_to_obj mug-1", "slice_obj mug-1")
    written = block("pick_up butterknife-1", "slice_obj mug-1")
    assert undo_step_error(written, true, failing(2), ALL) == block(
        "pick_up butterknife-1", "navigate_to_obj mug-1", "slice_obj mug-1"
    )


def test_a_guessed_name_that_failed_is_an_error() -> None:
    """A step that is right in its place is never taken for a guess."""
    true = block("pick_up knife-1", "slice_obj mug-2", "pick_up mug-1")
    assert (
        undo_step_error(block("pick_up mug-2", *map(str_of, true[1:])), true, failing(1), ALL)
        == true
    )
    assert undo_step_error(true[1:], true, failing(1), ALL) == true


def test_feedback_for_a_block_looks_at_the_block() -> None:
    model = coffee(ErrorModel(improve=1.0))
    asked = request(
        "correct_block", objects=OBJECTS, macro="Take the mug", problem=failing(1),
        history="1. Put the mug on the coffee machine: (pick_up, mug-1)",
        block=numbered(block("pick_up mug-2")),
    )  # fmt: skip
    assert actions(model.answer(asked).text) == block("pick_up mug-1")


# Given probabilities --------------------------------------------------------------------------


@pytest.mark.slow
def test_improvement_is_as_probable_as_set() -> None:
    written = (*STEPS[:1], *STEPS[2:])
    answers = [
        correct(coffee(ErrorModel(improve=0.3), seed), written, failing(3)) for seed in range(1000)
    ]
    improved = sum(a == STEPS for a in answers) / 1000
    repeated = sum(a == written for a in answers) / 1000
    assert 0.24 < improved < 0.36
    assert 0.25 < repeated < 0.5
    assert improved + repeated < 0.85  # the others have one more error


def test_without_improvement_there_are_repetitions_and_more_errors() -> None:
    written = (*STEPS[:1], *STEPS[2:])
    model = coffee(only("hallucinated_action", improve=0.0))
    answers = [correct(model, written, failing(3), attempt) for attempt in range(60)]
    others = [a for a in answers if a != written]
    assert 15 < len(others) < 45
    for answer in others:
        assert sum(a != b for a, b in zip(answer, written, strict=True)) == 1


# Convergence ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("task_id", paper_task_ids())
def test_repeated_feedback_leads_to_a_plan_that_works(task_id: str, error: float) -> None:
    """The validator's own reports are the feedback, block after block."""
    objects, _, task = scene(task_id)
    model = Scripted(script(task_id), ErrorModel(error=error, improve=1.0, chatty=0.5), seed=4)
    state = task.initial
    for true in script(task_id).blocks:
        values = {"objects": objects, "macro": true.macro.name}
        written = actions(model.answer(request("block", **values)).text)
        most = 2 * max(len(written), len(true.actions)) + 2
        for attempt in range(most):
            trouble = check_block(task, state, written, true.macro.postcondition)
            if trouble is None:
                break
            asked = request(
                "correct_block", **values, block=numbered(written), problem=trouble.text,
                attempt=str(attempt + 1),
            )  # fmt: skip
            written = actions(model.answer(asked).text)
        assert trouble is None, trouble
        # Later blocks assume the ground truth's state.
        bits = state.bits
        for action in true.actions:
            bits = task.ground(action).apply(bits)
        state = State(task, bits, state.values)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", paper_task_ids())
def test_feedback_on_the_last_step_leads_to_the_true_plan(task_id: str) -> None:
    objects = scene(task_id)[0]
    true = script(task_id).steps
    model = Scripted(script(task_id), ErrorModel(error=0.4, improve=1.0), seed=2)
    written = actions(model.answer(request("plan", objects=objects)).text)
    assert written != true
    for attempt in range(2 * len(true)):
        if written == true:
            break
        written = correct(model, written, failing(len(written) + 1), attempt, objects)
    assert written == true


# Conditions -----------------------------------------------------------------------------------

RIGHT = """\
1. Put the mug on the coffee machine
Preconditions: (present mug-1) (hand_empty)
Postconditions: (on mug-1 coffeemachine-1)
2. Brew the coffee
Preconditions: none
Postconditions: (contains mug-1 coffee)
3. Take the mug
Preconditions: (hand_empty)
Postconditions: (holding mug-1)"""


def undone(written: str, problem: str) -> str:
    sides = undo_conditions(
        read_corrected_conditions(written, 3), read_corrected_conditions(RIGHT, 3), problem
    )
    return str([[tuple(map(str, side)) for side in pair] for pair in sides])


def shown(text: str) -> str:
    return str(
        [[tuple(map(str, side)) for side in pair] for pair in read_corrected_conditions(text, 3)]
    )


def test_literals_are_read_as_pddl_writes_them() -> None:
    texts = ("(hand_empty)", "(not (on mug-1 plate-1))")
    found = literals(texts)
    assert tuple(map(str, found)) == texts
    assert (found[1].predicate, found[1].args, found[1].positive) == (
        "on", ("mug-1", "plate-1"), False,
    )  # fmt: skip


def test_the_condition_that_the_problem_names_is_undone_first() -> None:
    wrong = RIGHT.replace("(present mug-1) ", "(present mug-2) ").replace(
        "(contains mug-1 coffee)", "(contains mug-1 coffee) (not (hand_empty))"
    )
    problem = "macro action 3 (Take the mug) cannot follow: (hand_empty) must be true but is false"
    expected = RIGHT.replace("(present mug-1) ", "(present mug-2) ")
    assert undone(wrong, problem) == shown(expected)
    # Without a known atom, the first difference goes: the literal about mug-2.
    other = "macro action 3 (Take the mug) cannot follow"
    assert undone(expected, other) == shown(RIGHT.replace("(present mug-1) ", ""))


def test_a_problem_without_a_number_has_all_undone() -> None:
    wrong = RIGHT.replace("(hand_empty)", "(not (hand_empty))").replace("mug-1", "mug-2")
    assert undone(wrong, "the conditions contradict one another") == shown(RIGHT)


def test_later_conditions_stay_as_they_are() -> None:
    wrong = RIGHT.replace("(present mug-1) ", "").replace("(holding mug-1)", "(holding mug-2)")
    problem = "macro action 1 (Put the mug on the coffee machine) cannot follow: it must be true"
    assert undone(wrong, problem) == shown(RIGHT.replace("(holding mug-1)", "(holding mug-2)"))


@pytest.mark.slow
@pytest.mark.parametrize("task_id", paper_task_ids())
def test_repeated_feedback_leads_to_the_true_conditions(task_id: str) -> None:
    objects = scene(task_id)[0]
    names = [b.macro.name for b in script(task_id).blocks]
    macros = "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))
    exact = Scripted(script(task_id), ErrorModel(error=0.0))
    true = read_corrected_conditions(
        exact.answer(request("conditions", objects=objects, macros=macros)).text, len(names)
    )
    model = Scripted(script(task_id), ErrorModel(error=0.2, improve=1.0), seed=1)
    text = model.answer(request("conditions", objects=objects, macros=macros)).text
    assert read_corrected_conditions(text, len(names)) != true
    problem = f"macro action {len(names)} ({names[-1]}) cannot follow: something must be true"
    for attempt in range(200):
        if read_corrected_conditions(text, len(names)) == true:
            break
        values = {"conditions": text, "problem": f"{problem} (correction {attempt})"}
        text = model.answer(request("correct_conditions", objects=objects, **values)).text
    assert read_corrected_conditions(text, len(names)) == true


@pytest.mark.slow
def test_conditions_get_better_as_often_as_set() -> None:
    wrong = RIGHT.replace("(present mug-1) ", "")
    problem = "macro action 1 (Put the mug on the coffee machine) cannot follow"
    better = same = 0
    for seed in range(300):
        asked = request("correct_conditions", objects=OBJECTS, conditions=wrong, problem=problem)
        text = coffee(ErrorModel(improve=0.6), seed).answer(asked).text
        better += "(present mug-1)" in text
        same += read_corrected_conditions(text, 3) == read_corrected_conditions(wrong, 3)
    assert 0.5 < better / 300 < 0.7
    assert 0.1 < same / 300 < 0.35

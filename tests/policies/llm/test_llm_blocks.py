"""Blocks: requested from the model, checked, corrected and bounded."""

from __future__ import annotations

import re

import pytest

from hvr.errors import LLMError
from hvr.policies.llm.blocks import check_block, finish_record
from hvr.policies.llm.conditions import describe_macros
from hvr.policies.llm.prediction import count_applicable
from hvr.policies.llm.record import (
    BlockChecked,
    BlockRecord,
    BlockWritten,
    PlanningRecord,
    PolicyEvent,
)
from hvr.policies.llm.repair import broken_constraints, constraints_in
from hvr.validation import Validator
from tests.policies.llm.llm_worlds import (
    Answers,
    Fake,
    answer_of,
    listed,
    macro,
    predicted_scene,
    steps,
    write,
)

SELECT = "Fridge, Egg, Mug, SinkBasin, DiningTable, CounterTop, Cup, Fork, Spoon, Knife, Faucet"
EGG = "Take the egg out of the fridge"
TAKE_EGG = macro(EGG, "", "(holding egg-1)")
GOOD = ("navigate_to_obj fridge-1", "open_obj fridge-1", "pick_up egg-1")
ON_TABLE = ("navigate_to_obj diningtable-1", "put_on egg-1 diningtable-1")
CLOSED = ("navigate_to_obj fridge-1", "pick_up egg-1")
SHUT = (
    "navigate_to_obj cup-1", "pick_up cup-1", "navigate_to_obj fridge-1", "put_in cup-1 fridge-1",
)  # fmt: skip
FULL_HAND = (
    "navigate_to_obj fork-1", "pick_up fork-1", "navigate_to_obj cup-1", "pick_up cup-1",
)  # fmt: skip
NEVER_TWO = "(always (not (exists (?a ?b - item) (and (not (= ?a ?b)) (opened ?a) (opened ?b)))))"
STUCK = ("navigate_to_obj faucet-1", "toggle_off faucet-1")


def model(
    block: Answers, correct: Answers = "none", conditions: str | None = None, plan: str = EGG
) -> Fake:
    told = describe_macros([TAKE_EGG]) if conditions is None else conditions
    return Fake({
        "select": SELECT, "macro_plan": f"1. {plan}", "conditions": told,
        "block": block, "correct_block": correct, "plan": block, "correct_plan": correct,
    })  # fmt: skip


def replace_answers(fake: Fake, **answers: Answers) -> Fake:
    """Return the model with other answers for some purposes."""
    return Fake({**fake.answers, **answers})


def valid(record: PlanningRecord) -> bool:
    task = predicted_scene().task
    return count_applicable(task, task.initial, record.plan.actions) == len(record.plan.actions)


# Processing of a block ----------------------------------------------------------------------


def test_a_good_block_is_taken_as_it_is() -> None:
    fake = model(answer_of(*GOOD))
    record = write(fake, "HVR")
    (block,) = record.blocks
    assert block.actions == block.written == steps(*GOOD)
    assert (block.verified_before, block.verified_after, block.achieved) == (True, True, True)
    assert (block.tries, block.repaired, block.unmapped) == (0, False, ())
    assert fake.asked("correct_block") == 0
    assert record.plan.actions == steps(*GOOD)


def test_missing_navigation_is_inserted_without_asking_the_model() -> None:
    fake = model(answer_of("open_obj fridge-1", "pick_up egg-1"))
    events: list[PolicyEvent] = []
    (block,) = write(fake, "HVR", listen=events.append).blocks
    assert block.actions == steps(*GOOD)
    assert not block.verified_before and block.verified_after
    assert fake.asked("correct_block") == 0
    sources = [e.source for e in events if isinstance(e, BlockWritten)]
    assert sources == ["model", "navigation"]


@pytest.mark.slow
def test_useless_navigation_is_dropped() -> None:
    fake = model(answer_of("navigate_to_obj cup-1", "navigate_to_obj mug-1", *GOOD))
    assert write(fake, "HVR").blocks[0].actions == steps(*GOOD)


@pytest.mark.slow
def test_a_corrected_block_takes_the_place_of_the_old_one() -> None:
    fake = model(answer_of(*SHUT), answer_of(*GOOD))
    (block,) = write(fake, "HVR").blocks
    assert block.written == steps(*SHUT)
    assert block.actions == steps(*GOOD)
    assert (block.tries, block.verified_before, block.verified_after) == (1, False, True)


@pytest.mark.slow
def test_the_backprompt_has_what_is_violated_the_macro_action_and_the_actions() -> None:
    fake = model(answer_of(*SHUT), answer_of(*GOOD))
    write(fake, "HVR", request="I want an egg")
    (prompt,) = fake.prompts("correct_block")
    problem = prompt.split("Problem:")[1]
    assert "(opened fridge-1) must be true" in problem
    assert "step 4 (put_in cup-1 fridge-1)" in problem
    assert f"Macro action: {EGG}" in prompt
    assert "Task: I want an egg" in prompt
    assert (
        "1. (navigate_to_obj, cup-1)\n2. (pick_up, cup-1)\n"
        "3. (navigate_to_obj, fridge-1)\n4. (put_in, cup-1, fridge-1)" in prompt
    )
    assert "Attempt: 1 of 8" in prompt


@pytest.mark.slow
def test_what_keeps_the_robot_from_going_there_is_told() -> None:
    fake = model(answer_of(*CLOSED), answer_of(*GOOD))
    write(fake, "HVR")
    (prompt,) = fake.prompts("correct_block")
    assert "(opened fridge-1) must be true" in prompt.split("Problem:")[1]


@pytest.mark.slow
def test_the_backprompt_shows_the_present_block_not_the_first() -> None:
    fake = model(answer_of(*STUCK), [answer_of(*FULL_HAND), answer_of(*GOOD)])
    write(fake, "HVR")
    first, second = fake.prompts("correct_block")
    assert "2. (toggle_off, faucet-1)\nProblem" in first
    assert "4. (pick_up, cup-1)" in second
    assert "(hand_empty)" in second.split("Problem:")[1]


@pytest.mark.slow
def test_what_a_problem_speaks_of_is_told_of_from_then_on() -> None:
    """The model did not pick the fridge, which holds the egg: feedback names it."""
    closed = answer_of("navigate_to_obj egg-1", "pick_up egg-1")
    fake = replace_answers(model("none", [closed, closed, answer_of(*GOOD)]), select="Egg")
    (block,) = write(fake, "HVR-expansion").blocks
    assert "fridge-1" not in listed(fake.prompts("block")[0])
    assert all("fridge-1" in listed(p) for p in fake.prompts("correct_block")[1:])
    assert block.actions == steps(*GOOD)


@pytest.mark.slow
def test_what_is_held_and_what_the_conditions_name_is_always_told_of() -> None:
    take = macro("Take the fork", "", "(holding fork-1)")
    put = macro("Put it down", "(holding fork-1)", "(on fork-1 diningtable-1)")
    fake = replace_answers(
        model(
            [answer_of("navigate_to_obj fork-1", "pick_up fork-1"), "none"],
            conditions=describe_macros([take, put]), plan="Take the fork\n2. Put it down",
        ),
        select=["Fork", "Fork", "Cup"],
    )  # fmt: skip
    write(fake, "HVR")
    _, second = fake.prompts("block")
    assert {"cup-1", "fork-1", "diningtable-1"} <= listed(second)
    assert re.search(r"fork-1 \(Fork\): held by the robot", second)


def test_feedback_says_what_was_so_before_the_block_began() -> None:
    fake = model(answer_of(*STUCK), answer_of(*GOOD))
    write(fake, "HVR")
    (problem,) = (p.split("Problem:")[1] for p in fake.prompts("correct_block"))
    assert "it was false before step 1" in problem
    assert "initial state" not in problem


@pytest.mark.slow
def test_the_state_after_a_block_is_where_the_next_one_begins() -> None:
    conditions = describe_macros([TAKE_EGG, macro("Put the egg on the table")])
    fake = model(
        [answer_of(*GOOD), answer_of(*ON_TABLE)],
        conditions=conditions, plan=f"{EGG}\n2. Put the egg on the table",
    )  # fmt: skip
    record = write(fake, "HVR")
    assert valid(record)
    assert len(record.blocks) == len(record.plan.blocks) == 2
    second = fake.prompts("block")[1]
    assert f"1. {EGG}: (navigate_to_obj, fridge-1) (open_obj, fridge-1)" in second
    assert "egg-1 (Egg): held by the robot" in second


def test_conditions_are_refined_to_what_the_block_needs_and_changes() -> None:
    (block,) = write(model(answer_of(*GOOD)), "HVR").blocks
    assert set(block.macro.postcondition) == {
        "(holding egg-1)", "(not (hand_empty))", "(opened fridge-1)", "(not (in egg-1 fridge-1))",
    }  # fmt: skip
    assert "(hand_empty)" in block.macro.precondition
    assert "(not (opened fridge-1))" in block.macro.precondition
    assert not any("near" in text for text in block.macro.precondition)


# Bounds -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_block_of_n_steps_is_corrected_2n_times() -> None:
    fake = model(answer_of(*FULL_HAND), answer_of(*FULL_HAND))
    (block,) = write(fake, "HVR").blocks
    assert fake.asked("correct_block") == block.tries == 8
    assert block.verified_after is False
    assert "Attempt: 8 of 8" in fake.prompts("correct_block")[-1]


@pytest.mark.slow
def test_the_tries_are_counted_against_the_length_of_the_present_block() -> None:
    longer = [answer_of(*STUCK)] * 3 + [answer_of(*FULL_HAND)]
    fake = model(answer_of(*STUCK), longer)
    assert write(fake, "HVR").blocks[0].tries == fake.asked("correct_block") == 8
    shorter = [answer_of(*FULL_HAND)] * 4 + [answer_of(*STUCK)]
    fake = model(answer_of(*FULL_HAND), shorter)
    (block,) = write(fake, "HVR").blocks
    assert block.tries == fake.asked("correct_block") == 5
    # One step is wrong in each; the block that gets further wins.
    assert block.actions == steps(*FULL_HAND)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR", "VR"])
def test_every_check_says_how_many_tries_there_are(setting: str) -> None:
    answers = [answer_of(*FULL_HAND), answer_of(*STUCK), answer_of(*FULL_HAND, *STUCK), ""]
    events: list[PolicyEvent] = []
    fake = model(answer_of(*STUCK), answers)
    write(fake, setting, listen=events.append)
    length = 0
    checks: list[BlockChecked] = []
    for event in events:
        if isinstance(event, BlockWritten):
            length = len(event.actions)
        if isinstance(event, BlockChecked):
            assert event.attempts == 2 * max(1, length)
            checks.append(event)
    assert [c.attempt for c in checks] == list(range(len(checks)))
    assert all(c.problem and c.attempt < c.attempts for c in checks[:-1])
    assert checks[-1].attempt >= checks[-1].attempts


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR", "HR"])
def test_a_block_has_at_most_50_steps(setting: str) -> None:
    many = ["navigate_to_obj cup-1", "pick_up cup-1", "navigate_to_obj diningtable-1",
            "put_on cup-1 diningtable-1"] * 15  # fmt: skip
    record = write(model(answer_of(*many), answer_of(*many)), setting)
    assert 2 <= len(record.blocks[0].actions) <= 50
    if setting == "HR":
        assert record.blocks[0].actions == steps(*many)[:50]
    else:
        assert valid(record)
    bare = ["pick_up cup-1", "put_on cup-1 diningtable-1"] * 26
    record = write(model(answer_of(*bare), answer_of(*bare)), setting)
    assert len(record.blocks[0].actions) <= 50


@pytest.mark.parametrize("setting", ["R", "LLM"])
def test_a_whole_plan_is_not_cut_where_a_block_would_be(setting: str) -> None:
    many = ["navigate_to_obj cup-1", "pick_up cup-1", "navigate_to_obj diningtable-1",
            "put_on cup-1 diningtable-1"] * 15  # fmt: skip
    record = write(model(answer_of(*many), answer_of(*many)), setting)
    assert record.blocks[0].actions == steps(*many)


def test_a_postcondition_that_is_missed_is_corrected_three_times_at_most() -> None:
    short = answer_of("navigate_to_obj fridge-1", "open_obj fridge-1")
    fake = model(short, short)
    (block,) = write(fake, "HVR").blocks
    assert fake.asked("correct_block") == block.tries == 3
    assert (block.verified_after, block.achieved) == (True, False)
    assert "(holding egg-1)" in fake.prompts("correct_block")[0].split("Problem:")[1]


def test_a_missed_postcondition_can_be_corrected() -> None:
    fake = model(answer_of("navigate_to_obj fridge-1", "open_obj fridge-1"), answer_of(*GOOD))
    (block,) = write(fake, "HVR").blocks
    assert (block.tries, block.achieved) == (1, True)


def test_the_best_block_is_kept_when_the_tries_are_spent() -> None:
    """The corrections are worse than the first version."""
    nearly = answer_of("navigate_to_obj fridge-1", "open_obj fridge-1")
    fake = model(nearly, [answer_of(*STUCK), nearly, answer_of("navigate_to_obj cup-1")])
    said: list[PolicyEvent] = []
    (block,) = write(fake, "HVR", listen=said.append).blocks
    assert [str(a) for a in block.actions] == [
        "(navigate_to_obj fridge-1)", "(open_obj fridge-1)"
    ]  # fmt: skip
    assert [e.source for e in said if isinstance(e, BlockWritten)][-1] == "best"


# Unusable answers ---------------------------------------------------------------------------

CHAT = "I am afraid that I cannot help with this. Would you like a recipe instead?"


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["", "   \n", CHAT, "1. (fly, moon-1)\n2. (dance)", "```\n```"])
def test_an_unreadable_block_is_corrected(answer: str) -> None:
    fake = model(answer, [answer, answer_of(*GOOD)])
    (block,) = write(fake, "HVR").blocks
    assert block.written == ()
    assert block.actions == steps(*GOOD)
    assert block.tries == fake.asked("correct_block") == 2


@pytest.mark.parametrize("answer", ["", CHAT])
def test_an_unreadable_correction_leaves_the_block_and_counts_as_a_try(answer: str) -> None:
    fake = model(answer_of(*STUCK), answer)
    (block,) = write(fake, "HVR").blocks
    assert block.actions == steps(*STUCK)
    assert block.tries == fake.asked("correct_block") == 4


@pytest.mark.slow
def test_what_cannot_be_mapped_is_noted_and_told_to_the_model() -> None:
    lines = "1. (navigate_to_obj, fridge-1)\n2. (defenestrate, egg-1)\n3. (pick_up, egg-1)"
    fake = model(lines, answer_of(*GOOD))
    write(fake, "HVR")
    assert "defenestrate" in fake.prompts("correct_block")[0].split("Problem:")[1]
    (block,) = write(model(lines), "HR").blocks
    assert any("defenestrate" in note for note in block.unmapped)
    assert block.actions == steps(*CLOSED)


@pytest.mark.parametrize("answer", ["", CHAT])
def test_an_unreadable_plan_is_asked_for_again(answer: str) -> None:
    fake = model(answer, answer_of(*GOOD))
    record = write(fake, "VR")
    assert fake.asked("correct_plan") == 1
    assert record.plan.actions == steps(*GOOD)


# Disabled parts -----------------------------------------------------------------------------


@pytest.mark.slow
def test_without_v_nothing_is_inserted_and_nothing_is_corrected() -> None:
    fake = model(answer_of("pick_up mug-1", *CLOSED), answer_of(*GOOD))
    (block,) = write(fake, "HR").blocks
    assert block.actions == block.written == steps("pick_up mug-1", *CLOSED)
    assert (block.verified_before, block.verified_after, block.achieved) == (False, None, None)
    assert {r.purpose for r in fake.requests} == {"select", "macro_plan", "block"}
    assert write(model(answer_of(*GOOD)), "HR").blocks[0].verified_before


def test_without_h_the_whole_plan_is_one_block() -> None:
    fake = model(answer_of(*GOOD, *ON_TABLE))
    record = write(fake, "VR", request="An egg on the table")
    assert [r.purpose for r in fake.requests] == ["select", "plan"]
    assert len(record.blocks) == 1 and not record.hierarchical
    assert record.macro_before is None and record.macro_after is None
    assert record.plan.actions == steps(*GOOD, *ON_TABLE)
    assert record.blocks[0].macro.name == "An egg on the table"
    assert "Macro action" not in fake.prompts("plan")[0]


@pytest.mark.slow
def test_without_h_a_failing_step_is_corrected_too() -> None:
    fake = model(answer_of(*SHUT), answer_of(*GOOD))
    record = write(fake, "VR")
    (prompt,) = fake.prompts("correct_plan")
    assert "(opened fridge-1)" in prompt and "Macro action" not in prompt
    assert record.plan.actions == steps(*GOOD)


def test_the_models_own_setting_has_neither_retrieval_nor_correction() -> None:
    fake = model(answer_of(*CLOSED))
    record = write(fake, "LLM")
    assert [r.purpose for r in fake.requests] == ["plan"]
    assert record.plan.actions == steps(*CLOSED)


def test_a_macro_plan_that_cannot_be_read_is_the_request_itself() -> None:
    fake = model(answer_of(*GOOD), plan="")
    record = write(fake, "HR", request="Bring me an egg")
    assert [b.macro.name for b in record.blocks] == ["Bring me an egg"]


@pytest.mark.slow
def test_a_macro_plan_has_30_macro_actions_at_most() -> None:
    plan = "\n".join(f"{i}. Wash the mug" for i in range(2, 60))
    fake = model("none", plan=f"Wash the cup\n{plan}")
    with pytest.raises(LLMError, match="59 macro actions"):
        write(fake, "HR")


# The check itself ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_check_agrees_with_the_validator_on_the_step_that_fails() -> None:
    task = predicted_scene().task
    for block in (GOOD, CLOSED, FULL_HAND, STUCK, ()):
        found = check_block(task, task.initial, steps(*block), ())
        validator = Validator(task)
        failed = next(
            (n for n, a in enumerate(steps(*block), 1) if validator.apply(a).failure), None
        )
        assert (found.step if found else None) == failed
        if found is not None:
            assert re.match(rf"step {failed} \(", found.text)


def test_the_check_names_every_literal_that_is_missing_and_no_other() -> None:
    task = predicted_scene().task
    wanted = ("(holding egg-1)", "(opened fridge-1)", "(hand_empty)")
    found = check_block(task, task.initial, steps(*GOOD[:2]), wanted)
    assert found is not None and found.step is None
    assert "(holding egg-1)" in found.text
    assert "(opened fridge-1)" not in found.text and "(hand_empty)" not in found.text


def test_a_block_that_cannot_be_carried_out_keeps_its_conditions() -> None:
    task = predicted_scene().task
    record = BlockRecord(
        macro=TAKE_EGG, written=steps(*CLOSED), actions=steps(*CLOSED), verified_before=False,
        verified_after=None,
    )  # fmt: skip
    done = finish_record(record, task, task.initial, hierarchical=True)
    assert (done.macro, done.verified_after, done.achieved) == (TAKE_EGG, False, False)


# Constraints of a request -------------------------------------------------------------------

ONE_DOOR = "Take the egg out of the fridge and open the microwave, never two doors open"
TWO_OPEN = ("navigate_to_obj microwave-1", "open_obj microwave-1", *GOOD)
ONE_AFTER_THE_OTHER = (
    "navigate_to_obj microwave-1", "open_obj microwave-1", "close_obj microwave-1", *GOOD,
)  # fmt: skip


@pytest.mark.slow
def test_a_step_that_breaks_what_the_request_forbids_is_sent_back_with_the_reason() -> None:
    fake = model(answer_of(*TWO_OPEN), answer_of(*ONE_AFTER_THE_OTHER))
    record = write(fake, "HVR+constraints-retrieval", ONE_DOOR)
    (block,) = record.blocks
    assert block.tries == 1
    assert block.actions == steps(*ONE_AFTER_THE_OTHER)
    (prompt,) = fake.prompts("correct_block")
    assert "step 4 (open_obj fridge-1) breaks what the task demands all the time" in prompt
    assert "(opened microwave-1) must be false; it was made true by step 2" in prompt


@pytest.mark.slow
def test_without_the_switch_and_without_the_request_the_block_is_good() -> None:
    for setting, request in (("HVR", ONE_DOOR), ("HVR+constraints", EGG)):
        (block,) = write(model(answer_of(*TWO_OPEN)), setting, request).blocks
        assert block.tries == 0
        assert block.actions == steps(*TWO_OPEN)


@pytest.mark.slow
def test_the_planner_mends_what_breaks_a_constraint_and_elimination_keeps_it() -> None:
    fake = model(answer_of(*TWO_OPEN), answer_of(*TWO_OPEN))
    record = write(fake, "HVR+-retrieval", ONE_DOOR)
    (block,) = record.blocks
    assert block.repaired
    assert block.achieved
    begun = predicted_scene()
    kept = constraints_in(begun.task, [NEVER_TWO])
    assert broken_constraints(begun.state, steps(*TWO_OPEN), kept)
    assert not broken_constraints(begun.state, record.plan.actions, kept)


def test_what_may_happen_once_may_not_happen_again_in_a_later_block() -> None:
    begun = predicted_scene()
    begun.keep(constraints_in(begun.task, ["(forall (?x - fridge) (at-most-once (opened ?x)))"]))
    again = steps("open_obj fridge-1")
    assert not broken_constraints(begun.state, steps(*GOOD[:2]), begun.kept)
    begun.advance(steps(*GOOD[:2], "close_obj fridge-1"))
    assert [number for number, _ in broken_constraints(begun.state, again, begun.kept)] == [1]
    error = check_block(begun.task, begun.state, again, (), begun.kept)
    assert error is not None
    assert error.step == 1

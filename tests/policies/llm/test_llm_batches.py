"""Blocks for several macro actions from one prompt, and prompt contents other than objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.planning.plans import MacroAction
from hvr.policies.llm.answers import read_blocks
from hvr.policies.llm.dialogue import PromptWords
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.settings import settings_named
from hvr.runs.simulated import make_scripted
from hvr.runs.tasks import load_task
from tests.policies.llm.llm_worlds import Fake, answer_of, policy, predicted_scene, scene, write

MACROS = "1. Take the cup\n2. Put the cup on the dining table"
CONDITIONS = """1. Take the cup
Preconditions: (hand_empty)
Postconditions: (holding cup-1)
2. Put the cup on the dining table
Preconditions: (holding cup-1)
Postconditions: (on cup-1 diningtable-1) (not (opened fridge-1))"""
TAKE = "(navigate_to_obj, cup-1)\n(pick_up, cup-1)"
PUT = "(navigate_to_obj, diningtable-1)\n(put_on, cup-1, diningtable-1)"
BOTH = f"Macro action 1: Take the cup\n{TAKE}\nMacro action 2: Put the cup\n{PUT}"


def model(blocks: str) -> Fake:
    """Return a model that lays a cup on the table."""
    return Fake({
        "select": "Cup, DiningTable", "macro_plan": MACROS, "conditions": CONDITIONS,
        "correct_conditions": CONDITIONS, "blocks": blocks,
        "block": answer_of("navigate_to_obj diningtable-1", "put_on cup-1 diningtable-1"),
        "correct_block": answer_of("navigate_to_obj cup-1", "pick_up cup-1"),
    })  # fmt: skip


def asked(fake: Fake) -> list[str]:
    """Return the purposes of the requests in order."""
    return [request.purpose for request in fake.requests]


@pytest.mark.slow
def test_blocks_of_all_macro_actions_come_from_one_prompt() -> None:
    fake = model(BOTH)
    record = write(fake, "HVR+")
    assert asked(fake) == ["select", "macro_plan", "conditions", "blocks"]
    assert [len(block.actions) for block in record.blocks] == [2, 2]


@pytest.mark.slow
def test_a_block_that_the_answer_lacks_is_asked_for_alone() -> None:
    fake = model(f"Macro action 1: Take the cup\n{TAKE}")
    record = write(fake, "HVR+")
    assert asked(fake)[3:] == ["blocks", "block"]
    assert record.blocks[1].achieved


@pytest.mark.slow
def test_only_the_block_that_is_wrong_is_corrected() -> None:
    fake = model(BOTH.replace("(pick_up, cup-1)\n", "", 1))
    record = write(fake, "HVR+")
    assert asked(fake)[3:] == ["blocks", "correct_block"]
    assert [block.tries for block in record.blocks] == [1, 0]


@pytest.mark.slow
def test_a_macro_action_that_names_its_objects_costs_one_call() -> None:
    fake = model(BOTH)
    write(fake, "HVR+-batching")
    assert asked(fake)[3:6] == ["block", "correct_block", "block"]
    assert asked(fake).count("select") == 1


@pytest.mark.slow
def test_a_prompt_says_what_a_block_is_judged_by_and_what_is_meant() -> None:
    fake = model(BOTH)
    write(fake, "HVR+")
    (prompt,) = fake.prompts("blocks")
    assert "   At the end: (holding cup-1)" in prompt
    assert "   Meant are: cup-1, diningtable-1" in prompt
    assert "What is known here:\n- " in prompt


def test_pieces_are_meant_however_they_are_called_and_liquids_are_no_objects() -> None:
    begun = predicted_scene()
    prompt_words = PromptWords(settings_named("HVR+"), "Do it")
    macro = MacroAction(
        "Put the tomato slice and the cracked egg on the plate with coffee",
        postcondition=("(on tomatosliced-1 plate-1)", "(on eggcracked-1 plate-1)",
                       "(contains mug-1 coffee)"),
    )  # fmt: skip
    told = prompt_words.wanted(macro, begun.task, begun.state)
    assert "Meant are: tomatosliced-1, plate-1, eggcracked-1\n" in told


def test_without_knowledge_prompts_have_the_words_of_the_paper() -> None:
    fake = model(BOTH)
    write(fake, "HVR")
    told = "\n".join(message.text for request in fake.requests for message in request.messages)
    assert "What is known here" not in told and "At the end:" not in told
    assert "blocks" not in asked(fake)


@pytest.mark.slow
def test_a_meal_is_told_as_the_ontology_has_it() -> None:
    fake = model(BOTH)
    write(fake, "HVR+", "serve a vegan meal")
    for purpose in ("macro_plan", "conditions"):
        (prompt,) = fake.prompts(purpose)
        assert "vegan meal: LettuceSliced" in prompt
    (prompt,) = fake.prompts("blocks")
    assert "potato-1 (Potato)" in prompt  # the model did not pick it


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["T2", "T12"])
def test_a_model_without_errors_needs_few_calls(task_id: str) -> None:
    task = load_task(task_id)
    place = task.ground_truth.scene
    fake = Fake({})
    scripted = make_scripted("scripted:error=0", task, place, 0)
    purposes = ("select", "macro_plan", "conditions", "correct_conditions", "blocks", "block",
                "correct_block")  # fmt: skip
    fake.answers = {p: lambda request: scripted.answer(request).text for p in purposes}
    planner: LLMPolicy = policy(fake, "HVR+")
    planner.write(task.goal_oriented, *scene(place))
    assert len(fake.requests) <= 8


# The reader ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading",
    ["Macro action {}: Do it", "**Macro action {}: Do it**", "### Macro Action {}", "Block {}:",
     "{}. Do it", "macro_action {}"],
)  # fmt: skip
def test_headings_are_read_in_many_forms(heading: str) -> None:
    text = "\n".join(f"{heading.format(n)}\n(act_{n}, mug-1)" for n in (1, 2))
    assert read_blocks(text, 2) == ("(act_1, mug-1)", "(act_2, mug-1)")


def test_numbers_that_are_no_macro_action_are_left_out() -> None:
    assert read_blocks("Macro action 7: x\n(a, b)", 2) == (None, None)
    assert read_blocks("Macro action 2: x\nnone", 2) == (None, "none")


@given(st.text(max_size=200), st.integers(1, 5))
def test_there_is_a_part_or_nothing_for_each(text: str, count: int) -> None:
    assert len(read_blocks(text, count)) == count

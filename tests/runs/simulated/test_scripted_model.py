"""The simulated model: without errors it returns the ground truth, equally in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.errors import UsageError
from hvr.models.errors import ModelError
from hvr.models.model import Message, Request
from hvr.planning.plans import AABlock, MacroAction
from hvr.policies.llm.answers import read_actions, read_conditions, read_macro_plan, read_objects
from hvr.runs.simulated import ErrorModel, Script, Scripted, make_scripted
from hvr.runs.tasks import load_task, paper_task_ids
from hvr.worlds.scenes import load_scene
from tests.runs.simulated.simulated_cases import (
    COFFEE,
    COFFEE_OBJECTS,
    coffee,
    listed,
    only,
    request,
    scene,
    script,
)

EXACT = ErrorModel(error=0.0)


def written(text: str) -> list[tuple[str, ...]]:
    found = read_actions(text)
    assert found.unread == ()
    return [(a.name, *a.args) for a in found.actions]


@pytest.mark.parametrize("chatty", [0.0, 1.0])
@pytest.mark.parametrize("task_id", paper_task_ids())
def test_without_errors_it_tells_the_ground_truth(task_id: str, chatty: float) -> None:
    truth = load_task(task_id).ground_truth
    model = Scripted(script(task_id), ErrorModel(error=0.0, chatty=chatty), seed=3)
    objects = scene(task_id)[0]

    names = read_macro_plan(model.answer(request("macro_plan")).text)
    assert len(names) == len(truth.blocks)
    assert not any(char.isdigit() for name in names for char in name)
    for name, block in zip(names, truth.blocks, strict=True):
        answer = model.answer(request("block", objects=objects, macro=name))
        assert written(answer.text) == [(a.name, *a.args) for a in block]
    whole = model.answer(request("plan", objects=objects))
    assert written(whole.text) == [(a.name, *a.args) for a in truth.steps]

    macros = "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))
    answer = model.answer(request("conditions", objects=objects, macros=macros))
    found = read_conditions(answer.text, len(names))
    for conditions, macro in zip(found, (b.macro for b in script(task_id).blocks), strict=True):
        assert conditions.problems == ()
        assert tuple(x.text for x in conditions.precondition) == macro.precondition
        assert tuple(x.text for x in conditions.postcondition) == macro.postcondition
        assert "near" not in str(conditions)


@pytest.mark.parametrize("task_id", paper_task_ids())
def test_it_picks_the_classes_of_the_plan(task_id: str) -> None:
    model = Scripted(script(task_id), EXACT)
    classes = scene(task_id)[1]
    steps = load_task(task_id).ground_truth.steps
    answer = model.answer(request("select", classes=classes))
    chosen = {name.lower() for name in read_objects(answer.text)}
    assert chosen == {name.rsplit("-", 1)[0] for a in steps for name in a.args}

    block = script(task_id).blocks[0]
    wanted = f"lunch\nMacro action: {block.macro.name}"
    answer = model.answer(request("select", classes=classes, request=wanted))
    chosen = {name.lower() for name in read_objects(answer.text)}
    assert chosen == {name.rsplit("-", 1)[0] for a in block.actions for name in a.args}


def test_it_picks_only_what_there_is_and_what_pieces_are_made_of() -> None:
    model = Scripted(script("T4"), EXACT)
    answer = model.answer(request("select", classes="Bread, Mug, Plate"))
    assert read_objects(answer.text) == ("Bread", "Plate")


@pytest.mark.parametrize("task_id", ["T2", "T10", "T11"])
def test_conditions_hold_where_the_plan_says(task_id: str) -> None:
    """Preconditions of a block hold before it and postconditions after it, in the real state."""
    task = scene(task_id)[2]
    bits = task.initial.bits

    def holds(text: str) -> bool:
        atom = text.removeprefix("(not ").rstrip(")") + ")"
        true = atom in {str(a) for a in task.atoms_in(bits)}
        return true != text.startswith("(not ")

    for block in script(task_id).blocks:
        assert block.macro.postcondition
        assert all(holds(text) for text in block.macro.precondition)
        for action in block.actions:
            operator = task.ground(action)
            assert operator.applicable(bits)
            bits = operator.apply(bits)
        assert all(holds(text) for text in block.macro.postcondition)


def test_names_are_sentences_and_repeated_ones_differ() -> None:
    names = [block.macro.name for block in script("T8").blocks]
    assert names[5] == "Put the sliced bread on the plate"
    assert names[8] == "Put another sliced bread on the plate"
    assert script("T5").blocks[0].macro.name == "Fill the cup with water from the faucet"


def test_a_macro_action_is_found_by_its_name_in_other_spelling() -> None:
    found = COFFEE.find("**put mug on coffee machine.**")
    assert found is COFFEE.blocks[0]
    assert COFFEE.find("Brew the coffe") is COFFEE.blocks[1]
    assert COFFEE.find("Water the house plant") is None
    answer = coffee(EXACT).answer(request("block", macro="Water the house plant"))
    assert read_actions(answer.text).actions == ()


def test_what_is_not_listed_is_guessed() -> None:
    model = Scripted(script("T11"), EXACT)
    name = script("T11").blocks[3].macro.name
    # The true ones are knife-1 and countertop-2.
    answer = model.answer(request("block", macro=name, objects=""))
    assert written(answer.text)[-1] == ("put_on", "knife-1", "countertop-1")
    others = listed("T11", ["countertop-3", "knife-1"])
    answer = model.answer(request("block", macro=name, objects=others))
    assert written(answer.text)[-1] == ("put_on", "knife-1", "countertop-3")
    # A name from another line is known.
    others = f"{others}\nfork-1 (Fork): on countertop-2; can be picked up"
    answer = model.answer(request("block", macro=name, objects=others))
    assert written(answer.text)[-1] == ("put_on", "knife-1", "countertop-2")


def test_nothing_is_said_of_places_that_the_prompt_does_not_name() -> None:
    macros = "1. Put the mug on the coffee machine"
    answer = coffee(EXACT).answer(request("conditions", macros=macros, objects=COFFEE_OBJECTS))
    assert "cabinet" not in answer.text
    more = COFFEE_OBJECTS.replace("not dirty", "in cabinet-4; not dirty")
    answer = coffee(EXACT).answer(request("conditions", macros=macros, objects=more))
    assert "(not (in mug-1 cabinet-4))" in answer.text


# As a model ---------------------------------------------------------------------------------


def test_it_says_that_it_is_simulated_and_its_tokens_are_counted() -> None:
    task = load_task("T2")
    model = make_scripted("scripted:improve=0.7,error=0.3", task, "FloorPlan1", 1)
    assert model.simulated
    assert model.name == "scripted(error=0.3, improve=0.7, seed=1)"
    answer = model.answer(request("macro_plan"))
    assert answer.model == model.name
    assert answer.usage.input and answer.usage.output
    assert answer.usage.input > answer.usage.output
    assert answer.usage.cost is None


def test_its_name_tells_all_that_is_not_usual() -> None:
    task = load_task("T2")
    model = make_scripted("scripted:chatty=0.2,swapped=0,seed=7", task, load_scene("FloorPlan1"), 1)
    assert model.name == "scripted(error=0.1, improve=0.7, chatty=0.2, swapped=0, seed=7)"
    assert make_scripted("scripted", task, "FloorPlan1", 4).seed == 4


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("scripted:eror=0.1", "eror=0.1.*parameters: error, improve"),
        ("scripted:error", "not a parameter"),
        ("scripted:error=1.5", "error must be from 0 to 1"),
        ("scripted:error=nan", "error must be from 0 to 1"),
        ("scripted:improve=-1", "improve must be from 0 to 1"),
        ("scripted:dropped=-1", "weight dropped must be at least 0"),
        ("scripted:dropped=inf", "weight dropped must be at least 0"),
        ("scripted:error=lots", "error must be a number, got 'lots'"),
        ("scripted:seed=0.5", "seed must be a whole number"),
        ("scripted:error=0,error=1", "duplicate parameter error"),
        ("openai:gpt", "not a simulated model"),
    ],
)
def test_a_wrong_spec_is_refused(spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make_scripted(spec, load_task("T2"), "FloorPlan1", 0)


def test_it_knows_only_the_scene_of_the_ground_truth() -> None:
    with pytest.raises(UsageError, match="T2 only in FloorPlan1, not in FloorPlan2"):
        make_scripted("scripted", load_task("T2"), "FloorPlan2", 0)


def test_a_script_needs_blocks_that_can_be_told_apart() -> None:
    block = AABlock(MacroAction("Take the mug"), ())
    with pytest.raises(UsageError, match="at least one"):
        Script(())
    with pytest.raises(UsageError, match="names"):
        Script((block, AABlock(MacroAction("take a mug"), ())))


def test_what_is_no_prompt_of_the_pipeline_is_refused() -> None:
    model = coffee(EXACT)
    hello = (Message("user", "hello"),)
    with pytest.raises(ModelError, match="does not know the prompt 'chat'"):
        model.answer(Request(messages=hello, purpose="chat"))
    with pytest.raises(ModelError, match="'Macro action:'"):
        model.answer(Request(messages=hello, purpose="block"))


# Determinism --------------------------------------------------------------------------------

_PROGRAM = """
from tests.runs.simulated.simulated_cases import COFFEE_OBJECTS, DISTRACTORS, coffee, request
from hvr.runs.simulated import ErrorModel
model = coffee(ErrorModel(error=0.5, chatty=0.5), seed=11)
for number in range(20):
    objects = COFFEE_OBJECTS + DISTRACTORS
    text = f"make coffee {number}"
    print(model.answer(request("plan", request=text, objects=objects)).text)
    print(model.answer(request("macro_plan", request=text)).text)
    print(model.answer(request("conditions", request=text, macros="1. Take the mug")).text)
    print(model.answer(request("select", request=text, classes="Mug, Fork, Pan")).text)
"""


@pytest.mark.slow
def test_two_processes_answer_the_same() -> None:
    outputs = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        outputs.append(
            subprocess.run(
                [sys.executable, "-c", _PROGRAM],
                env=environment, cwd=Path(__file__).parent, check=True, capture_output=True,
            ).stdout
        )  # fmt: skip
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].splitlines())) > 20


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    errors = ErrorModel(error=0.5, chatty=0.5)
    prompts = [request("plan", request=f"coffee {n}", objects=COFFEE_OBJECTS) for n in range(8)]
    forwards = [coffee(errors).answer(p).text for p in prompts]
    model = coffee(errors)
    backwards = [model.answer(p).text for p in reversed(prompts)]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 4


def test_seed_attempt_and_prompt_change_the_draw() -> None:
    errors = only("dropped", "wrong_object", "superfluous", "missing_navigation", error=0.5)
    asked = [
        coffee(errors, seed).answer(request("plan", request=text)).text
        for seed in range(4)
        for text in ("a", "b")
    ]
    assert len(set(asked)) > 4

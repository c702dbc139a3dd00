"""Structured answers: schemas made of what exists, and their text for the parsers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.models.errors import ModelError
from hvr.models.model import Answer, Request
from hvr.pddl import GroundAction
from hvr.policies.llm.answers import read_conditions
from hvr.policies.llm.answers.plans import read_exact_actions
from hvr.policies.llm.mapper import ActionSet
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.schemas import ACTION, FACT, HOLDS, WorldForms
from hvr.policies.llm.settings import decided, settings_named
from tests.policies.llm.llm_worlds import Fake, policy, predicted_scene, scene

jsonschema = pytest.importorskip("jsonschema")


@cache
def world() -> PredictedScene:
    return predicted_scene()


@cache
def actions() -> ActionSet:
    return ActionSet(world().task)


@cache
def forms() -> WorldForms:
    return WorldForms(actions(), world().nearness)


@cache
def names() -> tuple[str, ...]:
    return tuple(o.name for o in world().task.problem.objects)


def fits(text: str, schema: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_a_block_is_read_as_it_was_written(data: st.DataObject) -> None:
    some = st.sampled_from([a for name in actions().names for a in actions().of(name)])
    block = tuple(data.draw(st.lists(some, max_size=6)))
    form = forms().steps(names(), 50)
    text = json.dumps({"steps": [_step(action) for action in block]})
    assert fits(text, form.schema) and fits(text, form.accept)
    read = read_exact_actions(
        form.text(json.loads(text)),
        world().arities,
        tuple(world().task.domain.predicates),
        world().task.objects,
    )
    assert [(a.name, a.args) for a in read.actions] == [(a.name, a.args) for a in block]
    assert not read.unread


@pytest.mark.slow
def test_conditions_are_read_as_they_were_written() -> None:
    after = [_fact("contains", "mug-1", "coffee"), {**_fact("hand_empty"), "holds": False}]
    text = json.dumps({"macros": [{"before": [], "after": after}]})
    form = forms().conditions(["Brew: the coffee (in the mug)"], names())
    assert fits(text, form.schema) and fits(text, form.accept)
    (read,) = read_conditions(form.text(json.loads(text)), 1)
    assert [x.text for x in read.postcondition] == ["(contains mug-1 coffee)", "(not (hand_empty))"]


@pytest.mark.parametrize(
    "step",
    [
        {"do": "put_in", "o": "breadsliced-1", "r": "toaster-1"},  # things are put on a toaster
        {"do": "pick_up", "o": "countertop-1"},
        {"do": "fly", "o": "mug-1"},
        {"do": "pick_up", "o": "mug-77"},
        {"do": "pick_up"},
    ],
)
def test_what_does_not_exist_fits_no_schema(step: dict[str, str]) -> None:
    assert not fits(json.dumps({"steps": [step]}), forms().steps(names(), 9).schema)


def test_what_is_told_apart_by_predicates_is_told_apart_by_the_schema() -> None:
    form = forms().conditions(["a"], names())

    def answer(fact: str, **args: str) -> str:
        after = [{"fact": fact, **args, "holds": True}]
        return json.dumps({"macros": [{"before": [], "after": after}]})

    assert fits(answer("on", o="mug-1", r="coffeemachine-1"), form.schema)
    assert not fits(answer("in", o="mug-1", r="coffeemachine-1"), form.schema)
    assert not fits(answer("opened", o="mug-1"), form.schema)
    assert not fits(answer("contains", o="mug-1", l="soup"), form.schema)
    assert not fits(answer("near", o="mug-1"), form.schema)


def test_the_ways_of_a_state_are_possible_and_end() -> None:
    state = world().task.initial
    few = ("mug-1", "countertop-1", "coffeemachine-1", "sinkbasin-1")
    ways = forms().ways(state, few, world().navigation, {state.bits})
    assert GroundAction("pick_up", ("mug-1",)) in ways
    assert all(way[-1] == action for action, way in ways.items())
    assert not any(action.name == "navigate_to_obj" for action in ways)


# Asking -------------------------------------------------------------------------------------------


class Structured:
    """A model that answers by purpose with JSON; an exception is raised."""

    name = "fake"
    simulated = True

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[Request] = []

    def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        found = self.answers[request.purpose]
        if isinstance(found, Exception):
            raise found
        assert request.schema is not None and request.accept is not None
        return Answer(text=json.dumps(found), data=found)

    def count(self, purpose: str) -> int:
        return sum(request.purpose == purpose for request in self.asked)


def structured(model: Structured, setting: str) -> LLMPolicy:
    made = policy(model, setting)
    made.equipment = replace(made.equipment, prompts=load_prompts(structured=True))
    return made


TAKE = {"steps": [{"do": "pick_up", "o": "mug-1"}]}
TITLES = {"steps": ["Take the mug"]}
HELD = {"macros": [{"before": [], "after": [{"fact": "holding", "o": "mug-1", "holds": True}]}]}


@pytest.mark.slow
def test_a_repeated_correction_is_not_asked_for_again() -> None:
    wrong = {"steps": [{"do": "put_on", "o": "mug-1", "r": "countertop-1"}]}
    answers = {"select": {"kinds": ["Mug"]}, "macro_plan": TITLES, "conditions": HELD}
    model = Structured({**answers, "block": wrong, "correct_block": wrong})
    graph, inventory = scene()
    record = structured(model, "HVR++structured-batching").write("take the mug", graph, inventory)
    assert model.count("correct_block") == 1
    assert record.repeated == 1 and record.blocks[0].repaired
    assert [a.name for a in record.plan.actions][-1] == "pick_up"


@pytest.mark.slow
def test_a_constrained_block_is_repaired_by_the_planner_and_not_corrected() -> None:
    answers = {"select": {"kinds": ["Mug"]}, "macro_plan": TITLES, "conditions": HELD}
    for step, unreadable in (("done", 0), ("(fly, mug-1)", 1)):
        model = Structured({**answers, "step": {"next": step}})
        graph, inventory = scene()
        record = structured(model, "HVR++constrained").write("take the mug", graph, inventory)
        assert (model.count("step"), model.count("correct_block")) == (1, 0)
        assert record.unreadable == unreadable and record.blocks[0].repaired
        assert [a.name for a in record.plan.actions][-1] == "pick_up"


@pytest.mark.slow
def test_conditions_that_cannot_be_read_are_asked_for_again() -> None:
    """An answer without conditions is corrected, and once more only if the answer changes."""
    answers: dict[str, str] = {"select": "Mug", "macro_plan": "1. Take the mug"}
    held = "1. Take the mug\nPreconditions: none\nPostconditions: (holding mug-1)"
    for answer, correction, unreadable in (
        ("The robot takes it.", held, 1),
        ("The robot takes it.", "It does.", 2),
        ("Preconditions: none\nPostconditions: none", "", 0),
    ):
        model = Fake({**answers, "conditions": answer, "correct_conditions": correction,
                      "block": "1. (pick_up, mug-1)"})  # fmt: skip
        graph, inventory = scene()
        record = policy(model, "HVR+-direct").write("take the mug", graph, inventory)
        assert record.unreadable == unreadable
        asked = [request.purpose for request in model.requests].count("correct_conditions")
        assert asked == min(unreadable, 1)


@pytest.mark.slow
def test_unreadable_answers_are_counted_and_survived() -> None:
    broken = ModelError("the model's answer is not the requested JSON", kind="schema")
    answers = {"select": broken, "macro_plan": broken, "conditions": HELD, "block": TAKE}
    graph, inventory = scene()
    model = Structured(answers)
    record = structured(model, "HVR++structured-batching").write("take the mug", graph, inventory)
    assert record.unreadable == 2
    assert [a.name for a in record.plan.actions][-1] == "pick_up"


def test_only_an_open_setting_is_decided() -> None:
    assert decided("HVR+", True) == "HVR++structured"
    assert decided("HVR+", False) == "HVR+"
    assert decided("HVR+-structured", True) == "HVR+-structured"
    assert settings_named("LLM+planner_repair").planner_repair
    assert settings_named(decided("LLM+P", True)).structured
    assert "structured" not in settings_named("HVR+").to_json()


def test_the_order_of_the_keys_does_not_matter() -> None:
    step = {"r": "countertop-1", "o": "mug-1", "do": "put_on"}
    form = forms().steps(names(), 5)
    data = {"steps": [step]}
    assert fits(json.dumps(data), form.schema)
    assert "(put_on, mug-1, countertop-1)" in form.text(data)
    fact = dict(reversed(_fact("on", "mug-1", "countertop-1").items())) | {"holds": False}
    goal = {"cannot": "", "goal": [fact]}
    assert forms().goal(names()).text(goal) == "(and (not (on mug-1 countertop-1)))"


def _fact(predicate: str, *args: str) -> dict[str, Any]:
    parameters = [p.name for p in world().task.domain.predicates[predicate].parameters]
    return {FACT: predicate, **_arguments(parameters, args), HOLDS: True}


def _step(action: GroundAction) -> Mapping[str, Any]:
    parameters = [p.name for p in world().task.domain.actions[action.name].parameters]
    return {ACTION: action.name, **_arguments(parameters, action.args)}


def _arguments(parameters: Sequence[str], args: Sequence[str]) -> dict[str, str]:
    return {name.lstrip("?"): arg for name, arg in zip(parameters, args, strict=True)}

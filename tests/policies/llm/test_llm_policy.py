"""The whole policy: outcomes of any answers, and the prompts."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hvr.runs.tasks
from hvr.errors import LLMError
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.world_file import load_world
from hvr.pddl import Task, parse_formula
from hvr.planning.library import Library, Origin, learn
from hvr.policies.llm.conditions import describe_macros
from hvr.policies.llm.prediction import count_applicable
from hvr.policies.llm.record import ObjectsChosen, PlanningRecord, PolicyEvent
from hvr.runs.simulated import make_scripted
from hvr.runs.tasks import load_task
from tests.policies.llm.llm_worlds import (
    Fake,
    answer_of,
    domain,
    listed,
    macro,
    policy,
    predicted_scene,
    scene,
    steps,
    write,
)

TASK = load_task("T2")
PLACE = TASK.ground_truth.scene


def assert_valid(record: PlanningRecord, place: str) -> None:
    task = predicted_scene(place).task
    actions = record.plan.actions
    assert count_applicable(task, task.initial, actions) == len(actions)
    assert all(block.verified_after for block in record.blocks)
    json.dumps(record.to_json())


# Any answers --------------------------------------------------------------------------------

LINES = [f"({', '.join((a.name, *a.args))})" for a in TASK.ground_truth.steps]
CHAT = ["", "Sure! Here is the plan:", "```", "(fly, moon-1)", "{\"actions\": [1, null]}",
        "Preconditions: (hand_empty) (or (a) (b))", "Postconditions: (not (holding mug-1))",
        "Preconditions: (((((", "1. Wash the mug", "2. Make coffee", "Mug, CoffeeMachine",
        "mug-1, sinkbasin-1, faucet-1, coffeemachine-1, countertop-1"]  # fmt: skip
junk = st.lists(st.sampled_from([*LINES, *CHAT]), max_size=8).map("\n".join) | st.text(max_size=40)
PURPOSES = ("select", "macro_plan", "conditions", "correct_conditions", "block", "blocks",
            "correct_block", "plan", "correct_plan")  # fmt: skip


@pytest.mark.slow
@settings(max_examples=7)
@given(
    st.fixed_dictionaries({p: st.lists(junk, min_size=1, max_size=3) for p in PURPOSES}),
    st.sampled_from(["HVR+", "HVR+-hierarchical", "HVR+-expansion-elimination"]),
)
def test_with_repair_every_plan_can_be_carried_out_whatever_is_answered(
    answers: dict[str, list[str]], setting: str
) -> None:
    fake = Fake({p: a for p, a in answers.items() if p != "macro_plan"}
                | {"macro_plan": answers["macro_plan"][0][:200]})  # fmt: skip
    assert_valid(write(fake, setting, place=PLACE), PLACE)


@pytest.mark.parametrize("silent", ["select", "macro_plan", "conditions", "block"])
def test_a_model_that_does_not_answer_is_an_error_of_the_model(silent: str) -> None:
    answers = {"select": "Mug", "macro_plan": "1. Take the mug", "conditions": "none",
               "block": "none", "correct_block": "none"}  # fmt: skip
    del answers[silent]
    with pytest.raises(LLMError, match=f"nothing to say about {silent}"):
        write(Fake(answers), "HVR+", place=PLACE)


@pytest.mark.slow
def test_the_plan_for_the_executor_solves_the_problem_that_goes_with_it() -> None:
    planner = policy(make_scripted("scripted", TASK, PLACE, 0), "HVR+")
    planned = planner.plan(TASK.goal_oriented, *scene(PLACE))
    task = Task(domain(), planned.problem)
    state = task.initial.bits
    for action in planned.plan.actions:
        operator = task.ground(action)
        assert operator.applicable(state)
        state = operator.apply(state)
    assert (
        planned.plan.actions and task.goal.holds(state) and not task.goal.holds(task.initial.bits)
    )
    assert [r.plan for r in planner.plans] == [planned.plan]


@pytest.mark.slow
def test_why_a_plan_was_broken_off_is_told_to_the_model() -> None:
    fake = Fake({"select": "Cup", "macro_plan": "1. Take the cup", "conditions": "none",
                 "block": answer_of("navigate_to_obj cup-1", "pick_up cup-1")})  # fmt: skip
    policy(fake, "HVR").plan("Take a cup", *scene(), reason="the cup fell down.")
    assert all("the cup fell down." in r.messages[-1].text for r in fake.requests)


# Determinism --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR+", "VR"])
def test_the_same_answers_make_the_same_record(setting: str) -> None:
    texts = []
    for _ in range(2):
        model = make_scripted("scripted:error=0.2", TASK, PLACE, 3)
        texts.append(json.dumps(write(model, setting, TASK.goal_oriented, PLACE).to_json()))
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_planning_leaves_the_graph_as_it_was() -> None:
    graph, inventory = scene(PLACE)
    before = graph.facts()
    write(make_scripted("scripted", TASK, PLACE, 0), "HVR+", TASK.goal_oriented, PLACE)
    assert graph.facts() == before == inventory.facts


# The library --------------------------------------------------------------------------------


ORIGIN = Origin(request=TASK.id, scene=PLACE, model="fake", run="one run")


def scripted_calls(library: Library | None) -> tuple[int, PlanningRecord, Library]:
    """Return the number of model calls, the record, and the learnt library."""
    scripted = make_scripted("scripted", TASK, PLACE, 0)
    fake = Fake({p: lambda request: scripted.answer(request).text for p in PURPOSES})
    planner = policy(fake, "HVR+", library=library)
    planned = planner.plan(TASK.goal_oriented, *scene(PLACE))
    entries = learn(
        planned.plan, planned.task, load_world().agent.name, ORIGIN, ontology=load_ontology()
    )
    return len(fake.requests), planner.plans[0], Library(entries)


@pytest.mark.slow
def test_with_what_was_learnt_the_model_is_asked_less_and_the_plan_is_as_good() -> None:
    calls, first, learnt = scripted_calls(None)
    assert first.library_used == 0 and len(learnt) > 0
    fewer, second, _ = scripted_calls(learnt)
    assert second.library_used > 0
    assert fewer < calls
    assert_valid(first, PLACE)
    assert_valid(second, PLACE)
    assert sum(bool(b.from_library) for b in second.blocks) == second.library_used
    assert goal_holds(first) and goal_holds(second)


def goal_holds(record: PlanningRecord) -> bool:
    """Return whether the task's gold goal holds after a plan."""
    world = predicted_scene(PLACE)
    world.advance(record.plan.actions)
    formula = parse_formula(TASK.goal, domain(), world.task.problem.objects, file="<goal>")
    return world.state.holds(formula)


@pytest.mark.slow
def test_a_library_is_not_looked_at_when_it_is_off() -> None:
    _, _, learnt = scripted_calls(None)
    scripted = make_scripted("scripted", TASK, PLACE, 0)
    planner = policy(scripted, "HVR+-library", library=learnt)
    assert planner.write(TASK.goal_oriented, *scene(PLACE)).library_used == 0


# Prompts ------------------------------------------------------------------------------------


def cup_model() -> Fake:
    conditions = describe_macros([macro("Take the cup", "(hand_empty)", "(holding cup-1)")])
    good = answer_of("navigate_to_obj cup-1", "pick_up cup-1")
    return Fake({
        "select": "Cup, Apple", "macro_plan": "1. Take the cup", "conditions": conditions,
        "block": answer_of("navigate_to_obj fridge-1", "toggle_off faucet-1"),
        "correct_block": good, "plan": good, "correct_plan": good,
    })  # fmt: skip


@pytest.mark.parametrize("setting", ["HVR", "HR", "VR", "R", "HVR+expansion"])
def test_with_retrieval_only_the_chosen_objects_are_told_of(setting: str) -> None:
    fake = cup_model()
    events: list[PolicyEvent] = []
    write(fake, setting, listen=events.append)
    chosen = [set(e.names) for e in events if isinstance(e, ObjectsChosen)]
    for prompts in ("block", "plan"):
        for prompt in fake.prompts(prompts):
            assert listed(prompt) == chosen[-1]
    for prompt in fake.prompts("correct_block"):
        # It also lists the objects of the failed step.
        assert listed(prompt) == chosen[-1] | {"faucet-1"}
    for prompt in fake.prompts("conditions"):
        assert listed(prompt) == chosen[0]
    assert "cup-1" in chosen[-1] and "fridge-1" not in chosen[-1]
    for prompt in fake.prompts("macro_plan"):
        assert "Cup:" in prompt and "Fridge:" not in prompt
        assert not re.search(r"\b[a-z]+-\d", prompt.split("Objects:")[1]), "classes only"


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HV", "HV-verification", "LLM"])
def test_without_retrieval_all_objects_are_told_of_and_none_are_asked_for(setting: str) -> None:
    fake = cup_model()
    write(fake, setting)
    every = {o.name for o in predicted_scene().task.problem.objects}
    prompts = [p for purpose in ("conditions", "block", "plan") for p in fake.prompts(purpose)]
    assert prompts and all(listed(prompt) == every for prompt in prompts)
    assert fake.asked("select") == 0


def test_an_answer_that_names_nothing_of_the_scene_gives_all_objects() -> None:
    fake = cup_model()
    fake.answers = {**fake.answers, "select": "Spaceship, Unicorn"}
    write(fake, "R")
    assert listed(fake.prompts("plan")[0]) == {
        o.name for o in predicted_scene().task.problem.objects
    }


@pytest.mark.slow
def test_expansion_adds_to_what_was_chosen() -> None:
    few, more = cup_model(), cup_model()
    for fake in (few, more):
        fake.answers = {**fake.answers, "select": "Apple, SinkBasin"}
    write(few, "R")
    write(more, "R+expansion")
    assert listed(few.prompts("plan")[0]) < listed(more.prompts("plan")[0])
    assert "faucet-1" in listed(more.prompts("plan")[0])


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR+", "LLM"])
def test_nothing_of_the_gold_labels_is_read_or_told(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the labels were read")

    monkeypatch.setattr(hvr.runs.tasks, "read_toml", forbidden)
    monkeypatch.setattr(hvr.runs.tasks, "load_task", forbidden)
    fake = cup_model()
    write(fake, setting, TASK.goal_oriented, PLACE)
    told = "\n".join(m.text for r in fake.requests for m in r.messages)
    assert TASK.goal_oriented in told
    assert TASK.goal.strip() not in told
    assert TASK.constructive not in told
    for part in TASK.goal.split("\n"):
        assert len(part.split()) < 2 or part.strip() not in told
    written = "\n".join(f"({', '.join((a.name, *a.args))})" for a in TASK.ground_truth.steps)
    assert written not in told
    assert steps("pick_up cup-1")[0].name in told, "the actions themselves are told"

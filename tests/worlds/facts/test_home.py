"""Living rooms, bedrooms and bathrooms: a world of files, and recorded rooms."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from hvr.errors import HvrError, SceneError, UsageError
from hvr.execution.executor import Executor
from hvr.execution.world import open_world
from hvr.knowledge.world_file import load_world, world_of_scene, world_of_types
from hvr.language.goal_builder import Goal
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.policies.world_checks import check_world
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.runs.tasks import load_task, task_ids
from hvr.worlds import Kitchen, load_scene, scene_names
from hvr.worlds.facts.folder import WorldFolder
from tests.command_line import Hvr

HOME = load_world("home")


@cache
def policy() -> SymbolicPolicy:
    return SymbolicPolicy(HOME.scene_ontology, HOME.agent.domain(), FastDownward())


def read(sentence: str, scene: str) -> Goal:
    inventory = open_world(Kitchen(scene), ontology=HOME.scene_ontology).inventory()
    return policy().reader.goal(sentence, inventory)


def done(sentence: str, scene: str) -> dict[str, dict[str, object]]:
    """Return the last object of each type after executing a sentence."""
    kitchen = Kitchen(scene)
    world = open_world(kitchen, ontology=HOME.scene_ontology)
    goal = policy().reader.goal(sentence, world.inventory())
    finished = Executor(world, policy(), lambda _: None, lambda _: None).run(goal.stages)
    assert finished.reached, finished.reason
    return {o["objectType"]: o for o in kitchen.last_event.metadata["objects"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kitchen", "home"])
def test_worlds_with_scenes_fit_together(name: str) -> None:
    assert check_world(WorldFolder(load_world(name).folder)) == ()


def test_a_scene_finds_its_world() -> None:
    assert world_of_scene("FloorPlan7").name == "kitchen"
    assert {world_of_scene(scene).name for scene in scene_names("home")} == {"home"}
    assert world_of_types(["Bed", "Pillow"]).name == "home"
    assert world_of_types(["Fridge", "Pan"]).name == "kitchen"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentence",
    [
        "look at the book under the desk lamp",
        "examine a book by the light of the lamp",
        "look at the book in the lamp light",
        "read the book using the light of the desk lamp",
    ],
)
def test_things_are_read_by_a_lamp(sentence: str) -> None:
    after = done(sentence, "FloorPlan301")
    assert after["Book"]["isPickedUp"]
    assert after["DeskLamp"]["isToggled"] and after["DeskLamp"]["visible"]


@pytest.mark.parametrize(
    "sentence",
    ["turn on the lamp while holding the book", "turn on the lamp with the book in your hand"],
)
def test_what_is_held_meanwhile(sentence: str) -> None:
    wanted = read(sentence, "FloorPlan301").stages[-1].wanted
    assert "(holding " in wanted and "(toggled " in wanted


@pytest.mark.slow
def test_a_lid_hides_nothing_and_carries_things() -> None:
    after = done("put the spray bottle on top of the toilet", "FloorPlan408")
    assert any(str(p).startswith("Toilet|") for p in after["SprayBottle"]["parentReceptacles"])  # type: ignore[attr-defined]
    assert not after["Toilet"]["isOpen"]


@pytest.mark.slow
def test_words_of_a_kitchen_mean_other_things_here() -> None:
    assert "desklamp" in read("turn the lamp off", "FloorPlan301").stages[0].wanted
    kitchen = SymbolicPolicy(
        load_world().scene_ontology, load_world().agent.domain(), FastDownward()
    )
    inventory = open_world(Kitchen("FloorPlan1")).inventory()
    assert "lightswitch" in kitchen.reader.goal("turn the lamp off", inventory).stages[0].wanted


@pytest.mark.parametrize("sentence", ["fry an egg", "put the fridge on the bed"])
def test_what_is_not_there_is_refused(sentence: str) -> None:
    with pytest.raises(HvrError):
        read(sentence, "FloorPlan301")


@pytest.mark.parametrize("name", task_ids(world="home"))
def test_ground_truths_reach_their_goals(name: str) -> None:
    task = load_task(name)
    truth = task.ground_truth
    steps = [action for block in truth.blocks for action in block]
    world = open_world(Kitchen(truth.scene), ontology=HOME.scene_ontology)
    for number, action in enumerate(steps, 1):
        assert world.act(number, action, action.args[:1]).result.success, action
    assert len(steps) == task.optimum[truth.scene].steps


@pytest.mark.slow
def test_a_recorded_room_is_planned_in(tmp_path: Path) -> None:
    file = tmp_path / "room.json"
    metadata = {**Kitchen("FloorPlan201").last_event.metadata, "sceneName": "Lounge_physics"}
    file.write_text(json.dumps({"metadata": metadata}))
    assert load_scene(str(file)).name == "Lounge"
    run = plan("turn on the tv", options=Options(scene=str(file), save=tmp_path / "run"))
    assert run.reached and run.world == "home"


def test_files_that_are_no_scene_are_refused(tmp_path: Path, hvr_: Hvr) -> None:
    for text in ("[]", "{}", "{", '{"sceneName": "X", "agent": {}, "objects": []}'):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(SceneError, match=r"x\.json"):
            load_scene(str(tmp_path / "x.json"))
        ended = hvr_("plan", "turn on the tv", "--scene", tmp_path / "x.json")
        assert ended.code == 2 and "Traceback" not in ended.err


def test_scene_and_world_must_agree(tmp_path: Path) -> None:
    for scene, world, said in (
        ("FloorPlan301", "kitchen", "belongs to the world home"),
        ("FloorPlan1", "blocksworld", "has no scenes"),
        ("FloorPlan1", "nowhere", "does not exist"),
    ):
        with pytest.raises(UsageError, match=said):
            plan("turn on the tv", options=Options(scene=scene, world=world, save=tmp_path / "run"))

"""ALFRED's goals end to end, and their judgement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import alfred_goals as goals
from hvr.knowledge.world_file import load_world
from hvr.worlds import Kitchen, Names

RECORD: dict[str, Any] = {
    "id": "by-hand",
    "floor_plan": "FloorPlan1",
    "task_type": "pick_heat_then_place_in_recep",
    "pddl_params": {
        "object_target": "Tomato", "parent_target": "CounterTop", "mrecep_target": "",
        "toggle_target": "", "object_sliced": False,
    },
    "object_poses": [
        {"name": "Tomato_1", "x": -0.39, "y": 1.14, "z": -0.81},
        {"name": "Plate_1", "x": 0.96, "y": 1.65, "z": -2.61},
        {"name": "Knife_1", "x": -0.2, "y": 1.13, "z": 0.25},
    ],
    "init": {"x": -1.0, "z": 1.0, "rotation": 270, "horizon": 30},
}  # fmt: skip
"""A tomato on the table of FloorPlan1, to be heated."""


@pytest.fixture
def demonstrations(shared: Path) -> Path:
    path: Path = shared / "alfred" / goals.DATA.name
    if not path.is_file():
        pytest.skip(f"ALFRED's demonstrations are not at {path} (set HVR_SHARED_DATA)")
    return path


def wanted(**params: Any) -> dict[str, Any]:
    return {**RECORD, **{k: v for k, v in params.items() if k in RECORD}, "pddl_params": {
        **RECORD["pddl_params"], **{k: v for k, v in params.items() if k not in RECORD},
    }}  # fmt: skip


def test_goals_as_pddl() -> None:
    def text(world: str = "kitchen", **params: Any) -> str:
        meant = goals.Wanted.of(wanted(**params))
        assert meant is not None
        return goals.goal_of(meant, load_world(world).scene_ontology)

    assert text(object_target="Apple", parent_target="Fridge") == (
        "(exists (?o - apple ?r - fridge) (and (microwaved ?o) (in ?o ?r)))"
    )
    assert text(task_type="pick_and_place_simple", object_sliced=True) == (
        "(exists (?o - tomatosliced ?r - countertop) (on ?o ?r))"
    )
    assert (
        text(
            task_type="pick_and_place_with_movable_recep",
            object_target="Spoon",
            mrecep_target="Cup",
        )
        == "(exists (?o - spoon ?m - cup ?r - countertop) (and (in ?o ?m) (on ?m ?r)))"
    )
    assert "(not (= ?a ?b))" in text(task_type="pick_two_obj_and_place")
    assert text(object_target="Glassbottle").startswith("(exists (?o - bottle ")
    assert text(
        "home", task_type="look_at_obj_in_light", object_target="Book", toggle_target="FloorLamp"
    ) == ("(exists (?o - book ?l - floorlamp) (and (holding ?o) (toggled ?l) (near ?l)))")
    assert goals.Wanted.of(wanted(task_type="unheard_of")) is None


@pytest.mark.slow
@pytest.mark.parametrize("table", [False, True])
def test_a_demonstration_by_hand(table: bool) -> None:
    episode = goals.run_episode(RECORD, goals.Settings(placement_table=table))
    assert episode.reached and episode.outcome == "reached" and episode.reason == ""
    assert episode.planner_calls == 1 and episode.optimal and not episode.differences
    # The placement table allows a tomato in the microwave only in a dish.
    assert episode.steps > 10 if table else episode.steps == 13


@pytest.mark.slow
def test_a_goal_that_the_placement_table_forbids() -> None:
    record = wanted(parent_target="Microwave", task_type="pick_and_place_simple")
    assert goals.run_episode(record, goals.Settings()).reached
    episode = goals.run_episode(record, goals.Settings(placement_table=True))
    assert not episode.reached and episode.outcome == "placement table"
    assert episode.reason == "Tomato may not be put into Microwave"


def test_judging_by_events() -> None:
    kitchen = Kitchen("FloorPlan1", placement_table=False)
    names = Names.from_metadata(kitchen.last_event.metadata)
    judge = goals.Judge(kitchen)

    def do(action: str, name: str) -> None:
        assert judge.step(action=action, objectId=names.object_id(name), forceAction=True), action

    def missing(task_type: str, **params: Any) -> str:
        return str(judge.missing(goals.Wanted.of(wanted(task_type=task_type, **params))))

    heat, two = "pick_heat_then_place_in_recep", "pick_two_obj_and_place"
    simple, movable = "pick_and_place_simple", "pick_and_place_with_movable_recep"
    apple = {"object_target": "Apple", "parent_target": "Plate"}
    do("PickupObject", "apple-1")
    assert missing(simple, **apple) == "0 of 1 Apple in one Plate"
    do("OpenObject", "microwave-1")
    do("PutObject", "microwave-1")
    assert missing(simple, **apple | {"parent_target": "Microwave"}) == ""
    assert "was microwaved" in missing(heat, **apple | {"parent_target": "Microwave"})
    do("CloseObject", "microwave-1")
    do("ToggleObjectOn", "microwave-1")
    assert missing(heat, **apple | {"parent_target": "Microwave"}) == ""
    do("ToggleObjectOff", "microwave-1")
    do("PickupObject", "apple-1")
    do("PutObject", "plate-1")
    assert missing(heat, **apple) == ""
    assert missing(two, **apple) == "1 of 2 Apple in one Plate"
    plate = {"object_target": "Apple", "mrecep_target": "Plate", "parent_target": "SinkBasin"}
    assert missing(movable, **plate) == "no Plate is in a SinkBasin"
    do("PickupObject", "plate-1")
    do("PutObject", "sinkbasin-1")
    assert missing(movable, **plate) == ""
    clean = {"object_target": "Apple", "parent_target": "Plate"}
    assert "was washed" in missing("pick_clean_then_place_in_recep", **clean)
    do("ToggleObjectOn", "faucet-1")
    assert missing("pick_clean_then_place_in_recep", **clean) == ""
    assert judge.reached(goals.Wanted.of(wanted(task_type=simple, **apple)))
    do("SliceObject", "apple-1")
    assert missing(simple, **apple) == "0 of 1 Apple in one Plate"
    assert missing(two, **apple, object_sliced=True) == ""


@pytest.mark.slow
def test_a_recorded_demonstration_is_reached(
    demonstrations: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    which = "ButterKnife-Cup-CounterTop-1/trial_T20190909_221531"
    arguments = ["--data", str(demonstrations), "--only", which, "--jobs", "1", "--json", str(out)]
    assert goals.main(arguments) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert [row["share"] for row in report["summary"]] == [1.0] * len(report["summary"])
    assert len(report["episodes"]) == 1
    shown = capsys.readouterr().out
    assert "seed 0" in shown and "1 episodes in" in shown and "100.0%" in shown


def test_without_the_demonstrations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert goals.main(["--data", str(tmp_path / "none.jsonl.gz")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "--data" in said

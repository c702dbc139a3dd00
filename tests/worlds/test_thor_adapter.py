"""hvr's adapter through the real ai2thor client against the stand-in, not Unity."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ai2thor", reason="ai2thor is not installed")

from hvr.doors.cli.main import run
from hvr.doors.stand_in import command
from hvr.errors import SceneError, UsageError
from hvr.worlds import Environment, Kitchen, Names, perform, scene_graph
from hvr.worlds.environment import EnvironmentSetup, open_environment
from hvr.worlds.thor import SimulatorError, Thor, ThorOptions
from hvr.worlds.thor.environment import RetryingEnvironment
from hvr.worlds.thor.skills import Step

# The client itself leaves its log open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

OPTIONS = ThorOptions(executable=command(), timeout=600, start_timeout=600)

COFFEE = (
    ("navigate_to_obj", "mug-1"), ("pick_up", "mug-1"), ("navigate_to_obj", "coffeemachine-1"),
    ("put_in", "mug-1", "coffeemachine-1"), ("toggle_on", "coffeemachine-1"),
)  # fmt: skip
TOMATO = (
    ("navigate_to_obj", "butterknife-1"), ("pick_up", "butterknife-1"),
    ("navigate_to_obj", "tomato-1"), ("slice_obj", "tomato-1"), ("drop_obj", "butterknife-1"),
    ("pick_up", "tomatosliced-2"),
)  # fmt: skip


@pytest.fixture(scope="module")
def thor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Thor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        with Thor("FloorPlan1", OPTIONS) as env:
            yield env


def test_it_is_an_environment(thor: Thor) -> None:
    assert isinstance(thor, Environment)
    event = thor.reset("FloorPlan2")
    assert event
    assert thor.last_event is event
    assert event.metadata["sceneName"].startswith("FloorPlan2")
    assert thor.reset("FloorPlan1").metadata["sceneName"].startswith("FloorPlan1")


@pytest.mark.parametrize("actions", [COFFEE, TOMATO], ids=["coffee", "tomato"])
def test_skills_do_the_same_as_in_the_kitchen_itself(
    thor: Thor, actions: tuple[tuple[str, ...], ...]
) -> None:
    thor.reset("FloorPlan1")
    kitchen = Kitchen("FloorPlan1")
    names = Names.from_metadata(thor.last_event.metadata)
    for name, *args in actions:
        here, there = perform(thor, names, name, args), perform(kitchen, names, name, args)
        assert here.success, here
        assert _told(here.steps) == _told(there.steps)
    seen = scene_graph(thor.last_event.metadata, names)
    expected = scene_graph(kitchen.last_event.metadata, names)
    assert seen.held == expected.held
    assert {n: o.attributes for n, o in seen.objects.items()} == {
        n: o.attributes for n, o in expected.objects.items()
    }
    assert {n: o.parents for n, o in seen.objects.items()} == {
        n: o.parents for n, o in expected.objects.items()
    }


def test_names_stay_when_something_is_sliced(thor: Thor) -> None:
    thor.reset("FloorPlan1")
    names = Names.from_metadata(thor.last_event.metadata)
    before = {o["objectId"]: names.name(o["objectId"]) for o in thor.last_event.metadata["objects"]}
    assert thor.step(action="SliceObject", objectId=names.object_id("bread-1"), forceAction=True)
    after = {o["objectId"]: names.name(o["objectId"]) for o in thor.last_event.metadata["objects"]}
    assert {i: after[i] for i in before} == before
    assert {after[i] for i in after.keys() - before.keys()} == set(names.pieces("bread-1"))
    assert all(names.object_id(name) == i for i, name in after.items())


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"action": "Fly"}, "Fly"),
        ({"action": "MoveAhead", "speed": 3}, "speed"),
        ({"action": "MoveAhead", "moveMagnitude": object()}, "cannot be sent"),
        ({"action": "MoveAhead", "raise_for_failure": True}, "raise_for_failure"),
    ],
)
def test_bad_requests_are_refused_and_the_run_goes_on(
    thor: Thor, request_: dict[str, object], words: str
) -> None:
    thor.reset("FloorPlan1")
    with pytest.raises(ValueError, match=words):
        thor.step(request_)
    missed = thor.step("PickupObject", objectId="Unicorn|1")
    assert not missed
    assert "Unicorn|1" in missed.metadata["errorMessage"]
    assert thor.step("Pass")
    with pytest.raises(SceneError, match="FloorPlan999"):
        thor.reset("FloorPlan999")
    with pytest.raises(SceneError):
        thor.reset(7)
    assert thor.reset()


def test_no_map_camera_means_no_picture_from_above(thor: Thor) -> None:
    thor.reset("FloorPlan1")
    before = thor.last_event
    assert thor.top_view() is None
    assert thor.last_event is before


@pytest.mark.slow
def test_a_stopped_simulator_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env = RetryingEnvironment(Thor("FloorPlan5", OPTIONS))
    assert env.last_event.metadata["sceneName"].startswith("FloorPlan5")
    env.stop()
    env.stop()
    with pytest.raises(SimulatorError, match="stopped"):
        env.step("Pass")
    with pytest.raises(SimulatorError, match="stopped"):
        env.reset()


@pytest.mark.slow
def test_an_unknown_scene_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SceneError, match="FloorPlan999"):
        Thor("FloorPlan999", OPTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["http", "fifo"])
def test_without_images(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # By default the client would call vulkaninfo for a GPU, and need a display.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.delenv("DISPLAY", raising=False)
    options = ThorOptions(executable=command(), headless=True, server=server, timeout=600)
    with Thor("FloorPlan3", options, tmp_path / "run") as env:
        assert env.step("RotateRight")
        assert env.frame is None
    lines = (tmp_path / "run" / "thor" / "steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["picture"] for line in lines] == [None]
    assert [p.name for p in (tmp_path / "run" / "thor").iterdir()] == ["steps.jsonl"]


def test_environments_have_names() -> None:
    setup = EnvironmentSetup(scene="FloorPlan4")
    assert isinstance(open_environment("kitchen", setup), Kitchen)
    with pytest.raises(UsageError, match=r"habitat.*kitchen, thor"):
        open_environment("habitat", setup)
    with pytest.raises(UsageError, match=r"no option .width=3"):
        open_environment("kitchen", EnvironmentSetup(scene="FloorPlan4", options=("width=3",)))


@pytest.mark.slow
def test_hvr_plan_makes_coffee_and_keeps_a_picture_of_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "run"
    arguments = ["make coffee", "--env", "thor", "--thor-executable", command(), "--json"]
    monkeypatch.setattr(sys, "argv", ["hvr", "plan", *arguments, "--save", str(folder)])
    with pytest.raises(SystemExit) as ending:
        run()
    assert ending.value.code == 0
    result = json.loads(capsys.readouterr().out)
    assert result["reached"] is True
    assert json.loads((folder / "task.json").read_text())["env"] == "thor"
    sent = [action for step in result["steps"] for action in step["sent"]]
    lines = [json.loads(line) for line in (folder / "thor" / "steps.jsonl").open()]
    assert [line["action"]["action"] for line in lines] == [a["action"] for a in sent]
    assert all((folder / "thor" / line["picture"]).read_bytes()[:4] == b"\x89PNG" for line in lines)
    assert (folder / "thor" / "0000-before.png").exists()


def _told(steps: tuple[Step, ...]) -> list[tuple[dict[str, object], bool, str]]:
    return [(dict(s.action), s.success, s.error) for s in steps]

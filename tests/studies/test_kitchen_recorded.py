"""A kitchen created from metadata; recorded AI2-THOR episodes; ALFRED's experts."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import SceneError
from hvr.worlds import Kitchen, Names
from hvr.worlds.thor.imported_scenes import scene_from_metadata

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
START = Kitchen("FloorPlan1")
NAMES = Names.from_metadata(START.last_event.metadata)
FIRST = START.snapshot()
THINGS = ["apple-1", "bread-1", "egg-1", "mug-1", "plate-1", "pan-1", "faucet-1", "fridge-1"]
PLACES = ["fridge-1", "sinkbasin-1", "countertop-1", "stoveburner-1", "plate-1", "garbagecan-1"]
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(
            ["PickupObject", "SliceObject", "BreakObject", "OpenObject", "ToggleObjectOn"]
        ),
        st.sampled_from(THINGS),
    ),
    st.tuples(st.just("PutObject"), st.sampled_from(PLACES)),
    st.tuples(st.sampled_from(["DropHandObject", "RotateLeft", "Crouch", "LookDown"]), st.none()),
)


def do(kitchen: Kitchen, step: tuple[str, str | None]) -> dict[str, Any]:
    action, name = step
    more = {"objectId": NAMES.object_id(name)} if name else {}
    return kitchen.step(action=action, forceAction=True, **more).metadata


NOT_TOLD = {"currentTime", "lastAction", "actionReturn", "errorMessage", "errorCode", "collided"}


def same_moment(a: dict[str, Any], b: dict[str, Any], *untold: str) -> None:
    for key in set(a) - NOT_TOLD - {"objects", "lastActionSuccess", "sceneBounds"}:
        assert a[key] == b[key], key
    ours, theirs = ({o["objectId"]: o for o in m["objects"]} for m in (a, b))
    assert ours.keys() == theirs.keys()
    for object_id, entry in ours.items():
        other = theirs[object_id]
        for key, value in entry.items():
            if key in ("parentReceptacles", "receptacleObjectIds"):
                if other[key] is None or value is None:
                    assert not other[key] and not value
                else:
                    assert set(value) == set(other[key]), (object_id, key)
            elif key not in ("axisAlignedBoundingBox", "objectOrientedBoundingBox", *untold):
                assert value == other[key], (object_id, key)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(STEPS, max_size=12))
def test_a_scene_of_any_moment_is_that_moment(steps: list[tuple[str, str | None]]) -> None:
    """Metadata suffices to continue from any moment, except for the contents of a held dish."""
    START.restore(FIRST)
    for step in steps:
        do(START, step)
    moment = START.last_event.metadata
    resumed = Kitchen(scene_from_metadata(json.loads(json.dumps(moment))))
    same_moment(moment, resumed.last_event.metadata)


def test_it_goes_on_as_the_first_would(kitchen: Kitchen) -> None:
    """Held objects, open doors, pieces and warm objects behave as in the original kitchen."""
    for step in [("SliceObject", "bread-1"), ("OpenObject", "fridge-1"), ("PickupObject", "mug-1")]:
        do(kitchen, step)
    resumed = Kitchen(scene_from_metadata(kitchen.last_event.metadata))
    for step in [
        ("PutObject", "fridge-1"),
        ("CloseObject", "fridge-1"),
        ("PickupObject", "breadsliced-2"),
        ("PutObject", "toaster-1"),
        ("ToggleObjectOn", "toaster-1"),
        ("SliceObject", "bread-1"),
    ]:
        first, second = do(kitchen, step), do(resumed, step)
        assert first["lastActionSuccess"] == second["lastActionSuccess"] is True, step
        same_moment(first, second, "rotation")  # the mug's rotation before it was taken


@pytest.mark.parametrize("cut", ["sceneName", "agent", "objects"])
def test_what_is_no_metadata(kitchen: Kitchen, cut: str) -> None:
    broken = {k: v for k, v in kitchen.last_event.metadata.items() if k != cut}
    with pytest.raises(SceneError, match="not the metadata of an AI2-THOR event"):
        scene_from_metadata(broken)
    with pytest.raises(SceneError):
        scene_from_metadata({**kitchen.last_event.metadata, cut: 3 if cut != "sceneName" else {}})


def test_a_scene_that_is_not_packaged_gets_a_grid(kitchen: Kitchen) -> None:
    metadata = copy.deepcopy(kitchen.last_event.metadata)
    metadata["sceneName"] = "FloorPlan999_physics"
    other = Kitchen(scene_from_metadata(metadata))
    found = {(p["x"], p["z"]) for p in other.step("GetReachablePositions").metadata["actionReturn"]}
    true = set(kitchen.scene.grid)
    assert len(found & true) >= 0.9 * len(true)
    assert other.step("MoveAhead")


# the measurements, on small parts of the real data


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.slow
def test_recorded_episodes_agree(shared: Path) -> None:
    done = run("thor_traces.py", "--data", str(shared / "ai2thor" / "traces"))
    assert done.returncode == 0, done.stdout + done.stderr
    whole = done.stdout.split("## all")[1]
    assert "lastActionSuccess  37 of 37" in whole
    assert "without unasked falling and rolling  69 of 69" in whole
    assert "changes that AI2-THOR did not make  0" in whole


@pytest.mark.slow
def test_a_difference_is_found(tmp_path: Path, kitchen: Kitchen, names: Names) -> None:
    """In the recording, the mug breaks without a cause."""
    rows = [
        {"step": 0, "action": {"action": "Initialize"}, "metadata": kitchen.last_event.metadata}
    ]
    action = {"action": "Pass"}
    after = copy.deepcopy(kitchen.step(action).metadata)
    for entry in after["objects"]:
        entry["isBroken"] = entry["isBroken"] or entry["objectId"] == names.object_id("mug-1")
    rows.append({"step": 1, "action": action, "metadata": after})
    path = tmp_path / "episode.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run("thor_traces.py", str(path))
    assert done.returncode == 1 and f"{names.object_id('mug-1')} isBroken" in done.stdout
    path.write_text('{"step": 0}\n', encoding="utf-8")
    done = run("thor_traces.py", str(path))
    assert done.returncode == 2 and "not a recorded episode" in done.stdout


@pytest.mark.slow
def test_experts_can_be_replayed(shared: Path) -> None:
    data = shared / "alfred" / "train_kitchen.jsonl.gz"
    done = run("alfred_replay.py", "--data", str(data), "--limit", "30", "--seen")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_speed_is_measured() -> None:
    done = run("simulator_speed.py", "--seconds", "0.005", "--jobs", "1", "--memory-steps", "500")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("interactions, harmonic mean") == 2

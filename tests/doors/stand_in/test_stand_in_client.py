"""AI2-THOR's real, unmodified Python client on the real stand-in process."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hvr.doors.stand_in import command, controller_arguments
from hvr.doors.stand_in.process import with_open_door
from hvr.worlds import Kitchen

pytestmark = pytest.mark.filterwarnings(
    # The client leaves files and processes to the garbage collector.
    "ignore::ResourceWarning",
    "ignore::DeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Creates a controller with `make(scene, wsgi=…, …)` and awaits its process at the end."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controllers = pytest.importorskip(
            "ai2thor.controller", reason="the client is the package ai2thor (extra thor)"
        )
    made: list[Any] = []

    def start(scene: str | None = "FloorPlan1", **given: Any) -> Any:
        ours = {k: given.pop(k) for k in ("wsgi", "headless") if k in given}
        arguments = {**controller_arguments("FloorPlan1", **ours), "scene": scene, **given}
        controller = controllers.Controller.__new__(controllers.Controller)
        # A constructor that raises leaves its process behind.
        made.append(controller)
        controller.__init__(**arguments)
        return controller

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))  # it writes ~/.ai2thor
        patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        yield start
        for controller in made:
            _end(controller)


def _end(controller: Any) -> None:
    process = getattr(controller.server, "unity_proc", None)
    controller.stop()
    if process is not None:
        process.wait(timeout=6000)


@pytest.fixture(scope="module", params=[False, True], ids=["fifo", "wsgi"])
def controller(make: Any, request: pytest.FixtureRequest) -> Any:
    return make(wsgi=request.param, width=64, height=48)


def _poses(controller: Any, object_id: str) -> list[dict[str, Any]]:
    found = controller.step("GetInteractablePoses", objectId=object_id).metadata["actionReturn"]
    assert found, object_id
    return list(found)


def _id(controller: Any, object_type: str) -> str:
    return str(controller.last_event.objects_by_type(object_type)[0]["objectId"])


@pytest.mark.slow
def test_a_day_in_the_kitchen(controller: Any) -> None:
    """Move, take, put, open, switch and slice like any program for AI2-THOR."""
    controller.reset("FloorPlan1")
    here = controller.last_event.metadata["agent"]["position"]
    assert here in controller.step("GetReachablePositions").metadata["actionReturn"]
    assert controller.step("RotateRight").metadata["agent"]["rotation"]["y"] == pytest.approx(
        (Kitchen("FloorPlan1").last_event.metadata["agent"]["rotation"]["y"] + 90) % 360
    )
    moved = [controller.step(f"Move{way}") for way in ("Ahead", "Back", "Left", "Right")]
    assert any(moved) and not all(event.pose == moved[0].pose for event in moved)

    def near(object_id: str) -> Any:
        return controller.step("TeleportFull", **_poses(controller, object_id)[0])

    apple, fridge = _id(controller, "Apple"), _id(controller, "Fridge")
    assert near(apple)
    assert controller.step("SliceObject", objectId=apple)
    slices = controller.last_event.objects_by_type("AppleSliced")
    assert slices and controller.last_event.get_object(apple)["isSliced"]

    mug = _id(controller, "Mug")
    assert near(mug) and controller.step("PickupObject", objectId=mug)
    assert controller.last_event.metadata["inventoryObjects"][0]["objectId"] == mug
    again = controller.step("PickupObject", objectId=slices[0]["objectId"], forceAction=True)
    assert not again
    assert "Agent hand has something in it already" in again.metadata["errorMessage"]

    assert near(fridge)
    shut = controller.step("PutObject", objectId=fridge)
    assert not shut and "CLOSED" in shut.metadata["errorMessage"]
    assert controller.step("OpenObject", objectId=fridge)
    assert controller.step("PutObject", objectId=fridge, forceAction=True)
    cold = controller.last_event.get_object(mug)
    assert (cold["parentReceptacles"], cold["temperature"]) == ([fridge], "Cold")

    tap = _id(controller, "Faucet")
    assert near(tap) and controller.step("ToggleObjectOn", objectId=tap)
    twice = controller.step("ToggleObjectOn", objectId=tap)
    assert twice.metadata["errorMessage"].endswith("can't toggle object on if it's already on!")


@pytest.mark.slow
def test_every_event_is_the_kitchens_own(controller: Any) -> None:
    """The client receives exactly the fields of a kitchen that runs in this process."""
    for scene in ("FloorPlan5", "FloorPlan16"):
        kitchen = Kitchen(scene)
        controller.reset(scene)
        kitchen.step("Initialize")
        kinds = ("Mug", "Fridge", "Bread", "Faucet", "Toaster")
        mug, fridge, bread, tap, toaster = (_id(controller, kind) for kind in kinds)
        script: list[dict[str, Any]] = [
            {"action": "Pass"},
            {"action": "MoveAhead"},
            {"action": "RotateRight", "degrees": 30.0},
            {"action": "LookDown"},
            {"action": "GetReachablePositions"},
            {"action": "PickupObject", "objectId": mug},
            {"action": "PickupObject", "objectId": mug, "forceAction": True},
            {"action": "RotateLeft"},
            {"action": "PutObject", "objectId": fridge, "forceAction": True},
            {"action": "OpenObject", "objectId": fridge, "forceAction": True},
            {"action": "PutObject", "objectId": fridge, "forceAction": True},
            {"action": "SliceObject", "objectId": bread, "forceAction": True},
            {"action": "ToggleObjectOn", "objectId": tap, "forceAction": True},
            {"action": "GetInteractablePoses", "objectId": toaster},
            {"action": "Teleport", "rotation": {"y": 180.0}, "horizon": 90},
        ]  # fmt: skip
        for action in script:
            wanted = {**kitchen.step(action).metadata, "screenWidth": 64, "screenHeight": 48}
            wanted["objects"] = [
                with_open_door(o) if o["objectType"] == "Fridge" and o["isOpen"] else o
                for o in wanted["objects"]
            ]
            assert dict(controller.step(action).metadata) == wanted, action


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"action": "Fly"}, "Invalid action: Fly"),
        ({"action": "PickupObject"}, "missing the following arguments: objectId"),
        ({"action": "Pass", "loud": 1}, "invalid argument"),
        ({"action": "Pass", "renderInstanceSegmentation": True}, "only RGB images"),
        ({"action": "RandomizeMaterials"}, "no textures"),
    ],
)
def test_the_client_raises_for_what_it_raises_for(
    controller: Any, action: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        controller.step(action)
    assert controller.step("Pass")


def test_unknown_scenes_and_wrong_types_do_not_end_it(controller: Any) -> None:
    with pytest.raises(ValueError, match="not contained in build"):
        controller.reset("FloorPlan999")
    for strange in (5, "", ["Mug"], {"x": 1.5}):
        assert not controller.step("OpenObject", objectId=strange, forceAction="yes")
        assert controller.last_event.metadata["errorMessage"]
    assert controller.step("Pass")


def test_images(controller: Any) -> None:
    pytest.importorskip("numpy")
    controller.reset("FloorPlan1")
    assert controller.last_event.frame.shape == (48, 64, 3)
    before = controller.last_event.frame.copy()
    assert (controller.step("Pass").frame == before).all()
    assert controller.step("RotateRight", renderImage=False).metadata["screenWidth"] == 64
    assert (controller.step("Pass").frame != before).any()
    assert controller.step("ChangeResolution", x=40, y=30).frame.shape == (30, 40, 3)
    controller.step("ChangeResolution", x=64, y=48)


@pytest.mark.slow
def test_headless_sends_no_image_and_the_first_scene_is_the_clients_choice(make: Any) -> None:
    controller = make(None, headless=True)
    assert controller.last_event.metadata["sceneName"] == "FloorPlan10_physics"
    assert controller.last_event.frame is None
    assert controller.step("RotateRight").frame is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{"agentCount": 2}, {"agentMode": "locobot"}, {"renderDepthImage": True}]
)
def test_what_is_out_of_scope_is_said_at_the_start(make: Any, asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the stand-in"):
        make(**asked)


@pytest.mark.slow
def test_the_command_hvr_scene_serve(make: Any) -> None:
    words = [sys.executable, "-m", "hvr", "scene", "serve"]
    controller = make("FloorPlan3", local_executable_path=shlex.join(words), width=400)
    assert controller.last_event.metadata["sceneName"] == "FloorPlan3_physics"
    assert controller.last_event.metadata["screenWidth"] == 400


@pytest.mark.slow
def test_the_client_gives_up_when_the_process_cannot_start(make: Any) -> None:
    with pytest.raises(ValueError, match="no metadata received"):
        make(local_executable_path=command(profile="9"))


@pytest.mark.slow
def test_a_listening_client_and_a_process_started_by_hand(make: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([*shlex.split(command()), "--port", str(port)])
    controller = make("FloorPlan2", wsgi=True, start_unity=False, port=port)
    assert controller.step("Pass").metadata["sceneName"] == "FloorPlan2_physics"
    controller.stop()
    assert process.wait(timeout=6000) == 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd_open (Linux)")
@pytest.mark.parametrize("wsgi", [False, True], ids=["fifo", "wsgi"])
def test_the_process_ends_with_its_client(wsgi: bool, tmp_path: Path, make: Any) -> None:
    del make  # requested only to skip without the client
    code = (
        "import os; from ai2thor.controller import Controller; "
        "from hvr.doors.stand_in import controller_arguments; "
        f"c = Controller(**controller_arguments('FloorPlan1', wsgi={wsgi})); "
        "print(c.server.unity_proc.pid, flush=True); c.step('Pass'); os.abort()"
    )
    client = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600, check=False,
    )  # fmt: skip
    assert client.returncode == -signal.SIGABRT
    with contextlib.suppress(ProcessLookupError):  # by then it has ended
        handle = os.pidfd_open(int(client.stdout))
        ended, _, _ = select.select([handle], [], [], 600)
        os.close(handle)
        assert ended

"""AI2-THOR as an environment: its Python client, uniform errors, retries and recordings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hvr.base.files import append_json_line, unwritable
from hvr.errors import SceneError, SimulatorError
from hvr.worlds.environment import Environment, EnvironmentSetup, Event
from hvr.worlds.thor.installation import (
    ThorOptions,
    client_arguments,
    explain_failure,
    log_file,
    read_options,
    require_ready,
)
from hvr.worlds.thor.skills import Step

# Retries ------------------------------------------------------------------------------------------
# Simulators refuse interactions that would work from half a metre away: the object is hidden, the
# door of a fridge hits the robot, or the held object would hit a wall. All other failures are
# final.

POSE_FAILURES = (
    "not found within the specified visibility",
    "visible but not interactable",
    "occluded by something",
    "would cause it to collide and clip",
    "object collided with",
)
"""Parts of AI2-THOR's messages about failures that may not occur from another pose."""

MAX_RETRY_DISTANCE = 1.5
"""Maximum distance to another pose, in metres."""

_MAX_REST_STEPS = 5  # physics steps until the scene is at rest


class RetriedEvent(Event):
    """The event of the last attempt at an action, with the earlier attempts."""

    __slots__ = ("attempts",)

    def __init__(self, event: Event, attempts: tuple[Step, ...]) -> None:
        super().__init__(lambda: event.metadata, bool(event))
        self.attempts = attempts


class RetryingEnvironment:
    """An environment that retries failed interactions (actions with `objectId`):

    * at the same place, once the scene is at rest (`isSceneAtRest`), if it was not at rest;
    * after a failure because of the pose, from up to `tries` - 1 other places within 1.5 m that the
      simulator offers for the object, nearest first. If all fail, the robot returns and tries a
      last time, so that the event shows the original view.

    The event of the last attempt is returned; its `attempts` lists the earlier ones.
    """

    def __init__(self, env: Environment, tries: int = 3) -> None:
        self.env = env
        self._tries = tries
        self._event = env.last_event

    @property
    def last_event(self) -> Event:
        return self._event

    def reset(self, scene: Any = None) -> Event:
        self._event = self.env.reset(scene)
        return self._event

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        try:
            event = self.env.step(request)
        finally:
            self._event = self.env.last_event
        if event or "objectId" not in request or str(request["action"]).startswith("Get"):
            return event
        sent = [_step(request, event)]
        if not event.metadata.get("isSceneAtRest", True):
            event = self._after_rest(request, sent)
        if not event and self._tries > 1 and _is_pose_failure(event):
            event = self._from_elsewhere(request, event, sent)
        self._event = RetriedEvent(event, tuple(sent[:-1])) if len(sent) > 1 else event
        return self._event

    def stop(self) -> None:
        stop = getattr(self.env, "stop", None)
        if stop is not None:
            stop()

    def _send(self, request: dict[str, Any], sent: list[Step]) -> Event:
        event = self.env.step(request)
        sent.append(_step(request, event))
        return event

    def _after_rest(self, request: dict[str, Any], sent: list[Step]) -> Event:
        for _ in range(_MAX_REST_STEPS):
            if self._send({"action": "Pass"}, sent).metadata.get("isSceneAtRest", True):
                break
        return self._send(request, sent)

    def _from_elsewhere(self, request: dict[str, Any], event: Event, sent: list[Step]) -> Event:
        start = event.metadata["agent"]
        poses = self._other_poses(request["objectId"], start)[: self._tries - 1]
        moved = False
        for pose in poses:
            if not self._send(_teleport(pose), sent):
                continue
            moved = True
            event = self._send(request, sent)
            if event:
                return event
        if moved:
            self._send(_teleport(_pose_of(start)), sent)
        if poses:  # the event must belong to this action, seen from the original place
            event = self._send(request, sent)
        return event

    def _other_poses(self, object_id: str, start: Mapping[str, Any]) -> list[dict[str, Any]]:
        try:
            answer = self.env.step(action="GetInteractablePoses", objectId=object_id)
        except ValueError:
            return []
        here = (start["position"]["x"], start["position"]["z"])

        def away(pose: Mapping[str, Any]) -> float:
            return round(math.dist(here, (pose["x"], pose["z"])), 3)

        nearest: dict[tuple[float, float], dict[str, Any]] = {}
        poses = list(answer.metadata["actionReturn"] or ()) if answer else []
        for pose in sorted(poses, key=lambda p: (away(p), abs(p["horizon"] - 30.0), p["rotation"])):
            if 0.05 < away(pose) <= MAX_RETRY_DISTANCE:
                nearest.setdefault((pose["x"], pose["z"]), pose)
        return list(nearest.values())


def _teleport(pose: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "action": "TeleportFull",
        "position": {axis: pose[axis] for axis in "xyz"},
        "rotation": {"x": 0.0, "y": pose["rotation"], "z": 0.0},
        "horizon": pose["horizon"],
        "standing": pose.get("standing", True),
    }


def _is_pose_failure(event: Event) -> bool:
    message = str(event.metadata["errorMessage"])
    return any(reason in message for reason in POSE_FAILURES)


def _pose_of(agent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **agent["position"],
        "rotation": agent["rotation"]["y"],
        "horizon": agent["cameraHorizon"],
        "standing": agent.get("isStanding", True),
    }


def _step(request: Mapping[str, Any], event: Event) -> Step:
    error = "" if event else str(event.metadata["errorMessage"])
    return Step(MappingProxyType(dict(request)), bool(event), error)


# Recording ----------------------------------------------------------------------------------------
# A record of AI2-THOR's actions and camera images.
#
# thor/steps.jsonl             one line per action: the request, its result, its picture
# thor/0001-PickupObject.png   the camera image after it; 0000-… shows the initial state
# thor/top-first.png           view from above before the first action
# thor/top-last.png            view from above after the last action

RECORDING_FOLDER = "thor"


class ThorRecording:
    """Writes actions and images to a folder. Nothing is written before the first action.

    Args:
        folder: Folder of the run, in which the folder `thor` is created.
        first: Camera image before the first action, shape (height, width, 3), or None.
        top: Image from above before the first action, or None.
    """

    def __init__(self, folder: Path, first: Any = None, top: Any = None) -> None:
        self._folder = folder / RECORDING_FOLDER
        self._first, self._top = first, top
        self._count = 0

    def keep(
        self, action: Mapping[str, Any], success: bool, error: str, frame: Any, top: Any
    ) -> None:
        try:
            if self._count == 0:
                self._folder.mkdir(parents=True, exist_ok=True)
                _write(self._folder / "0000-before.png", self._first)
                _write(self._folder / "top-first.png", self._top)
            self._count += 1
            name = f"{self._count:04}-{_plain(action['action'])}.png"
            shown = _write(self._folder / name, frame)
            line = {
                "step": self._count,
                "action": dict(action),
                "success": success,
                "error": error,
                "picture": name if shown else None,
            }
            append_json_line(self._folder / "steps.jsonl", line, default=str)
        except OSError as problem:
            raise unwritable(self._folder, problem) from problem
        self._top = top

    def close(self) -> None:
        """Write the last image from above."""
        if self._count:
            try:
                _write(self._folder / "top-last.png", self._top)
            except OSError as problem:
                raise unwritable(self._folder, problem) from problem


def _write(path: Path, frame: Any) -> bool:
    if frame is None:
        return False
    from PIL import Image

    Image.fromarray(frame[..., :3].copy()).save(path, format="PNG")
    return True


def _plain(action: object) -> str:
    return "".join(c for c in str(action) if c.isalnum())[:40] or "action"


# Simulator ----------------------------------------------------------------------------------------

_CAMERA = ("GetMapViewCameraProperties", "AddThirdPartyCamera")


class Thor:
    """AI2-THOR, or a process that implements its protocol.

    After a timeout, a crash or an unreadable reply, which raise `SimulatorError`, the object can
    only be stopped. Always call `stop`, or use a `with` statement.

    Args:
        folder: Folder for a record and a picture of every action; None to save nothing.

    Raises:
        MissingExtraError: The package ai2thor is not installed.
        SceneError: The simulator does not have this scene.
        SimulatorError: The simulator cannot be started.
    """

    def __init__(
        self,
        scene: str = "FloorPlan1",
        options: ThorOptions | None = None,
        folder: Path | None = None,
    ) -> None:
        self._options = options or ThorOptions()
        self._folder = folder
        self._pictures: ThorRecording | None = None
        self._client: Any = None
        self._failure = ""
        self._has_camera = False
        require_ready(self._options)
        from hvr.worlds.thor import client

        log = log_file()
        self._log_start = log.stat().st_size if log.exists() else 0
        arguments = client_arguments(self._options, client.PLATFORM_CLASSES)
        arguments["server_class"] = client.SERVER_CLASSES[self._options.server]
        self._client = self._start_scene(
            "the start", scene, lambda: client.Client(scene=scene, **arguments)
        )
        try:
            self._scene_started()
        except BaseException:
            self.stop()
            raise

    @property
    def last_event(self) -> Event:
        return self._event

    @property
    def frame(self) -> Any:
        """The camera image after the latest action, of shape (height, width, 3), or None."""
        return self._seen.frame

    def reset(self, scene: Any = None) -> Event:
        """See `Environment`; raises `SceneError` or `SimulatorError`."""
        name = getattr(scene, "name", scene)
        self._start_scene("Reset", name, lambda: self._client.reset(name))
        self._scene_started()
        return self._event

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """See `Environment`; raises `SimulatorError` if the simulator times out or has exited."""
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        if "raise_for_failure" in request:
            raise ValueError("raise_for_failure is not supported: check whether the event is false")
        name = str(request.get("action"))
        if self._options.force_action and name == "PutObject":
            request.setdefault("forceAction", True)
        refused: ValueError | None = None
        try:
            self._sent(request)
        except TypeError as error:
            raise ValueError(f"{name}: an argument cannot be sent: {error}") from None
        except ValueError as error:
            refused = error
        seen = self._seen = self._client.last_event
        self._event = Event(seen.metadata)
        if self._pictures is not None and not name.startswith("Get") and name not in _CAMERA:
            message = "" if seen else str(seen.metadata["errorMessage"])
            self._pictures.keep(request, bool(seen), message, seen.frame, self._top_frame())
        if refused is not None:
            raise refused
        return self._event

    def top_view(self) -> Any:
        """Return an image from above, of shape (height, width, 3), or None if unavailable.

        It comes from the simulator's map camera, which the first call adds.
        """
        if not self._has_camera:
            self._has_camera = True
            pose: Any = {}
            for action in _CAMERA:
                try:
                    event = self._sent({**pose, "action": action})
                except ValueError:  # the simulator does not know the action
                    break
                pose = event.metadata["actionReturn"]
                if not event or not isinstance(pose, dict):
                    break
            self._seen = self._client.last_event
        return self._top_frame()

    def stop(self) -> None:
        """Stop the simulator. Idempotent."""
        if self._client is not None:
            controller, self._client = self._client, None
            self._failure = self._failure or "AI2-THOR has been stopped"
            if controller.server is not None:
                controller.stop()
        if self._pictures is not None:
            pictures, self._pictures = self._pictures, None
            pictures.close()

    def __enter__(self) -> Thor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _top_frame(self) -> Any:
        frames = self._seen.third_party_camera_frames
        return frames[-1] if frames else None

    def _scene_started(self) -> None:
        self._seen = self._client.last_event
        self._event = Event(self._seen.metadata)
        self._has_camera = False
        if self._folder is None or not self._options.pictures or self._pictures is not None:
            return
        show_top = self._options.top_view and not self._options.headless
        first = self._seen.frame
        self._pictures = ThorRecording(self._folder, first, self.top_view() if show_top else None)

    def _start_scene(self, what: str, scene: object, call: Callable[[], Any]) -> Any:
        try:
            return self._call(what, call)
        except (ValueError, TypeError) as error:
            if "not contained in build" in str(error) or not isinstance(scene, str | None):
                raise SceneError(self._no_scene(scene, str(error))) from None
            raise self._failed(what, error) from error

    def _sent(self, request: dict[str, Any]) -> Any:
        return self._call(str(request.get("action")), lambda: self._client.step(request))

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        if self._failure:
            raise SimulatorError(self._failure)
        try:
            return call()
        except (ValueError, TypeError):
            raise
        except Exception as error:  # the client raises many types, even bare Exception
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Exception) -> SimulatorError:
        self._failure = explain_failure(what, error, self._options, self._log_start)
        return SimulatorError(self._failure)

    def _no_scene(self, scene: object, message: str) -> str:
        known = [n.removesuffix("_physics") for n in message.rpartition("\n")[2].split(", ")]
        some = f"; it has {len(known)} scenes, such as {known[0]}" if "\n" in message else ""
        return f"AI2-THOR has no scene {scene!r}{some}"


def open_thor(setup: EnvironmentSetup) -> RetryingEnvironment:
    """Open a scene in AI2-THOR; interactions that fail because of the pose are retried.

    Raises:
        UsageError: An option is invalid.
        SceneError, MissingExtraError, SimulatorError: See `Thor`.
    """
    options = read_options(setup.options)
    return RetryingEnvironment(Thor(setup.scene, options, setup.folder), options.tries)

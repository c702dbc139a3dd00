"""AI2-THOR as an `Environment`: its own Python client, with one kind of error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hvr.errors import SceneError, SimulatorError
from hvr.worlds.base import Event
from hvr.worlds.thor.launch import client_arguments, explain, log_file, require_ready
from hvr.worlds.thor.options import ThorOptions
from hvr.worlds.thor.pictures import Pictures

_CAMERA = ("GetMapViewCameraProperties", "AddThirdPartyCamera")


class Thor:
    """AI2-THOR, or a process that speaks its protocol.

    A simulator that does not answer in time, ends, or answers what cannot be read is one
    `SimulatorError`, after which this object can only be stopped. `stop` it always, or use
    it in a `with` statement.

    Args:
        scene: name of a scene, such as `FloorPlan1`.
        options: how to start it.
        folder: keeps a line and a picture of every action there; None keeps nothing.

    Raises:
        MissingExtraError: the package ai2thor is not installed.
        SceneError: the simulator has no such scene.
        SimulatorError: it could not be started.
    """

    def __init__(
        self,
        scene: str = "FloorPlan1",
        options: ThorOptions | None = None,
        folder: Path | None = None,
    ) -> None:
        self._options = options or ThorOptions()
        self._folder = folder
        self._pictures: Pictures | None = None
        self._client: Any = None
        self._trouble = ""
        self._has_camera = False
        require_ready(self._options)
        from hvr.worlds.thor import client

        log = log_file()
        self._log_start = log.stat().st_size if log.exists() else 0
        arguments = client_arguments(self._options, client.PLATFORM_CLASSES)
        arguments["server_class"] = client.SERVER_CLASSES[self._options.server]
        self._client = self._begun(
            "the start", scene, lambda: client.Client(scene=scene, **arguments)
        )
        try:
            self._arrived()
        except BaseException:
            self.stop()
            raise

    @property
    def last_event(self) -> Event:
        """The event of the latest action or reset."""
        return self._event

    @property
    def frame(self) -> Any:
        """The camera image after the latest action, height x width x 3 bytes, or None."""
        return self._seen.frame

    def reset(self, scene: Any = None) -> Event:
        """Put a scene into its first state; None means the present scene again.

        Raises:
            SceneError: the simulator has no such scene.
            SimulatorError: it has ended.
        """
        name = getattr(scene, "name", scene)
        self._begun("Reset", name, lambda: self._client.reset(name))
        self._arrived()
        return self._event

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Do one action, given by name and arguments or as one dict with `action`.

        Raises:
            ValueError: unknown action, or unknown or missing argument, or an argument that
                cannot be sent.
            SimulatorError: the simulator did not answer in time or has ended.
        """
        request = {**action, **kwargs} if isinstance(action, dict) else {"action": action, **kwargs}
        if "raise_for_failure" in request:
            raise ValueError("raise_for_failure: look at the event instead, it is false")
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
            self._pictures.keep(request, bool(seen), message, seen.frame, self._from_above())
        if refused is not None:
            raise refused
        return self._event

    def top_view(self) -> Any:
        """Return the scene from above as the simulator's own map camera shows it.

        The camera is added when it is first asked for.

        Returns:
            height x width x 3 bytes; None when the simulator offers no such picture.

        Raises:
            SimulatorError: it has ended.
        """
        if not self._has_camera:
            self._has_camera = True
            pose: Any = {}
            for action in _CAMERA:
                try:
                    event = self._sent({**pose, "action": action})
                except ValueError:  # the simulator does not know it
                    break
                pose = event.metadata["actionReturn"]
                if not event or not isinstance(pose, dict):
                    break
            self._seen = self._client.last_event
        return self._from_above()

    def stop(self) -> None:
        """End the simulator. Idempotent.

        Raises:
            DataFileError: the last picture cannot be written.
        """
        if self._client is not None:
            controller, self._client = self._client, None
            self._trouble = self._trouble or "AI2-THOR has been stopped"
            if controller.server is not None:
                controller.stop()
        if self._pictures is not None:
            pictures, self._pictures = self._pictures, None
            pictures.close()

    def __enter__(self) -> Thor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _from_above(self) -> Any:
        frames = self._seen.third_party_camera_frames
        return frames[-1] if frames else None

    def _arrived(self) -> None:
        """Take over the first state of a scene, and its first pictures."""
        self._seen = self._client.last_event
        self._event = Event(self._seen.metadata)
        self._has_camera = False
        if self._folder is None or not self._options.pictures or self._pictures is not None:
            return
        wanted = self._options.top_view and not self._options.headless
        first = self._seen.frame
        self._pictures = Pictures(self._folder, first, self.top_view() if wanted else None)

    def _begun(self, what: str, scene: object, call: Callable[[], Any]) -> Any:
        """Return the client's answer to a request that begins a scene, as `_asked` does.

        Raises:
            SceneError: the simulator has no such scene.
            SimulatorError: anything else that the client raises.
        """
        try:
            return self._asked(what, call)
        except (ValueError, TypeError) as error:
            if "not contained in build" in str(error) or not isinstance(scene, str | None):
                raise SceneError(self._no_scene(scene, str(error))) from None
            raise self._failed(what, error) from error

    def _sent(self, request: dict[str, Any]) -> Any:
        return self._asked(str(request.get("action")), lambda: self._client.step(request))

    def _asked(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the client's answer.

        Raises:
            ValueError: the simulator does not know such a request.
            TypeError: an argument cannot be sent.
            SimulatorError: anything else that the client raises: it is lost then.
        """
        if self._trouble:
            raise SimulatorError(self._trouble)
        try:
            return call()
        except (ValueError, TypeError):
            raise
        except Exception as error:  # the client raises many kinds, also plain ones
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Exception) -> SimulatorError:
        self._trouble = explain(what, error, self._options, self._log_start)
        return SimulatorError(self._trouble)

    def _no_scene(self, scene: object, message: str) -> str:
        known = [n.removesuffix("_physics") for n in message.rpartition("\n")[2].split(", ")]
        some = f"; it has {len(known)}, such as {known[0]}" if "\n" in message else ""
        return f"AI2-THOR has no scene {scene!r}{some}"

"""The conversation with a client: one event in reply to each action, whatever it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvr.doors.stand_in.camera import SceneRenderer
from hvr.doors.stand_in.reply import Link, Reply
from hvr.doors.stand_in.scope import RefusedError, arguments, check_initialize
from hvr.errors import HvrError
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import scene_names

_LARGEST = 8192


class Conversation:
    """Answers actions: those of the connection itself, all others by the kitchen.

    Args:
        kitchen: what is simulated.
        width: of the image, pixels.
        height: of the image, pixels.
        camera: draws the images; None sends none.
    """

    def __init__(
        self,
        kitchen: Kitchen,
        width: int = 300,
        height: int = 300,
        camera: SceneRenderer | None = None,
    ) -> None:
        self._kitchen = kitchen
        self._width = width
        self._height = height
        self._camera = camera
        self._shown: frozenset[str] | None = None
        self._started = False
        self._own = {
            "GetScenesInBuild": self._scenes,
            "Reset": self._reset,
            "ChangeResolution": self._change_resolution,
            "ChangeQuality": self._change_quality,
            "SetObjectFilter": self._set_filter,
            "ResetObjectFilter": self._reset_filter,
        }

    def hello(self) -> Reply:
        """Return the event that opens the conversation."""
        return self._reply(self._kitchen.last_event.metadata, 0, image=True)

    def answer(self, action: Mapping[str, Any]) -> Reply:
        """Do an action; an error of it becomes the message of the event."""
        name = action.get("action")
        try:
            args = arguments(action)
            if isinstance(name, str) and name in self._own:
                metadata = self._answered(name, result=self._own[name](args))
            elif not self._started:
                raise RefusedError(f"{name} before Reset: there is no scene yet", "InvalidAction")
            else:
                metadata = self._act(name, args)
        except RefusedError as error:
            metadata = self._answered(name, message=error.message, code=error.code)
        except Exception as error:
            # As AI2-THOR: what throws inside is the event's message, and the world stays.
            metadata = self._answered(name, message=f"{type(error).__name__}: {error}")
        sequence_id = action.get("sequenceId", 0)
        return self._reply(metadata, sequence_id, image=action.get("renderImage") is not False)

    def _act(self, name: Any, args: dict[str, Any]) -> dict[str, Any]:
        """Return the kitchen's answer, which may be a refusal."""
        if name == "Initialize":
            check_initialize(args)
        before = self._kitchen.last_event
        try:
            event = self._kitchen.step({**args, "action": name})
        except ValueError:
            event = self._kitchen.last_event
            if event is before:  # not the kitchen's own refusal
                raise
        return event.metadata

    def _answered(
        self, name: Any, *, result: Any = None, message: str = "", code: str | None = None
    ) -> dict[str, Any]:
        """Return the present state as the answer to an action of the connection."""
        return {
            **self._kitchen.last_event.metadata,
            "lastAction": str(name),
            "lastActionSuccess": not message,
            "errorMessage": message,
            "errorCode": code,
            "actionReturn": result,
        }

    def _reply(self, metadata: Mapping[str, Any], sequence_id: int, *, image: bool) -> Reply:
        seen = {**metadata, "screenWidth": self._width, "screenHeight": self._height}
        picture = None
        if image and self._camera is not None:
            picture = self._camera.picture(seen, self._width, self._height)
        if self._shown is not None:
            seen["objects"] = [o for o in seen["objects"] if o["objectId"] in self._shown]
        return Reply(seen, sequence_id, picture)

    def _scenes(self, _args: dict[str, Any]) -> list[str]:
        return [f"{name}_physics" for name in scene_names()]

    def _reset(self, args: dict[str, Any]) -> None:
        try:
            self._kitchen.reset(str(args["sceneName"]) if args.get("sceneName") else None)
        except HvrError as error:
            raise RefusedError(str(error)) from None
        self._started = True
        self._shown = None

    def _change_resolution(self, args: dict[str, Any]) -> None:
        width, height = args.get("x"), args.get("y")
        for side in (width, height):
            if not isinstance(side, int) or isinstance(side, bool) or not 0 < side <= _LARGEST:
                raise RefusedError(
                    f"ChangeResolution needs x and y, whole numbers of pixels from 1 to {_LARGEST}"
                )
        assert isinstance(width, int) and isinstance(height, int)
        self._width, self._height = width, height

    def _change_quality(self, _args: dict[str, Any]) -> None:
        """Accept any quality: there is only one."""

    def _set_filter(self, args: dict[str, Any]) -> None:
        ids = args.get("objectIds")
        if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
            raise RefusedError("SetObjectFilter needs objectIds, a list of object ids")
        self._shown = frozenset(ids)

    def _reset_filter(self, _args: dict[str, Any]) -> None:
        self._shown = None


def converse(conversation: Conversation, link: Link) -> None:
    """Answer a client until it stops or goes away."""
    action = link.exchange(conversation.hello())
    while action is not None:
        action = link.exchange(conversation.answer(action))

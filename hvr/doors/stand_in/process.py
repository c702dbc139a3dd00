"""The process that replaces Unity: its command line, and its dialogue with AI2-THOR's client."""

from __future__ import annotations

import argparse
import gc
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hvr.doors.stand_in import DESCRIPTION, add_arguments
from hvr.doors.stand_in.protocol import (
    FifoLink,
    HttpLink,
    JsonEncoder,
    Link,
    MsgpackEncoder,
    ProtocolError,
    Reply,
    refuse,
)
from hvr.errors import HvrError, MissingExtraError, UsageError
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.kitchen.actions import QUERIES
from hvr.worlds.kitchen.kitchen import box_dict
from hvr.worlds.scenes import Box, scene_names

# Conversation -------------------------------------------------------------------------------------


Draw = Callable[[Mapping[str, Any], int, int], bytes]
"""Draws metadata at a width and height in pixels, as RGB bytes from the bottom row up."""


class SceneRenderer:
    """Draws a scene, and reuses the image while nothing changes.

    Args:
        draw: The drawing function; by default hvr's top view. If numpy or Pillow is missing, no
            images are drawn, and a message on standard error says so.
    """

    def __init__(self, draw: Draw | None = None) -> None:
        self._draw = draw
        self._missing = False
        self._last: tuple[list[dict[str, Any]], object, bytes] | None = None

    def picture(self, metadata: Mapping[str, Any], width: int, height: int) -> bytes | None:
        """Return the scene as RGB bytes, or None if it cannot be drawn."""
        if self._missing:
            return None
        objects, view = metadata["objects"], (metadata["agent"], width, height)
        if self._last is not None:
            known, known_view, image = self._last
            if view == known_view and _same(known, objects):
                return image
        try:
            if self._draw is None:
                from hvr.runs.report.floor_plan.renderings import frame

                self._draw = frame
            image = self._draw(metadata, width, height)
        except MissingExtraError as error:
            print(f"no images are sent: {error}", file=sys.stderr, flush=True)
            self._missing = True
            return None
        self._last = (objects, view, image)
        return image


def _same(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


# Doors --------------------------------------------------------------------------------------------

_HINGED = frozenset({"Cabinet", "Fridge", "Microwave", "Safe"})
"""Types whose bounding box also contains their open door."""


def with_open_door(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's metadata with a bounding box that also contains its open door.

    The door is assumed to be as wide as the object, and hinged on one side of its front.
    """
    box, yaw = Box.of_object(entry), math.radians(entry["rotation"]["y"])
    ahead = (round(math.sin(yaw)), round(math.cos(yaw)))
    width = box.z1 - box.z0 if ahead[0] else box.x1 - box.x0
    swing = width * math.sin(math.radians(90.0 * entry["openness"]))
    low, high = [*box[:3]], [*box[3:]]
    for axis, sign in ((0, ahead[0]), (2, ahead[1])):
        if sign > 0:
            high[axis] += swing
        elif sign < 0:
            low[axis] -= swing
    return {**entry, "axisAlignedBoundingBox": box_dict(Box(*low, *high))}


# Scope --------------------------------------------------------------------------------------------
# Requests of AI2-THOR that the stand-in does not support.

_IMAGES = (
    "renderDepthImage",
    "renderInstanceSegmentation",
    "renderSemanticSegmentation",
    "renderNormalsImage",
    "renderFlowImage",
    "renderObjectImage",
    "renderClassImage",
)
_OF_THE_CONNECTION = frozenset({"action", "sequenceId", "agentId", "renderImage", *_IMAGES})


class RefusedActionError(Exception):
    """A rejected action.

    For the codes `InvalidArgument` and `InvalidAction`, the client raises a ValueError.
    """

    def __init__(self, message: str, code: str = "InvalidArgument") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def arguments(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action's arguments, except those about agents and images.

    Raises:
        RefusedActionError: The action needs a second agent or an image other than RGB.
    """
    for image in _IMAGES:
        if action.get(image):
            raise RefusedActionError(
                f"{image}: the stand-in sends only RGB images, no depth, segmentation, normals or "
                "flow; omit it"
            )
    if action.get("agentId"):
        raise RefusedActionError(
            f"agentId {action['agentId']}: the stand-in has one agent, number 0"
        )
    return {key: value for key, value in action.items() if key not in _OF_THE_CONNECTION}


def check_initialize(args: Mapping[str, Any]) -> None:
    count = args.get("agentCount", 1)
    if count != 1:
        raise RefusedActionError(f"agentCount {count}: the stand-in has one agent")
    mode = args.get("agentMode", "default")
    if str(mode).lower() != "default":
        raise RefusedActionError(
            f"agentMode {mode!r}: the stand-in has only the agent 'default', no locobot, drone, "
            "arm or stretch"
        )


_LARGEST = 8192
_FAST = QUERIES | {"TestActionReflectParam", "TestFastEmit"}


class ClientDialogue:
    """Answers a client's actions.

    Actions that set up the session or test the connection are answered here, all others by the
    kitchen.

    Args:
        camera: Draws the images; None to send none.
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
        self._fast = True
        self._doors: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._own = {
            "GetScenesInBuild": self._scenes,
            "Reset": self._reset,
            "ChangeResolution": self._change_resolution,
            "ChangeQuality": self._change_quality,
            "SetObjectFilter": self._set_filter,
            "ResetObjectFilter": self._reset_filter,
            "TestActionReflectParam": self._reflect,
            "TestFastEmit": self._reflect,
        }

    def hello(self) -> Reply:
        return self._reply(self._kitchen.last_event.metadata, 0, image=True)

    def answer(self, action: Mapping[str, Any]) -> Reply:
        """Execute an action and return its event, which also reports errors."""
        name = action.get("action")
        try:
            args = arguments(action)
            if isinstance(name, str) and name in self._own:
                metadata = self._answered(name, result=self._own[name](args))
            elif not self._started:
                raise RefusedActionError(
                    f"{name}: there is no scene yet; send Reset first", "InvalidAction"
                )
            else:
                metadata = self._act(name, args)
        except RefusedActionError as error:
            metadata = self._answered(name, message=error.message, code=error.code)
        except Exception as error:
            # As in AI2-THOR, an exception becomes the event's message, and the world stays
            # unchanged.
            metadata = self._answered(name, message=f"{type(error).__name__}: {error}")
        sequence_id = action.get("sequenceId", 0)
        fast = self._fast and isinstance(name, str) and name in _FAST
        image = action.get("renderImage") is not False
        return self._reply(metadata, sequence_id, image=image, fast=fast)

    def _act(self, name: Any, args: dict[str, Any]) -> dict[str, Any]:
        if name == "Initialize":
            check_initialize(args)
            self._fast = args.get("fastActionEmit") is not False
        before = self._kitchen.last_event
        try:
            event = self._kitchen.step({**args, "action": name})
        except ValueError:
            event = self._kitchen.last_event
            if event is before:  # not a refusal by the kitchen
                raise
        return event.metadata

    def _answered(
        self, name: Any, *, result: Any = None, message: str = "", code: str | None = None
    ) -> dict[str, Any]:
        return {
            **self._kitchen.last_event.metadata,
            "lastAction": str(name),
            "lastActionSuccess": not message,
            "errorMessage": message,
            "errorCode": code,
            "actionReturn": result,
        }

    def _reply(
        self, metadata: Mapping[str, Any], sequence_id: int, *, image: bool, fast: bool = False
    ) -> Reply:
        seen = {**metadata, "screenWidth": self._width, "screenHeight": self._height}
        picture = None
        if image and self._camera is not None:
            picture = self._camera.picture(seen, self._width, self._height)
        seen["objects"] = [self._with_door(entry) for entry in seen["objects"]]
        if self._shown is not None:
            seen["objects"] = [o for o in seen["objects"] if o["objectId"] in self._shown]
        return Reply(seen, sequence_id, picture, fast)

    def _with_door(self, entry: dict[str, Any]) -> dict[str, Any]:
        if not entry["isOpen"] or entry["objectType"] not in _HINGED:
            return entry
        known = self._doors.get(entry["objectId"])
        if known is None or known[0] is not entry:
            known = self._doors[entry["objectId"]] = (entry, with_open_door(entry))
        return known[1]

    def _scenes(self, _args: dict[str, Any]) -> list[str]:
        return [f"{name}_physics" for name in scene_names()]

    def _reset(self, args: dict[str, Any]) -> None:
        try:
            self._kitchen.reset(str(args["sceneName"]) if args.get("sceneName") else None)
        except HvrError as error:
            raise RefusedActionError(str(error)) from None
        self._started = True
        self._shown = None

    def _change_resolution(self, args: dict[str, Any]) -> None:
        width, height = args.get("x"), args.get("y")
        for side in (width, height):
            if not isinstance(side, int) or isinstance(side, bool) or not 0 < side <= _LARGEST:
                raise RefusedActionError(
                    f"ChangeResolution needs x and y, whole numbers of pixels from 1 to {_LARGEST}"
                )
        assert isinstance(width, int) and isinstance(height, int)
        self._width, self._height = width, height

    def _change_quality(self, _args: dict[str, Any]) -> None: ...

    def _set_filter(self, args: dict[str, Any]) -> None:
        ids = args.get("objectIds")
        if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
            raise RefusedActionError("SetObjectFilter needs objectIds, a list of object ids")
        self._shown = frozenset(ids)

    def _reflect(self, args: dict[str, Any]) -> Any:
        return args.get("rvalue")

    def _reset_filter(self, _args: dict[str, Any]) -> None:
        self._shown = None


def converse(conversation: ClientDialogue, link: Link) -> None:
    action = link.exchange(conversation.hello())
    while action is not None:
        action = link.exchange(conversation.answer(action))


# Process ------------------------------------------------------------------------------------------

_PREFIX = "AI2THOR_"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def main(given: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Serve one client.

    Args:
        given: The command line, with options of this process and of Unity.
        environ: Environment variables, in which the client passes its address.

    Returns:
        The exit code 0, after the client has stopped or disconnected.

    Raises:
        UsageError: Neither the client's variables nor `--port` are given, an option is invalid, or
            the client cannot be reached.
        ProtocolError: The client violates AI2-THOR's protocol.
        MissingExtraError: msgpack is not installed.
        SceneError: The scenes are not installed.
    """
    variables = {k.removeprefix(_PREFIX): v for k, v in environ.items() if k.startswith(_PREFIX)}
    try:
        options = _options(given, started_by_client="SERVER_TYPE" in variables)
        conversation = ClientDialogue(
            Kitchen(seed=options.seed, profile=options.profile),
            options.width,
            options.height,
            None if variables.get("SERVER_SIDE_SCREENSHOT") == "False" else SceneRenderer(),
        )
        link = _link(options, variables)
    except HvrError:
        if pipe := variables.get("FIFO_SERVER_PIPE_PATH"):
            refuse(Path(pipe))
        raise
    # Everything loaded so far stays, so exempt it from garbage collection.
    gc.freeze()
    converse(conversation, link)
    return 0


def _options(given: Sequence[str], *, started_by_client: bool) -> argparse.Namespace:
    parser = _Parser(
        "hvr scene serve",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_arguments(parser)
    if started_by_client:
        # Unity has further options, which do not matter here.
        return parser.parse_known_args(given)[0]
    return parser.parse_args(given)


def _link(options: argparse.Namespace, variables: Mapping[str, str]) -> Link:
    if options.port is not None:
        return HttpLink(options.host, options.port, "", JsonEncoder(), options.wait)
    kind = variables.get("SERVER_TYPE")
    if kind is None:
        raise UsageError(
            "AI2-THOR's Python client starts this process, as in Controller(local_executable_path="
            "'hvr scene serve', ...); by hand, give the --port of a listening client (--help)"
        )
    try:
        if kind.upper() == "FIFO":
            return FifoLink(
                Path(variables["FIFO_SERVER_PIPE_PATH"]),
                Path(variables["FIFO_CLIENT_PIPE_PATH"]),
                MsgpackEncoder(),
            )
        if kind.upper() == "WSGI":
            host, port = variables["HOST"], int(variables["PORT"])
            return HttpLink(host, port, variables.get("CLIENT_TOKEN", ""), JsonEncoder())
    except KeyError as error:
        raise UsageError(f"the environment variable {_PREFIX}{error.args[0]} is not set") from None
    except ValueError:
        raise UsageError(f"{_PREFIX}PORT must be a number, got {variables['PORT']!r}") from None
    raise ProtocolError(f"{_PREFIX}SERVER_TYPE must be FIFO or WSGI, got {kind!r}")

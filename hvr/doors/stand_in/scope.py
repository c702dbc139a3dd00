"""Requests of AI2-THOR that the stand-in refuses, each in one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_IMAGES = (
    "renderDepthImage",
    "renderInstanceSegmentation",
    "renderSemanticSegmentation",
    "renderNormalsImage",
    "renderFlowImage",
    "renderObjectImage",
    "renderClassImage",
)
_CAMERAS = frozenset({"AddThirdPartyCamera", "UpdateThirdPartyCamera"})
_OF_THE_CONNECTION = frozenset({"action", "sequenceId", "agentId", "renderImage", *_IMAGES})


class RefusedError(Exception):
    """Refuses an action.

    Args:
        message: `errorMessage`.
        code: `errorCode`; InvalidArgument and InvalidAction make the client raise ValueError.
    """

    def __init__(self, message: str, code: str = "InvalidArgument") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def arguments(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action less those that concern agents and images.

    Raises:
        RefusedError: it asks for a second agent, another camera or another image than RGB.
    """
    name = action.get("action")
    if isinstance(name, str) and name in _CAMERAS:
        raise RefusedError(f"{name}: the stand-in has no third-party cameras", "InvalidAction")
    for image in _IMAGES:
        if action.get(image):
            raise RefusedError(
                f"{image}: the stand-in sends RGB images only, no depth, segmentation, normals or "
                "flow; leave it out"
            )
    if action.get("agentId"):
        raise RefusedError(f"agentId {action['agentId']}: the stand-in has one agent, number 0")
    return {key: value for key, value in action.items() if key not in _OF_THE_CONNECTION}


def check_initialize(args: Mapping[str, Any]) -> None:
    """Check the arguments of `Initialize`.

    Raises:
        RefusedError: they ask for several agents or another kind of agent.
    """
    count = args.get("agentCount", 1)
    if count != 1:
        raise RefusedError(f"agentCount {count}: the stand-in has one agent")
    mode = args.get("agentMode", "default")
    if str(mode).lower() != "default":
        raise RefusedError(
            f"agentMode {mode!r}: the stand-in has the agent 'default' only, no locobot, drone, "
            "arm or stretch"
        )

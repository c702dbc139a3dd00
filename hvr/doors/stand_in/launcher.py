"""Arguments with which a program starts the stand-in instead of Unity."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from typing import Any

from hvr.errors import MissingExtraError


def command(*, seed: int = 0, profile: str = "5") -> str:
    """Return the command line for `Controller(local_executable_path=...)`.

    Args:
        seed: of the kitchen.
        profile: version of AI2-THOR that the kitchen plays: `5` or `2.1.0`.
    """
    words = [sys.executable, "-P", "-m", "hvr.doors.stand_in"]
    if seed:
        words += ["--seed", str(seed)]
    if profile != "5":
        words += ["--profile", profile]
    return shlex.join(words)


def controller_arguments(
    scene: str = "FloorPlan1",
    *,
    wsgi: bool = False,
    headless: bool = False,
    seed: int = 0,
    profile: str = "5",
) -> dict[str, Any]:
    """Return the arguments with which `ai2thor.controller.Controller` starts the stand-in.

    `x_display` is there because the client wants a value; no display is contacted. Time limits
    are such that the client notices at once when the process has ended.

    Args:
        scene: the first scene.
        wsgi: HTTP instead of pipes.
        headless: no images.
        seed: of the kitchen.
        profile: version of AI2-THOR that the kitchen plays: `5` or `2.1.0`.

    Raises:
        MissingExtraError: the package ai2thor is not installed (looked at with `wsgi` only).
    """
    chosen: dict[str, Any] = {
        "local_executable_path": command(seed=seed, profile=profile),
        "scene": scene,
        "x_display": "0",
        "headless": headless,
        "server_timeout": None,
        "server_start_timeout": 60.0,
    }
    if wsgi:
        try:
            chosen["server_class"] = import_module("ai2thor.wsgi_server").WsgiServer
        except ImportError:
            raise MissingExtraError("ai2thor", "thor") from None
    return chosen

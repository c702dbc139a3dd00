"""The stand-in server: a process that replaces Unity for AI2-THOR's Python client.

It runs hvr's kitchen. `controller_arguments` returns the arguments with which
`ai2thor.Controller` starts it; see docs/how-to/stand_in.md.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from hvr.base.texts import parse_integer, parse_real
from hvr.errors import MissingExtraError

# Launcher -----------------------------------------------------------------------------------------


def command(*, seed: int = 0, profile: str = "5") -> str:
    """Return the command line for `Controller(local_executable_path=...)`.

    `profile` is the version of AI2-THOR that the kitchen simulates: 5 or 2.1.0.
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

    The client requires a value for `x_display`, but no display is contacted. The time limits make
    the client notice at once if the process has ended.

    Args:
        wsgi: Whether to use HTTP instead of pipes.
        headless: Whether to send no images.
        profile: Version of AI2-THOR that the kitchen simulates: `5` or `2.1.0`.

    Raises:
        MissingExtraError: The package ai2thor is not installed (only with `wsgi`).
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


# Options ------------------------------------------------------------------------------------------

_MOST_PIXELS = 16384
_T = TypeVar("_T")

DESCRIPTION = """\
Stand in for Unity: AI2-THOR's Python client starts this process, backed by hvr's kitchen.

Either the client starts the process:
  Controller(local_executable_path="hvr scene serve", x_display="0", scene="FloorPlan1")
or you start it, and it connects to a listening client:
  Controller(start_unity=False, port=8200, server_class=WsgiServer, scene="FloorPlan1")
  hvr scene serve --port 8200

The process ends when the client stops or dies.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the process, and the options of Unity that it supports."""
    parser.add_argument("--port", type=_port, help="port of a listening client")
    parser.add_argument(
        "--host", default="127.0.0.1", help="host of the client (default: %(default)s)"
    )
    parser.add_argument(
        "--wait",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="time to wait for the client to listen (%(default)g)",
    )
    parser.add_argument("--seed", type=_whole, default=0, help="random seed (default: %(default)s)")
    parser.add_argument(
        "--profile", default="5", help="version of AI2-THOR to imitate (default: %(default)s)"
    )
    for name, side in (("-screen-width", "width"), ("-screen-height", "height")):
        parser.add_argument(name, dest=side, type=_pixels, default=300, help=argparse.SUPPRESS)


def _port(text: str) -> int:
    return _read(parse_integer, text, 1, 65535)


def _seconds(text: str) -> float:
    return _read(parse_real, text)


def _whole(text: str) -> int:
    return _read(parse_integer, text)


def _pixels(text: str) -> int:
    return _read(parse_integer, text, 1, _MOST_PIXELS)


def _read(read: Callable[..., _T], *given: object) -> _T:
    try:
        return read(*given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


__all__ = ["controller_arguments"]

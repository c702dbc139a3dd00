"""The options of the process: a module that costs nothing to import."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from hvr.base.numbers import read_real, read_whole

_MOST_PIXELS = 16384
_T = TypeVar("_T")

DESCRIPTION = """\
A process that AI2-THOR's Python client takes for Unity; behind it is hvr's kitchen.

The client starts it:
  Controller(local_executable_path="hvr scene serve", x_display="0", scene="FloorPlan1")
or it is started by hand and goes to a client that listens:
  Controller(start_unity=False, port=8200, server_class=WsgiServer, scene="FloorPlan1")
  hvr scene serve --port 8200

It ends when the client stops or goes away.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the process, and those of Unity's that it heeds."""
    parser.add_argument("--port", type=_port, help="go to a client that listens at this port")
    parser.add_argument("--host", default="127.0.0.1", help="where it listens (%(default)s)")
    parser.add_argument(
        "--wait",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long to wait for it to listen (%(default)g)",
    )
    parser.add_argument("--seed", type=_whole, default=0, help="for what is random (%(default)s)")
    parser.add_argument(
        "--profile", default="5", help="version of AI2-THOR that the kitchen plays (%(default)s)"
    )
    parser.add_argument(
        "--pack-anew",
        action="store_true",
        help="encode every object at every step, to measure what not doing it saves",
    )
    for name, side in (("-screen-width", "width"), ("-screen-height", "height")):
        parser.add_argument(name, dest=side, type=_pixels, default=300, help=argparse.SUPPRESS)


def _port(text: str) -> int:
    return _read(read_whole, text, 1, 65535)


def _seconds(text: str) -> float:
    return _read(read_real, text)


def _whole(text: str) -> int:
    return _read(read_whole, text)


def _pixels(text: str) -> int:
    return _read(read_whole, text, 1, _MOST_PIXELS)


def _read(read: Callable[..., _T], *given: object) -> _T:
    try:
        return read(*given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None

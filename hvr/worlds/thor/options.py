"""Options of AI2-THOR, parsed from text."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hvr.base.numbers import (
    MAX_INTEGER,
    MAX_REAL,
    check_integer,
    check_positive,
    parse_integer,
    parse_real,
)
from hvr.errors import UsageError

PLATFORMS = ("Linux64", "OSXIntel64", "CloudRendering")
"""The builds of AI2-THOR that its Python client 5.0.0 knows and hvr can use."""

QUALITIES = ("Very Low", "Low", "Medium", "MediumCloseFitShadows", "High", "Very High", "Ultra")
SERVERS = ("fifo", "http")
ENVIRONMENT = "HVR_THOR"
EXECUTABLE = "HVR_THOR_EXECUTABLE"

_MOST_PIXELS = 16384
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class ThorOptions:
    """Options for starting and using AI2-THOR.

    Args:
        executable: Command line of the simulator process in shell syntax; empty means the build in
            `~/.ai2thor/releases`.
        platform: One of `PLATFORMS`; empty means this system's default.
        display: X display, such as `:0`; empty means `$DISPLAY` or any other display.
        width: Image width in pixels.
        height: Image height in pixels.
        quality: One of `QUALITIES`.
        headless: Whether to render no images and return only metadata.
        server: `fifo` (pipes) or `http`.
        port: Port of the HTTP server; 0 means any free port.
        grid_size: Length of a step in metres.
        visibility_distance: Reach of the robot in metres.
        timeout: Time limit for one action in seconds.
        start_timeout: Time limit for the start in seconds.
        force_action: Whether to put objects down with AI2-THOR's `forceAction`.
        tries: Maximum number of attempts at an interaction, each from another place.
        pictures: Whether to keep the camera image of every action in the run folder.
        top_view: Whether to keep images from above of the first and the last state.
    """

    executable: str = ""
    platform: str = ""
    display: str = ""
    width: int = 300
    height: int = 300
    quality: str = "Ultra"
    headless: bool = False
    server: str = "fifo"
    port: int = 0
    grid_size: float = 0.25
    visibility_distance: float = 1.5
    timeout: float = 100.0
    start_timeout: float = 300.0
    force_action: bool = False
    tries: int = 3
    pictures: bool = True
    top_view: bool = True

    def __post_init__(self) -> None:
        for name, known in (
            ("platform", ("", *PLATFORMS)),
            ("quality", QUALITIES),
            ("server", SERVERS),
        ):
            value = getattr(self, name)
            if value not in known:
                listed = ", ".join(filter(None, known))
                raise UsageError(f"AI2-THOR option {name} must be one of {listed}, got {value!r}")
        for name, least, most in (
            ("width", 1, _MOST_PIXELS),
            ("height", 1, _MOST_PIXELS),
            ("tries", 1, MAX_INTEGER),
            ("port", 0, 65535),
        ):
            check_integer(f"AI2-THOR option {name}", getattr(self, name), least, most)
        for name in ("grid_size", "visibility_distance", "timeout", "start_timeout"):
            check_positive(f"AI2-THOR option {name}", getattr(self, name))


def read_options(
    texts: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> ThorOptions:
    """Parse options from `name=value` texts, which override environment variables.

    Args:
        texts: Texts such as `platform=CloudRendering`; later ones win.
        environment: Environment variables; the process's own if None. `HVR_THOR` contains texts
            separated by commas, `HVR_THOR_EXECUTABLE` the command line of the simulator.

    Raises:
        UsageError: A name is unknown or a value is invalid.
    """
    environment = os.environ if environment is None else environment
    usual = [t for t in environment.get(ENVIRONMENT, "").split(",") if t.strip()]
    if environment.get(EXECUTABLE):
        usual.append(f"executable={environment[EXECUTABLE]}")
    values: dict[str, Any] = dict(_read(text) for text in (*usual, *texts))
    return ThorOptions(**values)


def option_texts(executable: str | None, texts: Iterable[str] | None) -> list[str]:
    """Return the options of the command line as texts for `read_options`."""
    return [*(texts or ()), *([f"executable={executable}"] if executable else ())]


def _read(text: str) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    fields = {field.name: field for field in dataclasses.fields(ThorOptions)}
    if not equals:
        raise UsageError(f"AI2-THOR option {text!r} has no value: write name=value")
    name = name.replace("-", "_")
    if name not in fields:
        near = difflib.get_close_matches(name, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"options: {', '.join(fields)}"
        raise UsageError(f"unknown AI2-THOR option {name!r}; {hint}")
    read, expected = _READERS[type(fields[name].default)]
    try:
        return name, read(value)
    except ValueError:
        raise UsageError(f"AI2-THOR option {name} must be {expected}, got {value!r}") from None


def _flag(text: str) -> bool:
    if text.lower() in _YES:
        return True
    if text.lower() in _NO:
        return False
    raise ValueError


_READERS: Mapping[type, tuple[Callable[[str], object], str]] = {
    bool: (_flag, "true or false"),
    int: (partial(parse_integer, least=-MAX_INTEGER), "a whole number"),
    float: (partial(parse_real, least=-MAX_REAL), "a number"),
    str: (str, "a text"),
}

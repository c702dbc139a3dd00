"""Options of AI2-THOR: how it is started and used, read from text."""

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

QUALITIES = (
    "Very Low",
    "Low",
    "Medium",
    "MediumCloseFitShadows",
    "High",
    "Very High",
    "Ultra",
)
SERVERS = ("fifo", "http")
ENVIRONMENT = "HVR_THOR"
EXECUTABLE = "HVR_THOR_EXECUTABLE"

_MOST_PIXELS = 16384
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class ThorOptions:
    """Options for starting AI2-THOR and acting in it.

    Args:
        executable: command line of the simulator process, split as a shell does; empty
            means the build in `~/.ai2thor/releases`.
        platform: one of `PLATFORMS`; empty means the usual one of this system.
        display: X display, such as `:0`; empty means `$DISPLAY` or any that is there.
        width: of the camera image, pixels.
        height: of the camera image, pixels.
        quality: one of `QUALITIES`.
        headless: no images at all, only metadata.
        server: `fifo` (pipes) or `http`.
        port: where the HTTP server listens; 0 means any free port.
        grid_size: length of a step, metres.
        visibility_distance: how far the robot reaches, metres.
        timeout: seconds for one action at most.
        start_timeout: seconds for the start at most.
        force_action: put things down with AI2-THOR's `forceAction`.
        tries: how often an interaction is tried at most, from as many places.
        pictures: keep the camera image of every action in the run folder.
        top_view: keep a picture from above, at the beginning and at the end.

    Raises:
        UsageError: a value cannot be used.
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
                raise UsageError(f"AI2-THOR option {name}: {value!r} is none of {listed}")
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
    """Return options from `name=value` texts, over those of the environment variables.

    Args:
        texts: such as `platform=CloudRendering`; a later one wins.
        environment: instead of the process's own. `HVR_THOR` has texts separated by
            commas, `HVR_THOR_EXECUTABLE` the command line of the simulator.

    Raises:
        UsageError: an unknown name, or a value that cannot be used.
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
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
        raise UsageError(f"there is no AI2-THOR option {name!r}; {hint}")
    read, wanted = _READERS[type(fields[name].default)]
    try:
        return name, read(value)
    except ValueError:
        raise UsageError(f"AI2-THOR option {name} must be {wanted}, not {value!r}") from None


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

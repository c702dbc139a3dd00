"""Settings of a kitchen: the arguments of `Initialize`, and the version it plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from hvr.errors import UsageError
from hvr.values import Value


@dataclass(frozen=True, slots=True)
class KitchenSettings:
    """Arguments of AI2-THOR's `Initialize` and of the temperature actions.

    Args:
        grid_size: how far one move goes and what positions snap to, metres.
        snap_to_grid: positions are multiples of `grid_size` after a move.
        rotate_step: how far one turn goes, degrees.
        visibility_distance: how far the agent sees and reaches, metres.
        field_of_view: vertical and horizontal, degrees.
        width: of the image, pixels.
        height: of the image, pixels.
        decay_time: simulated seconds until what left a hot or cold place is at room
            temperature.
        decays: whether it ever is.
    """

    grid_size: float = 0.25
    snap_to_grid: bool = True
    rotate_step: float = 90.0
    visibility_distance: float = 1.5
    field_of_view: float = 90.0
    width: int = 300
    height: int = 300
    decay_time: float = 10.0
    decays: bool = True


class Profile(Value):
    """Differences between versions of AI2-THOR; docs/kitchen.md has the sources.

    Args:
        name: `5` or `2.1.0`.
        first_piece: number of the first piece in ids (`…|AppleSliced_0`).
        put_names_both: PutObject takes the held object as `objectId` and the receptacle as
            `receptacleObjectId`; otherwise `objectId` is the receptacle.
        look_step: degrees of LookUp and LookDown unless given.
    """

    name: str
    first_piece: int = 0
    put_names_both: bool = False
    look_step: float = 30.0


THOR_5 = Profile("5")
"""AI2-THOR 5, the default."""

THOR_2_1_0 = Profile("2.1.0", first_piece=1, put_names_both=True, look_step=15.0)
"""AI2-THOR 2.1.0 as ALFRED used it."""

PROFILES = MappingProxyType({profile.name: profile for profile in (THOR_5, THOR_2_1_0)})
"""All profiles by name."""


def profile_named(name: str) -> Profile:
    """Return the profile with this name.

    Raises:
        UsageError: there is none.
    """
    profile = PROFILES.get(name)
    if profile is None:
        raise UsageError(f"unknown profile {name!r} of AI2-THOR: there are {', '.join(PROFILES)}")
    return profile


def initialized(settings: KitchenSettings, args: Mapping[str, Any]) -> KitchenSettings:
    """Return the settings after `Initialize` with these arguments.

    Arguments that have no meaning here, such as those of rendering, are ignored.

    Raises:
        ValueError: an argument is not a positive number.
    """
    changed: dict[str, Any] = {}
    for argument, name in _ARGUMENTS.items():
        value = args.get(argument)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ValueError(f"{argument} must be a number > 0")
        changed[name] = int(value) if name in ("width", "height") else float(value)
    if args.get("snapToGrid") is not None:
        changed["snap_to_grid"] = bool(args["snapToGrid"])
    return replace(settings, **changed) if changed else settings


_ARGUMENTS = MappingProxyType(
    {
        "gridSize": "grid_size",
        "rotateStepDegrees": "rotate_step",
        "visibilityDistance": "visibility_distance",
        "fieldOfView": "field_of_view",
        "width": "width",
        "height": "height",
    }
)

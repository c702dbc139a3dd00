"""Environments by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hvr.base.registry import Registry
from hvr.worlds.base import Environment

if TYPE_CHECKING:
    from hvr.worlds.faults import Schedule

ENVIRONMENTS = Registry(
    "environment",
    "environments",
    {"kitchen": "hvr.worlds.kitchen:open_kitchen", "thor": "hvr.worlds.thor.opening:open_thor"},
    "hvr.environments",
    ("reset", "step", "stop", "last_event"),
)
"""Each entry is called with an `EnvironmentSetup` and returns an `OpenEnvironment`."""


class OpenEnvironment(Environment, Protocol):
    """An environment that has to be stopped in the end."""

    def stop(self) -> None:
        """Free what it holds. Idempotent."""
        ...


@dataclass(frozen=True, kw_only=True)
class EnvironmentSetup:
    """How an environment is opened.

    Args:
        scene: name of the scene.
        seed: of what is drawn by chance, where anything is.
        options: the environment's own options as texts `name=value`.
        folder: where it may keep pictures and logs; None keeps none.
    """

    scene: str
    seed: int = 0
    options: tuple[str, ...] = ()
    folder: Path | None = None


def names_program(option: str) -> bool:
    """Return whether an option of an environment, `name=value`, names a program to be started.

    Such an option is never taken from a file: a run folder may come from anybody.
    """
    return option.partition("=")[0].strip() == "executable"


def open_environment(
    name: str, setup: EnvironmentSetup, faults: Schedule | None = None
) -> OpenEnvironment:
    """Return an environment in the first state of a scene. Stop it in the end.

    Args:
        name: one of `ENVIRONMENTS`.
        setup: scene and options.
        faults: to be played in it.

    Raises:
        UsageError: there is no such environment, or it has no such option.
        SceneError: it has no such scene.
        MissingExtraError: a package that it needs is not installed.
        SimulatorError: it cannot be started.
    """
    env: OpenEnvironment = ENVIRONMENTS.make(name, setup)
    if faults is None:
        return env
    from hvr.worlds.faults import FaultyEnvironment

    return FaultyEnvironment(env, faults)

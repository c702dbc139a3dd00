"""Opens an environment by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hvr.envs.base import Environment
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.envs.faults import Schedule
    from hvr.envs.thor.options import ThorOptions

ENVIRONMENTS = ("kitchen", "thor")


class OpenEnvironment(Environment, Protocol):
    """An environment that has to be stopped in the end."""

    def stop(self) -> None:
        """Free what it holds; more than once does no harm."""
        ...


def check_environment(name: str) -> None:
    """Refuse a name that no environment has.

    Raises:
        UsageError: it is not one of `ENVIRONMENTS`.
    """
    if name not in ENVIRONMENTS:
        raise UsageError(f"unknown environment {name!r} (environments: {', '.join(ENVIRONMENTS)})")


def open_environment(
    name: str,
    scene: str,
    *,
    seed: int = 0,
    thor: ThorOptions | None = None,
    folder: Path | None = None,
    faults: Schedule | None = None,
) -> OpenEnvironment:
    """Return an environment in the first state of a scene. Stop it in the end.

    Args:
        name: one of `ENVIRONMENTS`.
        scene: name of the scene.
        seed: of the kitchen; AI2-THOR has none.
        thor: how to start AI2-THOR.
        folder: where AI2-THOR's pictures are kept; None keeps none.
        faults: to be played in it.

    Raises:
        UsageError: there is no such environment.
        SceneError: it has no such scene.
        MissingExtraError: the package ai2thor is needed and not installed.
        SimulatorError: AI2-THOR cannot be started.
    """
    check_environment(name)
    env = _environment(name, scene, seed, thor, folder)
    if faults is None:
        return env
    from hvr.envs.faults import FaultyEnvironment

    return FaultyEnvironment(env, faults)


def _environment(
    name: str, scene: str, seed: int, thor: ThorOptions | None, folder: Path | None
) -> OpenEnvironment:
    if name == "kitchen":
        from hvr.envs.kitchen import Kitchen

        return Kitchen(scene, seed)
    from hvr.envs.persistent import Persistent
    from hvr.envs.thor.adapter import Thor
    from hvr.envs.thor.options import ThorOptions

    thor = thor or ThorOptions()
    return Persistent(Thor(scene, thor, folder), thor.tries)

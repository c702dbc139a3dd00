"""AI2-THOR in a scene, as an environment."""

from __future__ import annotations

from hvr.worlds.persistent import Persistent
from hvr.worlds.registry import EnvironmentSetup
from hvr.worlds.thor.adapter import Thor
from hvr.worlds.thor.options import read_options


def open_thor(setup: EnvironmentSetup) -> Persistent:
    """Return AI2-THOR in a scene; interactions are tried again where the place was wrong.

    Raises:
        UsageError: an option cannot be used.
        SceneError: the simulator has no such scene.
        MissingExtraError: the package ai2thor is not installed.
        SimulatorError: the simulator cannot be started.
    """
    options = read_options(setup.options)
    return Persistent(Thor(setup.scene, options, setup.folder), options.tries)

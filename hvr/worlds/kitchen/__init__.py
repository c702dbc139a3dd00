"""The embedded kitchen: a world that speaks AI2-THOR and needs nothing but Python."""

from hvr.errors import UsageError
from hvr.worlds.environment import EnvironmentSetup
from hvr.worlds.kitchen.kitchen import Kitchen, Snapshot

__all__ = ["Kitchen", "Snapshot", "open_kitchen"]


def open_kitchen(setup: EnvironmentSetup) -> Kitchen:
    """Return the kitchen of a scene; it has no options.

    Raises:
        SceneError: there is no such scene.
        UsageError: an option is given.
    """
    if setup.options:
        raise UsageError(
            f"the kitchen has no option {setup.options[0]!r}; options of AI2-THOR need --env thor"
        )
    return Kitchen(setup.scene, setup.seed)

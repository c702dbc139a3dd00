"""The embedded kitchen: an environment with AI2-THOR's interface that needs only Python."""

from hvr.errors import UsageError
from hvr.worlds.environment import EnvironmentSetup
from hvr.worlds.kitchen.kitchen import Kitchen, Snapshot

__all__ = ["Kitchen", "Snapshot", "open_kitchen"]


def open_kitchen(setup: EnvironmentSetup) -> Kitchen:
    """Open the kitchen of a scene, which has no options."""
    if setup.options:
        raise UsageError(
            f"the kitchen has no option {setup.options[0]!r}; options of AI2-THOR need --env thor"
        )
    return Kitchen(setup.scene, setup.seed)

"""AI2-THOR: its types, fields and actions, and the simulator with its own Python client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hvr.errors import SimulatorError
    from hvr.worlds.thor.environment import Thor
    from hvr.worlds.thor.installation import ThorOptions, read_options

__all__ = ["SimulatorError", "Thor", "ThorOptions", "read_options"]


def __getattr__(name: str) -> Any:
    """Import the simulator on demand, since its types are also used without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hvr import errors
    from hvr.worlds.thor import environment, installation

    return next(getattr(m, name) for m in (environment, installation, errors) if hasattr(m, name))

"""AI2-THOR itself, through its own Python client."""

from hvr.envs.thor.adapter import Thor
from hvr.envs.thor.options import ThorOptions, read_options
from hvr.errors import SimulatorError

__all__ = ["SimulatorError", "Thor", "ThorOptions", "read_options"]

"""The stand-in server: a process that AI2-THOR's Python client takes for Unity.

Behind it is hvr's kitchen. `launcher.controller_arguments` gives what `ai2thor.Controller`
needs to start it; docs/stand_in.md describes it.
"""

from hvr.doors.stand_in.launcher import controller_arguments

__all__ = ["controller_arguments"]

"""The stand-in server: a process that AI2-THOR's Python client takes for Unity.

hvr's kitchen runs behind it. `launcher.controller_arguments` returns the arguments with which
`ai2thor.Controller` starts it; see docs/how-to/stand_in.md.
"""

from hvr.doors.stand_in.launcher import controller_arguments

__all__ = ["controller_arguments"]

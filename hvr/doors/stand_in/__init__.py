"""The stand-in server: a process that replaces Unity for AI2-THOR's Python client.

It runs hvr's kitchen. `launcher.controller_arguments` returns the arguments with which
`ai2thor.Controller` starts it; see docs/how-to/stand_in.md.
"""

from hvr.doors.stand_in.launcher import controller_arguments

__all__ = ["controller_arguments"]

"""A request from beginning to end."""

from hvr.runs.options import Options
from hvr.runs.result import Run
from hvr.runs.spine import plan, resume

__all__ = ["Options", "Run", "plan", "resume"]

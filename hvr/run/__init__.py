"""A request from beginning to end."""

from hvr.run.options import Options
from hvr.run.result import Run
from hvr.run.spine import plan, resume

__all__ = ["Options", "Run", "plan", "resume"]

"""A request from beginning to end."""

from hvr.run.options import DEFAULT_SCENE, Options
from hvr.run.result import Run
from hvr.run.spine import plan, resume

__all__ = ["DEFAULT_SCENE", "Options", "Run", "plan", "resume"]

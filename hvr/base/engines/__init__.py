"""Engines run cells of work in this process, in workers or on Ray, with equal results."""

from hvr.base.engines.registry import DoneCell, Engine, LostCellError

__all__ = ["DoneCell", "Engine", "LostCellError"]

"""Engines: cells of work are done here, in processes or on a Ray cluster, with equal results."""

from hvr.base.engines.registry import DoneCell, Engine, LostCellError

__all__ = ["DoneCell", "Engine", "LostCellError"]

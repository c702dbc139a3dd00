"""Engines: cells of work are done here, in processes or on a Ray cluster, with equal results."""

from hvr.engines.contract import Engine, DoneCell, LostCellError

__all__ = ["Engine", "DoneCell", "LostCellError"]

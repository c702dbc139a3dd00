"""Engines: cells of work are done here, in processes or on a Ray cluster, with equal results."""

from hvr.engines.contract import Engine, Finished, LostCellError

__all__ = ["Engine", "Finished", "LostCellError"]

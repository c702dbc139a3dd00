"""The embedded kitchen: an environment with AI2-THOR's interface that needs only Python."""

from hvr.worlds.kitchen.kitchen import Kitchen, Snapshot, open_kitchen

__all__ = ["Kitchen", "Snapshot", "open_kitchen"]

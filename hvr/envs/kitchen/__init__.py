"""The embedded kitchen: a world that speaks AI2-THOR and needs nothing but Python."""

from hvr.envs.kitchen.kitchen import Kitchen, Snapshot

__all__ = ["Kitchen", "Snapshot"]

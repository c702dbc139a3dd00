"""Groups of conditions: disks, terminals, surroundings and concurrent use."""

from studies.chaos.conditions.disk import disk
from studies.chaos.conditions.sharing import sharing
from studies.chaos.conditions.surroundings import surroundings
from studies.chaos.conditions.terminal import terminal

__all__ = ["disk", "sharing", "surroundings", "terminal"]

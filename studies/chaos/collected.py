"""All checks, in execution order."""

from __future__ import annotations

from studies.chaos.checks import Check
from studies.chaos.conditions import disk, sharing, surroundings, terminal
from studies.chaos.kills import kills
from studies.chaos.parallel import parallel
from studies.chaos.servers import servers

GROUPS = (servers, kills, disk, terminal, surroundings, sharing, parallel)
CHECKS: tuple[Check, ...] = tuple(check for group in GROUPS for check in group.checks)

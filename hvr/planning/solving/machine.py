"""How many planners may work at the same time on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

ENOUGH_MEMORY = 1 << 30
"""Bytes that must be free for one more planner to start."""


def usable_cores() -> int:
    """Return how many processors this process may use, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = float(allowed or 1)
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        if quota != "max":
            cores = min(cores, float(quota) / float(period))
    return max(1, round(cores))


def free_memory() -> int | None:
    """Return the bytes that programs can still use; None if unknown."""
    free = None
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        # The cache of files counts as used, and gives way.
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            used -= int(line.split()[1]) if line.startswith("inactive_file ") else 0
        if limit != "max":
            left = max(0, int(limit) - used)
            free = left if free is None else min(free, left)
    return free


def memory_is_short() -> bool:
    """Return whether too little memory is free for a further planner."""
    free = free_memory()
    return free is not None and free < ENOUGH_MEMORY

"""Processes that outlive their parent."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 60.0


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def working_in(folder: Path) -> list[int]:
    """Return the processes whose working folder this is."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str((entry / "cwd").readlink()).startswith(str(folder)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found

"""Cell functions for the engine tests, importable by other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path


def square(number: int) -> tuple[int, int]:
    """Return the square and the ID of the computing process."""
    return number * number, os.getpid()


def slow_first(number: int) -> int:
    """Return the number, taking longest in the first call."""
    time.sleep(0.3 if number == 0 else 0)
    return number


def failing(number: int) -> int:
    """Return the number, or fail for 3."""
    if number == 3:
        raise ArithmeticError("3 cannot be done")
    return number


def deadly(cell: tuple[int, str]) -> int:
    """Return the number; 2 always kills its process, 5 only the first time."""
    number, folder = cell
    mark = Path(folder) / f"begun-{number}-{os.getpid()}-{time.monotonic_ns()}"
    mark.touch()
    tries = len(list(Path(folder).glob(f"begun-{number}-*")))
    if number == 2 or (number == 5 and tries == 1):
        os._exit(9)
    return number


def die() -> None:
    """End the process that has just started."""
    os._exit(9)


def lasting(cell: tuple[int, str]) -> int:
    """Return the number after a while, and record its completion in a folder."""
    number, folder = cell
    time.sleep(0.2)
    (Path(folder) / f"finished-{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return number

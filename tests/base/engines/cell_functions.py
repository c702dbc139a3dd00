"""What cells do in the tests of engines; other processes import it."""

from __future__ import annotations

import os
import time
from pathlib import Path


def square(number: int) -> tuple[int, int]:
    """The square, and who worked it out."""
    return number * number, os.getpid()


def slow_first(number: int) -> int:
    """The number; the first takes longest."""
    time.sleep(0.3 if number == 0 else 0)
    return number


def failing(number: int) -> int:
    """The number, unless it is 3."""
    if number == 3:
        raise ArithmeticError("3 cannot be done")
    return number


def deadly(cell: tuple[int, str]) -> int:
    """The number; 2 ends its process each time, 5 the first time."""
    number, folder = cell
    mark = Path(folder) / f"begun-{number}-{os.getpid()}-{time.monotonic_ns()}"
    mark.touch()
    tries = len(list(Path(folder).glob(f"begun-{number}-*")))
    if number == 2 or (number == 5 and tries == 1):
        os._exit(9)
    return number


def die() -> None:
    """End the process that has just begun."""
    os._exit(9)


def lasting(cell: tuple[int, str]) -> int:
    """The number, after a while; notes in a folder that it was finished."""
    number, folder = cell
    time.sleep(0.2)
    (Path(folder) / f"finished-{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return number

"""What a command of hvr, called in this process, ended with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Hvr = Callable[..., Ended]

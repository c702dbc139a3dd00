"""The engines by name, and which one options, environment and pyproject.toml choose."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from hvr.base.engines.contract import Engine
from hvr.base.registry import Registry
from hvr.errors import UsageError

MOST = 256
"""Most processes."""

ENGINES = Registry(
    "engine",
    "engines",
    {
        "here": "hvr.base.engines.registry:here",
        "processes": "hvr.base.engines.registry:processes",
        "ray": "hvr.base.engines.registry:ray",
    },
    "hvr.engines",
    ("run", "close", "width"),
)


@dataclass(frozen=True)
class EngineChoice:
    """Which engine, and what it is made with.

    Args:
        name: one of `ENGINES`; None for `here` with one job, and for `processes` with more.
        jobs: cells at a time; 0 for one a processor core, of a cluster twice its processors.
        address: of a cluster; None for the engine's own choice.
        start: called first in each process; a function of a module.

    Raises:
        UsageError: the name is unknown, or `jobs` is out of range.
    """

    name: str | None = None
    jobs: int = 1
    address: str | None = None
    start: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.jobs <= MOST:
            raise UsageError(f"jobs must be 0 to {MOST}, not {self.jobs}", field="jobs")
        if self.name is not None:
            ENGINES.check(self.name)
        if self.address is not None and self.name in (None, "here", "processes"):
            raise UsageError("an address is of a cluster: name the engine, such as ray",
                             field="address")  # fmt: skip

    def open(self, cells: int | None = None) -> Engine:
        """Return the engine; it is to be closed.

        Args:
            cells: how many there will be, if that is known: no more processes are started.

        Raises:
            MissingExtraError: what it needs is not installed.
            UsageError: it cannot be reached.
        """
        jobs = self.jobs or os.cpu_count() or 1
        if self.name not in (None, "here", "processes"):
            return cast(Engine, ENGINES.make(str(self.name), self))
        if cells is not None:
            jobs = min(jobs, max(cells, 1))
        name = self.name or ("here" if jobs == 1 else "processes")
        return cast(Engine, ENGINES.make(name, EngineChoice(name, jobs, None, self.start)))


def here(choice: EngineChoice) -> Engine:
    """Return the engine without processes."""
    del choice
    from hvr.base.engines.here import Here

    return Here()


def processes(choice: EngineChoice) -> Engine:
    """Return the engine with processes of this machine."""
    from hvr.base.engines.processes import Processes

    return Processes(choice.jobs, choice.start)


def ray(choice: EngineChoice) -> Engine:
    """Return the engine on a Ray cluster."""
    from hvr.base.engines.on_ray import OnRay

    return OnRay(choice.address, choice.jobs if choice.jobs > 1 else None, choice.start)

"""Engines do cells of work with one function: here, in processes or on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from hvr.base.registry import Registry
from hvr.errors import UsageError

# Contract -----------------------------------------------------------------------------------------
# What an engine is: it does cells of work with one function, wherever it has processors.

C = TypeVar("C")
R = TypeVar("R")

MAX_ATTEMPTS = 2
"""How often a cell is begun whose process dies, before it is given up."""


class LostCellError(Exception):
    """Each process that was at work on a cell died."""


@dataclass(frozen=True)
class DoneCell(Generic[R]):
    """What became of a cell.

    Args:
        number: its place among the cells, from 0.
        value: what the function returned; None where the cell was lost.
        lost: why there is no value; empty where there is one.
    """

    number: int
    value: R | None
    lost: str = ""


class Engine(Protocol):
    """Does cells of work.

    Functions and cells travel to other processes: functions are those of a module, cells and
    results are values that can be pickled. A function returns what it expects to go wrong as a
    value; what it raises ends the whole work.
    """

    width: int
    """How many cells are under way at a time."""

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """Yield what became of each cell, as soon as it is known.

        Cells are taken from the iterable as they are begun, so that there may be any number of
        them. A cell whose process dies is begun again, alone; if that dies, too, it is lost.

        Close the generator where not all is wanted: what is under way is given up.

        Args:
            function: does a cell.
            cells: what to do.
            ordered: yield in the order of the cells; then those that are ahead wait, and no more
                than a few times `width` cells are.

        Raises:
            Exception: whatever the function raises.
        """
        ...

    def close(self) -> None:
        """Let go of processes."""
        ...


class Pool(Protocol):
    """What an engine must be able to do with one cell, for `drive`."""

    def submit(self, cell: Any) -> Any:
        """Begin a cell; return a handle that can be hashed.

        Raises:
            LostCellError: it cannot be begun.
        """
        ...

    def wait(self, handles: list[Any]) -> list[Any]:
        """Return handles of cells that ended, at least one."""
        ...

    def value(self, handle: Any, cell: Any) -> Any:
        """Return what the function returned.

        Raises:
            LostCellError: the cell was lost.
        """
        ...


QUEUED_CELLS = 4
"""With an order, how many times `width` cells may be begun beyond the first that is not done."""


def drive(
    pool: Pool, cells: Iterable[Any], width: int, *, ordered: bool
) -> Iterator[DoneCell[Any]]:
    """Keep `width` cells under way in a pool until there are no more; see `Engine.run`."""
    ahead: dict[int, DoneCell[Any]] = {}
    given = 0

    def may_begin(begun: int) -> bool:
        return not ordered or begun - given < QUEUED_CELLS * width

    for done in _ended(pool, cells, width, may_begin):
        if not ordered:
            yield done
            continue
        ahead[done.number] = done
        while given in ahead:
            given += 1
            yield ahead.pop(given - 1)


def _ended(
    pool: Pool, cells: Iterable[Any], width: int, may_begin: Callable[[int], bool]
) -> Iterator[DoneCell[Any]]:
    """Yield what became of cells as soon as it is known."""
    source = enumerate(cells)
    running: dict[Any, tuple[int, Any]] = {}
    begun = 0
    more = True
    while more or running:
        while more and len(running) < width and may_begin(begun):
            try:
                number, cell = next(source)
            except StopIteration:
                more = False
                break
            begun += 1
            try:
                running[pool.submit(cell)] = number, cell
            except LostCellError as error:
                yield DoneCell(number, None, str(error))
        for handle in pool.wait(list(running)) if running else ():
            number, cell = running.pop(handle)
            try:
                finished = DoneCell(number, pool.value(handle, cell))
            except LostCellError as error:
                finished = DoneCell(number, None, str(error))
            yield finished


# Engine without processes -------------------------------------------------------------------------
# The engine without processes: this one does each cell, in order.


class InProcessEngine:
    """Does cells in this process."""

    width = 1

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """See `Engine.run`."""
        del ordered
        for number, cell in enumerate(cells):
            yield DoneCell(number, function(cell))

    def close(self) -> None:
        """See `Engine.close`."""


# Registry -----------------------------------------------------------------------------------------
# The engines by name, and which one options, environment and pyproject.toml choose.

MAX_JOBS = 256
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
        if not 0 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"jobs must be 0 to {MAX_JOBS}, not {self.jobs}", field="jobs")
        if self.name is not None:
            ENGINES.check(self.name)
        if self.address is not None and self.name in (None, "here", "processes"):
            raise UsageError(
                "an address is of a cluster: name the engine, such as ray", field="address"
            )

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

    return InProcessEngine()


def processes(choice: EngineChoice) -> Engine:
    """Return the engine with processes of this machine."""
    from hvr.base.engines.workers import ProcessEngine

    return ProcessEngine(choice.jobs, choice.start)


def ray(choice: EngineChoice) -> Engine:
    """Return the engine on a Ray cluster."""
    from hvr.base.engines.workers import RayEngine

    return RayEngine(choice.address, choice.jobs if choice.jobs > 1 else None, choice.start)

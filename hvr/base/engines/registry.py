"""Engines run cells of work: in this process, in worker processes or on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from hvr.base.registry import Registry
from hvr.errors import UsageError

# Contract -----------------------------------------------------------------------------------------

C = TypeVar("C")
R = TypeVar("R")

MAX_ATTEMPTS = 2
"""Attempts at a cell whose process dies."""


class LostCellError(Exception):
    """Every process that worked on a cell died."""


@dataclass(frozen=True)
class DoneCell(Generic[R]):
    """The result of one cell.

    Args:
        number: 0-based index of the cell.
        value: Return value of the function, or None if the cell was lost.
        lost: Why the cell was lost; empty if it was not.
    """

    number: int
    value: R | None
    lost: str = ""


class Engine(Protocol):
    """Runs cells of work with one function.

    Functions must be module-level; cells and results must be picklable. A function returns expected
    failures as values; an exception ends the whole run.
    """

    width: int

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """Yield the result of each cell as soon as it is known.

        Cells are consumed lazily, so there may be any number of them. A cell whose process dies is
        retried once, alone, and then counts as lost. Closing the generator abandons running cells.

        Args:
            ordered: Whether to yield results in the order of the cells. At most a few times `width`
                results are then kept waiting.
        """
        ...

    def close(self) -> None: ...


QUEUED_CELLS = 4
"""Ordered runs start at most this many times `width` cells beyond the first unfinished one."""


@dataclass(frozen=True)
class Pool:
    """Operations on single cells that `drive` needs.

    Args:
        submit: Function that starts a cell and returns a hashable handle, or raises LostCellError.
        wait: Function that waits until at least one cell has ended, and returns the handles of all
            ended cells.
        value: Function that returns the result of an ended cell, or raises LostCellError.
    """

    submit: Callable[[Any], Any]
    wait: Callable[[list[Any]], Iterable[Any]]
    value: Callable[[Any, Any], Any]


def drive(
    pool: Pool, cells: Iterable[Any], width: int, *, ordered: bool
) -> Iterator[DoneCell[Any]]:
    """Keep `width` cells running in a pool until all are done; see `Engine.run`."""
    ahead: dict[int, DoneCell[Any]] = {}
    yielded = 0

    def may_begin(begun: int) -> bool:
        return not ordered or begun - yielded < QUEUED_CELLS * width

    for done in _ended(pool, cells, width, may_begin):
        if not ordered:
            yield done
            continue
        ahead[done.number] = done
        while yielded in ahead:
            yielded += 1
            yield ahead.pop(yielded - 1)


def _ended(
    pool: Pool, cells: Iterable[Any], width: int, may_begin: Callable[[int], bool]
) -> Iterator[DoneCell[Any]]:
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


class InProcessEngine:
    """Runs cells in this process, one after another."""

    width = 1

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        del ordered
        for number, cell in enumerate(cells):
            yield DoneCell(number, function(cell))

    def close(self) -> None: ...


# Registry -----------------------------------------------------------------------------------------

MAX_JOBS = 256

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
    """Selection of an engine and its options.

    Args:
        name: Name in `ENGINES`, by default `here` for one job and `processes` for more.
        jobs: Number of concurrent cells; 0 means one per processor core, or two per processor of a
            cluster.
        address: Address of a cluster. The default depends on the engine.
        start: Module-level function that each process calls first.

    Raises:
        UsageError: The name is unknown, `jobs` is out of range, or an engine that needs no cluster
            has an address.
    """

    name: str | None = None
    jobs: int = 1
    address: str | None = None
    start: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"jobs must be from 0 to {MAX_JOBS}, got {self.jobs}", field="jobs")
        if self.name is not None:
            ENGINES.check(self.name)
        if self.address is not None and self.name in (None, "here", "processes"):
            raise UsageError("an address needs a cluster engine, such as ray", field="address")

    def open(self, cells: int | None = None) -> Engine:
        """Return the engine, which starts at most `cells` processes; the caller closes it.

        Raises:
            MissingExtraError: A package that the engine needs is not installed.
            UsageError: The cluster cannot be reached.
        """
        jobs = self.jobs or os.cpu_count() or 1
        if self.name not in (None, "here", "processes"):
            return cast(Engine, ENGINES.make(str(self.name), self))
        if cells is not None:
            jobs = min(jobs, max(cells, 1))
        name = self.name or ("here" if jobs == 1 else "processes")
        return cast(Engine, ENGINES.make(name, EngineChoice(name, jobs, None, self.start)))


def here(choice: EngineChoice) -> Engine:
    del choice
    return InProcessEngine()


def processes(choice: EngineChoice) -> Engine:
    from hvr.base.engines.workers import ProcessEngine

    return ProcessEngine(choice.jobs, choice.start)


def ray(choice: EngineChoice) -> Engine:
    from hvr.base.engines.workers import RayEngine

    return RayEngine(choice.address, choice.jobs if choice.jobs > 1 else None, choice.start)

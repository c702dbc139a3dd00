"""Engines run cells of work: in this process, in worker processes or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import IO, Any, Generic, Protocol, TypeVar, cast

from hvr.base.files import temporary_folder
from hvr.base.processes import leave_interrupts_to_parent, starting
from hvr.base.registry import Registry, load
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
        """Return the engine; the caller closes it.

        Args:
            cells: Number of cells, if known; no more processes are started.

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
    from hvr.base.engines.registry import ProcessEngine

    return ProcessEngine(choice.jobs, choice.start)


def ray(choice: EngineChoice) -> Engine:
    from hvr.base.engines.registry import RayEngine

    return RayEngine(choice.address, choice.jobs if choice.jobs > 1 else None, choice.start)


# Processes ----------------------------------------------------------------------------------------


_WATCH_SECONDS = 0.3


class ProcessEngine:
    """Runs cells in worker processes, which call `start` first and end with this process."""

    def __init__(self, width: int, start: Callable[[], None] | None = None) -> None:
        self.width = width
        self._start = start
        # Spawned, since forking a process with threads is not safe.
        self._context = multiprocessing.get_context("spawn")
        self._alive, self._stop = self._context.Pipe(duplex=False)
        self._pool: ProcessPoolExecutor | None = None
        self._folder = ExitStack()
        self._temporary = ""

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        pool = Pool(partial(self._submit, function), _first_done, partial(self._value, function))
        try:
            yield from drive(pool, cells, self.width, ordered=ordered)
        except BaseException:
            # Running cells may take hours, and their results are no longer needed.
            self._stop.close()
            self.close()
            self._alive.close()
            self._alive, self._stop = self._context.Pipe(duplex=False)
            raise

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
        self._folder.close()
        self._temporary = ""

    def _submit(self, function: Callable[[Any], Any], cell: Any) -> Future[Any]:
        for _ in range(MAX_ATTEMPTS):
            self._pool = self._pool or self._new(self.width)
            try:
                with starting():
                    return self._pool.submit(function, cell)
            except BrokenProcessPool:
                # A process died between cells; the futures of its cells report this.
                self._pool.shutdown(wait=True)
                self._pool = None
            except OSError as error:
                # Running cells finish; a later cell may find more memory.
                self._pool.shutdown(wait=False)
                self._pool = None
                raise LostCellError(f"cannot start a process: {error}") from error
        raise LostCellError("each new process dies immediately (out of memory?)")

    def _value(self, function: Callable[[Any], Any], handle: Future[Any], cell: Any) -> Any:
        with suppress(BrokenProcessPool):
            return handle.result()
        # All processes of a pool end when one dies. Only a second run, alone, shows which cell is
        # at fault.
        for _ in range(MAX_ATTEMPTS - 1):
            with self._new(1) as alone:
                try:
                    with starting():
                        future = alone.submit(function, cell)
                except OSError as error:
                    raise LostCellError(f"cannot start a process: {error}") from error
                try:
                    return future.result()
                except BrokenProcessPool:
                    continue
        raise LostCellError("a worker process died (out of memory?)")

    def _new(self, width: int) -> ProcessPoolExecutor:
        if not self._temporary:
            self._temporary = self._folder.enter_context(temporary_folder("hvr-work-"))
        arguments = (self._alive, os.getpid(), self._temporary, self._start)
        return ProcessPoolExecutor(width, self._context, _begin, arguments)


def _first_done(handles: list[Future[Any]]) -> Iterable[Future[Any]]:
    return wait(handles, return_when=FIRST_COMPLETED).done


def _begin(
    alive: Connection, parent: int, temporary: str, start: Callable[[], None] | None
) -> None:
    leave_interrupts_to_parent()
    # A process that is ended leaves its temporary files.
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None
    if start is not None:
        start()

    def watch() -> None:
        # A cell may wait minutes for a model, and a killed parent cannot send anything. A forked
        # worker inherits the other end of the pipe, so also check the parent's process id.
        while not alive.poll(_WATCH_SECONDS) and os.getppid() == parent:
            pass
        shutil.rmtree(temporary, ignore_errors=True)  # a killed parent cannot
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# On ray -------------------------------------------------------------------------------------------

_CELLS_A_PROCESSOR = 2
"""One runs and one is in transit, so that no processor waits for the driver."""
_KNOCK_SECONDS = 10.0


class _WithoutRay:
    """Standard output that redirects the output of Ray's own threads to standard error.

    Ray prints the last log lines of a dead node, which cannot be turned off and would corrupt a
    document on standard output.
    """

    def __init__(self, stdout: IO[str]) -> None:
        self.stdout = stdout

    def __getattr__(self, name: str) -> Any:
        by_ray = threading.current_thread().name.startswith("ray_")
        return getattr(sys.stderr if by_ray else self.stdout, name)


class RayEngine:
    """Runs cells as Ray tasks, each on one processor of the cluster.

    Ray restarts a task elsewhere if its process or machine dies.

    Args:
        address: Address of a cluster, `auto` or `ray://HOST:10001`. The default is RAY_ADDRESS,
            else a cluster on this machine, else a new cluster.
        width: Maximum number of concurrent cells, by default twice the number of processors that
            the cluster has at the start.
        start: Module-level function that each process calls first.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: No cluster answers at the address.
    """

    def __init__(
        self,
        address: str | None = None,
        width: int | None = None,
        start: Callable[[], None] | None = None,
    ) -> None:
        self._ray = load("ray", "ray", "ray")
        # Silence Ray's warning about a future change for machines without accelerators.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ours = not self._ray.is_initialized()
        self._spared = _WithoutRay(sys.stdout)
        sys.stdout = self._spared
        try:
            if self._ours:
                self._connect(address)
        except BaseException:
            self._give_stdout_back()
            raise
        processors = int(self._ray.cluster_resources().get("CPU", 1))
        self.width = width or _CELLS_A_PROCESSOR * max(1, processors)
        self._start = start
        self._task = self._ray.remote(num_cpus=1, max_retries=MAX_ATTEMPTS - 1)(_done)

    def _connect(self, address: str | None) -> None:
        import logging

        try:
            _knock(address)
            self._ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                include_dashboard=False if address is None else None,
                configure_logging=False,
            )
        except (OSError, ValueError, RuntimeError) as error:
            where = address or "this machine"
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise UsageError(
                f"cannot use a Ray cluster at {where}: {first}; start one with "
                "`ray start --head`, or omit the address",
                field="address",
            ) from error

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        pool = Pool(
            lambda cell: self._task.remote(function, cell, self._start), self._ready, self._value
        )
        yield from drive(pool, cells, self.width, ordered=ordered)

    def close(self) -> None:
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()
        self._give_stdout_back()

    def _give_stdout_back(self) -> None:
        if sys.stdout is self._spared:
            sys.stdout = self._spared.stdout

    def _ready(self, references: list[Any]) -> list[Any]:
        # Fetch results only in `_value`: Ray can recompute one whose machine has died.
        done, _ = self._ray.wait(references, num_returns=1, fetch_local=False)
        return list(done)

    def _value(self, reference: Any, _: Any) -> Any:
        errors = self._ray.exceptions
        lost = (
            errors.WorkerCrashedError,
            errors.OutOfMemoryError,
            errors.NodeDiedError,
            errors.ObjectLostError,
        )
        try:
            return self._ray.get(reference)
        except lost as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise LostCellError(f"a worker process died ({first})") from error
        except errors.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None


def _knock(address: str | None) -> None:
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()


def _done(function: Callable[[Any], Any], cell: Any, start: Callable[[], None] | None) -> Any:
    if start is not None:
        _begun(start)
    return function(cell)


@cache
def _begun(start: Callable[[], None]) -> None:
    start()

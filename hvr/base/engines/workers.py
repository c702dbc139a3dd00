"""Engines with worker processes, on this machine or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import IO, Any, TypeVar

from hvr.base.engines.registry import MAX_ATTEMPTS, DoneCell, LostCellError, Pool, drive
from hvr.base.files import temporary_folder
from hvr.base.processes import leave_interrupts_to_parent, starting
from hvr.base.registry import load
from hvr.errors import UsageError

# Processes ----------------------------------------------------------------------------------------

C = TypeVar("C")
R = TypeVar("R")


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

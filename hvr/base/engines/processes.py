"""The engine with processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from hvr.base.engines.contract import TRIES, DoneCell, LostCellError, drive
from hvr.base.processes import leave_interrupts_to_parent, starting

C = TypeVar("C")
R = TypeVar("R")

_WATCH_SECONDS = 0.3


class Processes:
    """Does cells in processes that end with this one.

    Args:
        width: how many.
        start: called first in each process; a function of a module.
    """

    def __init__(self, width: int, start: Callable[[], None] | None = None) -> None:
        self.width = width
        self._start = start
        # A fresh interpreter for each worker: forking a process with threads is not safe.
        self._context = multiprocessing.get_context("spawn")
        self._alive, self._stop = self._context.Pipe(duplex=False)
        self._pool: ProcessPoolExecutor | None = None

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """See `Engine.run`."""
        try:
            yield from drive(_Work(self, function), cells, self.width, ordered=ordered)
        except BaseException:
            # What is under way may take hours, and nobody waits for it any more.
            self._stop.close()
            self.close()
            self._alive.close()
            self._alive, self._stop = self._context.Pipe(duplex=False)
            raise

    def close(self) -> None:
        """See `Engine.close`."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None

    def submit(self, function: Callable[[Any], Any], cell: Any) -> Future[Any]:
        """Begin a cell.

        Raises:
            LostCellError: no process can be started, or each new one dies at once.
        """
        for _ in range(TRIES):
            self._pool = self._pool or self._new(self.width)
            try:
                with starting():
                    return self._pool.submit(function, cell)
            except BrokenProcessPool:
                # A process died while nobody was looking; what it was at is noticed by its future.
                self._pool.shutdown(wait=True)
                self._pool = None
            except OSError as error:
                # What the others are at is finished; the next cell may find more room.
                self._pool.shutdown(wait=False)
                self._pool = None
                raise LostCellError(f"no process can be started: {error}") from error
        raise LostCellError("each new process dies at once (out of memory?)")

    def again(self, function: Callable[[Any], Any], cell: Any) -> Any:
        """Do a cell in a process of its own, after one died that may have been at it.

        All processes of a pool end with one of them, so which cell was to blame shows only now.

        Raises:
            LostCellError: this process died, too.
        """
        for _ in range(TRIES - 1):
            with self._new(1) as alone:
                try:
                    with starting():
                        future = alone.submit(function, cell)
                except OSError as error:
                    raise LostCellError(f"no process can be started: {error}") from error
                try:
                    return future.result()
                except BrokenProcessPool:
                    continue
        raise LostCellError("a worker process died (out of memory?)")

    def _new(self, width: int) -> ProcessPoolExecutor:
        given = (self._alive, os.getpid(), self._start)
        return ProcessPoolExecutor(width, self._context, _begin, given)


class _Work:
    """One function in the processes of an engine."""

    def __init__(self, engine: Processes, function: Callable[[Any], Any]) -> None:
        self._engine = engine
        self._function = function

    def submit(self, cell: Any) -> Future[Any]:
        return self._engine.submit(self._function, cell)

    def wait(self, handles: list[Future[Any]]) -> list[Future[Any]]:
        return list(wait(handles, return_when=FIRST_COMPLETED).done)

    def value(self, handle: Future[Any], cell: Any) -> Any:
        try:
            return handle.result()
        except BrokenProcessPool:
            return self._engine.again(self._function, cell)


def _begin(alive: Connection, parent: int, start: Callable[[], None] | None) -> None:
    """In a worker: leave Ctrl-C to the parent, and end when it says so or is gone.

    Args:
        alive: a pipe whose other end the parent has, and closes; unlike with an event, it need not
            wait for those that hear of it, which may be dead.
        parent: number of its process.
        start: called first.
    """
    leave_interrupts_to_parent()
    if start is not None:
        start()

    def watch() -> None:
        # A cell may wait minutes for a model, and a killed parent cannot say anything; where a
        # process was forked from it, that has the other end of the pipe, too.
        while not alive.poll(_WATCH_SECONDS) and os.getppid() == parent:
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

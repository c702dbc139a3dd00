"""The engine on a Ray cluster: of this machine, or one that runs elsewhere."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from functools import cache
from typing import IO, Any, TypeVar

from hvr.base.engines.contract import TRIES, DoneCell, LostCellError, drive
from hvr.base.extras import load
from hvr.errors import UsageError

C = TypeVar("C")
R = TypeVar("R")

_CELLS_A_PROCESSOR = 2
"""One is at work and one is on its way, so that no processor waits for the driver."""
_KNOCK_SECONDS = 10.0


class _WithoutRay:
    """Standard output, but for what Ray's own threads print: that goes to standard error.

    Ray prints the last lines of a dead node's log, and has no option that keeps them out of a
    document on standard output.

    Args:
        stdout: The stream that stands for standard output.
    """

    def __init__(self, stdout: IO[str]) -> None:
        self.stdout = stdout

    def __getattr__(self, name: str) -> Any:
        by_ray = threading.current_thread().name.startswith("ray_")
        return getattr(sys.stderr if by_ray else self.stdout, name)


class OnRay:
    """Does cells as Ray tasks, each on one processor of the cluster.

    Ray begins a task again, elsewhere, whose process or machine died.

    Args:
        address: of a cluster, `auto` or `ray://HOST:10001`; None for the one of RAY_ADDRESS, else
            one that runs on this machine, else a new one.
        width: most cells under way; None for twice the processors of the cluster at the start.
        start: called first in each process; a function of a module.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: there is no cluster at the address.
    """

    def __init__(
        self,
        address: str | None = None,
        width: int | None = None,
        start: Callable[[], None] | None = None,
    ) -> None:
        self._ray = load("ray", "ray", "ray")
        # Ray warns of a change to come in what it does with devices of which there are none here.
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
        self._task = self._ray.remote(num_cpus=1, max_retries=TRIES - 1)(_done)

    def _connect(self, address: str | None) -> None:
        import logging

        try:
            _knock(address)
            self._ray.init(
                address=address, log_to_driver=False, logging_level=logging.ERROR,
                include_dashboard=False if address is None else None, configure_logging=False,
            )  # fmt: skip
        except (OSError, ValueError, RuntimeError) as error:
            where = address or "this machine"
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise UsageError(
                f"no Ray cluster can be used at {where}: {first}; start one with "
                "`ray start --head`, or leave the address out",
                field="address",
            ) from error

    def run(
        self, function: Callable[[C], R], cells: Iterable[C], *, ordered: bool = False
    ) -> Generator[DoneCell[R], None, None]:
        """See `Engine.run`."""
        yield from drive(_Work(self, function), cells, self.width, ordered=ordered)

    def close(self) -> None:
        """See `Engine.close`."""
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()
        self._give_stdout_back()

    def _give_stdout_back(self) -> None:
        if sys.stdout is self._spared:
            sys.stdout = self._spared.stdout

    def submit(self, function: Callable[[Any], Any], cell: Any) -> Any:
        """Begin a cell; return the reference to its result."""
        return self._task.remote(function, cell, self._start)

    def ready(self, references: list[Any]) -> list[Any]:
        """Return references to results that are there, at least one."""
        # Results stay where they are until `value`: a result of a dead machine is made again.
        done, _ = self._ray.wait(references, num_returns=1, fetch_local=False)
        return list(done)

    def value(self, reference: Any) -> Any:
        """Return a result.

        Raises:
            LostCellError: the processes died that were at work on it.
        """
        errors = self._ray.exceptions
        lost = (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError,
                errors.ObjectLostError)  # fmt: skip
        try:
            return self._ray.get(reference)
        except lost as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise LostCellError(f"a worker process died ({first})") from error
        except errors.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None


def _knock(address: str | None) -> None:
    """Find out whether anybody is at an address: Ray itself takes minutes to give up.

    Raises:
        OSError: nobody is.
        ValueError: it is no address.
    """
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()


class _Work:
    """One function as tasks of a cluster."""

    def __init__(self, engine: OnRay, function: Callable[[Any], Any]) -> None:
        self._engine = engine
        self._function = function

    def submit(self, cell: Any) -> Any:
        return self._engine.submit(self._function, cell)

    def wait(self, handles: list[Any]) -> list[Any]:
        return self._engine.ready(handles)

    def value(self, handle: Any, cell: Any) -> Any:
        del cell
        return self._engine.value(handle)


def _done(function: Callable[[Any], Any], cell: Any, start: Callable[[], None] | None) -> Any:
    """In a worker of the cluster: do a cell."""
    if start is not None:
        _begun(start)
    return function(cell)


@cache
def _begun(start: Callable[[], None]) -> None:
    """Call a start once: Ray uses a process for many tasks."""
    start()

"""Child processes that end with hvr, however hvr ends.

`hvr/base/supervisor.py` starts the programs and also ends their descendants.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hvr.base import supervisor
from hvr.base.files import temporary_pattern

OUT_OF_MEMORY = supervisor.OUT_OF_MEMORY

_SIGHUP = getattr(signal, "SIGHUP", signal.SIGINT)  # not on Windows
_SIGNALS = (signal.SIGINT, signal.SIGTERM, _SIGHUP)
_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_CAN_SUPERVISE = hasattr(os, "fork")
_END_SECONDS = 10.0


def supervised(command: Sequence[str], *, memory: int = 0) -> list[str]:
    """Return a command line that runs a program and ends it, and its descendants, with hvr.

    `memory` limits the bytes that the program and its descendants may use together; 0 sets no
    limit. On Windows, the command is returned unchanged.
    """
    if not _CAN_SUPERVISE:
        return list(command)
    limits = [str(os.getpid()), str(memory), temporary_pattern()]
    return [sys.executable, "-I", "-S", supervisor.__file__, *limits, *command]


class ProcessTree:
    """A running program; leaving its context ends it and its descendants.

    Args:
        folder: Existing working folder, also used for the program's temporary files.
        stdin: File for the program's standard input, by default empty.
        memory: Bytes that the program and its descendants may use together; 0 sets no limit.

    Raises:
        OSError: The program cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        log: IO[bytes],
        *,
        stdin: IO[bytes] | None = None,
        memory: int = 0,
    ) -> None:
        with starting():
            self._process = subprocess.Popen(
                supervised(command, memory=memory),
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder.resolve())},
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> ProcessTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def code(self) -> int | None:
        """Exit code (128 + N if signal N ended the program), or None while the program runs."""
        return self._process.poll()

    def cpu_seconds(self) -> float:
        """Return the CPU time of the running processes in seconds, or 0 if unknown."""
        ticks = 0
        for pid in supervisor.descendants(self._process.pid):
            with suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
                # The program's name, in parentheses, may contain blanks.
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0

    def pause(self) -> bool:
        return self._signal("SIGSTOP")

    def resume(self) -> None:
        self._signal("SIGCONT")

    def _signal(self, name: str) -> bool:
        number = getattr(signal, name, None)
        if number is None:  # on Windows
            return False
        known: set[int] = set()
        # Repeat until no process was started in between.
        while new := set(supervisor.descendants(self._process.pid)) - known:
            known |= new
            for pid in new:
                with suppress(OSError):
                    os.kill(pid, number)
        return True

    def end(self) -> None:
        end(self._process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that runs a `supervised` command line, with its descendants."""
    if _CAN_SUPERVISE:
        process.terminate()
    else:
        with suppress(OSError):
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False
            )
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def starting() -> Iterator[None]:
    """Defer signals that end hvr while a worker process is created.

    Otherwise, a signal could orphan the process, or reach it before it has set its handlers and
    make it print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # only it receives signals
        yield
        return
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in _SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    # Worker processes inherit the mask. It does not protect this process: the system may deliver
    # the signal to any thread, and Python then handles it here.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if _HAS_MASKS else set()
    try:
        yield
    finally:
        if _HAS_MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


def leave_interrupts_to_parent() -> None:
    """Ignore SIGINT and SIGHUP in a worker, because the parent handles them; SIGTERM ends it."""
    for number in (signal.SIGINT, _SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

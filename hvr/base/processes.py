"""Processes that work for this one and end with it, however it ends.

A program is started through `hvr/base/supervisor.py`, which ends it with everything that it has
started.
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
"""Exit code of a program that used more memory than it may."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_CAN_SUPERVISE = hasattr(os, "fork")
_END_SECONDS = 10.0


def supervised(command: Sequence[str], *, memory: int = 0) -> list[str]:
    """Return the command line that runs a program and ends it, and all it starts, with hvr.

    Args:
        command: The program and its arguments.
        memory: Bytes that the program and its descendants may use together; 0 sets no limit.

    Returns:
        The command line; on Windows the command itself.
    """
    if not _CAN_SUPERVISE:
        return list(command)
    limits = [str(os.getpid()), str(memory), temporary_pattern()]
    return [sys.executable, "-I", "-S", supervisor.__file__, *limits, *command]


class ProcessTree:
    """A running program; leaving its context ends it and everything that it has started.

    Args:
        command: The program and its arguments.
        folder: Existing folder that the program works in and puts its temporary files into.
        log: File that receives its output.
        stdin: File that it reads from standard input; an empty one if None.
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
        """The exit code; None while the program runs, 128 + N if signal N ended it."""
        return self._process.poll()

    def cpu_seconds(self) -> float:
        """Return the processor time that the running processes have used; 0 if unknown."""
        ticks = 0
        for pid in supervisor.descendants(self._process.pid):
            with suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
                # The program's name, in brackets, may contain blanks.
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0

    def pause(self) -> bool:
        """Stop the program and everything that it has started; return whether that is possible."""
        return self._signal("SIGSTOP")

    def resume(self) -> None:
        """Let a paused program go on."""
        self._signal("SIGCONT")

    def _signal(self, name: str) -> bool:
        number = getattr(signal, name, None)
        if number is None:  # on Windows
            return False
        known: set[int] = set()
        # Again, until no process has been started in between.
        while new := set(supervisor.descendants(self._process.pid)) - known:
            known |= new
            for pid in new:
                with suppress(OSError):
                    os.kill(pid, number)
        return True

    def end(self) -> None:
        """End the program and everything that it has started."""
        end(self._process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process whose command line `supervised` made, with everything it has started."""
    if _CAN_SUPERVISE:
        process.terminate()
    else:
        with suppress(OSError):
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(process.pid)],
                capture_output=True,
                check=False,
            )
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def starting() -> Iterator[None]:
    """Hold back Ctrl-C and `kill` while a worker is made.

    A signal in between would leave a process that nothing refers to, or reach a worker that has
    not yet set its handlers and would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # only it receives signals
        yield
        return
    heard: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: heard.append(number))
        for number in _SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    # The worker inherits the mask. For this process a mask is not enough: the system
    # may deliver the signal to any thread, and Python then handles it here.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if _HAS_MASKS else set()
    try:
        yield
    finally:
        if _HAS_MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])


def leave_interrupts_to_parent() -> None:
    """Ignore Ctrl-C in a worker: a terminal sends it to all processes, and the parent answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

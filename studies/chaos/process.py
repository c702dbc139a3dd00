"""Processes: started with odd surroundings, watched, killed, and what they ended with."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_MOST_READ = 4_000_000
_GONE_SECONDS = 10.0


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Args:
        code: its exit code; 128 and the number of the signal that ended it.
        out: what it wrote to standard output.
        err: the same of standard error.
        seconds: wall time.
        peak: Bytes of memory that it or a process it waited for used at most; 0 if that is no
            more than this process has used, and so cannot be told.
        late: it had to be ended because its time was over.
    """

    code: int
    out: bytes
    err: bytes
    seconds: float
    peak: int
    late: bool

    @property
    def said(self) -> str:
        """All that it wrote, as text."""
        return (self.out + b"\n" + self.err).decode("utf-8", "replace")

    @property
    def last(self) -> str:
        """The last line that is not empty of standard error, or of standard output."""
        for stream in (self.err, self.out):
            lines = stream.decode("utf-8", "replace").strip().splitlines()
            if lines:
                return lines[-1][:300]
        return "(nothing was said)"


@dataclass(frozen=True)
class Surroundings:
    """What a process meets.

    Args:
        cwd: its working folder.
        env: its whole environment.
        bound: seconds after which it is ended.
        prefix: a command that starts it, such as `nice`.
        stdin: what it reads.
        stdout: where its output goes instead of a file that is read afterwards.
        stderr: the same for standard error.
    """

    cwd: Path
    env: Mapping[str, str]
    bound: float = 90.0
    prefix: tuple[str, ...] = ()
    stdin: int = subprocess.DEVNULL
    stdout: int | None = None
    stderr: int | None = None


@dataclass
class Process:
    """A process under way, the first of a group of its own.

    Args:
        popen: the process.
        out, err: files with what it writes.
        bound: seconds after which it is ended.
    """

    popen: subprocess.Popen[bytes]
    out: Path
    err: Path
    bound: float
    started: float = field(default_factory=time.monotonic)
    _ended: Ended | None = None

    @classmethod
    def start(cls, words: Sequence[str], how: Surroundings, place: Path) -> Process:
        """Start a process.

        Args:
            words: the command.
            how: what it meets.
            place: name of the files for what it writes, to which `.out` and `.err` are added.
        """
        out, err = place.with_suffix(".out"), place.with_suffix(".err")
        with out.open("wb") as first, err.open("wb") as second:
            popen = subprocess.Popen(
                [*how.prefix, *words],
                cwd=how.cwd,
                env=dict(how.env),
                stdin=how.stdin,
                stdout=_target(how.stdout, first),
                stderr=_target(how.stderr, second),
                start_new_session=True,
            )
        return cls(popen, out, err, how.bound)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        if self._ended is not None:
            return False
        # Without reaping it: what it used is asked for in `wait`.
        info = os.waitid(os.P_PID, self.popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return info is None

    def send(self, number: int, *, to_group: bool = False) -> None:
        """Send a signal to the process, or to all of its group."""
        if self._ended is None:
            (os.killpg if to_group else os.kill)(self.popen.pid, number)

    def wait(self) -> Ended:
        """Wait until it ends, or end it when its time is over."""
        if self._ended is not None:
            return self._ended
        late = threading.Event()

        def end() -> None:
            late.set()
            os.killpg(self.popen.pid, signal.SIGKILL)

        timer = threading.Timer(max(0.0, self.started + self.bound - time.monotonic()), end)
        timer.start()
        _, status, used = os.wait4(self.popen.pid, 0)
        timer.cancel()
        code = os.waitstatus_to_exitcode(status)
        self.popen.returncode = code
        seconds = time.monotonic() - self.started
        # A child starts with the memory of its parent, which counts in its maximum: what is no
        # more than the parent's is not its own.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = used.ru_maxrss if used.ru_maxrss > own else 0
        self._ended = Ended(
            code=code if code >= 0 else 128 - code,
            out=_read(self.out),
            err=_read(self.err),
            seconds=seconds,
            peak=peak * 1024,
            late=late.is_set(),
        )
        return self._ended

    def survivors(self) -> list[int]:
        """Return those of its group that are still there after some seconds; they are ended."""
        limit = time.monotonic() + _GONE_SECONDS
        while (left := _group(self.popen.pid)) and time.monotonic() < limit:
            time.sleep(0.05)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return left


def _target(given: int | None, usual: IO[bytes]) -> int | IO[bytes]:
    return usual if given is None else given


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_READ)


def _group(leader: int) -> list[int]:
    """Return the processes of a group that live."""
    members = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # The name in parentheses may have spaces; after it come the state, parent and group.
        parts = re.sub(r"^.*\) ", "", text, flags=re.DOTALL).split()
        if parts[0] not in "ZX" and int(parts[2]) == leader:
            members.append(int(entry.name))
    return members

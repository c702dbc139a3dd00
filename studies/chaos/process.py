"""Start processes in unusual surroundings, watch and kill them, and collect their results."""

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
    """The result of a process.

    Args:
        code: Exit code; 128 plus the signal's number after a signal.
        peak: Peak memory of the process and its children in bytes; 0 if unknown, because it does
            not exceed this process's own peak.
        late: Whether the process was killed at its time limit.
    """

    code: int
    out: bytes
    err: bytes
    seconds: float
    peak: int
    late: bool

    @property
    def output(self) -> str:
        return (self.out + b"\n" + self.err).decode("utf-8", "replace")

    @property
    def last(self) -> str:
        """The last non-empty line of standard error; if there is none, of standard output."""
        for stream in (self.err, self.out):
            lines = stream.decode("utf-8", "replace").strip().splitlines()
            if lines:
                return lines[-1][:300]
        return "(no output)"


@dataclass(frozen=True)
class Surroundings:
    """The environment in which a process runs.

    Args:
        bound: Time limit in seconds.
        prefix: Command that starts the process, such as `nice`.
        stdout: Target of standard output instead of a file.
        stderr: Target of standard error instead of a file.
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
    """A running process that leads its own process group.

    Args:
        out, err: Files with its standard output and standard error.
        bound: Time limit in seconds.
    """

    popen: subprocess.Popen[bytes]
    out: Path
    err: Path
    bound: float
    started: float = field(default_factory=time.monotonic)
    _ended: Ended | None = None

    @classmethod
    def start(cls, words: Sequence[str], how: Surroundings, place: Path) -> Process:
        """Start a process whose output goes to the files `place`.out and `place`.err."""
        out, err = place.with_suffix(".out"), place.with_suffix(".err")
        with out.open("wb") as first, err.open("wb") as second:
            popen = subprocess.Popen(
                [*how.prefix, *words],
                cwd=how.cwd,
                env=dict(how.env),
                stdin=how.stdin,
                stdout=_target(how.stdout, first),
                stderr=_target(how.stderr, second),
                # A process group allows killing and finding all children.
                start_new_session=True,
            )
        return cls(popen, out, err, how.bound)

    @property
    def running(self) -> bool:
        if self._ended is not None:
            return False
        # Do not reap the process here: `wait` reads its resource usage.
        info = os.waitid(os.P_PID, self.popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return info is None

    def send(self, number: int, *, to_group: bool = False) -> None:
        if self._ended is None:
            (os.killpg if to_group else os.kill)(self.popen.pid, number)

    def wait(self) -> Ended:
        """Wait for the process; kill it at its time limit."""
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
        # A child starts with its parent's memory, which counts towards its peak: a peak no higher
        # than the parent's says nothing about the child.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = used.ru_maxrss if used.ru_maxrss > own else 0
        self._ended = Ended(
            # Use the shell's convention for signals: 128 plus their number.
            code=code if code >= 0 else 128 - code,
            out=_read(self.out),
            err=_read(self.err),
            seconds=seconds,
            peak=peak * 1024,
            late=late.is_set(),
        )
        return self._ended

    def survivors(self) -> list[int]:
        """Kill the members of the group that live on for some seconds; return their ids."""
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
    members = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # The name in parentheses may contain spaces; state, parent and group follow it.
        parts = re.sub(r"^.*\) ", "", text, flags=re.DOTALL).split()
        if parts[0] not in "ZX" and int(parts[2]) == leader:
            members.append(int(entry.name))
    return members

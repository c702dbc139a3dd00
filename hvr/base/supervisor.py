"""Run a program, and end it and its descendants when it or hvr ends.

    python -I -S supervisor.py PARENT MEMORY TEMPORARY COMMAND...

PARENT is the process id of hvr; MEMORY is the limit in bytes for the program and its descendants
together (0: no limit); TEMPORARY is a glob pattern of folders to remove if PARENT dies without
doing so (empty: none). The exit code is the program's, 128 plus the number of the signal that ended
it, or `OUT_OF_MEMORY`.

This script runs on POSIX systems only. It imports nothing from hvr, so that it starts in
milliseconds. On Linux it adopts orphans, so programs cannot leave detached processes behind.
Elsewhere a process that has already left its parent is not found.
"""

import os
import select
import signal
import sys
from contextlib import suppress

OUT_OF_MEMORY = 22
"""Fast Downward's exit code for running out of memory."""

_CANNOT_START = 127
_TICK_SECONDS = 0.2
_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36


def main(arguments: list[str]) -> int:
    parent, memory, temporary, *command = arguments
    woken = _wake_on_signals()
    _prctl(_SET_CHILD_SUBREAPER, 1)
    child = _start(command)
    code = None
    while code is None:
        select.select([woken], [], [], _TICK_SECONDS)
        numbers = _drain(woken)
        code = _reap(child)
        if signal.SIGTERM in numbers or os.getppid() != int(parent):
            code = 128 + signal.SIGTERM
        elif code is None and int(memory) and _used(os.getpid()) > int(memory):
            code = OUT_OF_MEMORY
    _end_descendants(child)
    if temporary and os.getppid() != int(parent):
        _remove(temporary)
    return code


def descendants(root: int) -> list[int]:
    """Return the process ids of all descendants, parents first."""
    found = [root]
    for pid in found:
        found += _children(pid)
    return found[1:]


def _children(pid: int) -> list[int]:
    if not os.path.isdir("/proc/self/task"):
        return _children_from_ps(pid)
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                children += map(int, file.read().split())
    return children


def _children_from_ps(parent: int) -> list[int]:
    import subprocess

    listed = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,comm="], capture_output=True, text=True, check=False
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == parent and "ps" not in row[2:]]


def _wake_on_signals() -> int:
    """Return a file descriptor that becomes readable on SIGCHLD or SIGTERM."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # hvr handles Ctrl-C and ends its programs
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    # The parent may have blocked signals while starting this process; masks are inherited.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    return read


def _drain(woken: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(woken, 4096)
    return b""


def _prctl(option: int, argument: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def _start(command: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr, flush=True)
    finally:
        os._exit(_CANNOT_START)


def _reap(child: int) -> int | None:
    code = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                code = 128 - code if code < 0 else code
    return code


def _used(root: int) -> int:
    pages = 0
    for pid in descendants(root):
        with suppress(OSError), open(f"/proc/{pid}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _end_descendants(child: int) -> None:
    # This process adopts orphans of killed processes, so the loop ends only when none is left.
    while True:
        for pid in descendants(os.getpid()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _remove(pattern: str) -> None:
    import glob
    import shutil

    for folder in glob.glob(pattern):
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Ends of writing at every moment: each step on the disk is, in turn, the last one, or fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_STEPS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"))


class _Hook:
    """Counts steps in a folder, and does something at one of them.

    There is one for the process, as Python's audit hooks stay for ever.
    """

    folder = ""
    left = -1
    act: Callable[[str], None]

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.left < 0 or event not in _STEPS:
            return
        if not str(args[0]).startswith(self.folder) or (event == "open" and _only_reads(args)):
            return
        if self.left == 0:
            self.act(event)
        else:
            self.left -= 1


def _only_reads(args: tuple[object, ...]) -> bool:
    flags = args[2]
    return isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR)


_hook: list[_Hook] = []


def _installed() -> _Hook:
    if not _hook:
        _hook.append(_Hook())
        sys.addaudithook(_hook[0])
    return _hook[0]


def kills(folder: Path, write: Callable[[], object]) -> Iterator[int]:
    """Let processes write into a folder, and end the n-th just before its n-th step.

    Yields:
        n, after each has ended; the last one has gone to its end.
    """
    number, done = 0, False
    while not done:
        child = os.fork()
        if child == 0:
            hook = _installed()
            hook.folder, hook.left, hook.act = str(folder), number, _end
            try:
                write()
            except BaseException:
                os._exit(1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9), "writing failed"
        done = code == 0
        yield number
        number += 1


def failures(folder: Path, write: Callable[[], object]) -> Iterator[Exception | None]:
    """Write into a folder again and again; the n-th time the disk is full from the n-th step on.

    Yields:
        What writing raised; None where it went through.
    """
    hook = _installed()
    number = 0
    while True:
        hook.folder, hook.left, hook.act = str(folder), number, _fail
        error: Exception | None = None
        try:
            write()
        except Exception as raised:
            error = raised
        finally:
            reached, hook.left = hook.left == 0, -1
        yield error
        if not reached:
            assert error is None
            return
        number += 1


def _end(_: str) -> None:
    os._exit(9)


def _fail(event: str) -> None:
    if event not in ("os.remove", "os.rmdir"):  # for which a full disk has room
        raise OSError(28, "No space left on device")

"""Interruption of writes at every moment: each disk operation in turn is the last one, or fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_STEPS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"))


class _Hook:
    """Counts disk operations in a folder, and acts at one of them.

    There is one hook per process, because Python's audit hooks cannot be removed.
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
    """Run processes that write into a folder, and kill the n-th just before its n-th operation.

    Yields:
        n, after each process has ended; the last one ran to completion.
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
    """Write into a folder repeatedly; the n-th time, the disk is full from the n-th operation on.

    Yields:
        The exception of the write, or None if it succeeded.
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
    if event not in ("os.remove", "os.rmdir"):  # possible on a full disk
        raise OSError(28, "No space left on device")

"""Locks on files, and sets of files that are replaced in one step."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from hvr.base.files import unwritable, write_whole, writing
from hvr.errors import DataFileError

# Locks --------------------------------------------------------------------------------------------
# Locks on files, which end with their process, however it ends.
#
# Threads are kept apart like processes. Where a file system has no locks, whoever makes the file
# has the lock, and a process that is killed leaves it locked.

_GLANCES = 10
_GLANCE_SECONDS = 0.02
"""Whoever looks whether a lock is held has it for a moment; this much patience outlasts them."""

_HELD = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK})


class Lock:
    """A lock that is held."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the lock up, and remove its file. Idempotent."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if sys.platform != "win32":
            # While it is locked: nobody can take it for that of a process that was killed.
            self._remove()
        with suppress(OSError):
            # A forked process has the same file open; without this it would keep the lock.
            _unlock(descriptor)
        os.close(descriptor)
        if sys.platform == "win32":  # which removes no open file
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def try_lock(path: Path) -> Lock | None:
    """Return the lock of a file, which is made if there is none; None if somebody has it.

    Raises:
        OSError: the file cannot be made or opened.
    """
    for glance in range(_GLANCES):
        if glance:
            time.sleep(_GLANCE_SECONDS)
        lock = _try(path)
        if lock is not None:
            return lock
    return None


def is_locked(path: Path) -> bool:
    """Return whether somebody has the lock of a file; a file that is not there has none."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared: two who look do not see each other.
        free = _lock(descriptor, shared=True)
        if free:
            _unlock(descriptor)
        return not free
    finally:
        os.close(descriptor)


@contextmanager
def wait_for_lock(path: Path) -> Iterator[None]:
    """Wait for the lock of a file and hold it; the file stays.

    Raises:
        OSError: the file cannot be made, opened or locked.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait(descriptor)
        try:
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def exclusive_writer(path: Path) -> Iterator[None]:
    """Keep other processes and threads from writing a file, or what it leads to.

    The folder is made if it is missing.

    Raises:
        DataFileError: there can be no lock.
    """
    # Not the file itself: writing puts another file in its place, and a lock on the old one
    # would keep nobody out.
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as held:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(wait_for_lock(lock))
        except OSError as error:
            raise unwritable(lock, error, "cannot be locked") from error
        yield


def _try(path: Path) -> Lock | None:
    made = True
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        made = False
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:  # just released
            return None
    free = _lock(descriptor, made=made)
    # Whoever had the lock before may have removed the file: then this is one of no name.
    if free and _same(path, descriptor):
        return Lock(path, descriptor)
    os.close(descriptor)
    return None


def _same(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, shared: bool = False, made: bool = False) -> bool:
        del shared, made
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool = False, made: bool = False) -> bool:
        """Return whether the lock was free; it is then held."""
        try:
            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in _HELD and made
        return True

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# File sets ----------------------------------------------------------------------------------------
# Files that belong together, written so that they take effect in one step.
#
# One of them, the head, leads to the others by their names, which come from their contents. It is
# written last: until then whoever reads gets the earlier set, which is removed only afterwards.

_Read = TypeVar("_Read")

_DIGITS = 16
_DIGEST = "[0-9a-f]" * _DIGITS


def digest(data: bytes) -> str:
    """Return the SHA-256 digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def file_set_name(stem: str, digest: str, suffix: str = "") -> str:
    """Return the name of a file of a set: `model-0123456789abcdef.safetensors`."""
    return f"{stem}-{digest[:_DIGITS]}{suffix}"


def write_set(head: Path, content: str, parts: Mapping[str, bytes], stems: Iterable[str]) -> None:
    """Write a set of files in place of an earlier one: all of it takes effect, or nothing.

    Args:
        head: the file that leads to the others. Its folder is made if it is missing.
        content: of the head.
        parts: contents of the others by name, as `file_set_name` makes them; in folders, too.
        stems: of all names that parts may have; what earlier sets have left of these is removed.

    Raises:
        DataFileError: they cannot be written; the earlier set is as it was.
    """
    folder = head.parent
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with exclusive_writer(head):
        tops = {folder / Path(name).parts[0] for name in parts}
        new = [path for path in tops if not path.exists()]
        try:
            for name, data in parts.items():
                with writing(folder):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(folder / name, data)
            write_whole(head, content)
        except DataFileError:
            # The head is the earlier one, and leads to none of these.
            _remove(new)
            raise
        _remove(path for path in _left(head, stems) if path not in {head, *tops})


def read_set(head: Path, read: Callable[[], _Read]) -> _Read:
    """Read a set of files, and again if another has taken its place meanwhile.

    Args:
        head: the file that leads to the others.
        read: reads all of them.

    Raises:
        DataFileError: `read` raised it.
    """
    for _ in range(3):
        before = _known(head)
        try:
            return read()
        except DataFileError:
            if _known(head) == before:
                raise
    return read()


def _left(head: Path, stems: Iterable[str]) -> Iterator[Path]:
    for pattern in (*(f"{stem}-{_DIGEST}*" for stem in stems), head.name):
        yield from head.parent.glob(pattern)
        yield from head.parent.glob(f".{pattern}.*.part")


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _known(head: Path) -> bytes | None:
    try:
        return head.read_bytes()
    except OSError:
        return None

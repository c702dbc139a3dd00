"""File locks, and sets of files that are replaced atomically."""

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
# A lock ends with its process, however that ends. It also separates threads.
# On a file system without locks, the creator of the file holds the lock, and a killed process
# leaves it locked.

_GLANCES = 10
_GLANCE_SECONDS = 0.02
"""Retry period of `try_lock`; it outlasts the moment for which `is_locked` takes a lock."""

_HELD = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK})


class Lock:
    """A lock that is held."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Release the lock and remove its file. Idempotent."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if sys.platform != "win32":
            # Remove it while locked, or others could take it for the lock of a killed process.
            self._remove()
        with suppress(OSError):
            # Closing is not enough: a forked process shares the open file and would keep the lock.
            _unlock(descriptor)
        os.close(descriptor)
        if sys.platform == "win32":  # Windows cannot remove an open file
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def try_lock(path: Path) -> Lock | None:
    """Lock a file, which is created if missing; return None if another holder has it.

    Raises:
        OSError: The file cannot be created or opened.
    """
    for glance in range(_GLANCES):
        if glance:
            time.sleep(_GLANCE_SECONDS)
        lock = _try(path)
        if lock is not None:
            return lock
    return None


def is_locked(path: Path) -> bool:
    """Return whether a file exists and is locked."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # A shared lock, so that concurrent callers do not see each other.
        free = _lock(descriptor, shared=True)
        if free:
            _unlock(descriptor)
        return not free
    finally:
        os.close(descriptor)


@contextmanager
def wait_for_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, waiting for it if necessary; the file is kept.

    Raises:
        OSError: The file cannot be created, opened or locked.
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
    """Prevent other processes and threads from writing a file, or the file set it heads.

    A missing folder is created.

    Raises:
        DataFileError: The file cannot be locked.
    """
    # Lock another file: an atomic write replaces the target, and with it a lock on it.
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
        except FileNotFoundError:  # another holder released it just now
            return None
    free = _lock(descriptor, made=made)
    # The previous holder may have removed the file: then this descriptor is of an unlinked one.
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
        """Try to take the lock; return whether it was free."""
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
            # Without lock support, only the creator of the file holds the lock.
            return error.errno not in _HELD and made
        return True

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# File sets ----------------------------------------------------------------------------------------
# Files that belong together and are replaced atomically.
#
# The head refers to the others by names derived from their contents. It is written last: until then
# readers get the earlier set, which is removed only afterwards.

_Read = TypeVar("_Read")

_DIGITS = 16
_DIGEST = "[0-9a-f]" * _DIGITS


def digest(data: bytes) -> str:
    """Return the SHA-256 hex digest."""
    return hashlib.sha256(data).hexdigest()


def file_set_name(stem: str, digest: str, suffix: str = "") -> str:
    """Return the name of a file of a set, such as `model-0123456789abcdef.safetensors`."""
    return f"{stem}-{digest[:_DIGITS]}{suffix}"


def write_set(head: Path, content: str, parts: Mapping[str, bytes], stems: Iterable[str]) -> None:
    """Write a set of files, replacing an earlier one completely or not at all.

    Args:
        head: File that refers to the others; a missing folder is created.
        parts: Contents of the other files by relative path; names come from `file_set_name`.
        stems: Stems of all possible parts; files of earlier sets with these stems are removed.

    Raises:
        DataFileError: The set cannot be written; the earlier set is kept.
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
            # The head is still the earlier one and does not refer to the new parts.
            _remove(new)
            raise
        _remove(path for path in _left(head, stems) if path not in {head, *tops})


def read_set(head: Path, read: Callable[[], _Read]) -> _Read:
    """Read a set of files, retrying if it was replaced meanwhile."""
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

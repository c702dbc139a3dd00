"""The file in which a graph persists: its changes as an RDF patch, one transaction after another.

    H hvr "1" .
    TX .
    A <https://w3id.org/hvr/object/mug-1> <…#on> <https://w3id.org/hvr/object/plate-1> .
    D <https://w3id.org/hvr/object/mug-1> <…#in> <https://w3id.org/hvr/object/sink-1> .
    TC .

A transaction counts once its last line is written. A reader therefore always sees a consistent
state, even if the writing process dies. A store such as RocksDB gives the same guarantee, but its
threads do not survive a fork, and the child would wait for them forever.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Self

from hvr.base.files import try_lock, unwritable
from hvr.errors import StoreError

NAME = "graph.rdfp"

_HEAD = b'H hvr "1" .\n'
_BEGIN, _END = b"TX .\n", b"TC .\n"
_LOCK = ".lock"


def read_journal(folder: Path) -> bytes:
    """Return the quads of a folder's journal after its last complete transaction, as N-Quads.

    Raises:
        StoreError: The folder has no graph, or the journal is corrupt.
    """
    return _replay(folder, _read(folder))


class Journal:
    """The file of one graph, locked for writing.

    Create it with `create` or `resume`. Only the process that opened it may write. A forked process
    keeps its graph in memory and does not access the file.

    Raises:
        OSError: The file cannot be opened.
        StoreError: Another process has locked it.
    """

    def __init__(self, folder: Path, flags: int = 0) -> None:
        self._folder = folder
        self._owner = os.getpid()
        lock = try_lock(folder / _LOCK)
        if lock is None:
            raise StoreError(
                f"{folder}: the graph is in use by another process; "
                "wait for it to end, or open the graph read-only"
            )
        self._lock = lock
        try:
            self._file = FileIO(folder / NAME, "ab", opener=partial(_open, flags))
        except BaseException:
            lock.release()
            raise
        self._size = self._file.seek(0, os.SEEK_END)

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Start the journal of a new graph in an existing folder.

        Raises:
            OSError: The file cannot be created, or it exists.
            StoreError: The file cannot be written.
        """
        journal = cls(folder, os.O_EXCL)
        try:
            journal._write(_HEAD)
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def resume(cls, folder: Path) -> tuple[Self, bytes]:
        """Open the journal of a folder; return it and its quads as N-Quads.

        An incomplete transaction of a killed process is removed.

        Raises:
            StoreError: The graph is missing or corrupt, or another process writes to it.
        """
        _read(folder)  # fails if the file is missing; opening would create it
        try:
            journal = cls(folder)
        except OSError as error:
            raise unwritable(folder, error, kind=StoreError) from error
        try:
            data = _read(folder)
            quads = _replay(folder, data)
            journal._cut(_committed(data))
        except BaseException:
            journal.close()
            raise
        return journal, quads

    def append(self, added: Iterable[object], removed: Iterable[object] = ()) -> None:
        """Write one transaction: first the removed quads, then the added quads.

        Raises:
            StoreError: The file cannot be written; it stays unchanged.
        """
        lines = [*(f"D {q} .\n" for q in removed), *(f"A {q} .\n" for q in added)]
        if lines:
            self._write(_BEGIN + "".join(lines).encode() + _END)

    def close(self) -> None:
        self._file.close()
        if os.getpid() == self._owner:
            self._lock.release()

    def _write(self, data: bytes) -> None:
        if os.getpid() != self._owner:
            raise StoreError(
                f"{self._folder} cannot be written: the parent process opened the graph; "
                "create one in this process"
            )
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except (OSError, ValueError) as error:
            self._cut(self._size)
            raise unwritable(self._folder, error, kind=StoreError) from error
        self._size += len(data)

    def _cut(self, size: int) -> None:
        try:
            self._file.truncate(size)
        except (OSError, ValueError):
            # Readers skip the incomplete part anyway, unless more is written after it.
            self._file.close()
        self._size = size


def _read(folder: Path) -> bytes:
    path = folder / NAME
    try:
        return path.read_bytes()
    except OSError as error:
        if (folder / "CURRENT").is_file():
            raise StoreError(
                f"{folder}: this graph was written by an earlier version of hvr: repeat the run, "
                "or read it with pyoxigraph.Store.read_only"
            ) from error
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise StoreError(f"{folder}: no graph found") from error
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error


def _replay(folder: Path, data: bytes) -> bytes:
    path = folder / NAME
    if _HEAD.startswith(data):
        raise _not_begun(folder)
    if not data.startswith(_HEAD):
        raise StoreError(f"{path}: the graph is corrupt: line 1 is not the header of a graph")
    end = _committed(data)
    if end == len(_HEAD):
        raise _not_begun(folder)
    quads: dict[bytes, None] = {}
    # Not splitlines, which also splits at carriage returns.
    for number, line in enumerate(data[len(_HEAD) : end - 1].split(b"\n"), 2):
        kind, quad = line[:2], line[2:]
        if kind == b"A ":
            quads[quad] = None
        elif kind == b"D ":
            quads.pop(quad, None)
        elif line + b"\n" not in (_BEGIN, _END):
            raise StoreError(f"{path}: the graph is corrupt: line {number} is malformed")
    return b"\n".join(quads)


def _open(more: int, name: str, flags: int) -> int:
    return os.open(name, flags | more | getattr(os, "O_BINARY", 0), 0o666)


def _committed(data: bytes) -> int:
    end = data.rfind(b"\n" + _END)
    return len(_HEAD) if end < 0 else end + 1 + len(_END)


def _not_begun(folder: Path) -> StoreError:
    return StoreError(
        f"{folder}: the graph is empty, because the run ended before it observed the scene"
    )

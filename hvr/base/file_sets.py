"""Files that belong together, written so that they take effect in one step.

One of them, the head, leads to the others by their names, which come from their contents. It is
written last: until then whoever reads gets the earlier set, which is removed only afterwards.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from hvr.base.files import write_whole, writing
from hvr.base.locks import only_writer
from hvr.errors import DataFileError

_Read = TypeVar("_Read")

_DIGITS = 16
_DIGEST = "[0-9a-f]" * _DIGITS


def digest(data: bytes) -> str:
    """Return the SHA-256 digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def name_of(stem: str, digest: str, suffix: str = "") -> str:
    """Return the name of a file of a set: `model-0123456789abcdef.safetensors`."""
    return f"{stem}-{digest[:_DIGITS]}{suffix}"


def write_set(head: Path, content: str, parts: Mapping[str, bytes], stems: Iterable[str]) -> None:
    """Write a set of files in place of an earlier one: all of it takes effect, or nothing.

    Args:
        head: the file that leads to the others. Its folder is made if it is missing.
        content: of the head.
        parts: contents of the others by name, as `name_of` makes them; in folders, too.
        stems: of all names that parts may have; what earlier sets have left of these is removed.

    Raises:
        DataFileError: they cannot be written; the earlier set is as it was.
    """
    folder = head.parent
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with only_writer(head):
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
    """Yield what earlier sets left, and what processes left that were killed while they wrote."""
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

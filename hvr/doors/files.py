"""Access to the files below one folder for requests of other programs, safe against links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from hvr.base.printable import nearest, one_line, short
from hvr.errors import DataFileError
from hvr.pddl.reader import decode

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_FILE = _FLAGS | getattr(os, "O_NONBLOCK", 0)


class ServedFolder:
    """A folder whose files a door may read.

    Args:
        most: Maximum number of bytes of a file.

    Raises:
        DataFileError: The path is not a folder.
    """

    def __init__(self, path: Path, most: int) -> None:
        if not path.is_dir():
            raise DataFileError(f"{path} is not a folder")
        self.path = path.resolve()
        self._most = most

    def read(self, name: str) -> str:
        """Return the text of a file.

        Links inside the folder are followed as long as they stay in it. The parts of the resolved
        path are then opened one by one without following links, so a link that appears in between
        leads nowhere.

        Raises:
            DataFileError: The file is outside the folder, missing, too large or not a file.
            PddlSyntaxError: The file cannot be decoded.
        """
        return decode(self.read_bytes(name), name)

    def read_bytes(self, name: str) -> bytes:
        """Return the content of a file; see `read`."""
        shown = short(one_line(name), 200)
        inside = self.resolved(name)
        try:
            file = self._opened(inside.parts)
            try:
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode):
                    raise DataFileError(f"cannot read {shown}: it is not a file")
                if about.st_size > self._most:
                    raise DataFileError(f"cannot read {shown}: it has more than {self._most} bytes")
                with os.fdopen(os.dup(file), "rb") as stream:
                    return stream.read(self._most)
            finally:
                os.close(file)
        except OSError as error:
            hint = self._hint(inside)
            raise DataFileError(f"cannot read {shown}: {error.strerror}{hint}") from error

    def resolved(self, name: str) -> Path:
        """Return the path below the folder that a name leads to.

        Raises:
            DataFileError: The name leads out of the folder.
        """
        try:
            return (self.path / name).resolve().relative_to(self.path)
        except (ValueError, OSError, RuntimeError):  # another place, a NUL, a loop of links
            shown = short(one_line(name), 200)
            raise DataFileError(f"{shown} is outside the served folder") from None

    def _opened(self, parts: Iterable[str]) -> int:
        *folders, name = tuple(parts) or (".",)
        here = os.open(self.path, _FOLDER)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = inner
            return os.open(name, _FILE, dir_fd=here)
        finally:
            os.close(here)

    def _hint(self, inside: Path) -> str:
        folder = self.path / inside.parent
        try:
            with os.scandir(folder) as entries:
                near = nearest(inside.name, [entry.name for entry in entries])
        except OSError:
            return ""
        return f"; did you mean {str(inside.parent / near)!r}?" if near else ""

"""What commands write: JSON, and files whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from hvr.errors import DataFileError


def check_writable(path: Path) -> None:
    """Say early that a file could not be written.

    Raises:
        DataFileError: the file is a folder, or there is no folder for it.
    """
    if path.is_dir():
        raise DataFileError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise DataFileError(f"cannot write {path}: there is no folder {path.parent}")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it has the old content or the new one, never a part.

    Raises:
        DataFileError: the file cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    # What is no file, such as /dev/null or a pipe, must not be replaced by one.
    plain = path.is_file() or not path.exists()
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part") if plain else target
    try:
        try:
            part.write_bytes(data)
            if plain:
                part.replace(target)
        except BaseException:
            if plain:
                part.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataFileError(f"cannot write {path}: {reason}") from error


def print_json(data: object) -> None:
    """Print values as JSON that people can read, too."""
    print(json.dumps(data, indent=2, ensure_ascii=False))

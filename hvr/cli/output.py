"""What commands write: JSON, and files whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from hvr.errors import DataFileError
from hvr.files import write_whole

__all__ = ["check_writable", "print_json", "write_whole"]


def check_writable(path: Path) -> None:
    """Say early that a file could not be written.

    Raises:
        DataFileError: the file is a folder, or there is no folder for it.
    """
    if path.is_dir():
        raise DataFileError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise DataFileError(f"cannot write {path}: there is no folder {path.parent}")


def print_json(data: object) -> None:
    """Print values as JSON that people can read, too."""
    print(json.dumps(data, indent=2, ensure_ascii=False))

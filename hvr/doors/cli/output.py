"""Output of commands: JSON, text in other formats, and files written atomically."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from hvr.base.files import write_whole
from hvr.doors.cli.process import use_utf8
from hvr.errors import DataFileError, UsageError

__all__ = ["check_apart", "check_writable", "print_chunks", "print_json", "write_whole"]


def check_writable(path: Path) -> None:
    """Check early that a file can be written.

    Raises:
        DataFileError: The file is a folder, or its folder does not exist.
        UsageError: The name is `-`, which means standard output in other programs.
    """
    if str(path) == "-":
        raise UsageError("- does not mean standard output here: name a file, or /dev/stdout")
    if path.is_dir():
        raise DataFileError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise DataFileError(f"cannot write {path}: the folder {path.parent} does not exist")


def check_apart(outputs: Iterable[Path], inputs: Iterable[str] = ()) -> None:
    """Refuse to write two outputs to one file, or an output over an input.

    Args:
        outputs: The files to write.
        inputs: Names of the files to read.

    Raises:
        UsageError: A file would be overwritten. Devices are exempt.
    """
    written: set[object] = set()
    for path in outputs:
        place = _place(str(path))
        if place in written:
            raise UsageError(f"{path} would be written twice: give each output its own file")
        if place is not None:
            written.add(place)
    if written:
        for name in inputs:
            if _place(name) in written:
                raise UsageError(f"a report would overwrite {name}, which is an input")


def _place(name: str) -> object:
    try:
        known = os.stat(name)  # noqa: PTH116 - a text is given
    except (OSError, ValueError):
        return os.path.realpath(name)
    return (known.st_dev, known.st_ino) if stat.S_ISREG(known.st_mode) else None


def print_json(data: object, indent: int | None = None) -> None:
    """Print values as JSON, on one line or indented.

    JSON has no NaN and no infinity; they become null.
    """
    try:
        text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(data), parse_constant=lambda _: None)
        text = json.dumps(plain, indent=indent, ensure_ascii=False)
    print_chunks([f"{text}\n"])


def print_chunks(chunks: Iterable[str]) -> None:
    """Print text in a machine-readable format, each chunk as soon as it is available.

    The encoding is UTF-8 whatever the locale, as these formats require.
    """
    use_utf8()
    for chunk in chunks:
        sys.stdout.write(chunk)
        sys.stdout.flush()

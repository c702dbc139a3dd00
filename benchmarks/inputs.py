"""Reading what is measured: whatever is wrong with a file is one line, and exit code 2."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hvr.base.texts import decode, read_bytes, unreadable
from hvr.errors import DataFileError, HvrError
from hvr.runs.tasks import expand_ids

_GZIP = b"\x1f\x8b"


def lines_of(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a text file, which may be gzipped, with their numbers; no empty ones.

    Raises:
        DataFileError: it cannot be read, or has no lines.
    """
    data = read_bytes(path)
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DataFileError(f"{path}: the gzipped file is damaged: {error}") from error
    text = decode(data, str(path)).split("\n")
    lines = [(number, line) for number, line in enumerate(text, 1) if line.strip()]
    if not lines:
        raise DataFileError(f"{path}: the file is empty")
    return lines


def records(path: Path, *entries: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a file with one a line, which may be gzipped.

    Args:
        path: the file.
        entries: what each object has to have.

    Raises:
        DataFileError: it cannot be read, or a line is no such object; the message says which.
    """
    return [record(line, f"{path}:{n}", entries) for n, line in lines_of(path)]


def record(line: str, where: str, entries: tuple[str, ...]) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        DataFileError: it is none, or lacks an entry.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataFileError(f"{where}: this is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataFileError(f"{where}: a JSON object is wanted, not {line[:40]!r}")
    missing = [name for name in entries if name not in value]
    if missing:
        raise DataFileError(f"{where}: there is no {missing[0]!r} (wanted: {', '.join(entries)})")
    return value


TASKS_HELP = "ids and ranges (T1,T7-T9), paper, all, or files and folders of your own tasks"


def tasks_of(text: str) -> tuple[str, ...]:
    """Return the tasks that an option names.

    Raises:
        UsageError: there are no such tasks.
    """
    return expand_ids(part.strip() for part in text.split(",") if part.strip())


def measured(main: Callable[[], int | None]) -> int:
    """Return the exit code of a measurement; what is wrong with its files is told in one line."""
    try:
        return main() or 0
    except HvrError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        if error.filename is None:
            raise
        print(unreadable(error.filename, error), file=sys.stderr)
    return 2

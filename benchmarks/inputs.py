"""Read the benchmarks' input files; an invalid file is reported in one line with exit code 2."""

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
    """Return the non-empty lines of a text file, plain or gzipped, with their numbers.

    Raises:
        DataFileError: The file cannot be read or has no lines.
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
    """Return the records of a JSON Lines file, plain or gzipped; `entries` are the required keys.

    Raises:
        DataFileError: The file cannot be read, or a line is not a valid record.
    """
    return [record(line, f"{path}:{n}", entries) for n, line in lines_of(path)]


def record(line: str, where: str, entries: tuple[str, ...]) -> dict[str, Any]:
    """Parse a line as a JSON object with the required keys.

    Raises:
        DataFileError: The line is not a JSON object or lacks a key.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataFileError(f"{where}: invalid JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataFileError(f"{where}: expected a JSON object, found {line[:40]!r}")
    missing = [name for name in entries if name not in value]
    if missing:
        raise DataFileError(f"{where}: missing key {missing[0]!r} (required: {', '.join(entries)})")
    return value


TASKS_HELP = "ids and ranges (T1,T7-T9), paper, all, or files and folders of custom tasks"


def tasks_of(text: str) -> tuple[str, ...]:
    """Return the tasks named in a command-line option.

    Raises:
        UsageError: A task does not exist.
    """
    return expand_ids(part.strip() for part in text.split(",") if part.strip())


def measured(main: Callable[[], int | None]) -> int:
    """Run a benchmark and return its exit code; an invalid input file is reported in one line."""
    try:
        return main() or 0
    except HvrError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        if error.filename is None:
            raise
        print(unreadable(error.filename, error), file=sys.stderr)
    return 2

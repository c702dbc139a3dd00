"""Libraries as files: read and written whole, and merged when several write at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

from hvr.base.files import user_folder, write_whole, writing
from hvr.base.locks import only_writer
from hvr.base.texts import read_json, read_text
from hvr.errors import DataFileError
from hvr.planning.library.entry import entry_from_json
from hvr.planning.library.library import FORMAT, Library
from hvr.planning.library.turtle import from_turtle, to_turtle

VARIABLE = "HVR_LIBRARY"
"""The environment variable that says where the library is."""


def default_path() -> Path:
    """Return where this user's library is: `$HVR_LIBRARY`, or in the folder for users' data.

    That is `~/.local/share/hvr/library.ttl` on Linux (`$XDG_DATA_HOME` is heeded),
    `~/Library/Application Support/hvr` on macOS, `%APPDATA%\\hvr` on Windows.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return user_folder("data") / "library.ttl"


def read_library(path: Path, *, missing_ok: bool = False) -> Library:
    """Read a library: JSON if the name ends in `.json`, else Turtle.

    Args:
        path: the file.
        missing_ok: an empty library if there is no file.

    Raises:
        DataFileError: the file is missing, unreadable or damaged; the message says where.
    """
    if missing_ok and not path.exists():
        return Library()
    return _from_json(path) if _is_json(path) else from_turtle(read_text(path), str(path))


def write_library(library: Library, path: Path) -> None:
    """Write a library, whole or not at all, in place of what was in the file.

    Args:
        library: what to write.
        path: the file: JSON if its name ends in `.json`, else Turtle. Missing folders are made.

    Raises:
        DataFileError: it cannot be written.
    """
    if _is_json(path):
        text = json.dumps(library.to_json(), indent=2, ensure_ascii=False) + "\n"
        data = text.encode("utf-8", "backslashreplace")
    else:
        data = to_turtle(library)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, durable=True)


def update_library(path: Path, more: Library) -> Library:
    """Merge a library into a file, which need not exist; nothing that others write is lost.

    Returns:
        What the file then holds.

    Raises:
        DataFileError: the file is damaged (it is then left as it is) or cannot be written.
    """
    # Reading, too, is under the lock: what another process adds between a read and a write of
    # ours would be lost.
    with only_writer(path):
        merged = read_library(path, missing_ok=True).merge(more)
        write_library(merged, path)
    return merged


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _from_json(path: Path) -> Library:
    values = read_json(path)
    if not isinstance(values, dict) or not isinstance(values.get("entries"), list):
        raise DataFileError(f"{path}: this is no library: it has no list 'entries'")
    if values.get("format") != FORMAT:
        raise DataFileError(
            f"{path}: its format is {values.get('format')!r}, and this hvr reads {FORMAT!r}"
        )
    entries = values["entries"]
    try:
        return Library([entry_from_json(_mapping(e, n)) for n, e in enumerate(entries, 1)])
    except DataFileError as error:
        raise DataFileError(f"{path}: {error}") from error


def _mapping(value: object, number: int) -> dict[str, object]:
    if not isinstance(value, dict):
        raise DataFileError(f"entry {number} is no object")
    return value

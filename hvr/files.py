"""Files: where hvr's data is, which code this is, and writing whole or not at all."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Literal

from hvr.errors import DataFileError, UsageError

_PACKAGE = Path(__file__).resolve().parent
_LONGEST_NAME = 256


def data_path(name: str) -> Path:
    """Return the path of a data folder: `ontology`, `domains` or `tasks`.

    An installed hvr has it inside the package; in a checkout it is at the top.

    Raises:
        DataFileError: there is no such folder.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: install hvr again"
    )


def user_folder(kind: Literal["data", "cache"]) -> Path:
    """Return hvr's folder for what a user keeps, or for what can be made again.

    For data that is `~/.local/share/hvr` on Linux, `~/Library/Application Support/hvr` on macOS
    and `%APPDATA%\\hvr` on Windows; for caches `~/.cache/hvr`, `~/Library/Caches/hvr` and
    `%LOCALAPPDATA%\\hvr`. On Linux `$XDG_DATA_HOME` and `$XDG_CACHE_HOME` are heeded.
    """
    home = Path.home()
    data = kind == "data"
    if sys.platform == "darwin":
        return home / "Library" / ("Application Support" if data else "Caches") / "hvr"
    if sys.platform == "win32":
        variable = "APPDATA" if data else "LOCALAPPDATA"
        usual = home / "AppData" / ("Roaming" if data else "Local")
    else:
        variable = "XDG_DATA_HOME" if data else "XDG_CACHE_HOME"
        usual = home / ".local" / "share" if data else home / ".cache"
    return Path(os.environ.get(variable) or usual) / "hvr"


def text_or_path(source: str | Path) -> str | Path:
    """Return PDDL text as a string and the name of a file as a path.

    A string names a file if there is one of this name, or if it is a single word without
    parentheses; any other string is text.

    Raises:
        UsageError: a string could be either.
    """
    if isinstance(source, Path):
        return source
    looks_like_text = "(" in source or len(source.split()) != 1
    one_line = 0 < len(source) < _LONGEST_NAME and "\n" not in source
    if not (one_line and Path(source).is_file()):
        return source if looks_like_text else Path(source)
    if "(" in source:
        raise UsageError(
            f"{source!r} names a file and could be PDDL text: give a pathlib.Path for the file"
        )
    return Path(source)


def commit() -> str:
    """Return the commit of hvr's checkout, `+` behind it if files differ; `unknown` without git."""
    import subprocess  # by far the slowest import of this module, and rarely needed

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=_PACKAGE, check=True, timeout=20,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    try:
        # An installed hvr may lie in a checkout of something else.
        if not git("ls-files", "__init__.py"):
            return "unknown"
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def write_whole(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file so that it has the old content or the new one, never a part.

    A link stays a link and an old file keeps its permissions.

    Args:
        path: the file; its folder exists.
        content: the bytes, or text that becomes UTF-8.
        durable: true even if the power fails right afterwards, at the price of waiting for the
            disk.

    Raises:
        DataFileError: the file cannot be written; what was there before still is.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            # /dev/null or a pipe: to replace it by a file would be wrong.
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data, durable)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataFileError(f"{path}: cannot be written: {reason}") from error


def _replace(target: Path, data: bytes, durable: bool) -> None:
    """Write beside a file and rename: within one folder, and only there, that is atomic."""
    # No two writers share the part, be they processes or threads.
    part = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

"""Files: where hvr's data is, which code this is, and writing whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hvr.errors import DataFileError, HvrError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

Refusal = TypeVar("Refusal", bound=HvrError)

_PACKAGE = Path(__file__).resolve().parent.parent

_PASSING = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    }
)
"""The question was good and the machine did not deliver: later, or with room, it will."""

_PASSING_SQLITE = frozenset({5, 7, 10, 13})
"""SQLITE_BUSY, SQLITE_NOMEM, SQLITE_IOERR and SQLITE_FULL."""

_NOT_ANSWERED = 4
_BLOCK = 65_536


def data_path(name: str) -> Path:
    """Return the path of a data folder: `ontology`, `domains`, `tasks` or `worlds`.

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


def commit() -> str:
    """Return the commit of hvr's checkout, `+` behind it if files differ; `unknown` without git."""
    import subprocess  # by far the slowest import of this module, and rarely needed

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=_PACKAGE,
            check=True,
            timeout=20,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    try:
        # An installed hvr may lie in a checkout of something else.
        if not git("ls-files", "__init__.py"):
            return "unknown"
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def unwritable(
    path: Path | str,
    error: Exception,
    what: str = "cannot be written",
    *,
    kind: type[Refusal] = DataFileError,  # type: ignore[assignment]
) -> Refusal:
    """Return the error for a file that cannot be written.

    Its exit code tells a full or failing disk from a name or permission that will not do.

    Args:
        path: the file or folder.
        error: what the system, SQLite or a store says.
        what: what cannot be done with it.
        kind: class of the error.
    """
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    result = kind(f"{path}: {what}: {reason}")
    if is_passing(error):
        result.exit_code = _NOT_ANSWERED
    return result


def is_passing(error: Exception) -> bool:
    """Return whether the machine fails, as by a full disk, rather than the name or permission.

    Args:
        error: what the system, SQLite or a store says.
    """
    if (code := getattr(error, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _PASSING_SQLITE
    if (number := getattr(error, "errno", None)) is not None:
        return number in _PASSING
    # Libraries in other languages keep the system's words and lose its number.
    return any(os.strerror(number) in str(error) for number in _PASSING)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn what the system says against writing a file into an error of hvr.

    Args:
        path: the file or folder, as messages name it.

    Raises:
        DataFileError: see `unwritable`.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def temporary_folder(prefix: str) -> TemporaryDirectory[str]:
    """Make a folder for temporary files, whose name matches `temporary_pattern`.

    Args:
        prefix: Start of the folder's name: `hvr-` and what the folder is for.

    Raises:
        DataFileError: The folder cannot be made; the message has the system's reason.
    """
    import tempfile

    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        # No folder will do, and that is all it says: writing to the first one tells why.
        trial = Path(os.environ.get("TMPDIR") or "/tmp") / f"{prefix}{os.getpid()}"
        write_whole(trial, "?")
        trial.unlink()
    with writing("a folder for temporary files (TMPDIR says where)"):
        return tempfile.TemporaryDirectory(prefix=f"{prefix}{_token(os.getpid())}-")


def temporary_pattern() -> str:
    """Return a glob pattern that matches this process's temporary folders and no others."""
    import glob
    import tempfile

    return str(Path(glob.escape(tempfile.gettempdir())) / f"hvr-*{_token(os.getpid())}-*")


@cache
def _token(process: int) -> str:
    return f"{process}-{os.urandom(4).hex()}"


def append_json_line(
    path: Path,
    value: Any,
    *,
    default: Callable[[Any], Any] | None = None,
    durable: bool = False,
) -> None:
    """Add a JSON value as a line to a file, whole or not at all.

    What an earlier process left of a line when it died is removed first.

    Args:
        path: the file; it is made when it is missing.
        value: plain JSON values.
        default: makes JSON values of others, as in `json.dumps`.
        durable: true even if the power fails right afterwards, at the price of waiting for the
            disk.

    Raises:
        DataFileError: it cannot be written; the lines that were there still are.
    """
    import json

    # Half of a surrogate pair has no UTF-8; backslashreplace makes it the JSON escape it needs.
    line = json.dumps(value, ensure_ascii=False, default=default) + "\n"
    data = line.encode("utf-8", "backslashreplace")
    with writing(path):
        made = durable and not path.exists()
        with path.open("ab+", buffering=0) as file:
            _append(file, data, _repair_end(file))
            if durable:
                os.fsync(file.fileno())
        if made:
            _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file survive a power failure, where the system can."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _append(file: FileIO, data: bytes, end: int) -> None:
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) or 0 :]
    except OSError:
        file.truncate(end)
        raise


def _repair_end(file: FileIO) -> int:
    """End the last line of a file, or remove it if it is not whole; return the file's length."""
    import json

    end = size = file.seek(0, os.SEEK_END)
    block, rest = 1, b""
    while end:
        start = max(0, end - block)
        file.seek(start)
        before, newline, after = file.read(end - start).rpartition(b"\n")
        rest = after + rest
        end = start + len(before) + len(newline)
        if newline:
            break
        end, block = start, _BLOCK
    if not rest:
        return size
    try:
        json.loads(rest)
    except (ValueError, RecursionError):
        file.truncate(end)
        return end
    file.write(b"\n")
    return size + 1


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
        raise unwritable(path, error) from error


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

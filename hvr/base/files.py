"""Locations of hvr's files, atomic writes, and the checked-out commit."""

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
"""Errors of a full or failing machine, after which a retry may succeed."""

_PASSING_SQLITE = frozenset({5, 7, 10, 13})
_NOT_ANSWERED = 4
_BLOCK = 65_536


def data_path(name: str) -> Path:
    """Return the path of a data folder: `ontology`, `domains`, `tasks` or `worlds`.

    An installed hvr has it inside the package, a checkout at its top.

    Raises:
        DataFileError: The folder is missing.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: install hvr again"
    )


def user_folder(kind: Literal["data", "cache"]) -> Path:
    r"""Return hvr's per-user folder for data or for caches.

    Data: `~/.local/share/hvr` on Linux, `~/Library/Application Support/hvr` on macOS,
    `%APPDATA%\hvr` on Windows. Caches: `~/.cache/hvr`, `~/Library/Caches/hvr`,
    `%LOCALAPPDATA%\hvr`. Linux respects `$XDG_DATA_HOME` and `$XDG_CACHE_HOME`.
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
    """Return the commit of hvr's checkout, with `+` if files differ; `unknown` without git."""
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
        # An installed hvr may lie in the checkout of another project.
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

    Its exit code distinguishes a full or failing disk from a bad name or missing permission.
    """
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    result = kind(f"{path}: {what}: {reason}")
    if is_passing(error):
        result.exit_code = _NOT_ANSWERED
    return result


def is_passing(error: Exception) -> bool:
    """Return whether the machine failed (a full disk), not the name or the permission."""
    if (code := getattr(error, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _PASSING_SQLITE
    if (number := getattr(error, "errno", None)) is not None:
        return number in _PASSING
    # Native libraries keep the system's message but drop its number.
    return any(os.strerror(number) in str(error) for number in _PASSING)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Convert an OSError of the block into a DataFileError for the path; see `unwritable`."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def temporary_folder(prefix: str) -> TemporaryDirectory[str]:
    """Create a temporary folder whose name matches `temporary_pattern`.

    Args:
        prefix: Start of the folder's name: `hvr-` and its purpose.

    Raises:
        DataFileError: The folder cannot be created; the message gives the system's reason.
    """
    import tempfile

    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        # tempfile does not say why every folder failed; writing to the first one reveals the
        # reason.
        trial = Path(os.environ.get("TMPDIR") or "/tmp") / f"{prefix}{os.getpid()}"
        write_whole(trial, "?")
        trial.unlink()
    with writing("temporary folder (set TMPDIR to choose another)"):
        return tempfile.TemporaryDirectory(prefix=f"{prefix}{_token(os.getpid())}-")


def temporary_pattern() -> str:
    """Return a glob pattern that matches only this process's temporary folders."""
    import glob
    import tempfile

    return str(Path(glob.escape(tempfile.gettempdir())) / f"hvr-*{_token(os.getpid())}-*")


@cache
def _token(process: int) -> str:
    return f"{process}-{os.urandom(4).hex()}"


def append_json_line(
    path: Path, value: Any, *, default: Callable[[Any], Any] | None = None, durable: bool = False
) -> None:
    """Append a JSON value as a line to a file, completely or not at all.

    A partial last line, left by a process that died, is removed first.

    Args:
        path: The file; created if missing.
        default: Converts other values, as in `json.dumps`.
        durable: Wait until the line would survive a power failure.

    Raises:
        DataFileError: The file cannot be written; its earlier lines are kept.
    """
    import json

    # Unpaired surrogates have no UTF-8; backslashreplace turns them into valid JSON escapes.
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
    """Terminate the last line, or remove it if it is incomplete; return the file's length."""
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
    """Write a file atomically: it has the old content or the new one, never a part.

    Symbolic links and the permissions of an existing file are kept.

    Args:
        path: The file; its folder must exist.
        content: Bytes, or text to encode as UTF-8.
        durable: Wait until the file would survive a power failure.

    Raises:
        DataFileError: The file cannot be written; its old content is kept.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            # Devices such as /dev/null and pipes must not be replaced by a file.
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data, durable)
    except OSError as error:
        raise unwritable(path, error) from error


def _replace(target: Path, data: bytes, durable: bool) -> None:
    # Renaming is atomic only within a folder. The name keeps concurrent writers apart.
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

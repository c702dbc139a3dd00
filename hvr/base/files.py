"""Locations of hvr's files, atomic writes, and the checked-out commit."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any, Literal, TypeVar

from hvr.errors import DataFileError, HvrError

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
    """Return the path of a data folder, such as `ontology`, `worlds` or `docs/reference`.

    An installed hvr keeps data inside the package, a checkout at its top level.

    Raises:
        DataFileError: The folder is missing.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: reinstall hvr"
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
    import subprocess  # rarely needed, and by far the slowest import of this module

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
        # An installed hvr may be inside the checkout of another project.
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
    """Return the error `PATH: WHAT: reason` for a file that cannot be written.

    The exit code is 4 for a full or failing disk, else the default of `kind`.
    """
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    result = kind(f"{path}: {what}: {reason}")
    if is_passing(error):
        result.exit_code = _NOT_ANSWERED
    return result


def is_passing(error: Exception) -> bool:
    """Return whether an error is temporary: a full disk is, a bad file name is not."""
    if (code := getattr(error, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _PASSING_SQLITE
    if (number := getattr(error, "errno", None)) is not None:
        return number in _PASSING
    # Native libraries keep the system's message but drop its number.
    return any(os.strerror(number) in str(error) for number in _PASSING)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Convert an OSError in the block into a DataFileError for the path; see `unwritable`."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Create a temporary folder whose name matches `temporary_pattern`, and remove it at the end.

    The first call of a process also removes the folders of processes that were killed.

    Args:
        prefix: Start of the folder's name: `hvr-` and its purpose.

    Raises:
        DataFileError: The folder cannot be created; the message gives the system's reason.
    """
    import tempfile

    try:
        parent = tempfile.gettempdir()
    except FileNotFoundError:
        # tempfile does not report why every folder failed; writing to the first one shows the
        # reason.
        trial = Path(os.environ.get("TMPDIR") or "/tmp") / f"{prefix}{os.getpid()}"
        write_whole(trial, "?")
        trial.unlink()
        parent = tempfile.gettempdir()
    _remove_abandoned(parent)
    with ExitStack() as stack:
        with writing("temporary folder (set TMPDIR to choose another)"):
            made, lock = _new_temporary_folder(f"{prefix}{_token(os.getpid())}-")
        if lock is not None:
            stack.callback(os.close, lock)
        # The folder is also removed if this context is never left.
        stack.callback(weakref.finalize(stack, shutil.rmtree, made, ignore_errors=True))
        yield made


def temporary_pattern() -> str:
    """Return a glob pattern that matches only this process's temporary folders."""
    import glob
    import tempfile

    return str(Path(glob.escape(tempfile.gettempdir())) / f"hvr-*{_token(os.getpid())}-*")


_TEMPORARY = re.compile(r"hvr-[a-z-]+-\d+\.[0-9a-f]{8}-.+")


@cache
def _token(process: int) -> str:
    return f"{process}.{os.urandom(4).hex()}"


def _new_temporary_folder(prefix: str) -> tuple[str, int | None]:
    import tempfile

    while True:
        made = tempfile.mkdtemp(prefix=prefix)
        if sys.platform == "win32":
            return made, None
        # Another process may take the folder for abandoned before it is locked, and remove it.
        with suppress(FileNotFoundError):
            lock = os.open(made, _FOLDER)
            with suppress(OSError):
                _wait(lock)
            if _same(Path(made), lock):
                return made, lock
            os.close(lock)


@cache
def _remove_abandoned(parent: str) -> None:
    # Released locks are safer evidence than process ids, which are reused and differ between
    # containers that share a folder.
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


if sys.platform != "win32":
    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

    def _remove_if_abandoned(folder: str) -> None:
        lock = os.open(folder, _FOLDER)
        try:
            if os.fstat(lock).st_uid == os.geteuid() and _lock(lock):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def append_json_line(
    path: Path, value: Any, *, default: Callable[[Any], Any] | None = None, durable: bool = False
) -> None:
    """Append a JSON value to a file as one line, completely or not at all.

    A missing file is created. A partial last line, left by a process that died, is removed first.

    Args:
        default: A function that converts other values, as in `json.dumps`.
        durable: Whether to wait until the line would survive a power failure.

    Raises:
        DataFileError: The file cannot be written; its earlier lines are kept.
    """
    import json

    # Unpaired surrogates have no UTF-8 form; backslashreplace turns them into valid JSON escapes.
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
    """Write a file atomically: it has either the old or the new content, never a part.

    Text is encoded as UTF-8. Symbolic links and the permissions of an existing file are kept. The
    folder must exist. Devices and pipes are written directly, and thus not atomically. If
    `durable`, the written file would survive a power failure.

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
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
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


# Locks --------------------------------------------------------------------------------------------
# File locks, and sets of files that are replaced atomically.

# A lock ends with its process, however the process ends. It also separates threads. On a file
# system without locks, the creator of the file holds the lock, and a killed process leaves it
# locked.

_GLANCES = 10
_GLANCE_SECONDS = 0.02
"""Retry period of `try_lock`; it outlasts the moment for which `is_locked` takes a lock."""

_HELD = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK})


class Lock:
    """A held lock on a file."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Release the lock and remove its file; further calls do nothing."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if sys.platform != "win32":
            # Remove the file while locked: others could mistake it for the lock of a killed
            # process.
            self._remove()
        with suppress(OSError):
            # Closing is not enough: a forked process shares the open file and would keep the lock.
            _unlock(descriptor)
        os.close(descriptor)
        if sys.platform == "win32":  # Windows cannot remove an open file
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def try_lock(path: Path) -> Lock | None:
    """Lock a file, creating it if missing; return None if it stays locked for 0.2 s.

    Raises:
        OSError: The file cannot be created or opened.
    """
    for glance in range(_GLANCES):
        if glance:
            time.sleep(_GLANCE_SECONDS)
        lock = _try(path)
        if lock is not None:
            return lock
    return None


def is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Use a shared lock, so that concurrent callers do not see each other's.
        free = _lock(descriptor, shared=True)
        if free:
            _unlock(descriptor)
        return not free
    finally:
        os.close(descriptor)


@contextmanager
def wait_for_lock(path: Path) -> Iterator[None]:
    """Wait for the lock of a file, and hold it in the context; the lock's file is kept."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait(descriptor)
        try:
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def exclusive_writer(path: Path) -> Iterator[None]:
    """Prevent other processes and threads from writing a file, or the file set that it heads.

    A missing folder is created.

    Raises:
        DataFileError: The file cannot be locked.
    """
    # Lock another file: an atomic write replaces the target, and with it a lock on it.
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as held:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(wait_for_lock(lock))
        except OSError as error:
            raise unwritable(lock, error, "cannot be locked") from error
        yield


def _try(path: Path) -> Lock | None:
    made = True
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        made = False
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:  # another holder released it just now
            return None
    free = _lock(descriptor, made=made)
    # If the previous holder removed the file, this descriptor refers to an unlinked file.
    if free and _same(path, descriptor):
        return Lock(path, descriptor)
    os.close(descriptor)
    return None


def _same(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, shared: bool = False, made: bool = False) -> bool:
        del shared, made
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool = False, made: bool = False) -> bool:
        try:
            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            # Without lock support, only the creator of the file holds the lock.
            return error.errno not in _HELD and made
        return True

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# File sets ----------------------------------------------------------------------------------------
# Files that belong together and are replaced atomically.
#
# The head refers to the other files by names derived from their contents. It is written last: until
# then readers see the earlier set, which is removed only afterwards.

_Read = TypeVar("_Read")

_DIGITS = 16
_DIGEST = "[0-9a-f]" * _DIGITS


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_set_name(stem: str, digest: str, suffix: str = "") -> str:
    """Return the name of a file in a set, such as `model-0123456789abcdef.safetensors`."""
    return f"{stem}-{digest[:_DIGITS]}{suffix}"


def write_set(head: Path, content: str, parts: Mapping[str, bytes], stems: Iterable[str]) -> None:
    """Write a set of files atomically, replacing an earlier set.

    Args:
        head: File that refers to the parts. A missing folder is created.
        parts: Contents of the parts by relative path; `file_set_name` makes the names.
        stems: Stems of all possible parts. Files of earlier sets with these stems are removed.

    Raises:
        DataFileError: The set cannot be written; the earlier set is kept.
    """
    folder = head.parent
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with exclusive_writer(head):
        tops = {folder / Path(name).parts[0] for name in parts}
        new = [path for path in tops if not path.exists()]
        try:
            for name, data in parts.items():
                with writing(folder):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(folder / name, data)
            write_whole(head, content)
        except DataFileError:
            # The head is still the earlier one and does not refer to the new parts.
            _remove(new)
            raise
        _remove(path for path in _left(head, stems) if path not in {head, *tops})


def read_set(head: Path, read: Callable[[], _Read]) -> _Read:
    """Return the result of `read`, which is called again if the set is replaced during the call.

    Raises:
        DataFileError: `read` fails although the set does not change.
    """
    for _ in range(3):
        before = _known(head)
        try:
            return read()
        except DataFileError:
            if _known(head) == before:
                raise
    return read()


def _left(head: Path, stems: Iterable[str]) -> Iterator[Path]:
    for pattern in (*(f"{stem}-{_DIGEST}*" for stem in stems), head.name):
        yield from head.parent.glob(pattern)
        yield from head.parent.glob(f".{pattern}.*.part")


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _known(head: Path) -> bytes | None:
    try:
        return head.read_bytes()
    except OSError:
        return None

"""The process of a command line: standard streams, signals, start and exit."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hvr.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path
    from sys import UnraisableHookArgs
    from types import FrameType


# Streams ------------------------------------------------------------------------------------------
# Standard streams never interrupt a command: neither a reader that has closed its end, as in `hvr …
# | head -1`, nor a full disk may abort a run that takes minutes and may cost money. Further output
# is dropped, and the command runs to its end. Only a full disk changes the exit code, since the
# user did not intend it.

_STANDARD = ("stdin", "stdout", "stderr")


class Outlet(io.FileIO):
    """A standard stream that discards output if it cannot be written.

    Attributes:
        gone: Whether the reader has closed the stream.
        error: The first write error; None if there was none.
    """

    gone: bool = False
    error: OSError | None = None

    def write(self, data: object, /) -> int:
        while not self.gone and self.error is None:
            try:
                written = super().write(data)  # type: ignore[arg-type]
            except ConnectionError:
                self.gone = True
            except OSError as error:
                self.error = error
            else:
                if written is not None:
                    return written
                self._wait()
        return memoryview(data).nbytes  # type: ignore[arg-type]

    def _wait(self) -> None:
        import select

        select.select([], [self.fileno()], [])


class ClosedInput(io.TextIOBase):
    """Standard input that was closed before the process started; reading it raises an error."""

    closed = True

    def isatty(self) -> bool:
        return False

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        del size
        raise DataFileError("cannot read standard input: it is closed")

    def read(self, size: int | None = -1, /) -> str:
        return self.readline(size or 0)


def prepare_streams() -> None:
    """Replace the output streams with `Outlet`s, except those that Python code has replaced.

    Output to a stream that was closed before the process started is discarded.
    """
    for number, name in enumerate(_STANDARD):
        _occupy(number)
        stream = getattr(sys, name)
        if name == "stdin" and stream is None:
            sys.stdin = ClosedInput()
        if name == "stdin" or stream is not getattr(sys, f"__{name}__"):
            continue
        if stream is None or type(_raw(stream)) is io.FileIO:
            setattr(sys, name, _outlet(number, name, stream))
        else:  # the Windows console
            stream.reconfigure(errors="backslashreplace")


def flush_streams() -> None:
    """Flush buffered output, ignoring errors."""
    for name in _STANDARD[1:]:
        stream = getattr(sys, name)
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass


def write_error() -> OSError | None:
    """Return the write error of standard output; None if its reader closed it or none occurred."""
    raw = _raw(sys.stdout)
    return raw.error if isinstance(raw, Outlet) else None


def is_reader_gone() -> bool:
    """Return whether standard output is a pipe that its reader has closed."""
    raw = _raw(sys.stdout)
    return isinstance(raw, Outlet) and raw.gone


def use_utf8() -> None:
    """Switch standard output to UTF-8, which JSON requires in every locale."""
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None)
    if encoding and encoding.lower().replace("-", "") != "utf8" and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _occupy(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        os.set_inheritable(number, True)


def _raw(stream: object) -> object:
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def _outlet(number: int, name: str, old: io.TextIOWrapper | None) -> io.TextIOWrapper:
    raw = Outlet(number, "w", closefd=False)
    raw.name = f"<{name}>"
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding if old is not None else "utf-8",
        # escape characters that the terminal cannot show
        errors="backslashreplace",
        line_buffering=old is not None and old.line_buffering,
        write_through=old is not None and old.write_through,
    )


# Signals ------------------------------------------------------------------------------------------
# The first signal lets the command clean up; a second signal ends it at once.

_SIGNALS = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
_SOON_S = 0.05


class Terminated(KeyboardInterrupt):
    """The process was asked to end, for example by `kill` or by closing its terminal.

    It derives from KeyboardInterrupt because libraries such as asyncio let interrupts through but
    swallow other exceptions.
    """

    def __init__(self) -> None:
        super().__init__("terminated")


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn the first signal into KeyboardInterrupt or `Terminated`; a second ends the process.

    Signals that are ignored stay ignored. Outside the main thread, nothing changes.
    """
    import threading

    # Shells start background jobs with SIGINT ignored, which stays so.
    heeded = [s for s in _SIGNALS if signal.getsignal(s) is not signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        heeded = []
    ending = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        del frame
        ending = True
        for heard in heeded:
            signal.signal(heard, signal.SIG_DFL)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before = {heard: signal.signal(heard, end) for heard in heeded}
    try:
        yield
    finally:
        if not ending:
            for heard, handler in before.items():
                signal.signal(heard, handler)


def raise_later(signalled: type[BaseException]) -> None:
    """Raise a signal's exception again soon, because Python ignores exceptions in destructors.

    Outside the main thread and on Windows, this does nothing.
    """
    import threading

    number = signal.SIGTERM if issubclass(signalled, Terminated) else signal.SIGINT
    main = threading.main_thread()

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        signal.signal(number, signal.SIG_DFL)
        raise signalled

    def send() -> None:
        # Another thread sends it, because it would be ignored within the destructor.
        if main.ident is not None:
            signal.pthread_kill(main.ident, number)

    if threading.current_thread() is main and hasattr(signal, "pthread_kill"):
        signal.signal(number, end)
        again = threading.Timer(_SOON_S, send)
        again.daemon = True
        again.start()


def saved_note(error: BaseException) -> str:
    """Return the end of an error message that says where the run is saved, or "" if it is not."""
    folder: Path | None = getattr(error, "folder", None)
    if folder is None:
        return ""
    import shlex

    from hvr.models.recording import NAME

    what = "the model's answers are" if (folder / NAME).exists() else "the run is"
    return f"; {what} saved in {folder}; resume with hvr plan --resume {shlex.quote(str(folder))}"


# Process ------------------------------------------------------------------------------------------

INTERRUPTED = 130
TERMINATED = 143


def prepare() -> bool:
    """Prepare streams, terminal size and warnings, so that nothing disturbs the command's output.

    Returns:
        Whether this process is hvr's own command line; others, such as tests, are left unchanged.
    """
    if sys.stdout is not sys.__stdout__:
        return False
    prepare_streams()
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name)
        # Rich accepts any size, such as 0 or a million, and fails on digits of other scripts.
        if text is not None and not re.fullmatch("[1-9][0-9]{0,3}", text):
            del os.environ[name]
    if not traceback_wanted():
        sys.unraisablehook = _ignore_unraisable
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
    return True


def prepare_worker() -> None:
    prepare()


def ended_by(signalled: KeyboardInterrupt) -> int:
    """Print that a signal ended the command and where the run is saved; return the exit code."""
    terminated = isinstance(signalled, Terminated)
    print(
        f"{'terminated' if terminated else 'interrupted'}{saved_note(signalled)}", file=sys.stderr
    )
    flush_streams()
    return TERMINATED if terminated else INTERRUPTED


def finish() -> None:
    """Let Ctrl-C end the process at once, since the work is done."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def traceback_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the variable `HVR_TRACEBACK` requests tracebacks."""
    return environ.get("HVR_TRACEBACK", "0") not in ("", "0")


def _ignore_unraisable(what: UnraisableHookArgs) -> None:
    if issubclass(what.exc_type, KeyboardInterrupt):
        raise_later(what.exc_type)

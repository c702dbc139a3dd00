"""Standard streams that never interrupt the work of a command.

A reader that has gone (`hvr ... | head -1`) or a full disk must not abort a run that takes minutes
and may cost money. Further output is dropped and the command runs to its end. Only a full disk
changes the exit code, since it is not the user's intention.
"""

from __future__ import annotations

import io
import os
import sys

_STANDARD = ("stdin", "stdout", "stderr")


class Outlet(io.FileIO):
    """A standard stream that drops output it cannot write.

    Attributes:
        gone: Whether the reader has gone.
        error: The first write error; None without one.
    """

    gone: bool = False
    error: OSError | None = None

    def write(self, data: object, /) -> int:
        """Write some of the bytes, or drop them all; return the number of bytes consumed."""
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


def prepare() -> None:
    """Replace the standard streams by outlets, except streams that are already redirected.

    A stream that was closed at the start of the process discards its output.
    """
    for number, name in enumerate(_STANDARD):
        _occupy(number)
        stream = getattr(sys, name)
        if name == "stdin" or stream is not getattr(sys, f"__{name}__"):
            continue
        if stream is None or type(_raw(stream)) is io.FileIO:
            setattr(sys, name, _outlet(number, name, stream))
        else:  # the Windows console
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Flush the buffered output, as far as possible."""
    for name in _STANDARD[1:]:
        stream = getattr(sys, name)
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass


def write_error() -> OSError | None:
    """Return the write error of standard output; None without one, or if the reader has gone."""
    raw = _raw(sys.stdout)
    return raw.error if isinstance(raw, Outlet) else None


def is_reader_gone() -> bool:
    """Return whether standard output was a pipe whose reader has gone."""
    raw = _raw(sys.stdout)
    return isinstance(raw, Outlet) and raw.gone


def use_utf8() -> None:
    """Switch standard output to UTF-8, as JSON requires, whatever the locale."""
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None)
    if encoding and encoding.lower().replace("-", "") != "utf8" and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _occupy(number: int) -> None:
    """Take the number of a closed stream, so that no file gets it and is overwritten."""
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
    """Return a text stream over an outlet, with the settings of the old stream."""
    raw = Outlet(number, "w", closefd=False)
    raw.name = f"<{name}>"
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding if old is not None else "utf-8",
        # Escape characters that the terminal cannot show.
        errors="backslashreplace",
        line_buffering=old is not None and old.line_buffering,
        write_through=old is not None and old.write_through,
    )

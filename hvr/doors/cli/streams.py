"""The standard streams of the process: what cannot be delivered never disturbs what is done.

A reader that has gone (`hvr ... | head -1`) or a full disk is no reason to break off a run that
takes minutes and may cost money. Output is dropped from then on, the command goes on to its
end, and its exit code says what came out; only a full disk changes it, since nobody meant that.
"""

from __future__ import annotations

import io
import os
import sys

_STANDARD = ("stdin", "stdout", "stderr")


class Outlet(io.FileIO):
    """A standard stream that drops what it cannot deliver.

    Attributes:
        gone: nobody reads it any more.
        error: why something could not be written; None as long as everything could.
    """

    gone: bool = False
    error: OSError | None = None

    def write(self, data: object, /) -> int:
        """Write some of the bytes, or drop them; return how many are dealt with."""
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
    """Give this process outlets as standard streams; streams that somebody has put there stay.

    A stream that was closed when the process was started leads nowhere afterwards.
    """
    for number, name in enumerate(_STANDARD):
        _occupy(number)
        stream = getattr(sys, name)
        if name == "stdin" or stream is not getattr(sys, f"__{name}__"):
            continue
        if stream is None or type(_raw(stream)) is io.FileIO:
            setattr(sys, name, _outlet(number, name, stream))
        else:  # the console of Windows
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Deliver what is still buffered, as far as that can be done."""
    for name in _STANDARD[1:]:
        stream = getattr(sys, name)
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass


def write_error() -> OSError | None:
    """Return why standard output could not be written; None if it could, or nobody reads it."""
    raw = _raw(sys.stdout)
    return raw.error if isinstance(raw, Outlet) else None


def is_reader_gone() -> bool:
    """Say whether standard output was a pipe whose reader has gone."""
    raw = _raw(sys.stdout)
    return isinstance(raw, Outlet) and raw.gone


def use_utf8() -> None:
    """Let standard output be UTF-8, for what programs read: JSON is, whatever the locale."""
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None)
    if encoding and encoding.lower().replace("-", "") != "utf8" and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _occupy(number: int) -> None:
    """Take the number of a closed stream, so that no file gets it and is written over."""
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
    """Return a text stream over an outlet, which is otherwise like the old one."""
    raw = Outlet(number, "w", closefd=False)
    raw.name = f"<{name}>"
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding if old is not None else "utf-8",
        # Names and texts for which the terminal has no letters are shown in another way.
        errors="backslashreplace",
        line_buffering=old is not None and old.line_buffering,
        write_through=old is not None and old.write_through,
    )

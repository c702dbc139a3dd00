"""The process of a command line: start, signals, exit."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hvr.doors.cli import streams

if TYPE_CHECKING:
    from pathlib import Path
    from sys import UnraisableHookArgs
    from types import FrameType


# Signals ------------------------------------------------------------------------------------------
# What ends a command from outside: the first signal lets it put its things in order, a second one
# ends it at once.

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SOON_S = 0.05


class Terminated(KeyboardInterrupt):
    """The process was asked to end, as by `kill`.

    Libraries such as asyncio let an interrupt through where they keep other exceptions.
    """

    def __init__(self) -> None:
        super().__init__("terminated")


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn the first signal to end into an exception; the second one then ends the process.

    Raises:
        KeyboardInterrupt: SIGINT came.
        Terminated: SIGTERM came.
    """
    import threading

    # A background job of a shell ignores SIGINT, and goes on doing so.
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
    """Raise once more, soon, what a signal has raised where Python ignores it, as in
    destructors."""
    import threading

    number = signal.SIGTERM if issubclass(signalled, Terminated) else signal.SIGINT
    main = threading.main_thread()

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        signal.signal(number, signal.SIG_DFL)
        raise signalled

    def send() -> None:
        # Not from within the destructor, where it would be ignored again.
        if main.ident is not None:
            signal.pthread_kill(main.ident, number)

    if threading.current_thread() is main and hasattr(signal, "pthread_kill"):
        signal.signal(number, end)
        again = threading.Timer(_SOON_S, send)
        again.daemon = True
        again.start()


def saved_note(error: BaseException) -> str:
    """Return where what a run has done is kept, as the end of the message of its error."""
    folder: Path | None = getattr(error, "folder", None)
    if folder is None:
        return ""
    import shlex

    from hvr.models.transcript import NAME

    what = "what was asked and answered" if (folder / NAME).exists() else "what was done"
    return f"; {what} is in {folder}; hvr plan --resume {shlex.quote(str(folder))} goes on"


# Process ------------------------------------------------------------------------------------------
# The process of a command line: how it begins, how it is interrupted, how it ends.

INTERRUPTED = 130
TERMINATED = 143


def prepare() -> bool:
    """Keep out what disturbs a command or its messages: streams, sizes, remarks of libraries.

    Returns:
        whether the process is a command line of hvr's own. In another one, such as that of the
        tests, streams and signals belong to somebody else, and nothing is changed.
    """
    if sys.stdout is not sys.__stdout__:
        return False
    streams.prepare()
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name)
        # Rich takes any size: 0, a million, and digits of other scripts, on which it fails.
        if text is not None and not re.fullmatch("[1-9][0-9]{0,3}", text):
            del os.environ[name]
    if not traceback_wanted():
        sys.unraisablehook = _not_told
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
    return True


def prepare_worker() -> None:
    """Keep out of a process that works for a command what disturbs it: see `prepare`."""
    prepare()


def ended_by(signalled: KeyboardInterrupt) -> int:
    """Say that a signal ended the command, and where what it did is kept; return the exit code."""
    terminated = isinstance(signalled, Terminated)
    print(
        f"{'terminated' if terminated else 'interrupted'}{saved_note(signalled)}", file=sys.stderr
    )
    streams.flush()
    return TERMINATED if terminated else INTERRUPTED


def finish() -> None:
    """Let Ctrl-C end the process at once: all is done, and cleaning up deserves no traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def traceback_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether `HVR_TRACEBACK` asks for whatever helps to mend hvr."""
    return environ.get("HVR_TRACEBACK", "0") not in ("", "0")


def _not_told(what: UnraisableHookArgs) -> None:
    if issubclass(what.exc_type, KeyboardInterrupt):
        raise_later(what.exc_type)

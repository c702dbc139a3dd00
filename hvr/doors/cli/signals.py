"""What ends a command from outside: the first signal lets it put its things in order, a second one
ends it at once.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SOON_S = 0.05


class Terminated(KeyboardInterrupt):
    """The process was asked to end, as by `kill`.

    Libraries such as asyncio let an interrupt through where they keep other exceptions.
    """

    def __init__(self) -> None:
        super().__init__("terminated")


@contextmanager
def orderly_end() -> Iterator[None]:
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


def raise_again(signalled: type[BaseException]) -> None:
    """Raise once more, soon, what a signal has raised where Python ignores it, as in destructors.

    Args:
        signalled: KeyboardInterrupt or Terminated.
    """
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


def kept(error: BaseException) -> str:
    """Return where what a run has done is kept, as the end of the message of its error."""
    folder: Path | None = getattr(error, "folder", None)
    if folder is None:
        return ""
    import shlex

    from hvr.models.transcript import NAME

    what = "what was asked and answered" if (folder / NAME).exists() else "what was done"
    return f"; {what} is in {folder}; hvr plan --resume {shlex.quote(str(folder))} goes on"

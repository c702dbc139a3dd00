"""Processes that work for this one: signals are meant for the parent, which ends its workers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CAN_WAIT = hasattr(signal, "pthread_sigmask")  # not on Windows


@contextmanager
def starting() -> Iterator[None]:
    """Let Ctrl-C and `kill` wait while a worker is made.

    In between they would leave a process that nobody knows of; or they would reach one that does
    not yet know what to do with them, and says so with a traceback.
    """
    if not _CAN_WAIT:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_interrupts_to_parent() -> None:
    """In a worker, first of all: Ctrl-C goes to all processes of a terminal, the parent answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if _CAN_WAIT:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

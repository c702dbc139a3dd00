"""Processes that work for this one: signals are meant for the parent, which ends its workers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows


@contextmanager
def starting() -> Iterator[None]:
    """Let Ctrl-C and `kill` wait while a worker is made.

    In between they would leave a process that nobody knows of; or they would reach one that does
    not yet know what to do with them, and says so with a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone hears signals
        yield
        return
    heard: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: heard.append(number))
        for number in _SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, None)
    }
    # What is masked is masked in the worker, too. For this process it is not enough: the system
    # gives a signal to any thread, and Python then hears it here.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if _HAS_MASKS else set()
    try:
        yield
    finally:
        if _HAS_MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])


def leave_interrupts_to_parent() -> None:
    """In a worker, first of all: Ctrl-C goes to all processes of a terminal, the parent answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

"""Cancelling what has been asked of a model."""

from __future__ import annotations

import threading

from hvr.models.errors import CancelledError


class Cancellation:
    """A flag that one thread raises and others look at.

    It is looked at before each call and while waiting for the next try. A request that is on
    its way is not torn down: its time-out bounds it.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Cancel everything, for good."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether everything is cancelled."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise if cancelled.

        Raises:
            CancelledError: it is cancelled.
        """
        if self.cancelled:
            raise CancelledError

    def wait(self, seconds: float) -> None:
        """Sleep, and wake up early to raise.

        Raises:
            CancelledError: it was cancelled before or while waiting.
        """
        if self._event.wait(seconds):
            raise CancelledError("cancelled while waiting to ask the model again")

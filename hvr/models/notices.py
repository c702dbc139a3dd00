"""What happens on the way to a model while somebody waits: retries, waits, long silence.

All of it goes to the loggers of `hvr.models`: another attempt as a warning, the rest as
information. It is no part of what a run records, which is the same each time the run is repeated.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LOG = "hvr.models"


@contextmanager
def notices(*, quiet: bool = False) -> Iterator[None]:
    """Show notices on standard error, each on a line of its own; elsewhere they are not seen.

    Args:
        quiet: show none.
    """
    log = logging.getLogger(_LOG)
    level, propagate = log.level, log.propagate
    handler = _add(logging.NullHandler() if quiet else _Lines())
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


def show_notices_of_worker() -> None:
    """Show notices of this process for good, in the terminal's last line.

    There the parent has a progress bar, which it draws again below.
    """
    _add(_Lines(before="\r\x1b[2K"))


def _add(handler: logging.Handler) -> logging.Handler:
    log = logging.getLogger(_LOG)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    return handler


class _Lines(logging.Handler):
    """Prints a line for each record to what is standard error at the time."""

    def __init__(self, before: str = "") -> None:
        super().__init__()
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        # A server's words may have characters that command a terminal.
        text = "".join(c if c.isprintable() else "\ufffd" for c in self.format(record))
        with suppress(OSError, ValueError):  # nobody reads it
            before = self._before if sys.stderr.isatty() else ""
            print(f"{before}{text}", file=sys.stderr, flush=True)

"""The process of a command line: how it begins, how it is interrupted, how it ends."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hvr.doors.cli import streams
from hvr.doors.cli.signals import Terminated, kept, raise_again

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

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
    print(f"{'terminated' if terminated else 'interrupted'}{kept(signalled)}", file=sys.stderr)
    streams.flush()
    return TERMINATED if terminated else INTERRUPTED


def finish() -> None:
    """Let Ctrl-C end the process at once: all is done, and cleaning up deserves no traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def traceback_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether `HVR_TRACEBACK` asks for whatever helps to mend hvr."""
    return environ.get("HVR_TRACEBACK", "0") not in ("", "0")


def _not_told(what: UnraisableHookArgs) -> None:
    """Keep quiet about errors that Python itself ignores; what a signal raised is raised again."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        raise_again(what.exc_type)

"""Doing something again whenever files change, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hvr.base.printable import block
from hvr.doors.cli.streams import reader_gone
from hvr.errors import HvrError

_INTERVAL = 0.25

_Stamps = dict[str, tuple[int, int, int] | None]


def watch(work: Callable[[], object], files: Callable[[], Iterable[str]]) -> int:
    """Do the work now and after each change.

    Errors of hvr are printed and do not end it: the next change may mend them.

    Args:
        work: what to do.
        files: gives the files to look at; asked each time, because new ones may have come.

    Returns:
        the exit code, 0: it ends by being interrupted, or when nobody reads its output any more.
    """
    try:
        while True:
            # Looked at before the work, so that no change during it is missed.
            seen = _stamps(files)
            try:
                work()
            except HvrError as error:
                print(f"error: {block(str(error))}", file=sys.stderr, flush=True)
            print(f"-- watching {len(seen)} files; Ctrl-C ends --", file=sys.stderr, flush=True)
            while (now := _stamps(files)) == seen:
                if reader_gone():
                    return 0
                time.sleep(_INTERVAL)
            changed = [name for name in {**seen, **now} if seen.get(name) != now.get(name)]
            clock = time.strftime("%H:%M:%S")
            print(f"\n-- {clock} changed: {', '.join(changed)} --", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("", file=sys.stderr)
        return 0


def _stamps(files: Callable[[], Iterable[str]]) -> _Stamps:
    try:
        return {name: _stamp(name) for name in files()}
    except HvrError:
        return {}


def _stamp(name: str) -> tuple[int, int, int] | None:
    try:
        status = Path(name).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino

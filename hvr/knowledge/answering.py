"""The process that answers one query for `hvr.knowledge.asking`, and ends.

It reads a line of JSON and N-Quads from standard input, and writes the rows of the answer as lines
of JSON, then a line about the whole.
"""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from typing import Any

from pyoxigraph import RdfFormat, Store, parse

from hvr.errors import StoreError
from hvr.knowledge.query import solve

_FILES = 3
"""Standard input, output and error: what the process has open it keeps, and gets no more."""
_PATIENCE_S = 2


def main() -> None:
    """Answer the query."""
    request = json.loads(sys.stdin.buffer.readline())
    _end_in_time(request["seconds"] + _PATIENCE_S, int(sys.argv[1]))
    _confine(request["memory"], connect=request["service"])
    try:
        last = _answer(request)
    except MemoryError:
        last = {"memory": True}
    except StoreError as error:
        last = {"error": str(error)}
    _write(last)
    sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """Write the rows of the answer, and return what is to be said of the whole.

    Raises:
        StoreError: there is no answer.
    """
    store = Store()
    try:
        # Not `load`, which gives blank nodes other names.
        store.bulk_extend(parse(sys.stdin.buffer.read(), format=RdfFormat.N_QUADS))
    except (SyntaxError, ValueError) as error:
        raise StoreError(f"the graph is corrupt: {error}") from error
    variables, rows = solve(store, request["sparql"], allow_service=request["service"])
    room = request["memory"] // 32
    complete = True
    for number, row in enumerate(rows, 1):
        room -= _write(row) if number <= request["rows"] else room + 1
        if room < 0:
            complete = False
            break
    return {"variables": variables, "complete": complete}


def _write(value: object) -> int:
    return sys.stdout.write(json.dumps(value) + "\n")


def _end_in_time(seconds: int, lifeline: int) -> None:
    """Let the system end this process, since nothing in it looks up while a query is answered."""
    # Ctrl-C goes to all processes of a terminal; the parent alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import fcntl
    import os

    signal.alarm(seconds)
    if hasattr(os, "O_ASYNC"):
        # A signal ends this process when the other end of the pipe is closed: when the parent
        # is no more.
        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)


def _confine(memory: int, *, connect: bool) -> None:
    """Take memory and, unless it is to connect, files and connections away from this process."""
    if sys.platform == "win32":
        return
    import resource

    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_AS: memory}
    if not connect:
        limits[resource.RLIMIT_NOFILE] = _FILES
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))

"""Queries in a process of their own, which can be ended, and that process."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import RdfFormat, Store, parse

from hvr.errors import QueryLimitError, StoreError, UsageError
from hvr.knowledge.query import QueryResult, refuse_service, solve

# Client -------------------------------------------------------------------------------------------
# Queries in a process of their own, which can be ended.
#
# Oxigraph answers a query without looking up: not for Ctrl-C, and not for a time that is over. A
# query that is nested deeply enough overflows the stack of its process. So a query that a person or
# a program has written is answered by another process, with little time, little memory and no way
# to open a connection or a file.

_LONGEST_S = 1_000_000
_ANSWER = (
    "import sys; sys.path[:] = {path!r}; "
    "from hvr.knowledge.query_process import answer_query; answer_query()"
)
_TIME_OVER = "the query was not answered within {seconds:g} s"


@dataclass(frozen=True)
class QueryLimits:
    """What a query may take.

    Args:
        timeout: seconds for all of it, above 0.
        rows: most rows of the answer; what is beyond them is left out.
        memory: most bytes of the process that answers, and 1/32 of that for the answer. Not on
            macOS and Windows.

    Raises:
        UsageError: a limit is out of range.
    """

    timeout: float = 30.0
    rows: int = 10_000
    memory: int = 2 << 30

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= _LONGEST_S:
            raise UsageError(
                f"timeout must be above 0 and at most {_LONGEST_S} seconds, not {self.timeout:g}",
                field="timeout",
            )
        if self.rows < 1:
            raise UsageError(f"rows must be at least 1, not {self.rows}", field="rows")


def run_limited_query(
    quads: bytes, sparql: str, limits: QueryLimits | None = None, *, allow_service: bool = False
) -> QueryResult:
    """Answer a SPARQL 1.1 query over quads, in a process of its own.

    Args:
        quads: as N-Quads.
        sparql: the query; the prefixes of `hvr.knowledge.terms.PREFIXES` are known.
        limits: the usual ones if None.
        allow_service: whether SERVICE may open connections.

    Raises:
        StoreError: the query is malformed, too deeply nested or wants a SERVICE, or the quads are
            corrupt.
        QueryLimitError: time or memory did not suffice.
    """
    limits = limits or QueryLimits()
    if not allow_service:
        refuse_service(sparql)
    request = {
        "sparql": sparql,
        "rows": limits.rows,
        "memory": limits.memory,
        "seconds": math.ceil(limits.timeout),
        "service": allow_service,
    }
    data = json.dumps(request).encode() + b"\n" + quads
    try:
        out, err, code = _answered(data, limits.timeout)
    except subprocess.TimeoutExpired:
        raise QueryLimitError(_TIME_OVER.format(seconds=limits.timeout)) from None
    except OSError as error:
        raise StoreError(
            f"the process that answers queries cannot be started: {error}", exit_code=4
        ) from error
    return _read(out, err, code, limits)


def _answered(data: bytes, timeout: float) -> tuple[bytes, bytes, int]:
    """Let the other process answer; return what it wrote and how it ended."""
    command = _ANSWER.format(path=[str(Path(__file__).parents[2]), *sys.path])
    with (
        _lifeline() as (line, inherited),
        subprocess.Popen(
            [sys.executable, "-S", "-c", command, str(line)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=inherited,
        ) as process,
    ):
        try:
            out, err = process.communicate(data, timeout=timeout)
        finally:
            process.kill()  # does nothing if it has ended
    return out, err, process.returncode


@contextmanager
def _lifeline() -> Iterator[tuple[int, tuple[int, ...]]]:
    """Give a pipe by which the other process learns that this one is no more, however it ended."""
    if sys.platform == "win32":
        yield -1, ()
        return
    ours, theirs = os.pipe()
    try:
        yield ours, (ours,)
    finally:
        os.close(ours)
        os.close(theirs)


def _read(out: bytes, err: bytes, code: int, limits: QueryLimits) -> QueryResult:
    """Return the answer of the other process."""
    lines = out.splitlines()
    last: dict[str, Any] = {}
    if code == 0 and lines:
        last = json.loads(lines[-1])
    if "error" in last:
        raise StoreError(last["error"])
    if "variables" in last:
        rows = tuple(tuple(json.loads(line)) for line in lines[:-1])
        return QueryResult(tuple(last["variables"]), rows, last["complete"])
    if last.get("memory") or b"memory allocation" in err or _ended_by(code, "SIGKILL"):
        size = limits.memory / (1 << 30)
        raise QueryLimitError(f"the query was not answered within {size:g} GiB of memory")
    if _ended_by(code, "SIGALRM"):
        raise QueryLimitError(_TIME_OVER.format(seconds=limits.timeout))
    if code < 0 or code > 255:  # a signal, or Windows' number of a fault
        raise StoreError("the query is too long or too deeply nested to be answered")
    said = err.decode("utf-8", "replace").strip().splitlines()
    raise StoreError(f"the process that answers queries failed: {said[-1] if said else code}")


def _ended_by(code: int, name: str) -> bool:
    return code < 0 and -code == getattr(signal, name, None)


# Query process ------------------------------------------------------------------------------------
# The process that answers one query and ends.
#
# It reads a line of JSON and N-Quads from standard input, and writes the rows of the answer as
# lines of JSON, then a line about the whole.

_FILES = 3
"""Standard input, output and error: what the process has open it keeps, and gets no more."""
_PATIENCE_S = 2


def answer_query() -> None:
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
    """Write the rows of the answer, and return what is to be said of the whole."""
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

"""SPARQL queries with plain values as results, optionally in a separate process."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, RdfFormat, Store, parse

from hvr.errors import QueryLimitError, StoreError, UsageError
from hvr.knowledge.terms import PREFIXES, value
from hvr.knowledge.terms import Value as TermValue
from hvr.values import Value

# Results ------------------------------------------------------------------------------------------


class QueryResult(Value):
    """The result of a query: a table of plain values.

    Args:
        variables: Column names. ASK has the single column `answer`; CONSTRUCT and DESCRIBE have
            `subject`, `predicate` and `object`.
        rows: One tuple of values per row, in the order of `variables`; None for an unbound
            variable.
        complete: Whether the result has all rows because no limit has cut it off.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[TermValue, ...], ...]
    complete: bool = True

    def dicts(self) -> list[dict[str, TermValue]]:
        """Return each row as a mapping from variable to value."""
        return [dict(zip(self.variables, row, strict=True)) for row in self.rows]

    def __iter__(self) -> Iterator[tuple[TermValue, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


# Query text ---------------------------------------------------------------------------------------

_TOKEN = r"""
(?P<void>
    \s+ | \#[^\r\n]*
    | <[^<>"{}|^`\s]*>                                        # IRI
    | \"{3} (?:\"{0,2}(?:[^"\\]|\\.))* \"{3} | '{3} (?:'{0,2}(?:[^'\\]|\\.))* '{3}
    | "(?:[^"\\\r\n]|\\.)*" | '(?:[^'\\\r\n]|\\.)*'
    | @[\w-]+                                                 # language of a literal
    | [?$]\w+ | _:[\w.-]+ )
| (?P<prefix> (?:[^\W\d_][\w.-]*)? ) : (?: [\w.:-] | %.. | \\. )*
| (?P<word> \w+ )
| (?P<sign> . )
"""
_UPDATES = frozenset(
    ["insert", "delete", "load", "clear", "create", "drop", "copy", "move", "add", "with"]
)
_PROLOGUE = frozenset(("prefix", "base", "version"))


def calls_service(sparql: str) -> bool:
    """Return whether a query uses the keyword SERVICE outside names and strings."""
    if "service" not in sparql.lower():
        return False
    before = ""
    named = False
    for kind, text in _tokens(sparql):
        # Oxigraph requires no space after a word: `1SERVICE<…>` is two tokens, and `SERVICE:x {` is
        # SERVICE with the name `:x`, although it could also name a graph `SERVICE:x`.
        if (kind == "word" and "service" in text) or (named and text == "{"):
            return True
        ends = kind == "prefix" and text.lower().endswith(("service", "servicesilent"))
        named = ends and before != "graph"
        before = text
    return False


def refuse_service(sparql: str) -> None:
    """Raise a StoreError if a query contains SERVICE."""
    if calls_service(sparql):
        raise StoreError(
            "the query contacts a server (SERVICE), which is not allowed", field="allow_service"
        )


def is_update(sparql: str) -> bool:
    """Return whether a SPARQL text is an update (INSERT, LOAD, …) rather than a query."""
    words = (text for kind, text in _tokens(sparql) if kind == "word")
    return next((word for word in words if word not in _PROLOGUE), "") in _UPDATES


def undeclared_prefix(sparql: str, known: Container[str]) -> str | None:
    """Return the first prefix that is neither declared in the query nor in `known`, or None."""
    declared = set()
    before = ""
    for kind, text in _tokens(sparql):
        if kind == "prefix" and before == "prefix":
            declared.add(text)
        elif kind == "prefix" and text not in declared and text not in known:
            return text
        before = text if kind == "word" else ""
    return None


def _tokens(sparql: str) -> Iterator[tuple[str, str]]:
    # Compiled here and cached by `re`, because most queries do not need it.
    for match in re.finditer(_TOKEN, sparql, re.VERBOSE | re.DOTALL):
        kind = match.lastgroup or ""
        if kind != "void":
            yield kind, match[kind].lower() if kind == "word" else match[kind]


# Query --------------------------------------------------------------------------------------------

_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_SHOWN = 40
TRIPLE = ("subject", "predicate", "object")
"""The columns of a result that consists of triples."""


def run_query(store: Store, sparql: str, *, allow_service: bool = False) -> QueryResult:
    """Run a SPARQL 1.1 query over a store, with the prefixes of `terms.PREFIXES`.

    The query runs in this process without limits, so it must come from hvr or its caller. Use
    `run_limited_query` for all other queries.

    Raises:
        StoreError: The query is malformed (with line and column), fails, or uses SERVICE.
    """
    variables, rows = solve(store, sparql, allow_service=allow_service)
    return QueryResult(variables, tuple(rows))


def solve(
    store: Store, sparql: str, *, allow_service: bool = False
) -> tuple[tuple[str, ...], Iterator[tuple[TermValue, ...]]]:
    """Return the column names and an iterator over the rows, which may also raise the error.

    Raises:
        StoreError: The query is malformed (with line and column), fails, or uses SERVICE.
    """
    if not allow_service:
        refuse_service(sparql)
    try:
        answer = store.query(sparql, prefixes=PREFIXES)
    except SyntaxError as error:
        raise StoreError(_explain(sparql, str(error))) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"the query failed: {error}") from error
    if isinstance(answer, QueryBoolean):
        return ("answer",), iter([(bool(answer),)])
    if isinstance(answer, QuerySolutions):
        return tuple(v.value for v in answer.variables), _solutions(answer)
    assert isinstance(answer, QueryTriples)
    return TRIPLE, _solutions(answer)


def _solutions(answer: QuerySolutions | QueryTriples) -> Iterator[tuple[TermValue, ...]]:
    try:
        for row in answer:
            yield tuple(map(value, row))
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"the query failed: {error}") from error


def _explain(sparql: str, message: str) -> str:
    if is_update(sparql):
        return (
            "this is a SPARQL update, but graphs are read-only: use SELECT, ASK, CONSTRUCT or "
            "DESCRIBE"
        )
    match = _POSITION.match(message)
    if match is None:
        return f"malformed SPARQL query: {' '.join(message.split())}"
    line, column = int(match[1]), int(match[2])
    begin = f"malformed SPARQL query at line {line}, column {column}"
    prefix = undeclared_prefix(sparql, PREFIXES)
    if prefix is not None:
        return f"{begin}: the prefix {prefix}: is not declared"
    lines = sparql.split("\n")
    rest = lines[min(line, len(lines)) - 1][column - 1 :].strip()
    shown = repr(rest if len(rest) <= _SHOWN else rest[: _SHOWN - 1] + "…")
    found = shown if rest else f"the end of the {'query' if line >= len(lines) else 'line'}"
    # The parser lists every possible character class, which helps no one.
    words = re.findall(r'"[^"]+"|\b[A-Z]{2,}\b', re.sub(r"\[[^]]*]", "", match[3]))
    expected = f"expected {' or '.join(words[:6])}, found" if words else "unexpected"
    return f"{begin}: {expected} {found}"


# Query process ------------------------------------------------------------------------------------

# Oxigraph cannot be interrupted while it runs a query, neither by Ctrl-C nor by a timeout, and a
# deeply nested query overflows its stack. Queries from outside therefore run in a separate process
# with limited time and memory and without access to files and the network.

_LONGEST_S = 1_000_000
_ANSWER = (
    "import sys; sys.path[:] = {path!r}; "
    "from hvr.knowledge.query import answer_query; answer_query()"
)
_TIME_OVER = "the query exceeded {seconds:g} s"


@dataclass(frozen=True)
class QueryLimits:
    """Limits of a query.

    Args:
        timeout: Time limit for the whole query in seconds; above 0.
        rows: Maximum number of rows; more rows are cut off.
        memory: Maximum memory of the process in bytes; the result may take 1/32 of it. Ignored
            on macOS and Windows.

    Raises:
        UsageError: A limit is out of range.
    """

    timeout: float = 30.0
    rows: int = 10_000
    memory: int = 2 << 30

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= _LONGEST_S:
            raise UsageError(
                f"timeout must be above 0 and at most {_LONGEST_S} seconds, found {self.timeout:g}",
                field="timeout",
            )
        if self.rows < 1:
            raise UsageError(f"rows must be at least 1, found {self.rows}", field="rows")


def run_limited_query(
    quads: bytes, sparql: str, limits: QueryLimits | None = None, *, allow_service: bool = False
) -> QueryResult:
    """Run a SPARQL 1.1 query over quads in a separate process.

    Args:
        quads: The data as N-Quads.
        limits: Limits of the query; None for the defaults of `QueryLimits`.
        allow_service: Whether SERVICE may open network connections.

    Raises:
        StoreError: The query is malformed, too deeply nested or uses SERVICE, the quads are
            corrupt, or the process cannot be started.
        QueryLimitError: The query exceeded its time or memory.
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
        raise StoreError(f"cannot start the query process: {error}", exit_code=4) from error
    return _read(out, err, code, limits)


def _answered(data: bytes, timeout: float) -> tuple[bytes, bytes, int]:
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
            process.kill()  # no effect if it has ended
    return out, err, process.returncode


@contextmanager
def _lifeline() -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the end of a pipe that shows when this process ends, and the descriptors to inherit."""
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
        raise QueryLimitError(f"the query exceeded {size:g} GiB of memory")
    if _ended_by(code, "SIGALRM"):
        raise QueryLimitError(_TIME_OVER.format(seconds=limits.timeout))
    if code < 0 or code > 255:  # a signal, or a Windows fault code
        raise StoreError("the query is too long or too deeply nested")
    errors = err.decode("utf-8", "replace").strip().splitlines()
    raise StoreError(f"the query process failed: {errors[-1] if errors else f'exit code {code}'}")


def _ended_by(code: int, name: str) -> bool:
    return code < 0 and -code == getattr(signal, name, None)


# The query process reads one line of JSON, then N-Quads, from standard input. It writes the rows as
# lines of JSON, followed by a line about the whole result.

_FILES = 3
"""Standard input, output and error: the process may open no further files."""
_PATIENCE_S = 2


def answer_query() -> None:
    """Run the query in the query process."""
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
    store = Store()
    try:
        # Not `load`, which renames blank nodes.
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
    """Make the system end this process in time (not on Windows): queries cannot be interrupted."""
    # Ctrl-C reaches all processes of a terminal; only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import fcntl
    import os

    signal.alarm(seconds)
    if hasattr(os, "O_ASYNC"):
        # A signal ends this process once the parent has ended and its end of the pipe is closed.
        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)


def _confine(memory: int, *, connect: bool) -> None:
    """Limit this process's memory and, unless `connect`, open files (not on Windows)."""
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

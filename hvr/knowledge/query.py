"""SPARQL queries, their results as plain values, and a process of their own for each."""

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

# Query --------------------------------------------------------------------------------------------
# SPARQL queries, their texts, and their results as plain values.

# Result -------------------------------------------------------------------------------------------
# Answers to queries, as plain values.


class QueryResult(Value):
    """The answer to a query: a table of plain values.

    Args:
        variables: names of the columns; `answer` for ASK; `subject`, `predicate` and
            `object` for CONSTRUCT and DESCRIBE.
        rows: one tuple a row, in the order of `variables`; None where a variable is unbound.
        complete: False if there are more rows, which limits have kept out.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[TermValue, ...], ...]
    complete: bool = True

    def dicts(self) -> list[dict[str, TermValue]]:
        """Return the rows as mappings from variable to value."""
        return [dict(zip(self.variables, row, strict=True)) for row in self.rows]

    def __iter__(self) -> Iterator[tuple[TermValue, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


# Sparql text --------------------------------------------------------------------------------------
# What the text of a SPARQL query says before anybody answers it.

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
    """Say whether a query would ask a server: whether SERVICE is in it, as a word of SPARQL.

    The word may stand in names, variables, texts and comments.
    """
    if "service" not in sparql.lower():
        return False
    before = ""
    named = False
    for kind, text in _tokens(sparql):
        # Oxigraph needs no space after a word: `1SERVICE<…>` is two of them, and `SERVICE:x {`
        # is SERVICE with the name `:x`, where a graph with the name `SERVICE:x` would do, too.
        if (kind == "word" and "service" in text) or (named and text == "{"):
            return True
        ends = kind == "prefix" and text.lower().endswith(("service", "servicesilent"))
        named = ends and before != "graph"
        before = text
    return False


def refuse_service(sparql: str) -> None:
    """Refuse a query that would ask a server.

    Raises:
        StoreError: it has SERVICE in it.
    """
    if calls_service(sparql):
        raise StoreError(
            "the query asks a server (SERVICE), and queries open no connections unless that is "
            "allowed",
            field="allow_service",
        )


def is_update(sparql: str) -> bool:
    """Say whether a text is a SPARQL update (INSERT, LOAD, …) rather than a query."""
    words = (text for kind, text in _tokens(sparql) if kind == "word")
    return next((word for word in words if word not in _PROLOGUE), "") in _UPDATES


def undeclared_prefix(sparql: str, known: Container[str]) -> str | None:
    """Return the first prefix that a query uses and neither declares nor is known."""
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
    # Compiled, and kept by `re`, when it is needed: most queries need none of this.
    for match in re.finditer(_TOKEN, sparql, re.VERBOSE | re.DOTALL):
        kind = match.lastgroup or ""
        if kind != "void":
            yield kind, match[kind].lower() if kind == "word" else match[kind]


# Query --------------------------------------------------------------------------------------------
# SPARQL queries and their answers.

_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_SHOWN = 40
TRIPLE = ("subject", "predicate", "object")
"""The columns of an answer that is made of triples."""


def run_query(store: Store, sparql: str, *, allow_service: bool = False) -> QueryResult:
    """Answer a SPARQL 1.1 query over a store; the prefixes of `terms.PREFIXES` are known.

    The query is answered in this process and has no limits: it is one that hvr or its caller has
    written. `hvr.knowledge.query.run_limited_query` is for others.

    Raises:
        StoreError: the query is malformed, with line and column, or wants a SERVICE.
    """
    variables, rows = solve(store, sparql, allow_service=allow_service)
    return QueryResult(variables, tuple(rows))


def solve(
    store: Store, sparql: str, *, allow_service: bool = False
) -> tuple[tuple[str, ...], Iterator[tuple[TermValue, ...]]]:
    """Return the names of the columns, and the rows as they are found.

    Raises:
        StoreError: as for `run_query`; also while rows are found.
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
            "this is a SPARQL update, and graphs are only read: use SELECT, ASK, CONSTRUCT or "
            "DESCRIBE"
        )
    match = _POSITION.match(message)
    if match is None:
        return f"malformed SPARQL query: {' '.join(message.split())}"
    line, column = int(match[1]), int(match[2])
    # The parser lists every character class that could follow; that helps nobody.
    prefix = undeclared_prefix(sparql, PREFIXES)
    if prefix is not None:
        detail = f"the prefix {prefix}: is not declared"
    else:
        words = re.findall(r'"[^"]+"|\b[A-Z]{2,}\b', re.sub(r"\[[^]]*]", "", match[3]))
        detail = f"expected {' or '.join(words[:6])}" if words else "unexpected text"
    lines = sparql.split("\n")
    rest = lines[min(line, len(lines)) - 1][column - 1 :].strip()
    shown = rest if len(rest) <= _SHOWN else rest[: _SHOWN - 1] + "…"
    at = f" at {shown!r}" if shown else " at its end" if line >= len(lines) else ""
    return f"malformed SPARQL query at line {line}, column {column}: {detail}{at}"


# Query process ------------------------------------------------------------------------------------
# Queries in a process of their own, which can be ended, and that process.

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
    "from hvr.knowledge.query import answer_query; answer_query()"
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

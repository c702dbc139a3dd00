"""SPARQL queries and their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, Store

from hvr.errors import StoreError
from hvr.knowledge.result import QueryResult
from hvr.knowledge.sparql_text import is_update, refuse_service, undeclared
from hvr.knowledge.terms import PREFIXES, Value, value

_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_SHOWN = 40
TRIPLE = ("subject", "predicate", "object")
"""The columns of an answer that is made of triples."""


def run_query(store: Store, sparql: str, *, allow_service: bool = False) -> QueryResult:
    """Answer a SPARQL 1.1 query over a store; the prefixes of `terms.PREFIXES` are known.

    The query is answered in this process and has no limits: it is one that hvr or its caller has
    written. `hvr.knowledge.asking.ask` is for others.

    Args:
        store: what is asked.
        sparql: the query.
        allow_service: whether SERVICE may open connections.

    Raises:
        StoreError: the query is malformed, with line and column, or wants a SERVICE.
    """
    variables, rows = solve(store, sparql, allow_service=allow_service)
    return QueryResult(variables, tuple(rows))


def solve(
    store: Store, sparql: str, *, allow_service: bool = False
) -> tuple[tuple[str, ...], Iterator[tuple[Value, ...]]]:
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


def _solutions(answer: QuerySolutions | QueryTriples) -> Iterator[tuple[Value, ...]]:
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
    prefix = undeclared(sparql, PREFIXES)
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

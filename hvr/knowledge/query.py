"""SPARQL queries and their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, Store

from hvr.errors import StoreError
from hvr.knowledge.terms import PREFIXES, Value, value

_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query: a table of plain values.

    Args:
        variables: names of the columns; `answer` for ASK; `subject`, `predicate` and
            `object` for CONSTRUCT and DESCRIBE.
        rows: one tuple a row, in the order of `variables`; None where a variable is unbound.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def dicts(self) -> list[dict[str, Value]]:
        """Return the rows as mappings from variable to value."""
        return [dict(zip(self.variables, row, strict=True)) for row in self.rows]

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def run_query(store: Store, sparql: str) -> QueryResult:
    """Answer a SPARQL 1.1 query over a store; the prefixes of `terms.PREFIXES` are known.

    Raises:
        StoreError: the query is malformed, with line and column, or the store is unreadable.
    """
    try:
        answer = store.query(sparql, prefixes=PREFIXES)
        if isinstance(answer, QueryBoolean):
            return QueryResult(("answer",), ((bool(answer),),))
        if isinstance(answer, QuerySolutions):
            names = tuple(v.value for v in answer.variables)
            return QueryResult(names, tuple(tuple(value(t) for t in s) for s in answer))
        assert isinstance(answer, QueryTriples)
        return QueryResult(
            ("subject", "predicate", "object"),
            tuple((value(t.subject), value(t.predicate), value(t.object)) for t in answer),
        )
    except SyntaxError as error:
        raise StoreError(_explain(sparql, str(error))) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"the query failed: {error}") from error


def _explain(sparql: str, message: str) -> str:
    match = _POSITION.match(message)
    if match is None:
        return f"malformed SPARQL query: {message}"
    line, column = int(match[1]), int(match[2])
    # The parser lists every character class that could follow; that helps nobody.
    detail = "there is an undeclared prefix here" if "Prefix not found" in match[3] else ""
    if not detail:
        words = re.findall(r'"[^"]+"|\b[A-Z]{2,}\b', re.sub(r"\[[^]]*]", "", match[3]))
        detail = f"expected {' or '.join(words[:6])}" if words else "unexpected text"
    lines = sparql.splitlines() or [""]
    shown = lines[min(line, len(lines)) - 1]
    return (
        f"malformed SPARQL query at line {line}, column {column}: {detail}\n"
        f"  {shown}\n  {' ' * (column - 1)}^"
    )

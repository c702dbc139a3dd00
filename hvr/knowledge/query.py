"""SPARQL queries, their texts, and their results as plain values."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, Store

from hvr.errors import StoreError
from hvr.knowledge.terms import PREFIXES, value
from hvr.knowledge.terms import Value as TermValue
from hvr.values import Value

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
    written. `hvr.knowledge.query_process.run_limited_query` is for others.

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

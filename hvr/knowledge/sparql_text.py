"""What the text of a SPARQL query says before anybody answers it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from hvr.errors import StoreError

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


def undeclared(sparql: str, known: Container[str]) -> str | None:
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
    """Yield kinds and texts of what is more than spaces, comments and terms; words in lower case.

    The text of a name is its prefix.
    """
    # Compiled, and kept by `re`, when it is needed: most queries need none of this.
    for match in re.finditer(_TOKEN, sparql, re.VERBOSE | re.DOTALL):
        kind = match.lastgroup or ""
        if kind != "void":
            yield kind, match[kind].lower() if kind == "word" else match[kind]

"""Names of parameters and things, in words."""

from __future__ import annotations

import re

from hvr.knowledge.retrieval.words import singular

BARE = frozenset(
    (
        "id", "ids", "name", "names", "value", "values", "result", "results", "status", "type",
        "types", "data", "message", "key", "code", "number", "date", "time", "text", "content",
        "title", "description", "url", "list", "item", "items", "query", "count", "amount",
    )
)  # fmt: skip
"""Names that say nothing without the thing that they are of."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `newItemIDs[]` is "new", "item", "ids"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", name)
    return tuple(re.findall(r"[^\W_]+", apart.lower()))


def thing_of(name: str) -> tuple[str, ...]:
    """Return the words of a name of things, the last one in the singular."""
    found = words_of(name)
    return (*found[:-1], singular(found[-1])) if found else ()

"""Answers to queries, as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvr.values import Value

if TYPE_CHECKING:
    from hvr.knowledge.terms import Value as Plain


class QueryResult(Value):
    """The answer to a query: a table of plain values.

    Args:
        variables: names of the columns; `answer` for ASK; `subject`, `predicate` and
            `object` for CONSTRUCT and DESCRIBE.
        rows: one tuple a row, in the order of `variables`; None where a variable is unbound.
        complete: False if there are more rows, which limits have kept out.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]
    complete: bool = True

    def dicts(self) -> list[dict[str, Plain]]:
        """Return the rows as mappings from variable to value."""
        return [dict(zip(self.variables, row, strict=True)) for row in self.rows]

    def __iter__(self) -> Iterator[tuple[Plain, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

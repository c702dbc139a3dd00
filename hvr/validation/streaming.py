"""Verdicts about a stream of plans, as long as it likes, in the memory of a few models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.errors import UsageError
from hvr.validation.batch import BatchOptions, UnusableModelError, judge_source
from hvr.validation.judged import Judged
from hvr.validation.kept import KeptModels

_NAMES = "<domain>", "<problem>"
_PARTS = "domain", "problem", "plan"


def stream(
    rows: Iterable[tuple[str, str, str]], options: BatchOptions | None = None
) -> Iterator[Judged]:
    """Judge plans as they come, and give a result for each, in their order.

    A row is read when its result is asked for. A problem is compiled once while it is among the
    last few that were used, so rows of one problem should stand together. A text that cannot be
    used has the outcome "unknown" and does not stop the others; no file is ever opened.

    Args:
        rows: the texts of a domain, a problem and a plan each.
        options: what to find out about each plan.

    Raises:
        UsageError: a row is not three texts; the message says which.
    """
    models = KeptModels(options or BatchOptions())
    for number, row in enumerate(rows, 1):
        domain, problem, plan = _texts(row, number)
        try:
            model = models.model(_NAMES, (domain, problem))
        except UnusableModelError as error:
            yield error.result
            continue
        yield judge_source(model, "<plan>", lambda text=plan: text)  # type: ignore[misc]


def _texts(row: object, number: int) -> tuple[str, str, str]:
    if not isinstance(row, tuple | list) or len(row) != len(_PARTS):
        raise UsageError(f"row {number} has to be three texts: {', '.join(_PARTS)}")
    for name, text in zip(_PARTS, row, strict=True):
        if not isinstance(text, str):
            raise UsageError(f"row {number}: the {name} has to be a text")
    return row[0], row[1], row[2]

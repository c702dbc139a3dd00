"""Results as one JSON document: a list with an object for each plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from hvr.validation.judged import Judged
from hvr.validation.reporters import ReportOptions


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give the document, an element a line."""
    del options
    separator = "[\n"
    for result in (one for many in results for one in many.expanded()):
        yield separator + json.dumps(result.to_json(), ensure_ascii=False)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"

"""Results as JSON lines: an object a line, given when its plan is done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from hvr.validation.judged import Judged
from hvr.validation.reporters import ReportOptions


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give a line for each plan."""
    del options
    for result in (one for many in results for one in many.expanded()):
        yield json.dumps(result.to_json(), ensure_ascii=False) + "\n"

"""Results as Markdown: a table of what is not valid, for the summary page of a CI job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hvr.base.printable import one_line
from hvr.validation.findings import findings
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome
from hvr.validation.reporters import ReportOptions, relative_path
from hvr.validation.reporters.text import summary, tally

_ROWS = 200
_LONGEST = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give the summary and a row for each plan that is not valid, after all results."""
    outcomes: Counter[Outcome] = Counter()
    rows: list[str] = []
    for result in results:
        tally(result, outcomes)
        if result.report.outcome is not Outcome.VALID:
            rows.append(_row(result, options))
    yield f"**hvr validate**: {summary(outcomes)}\n"
    if rows:
        yield "\n| file | outcome | rule | why |\n| --- | --- | --- | --- |\n"
        yield from rows[:_ROWS]
    if len(rows) > _ROWS:
        yield f"\nand {len(rows) - _ROWS} more\n"


def _row(result: Judged, options: ReportOptions) -> str:
    finding = findings(result, limit=options.limit)[0]
    file = relative_path(finding.file or result.plan, options.base)
    place = f"{file}:{finding.location.line}" if finding.location else file
    cells = (place, result.report.outcome.value, finding.rule.id, finding.message)
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _cell(text: str) -> str:
    """Return a text that means nothing in Markdown and HTML: a plan may hold any text."""
    line = one_line(" ".join(text.split()))
    shown = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    return _SPECIAL.sub(r"\\\1", shown)

"""Results as annotations of a GitHub workflow, among the text that the log is read for.

GitHub shows ten annotations of each level for a step. Findings beyond these are lines of the log,
so that none is lost, and a last line says how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hvr.base.printable import one_line
from hvr.validation.findings import Finding, findings
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome
from hvr.validation.reporters import ReportOptions, relative_path
from hvr.validation.reporters.text import render_result, summary, tally
from hvr.validation.rules import Level
from hvr.validation.sources import SourceLines

SHOWN = 10
"""How many annotations of a level GitHub shows for a step."""

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give for each plan its text, and an annotation for each error and warning."""
    sources = SourceLines()
    outcomes: Counter[Outcome] = Counter()
    annotations = _Annotations(options.base)
    for warning in options.warnings:
        yield annotations.of(warning)
    for result in results:
        tally(result, outcomes)
        for warning in result.warnings:
            yield annotations.of(warning)
        if options.failures_only and result.report.outcome is Outcome.VALID:
            continue
        text = render_result(result, sources=sources, limit=options.limit, problem=options.problems)
        yield harmless(text) + "\n"
        for finding in findings(result, limit=options.limit):
            if finding.level is not Level.NOTE:
                yield annotations.of(finding)
    if outcomes.total() > 1 or (outcomes and options.failures_only):
        yield summary(outcomes) + "\n"
    yield annotations.remark()


class _Annotations:
    """Annotations as long as GitHub shows them, then lines of text."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._levels: Counter[Level] = Counter()

    def of(self, finding: Finding) -> str:
        self._levels[finding.level] += 1
        if self._levels[finding.level] > SHOWN:
            return harmless(one_line(str(finding))) + "\n"
        return _annotation(finding, self._base)

    def remark(self) -> str:
        more = sum(max(0, number - SHOWN) for number in self._levels.values())
        if not more:
            return ""
        return (
            f"GitHub shows {SHOWN} errors, {SHOWN} warnings and {SHOWN} notices of a step as "
            f"annotations; {more} more findings are lines of this log\n"
        )


def _annotation(finding: Finding, base: str) -> str:
    properties = {"file": relative_path(finding.file, base)}
    if finding.location is not None:
        properties["line"] = str(finding.location.line)
        properties["col"] = str(finding.location.column)
    properties["title"] = f"{finding.rule.id} {finding.rule.name}"
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.level]} {shown}::{_message(finding.message)}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def harmless(text: str) -> str:
    """Break up what the runner would take for a command: a plan may hold any text."""
    lines = text.replace("##[", "# #[").splitlines()
    return "\n".join(
        line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines
    )

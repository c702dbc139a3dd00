"""Results as annotations of a GitHub workflow, among the text that the log is read for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hvr.validation.findings import Finding, findings
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome
from hvr.validation.reporters import ReportOptions, relative_path
from hvr.validation.reporters.text import render_result, summary
from hvr.validation.rules import Level
from hvr.validation.sources import SourceLines


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give for each plan its text, and an annotation for each error and warning."""
    sources = SourceLines()
    outcomes: Counter[Outcome] = Counter()
    for warning in options.warnings:
        yield _annotation(warning, options.base)
    for result in results:
        outcomes[result.report.outcome] += 1
        for warning in result.warnings:
            yield _annotation(warning, options.base)
        text = render_result(result, sources=sources, limit=options.limit, problem=options.problems)
        yield _harmless(text) + "\n"
        for finding in findings(result, limit=options.limit):
            if finding.level is not Level.NOTE:
                yield _annotation(finding, options.base)
    if outcomes.total() > 1:
        yield summary(outcomes) + "\n"


def _annotation(finding: Finding, base: str) -> str:
    properties = {"file": relative_path(finding.file, base)}
    if finding.location is not None:
        properties["line"] = str(finding.location.line)
        properties["col"] = str(finding.location.column)
    properties["title"] = f"{finding.rule.id} {finding.rule.name}"
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{finding.level.value} {shown}::{_message(finding.message)}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _harmless(text: str) -> str:
    """Break up what the runner would take for a command: a plan may hold any text."""
    lines = text.replace("##[", "# #[").splitlines()
    return "\n".join(
        line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines
    )

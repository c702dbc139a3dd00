"""Reports for people: results as text, with excerpts of the model files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import one_line, short, short_names
from hvr.errors import HvrError
from hvr.pddl import Atom, Location, Step
from hvr.validation.findings import (
    FAILURE_RULES,
    RULES,
    SYNTAX,
    UNDECIDED,
    Judged,
    explain_repair,
    rule_of_note,
)
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    Repair,
    UnmetLiteral,
    ValidationReport,
    count,
    decimal_text,
    explain_numbers,
)
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.findings import Finding


class ReportOptions(Value):
    """Options of reports.

    Attributes:
        warnings: The findings about the domain and the problem themselves.
        limit: The maximum number of unmet literals to show, or None for no limit.
        base: The folder to which paths are relative, in formats with relative paths.
        failures_only: Whether reports for people omit valid plans, which are still counted.
        rules_url: The address of the page to which the rules in SARIF link, or "" for no links.
        problems: Whether to show the problem of each plan, because there are several.
    """

    warnings: tuple[Finding, ...] = ()
    limit: int | None = 20
    base: str = "."
    rules_url: str = ""
    problems: bool = False
    failures_only: bool = False


def relative_path(file: str, base: str) -> str:
    """Return a path relative to a folder, with `/`; a path outside the folder becomes absolute.

    An empty name, and a name such as `<stdin>`, stay unchanged.
    """
    if not file or file.startswith("<"):
        return file
    path = os.path.abspath(file)  # noqa: PTH100 - keep links as written
    try:
        inside = os.path.relpath(path, base)
    except ValueError:  # another drive
        inside = os.pardir
    if inside == os.pardir or inside.startswith(os.pardir + os.sep):
        inside = path
    return inside.replace(os.sep, "/")


# Text ---------------------------------------------------------------------------------------------
# Human-readable results, with excerpts of the model files.

# Sources ------------------------------------------------------------------------------------------

_LINE_END = re.compile(r"\r\n|\r|\n")
_FILES_KEPT = 4
_LONGEST = 10_000


class SourceLines:
    """Reads lines of files for excerpts; unreadable files have no lines."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, place: Location) -> str:
        lines = self._lines(place.file)
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""

    def end_column(self, place: Location) -> int | None:
        """Return the column after the list or word at a place, or None if the line is unavailable.

        A list that continues on the next line, or is very long, counts up to the end of its line.
        """
        line = self.line(place)
        start = place.column - 1
        if start >= len(line):
            return None
        depth = 0
        for index in range(start, min(len(line), start + _LONGEST)):
            character = line[index]
            depth += (character == "(") - (character == ")")
            if character == ")" and depth <= 0:
                return index + 1 + (depth == 0)
            if depth == 0 and character.isspace():
                return index + 1
        return len(line.rstrip()) + 1

    def _lines(self, file: str) -> list[str]:
        if file not in self._files:
            # A least-recently-used cache: plan files come and go, while the domain and the problem
            # are requested repeatedly.
            while len(self._files) >= _FILES_KEPT:
                del self._files[next(iter(self._files))]
            self._files[file] = _read(file)
        self._files[file] = lines = self._files.pop(file)
        return lines


def _read(file: str) -> list[str]:
    from hvr.pddl.reader import SourceText

    try:
        if not Path(file).is_file():
            return []
        return _LINE_END.split(SourceText.read(Path(file), lenient=True).text)
    except (HvrError, OSError, ValueError):
        return []


# Text ---------------------------------------------------------------------------------------------

_WIDTH = 100
_EXCERPTS = 3


def report_text(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield the report of each plan, and a summary line if there are several plans."""
    sources: SourceLines | None = None
    outcomes: Counter[Outcome] = Counter()
    for warning in options.warnings:
        yield f"{one_line(str(warning))}\n"
    for result in results:
        count_outcomes(result, outcomes)
        if sources is None and result.report.outcome is not Outcome.VALID:
            sources = SourceLines()  # a valid plan needs no excerpts
        for warning in result.warnings:
            yield f"{one_line(str(warning))}\n"
        if options.failures_only and result.report.outcome is Outcome.VALID:
            continue
        yield (
            render_result(result, sources=sources, limit=options.limit, problem=options.problems)
            + "\n"
        )
    if outcomes.total() > 1 or (outcomes and options.failures_only):
        yield summary(outcomes) + "\n"


def count_outcomes(result: Judged, outcomes: Counter[Outcome]) -> None:
    """Count the plans of a result: one plan, or all plans of an unusable model."""
    outcomes[result.report.outcome] += 1 if result.plan else len(result.blocked)


def summary(outcomes: Counter[Outcome]) -> str:
    """Return a summary line with the number of plans per outcome."""
    parts = [f"{outcomes[o]} {o.value}" for o in Outcome if outcomes[o]]
    return f"{count(outcomes.total(), 'plan')}: {', '.join(parts)}"


def render_report(report: ValidationReport, *, name: str = "plan", limit: int | None = 20) -> str:
    """Return a report as text, without excerpts and final newline; see `ReportOptions.limit`."""
    return "\n".join(_verdict(report, name, limit, None, ids=False))


def render_result(
    result: Judged,
    *,
    sources: SourceLines | None = None,
    limit: int | None = 20,
    problem: bool = False,
) -> str:
    """Return the complete result of a plan as text, without a final newline.

    Args:
        sources: The source of excerpts, or None to show no excerpts.
        limit: The maximum number of unmet literals to show, or None for no limit.
        problem: Whether to name the problem.
    """
    judged = result.result
    of = f" for {one_line(judged.problem)}" if problem and judged.problem and judged.plan else ""
    if result.report.outcome is Outcome.UNKNOWN:
        lines = _unusable(result, of)
    else:
        lines = _verdict(result.report, one_line(result.plan) + of, limit, sources, ids=True)
    if result.blocked:
        lines.append(
            f"  {count(len(result.blocked), 'plan')} not judged because of this: "
            f"{one_line(', '.join(result.blocked))}"
        )
    lines += _preferences(result.report)
    if judged.repair is not None:
        lines += _advice(judged.repair)
    elif judged.repair_note:
        lines.append(f"  no advice: {judged.repair_note}")
    if judged.minimised is not None:
        lines += _minimised(judged.minimised, judged.removed)
    lines += _states(result)
    lines += [f"  note: {note} [{rule_of_note(note).id}]" for note in result.report.notes]
    return "\n".join(lines)


def _unusable(result: Judged, of: str) -> list[str]:
    diagnostic = result.result.diagnostic
    rule = RULES.get(result.rule, SYNTAX if diagnostic else UNDECIDED)
    name = result.plan or (diagnostic.location.file if diagnostic else result.result.domain)
    head = f"{one_line(name)}{of}: {Outcome.UNKNOWN.value}"
    if diagnostic is None:
        return [f"{head}: {result.report.reason} [{rule.id}]"]
    what = rule.name.replace("-", " ")
    return [f"{head}: {what} [{rule.id}]", *(f"  {line}" for line in str(diagnostic).splitlines())]


def _verdict(
    report: ValidationReport,
    name: str,
    limit: int | None,
    sources: SourceLines | None,
    *,
    ids: bool,
) -> list[str]:
    if report.outcome is Outcome.VALID:
        cost = "" if report.cost is None else f", cost {decimal_text(report.cost)}"
        return [f"{name}: valid ({count(report.steps, 'step')}{cost})"]
    if report.outcome is Outcome.UNKNOWN or not report.failures:
        return [f"{name}: {report.outcome.value}: {report.reason}"]
    lines = []
    for number, failure in enumerate(report.failures):
        tag = f" [{FAILURE_RULES[failure.kind].id}]" if ids else ""
        start = f"{name}: invalid: " if number == 0 else "  and: "
        lines.append(f"{start}{_where(failure, report)}{tag}")
        lines += _failure(failure, limit)
        if sources is not None:
            lines += _excerpts(failure, limit, sources)
    return lines


def _where(failure: Failure, report: ValidationReport) -> str:
    at = "" if failure.time is None else f", at time {decimal_text(failure.time)}"
    if failure.kind is FailureKind.GOAL:
        return f"goal not reached after {count(report.steps, 'step')}{at}"
    if failure.step is None:
        return f"{failure.kind.value}{at}"
    return f"{failure.kind.value} at step {failure.step} of {report.steps}{at}"


def _failure(failure: Failure, limit: int | None) -> list[str]:
    lines = []
    if failure.action is not None:
        place = f"    [{failure.location}]" if failure.location else ""
        lines.append(f"  {short(failure.action)}{place}")
    if failure.literals:
        shown = failure.literals[:limit]
        width = min(48, max(len(str(literal)) for literal in shown))
        for literal in shown:
            lines.append(short_names(f"    {literal!s:<{width}}  {_provenance(literal)}"))
            lines += _causes(literal, 6)
        if len(shown) < len(failure.literals):
            lines.append(f"    … and {len(failure.literals) - len(shown)} more")
    else:
        lines.append(f"    {failure.message}")
    if failure.suggestion:
        lines.append(f"  did you mean {failure.suggestion!r}?")
    return lines


def _causes(literal: UnmetLiteral, indent: int) -> list[str]:
    lines: list[str] = []
    for cause in literal.because:
        lines.append(short_names(f"{' ' * indent}{cause!s}  {_provenance(cause)}"))
        lines += _causes(cause, indent + 2)
    return lines


def _provenance(literal: UnmetLiteral) -> str:
    value = "true" if literal.actual else "false"
    if literal.numbers:
        by = f", changed by {literal.changed_by}" if literal.changed_by else ""
        return explain_numbers(literal) + by
    if literal.because:
        return f"{value}; it would {'follow' if literal.wanted else 'be false'} with:"
    if not isinstance(literal.formula, Atom):
        return "violated"
    if literal.fixed:
        return f"always {value}"
    if literal.changed_by is not None:
        return f"made {value} by {literal.changed_by}"
    return f"{value} since the initial state"


def _excerpts(failure: Failure, limit: int | None, sources: SourceLines) -> list[str]:
    literals = failure.literals[:limit]
    causes = [cause for literal in literals for cause in literal.because]
    places = [literal.location for literal in (*literals, *causes) if literal.location]
    if not places and failure.condition is not None:
        places = [failure.condition]
    lines_of: dict[tuple[str, int], list[Location]] = {}
    for place in places:
        lines_of.setdefault((place.file, place.line), []).append(place)
    lines: list[str] = []
    for (file, number), marked in list(lines_of.items())[:_EXCERPTS]:
        text = sources.line(marked[0])
        if text.strip():
            lines.append(f"  {file}:{number}")
            lines += [f"    {line}" for line in _marked(text, [p.column for p in marked])]
    return lines


def _marked(line: str, columns: Sequence[int]) -> list[str]:
    indent = len(line) - len(line.lstrip())
    start = max(indent, min(columns) - _WIDTH // 2) if len(line) - indent > _WIDTH else indent
    cut = line[start : start + _WIDTH].rstrip()
    at = {column - 1 - start for column in columns}
    # Keep tabs, so that each caret stands under its character.
    carets = "".join(
        "^" if index in at else "\t" if character == "\t" else " "
        for index, character in enumerate(cut)
    )
    before = "…" if start > indent else ""
    after = "…" if start + _WIDTH < len(line) else ""
    return [f"{before}{cut}{after}", f"{' ' * len(before)}{carets.rstrip()}"]


def _preferences(report: ValidationReport) -> list[str]:
    if not report.violated:
        return []
    broken = [(name, times) for name, times in report.violated if times]
    kept = len(report.violated) - len(broken)
    line = f"  preferences: {kept} of {len(report.violated)} satisfied"
    if broken:
        names = [name if times == 1 else f"{name} ({times} times)" for name, times in broken]
        line += f"; violated: {', '.join(names)}"
    return [line]


def _advice(repair: Repair) -> list[str]:
    return [f"  advice: {explain_repair(repair)}"]


def _minimised(steps: Sequence[Step], removed: Sequence[int]) -> list[str]:
    if not removed:
        return ["  minimised: every step is needed"]
    noun = "step" if len(removed) == 1 else "steps"
    numbers = ", ".join(map(str, removed))
    lines = [f"  minimised: without {noun} {numbers} the plan is still valid:"]
    return lines + [f"    {step}" for step in steps]


def _states(result: Judged) -> list[str]:
    lines: list[str] = []
    if result.happenings is not None:
        lines.append("  happenings:")
        lines += [f"    {happening}" for happening in result.happenings]
    if result.values is not None:
        lines.append("  values:")
        for curve in result.values:
            lines.append(f"    {curve.fluent}")
            lines += [f"      {piece}" for piece in curve.pieces]
    if result.state is not None:
        step = result.state.step
        after = f"state after step {step}" if step else "initial state"
        last = ", the last one reached" if step < result.state.requested else ""
        lines.append(f"  {after}{last}:")
        lines += [f"    {atom}" for atom in result.state.atoms]
        lines += [f"    (= {term} {decimal_text(n)})" for term, n in result.state.numbers]
    return lines

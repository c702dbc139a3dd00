"""Machine-readable results: JSON, SARIF, GitHub, JUnit XML and Markdown; baselines of findings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import hvr
from hvr.base.printable import one_line
from hvr.base.texts import read_json
from hvr.errors import DataFileError
from hvr.pddl import Location
from hvr.validation.findings import (
    NOT_VALIDATED,
    RULES,
    Finding,
    Judged,
    Level,
    Rule,
    findings,
    help_url,
)
from hvr.validation.report import Outcome, count
from hvr.validation.reporters import (
    ReportOptions,
    SourceLines,
    count_outcomes,
    relative_path,
    render_result,
    summary,
)
from hvr.values import answer_json

# Baseline -----------------------------------------------------------------------------------------
# Findings that a project has accepted for now, so that CI fails only for new ones.

_VERSION = 1


def fingerprint(finding: Finding, base: str, seen: Counter[str]) -> str:
    """Return an identifier of a finding that stays the same if lines are inserted above it.

    `seen` counts equal findings, so that each repeat has its own identifier.
    """
    key = "\n".join((finding.rule.id, relative_path(finding.file, base), finding.subject))
    seen[key] += 1
    text = f"{key}\n{seen[key]}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Baseline:
    """The accepted findings in a baseline file, compared with the findings of a run.

    Paths of findings are relative to the folder of the file. `met` counts the accepted findings
    that the run repeats.
    """

    def __init__(self, file: Path, known: Iterable[str] = ()) -> None:
        self.file = file
        self.met = 0
        self._base = str(file.absolute().parent)
        self._known = frozenset(known)
        self._found: dict[str, Finding] = {}

    @classmethod
    def read(cls, file: Path) -> Baseline:
        content = read_json(file)
        listed = content.get("findings") if isinstance(content, dict) else None
        if not isinstance(listed, list) or content.get("version") != _VERSION:
            raise DataFileError(f"{file} is not a baseline; --update-baseline writes one")
        if not all(isinstance(f, dict) and isinstance(f.get("fingerprint"), str) for f in listed):
            raise DataFileError(f"{file}: a finding has no fingerprint")
        return cls(file, (f["fingerprint"] for f in listed))

    @property
    def gone(self) -> int:
        """The number of accepted findings that the run no longer has."""
        return len(self._known) - self.met

    def unknown(self, results: Iterable[Judged]) -> Iterator[Judged]:
        """Yield the results, except those whose errors are all accepted."""
        seen: Counter[str] = Counter()
        for result in results:
            if result.report.outcome is Outcome.VALID:
                yield result
                continue
            errors = [f for f in findings(result) if f.level is Level.ERROR]
            prints = {fingerprint(f, self._base, seen): f for f in errors}
            self._found |= prints
            self.met += len(self._known & prints.keys())
            if not prints or not prints.keys() <= self._known:
                yield result

    def text(self) -> str:
        """Return the content of a baseline file that accepts the findings of the completed run."""
        found = [
            {"rule": f.rule.id, "file": relative_path(f.file, self._base), "fingerprint": mark}
            for mark, f in self._found.items()
        ]
        return json.dumps({"version": _VERSION, "findings": found}, indent=1) + "\n"


# JSON ---------------------------------------------------------------------------------------------


def report_json(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield a JSON document: a list with one line per plan."""
    del options
    separator = "[\n"
    for result in (one for many in results for one in many.expanded()):
        yield separator + json.dumps(answer_json(result), ensure_ascii=False)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


# JSON lines ---------------------------------------------------------------------------------------


def report_json_lines(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield a line with a JSON object for each plan."""
    del options
    for result in (one for many in results for one in many.expanded()):
        yield json.dumps(answer_json(result), ensure_ascii=False) + "\n"


# SARIF --------------------------------------------------------------------------------------------
# SARIF 2.1.0, for code scanning.

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def report_sarif(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield a SARIF log in one chunk, with a result for each finding."""
    writer = _Writer(options)
    for warning in options.warnings:
        writer.add(warning)
    for result in results:
        for warning in result.warnings:
            writer.add(warning)
        for finding in findings(result, limit=options.limit):
            writer.add(finding)
    yield json.dumps(writer.log(), ensure_ascii=False, indent=1) + "\n"


class _Writer:
    def __init__(self, options: ReportOptions) -> None:
        self._options = options
        self._sources = SourceLines()
        self._results: list[dict[str, Any]] = []
        self._seen: Counter[str] = Counter()
        self._places = {rule: index for index, rule in enumerate(RULES)}

    def add(self, finding: Finding) -> None:
        result: dict[str, Any] = {
            "ruleId": finding.rule.id,
            "ruleIndex": self._places[finding.rule.id],
            "level": finding.level.value,
            "message": {"text": finding.message},
            "locations": [self._location(finding.location, finding.file)],
            "partialFingerprints": {
                "hvrFinding/v1": fingerprint(finding, self._options.base, self._seen)
            },
        }
        if finding.related:
            result["relatedLocations"] = [
                {
                    "id": number,
                    **self._location(related.location, related.location.file),
                    "message": {"text": related.message},
                }
                for number, related in enumerate(finding.related, 1)
            ]
        self._results.append(result)

    def log(self) -> dict[str, Any]:
        driver = {
            "name": "hvr",
            "semanticVersion": hvr.__version__,
            "rules": [self._rule(rule) for rule in RULES.values()],
        }
        run = {
            "tool": {"driver": driver},
            # hvr counts characters; SARIF's default is UTF-16 units.
            "columnKind": "unicodeCodePoints",
            "results": self._results,
        }
        return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}

    def _rule(self, rule: Rule) -> dict[str, Any]:
        page = help_url(rule, self._options.rules_url) if self._options.rules_url else ""
        words = rule.name.split("-")
        described: dict[str, Any] = {
            "id": rule.id,
            "name": "".join(word.capitalize() for word in words),
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.summary},
            "help": {"text": f"{rule.summary} More: {page or help_url(rule)}"},
            "defaultConfiguration": {"level": rule.level.value},
        }
        if page:
            described["helpUri"] = page
        return described

    def _location(self, place: Location | None, file: str) -> dict[str, Any]:
        # Viewers need a region, so findings about a whole file point to its first line.
        region = {"startLine": 1}
        if place is not None:
            region = {"startLine": place.line, "startColumn": place.column}
            end = self._sources.end_column(place)
            if end is not None:
                region["endColumn"] = end
        return {
            "physicalLocation": {"artifactLocation": {"uri": self._uri(file)}, "region": region}
        }

    def _uri(self, file: str) -> str:
        path = relative_path(file, self._options.base)
        if path.startswith("/"):
            return "file://" + quote(path, errors="surrogateescape")
        if path[1:2] == ":":
            return "file:///" + quote(path, safe="/:")
        return quote(path, errors="surrogateescape")


# GitHub -------------------------------------------------------------------------------------------
# Annotations of a GitHub workflow, among the text of the log.
#
# GitHub shows ten annotations of each level per step. Further findings become lines of the log, and
# a final line counts them.

SHOWN = 10
"""Number of annotations per level that GitHub shows for a step."""

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def report_github(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield the text of each plan, and an annotation for each error and warning."""
    sources = SourceLines()
    outcomes: Counter[Outcome] = Counter()
    annotations = _Annotations(options.base)
    for warning in options.warnings:
        yield annotations.of(warning)
    for result in results:
        count_outcomes(result, outcomes)
        for warning in result.warnings:
            yield annotations.of(warning)
        if options.failures_only and result.report.outcome is Outcome.VALID:
            continue
        text = render_result(result, sources=sources, limit=options.limit, problem=options.problems)
        yield escape_commands(text) + "\n"
        for finding in findings(result, limit=options.limit):
            if finding.level is not Level.NOTE:
                yield annotations.of(finding)
    if outcomes.total() > 1 or (outcomes and options.failures_only):
        yield summary(outcomes) + "\n"
    yield annotations.remark()


class _Annotations:
    """Formats findings as annotations until GitHub's limit, then as lines of text."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._levels: Counter[Level] = Counter()

    def of(self, finding: Finding) -> str:
        self._levels[finding.level] += 1
        if self._levels[finding.level] > SHOWN:
            return escape_commands(one_line(str(finding))) + "\n"
        return _annotation(finding, self._base)

    def remark(self) -> str:
        more = sum(max(0, number - SHOWN) for number in self._levels.values())
        if not more:
            return ""
        return (
            f"GitHub shows {SHOWN} errors, {SHOWN} warnings and {SHOWN} notices per step as "
            f"annotations; this log has {count(more, 'more finding')}\n"
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


def escape_commands(text: str) -> str:
    """Escape GitHub's workflow commands in text, because plans may contain any text."""
    lines = text.replace("##[", "# #[").splitlines()
    return "\n".join(
        line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines
    )


# JUnit --------------------------------------------------------------------------------------------
# JUnit XML, as read by GitLab and Jenkins.
#
# A problem is a test suite and a plan is a test case. An invalid plan is a failure; a plan that
# could not be judged is an error.

# Characters that XML 1.0 cannot represent.
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_junit(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield a JUnit document, one chunk per suite, once all results exist."""
    suites: dict[tuple[str, str], list[Judged]] = {}
    for result in (one for many in results for one in many.expanded()):
        suites.setdefault((result.result.domain, result.result.problem), []).append(result)
    everything = [result for suite in suites.values() for result in suite]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{attributes(name='hvr validate')}{_numbers(everything)}>\n"
    sources = SourceLines()
    for (domain, problem), suite in suites.items():
        yield f"  <testsuite{attributes(name=problem)}{_numbers(suite)}>\n"
        yield "".join(_case(result, domain, options, sources) for result in suite)
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _case(result: Judged, domain: str, options: ReportOptions, sources: SourceLines) -> str:
    name = result.plan or "domain and problem"
    head = attributes(
        name=name,
        classname=domain,
        file=relative_path(result.plan or domain, options.base),
        time=f"{result.seconds:.6f}",
    )
    if result.report.outcome is Outcome.VALID:
        return f"    <testcase{head}/>\n"
    if _blocked(result):
        reason = attributes(message=result.report.reason)
        return f"    <testcase{head}>\n      <skipped{reason}/>\n    </testcase>\n"
    finding = findings(result, limit=options.limit)[0]
    tag = "failure" if result.report.outcome is Outcome.INVALID else "error"
    first = finding.message.splitlines()[0] if finding.message else finding.rule.summary
    body = text(render_result(result, sources=sources, limit=options.limit))
    kind = attributes(type=f"{finding.rule.id} {finding.rule.name}", message=first)
    return f"    <testcase{head}>\n      <{tag}{kind}>{body}</{tag}>\n    </testcase>\n"


def _blocked(result: Judged) -> bool:
    return bool(result.plan and result.rule == NOT_VALIDATED.id and result.result.domain)


def _numbers(results: list[Judged]) -> str:
    outcomes = [result.report.outcome for result in results]
    skipped = sum(map(_blocked, results))
    return attributes(
        tests=str(len(outcomes)),
        failures=str(outcomes.count(Outcome.INVALID)),
        errors=str(outcomes.count(Outcome.UNKNOWN) - skipped),
        skipped=str(skipped),
        time=f"{sum(result.seconds for result in results):.6f}",
    )


def attributes(**values: str) -> str:
    # `quoteattr` escapes line breaks, which would not survive in an attribute otherwise.
    return "".join(f" {name}={quoteattr(_clean(value))}" for name, value in values.items())


def text(value: str) -> str:
    return escape(_clean(value))


def _clean(value: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)


# JUnit for lint -----------------------------------------------------------------------------------
# JUnit XML of `hvr lint`: a file is a test suite and a finding is a test case.
#
# Errors and warnings are failures, unusable files are errors, and notes are passing test cases. A
# file without findings is a passing test case.


def report_junit_lint(
    findings: Sequence[Finding], files: Sequence[str], base: str
) -> Iterator[str]:
    suites: dict[str, list[Finding]] = {file: [] for file in files}
    for finding in findings:
        suites.setdefault(finding.file, []).append(finding)
    everything = [finding for suite in suites.values() for finding in suite]
    clean = sum(not suite for suite in suites.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{attributes(name='hvr lint')}{_lint_numbers(everything, clean)}>\n"
    for file, suite in suites.items():
        yield f"  <testsuite{attributes(name=file)}{_lint_numbers(suite, not suite)}>\n"
        if not suite:
            head = attributes(name="lint", classname=file, file=relative_path(file, base))
            yield f"    <testcase{head}/>\n"
        yield "".join(_lint_case(finding, base) for finding in suite)
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _lint_case(finding: Finding, base: str) -> str:
    place = finding.location
    where = f":{place.line}:{place.column}" if place else ""
    head = attributes(
        name=f"{finding.rule.id} {finding.rule.name}{where}",
        classname=finding.file,
        file=relative_path(finding.file, base),
    )
    body = text(str(finding))
    tag = _tag(finding)
    if not tag:
        return f"    <testcase{head}>\n      <system-out>{body}</system-out>\n    </testcase>\n"
    kind = attributes(type=f"{finding.rule.id} {finding.rule.name}", message=finding.message)
    return f"    <testcase{head}>\n      <{tag}{kind}>{body}</{tag}>\n    </testcase>\n"


def _tag(finding: Finding) -> str:
    if finding.rule.id.startswith("HVR0"):
        return "error"
    return "" if finding.level is Level.NOTE else "failure"


def _lint_numbers(findings: Sequence[Finding], clean: int) -> str:
    tags = [_tag(finding) for finding in findings]
    return attributes(
        tests=str(len(tags) + clean),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped="0",
    )


# Markdown -----------------------------------------------------------------------------------------
# A table of the plans that are not valid, for the summary page of a CI job.

_ROWS = 200
_LONGEST = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def report_markdown(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Yield a summary and a row for each plan that is not valid, once all results exist.

    Only the first _ROWS rows are written; the rest are counted.
    """
    outcomes: Counter[Outcome] = Counter()
    rows: list[str] = []
    for result in results:
        count_outcomes(result, outcomes)
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
    line = one_line(" ".join(text.split()))
    shown = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    return _SPECIAL.sub(r"\\\1", shown)

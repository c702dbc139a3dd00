"""Findings of `hvr lint` as JUnit XML: a file is a test suite, a finding a test case.

Errors and warnings are failures, what makes a file unusable is an error, and a note is a test
case that passes. A file without findings is a test case of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.validation.findings import Finding
from hvr.validation.reporters import relative_path
from hvr.validation.reporters.junit import attributes, text
from hvr.validation.rules import Level


def report(findings: Sequence[Finding], files: Sequence[str], base: str) -> Iterator[str]:
    """Give the document.

    Args:
        findings: what was found.
        files: the files that were looked at.
        base: the folder that paths are given relative to.
    """
    suites: dict[str, list[Finding]] = {file: [] for file in files}
    for finding in findings:
        suites.setdefault(finding.file, []).append(finding)
    everything = [finding for suite in suites.values() for finding in suite]
    clean = sum(not suite for suite in suites.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{attributes(name='hvr lint')}{_numbers(everything, clean)}>\n"
    for file, suite in suites.items():
        yield f"  <testsuite{attributes(name=file)}{_numbers(suite, not suite)}>\n"
        if not suite:
            head = attributes(name="lint", classname=file, file=relative_path(file, base))
            yield f"    <testcase{head}/>\n"
        yield "".join(_case(finding, base) for finding in suite)
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _case(finding: Finding, base: str) -> str:
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


def _numbers(findings: Sequence[Finding], clean: int) -> str:
    tags = [_tag(finding) for finding in findings]
    return attributes(
        tests=str(len(tags) + clean),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped="0",
    )

"""Results as JUnit XML, in the form that GitLab and Jenkins read.

A problem is a test suite, a plan is a test case; an invalid plan is a failure, a plan that could
not be judged an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from hvr.validation.findings import findings
from hvr.validation.judged import NOT_VALIDATED, Judged
from hvr.validation.report import Outcome
from hvr.validation.reporters import ReportOptions, relative_path
from hvr.validation.reporters.text import render_result
from hvr.validation.sources import SourceLines

# What XML 1.0 has no way to write.
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(results: Iterable[Judged], options: ReportOptions) -> Iterator[str]:
    """Give the document, in one chunk a suite; needs all results first, for their numbers."""
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
    """Whether a plan was not judged because of its domain or problem."""
    return bool(result.plan and result.rule == NOT_VALIDATED and result.result.domain)


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
    """Return the attributes of an element."""
    # `quoteattr` gives line breaks as references, which is how they survive in an attribute.
    return "".join(f" {name}={quoteattr(_clean(value))}" for name, value in values.items())


def text(value: str) -> str:
    """Return what stands in an element."""
    return escape(_clean(value))


def _clean(value: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)

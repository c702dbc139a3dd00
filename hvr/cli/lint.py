"""`hvr lint`: what is wrong, superfluous or suspicious in a domain and a problem."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.cli.streams import use_utf8
from hvr.errors import HvrError

if TYPE_CHECKING:
    from hvr.validation.findings import Finding

_DESCRIPTION = """\
Look for what is wrong, superfluous or suspicious in a PDDL domain: what is declared and never
used, missing and superfluous requirements, conditions that contradict themselves, effects that
change nothing; with a PROBLEM also actions that can never apply in it, goals that cannot be
reached or hold from the beginning, and numbers without a value.
"""

_EPILOG = """\
examples:
  hvr lint domain.pddl
  hvr lint domain.pddl problem.pddl
  hvr lint domain.pddl problem.pddl --format sarif > hvr.sarif

exit codes:
  0  nothing but notes was found
  1  an error or a warning was found; with --strict, a note
  2  a file or an option cannot be used
"""

_FORMATS = ("text", "json", "sarif", "github")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("domain", metavar="DOMAIN", help="the domain file")
    parser.add_argument("problem", metavar="PROBLEM", nargs="?", help="a problem file")
    parser.add_argument("--format", choices=_FORMATS, help=(
        "how to report (default: text; github where GITHUB_ACTIONS is true)"))  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 1 for notes, too")
    parser.add_argument("--lenient", action="store_true", help=(
        "report what a lenient reading overlooks, instead of refusing the file"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    try:
        findings = _findings(args.domain, args.problem, lenient=args.lenient)
    except _UnusableFileError as error:
        _write([error.finding], _format(args))
        return 2
    _write(findings, _format(args))
    from hvr.validation.rules import Level

    counted = [f for f in findings if args.strict or f.level is not Level.NOTE]
    return 1 if counted else 0


class _UnusableFileError(HvrError):
    """A file cannot be used; `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(str(finding))


def _format(options: argparse.Namespace) -> str:
    if options.format is None:
        return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    chosen: str = options.format
    return chosen


def _findings(domain: str, problem: str | None, *, lenient: bool = False) -> list[Finding]:
    """Read the files and return what there is to say about them.

    Raises:
        _UnusableFileError: a file cannot be read or used.
    """
    from hvr.hddl.batch import is_hierarchical
    from hvr.pddl import Diagnostic
    from hvr.validation.findings import Finding, warning_finding
    from hvr.validation.rules import rule_of

    parse_domain, parse_problem, lint = _hddl() if is_hierarchical(domain) else _pddl()

    warnings: list[Diagnostic] = []
    task = None
    file = domain
    try:
        lifted = parse_domain(Path(domain), file=domain, lenient=lenient, warnings=warnings)
        if problem is not None:
            file = problem
            task = parse_problem(
                Path(problem), lifted, file=problem, lenient=lenient, warnings=warnings
            )
    except (HvrError, RecursionError, MemoryError) as error:
        raise _UnusableFileError(_unreadable(file, error)) from error
    findings = [warning_finding(warning) for warning in warnings]
    for one in lint(lifted, task):
        file = problem if one.in_problem and problem is not None else domain
        findings.append(
            Finding(rule_of(one), one.level, one.message, one.location, (), file, one.name)
        )
    return findings


def _pddl() -> tuple[Any, Any, Any]:
    """Return what reads a domain and a problem of PDDL, and looks at them."""
    from hvr.pddl import parse_domain, parse_problem
    from hvr.validation.lint.all_rules import lint

    return parse_domain, parse_problem, lint


def _hddl() -> tuple[Any, Any, Any]:
    """Return what reads a domain and a problem of HDDL, and looks at them."""
    from hvr.hddl.lint import lint_hddl
    from hvr.hddl.parse import parse_hddl_domain, parse_hddl_problem

    return parse_hddl_domain, parse_hddl_problem, lint_hddl


def _unreadable(file: str, error: BaseException) -> Finding:
    from hvr.errors import DataFileError, PddlSemanticError, PddlSyntaxError
    from hvr.pddl import UnsupportedPddlError
    from hvr.validation import rules
    from hvr.validation.findings import Finding

    diagnostic = getattr(error, "diagnostic", None)
    rule = rules.UNDECIDED
    for kind, of in (
        (UnsupportedPddlError, rules.UNSUPPORTED),
        (PddlSyntaxError, rules.SYNTAX),
        (PddlSemanticError, rules.SEMANTICS),
        (DataFileError, rules.UNREADABLE),
    ):
        if isinstance(error, kind):
            rule = of
            break
    message = str(error)
    if isinstance(error, RecursionError):
        message = "it is nested too deeply"
    elif isinstance(error, MemoryError):
        message = "there is not enough memory for it"
    if diagnostic is None:
        return Finding(rule, rule.level, message, None, (), file, message)
    message = diagnostic.message
    if diagnostic.expected:
        message += f"; expected: {diagnostic.expected}"
    if diagnostic.suggestion:
        message += f"; did you mean {diagnostic.suggestion!r}?"
    place = diagnostic.location
    return Finding(rule, rule.level, message, place, (), place.file, diagnostic.message)


def _write(findings: Sequence[Finding], form: str) -> None:
    if form in ("json", "sarif"):
        use_utf8()
    sys.stdout.writelines(_chunks(findings, form))
    sys.stdout.flush()


def _chunks(findings: Sequence[Finding], form: str) -> Iterator[str]:
    if form == "json":
        yield json.dumps([_to_json(one) for one in findings], ensure_ascii=False, indent=1) + "\n"
        return
    if form in ("sarif", "github"):
        from hvr.validation.reporters import ReportOptions, find_reporter

        base = os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd())
        if not Path.cwd().is_relative_to(base):
            base = str(Path.cwd())
        # A model has no plans; what is said about it are warnings of a report on none.
        yield from find_reporter(form)((), ReportOptions(tuple(findings), base=base))
        if form == "sarif":
            return
    else:
        yield from _text(findings)
    yield _summary(findings)


def _text(findings: Sequence[Finding]) -> Iterator[str]:
    from hvr.printable import one_line
    from hvr.validation.sources import SourceLines

    sources = SourceLines()
    for one in findings:
        yield f"{one_line(str(one))}\n"
        if one.location is None:
            continue
        line = sources.line(one.location).rstrip()
        if line.strip() and len(line) <= 160:
            indent = len(line) - len(line.lstrip())
            before = line[indent : one.location.column - 1]
            caret = "".join("\t" if c == "\t" else " " for c in before)
            yield f"    {line[indent:]}\n    {caret}^\n"


def _summary(findings: Sequence[Finding]) -> str:
    from hvr.validation.rules import Level
    from hvr.validation.text import count

    levels = Counter(one.level for one in findings)
    parts = [count(levels[level], level.value) for level in Level if levels[level]]
    return f"{', '.join(parts) or 'nothing found'}\n"


def _to_json(finding: Finding) -> dict[str, object]:
    from hvr.validation.report import location_to_json

    return {
        "rule": finding.rule.id,
        "name": finding.rule.name,
        "level": finding.level.value,
        "message": finding.message,
        "file": finding.file,
        "about": finding.subject,
        "location": location_to_json(finding.location),
    }

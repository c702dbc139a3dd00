"""`hvr lint`: finds errors, redundancies and suspicious parts in a domain and a problem."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.reporting import (
    LINT_SECTION,
    Reports,
    add_report_arguments,
    read_reports,
    read_settings,
    report_base,
)
from hvr.values import answer_json

if TYPE_CHECKING:
    from hvr.validation.findings import Finding
    from hvr.validation.lint_files import LintTargets

_DESCRIPTION = """\
Find errors, redundancies and suspicious parts of a PDDL domain: unused declarations, missing and
redundant requirements, contradictory conditions, effects that change nothing; with a PROBLEM also
actions that can never apply, goals that cannot be reached or already hold, and numbers without a
value. In folders and many files, each problem is linted with the domain that it names. Without
FILES and settings, the current folder is linted.
"""

_EPILOG = """\
examples:
  hvr lint domain.pddl
  hvr lint domain.pddl problem.pddl
  hvr lint domain.pddl problem.pddl --format text --format sarif=hvr.sarif
  hvr lint benchmarks/ --ignore HVR301,HVR316

in the files:
  ; hvr: ignore HVR303       at the end of a line, or on a line of its own before it
  ; hvr: ignore-file HVR303  anywhere

settings:
  files, skip, select, ignore, format, strict, lenient and rules-url in [tool.hvr.lint] of the
  nearest pyproject.toml; options on the command line take precedence

exit codes:
  0  only notes or nothing was found
  1  an error or a warning was found; with --strict, a note
  2  a file or an option cannot be used
"""

_FORMATS = ("text", "json", "junit", "sarif", "github")


def add_lint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.usage = f"{parser.prog} [OPTIONS] DOMAIN [PROBLEM] | FILES..."
    parser.add_argument("files", nargs="*", metavar="FILES", help="domains and problems")
    parser.add_argument(
        "--select",
        metavar="RULES",
        action="append",
        help="report only rules with these prefixes, such as HVR3 or HVR301,HVR311",
    )
    parser.add_argument(
        "--ignore", metavar="RULES", action="append", help="ignore rules with these prefixes"
    )
    parser.add_argument(
        "--skip", metavar="PATTERN", action="append", help="exclude matching files; may be repeated"
    )
    add_report_arguments(parser, _FORMATS)
    parser.add_argument(
        "--strict", action="store_const", const=True, help="also exit with 1 for notes"
    )
    parser.add_argument(
        "--lenient",
        action="store_const",
        const=True,
        help="report violations that a lenient parser accepts, instead of rejecting the file",
    )


def run_lint(args: argparse.Namespace) -> int:
    from hvr.validation.findings import Level
    from hvr.validation.lint_files import (
        RuleSelection,
        find_models,
        lint_files,
        read_rules,
        without_ignored,
    )

    settings = read_settings(Path.cwd(), LINT_SECTION)
    reports = read_reports(args, settings, _FORMATS)
    reports.check_writable()

    def chosen(name: str, default: Any) -> Any:
        value = getattr(args, name)
        return settings.get(name, default) if value is None else value

    names = args.files or settings.get("files", ()) or (".",)
    choice = RuleSelection(read_rules(chosen("select", ())), read_rules(chosen("ignore", ())))
    models = find_models(names, chosen("skip", ()))
    if reports.files:
        from hvr.doors.cli.output import check_apart

        check_apart(reports.paths, [file for pair in models.pairs for file in pair if file])
    found = lint_files(models, lenient=chosen("lenient", False))
    findings = without_ignored([finding for finding in found if choice.wants(finding)])
    _write(findings, models, reports, settings.get("rules_url", ""))
    if any(finding.rule.id.startswith("HVR0") for finding in findings):
        return 2
    strict = chosen("strict", False)
    return 1 if any(strict or f.level is not Level.NOTE for f in findings) else 0


def _write(
    findings: Sequence[Finding], models: LintTargets, reports: Reports, rules_url: str
) -> None:
    from hvr.validation.lint_files import merge_findings

    folded = merge_findings(findings, models)

    def render(form: str, _: Iterable[Finding]) -> Iterator[str]:
        if form == "json":
            from hvr.doors.schema import LintAnswer

            answer = answer_json(LintAnswer(tuple(findings)))
            yield json.dumps(answer, ensure_ascii=False, indent=1) + "\n"
        elif form == "junit":
            from hvr.validation.machine_reports import report_junit_lint

            files = dict.fromkeys(file for pair in models.pairs for file in pair if file)
            yield from report_junit_lint(findings, list(files), report_base())
        elif form in ("sarif", "github"):
            from hvr.validation.outcomes import find_reporter
            from hvr.validation.reporters import ReportOptions

            # A model has no plans, so report its findings as warnings in an empty report.
            options = ReportOptions(tuple(folded), base=report_base(), rules_url=rules_url)
            yield from find_reporter(form)((), options)
        else:
            yield from _text(folded)
        if form in ("text", "github"):
            yield _summary(folded, len(findings))

    reports.write(findings, render, shown=True)
    if reports.brief:
        print(_summary(folded, len(findings)).rstrip() + f"; see {reports.files[0].path}")
    if models.others:
        from hvr.base.printable import one_line

        names = ", ".join(models.others)
        print(one_line(f"not domains or problems: {names}"), file=sys.stderr)


def _text(findings: Sequence[Finding]) -> Iterator[str]:
    from hvr.base.printable import one_line
    from hvr.validation.reporters import SourceLines

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


def _summary(findings: Sequence[Finding], all_findings: int) -> str:
    from hvr.validation.findings import Level
    from hvr.validation.report import count

    levels = Counter(one.level for one in findings)
    parts = [count(levels[level], level.value) for level in Level if levels[level]]
    repeats = all_findings - len(findings)
    more = f" (and {count(repeats, 'repeat')} in other problems)" if repeats else ""
    return f"{', '.join(parts) or 'nothing found'}{more}\n"

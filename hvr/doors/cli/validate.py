"""`hvr validate`: checks whether plans are valid and, if not, explains why."""

from __future__ import annotations

import argparse
import gc
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli import arguments
from hvr.doors.cli.arguments import add_engine_options, other_engine
from hvr.doors.cli.reporting import (
    FOR_PEOPLE,
    Reports,
    add_report_arguments,
    read_reports,
    read_settings,
    report_base,
)
from hvr.errors import UsageError
from hvr.validation.outcomes import OnFailure, Outcome, find_reporter
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.validation.batch import BatchOptions, UnusableModelError
    from hvr.validation.findings import Judged
    from hvr.validation.suites import Suite

_DESCRIPTION = """\
Validate PDDL plans: report whether each is valid, and if not, at which step and why.

FILES are the domain, the problem and then plans: files, patterns such as 'plans/**/*.soln',
folders (everything in them that looks like a plan), or - for standard input. Alternatively they
form a suite: folders with domains, problems and plans, which are paired by name; names that
contain {domain} and {problem}; or a manifest, a .jsonl file with domain, problem and plan.
Without FILES and settings, the suite is the current folder.
"""

_EPILOG = """\
examples:
  hvr validate domain.pddl problem.pddl plan.txt
  hvr validate domain.pddl problem.pddl plans/ --jobs 4
  hvr validate domain.pddl problem.pddl plan.txt --advise
  hvr validate domain.pddl problem.pddl 'out/*.plan' --format text --format sarif=hvr.sarif
  some-planner domain.pddl problem.pddl | hvr validate domain.pddl problem.pddl - --json
  hvr validate domain.pddl problem.pddl plan.txt --watch
  hvr validate benchmarks/ --skip '*.log'
  hvr validate benchmarks/ --engine ray --address auto
  hvr validate --serve --texts-only < requests.jsonl
  hvr validate --rows plans.jsonl --output-file verdicts.jsonl --jobs 0
  hvr validate '{domain}/domain.pddl' '{domain}/{problem}.pddl' 'plans/{domain}-{problem}.*'

exit codes:
  0  every plan is valid
  1  at least one plan is invalid, and every plan could be judged
  2  at least one plan could not be judged, a file that looks like a plan was not validated, or
     a file or an option is invalid

settings:
  [tool.hvr.validate] in the nearest pyproject.toml accepts the same options, and also
  domain = "FILE", problem = "FILE", plans = ["NAME", ...] or suites = ["FOLDER", ...], and
  rules-url = "ADDRESS"; options on the command line take precedence
"""


class _Request(Value):
    files: tuple[str, ...]
    settings: dict[str, Any]
    skip: tuple[str, ...]
    reports: Reports
    pictures: dict[str, Path]
    certificate: Path | None
    exit_zero: bool
    quiet: bool
    failures_only: bool
    require_plans: bool
    changed_since: str | None
    baseline: Path | None
    update_baseline: bool
    explain_skipped: bool
    watch: bool
    engine: EngineChoice | None
    rules_url: str
    options: BatchOptions

    @property
    def outputs(self) -> list[Path]:
        baseline = [self.baseline] if self.baseline and self.update_baseline else []
        certificate = [] if self.certificate is None else [self.certificate]
        return [*self.reports.paths, *self.pictures.values(), *certificate, *baseline]


def add_validate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.usage = f"{parser.prog} [OPTIONS] DOMAIN PROBLEM PLAN... | SUITE..."
    parser.add_argument("files", nargs="*", metavar="FILES", help="domain, problem, plans")
    parser.add_argument(
        "--skip", metavar="PATTERN", action="append", help="exclude matching files; may be repeated"
    )
    _add_judging_options(parser)
    _add_detail_options(parser)
    _add_report_options(parser)


def _add_judging_options(parser: argparse.ArgumentParser) -> None:
    judging = parser.add_argument_group("judging")
    _flag(
        judging,
        "--extract",
        "extract the plan from text that does not mark it, such as answers of language models; "
        "always done for standard input and for the output of planners",
    )
    _value(
        judging,
        "--plan-number",
        "N",
        arguments.whole_number,
        "number of the plan, from 1, if the text contains several; 0 for the last one",
    )
    _flag(judging, "--lenient", "accept non-standard PDDL that VAL accepts")
    _add_tolerances(judging)
    _value(
        judging,
        "--until",
        "TIME",
        arguments.number,
        "continue processes and events until this time, even after the last step",
    )
    _flag(
        judging,
        "--any-order",
        "hierarchical plans: let the tasks of a method be listed in any order",
    )
    judging.add_argument(
        "--no-decomposition",
        action="store_true",
        help="hierarchical plans: read only the actions, and search for a decomposition",
    )
    _value(
        judging,
        "--jobs",
        "N",
        arguments.jobs,
        "number of processes; 0 for one per processor core (default: 1)",
    )

    add_engine_options(judging)


def _add_tolerances(group: argparse._ArgumentGroup) -> None:
    _value(
        group,
        "--epsilon",
        "N",
        arguments.number,
        "maximum time difference of simultaneous steps (default: tolerance / 10)",
    )
    _value(
        group,
        "--tolerance",
        "N",
        arguments.number,
        "maximum deviation from a required duration (default: 0.01)",
    )
    _value(
        group,
        "--numeric-tolerance",
        "N",
        arguments.number,
        "maximum violation of a numeric condition (default: 0; VAL: 0.0001)",
    )


def _add_detail_options(parser: argparse.ArgumentParser) -> None:
    asking = parser.add_argument_group("details")
    asking.add_argument(
        "--on-failure",
        choices=tuple(OnFailure),
        help=(
            "after a failing step: stop, or report every failure and continue as if the step were "
            "skipped or executed by force (default: stop)"
        ),
    )
    asking.add_argument(
        "--all-failures",
        dest="on_failure",
        action="store_const",
        const=OnFailure.SKIP,
        help="short for --on-failure skip",
    )
    _flag(asking, "--advise", "search for steps that would repair an invalid plan")
    _flag(asking, "--minimise", "find redundant steps of a valid plan")
    _value(
        asking,
        "--state-at",
        "STEP",
        arguments.whole_number,
        "show the state after a step; 0 for the initial state",
    )
    _flag(asking, "--happenings", "show all changes with their times")
    asking.add_argument(
        "--values",
        metavar="FILE.svg",
        nargs="?",
        const=True,
        help=(
            "show the numeric fluents over time; with FILE.svg, draw them for a single plan, with "
            "its processes"
        ),
    )
    asking.add_argument(
        "--no-values", dest="values", action="store_const", const=False, help=argparse.SUPPRESS
    )
    asking.add_argument(
        "--gantt",
        metavar="FILE",
        help="draw a single plan over time, as a picture (.svg) or a page (.html)",
    )
    asking.add_argument(
        "--html", metavar="FILE", help="write a single plan as one page: its steps and states"
    )
    asking.add_argument(
        "--certificate",
        metavar="FILE",
        help="write a proof of the verdict on a single plan, for hvr check",
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    reporting = parser.add_argument_group("reporting")
    add_report_arguments(reporting)
    reporting.add_argument("--json", action="store_true", help="short for --format json")
    reporting.add_argument(
        "--explain-skipped",
        action="store_true",
        help="list every file that is not validated, the reason, and how to include it",
    )
    _flag(reporting, "--exit-zero", "exit with 0 for invalid plans, but not for undecided ones")
    _flag(reporting, "--quiet", "print nothing", "-q")
    _flag(
        reporting,
        "--failures-only",
        "with text and github: print only plans that are not valid, and the counts",
    )
    _flag(
        reporting,
        "--require-plans",
        "report problems without a plan and domains without a problem (HVR007)",
    )
    _add_mode_options(reporting)


def _add_mode_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--baseline",
        metavar="FILE",
        help="report only findings that are not in this file of accepted ones",
    )
    group.add_argument(
        "--update-baseline",
        action="store_true",
        help="write the findings of this run to the --baseline file, and exit with 0",
    )
    group.add_argument(
        "--changed-since",
        metavar="REV",
        help=(
            "leave out plans that are unchanged since a git revision, with unchanged domains and "
            "problems"
        ),
    )
    group.add_argument(
        "--watch", action="store_true", help="validate again whenever a file changes, until Ctrl-C"
    )
    group.add_argument(
        "--rows",
        metavar="FILE",
        help=(
            "judge each row of a JSON lines file (- for standard input) or Parquet file with the "
            "columns domain, problem and plan; print a line of JSON per row, in order; with "
            "--output-file, resume after an interruption"
        ),
    )
    group.add_argument(
        "--serve",
        action="store_true",
        help=(
            "keep running and answer requests from standard input, each a line of JSON with "
            "domain, problem and plan"
        ),
    )
    group.add_argument(
        "--texts-only", action="store_true", help="with --serve: reject requests that name files"
    )


def run_validate(args: argparse.Namespace) -> int:
    # Reading creates many objects but hardly any garbage.
    gc.set_threshold(100_000)
    request = _request(args)
    if args.serve:
        written = args.format or args.output_file or args.certificate or request.pictures
        if args.files or args.watch or written:
            raise UsageError(
                "--serve cannot be combined with files, --watch, --output-file, --format, "
                "--certificate, --gantt, --html or --values FILE"
            )
        from hvr.doors.cli.verdict_streams import serve

        return serve(request.options, texts_only=args.texts_only)
    if args.texts_only:
        raise UsageError("--texts-only requires --serve")
    if args.rows is not None:
        return _judge_rows(args, request)
    if request.watch:
        from hvr.doors.cli.suites import watch

        return watch(lambda: _validate(request), lambda: _suite(request).files)
    return _validate(request)


def _judge_rows(args: argparse.Namespace, request: _Request) -> int:
    shown = _pictures(args) or args.certificate or args.format or args.json
    if args.files or args.watch or args.serve or shown:
        raise UsageError(
            "--rows cannot be combined with other files, --watch, --serve, --gantt, --html, "
            "--values FILE, --certificate or --format: it writes a line of JSON per row"
        )
    from hvr.doors.cli.verdict_streams import judge_rows

    output = Path(args.output_file) if args.output_file else None
    return judge_rows(args.rows, request.options, request.engine, output, quiet=request.quiet)


def _pictures(given: argparse.Namespace) -> dict[str, Path]:
    if given.gantt is None and given.html is None and not isinstance(given.values, str):
        return {}
    from hvr.doors.cli.certificates import named_pictures

    return named_pictures(given.gantt, given.values, given.html)


def _flag(group: argparse._ArgumentGroup, name: str, text: str, *short: str) -> None:
    group.add_argument(*short, name, action="store_const", const=True, help=text)
    # It only overrides a setting, so hide it in the help.
    opposite, target = f"--no-{name[2:]}", name[2:].replace("-", "_")
    group.add_argument(
        opposite, dest=target, action="store_const", const=False, help=argparse.SUPPRESS
    )


def _value(group: argparse._ArgumentGroup, name: str, what: str, read: Any, text: str) -> None:
    group.add_argument(name, metavar=what, type=read, help=text)


def _request(given: argparse.Namespace) -> _Request:
    from hvr.validation.batch import BatchOptions
    from hvr.validation.validator import EXACT

    settings = read_settings(Path.cwd())

    def chosen(name: str, default: Any) -> Any:
        value = getattr(given, name, None)
        return settings.get(name, default) if value is None else value

    if given.update_baseline and not chosen("baseline", None):
        raise UsageError("--update-baseline requires --baseline FILE")
    if given.watch and "-" in given.files:
        raise UsageError("--watch cannot read a plan from standard input: name a file")
    given.jobs = chosen("jobs", 1)
    reports = read_reports(given, settings)
    pictures = _pictures(given)
    json_values = None if any(form.startswith("json") for form in reports.forms) else False
    return _Request(
        files=tuple(given.files),
        settings=settings,
        skip=tuple(chosen("skip", ())),
        reports=reports,
        pictures=pictures,
        certificate=Path(given.certificate) if given.certificate else None,
        exit_zero=chosen("exit_zero", False),
        quiet=chosen("quiet", False),
        failures_only=chosen("failures_only", False),
        require_plans=chosen("require_plans", False),
        changed_since=given.changed_since,
        baseline=Path(baseline) if (baseline := chosen("baseline", None)) else None,
        update_baseline=given.update_baseline,
        explain_skipped=given.explain_skipped,
        watch=given.watch,
        engine=other_engine(given),
        rules_url=settings.get("rules_url", ""),
        options=BatchOptions(
            tolerance=chosen("tolerance", None),
            epsilon=chosen("epsilon", None),
            until=given.until,
            numeric_tolerance=chosen("numeric_tolerance", EXACT),
            lenient=chosen("lenient", False),
            on_failure=OnFailure(chosen("on_failure", OnFailure.STOP)),
            advise=chosen("advise", False),
            minimise=chosen("minimise", False),
            state_at=given.state_at,
            extract=chosen("extract", False),
            plan_number=given.plan_number,
            happenings=chosen("happenings", False),
            values="values" in pictures or chosen("values", json_values),
            timeline=any(path.suffix.lower() == ".svg" for path in pictures.values()),
            any_order=chosen("any_order", False),
            no_decomposition=given.no_decomposition,
        ),
    )


def _suite(request: _Request) -> Suite:
    from hvr.doors.cli.suites import find_suite

    extract = request.options.extract
    suite = find_suite(request.files, request.settings, request.skip, extract=extract)
    return suite.requiring_plans() if request.require_plans else suite


# Running ------------------------------------------------------------------------------------------


def _validate(request: _Request) -> int:
    from hvr.validation.batch import UnusableModelError
    from hvr.validation.suite_collection import judge_suite

    request.reports.check_writable()
    suite = _suite(request)
    unchanged = 0
    if request.changed_since is not None:
        from hvr.doors.cli.suites import changed_only

        suite, unchanged = changed_only(suite, request.changed_since)
    if request.outputs:
        from hvr.doors.cli.output import check_apart

        check_apart(request.outputs, suite.files)
    if request.pictures:
        from hvr.doors.cli.certificates import check_pictures

        check_pictures(request.pictures, suite)
    if request.certificate is not None:
        from hvr.doors.cli.certificates import check_certificate

        check_certificate(request.certificate, suite)
    outcomes: Counter[Outcome] = Counter()
    try:
        results = judge_suite(suite, request.options, engine=request.engine)
    except UnusableModelError as error:
        return _refused(request, error, outcomes)
    if request.pictures:
        from hvr.doors.cli.certificates import draw_charts

        results = draw_charts(request.pictures, results, suite)
    if request.certificate is not None:
        from hvr.doors.cli.certificates import certify

        results = certify(request.certificate, results, request.options, suite)
    if request.baseline is not None:
        return _against_baseline(request, results, outcomes, suite)
    any_undecided = _report(request, results, outcomes, several=len(suite.jobs) > 1)
    _remark(request, suite)
    if unchanged and not request.quiet:
        from hvr.validation.report import count

        since = (
            f"unchanged since {request.changed_since}, not validated: {count(unchanged, 'plan')}"
        )
        print(since, file=request.reports.aside)
    if any_undecided:
        return 2
    return 1 if outcomes[Outcome.INVALID] and not request.exit_zero else 0


def _against_baseline(
    request: _Request, results: Iterable[Judged], outcomes: Counter[Outcome], suite: Suite
) -> int:
    from hvr.validation.machine_reports import Baseline
    from hvr.validation.report import count

    assert request.baseline is not None
    new = request.update_baseline
    baseline = Baseline(request.baseline) if new else Baseline.read(request.baseline)
    several = len(suite.jobs) > 1
    any_undecided = _report(request, baseline.unknown(results), outcomes, several=several)
    _remark(request, suite)
    if new:
        from hvr.doors.cli.output import write_whole

        write_whole(request.baseline, baseline.text())
        return 0
    if not request.quiet:
        gone = (
            f"; {count(baseline.gone, 'accepted finding')} no longer found" if baseline.gone else ""
        )
        said = (
            f"accepted in {request.baseline}, not reported: {count(baseline.met, 'finding')}{gone}"
        )
        print(said, file=request.reports.aside)
    return 2 if any_undecided else int(bool(outcomes[Outcome.INVALID]) and not request.exit_zero)


def _refused(request: _Request, error: UnusableModelError, outcomes: Counter[Outcome]) -> int:
    # In text format, the error message below is the report.
    _report(request, [error.result], outcomes, shown=request.reports.shown != "text")
    from hvr.base.printable import block

    first, line_break, rest = str(error).partition("\n")
    message = f"{first} [{error.result.rule}]{line_break}{rest}"
    print(f"error: {block(message)}", file=sys.stderr)
    return 2


def _remark(request: _Request, suite: Suite) -> None:
    if request.quiet:
        return
    from hvr.base.printable import one_line

    remarks = suite.explained() if request.explain_skipped else suite.remarks()
    if request.reports.shown == "github":
        from hvr.validation.machine_reports import escape_commands

        remarks = [escape_commands(remark) for remark in remarks]
    for remark in remarks:
        print(one_line(remark), file=request.reports.aside)


def _report(
    request: _Request,
    results: Iterable[Judged],
    outcomes: Counter[Outcome],
    *,
    shown: bool = True,
    several: bool = False,
) -> bool:
    from hvr.validation.reporters import ReportOptions, summary

    shown = shown and not request.quiet
    reports = request.reports
    options = ReportOptions(
        base=report_base(),
        rules_url=request.rules_url,
        problems=several,
        failures_only=request.failures_only,
    )
    undecided: list[Judged] = []
    aside = shown and reports.shown not in FOR_PEOPLE
    counted = _counted(results, outcomes, undecided, aside=aside)
    reports.write(counted, lambda form, items: find_reporter(form)(items, options), shown=shown)
    if shown and reports.brief:
        print(f"{summary(outcomes)}; see {reports.files[0].path}")
    return bool(undecided)


def _counted(
    results: Iterable[Judged], outcomes: Counter[Outcome], undecided: list[Judged], *, aside: bool
) -> Iterator[Judged]:
    from hvr.validation.reporters import count_outcomes

    for result in results:
        if aside:
            for warning in result.warnings:
                print(warning, file=sys.stderr)
        count_outcomes(result, outcomes)
        if result.report.outcome is Outcome.UNKNOWN:
            undecided.append(result)
        yield result

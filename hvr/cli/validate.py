"""`hvr validate`: is a plan valid, and if not, why."""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.cli import arguments
from hvr.cli.settings import read_settings
from hvr.cli.streams import use_utf8
from hvr.errors import UsageError
from hvr.validation.report import OnFailure, Outcome
from hvr.validation.reporters import FORMATS, ReportOptions, find_reporter
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.batch import BatchOptions
    from hvr.validation.findings import Finding
    from hvr.validation.judged import Judged

_DESCRIPTION = """\
Validate PDDL plans: say whether each is valid, and if not, at which step and why.

FILES are the domain, the problem and then plans: files, patterns such as 'plans/**/*.soln',
folders (everything below them that is called like a plan), or - for standard input.
"""

_EPILOG = """\
examples:
  hvr validate domain.pddl problem.pddl plan.txt
  hvr validate domain.pddl problem.pddl plans/ --jobs 4
  hvr validate domain.pddl problem.pddl plan.txt --advise
  hvr validate domain.pddl problem.pddl 'out/*.plan' --format sarif --output-file hvr.sarif
  some-planner domain.pddl problem.pddl | hvr validate domain.pddl problem.pddl - --json
  hvr validate domain.pddl problem.pddl plan.txt --watch

exit codes:
  0  every plan is valid
  1  at least one plan is invalid, and every plan could be judged
  2  at least one plan could not be judged, or a file or an option cannot be used

settings:
  the same names in [tool.hvr.validate] of the nearest pyproject.toml, and there also
  domain = "FILE", problem = "FILE", plans = ["NAME", ...] and rules-url = "ADDRESS";
  what is configured may be left out here, and options given here win
"""

_SHOWN_AS_TEXT = ("text", "github")
_DEFINITION = re.compile(r"(?:\s|;[^\r\n]*)*\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_SNIFFED = 65536


class _Request(Value):
    """What is to be done, from the command line and the settings."""

    domain: str
    problem: str
    plans: tuple[str, ...]
    format: str
    output_file: Path | None
    exit_zero: bool
    quiet: bool
    watch: bool
    jobs: int
    rules_url: str
    options: BatchOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.usage = f"{parser.prog} [OPTIONS] DOMAIN PROBLEM PLAN..."
    parser.add_argument("files", nargs="*", metavar="FILES", help="domain, problem, plans")

    judging = parser.add_argument_group("judging")
    _flag(judging, "--lenient", "accept what VAL accepts of what the language forbids")
    _value(judging, "--epsilon", "N", arguments.number,
           "steps no further apart are simultaneous (default: tolerance / 10)")  # fmt: skip
    _value(judging, "--tolerance", "N", arguments.number,
           "how far a duration may be from what its action demands (default: 0.01)")  # fmt: skip
    _value(judging, "--numeric-tolerance", "N", arguments.number,
           "how far a numeric condition may be missed (default: 0; VAL: 0.0001)")  # fmt: skip
    _flag(
        judging,
        "--any-order",
        "hierarchical plans: let the tasks of a method be listed in any order",
    )
    judging.add_argument("--no-decomposition", action="store_true", help=(
        "hierarchical plans: read the actions only, and look for a decomposition"))  # fmt: skip
    _value(judging, "--jobs", "N", arguments.jobs,
           "use N processes; 0: one for each processor core (default: 1)")  # fmt: skip

    asking = parser.add_argument_group("asking for more")
    asking.add_argument("--on-failure", choices=tuple(OnFailure), help=(
        "what to do after a failing step: stop there, or report every failure, going on as if "
        "the step were skipped, or executed by force (default: stop)"))  # fmt: skip
    asking.add_argument("--all-failures", dest="on_failure", action="store_const",
        const=OnFailure.SKIP, help="short for --on-failure skip")  # fmt: skip
    _flag(asking, "--advise", "search for steps that would mend an invalid plan")
    _flag(asking, "--minimise", "find steps that a valid plan does not need")
    _value(asking, "--state-at", "STEP", arguments.whole,
           "show the state after a step; 0: the initial state")  # fmt: skip
    _flag(asking, "--happenings", "show what changed when")

    reporting = parser.add_argument_group("reporting")
    reporting.add_argument("--format", choices=FORMATS, help=(
        "how to report (default: text; github where GITHUB_ACTIONS is true)"))  # fmt: skip
    reporting.add_argument("--json", action="store_true", help="short for --format json")
    reporting.add_argument("--output-file", metavar="FILE", help=(
        "write the report there; the text goes to standard output all the same"))  # fmt: skip
    _flag(reporting, "--exit-zero", "exit with 0 when plans are invalid; not when in doubt")
    _flag(reporting, "--quiet", "print nothing", "-q")
    reporting.add_argument("--watch", action="store_true", help=(
        "validate again whenever a file changes, until Ctrl-C"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: an option or a setting cannot be used, or the output cannot be written.
    """
    # Reading makes many objects and hardly any garbage.
    gc.set_threshold(100_000)
    request = _request(args)
    if request.watch:
        from hvr.cli.watch import watch
        from hvr.validation.plan_files import expand

        return watch(
            lambda: _validate(request),
            lambda: [request.domain, request.problem, *expand(request.plans)],
        )
    return _validate(request)


def _flag(group: argparse._ArgumentGroup, name: str, text: str, *short: str) -> None:
    group.add_argument(*short, name, action="store_const", const=True, help=text)
    # Turns off what is configured; not listed, as it is of no use otherwise.
    opposite, target = f"--no-{name[2:]}", name[2:].replace("-", "_")
    group.add_argument(
        opposite, dest=target, action="store_const", const=False, help=argparse.SUPPRESS
    )


def _value(group: argparse._ArgumentGroup, name: str, what: str, read: Any, text: str) -> None:
    group.add_argument(name, metavar=what, type=read, help=text)


def _request(given: argparse.Namespace) -> _Request:
    """Put the command line over the settings.

    Raises:
        UsageError: options that exclude each other, or a file is missing.
        DataFileError: the settings cannot be read.
    """
    from hvr.validation.batch import BatchOptions
    from hvr.validation.validator import EXACT

    settings = read_settings(Path.cwd())

    def chosen(name: str, default: Any) -> Any:
        value = getattr(given, name, None)
        return settings.get(name, default) if value is None else value

    domain, problem, plans = _files(given.files, settings)
    output = chosen("output_file", None)
    if given.watch and "-" in plans:
        raise UsageError("--watch cannot read a plan from standard input: name a file")
    jobs: int = chosen("jobs", 1)
    return _Request(
        domain=domain,
        problem=problem,
        plans=tuple(plans),
        format=_format(given, settings),
        output_file=Path(output) if output else None,
        exit_zero=chosen("exit_zero", False),
        quiet=chosen("quiet", False),
        watch=given.watch,
        jobs=jobs or os.cpu_count() or 1,
        rules_url=settings.get("rules_url", ""),
        options=BatchOptions(
            tolerance=chosen("tolerance", None),
            epsilon=chosen("epsilon", None),
            numeric_tolerance=chosen("numeric_tolerance", EXACT),
            lenient=chosen("lenient", False),
            on_failure=OnFailure(chosen("on_failure", OnFailure.STOP)),
            advise=chosen("advise", False),
            minimise=chosen("minimise", False),
            state_at=given.state_at,
            happenings=chosen("happenings", False),
            any_order=chosen("any_order", False),
            no_decomposition=given.no_decomposition,
        ),
    )


def _files(given: Sequence[str], settings: dict[str, Any]) -> tuple[str, str, list[str]]:
    """Tell the domain, the problem and the plans apart.

    Where the domain is configured, the first file is still taken for the domain if it defines
    one, so that a complete command line means the same everywhere; likewise the problem.
    """
    rest = list(given)
    models = []
    for kind in ("domain", "problem"):
        configured = settings.get(kind)
        if configured is not None and not (rest and _defines(rest[0], kind)):
            models.append(configured)
        elif rest:
            models.append(rest.pop(0))
        else:
            raise UsageError(
                f"there is no {kind} file: hvr validate DOMAIN PROBLEM PLAN..., or set {kind!r} "
                "under [tool.hvr.validate] in pyproject.toml"
            )
    plans = rest or settings.get("plans", [])
    if not plans:
        raise UsageError(
            "there is no plan: name plan files after the problem, or - for standard input"
        )
    return models[0], models[1], plans


def _defines(name: str, kind: str) -> bool:
    """Say whether a file begins like a domain, or like a problem."""
    try:
        with Path(name).open("rb") as file:
            start = file.read(_SNIFFED).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return False
    match = _DEFINITION.match(start)
    return match is not None and match[1].lower() == kind


def _format(given: argparse.Namespace, settings: dict[str, Any]) -> str:
    if given.json:
        if given.format not in (None, "json"):
            raise UsageError(f"--json and --format {given.format} exclude each other")
        return "json"
    chosen: str | None = given.format or settings.get("format")
    if chosen is None:
        return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    return chosen


# Doing it ------------------------------------------------------------------------------------


def _validate(request: _Request) -> int:
    from hvr.hddl.batch import load_model
    from hvr.validation.batch import UnusableModelError, judge_all
    from hvr.validation.plan_files import expand

    if request.output_file is not None:
        from hvr.cli.output import check_writable

        check_writable(request.output_file)
    files = expand(request.plans)
    outcomes: Counter[Outcome] = Counter()
    try:
        model = load_model(request.domain, request.problem, request.options)
    except UnusableModelError as error:
        # As text it is the message of the error that follows.
        is_text = request.format == "text"
        if not is_text or request.output_file is not None:
            _report(request, [error.result], (), outcomes, shown=not is_text)
        from hvr.printable import block

        first, line_break, rest = str(error).partition("\n")
        message = f"{first} [{error.result.rule}]{line_break}{rest}"
        print(f"error: {block(message)}", file=sys.stderr)
        return 2
    results = judge_all(model, files, jobs=request.jobs)
    _report(request, results, model.warnings, outcomes, shown=True)
    if outcomes[Outcome.UNKNOWN]:
        return 2
    return 1 if outcomes[Outcome.INVALID] and not request.exit_zero else 0


def _report(
    request: _Request,
    results: Iterable[Judged],
    warnings: tuple[Finding, ...],
    outcomes: Counter[Outcome],
    *,
    shown: bool,
) -> None:
    """Report the results as they come, and count their outcomes."""
    shown = shown and not request.quiet
    if request.format not in _SHOWN_AS_TEXT and request.output_file is None:
        use_utf8()
    options = ReportOptions(warnings, base=_base(), rules_url=request.rules_url)
    counted = _counted(results, outcomes)
    if request.output_file is None:
        if shown and request.format not in _SHOWN_AS_TEXT:
            for warning in warnings:
                print(warning, file=sys.stderr)
        _show(find_reporter(request.format)(counted, options), shown)
        return
    from hvr.cli.output import write_whole

    kept: list[Judged] = []
    recorded = _recorded(counted, kept)
    if request.format == "text":
        _show((), shown)
        kept += counted
    else:
        _show(find_reporter("text")(recorded, options), shown)
    write_whole(request.output_file, "".join(find_reporter(request.format)(kept, options)))
    if shown and request.format == "text":
        from hvr.validation.reporters.text import summary

        print(f"{summary(outcomes)}; see {request.output_file}")


def _show(chunks: Iterable[str], shown: bool) -> None:
    for chunk in chunks:
        if shown:
            sys.stdout.write(chunk)
            sys.stdout.flush()


def _counted(results: Iterable[Judged], outcomes: Counter[Outcome]) -> Iterator[Judged]:
    for result in results:
        outcomes[result.report.outcome] += 1
        yield result


def _recorded(results: Iterable[Judged], kept: list[Judged]) -> Iterator[Judged]:
    for result in results:
        kept.append(result)
        yield result


def _base() -> str:
    """Return the folder that paths in a report are relative to.

    A GitHub workflow may work in a folder of the repository; its annotations are about the whole.
    """
    here = os.getcwd()  # noqa: PTH109 - a text is wanted
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    return workspace if workspace and Path(here).is_relative_to(workspace) else here

"""`hvr check`, and the certificates and charts that `hvr validate` writes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line
from hvr.doors.cli.output import PAGE_ENDINGS, check_writable, write_whole
from hvr.errors import DataFileError, HvrError, PddlSyntaxError, UsageError
from hvr.validation.findings import STDIN

if TYPE_CHECKING:
    from hvr.validation.batch import BatchOptions
    from hvr.validation.findings import Judged
    from hvr.validation.suites import Suite


# Certify ------------------------------------------------------------------------------------------

_MORE = "no certificate: the file contains more than a plan; write the plan to a separate file"


def check_certificate(path: Path, suite: Suite) -> None:
    """Raise an error if a certificate cannot be written: it needs exactly one plan, in a file."""
    check_writable(path)
    plans = [plan for job in suite.jobs for plan in job.plans]
    if len(plans) != 1:
        raise UsageError(f"--certificate requires exactly one plan, got {len(plans)}")
    if plans[0] == STDIN:
        raise UsageError("--certificate cannot use standard input: name the plan's file")


def certify(
    path: Path, results: Iterable[Judged], options: BatchOptions, suite: Suite
) -> Iterator[Judged]:
    """Yield the only result, and write its certificate or print why none can be written."""
    from hvr.validation.certificate import certificate_text

    job = suite.jobs[0]
    files = [Path(name) for name in (job.domain, job.problem, job.plans[0])]
    for result in results:
        try:
            text = certificate_text(_certificate(files, options, result))
        except HvrError as error:
            print(
                one_line(f"{path} was not written: {str(error).removeprefix('no certificate: ')}"),
                file=sys.stderr,
            )
        else:
            write_whole(path, text)
        yield result


def _certificate(files: list[Path], options: BatchOptions, result: Judged) -> dict[str, Any]:
    from hvr.base.texts import read_bytes
    from hvr.pddl import GroundAction, read_plan
    from hvr.pddl.checker import check
    from hvr.pddl.reader import decode
    from hvr.validation.batch import ModelReader
    from hvr.validation.certificate import CertifiedTask, NoCertificateError, certificate_of
    from hvr.validation.report import Outcome
    from hvr.validation.validator import Validator

    data = [read_bytes(file) for file in files]
    domain, problem, plan = (decode(one, str(file)) for one, file in zip(data, files, strict=True))
    judge = ModelReader(options).read(*map(str, files[:2]), texts=(domain, problem)).validator
    if isinstance(judge, Validator):
        if options.plan_number is not None:
            raise NoCertificateError("no certificate: the file has more than one plan")
        try:
            steps = read_plan(plan, file=str(files[2]), lenient=options.lenient).steps
        except PddlSyntaxError as error:
            if result.report.outcome is Outcome.UNKNOWN:  # the report says why
                raise NoCertificateError("no certificate: the plan cannot be read") from error
            raise NoCertificateError(_MORE) from error
        subject = CertifiedTask(data, lenient=options.lenient)
        report = judge.check(steps)
    else:
        from hvr.pddl.hierarchy.plan import read_hierarchical_plan
        from hvr.validation.hierarchical.verifier import DecompositionVerifier

        if not isinstance(judge, DecompositionVerifier):
            raise NoCertificateError("no certificate: the plan comes without its decomposition")
        lines = read_hierarchical_plan(plan, file=str(files[2]))
        steps = tuple([GroundAction(line.name, line.args) for line in lines.actions])
        subject = CertifiedTask(data, language="hddl", any_order=judge.any_order)
        report = judge.check(lines)
        judge = Validator(judge.task)
    if report.outcome is not result.report.outcome:
        raise NoCertificateError(_MORE)
    certificate = certificate_of(subject, judge, steps, report)
    check(certificate, data)
    return certificate


# Pictures -----------------------------------------------------------------------------------------

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "gantt": (".svg", ".html"),
    "values": (".svg",),
    "html": PAGE_ENDINGS,
}
"""File extensions that each option supports."""


def named_pictures(
    gantt: str | None, values: str | bool | None, html: str | None
) -> dict[str, Path]:
    """Return the picture files by option; raise a UsageError for an unsupported file extension."""
    named = {"gantt": gantt, "values": values, "html": html}
    pictures = {option: Path(file) for option, file in named.items() if isinstance(file, str)}
    for option, path in pictures.items():
        endings = SUFFIXES[option]
        if path.suffix.lower() not in endings:
            hint = "; write --values after the files" if option == "values" else ""
            drawn = " or ".join(endings)
            raise UsageError(f"--{option} must name a {drawn} file, got {path}{hint}")
    return pictures


def check_pictures(pictures: Mapping[str, Path], suite: Suite) -> None:
    """Raise an error if the pictures (files by option) cannot be drawn: they need one plan."""
    for option, path in pictures.items():
        check_writable(path)
        plans = sum(len(job.plans) for job in suite.jobs)
        if plans != 1:
            raise UsageError(f"--{option} requires exactly one plan, got {plans}")
        if _is_page(path) and STDIN in (*(job := suite.jobs[0]).plans, job.problem, job.domain):
            raise UsageError(f"--{option} cannot show standard input: name the files")


def _is_page(path: Path) -> bool:
    return path.suffix.lower() != ".svg"


def draw_charts(
    pictures: Mapping[str, Path], results: Iterable[Judged], suite: Suite
) -> Iterator[Judged]:
    """Yield the only result, and draw its pictures.

    Raises:
        UsageError: The plan has no times to draw.
    """
    pages = {option: path for option, path in pictures.items() if _is_page(path)}
    drawn = {option: path for option, path in pictures.items() if option not in pages}
    for result in results:
        if result.timeline is not None:
            title = f"{Path(result.plan).name}: {result.report.outcome.value}"
            for option, path in drawn.items():
                write_whole(path, _picture(option, result, title))
        yield result
        if drawn and result.timeline is None:
            names = " and ".join(map(str, drawn.values()))
            raise UsageError(f"{names} not written: the plan has no times to draw")
        for option, path in pages.items():
            _write_page(option, path, suite)


def _write_page(option: str, path: Path, suite: Suite) -> None:
    from hvr.doors.studio.documents import plan_document, shared_page

    job = suite.jobs[0]
    side = "picture" if option == "gantt" else "steps"
    files = [Path(name) for name in (job.domain, job.problem, job.plans[0])]
    try:
        document = plan_document(files[0], files[1], files[2], side=side)
    except HvrError as error:
        raise UsageError(f"{path} not written: {error}") from error
    write_whole(path, shared_page(document, f"hvr: {files[2].name}"))


def _picture(option: str, result: Judged, title: str) -> str:
    from hvr.runs.report.plan_timelines import draw_curves, draw_gantt

    assert result.timeline is not None
    if option == "values":
        return draw_curves(result.values or (), title, result.timeline)
    return draw_gantt(result.timeline, title)


# Check --------------------------------------------------------------------------------------------
# `hvr check` checks that a certificate proves its verdict.

_DESCRIPTION = """\
Check the certificate of a plan, as hvr validate --certificate writes it. The checker executes the
plan without the validator's code, and compares each step with the certificate.
"""

_EPILOG = """\
examples:
  hvr validate domain.pddl problem.pddl plan.txt --certificate plan.json
  hvr check plan.json domain.pddl problem.pddl plan.txt

exit codes:
  0  the certificate proves its verdict, valid or invalid, which is printed
  1  the certificate is not a proof, or the checker does not support it
  2  a file cannot be read, or the certificate is not JSON
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path, help="the certificate")
    parser.add_argument("domain", metavar="DOMAIN", type=Path, help="the domain")
    parser.add_argument("problem", metavar="PROBLEM", type=Path, help="the problem")
    parser.add_argument("plan", metavar="PLAN", type=Path, help="the plan")


def run_check(args: argparse.Namespace) -> int:
    import json

    from hvr.base.texts import read_bytes
    from hvr.pddl.checker import UnprovenError, check

    text = read_bytes(args.certificate)
    files = [read_bytes(path) for path in (args.domain, args.problem, args.plan)]
    try:
        certificate = json.loads(text)
    except (ValueError, RecursionError) as error:
        expected = "expected JSON, as hvr validate --certificate writes it"
        raise DataFileError(f"{args.certificate} is not a certificate: {expected}") from error
    try:
        verdict = check(certificate, files)
    except UnprovenError as error:
        print(one_line(f"{args.certificate} is not a proof: {error}"), file=sys.stderr)
        return 1
    print(one_line(f"{args.plan}: proven {verdict} {_terms(certificate)}"))
    return 0


def _terms(certificate: dict[str, Any]) -> str:
    options, fault = certificate["options"], certificate["fault"]
    rules = [f"{name} {options[name]}" for name in ("epsilon", "tolerance")]
    rules += [name.replace("_", " ") for name in ("lenient", "any_order") if options[name]]
    claims = [f"{key} {value}" for key, value in (fault or {}).items() if key != "falsifier"]
    return f"({', '.join(rules)})" + (f": {', '.join(claims)}" if claims else "")

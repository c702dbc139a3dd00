"""`hvr validate --certificate`: a proof of the verdict on a plan, as a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line
from hvr.doors.cli.output import check_writable, write_whole
from hvr.errors import HvrError, PddlSyntaxError, UsageError
from hvr.validation.judged import STDIN

if TYPE_CHECKING:
    from hvr.validation.batch import BatchOptions
    from hvr.validation.judged import Judged
    from hvr.validation.suites import Suite

_MORE = "no certificate: the file is not just a plan; write the plan to a file of its own"


def check_certificate(path: Path, suite: Suite) -> None:
    """Refuse early what no certificate can be written for.

    Raises:
        UsageError: There is more than one plan, or it comes from standard input.
        DataFileError: The file cannot be written.
    """
    check_writable(path)
    plans = [plan for job in suite.jobs for plan in job.plans]
    if len(plans) != 1:
        raise UsageError(f"--certificate proves one plan, and {len(plans)} plans are given")
    if plans[0] == STDIN:
        raise UsageError("--certificate needs files that others can read: name the plan's file")


def certified(
    path: Path, results: Iterable[Judged], options: BatchOptions, suite: Suite
) -> Iterator[Judged]:
    """Pass the one result on, and write its certificate, or say why there is none.

    Raises:
        DataFileError: The file cannot be written.
    """
    from hvr.validation.certificate import certificate_text

    job = suite.jobs[0]
    files = [Path(name) for name in (job.domain, job.problem, job.plans[0])]
    for result in results:
        try:
            text = certificate_text(_certificate(files, options, result))
        except HvrError as error:
            print(one_line(f"{path} was not written: {error}"), file=sys.stderr)
        else:
            write_whole(path, text)
        yield result


def _certificate(files: list[Path], options: BatchOptions, result: Judged) -> dict[str, Any]:
    """Return the certificate of a verdict, proven by the checker."""
    from hvr.base.texts import read_bytes
    from hvr.pddl import GroundAction, read_plan
    from hvr.pddl.checker import check
    from hvr.pddl.lexer import decode
    from hvr.validation.batch import ModelReader
    from hvr.validation.certificate import NoCertificateError, Subject, certificate_of
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
            raise NoCertificateError(_MORE) from error
        subject = Subject(data, lenient=options.lenient)
        report = judge.check(steps)
    else:
        from hvr.pddl.hierarchy.plan import read_hierarchical_plan
        from hvr.validation.hierarchical.verifier import DecompositionVerifier

        if not isinstance(judge, DecompositionVerifier):
            raise NoCertificateError("no certificate: the plan comes without its decomposition")
        lines = read_hierarchical_plan(plan, file=str(files[2]))
        steps = tuple([GroundAction(line.name, line.args) for line in lines.actions])
        subject = Subject(data, language="hddl", any_order=judge.any_order)
        report = judge.check(lines)
        judge = Validator(judge.task)
    if report.outcome is not result.report.outcome:
        raise NoCertificateError(_MORE)
    certificate = certificate_of(subject, judge, steps, report)
    check(certificate, data)
    return certificate

"""Judging a suite: each domain is read once, each problem is compiled once."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.validation import rules
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge_all,
)
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.validation.suites import Job, Left, Suite


def judge_suite(suite: Suite, options: BatchOptions, *, jobs: int = 1) -> Iterator[Judged]:
    """Judge the plans of a suite, problem by problem, and name the plans that are left over.

    Args:
        suite: the plans with their problems.
        options: what to find out about each.
        jobs: how many processes to use.

    Raises:
        UnusableModelError: the domain or the problem cannot be used, and there is no other.
    """
    reader = ModelReader(options)
    first = None
    if len(suite.jobs) == 1:
        first = reader.read(suite.jobs[0].domain, suite.jobs[0].problem)
    return _judged(suite, reader, first, jobs)


def _judged(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, jobs: int
) -> Iterator[Judged]:
    for job in suite.jobs:
        try:
            model = first or reader.read(job.domain, job.problem)
        except UnusableModelError as error:
            yield error.result
            yield from _not_judged(job)
            continue
        warnings = model.warnings
        for result in judge_all(model, job.plans, jobs=jobs):
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()
    for left in suite.left:
        yield _named(left)


def _not_judged(job: Job) -> Iterator[Judged]:
    reason = "its domain or problem cannot be used"
    for plan in job.plans:
        yield _named(Left(plan, reason), job.domain, job.problem)


def _named(left: Left, domain: str = "", problem: str = "") -> Judged:
    reason = f"not validated: {left.reason}"
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    return Judged(PlanResult(left.file, domain, problem, report), rules.NOT_VALIDATED.id)

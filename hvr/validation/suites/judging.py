"""Judging a suite: each domain is read once, each problem is compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

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
    if jobs > 1 and len(suite.jobs) > 1:
        return _side_by_side(suite, options, jobs)
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


def _side_by_side(suite: Suite, options: BatchOptions, jobs: int) -> Iterator[Judged]:
    """Judge the plans of several problems in processes, in the order of the suite."""
    from hvr.validation.processes import judge_many_in_processes

    plans = [(job.domain, job.problem, plan) for job in suite.jobs for plan in job.plans]
    results = judge_many_in_processes(plans, options, min(jobs, len(plans)))
    # Each process says of a domain what a single one would say once.
    said: set[tuple[object, object]] = set()
    for job in suite.jobs:
        for number, (model, result) in enumerate(islice(results, len(job.plans))):
            if result is None:
                if number == 0:
                    assert model.error is not None
                    yield model.error
                    yield from _not_judged(job)
                continue
            warnings = (
                () if number else tuple([w for w in model.warnings if (w, w.location) not in said])
            )
            said.update((w, w.location) for w in warnings)
            yield result.replace(warnings=warnings) if warnings else result
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

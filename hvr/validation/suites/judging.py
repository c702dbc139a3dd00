"""Judging a suite: each domain is read once, each problem is compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from hvr.pddl import Diagnostic, Location
from hvr.validation import rules
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge,
    judge_all,
)
from hvr.validation.judged import Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.validation.suites import Job, Left, Suite

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.validation.chunks import JudgedFiles


def judge_suite(
    suite: Suite, options: BatchOptions, *, engine: EngineChoice | None = None
) -> Iterator[Judged]:
    """Judge the plans of a suite, problem by problem, and name the plans that are left over.

    Args:
        suite: the plans with their problems.
        options: what to find out about each.
        engine: where plans are judged, if there are several; in this process if None.

    Raises:
        UnusableModelError: the domain or the problem cannot be used, and there is no other.
    """
    reader = ModelReader(options)
    first = None
    if len(suite.jobs) == 1:
        first = reader.read(suite.jobs[0].domain, suite.jobs[0].problem)
    if engine is not None and sum(len(job.plans) for job in suite.jobs) > 1:
        return _on_engine(suite, reader, first, engine)
    return _judged(suite, reader, first)


def _judged(suite: Suite, reader: ModelReader, first: LoadedModel | None) -> Iterator[Judged]:
    refused: set[str] = set()
    for job in suite.jobs:
        if job.domain in refused:
            continue
        try:
            model = first or reader.read(job.domain, job.problem)
        except UnusableModelError as error:
            yield _refusal(suite, job, error.result, refused)
            continue
        warnings = model.warnings
        for result in judge_all(model, job.plans):
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()
    yield from _besides(suite, reader)


def _refusal(suite: Suite, job: Job, error: Judged, refused: set[str]) -> Judged:
    """Return the result about a model that cannot be used, with all plans that it blocks.

    A domain blocks the plans of all its problems, and is named only once.
    """
    at = error.result.diagnostic
    if at is None or at.location.file != job.domain:
        return error.replace(blocked=job.plans)
    refused.add(job.domain)
    blocked = [plan for one in suite.jobs if one.domain == job.domain for plan in one.plans]
    return error.replace(blocked=tuple(dict.fromkeys(blocked)))


def _besides(suite: Suite, reader: ModelReader) -> Iterator[Judged]:
    """Yield what is wrong with files that belong to no plan, and what is required and missing."""
    for left in suite.left:
        yield _named(left)
    for domain in suite.without_problem:
        try:
            reader.read_domain(domain)
        except UnusableModelError as error:
            yield error.result
    yield from map(_missing, suite.missing)


def _missing(left: Left) -> Judged:
    diagnostic = Diagnostic(Location(left.file, 1, 1), left.reason)
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=left.reason)
    return Judged(PlanResult("", left.file, left.file, report, diagnostic), rules.WITHOUT_PLAN.id)


def _on_engine(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, engine: EngineChoice
) -> Iterator[Judged]:
    """Judge plans elsewhere; they come in the order of the suite."""
    from hvr.validation.chunks import judge_on

    problems = [(job.domain, job.problem, job.plans) for job in suite.jobs]
    # Closed here: Python ignores Ctrl-C while it closes what it throws away.
    with closing(judge_on(engine, reader.options, problems)) as parts:
        yield from _put_together(suite, reader, first, parts)
    yield from _besides(suite, reader)


def _put_together(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, parts: Iterable[JudgedFiles]
) -> Iterator[Judged]:
    judged = ((part, result) for part in parts for result in part.results)
    # Each process says of a domain what a single one would say once.
    said: set[tuple[object, object]] = set()
    if first is not None:
        said.update((w, w.location) for w in first.warnings)
    domains: set[str] = set()
    for job in suite.jobs:
        warnings = first.warnings if first is not None else ()
        refused = job.domain in domains
        for (part, found), file in zip(islice(judged, len(job.plans)), job.plans, strict=True):
            if part.error is not None:
                if not refused:
                    yield _refusal(suite, job, part.error, domains)
                refused = True
                continue
            # Standard input is read here.
            result = found or judge(first or reader.read(job.domain, job.problem), file)
            warnings += tuple([w for w in part.warnings if (w, w.location) not in said])
            said.update((w, w.location) for w in part.warnings)
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()


def _named(left: Left) -> Judged:
    reason = f"not validated: {left.reason}"
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    return Judged(PlanResult(left.file, "", "", report), rules.NOT_VALIDATED.id)

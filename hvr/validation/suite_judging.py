"""Judge suites, in this process or on an engine, reading each domain and problem once."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from hvr.pddl import Diagnostic, Location
from hvr.validation import findings
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge,
    judge_all,
)
from hvr.validation.findings import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.validation.suites import Job, Left, Suite
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.validation.findings import Finding


# Judging ------------------------------------------------------------------------------------------


def judge_suite(
    suite: Suite, options: BatchOptions, *, engine: EngineChoice | None = None
) -> Iterator[Judged]:
    """Judge the plans of a suite, problem by problem, and report unmatched plans.

    `engine` judges suites with several plans; the default is this process.

    Raises:
        UnusableModelError: The suite has a single problem, and it or its domain is unusable.
        UsageError: An option is not supported for hierarchical plans.
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
    # A domain blocks the plans of all its problems and is reported once.
    at = error.result.diagnostic
    if at is None or at.location.file != job.domain:
        return error.replace(blocked=job.plans)
    refused.add(job.domain)
    blocked = [plan for one in suite.jobs if one.domain == job.domain for plan in one.plans]
    return error.replace(blocked=tuple(dict.fromkeys(blocked)))


def _besides(suite: Suite, reader: ModelReader) -> Iterator[Judged]:
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
    return Judged(
        PlanResult("", left.file, left.file, report, diagnostic), findings.WITHOUT_PLAN.id
    )


def _on_engine(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, engine: EngineChoice
) -> Iterator[Judged]:
    problems = [(job.domain, job.problem, job.plans) for job in suite.jobs]
    # Close explicitly: Python ignores Ctrl-C while it finalises a generator.
    with closing(judge_on(engine, reader.options, problems)) as parts:
        yield from _put_together(suite, reader, first, parts)
    yield from _besides(suite, reader)


def _put_together(
    suite: Suite, reader: ModelReader, first: LoadedModel | None, parts: Iterable[JudgedFiles]
) -> Iterator[Judged]:
    judged = ((part, result) for part in parts for result in part.results)
    # Each process reports the warnings about a domain; keep only the first report.
    reported: set[tuple[object, object]] = set()
    if first is not None:
        reported.update((w, w.location) for w in first.warnings)
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
            # Standard input is read in this process.
            result = found or judge(first or reader.read(job.domain, job.problem), file)
            warnings += tuple([w for w in part.warnings if (w, w.location) not in reported])
            reported.update((w, w.location) for w in part.warnings)
            yield result.replace(warnings=warnings) if warnings else result
            warnings = ()


def _named(left: Left) -> Judged:
    reason = f"not validated: {left.reason}"
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    return Judged(PlanResult(left.file, "", "", report), findings.NOT_VALIDATED.id)


# Chunks -------------------------------------------------------------------------------------------
# Plan files judged on an engine: in processes of this machine or of a cluster.

_CHUNKS_AT_A_TIME = 8
"""Chunks per worker, so that all workers finish at about the same time."""
_LARGEST_CHUNK = 64


class PlanFiles(Value):
    """Plan files of one problem, as a unit of work. A new `batch` reads the model again."""

    options: BatchOptions
    domain: str
    problem: str
    files: tuple[str, ...]
    batch: str


class JudgedFiles(Value):
    """The results for plan files of one problem.

    Attributes:
        results: One result per file. None stands for a plan of an unusable model, or for one that
            the main process has to read.
        error: The result for an unusable model, else None.
    """

    results: tuple[Judged | None, ...]
    error: Judged | None = None
    warnings: tuple[Finding, ...] = ()


def judge_on(
    choice: EngineChoice, options: BatchOptions, problems: Iterable[tuple[str, str, Sequence[str]]]
) -> Generator[JudgedFiles, None, None]:
    """Judge plan files on an engine; yield the results in the order of the plans, in chunks.

    Each problem is a triple of domain, problem and plans. The files must exist where the engine
    works. The result for standard input is None: the caller must judge it.
    """
    problems = list(problems)
    plans = sum(len(files) for *_, files in problems)
    with closing(choice.open(plans)) as engine:
        size = min(_LARGEST_CHUNK, plans // (engine.width * _CHUNKS_AT_A_TIME))
        waiting = list(_chunks(options, problems, max(1, size)))
        sent = [chunk for chunk in waiting if chunk.files != (STDIN,)]
        with closing(engine.run(judge_files, sent, ordered=True)) as judged:
            # Start the workers before this process waits for standard input.
            finished = chain(list(islice(judged, 1)), judged)
            for chunk in waiting:
                if chunk.files == (STDIN,):
                    yield JudgedFiles(results=(None,))
                    continue
                done = next(finished)
                if done.value is not None:
                    yield done.value
                else:
                    yield from _one_by_one(choice, chunk, done.lost)


def _one_by_one(choice: EngineChoice, chunk: PlanFiles, lost: str) -> Iterator[JudgedFiles]:
    # After the death of a process, only the culprit has no verdict.
    if len(chunk.files) == 1:
        yield _lost(chunk, lost)
        return
    singles = [chunk.replace(files=(file,)) for file in chunk.files]
    with (
        closing(choice.open(len(singles))) as engine,
        closing(engine.run(judge_files, singles, ordered=True)) as finished,
    ):
        for single, done in zip(singles, finished, strict=True):
            yield done.value or _lost(single, done.lost)


def _lost(chunk: PlanFiles, lost: str) -> JudgedFiles:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=f"not judged: {lost}")
    result = PlanResult(chunk.files[0], chunk.domain, chunk.problem, report)
    return JudgedFiles(results=(Judged(result, findings.UNDECIDED.id),))


def _chunks(
    options: BatchOptions, problems: Iterable[tuple[str, str, Sequence[str]]], size: int
) -> Iterator[PlanFiles]:
    batch = os.urandom(8).hex()
    for domain, problem, files in problems:
        kept: list[str] = []
        for file in files:
            if file == STDIN or len(kept) == size:
                if kept:
                    yield PlanFiles(options, domain, problem, tuple(kept), batch)
                kept = []
            if file == STDIN:
                yield PlanFiles(options, domain, problem, (STDIN,), batch)
            else:
                kept.append(file)
        if kept:
            yield PlanFiles(options, domain, problem, tuple(kept), batch)


def judge_files(chunk: PlanFiles) -> JudgedFiles:
    """Judge plan files of one problem, in a process of any engine."""
    try:
        model = _reader(chunk.options, chunk.batch).model(chunk.domain, chunk.problem)
    except UnusableModelError as error:
        return JudgedFiles(results=(None,) * len(chunk.files), error=error.result)
    return JudgedFiles(
        results=tuple([judge(model, file) for file in chunk.files]), warnings=model.warnings
    )


class _LastModel:
    """Reads models and caches the last one, because consecutive chunks share a problem."""

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._last: LoadedModel | None = None

    def model(self, domain: str, problem: str) -> LoadedModel:
        last = self._last
        if last is None or (last.domain, last.problem) != (domain, problem):
            self._last = None
            self._last = last = self._reader.read(domain, problem)
        return last


@lru_cache(maxsize=1)
def _reader(options: BatchOptions, batch: str) -> _LastModel:
    del batch
    return _LastModel(options)

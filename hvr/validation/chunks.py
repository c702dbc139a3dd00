"""Plan files that are judged on an engine: in processes of this machine or of a cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from hvr.validation import rules
from hvr.validation.batch import BatchOptions, LoadedModel, ModelReader, UnusableModelError, judge
from hvr.validation.judged import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.validation.findings import Finding

_CHUNKS_AT_A_TIME = 8
"""For each cell that is under way: so that all end at about the same time."""
_LARGEST_CHUNK = 64


class PlanFiles(Value):
    """Plan files of one problem: a cell of work.

    Attributes:
        options: what to find out about each.
        domain, problem: the names of the files that they are for.
        files: the names of the plan files.
        batch: which batch they belong to. Files may change between two batches.
    """

    options: BatchOptions
    domain: str
    problem: str
    files: tuple[str, ...]
    batch: str


class JudgedFiles(Value):
    """What became of plan files of one problem.

    Attributes:
        results: one for each file; None where the model cannot be used, or this process has to
            read the plan.
        error: why the model cannot be used, None if it can.
        warnings: what was found about it.
    """

    results: tuple[Judged | None, ...]
    error: Judged | None = None
    warnings: tuple[Finding, ...] = ()


def judge_on(
    choice: EngineChoice, options: BatchOptions, problems: Iterable[tuple[str, str, Sequence[str]]]
) -> Generator[JudgedFiles, None, None]:
    """Judge plan files; the results come in the order of the plans, some of a problem at a time.

    The files have to be there where the engine works. Standard input is left to this process.

    Args:
        choice: which engine.
        options: what to find out about each plan.
        problems: the names of domain and problem, and of their plans.
    """
    problems = list(problems)
    plans = sum(len(files) for *_, files in problems)
    with closing(choice.open(plans)) as engine:
        size = min(_LARGEST_CHUNK, plans // (engine.width * _CHUNKS_AT_A_TIME))
        waiting = list(_chunks(options, problems, max(1, size)))
        sent = [chunk for chunk in waiting if chunk.files != (STDIN,)]
        with closing(engine.run(judge_files, sent, ordered=True)) as judged:
            # Begun before somebody waits for standard input.
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
    """Judge plans one at a time, after a process died: only the one to blame has no verdict."""
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
    return JudgedFiles(results=(Judged(result, rules.UNDECIDED.id),))


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
    """In any process: judge plan files of one problem."""
    try:
        model = _reader(chunk.options, chunk.batch).model(chunk.domain, chunk.problem)
    except UnusableModelError as error:
        return JudgedFiles(results=(None,) * len(chunk.files), error=error.result)
    return JudgedFiles(
        results=tuple([judge(model, file) for file in chunk.files]), warnings=model.warnings
    )


class _LastModel:
    """Reads models, and keeps the last one: chunks of one problem follow each other."""

    def __init__(self, options: BatchOptions) -> None:
        self._reader = ModelReader(options)
        self._last: LoadedModel | None = None

    def model(self, domain: str, problem: str) -> LoadedModel:
        """Return the model of two files, see `ModelReader.read`."""
        last = self._last
        if last is None or (last.domain, last.problem) != (domain, problem):
            self._last = None
            self._last = last = self._reader.read(domain, problem)
        return last


@lru_cache(maxsize=1)
def _reader(options: BatchOptions, batch: str) -> _LastModel:
    del batch
    return _LastModel(options)

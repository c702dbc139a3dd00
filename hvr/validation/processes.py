"""Judging plans in several processes."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, TypeAlias

from hvr.validation import rules
from hvr.validation.batch import (
    BatchOptions,
    LoadedModel,
    ModelReader,
    UnusableModelError,
    judge,
)
from hvr.validation.judged import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.values import Value
from hvr.workers import leave_interrupts_to_parent, starting

if TYPE_CHECKING:
    from hvr.validation.findings import Finding

_CHUNKS_PER_PROCESS = 8
_LARGEST_CHUNK = 64

_Names: TypeAlias = tuple[str, str]
"""The names of a domain and a problem."""
_Chunk: TypeAlias = tuple[_Names, list[tuple[int, str]]]
"""Plan files of one problem, with their places in the order of the results."""


class UsedModel(Value):
    """What a process says of the model that it judged a plan with.

    Attributes:
        error: why the model cannot be used, None if it can.
        warnings: what was found about it.
    """

    error: Judged | None = None
    warnings: tuple[Finding, ...] = ()


_Answer: TypeAlias = tuple[UsedModel, list[tuple[int, Judged | None]]]


@dataclass(slots=True)
class _Worker:
    """A process, and the chunk that it is at work on."""

    process: multiprocessing.Process
    connection: Connection
    chunk: _Chunk | None


def judge_in_processes(model: LoadedModel, files: Sequence[str], jobs: int) -> Iterator[Judged]:
    """Judge plans in processes; the results come in the order of the plans.

    Args:
        model: the domain and the problem.
        files: the plan files; this process reads standard input.
        jobs: how many processes to start.
    """
    plans = [(model.domain, model.problem, file) for file in files]
    for (_, result), file in zip(_judge(plans, model.options, jobs, model), files, strict=True):
        yield judge(model, file) if result is None else result


def judge_many_in_processes(
    plans: Sequence[tuple[str, str, str]], options: BatchOptions, jobs: int
) -> Iterator[tuple[UsedModel, Judged | None]]:
    """Judge plans of several problems in processes; the results come in the order of the plans.

    Args:
        plans: the names of the domain, the problem and the plan; those of a problem together.
        options: what to find out about each.
        jobs: how many processes to start.

    Yields:
        for each plan what was found about its model, and its result: None where the model cannot
        be used.
    """
    yield from _judge(plans, options, jobs, None)


def _judge(
    plans: Sequence[tuple[str, str, str]],
    options: BatchOptions,
    jobs: int,
    model: LoadedModel | None,
) -> Iterator[tuple[UsedModel, Judged | None]]:
    pool = _Pool(_chunks(plans, jobs), options, model)
    try:
        for _ in range(min(jobs, len(pool.waiting))):
            pool.add()
        for index, (*_, file) in enumerate(plans):
            if file == STDIN:
                yield UsedModel(), None
                continue
            while index not in pool.done:
                pool.collect()
            yield pool.done.pop(index)
    finally:
        pool.end()


def _chunks(plans: Sequence[tuple[str, str, str]], jobs: int) -> list[_Chunk]:
    """Cut the work into pieces, the first one last; standard input is left to the parent."""
    size = max(1, min(_LARGEST_CHUNK, len(plans) // (jobs * _CHUNKS_PER_PROCESS)))
    chunks: list[_Chunk] = []
    for index, (domain, problem, file) in enumerate(plans):
        if file == STDIN:
            continue
        names = domain, problem
        if not chunks or chunks[-1][0] != names or len(chunks[-1][1]) >= size:
            chunks.append((names, []))
        chunks[-1][1].append((index, file))
    return chunks[::-1]


class _Pool:
    """Processes at work.

    Attributes:
        waiting: the chunks that none of them has, the next one last.
        done: results that came before their turn.
    """

    def __init__(
        self, waiting: list[_Chunk], options: BatchOptions, model: LoadedModel | None
    ) -> None:
        self.waiting = waiting
        self.done: dict[int, tuple[UsedModel, Judged | None]] = {}
        self._options = options
        self._model = model
        self._workers: list[_Worker] = []

    def add(self) -> None:
        """Start a process and give it a chunk."""
        worker = self._start()
        self._workers.append(worker)
        self._give(worker)

    def collect(self) -> None:
        """Wait for a chunk, store its results and give its worker the next one."""
        busy = [worker for worker in self._workers if worker.chunk]
        ready = wait([worker.connection for worker in busy])
        for worker in busy:
            if worker.connection not in ready:
                continue
            try:
                answer: _Answer | RuntimeError = worker.connection.recv()
            except (EOFError, OSError):
                self._replace_dead(worker)
            else:
                if isinstance(answer, RuntimeError):
                    raise answer
                used, results = answer
                self.done.update({index: (used, result) for index, result in results})
            self._give(worker)

    def end(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    def _start(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        # A forked process has the model already; another kind reads the files again, because a
        # validator is large to send. What is forked also has the parent's end of the pipe, and
        # would never see the parent end if it kept it.
        fork = multiprocessing.get_start_method() == "fork"
        given = (self._model, ours) if fork else (None, None)
        process = multiprocessing.Process(
            target=_work, args=(theirs, self._options, *given), daemon=True
        )
        with starting():
            process.start()
        theirs.close()
        return _Worker(process, ours, None)

    def _give(self, worker: _Worker) -> None:
        worker.chunk = self.waiting.pop() if self.waiting else None
        if worker.chunk:
            # That a worker is dead is noticed where its answer is awaited (`collect`).
            with suppress(OSError):
                worker.connection.send(worker.chunk)

    def _replace_dead(self, worker: _Worker) -> None:
        """Go on after a worker was killed, for want of memory as a rule."""
        worker.process.join()
        assert worker.chunk is not None
        names, items = worker.chunk
        if len(items) > 1:
            # One plan at a time, to find the one that is to blame.
            self.waiting += [(names, [item]) for item in reversed(items)]
        else:
            index, file = items[0]
            code = worker.process.exitcode
            reason = f"the process that judged it ended without an answer (exit code {code})"
            report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
            result = PlanResult(file, *names, report)
            self.done[index] = UsedModel(), Judged(result, rules.UNDECIDED.id)
        worker.connection.close()
        fresh = self._start()
        worker.process, worker.connection = fresh.process, fresh.connection


def _work(
    connection: Connection,
    options: BatchOptions,
    model: LoadedModel | None,
    parents: Connection | None,
) -> None:
    """Judge chunks until there are no more; the body of a worker process."""
    leave_interrupts_to_parent()
    if parents is not None:
        parents.close()
    reader = ModelReader(options)
    while True:
        try:
            names, items = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        answer: _Answer | RuntimeError
        try:
            if model is None or (model.domain, model.problem) != names:
                model = None
                model = reader.read(*names)
            results: list[tuple[int, Judged | None]] = [
                (index, judge(model, file)) for index, file in items
            ]
            answer = UsedModel(None, model.warnings), results
        except UnusableModelError as error:
            answer = UsedModel(error.result), [(index, None) for index, _ in items]
        except Exception as error:
            # The error itself may not be fit to be sent.
            answer = RuntimeError(f"{type(error).__name__}: {error}")
            answer.add_note(f"It was raised in a process of its own:\n{traceback.format_exc()}")
        try:
            connection.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return

"""Judging plans in several processes."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TypeAlias

from hvr.validation import rules
from hvr.validation.batch import BatchOptions, LoadedModel, judge, load_model
from hvr.validation.judged import STDIN, Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport
from hvr.workers import leave_interrupts_to_parent, starting

_CHUNKS_PER_PROCESS = 8
_LARGEST_CHUNK = 64

_Chunk: TypeAlias = list[tuple[int, str]]
"""Plan files with their places in the order of the results."""
_Results: TypeAlias = list[tuple[int, Judged]]


@dataclass(slots=True)
class _Worker:
    """A process, and the chunk that it is at work on."""

    process: multiprocessing.Process
    connection: Connection
    chunk: _Chunk


def judge_in_processes(model: LoadedModel, files: Sequence[str], jobs: int) -> Iterator[Judged]:
    """Judge plans in processes; the results come in the order of the plans.

    Args:
        model: the domain and the problem.
        files: the plan files; this process reads standard input.
        jobs: how many processes to start.
    """
    waiting = _chunks(files, jobs)
    done: dict[int, Judged] = {}
    workers: list[_Worker] = []
    try:
        for _ in range(min(jobs, len(waiting))):
            worker = _start(model)
            workers.append(worker)
            _give(worker, waiting)
        for index, file in enumerate(files):
            if file == STDIN:
                yield judge(model, file)
                continue
            while index not in done:
                _collect(workers, waiting, done, model)
            yield done.pop(index)
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
            worker.connection.close()


def _chunks(files: Sequence[str], jobs: int) -> list[_Chunk]:
    """Cut the work into pieces, the first one last; standard input is left to the parent."""
    work = [(index, file) for index, file in enumerate(files) if file != STDIN]
    size = max(1, min(_LARGEST_CHUNK, len(work) // (jobs * _CHUNKS_PER_PROCESS)))
    return [work[i : i + size] for i in range(0, len(work), size)][::-1]


def _start(model: LoadedModel) -> _Worker:
    ours, theirs = multiprocessing.Pipe()
    # A forked process has the model already; another kind reads the files again, because a
    # validator is large to send. What is forked also has the parent's end of the pipe, and would
    # never see the parent end if it kept it.
    fork = multiprocessing.get_start_method() == "fork"
    given = (model, ours) if fork else ((model.domain, model.problem, model.options), None)
    process = multiprocessing.Process(target=_work, args=(theirs, *given), daemon=True)
    with starting():
        process.start()
    theirs.close()
    return _Worker(process, ours, [])


def _work(
    connection: Connection,
    given: LoadedModel | tuple[str, str, BatchOptions],
    parents: Connection | None,
) -> None:
    """Judge chunks until there are no more; the body of a worker process."""
    leave_interrupts_to_parent()
    if parents is not None:
        parents.close()
    model = given if isinstance(given, LoadedModel) else load_model(*given)
    while True:
        try:
            chunk = connection.recv()
            connection.send(_judged(model, chunk))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def _judged(model: LoadedModel, chunk: _Chunk) -> _Results | RuntimeError:
    """Return the results of a chunk, or what nobody foresaw, which ends the parent's work, too."""
    try:
        return [(index, judge(model, file)) for index, file in chunk]
    except Exception as error:
        # The error itself may not be fit to be sent.
        failure = RuntimeError(f"{type(error).__name__}: {error}")
        failure.add_note(f"It was raised in a process of its own:\n{traceback.format_exc()}")
        return failure


def _give(worker: _Worker, waiting: list[_Chunk]) -> None:
    worker.chunk = waiting.pop() if waiting else []
    if worker.chunk:
        # That a worker is dead is noticed where its answer is awaited (`_collect`).
        with suppress(OSError):
            worker.connection.send(worker.chunk)


def _collect(
    workers: list[_Worker], waiting: list[_Chunk], done: dict[int, Judged], model: LoadedModel
) -> None:
    """Wait for a chunk, store its results and give its worker the next one."""
    busy = [worker for worker in workers if worker.chunk]
    ready = wait([worker.connection for worker in busy])
    for worker in busy:
        if worker.connection not in ready:
            continue
        try:
            results = worker.connection.recv()
        except (EOFError, OSError):
            _replace_dead(worker, waiting, done, model)
        else:
            if isinstance(results, RuntimeError):
                raise results
            done.update(results)
        _give(worker, waiting)


def _replace_dead(
    worker: _Worker, waiting: list[_Chunk], done: dict[int, Judged], model: LoadedModel
) -> None:
    """Go on after a worker was killed, for want of memory as a rule."""
    worker.process.join()
    if len(worker.chunk) > 1:
        # One plan at a time, to find the one that is to blame.
        waiting += [[item] for item in reversed(worker.chunk)]
    else:
        index, file = worker.chunk[0]
        code = worker.process.exitcode
        reason = f"the process that judged it ended without an answer (exit code {code})"
        report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
        result = PlanResult(file, model.domain, model.problem, report)
        done[index] = Judged(result, rules.UNDECIDED.id)
    worker.connection.close()
    fresh = _start(model)
    worker.process, worker.connection = fresh.process, fresh.connection

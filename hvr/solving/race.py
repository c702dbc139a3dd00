"""Planners side by side: every plan is judged when it comes, and the best one is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hvr.files import temporary_folder
from hvr.pddl import Problem, Step, read_plan
from hvr.solving.programs import PlannerJob, Program, Running
from hvr.validation.report import ValidationReport
from hvr.validation.validator import Validator

_POLL_SECONDS = 0.01


@dataclass(frozen=True)
class FoundPlan:
    """A plan that a planner has written.

    Args:
        steps: the plan.
        report: hvr's judgement of it.
        planner: who wrote it.
        seconds: when it came, from the start of the race.
    """

    steps: tuple[Step, ...]
    report: ValidationReport
    planner: str
    seconds: float


@dataclass(frozen=True)
class RaceResult:
    """How a race ended.

    Args:
        best: the best valid plan; None without one.
        proven: by whom it is proven that no plan is better (or, without a plan, that there is
            none); empty where it is not.
        rejected: plans that hvr's validator does not accept.
        troubles: what went wrong with planners, one sentence each.
        failed: Number of planners that broke off for a reason that more time would not change.
        seconds: wall time.
    """

    best: FoundPlan | None
    proven: str
    rejected: tuple[FoundPlan, ...]
    troubles: tuple[str, ...]
    failed: int
    seconds: float


class _Race:
    def __init__(
        self, problem: Problem, validator: Validator, listen: Callable[[FoundPlan], None] | None
    ) -> None:
        self.maximise = problem.metric is not None and problem.metric.direction == "maximize"
        self.validator = validator
        self.listen = listen
        self.started = time.perf_counter()
        self.best: FoundPlan | None = None
        self.rejected: list[FoundPlan] = []
        self.first = self.last = self.started

    def look(self, running: Running) -> None:
        """Judge what a planner has written since the last look."""
        for text in running.new_plans():
            steps = read_plan(text, file=running.program.name).steps
            report = self.validator.check(steps)
            now = time.perf_counter()
            candidate = FoundPlan(steps, report, running.program.name, now - self.started)
            if not report.valid:
                self.rejected.append(candidate)
            elif self.best is None or self._value(candidate) < self._value(self.best):
                if self.best is None:
                    self.first = now
                self.best, self.last = candidate, now
                if self.listen is not None:
                    self.listen(candidate)

    def _value(self, candidate: FoundPlan) -> tuple[Fraction, int]:
        cost = candidate.report.cost
        value = Fraction(len(candidate.steps)) if cost is None else cost
        return -value if self.maximise else value, len(candidate.steps)

    def outcome(self, proven: str, field: Sequence[Running] = ()) -> RaceResult:
        """Return how the race ended; `field` holds the planners if nothing is proven."""
        troubles = tuple(text for running in field if (text := running.trouble()))
        failed = sum(running.failed for running in field)
        seconds = time.perf_counter() - self.started
        return RaceResult(self.best, proven, tuple(self.rejected), troubles, failed, seconds)


def race(
    programs: Sequence[Program],
    job: PlannerJob,
    problem: Problem,
    validator: Validator,
    *,
    patience: float,
    proves: Callable[[Program], bool],
    listen: Callable[[FoundPlan], None] | None = None,
) -> RaceResult:
    """Let planners search at the same time.

    Args:
        programs: the planners.
        job: the problem and the time.
        problem: as parsed.
        validator: judges plans.
        patience: stop when there is a plan and it has not become better for this many seconds, or
            for as long as the first plan took to come; 0: search until there is a proof.
        proves: whether a planner that has searched to the end has proven what is asked.
        listen: is told of each plan that is better than the ones before.

    Raises:
        PlannerError: a planner cannot be started.
        DataFileError: there is no room for its files.
    """
    run = _Race(problem, validator, listen)
    deadline = run.started + job.seconds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(temporary_folder("hvr-solve-")))
        field = [
            stack.enter_context(Running(program, job, folder / str(number)))
            for number, program in enumerate(programs)
        ]
        while True:
            # Asked before looking: what ends in between has written its plan already.
            codes = [running.code for running in field]
            for running in field:
                run.look(running)
            for running in field:
                if running.proves_none:
                    return run.outcome(running.program.name if run.best is None else "")
                if running.done and run.best is not None and proves(running.program):
                    return run.outcome(running.program.name)
            now = time.perf_counter()
            if all(code is not None for code in codes) or now >= deadline:
                return run.outcome("", field)
            enough = max(patience, run.first - run.started)
            if patience and run.best is not None and now - run.last > enough:
                return run.outcome("")
            time.sleep(_POLL_SECONDS)

"""Run planners in parallel, validate and retime every plan, and keep the best plan."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from hvr.errors import HvrError
from hvr.pddl import And, GroundAction, Problem, State, Step, Task, TimedAction, read_plan
from hvr.pddl.compiler import Binding
from hvr.pddl.durative import DurativeOperator, ground_durative
from hvr.pddl.formulas import TRUE, Expression
from hvr.pddl.state import Operator, exact
from hvr.pddl.task import binding_of
from hvr.planning.solving.portfolio import PlannerEnd, PlannerJob, Program, Running, WorkSlice
from hvr.validation.happenings import Access, StepParts, access, interferences
from hvr.validation.report import ValidationReport
from hvr.validation.search import execute
from hvr.validation.validator import Validator

# Retiming -----------------------------------------------------------------------------------------
# Retiming moves the steps of a timed plan to better times.
#
# Interfering steps need a gap, but planners disagree on its size, and some leave none. Retiming
# keeps the order of interfering steps, puts the validator's gap between them, and lets every step
# start as early as possible. It solves a simple temporal problem (Dechter, Meiri & Pearl 1991)
# over the starts and ends of the plan, as in plan deordering (Bäckström 1998).

_MOST_EVENTS = 600
_ENDS_FIRST = {"at end": 0, "": 1, "at start": 2}


@dataclass(frozen=True)
class _Event:
    time: Fraction
    step: int
    when: str
    operator: Operator
    parts: StepParts


def retimed(validator: Validator, steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """Return the steps of a timed plan at the earliest times, or None if they cannot be computed.

    The result is invalid if the plan has other faults besides its times.
    """
    plan = [step for step in steps if isinstance(step, TimedAction)]
    if len(plan) != len(steps) or 2 * len(plan) > _MOST_EVENTS:
        return None
    try:
        events = sorted(
            _events(validator.task, plan), key=lambda e: (e.time, _ENDS_FIRST[e.when], e.step)
        )
        ordered = _ordered(validator.task, events)
    except HvrError:
        return None
    times = _earliest(validator.task, plan, ordered, validator.tolerance)
    if times is None:
        return None
    starts = {
        event.step: time
        for (event, _), time in zip(ordered, times, strict=True)
        if event.when != "at end"
    }
    moved = [step.replace(start=starts[number]) for number, step in enumerate(plan)]
    return tuple(sorted(moved, key=lambda step: step.start))


def _events(task: Task, plan: Sequence[TimedAction]) -> Iterator[_Event]:
    for number, step in enumerate(plan):
        if step.duration is None:
            schema = task.domain.actions[step.action.name]
            operator, binding = task.ground(step.action), binding_of(schema, step.action)
            parts = StepParts(binding, schema.precondition, schema.effect, (operator,))
            yield _Event(step.start, number, "", operator, parts)
            continue
        durative = ground_durative(task, step.action, exact(step.duration))
        yield _Event(step.start, number, "at start", durative.start, _parts(durative, "at start"))
        end = step.start + step.duration
        yield _Event(end, number, "at end", durative.end, _parts(durative, "at end"))
    for timed in task.problem.timed_init:
        operator = task.operator(GroundAction("at"), {}, TRUE, timed.effect)
        parts = StepParts({}, TRUE, timed.effect, (operator,))
        yield _Event(Fraction(timed.time), -1, "", operator, parts)


def _parts(durative: DurativeOperator, when: str) -> StepParts:
    """Return the parts of an action at its start or end; the invariant belongs to both."""
    template = durative.template
    condition: Expression = And((template.conditions[when], template.conditions["over all"]))
    further: list[tuple[Expression, Expression, Binding]] = [
        (s.condition_at_start, TRUE, s.binding) for s in durative.spanning
    ]
    further += [(s.condition, s.effect, s.binding) for s in durative.spanning]
    operator = durative.start if when == "at start" else durative.end
    operators = (operator, *(s.effects for s in durative.spanning if when == "at end"))
    bounds = tuple([test.text.right for test in durative.tests])
    effect = template.effects[when]
    return StepParts(durative.binding, condition, effect, operators, bounds, tuple(further))


def _ordered(task: Task, events: list[_Event]) -> list[tuple[_Event, Access]]:
    # Among simultaneous events, the next one is an applicable event that leaves most others
    # applicable.
    state = task.initial.bits, task.initial.values
    result: list[tuple[_Event, Access]] = []
    waiting = list(events)
    while waiting:
        tied = [event for event in waiting if event.time == waiting[0].time]
        starting = {event.step for event in tied if event.when == "at start"}
        tied = [event for event in tied if event.when != "at end" or event.step not in starting]
        best, after = tied[0], None
        most = -1
        for event in tied:
            then = execute(task, event.operator, *state)
            if then is None:
                continue
            others = sum(execute(task, other.operator, *then) is not None for other in tied)
            if others > most:
                best, after, most = event, then, others
        waiting.remove(best)
        result.append((best, access(State(task, *state), best.parts)))
        state = after or state
    return result


def _earliest(
    task: Task, plan: Sequence[TimedAction], ordered: Sequence[tuple[_Event, Access]], gap: Fraction
) -> list[Fraction] | None:
    least: list[tuple[int, int, Fraction]] = []
    partner: dict[int, int] = {}
    accesses = [one for _, one in ordered]
    for first, second, _ in interferences(task, accesses):
        same = ordered[first][0].step == ordered[second][0].step != -1
        if not same:
            least.append((first, second, gap))
    times = [Fraction(0)] * len(ordered)
    for index, (event, _) in enumerate(ordered):
        if event.step == -1:
            times[index] = event.time
        elif event.when == "at start":
            partner[event.step] = index
        elif event.when == "at end":
            length = plan[event.step].duration or Fraction(0)
            least.append((partner[event.step], index, length))
            least.append((index, partner[event.step], -length))
    fixed = {index for index, (event, _) in enumerate(ordered) if event.step == -1}
    # Bellman-Ford: a longest path has fewer edges than there are events, so further changes prove
    # a positive cycle.
    for _ in range(len(ordered) + 1):
        changed = False
        for first, second, length in least:
            if times[first] + length > times[second]:
                if second in fixed:
                    return None
                times[second] = times[first] + length
                changed = True
        if not changed:
            return times
    return None


# Capacity -----------------------------------------------------------------------------------------
# The number of planners that may run at the same time on this machine.

MIN_FREE_MEMORY = 1 << 30
"""Free memory in bytes that is required to start another planner."""


def usable_cores() -> int:
    """Return the number of processors that this process may use, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = float(allowed or 1)
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        if quota != "max":
            cores = min(cores, float(quota) / float(period))
    return max(1, round(cores))


def free_memory() -> int | None:
    """Return the available memory in bytes, or None if unknown."""
    free = None
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
        # The file cache counts as used but can be reclaimed.
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            used -= int(line.split()[1]) if line.startswith("inactive_file ") else 0
        if limit != "max":
            left = max(0, int(limit) - used)
            free = left if free is None else min(free, left)
    return free


def memory_is_short() -> bool:
    free = free_memory()
    return free is not None and free < MIN_FREE_MEMORY


# Race ---------------------------------------------------------------------------------------------

_POLL_SECONDS = 0.01


@dataclass(frozen=True)
class FoundPlan:
    """A plan found in a race, with the time in seconds since the start."""

    steps: tuple[Step, ...]
    report: ValidationReport
    planner: str
    seconds: float


@dataclass(frozen=True)
class RaceResult:
    """The result of a race.

    Args:
        best: The best valid plan, if any.
        proven: The planner that proved the plan optimal or the problem unsolvable, or "" if there
            is no proof.
        rejected: The plans that the validator found invalid or could not judge.
        ends: Outcome of each planner that found no valid plan, as a value and in words.
    """

    best: FoundPlan | None
    proven: str
    rejected: tuple[FoundPlan, ...]
    ends: Mapping[str, tuple[PlannerEnd, str]]
    seconds: float


@dataclass(frozen=True)
class RaceField:
    """The planners of a race and their schedule.

    Args:
        turns: A function that yields work slices endlessly, given the planners and the seconds that
            each has worked.
        slots: The number of planners that run at the same time.
        more: A function that returns additional planners, or None while they are unknown.
    """

    programs: Sequence[Program]
    turns: Callable[[Sequence[Program], Mapping[str, float]], Iterator[WorkSlice]]
    slots: int
    more: Callable[[], Sequence[Program] | None] = lambda: ()


@dataclass
class _Runner:
    running: Running
    worked: float = 0.0
    since: float | None = None
    until: float = 0.0

    def total(self, now: float) -> float:
        return self.worked + (0.0 if self.since is None else now - self.since)


class _Referee:
    def __init__(
        self, problem: Problem, validator: Validator, listen: Callable[[FoundPlan], None] | None
    ) -> None:
        self.maximise = problem.metric is not None and problem.metric.direction == "maximize"
        self.validator = validator
        self.listen = listen
        self.started = time.perf_counter()
        self.best: FoundPlan | None = None
        self.rejected: list[FoundPlan] = []
        self.successful: set[str] = set()
        self.first = self.last = self.started

    def look(self, running: Running) -> bool:
        """Validate a planner's new plans; return whether a new plan is the best plan so far."""
        better = False
        for text in running.new_plans():
            steps, report = self._best_timed(read_plan(text, file=running.program.name).steps)
            now = time.perf_counter()
            candidate = FoundPlan(steps, report, running.program.name, now - self.started)
            if not report.valid:
                self.rejected.append(candidate)
                continue
            self.successful.add(running.program.name)
            if self.best is None or self._value(candidate) < self._value(self.best):
                if self.best is None:
                    self.first = now
                self.best, self.last, better = candidate, now, True
                if self.listen is not None:
                    self.listen(candidate)
        return better

    def _best_timed(self, steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], ValidationReport]:
        report = self.validator.check(steps)
        moved = retimed(self.validator, steps)
        if moved is None or moved == steps:
            return steps, report
        other = self.validator.check(moved)
        better = not report.valid or self._worth(other, moved) < self._worth(report, steps)
        return (moved, other) if other.valid and better else (steps, report)

    def _value(self, candidate: FoundPlan) -> tuple[Fraction, int]:
        return self._worth(candidate.report, candidate.steps)

    def _worth(self, report: ValidationReport, steps: Sequence[Step]) -> tuple[Fraction, int]:
        value = Fraction(len(steps)) if report.cost is None else report.cost
        return -value if self.maximise else value, len(steps)


@dataclass
class _Race:
    entry: RaceField
    job: PlannerJob
    folder: Path
    stack: ExitStack
    judge: _Referee
    runners: dict[str, _Runner] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.programs = {program.name: program for program in self.entry.programs}
        self.spent: dict[str, float] = {}
        self.complete = False
        self._plan_turns()

    def _plan_turns(self) -> None:
        self.turns = self.entry.turns(tuple(self.programs.values()), self.spent)

    def admit(self) -> None:
        if self.complete or (more := self.entry.more()) is None:
            return
        self.complete = True
        if more:
            self.programs |= {program.name: program for program in more}
            self._plan_turns()

    def working(self) -> list[_Runner]:
        return [runner for runner in self.runners.values() if runner.since is not None]

    def over(self) -> bool:
        return self.complete and all(
            name in self.runners and self.runners[name].running.code is not None
            for name in self.programs
        )

    def take_turns(self, now: float) -> None:
        for runner in self.working():
            self.spent[runner.running.program.name] = runner.total(now)
            if runner.running.code is not None:
                runner.worked, runner.since = runner.total(now), None
        waiting = [name for name in self.programs if not self._busy(name)]
        for runner in self.working():
            if waiting and runner.total(now) >= runner.until:
                self._pause(runner, now)
        while len(self.working()) < self.entry.slots and waiting:
            turn = next(self.turns)
            if turn.planner in waiting:
                waiting.remove(turn.planner)
                self._start(turn, now)

    def _busy(self, name: str) -> bool:
        runner = self.runners.get(name)
        return runner is not None and (runner.since is not None or runner.running.code is not None)

    def _start(self, turn: WorkSlice, now: float) -> None:
        runner = self.runners.get(turn.planner)
        if runner is None:
            if self.working() and memory_is_short():
                return
            place = self.folder / str(len(self.runners))
            running = Running(self.programs[turn.planner], self.job, place)
            runner = self.runners[turn.planner] = _Runner(self.stack.enter_context(running))
        else:
            runner.running.resume()
        runner.since, runner.until = now, turn.until

    def _pause(self, runner: _Runner, now: float) -> None:
        if memory_is_short():
            # Its memory is worth more to the others than its progress: a paused planner would
            # keep it.
            runner.running.end()
            self.dropped.add(runner.running.program.name)
        elif not runner.running.pause():
            return
        runner.worked, runner.since = runner.total(now), None

    def outcome(self, proven: str) -> RaceResult:
        invalid = {candidate.planner for candidate in self.judge.rejected}
        ends: dict[str, tuple[PlannerEnd, str]] = {}
        for name in self.programs:
            runner = self.runners.get(name)
            if name in self.judge.successful:
                continue
            if runner is None:
                ends[name] = PlannerEnd.OUT_OF_TIME, "did not get a turn within the time limit"
            elif name in self.dropped:
                ends[name] = PlannerEnd.OUT_OF_MEMORY, PlannerEnd.OUT_OF_MEMORY
            elif name in invalid and runner.running.outcome == PlannerEnd.GAVE_UP:
                ends[name] = PlannerEnd.GAVE_UP, "wrote an invalid plan"
            else:
                ends[name] = runner.running.outcome, runner.running.explanation()
        seconds = time.perf_counter() - self.judge.started
        return RaceResult(self.judge.best, proven, tuple(self.judge.rejected), ends, seconds)


@dataclass(frozen=True)
class RaceSettings:
    """The conditions under which a race ends, and the listener for its plans.

    Args:
        patience: Seconds without a better plan after which the race ends (at least the time that
            the first plan took), or 0 to wait for a proof.
        listen: A function to call with each plan that is better than all earlier plans.
        stopped: A function, called several times a second, that returns whether to end the race.
    """

    patience: float
    listen: Callable[[FoundPlan], None] | None = None
    stopped: Callable[[], bool] | None = None


def race(
    entry: RaceField,
    job: PlannerJob,
    folder: Path,
    judged: tuple[Problem, Validator],
    settings: RaceSettings,
    *,
    proves: Callable[[Program], bool],
) -> RaceResult:
    """Run planners in parallel, as many as `entry.slots`, and return the best plan.

    Args:
        folder: An existing folder for the planners' files.
        proves: Whether a planner that has searched everything has proven its plan optimal.
    """
    judge, patience = _Referee(*judged, settings.listen), settings.patience
    deadline = judge.started + job.seconds
    with ExitStack() as stack:
        run = _Race(entry, job, folder, stack, judge)
        while True:
            run.admit()
            run.take_turns(time.perf_counter())
            # Check before looking: a planner that has ended by now has written all its plans.
            over = run.over()
            for runner in run.runners.values():
                if judge.look(runner.running):
                    # A planner that has just improved its plan continues.
                    runner.until += _FRESH_SECONDS
            for runner in run.runners.values():
                running = runner.running
                if running.proves_none:
                    return run.outcome(running.program.name if judge.best is None else "")
                if running.done and judge.best is not None and proves(running.program):
                    return run.outcome(running.program.name)
            now = time.perf_counter()
            if over or now >= deadline or (settings.stopped is not None and settings.stopped()):
                return run.outcome("")
            enough = max(patience, judge.first - judge.started)
            if patience and judge.best is not None and now - judge.last > enough:
                return run.outcome("")
            time.sleep(_POLL_SECONDS)


_FRESH_SECONDS = 2.0
"""Additional seconds for a planner that has just found a better plan."""

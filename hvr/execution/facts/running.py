"""Runs in PDDL worlds, with or without time."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole, writing
from hvr.errors import ImpossibleGoalError, PlannerError, UsageError
from hvr.execution.deviations import Deviation, DeviationKind, Difference, Side
from hvr.execution.events import Event, Finished, StepDone
from hvr.execution.executor import Executor
from hvr.execution.facts.acting import FactMonitor, FactPolicy, FactWorld
from hvr.execution.facts.detection import FactOutcome, detect_facts, difference_of, explain_state
from hvr.execution.facts.planning import FactPlanner, StatePlanner, problem_at
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.wording import Wording
from hvr.pddl import (
    Atom,
    Comparison,
    Domain,
    Expression,
    GroundAction,
    Not,
    Problem,
    State,
    Step,
    Task,
    print_plan,
)
from hvr.pddl.formulas import functions_of, walk
from hvr.pddl.model import print_domain, print_problem
from hvr.planning.plans import AABlock, MacroAction, Plan, Planned
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.values import JsonObject
from hvr.worlds.facts.environment import FactEnvironment, FaultyWorld, InjectedFault, base_atoms
from hvr.worlds.facts.timed_environment import SplitEnvironment, StartsAndEnds, Timing

# Timed --------------------------------------------------------------------------------------------
# Execution of durative actions: their starts and ends, ordered by the times of a plan.
#
# The world sees two steps, `NAME-starts` and `NAME-ends`, executed by the loop of
# `hvr.execution.facts.acting`. A fact marks the action as running in between. An action whose
# overall condition breaks ends without its effects. A new plan starts when all running actions have
# ended.


class TimedWorld(FactWorld):
    """An environment with durative actions and a clock.

    Args:
        env: An environment of the split domain (`domain_environment`), or a `TimedEnvironment`.

    Attributes:
        now: Current time, simulated if the environment has no `wait`.
        plans: The timed plans made so far.

    Raises:
        UsageError: See `Timing`; or the environment lacks a method that durative actions need.
        SimulatorError: The environment fails.
    """

    may_repeat = True  # time passes, and waiting may help

    def __init__(
        self, env: FactEnvironment, domain: Domain, problem: Problem, wording: Wording
    ) -> None:
        self.timing = Timing(domain, problem)
        inner = env.env if isinstance(env, FaultyWorld) else env
        own = not isinstance(inner, SplitEnvironment)
        adapter = StartsAndEnds(inner, self.timing) if own else None
        self._env: Any = adapter or inner
        self.has_clock = adapter is not None and "wait" in adapter.methods
        self.now = Fraction(0)
        self.plans: list[tuple[Step, ...]] = []
        self._problem = problem
        self._due: dict[GroundAction, deque[tuple[Fraction, Fraction]]] = {}
        self._last: dict[GroundAction, tuple[Fraction, Fraction]] = {}
        self._ends: dict[GroundAction, Fraction] = {}
        super().__init__(
            adapter or env,
            self.timing.domain,
            self.timing.problem(problem),
            self.timing.wording(wording),
        )

    def watch(
        self, planned: Planned, constraints: ConstraintMonitor, *, aside: bool = False
    ) -> TimedWatch:
        return TimedWatch(self, planned.task, constraints, aside=aside)

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        """Return a plan that starts when all running actions have ended.

        Raises:
            UsageError: The policy's planner cannot plan durative actions.
        """
        maker = policy.planner
        if not isinstance(maker, StatePlanner):
            raise UsageError(
                "a language model cannot plan durative actions: use hvr's planners or an engine"
            )
        task, ends, after = self._ended(stage)
        problem = problem_at(self._problem, after)
        found = maker.timed(self.timing.timed_domain, problem)
        begin = max([self.now, *(self._ends.get(end, self.now) for end in ends)])
        self._due = defaultdict(deque)
        for end in ends:
            self._due[end].append((self._ends.get(end, self.now), Fraction(0)))
        actions = list(ends)
        for time, duration, action in self.timing.steps(found.steps):
            self._due[action].append((begin + time, duration))
            actions.append(action)
        self.plans.append(found.steps)
        blocks = (AABlock(MacroAction("reach the goal"), tuple(actions)),) if actions else ()
        plan = Plan(blocks, False, found.planner, found.seconds)
        reasons = dict.fromkeys(task.objects, "the problem names it")
        return Planned(task.problem, task, Relevant(reasons), plan, 1)

    def _ended(self, stage: Problem) -> tuple[Task, list[GroundAction], State]:
        """Return the task, the ends of the running actions, and the state once all have ended."""
        # Actions that cannot end as planned are stopped.
        while True:
            task = Task(self.domain, problem_at(stage, self.state))
            validator = Validator(task)
            running = [(atom, one) for atom, one, _ in self.timing.running(self.state)]
            running.sort(key=lambda one: self._end_of(one[1]))
            ends = [self.timing.end(one) for _, one in running]
            for (atom, action), end in zip(running, ends, strict=True):
                if not validator.apply(end).ok:
                    self.stop(action)
                    state = self.state
                    self.state = state.task.state_with(base_atoms(state) - {atom}, state.numbers())
                    break
            else:
                return task, ends, validator.state

    def _end_of(self, action: GroundAction) -> Fraction:
        return self._ends.get(self.timing.end(action), self.now)

    def wait_for(self, action: GroundAction) -> bool:
        """Wait until a step is due; return whether the environment's own clock was advanced."""
        waiting = self._due.get(action)
        due, duration = waiting[0] if waiting else self._last.get(action, (self.now, Fraction(0)))
        self._last[action] = due, duration
        due = max(due, self._ends.get(action, due))
        pause, self.now = due - self.now, max(self.now, due)
        if pause > 0 and self.has_clock:
            self._ask(f"wait {float(pause):g}", lambda: self._env.env.wait(float(pause)))
            return True
        return False

    def do(self, action: GroundAction) -> str:
        _, duration = self._last.get(action, (self.now, Fraction(0)))
        if isinstance(self._env, StartsAndEnds):
            self._env.duration = float(duration)
        error = super().do(action)
        if not error:
            if waiting := self._due.get(action):
                waiting.popleft()
            schema = self.timing.schemas.get(action.name)
            if schema is not None and action.name in self.timing.names.starts:
                end = self.timing.end(action.replace(name=schema.name))
                self._ends[end] = self.now + duration
        return error

    def stop(self, action: GroundAction) -> None:
        self._ask(f"stop {action}", lambda: self._env.stop(action.name, action.args))


class TimedWatch(FactMonitor):
    """Monitors the start and end of each durative action, and its `over all` condition."""

    world: TimedWorld

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        world = self.world
        noticed: tuple[Deviation, ...] = ()
        waited = Difference()
        if world.wait_for(action):
            believed = self._state
            self._state = world.look(believed)
            waited = difference_of(believed, self._state)
            outcome = FactOutcome(believed, believed, self._state)
            noticed = detect_facts(number, action, outcome, world.wording)
            broken, off = self._break_off(number, believed)
            noticed, waited = (*noticed, *broken), _both(waited, off)
            world.state = self._state
            if not Validator(self.task, state=self._state).apply(action).ok:
                return StepDone(
                    number=number,
                    action=action,
                    block=block,
                    success=False,
                    error="",
                    difference=waited,
                    sent=(),
                    failures=(*noticed, self.cannot(number, action)),
                    time=world.now,
                )
        was = self._state
        done = super().step(number, action, block, before, report)
        broken, off = self._break_off(number, was, action)
        world.state = self._state
        return done.replace(
            difference=_both(_both(waited, done.difference), off),
            failures=(*noticed, *done.failures, *broken),
            time=world.now,
        )

    def _break_off(
        self, number: int, was: State, action: GroundAction | None = None
    ) -> tuple[tuple[Deviation, ...], Difference]:
        timing = self.world.timing
        failures, off = [], []
        running = {
            a: (one, needs) for s in (was, self._state) for a, one, needs in timing.running(s)
        }
        for atom, (one, needs) in running.items():
            if timing.end(one) == action or self._state.holds(needs):
                continue
            if atom in self._state:
                self.world.stop(one)
                off.append(atom)
            unmet = tuple(
                u.formula if u.wanted else Not(u.formula)
                for u in Validator(self.task, state=self._state).unmet(needs, {})
            )
            why = explain_state(unmet, self.world.wording) or "a condition is unmet"
            text = f"{one} was broken off, because {why}."
            failures.append(
                Deviation(
                    DeviationKind.MISSING_PRECONDITION, Side.PRE, unmet, number, one, text, one.args
                )
            )
        if off:
            atoms = base_atoms(self._state) - set(off)
            self._state = self.task.state_with(atoms, self._state.numbers())
        return tuple(failures), Difference(missing=tuple(off))


def _both(first: Difference, second: Difference) -> Difference:
    return Difference(
        (*first.missing, *second.missing),
        (*first.unexpected, *second.unexpected),
        (*first.numbers, *second.numbers),
    )


# Running ------------------------------------------------------------------------------------------

MAX_REPLANS = 20
"""Default maximum number of new plans."""
MAX_ATTEMPTS = 3
"""Maximum number of retries of the same step in a run. It is higher than in other worlds because
plans often repeat a step.
"""


@dataclass(frozen=True)
class TimedRun(JsonObject):
    """The timed plans of a run.

    Args:
        timing: The domain with each durative action split into its start and its end, as in the
            run's plans.
        simulated: Whether hvr counted the time because the environment has no clock.
    """

    timing: Timing = field(repr=False)
    plans: tuple[tuple[Step, ...], ...] = field(repr=False)
    now: Fraction
    simulated: bool

    json_shape = "time=seconds simulated plans"

    @property
    def seconds(self) -> float:
        return float(self.now)


@dataclass(frozen=True)
class WorldRun(JsonObject):
    """A finished run in a PDDL world.

    Args:
        unreachable: Whether it is proven that no plan reaches the goal from the final state.
        plans: The plans whose execution began, in order.
        unseen: Hidden predicates in the goal; if there are any, success is only believed.
    """

    finished: Finished
    unreachable: bool
    plans: tuple[Planned, ...]
    events: tuple[Event, ...] = field(repr=False)
    faults: tuple[InjectedFault, ...] = ()
    unseen: tuple[str, ...] = ()
    timed: TimedRun | None = None

    json_shape = "reached=finished.reached unreachable unseen clock=timed- faults events"

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if the goal is seen to hold, 1 if it is proven unreachable, otherwise 2."""
        if self.finished.reached:
            return 2 if self.unseen else 0
        return 1 if self.unreachable else 2


def run_world(
    env: FactEnvironment,
    domain: Domain,
    problem: Problem,
    wording: Wording,
    *,
    planner: FactPlanner | FactPolicy | None = None,
    max_replans: int = MAX_REPLANS,
    listen: Callable[[Event], None] | None = None,
) -> WorldRun:
    """Plan and act in an environment until the goal of a problem is reached or hvr must give up.

    Args:
        planner: A planner, or a policy with its own recovery strategies; None for `StatePlanner`.

    Raises:
        UsageError: The domain uses unsupported timing, or no planner supports it.
        SimulatorError: The environment fails.
    """
    policy = planner
    if not isinstance(policy, FactPolicy):
        policy = FactPolicy(domain, policy or StatePlanner())
    if not domain.durative_actions or not isinstance(policy.planner, StatePlanner):
        world = FactWorld(env, domain, problem, wording)
        return run_in_world(world, policy, problem, max_replans=max_replans, listen=listen)
    timed = TimedWorld(env, domain, problem, wording)
    stage = timed.timing.problem(problem)
    run = run_in_world(timed, policy, stage, max_replans=max_replans, listen=listen)
    with_time = TimedRun(timed.timing, tuple(timed.plans), timed.now, not timed.has_clock)
    return replace(run, timed=with_time)


class _EndedError(Exception):
    """Raised when the environment has judged the run."""


def run_in_world(
    world: FactWorld,
    policy: FactPolicy,
    *stages: Problem,
    max_replans: int = MAX_REPLANS,
    listen: Callable[[Event], None] | None = None,
) -> WorldRun:
    """Reach the goals of the stages in order; see `run_world`."""
    events: list[Event] = []
    plans: list[Planned] = []

    def take(event: Event) -> None:
        events.append(event)
        if listen is not None:
            listen(event)
        if isinstance(event, StepDone) and world.outcome() is not None:
            raise _EndedError

    executor = Executor(world, policy, take, plans.append, max_replans, MAX_ATTEMPTS)
    try:
        finished = executor.run(stages)
    except _EndedError:
        reason = "" if world.outcome() else "the environment ended the run without success"
        finished = executor.finished(reason)
        take(finished)
    except (ImpossibleGoalError, PlannerError) as error:
        # Only the first plan: the executor itself reports later plans that cannot be made.
        if isinstance(error, PlannerError) and error.exit_code == 2:
            raise
        finished = Finished(False, executor.steps, executor.replans, str(error))
        take(finished)
    faults = tuple(world.env.log) if isinstance(world.env, FaultyWorld) else ()
    unreachable = not finished.reached and world.impossible
    needed = frozenset(n for one in stages for n in dependencies_of(world.domain, one.goal))
    unseen = () if world.outcome() else tuple(sorted(world.hidden & needed))
    return WorldRun(finished, unreachable, tuple(plans), tuple(events), faults, unseen)


def dependencies_of(domain: Domain, formula: Expression) -> frozenset[str]:
    """Return the predicates and functions on which a formula depends, directly or by derivation."""
    rules: dict[str, list[Expression]] = {}
    for rule in domain.derived:
        rules.setdefault(rule.predicate, []).append(rule.body)
    known: set[str] = set()
    todo: list[Expression] = [formula]
    while todo:
        for part in walk(todo.pop()):
            names = {part.predicate} if isinstance(part, Atom) else set()
            if isinstance(part, Comparison):
                terms = (*functions_of(part.left), *functions_of(part.right))
                names = {term.function for term in terms}
            for name in names - known:
                todo += rules.get(name, [])
            known |= names
    return frozenset(known)


def save_run(
    folder: Path,
    domain: Domain,
    problem: Problem,
    run: WorldRun,
    *,
    request: str,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a run's files to a folder; `about` adds entries to `task.json`.

    The layout is the same as for other runs. `problem.pddl` and `plan.pddl` are the first ones; new
    plans are numbered from `problem-2.pddl` and `plan-2.pddl`. In plans with durations, each step
    is the start or the end of an action; the original plan is in `timed-plan.pddl`, for the domain
    `timed-domain.pddl`.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if run.timed is not None:
        write_whole(folder / "timed-domain.pddl", print_domain(domain))
        write_whole(folder / "timed-problem.pddl", print_problem(problem))
        for number, steps in enumerate(run.timed.plans, 1):
            text = "".join(f"{step}\n" for step in steps)
            write_whole(folder / f"timed-plan{f'-{number}' * (number > 1)}.pddl", text)
        timing = run.timed.timing
        domain, problem = timing.domain, timing.problem(problem)
    write_whole(folder / "domain.pddl", print_domain(domain))
    write_whole(folder / "problem.pddl", print_problem(problem))
    for number, planned in enumerate(run.plans, 1):
        suffix = "" if number == 1 else f"-{number}"
        if suffix:
            write_whole(folder / f"problem{suffix}.pddl", print_problem(planned.task.problem))
        write_whole(folder / f"plan{suffix}.pddl", print_plan(planned.plan.actions))
    write_whole(folder / "trace.jsonl", _lines(event.to_json() for event in run.events))
    if run.faults:
        write_whole(folder / "faults.jsonl", _lines(fault.to_json() for fault in run.faults))
    status = _status(problem, run, request, about or {})
    write_whole(folder / "task.json", f"{json.dumps(status, indent=2, ensure_ascii=False)}\n")


def _status(
    problem: Problem, run: WorldRun, request: str, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the entries of `task.json`; `reached` is None if success is only believed."""
    unseen = " and ".join(run.unseen) if run.finished.reached else ""
    verdict = {"verdict": f"the goal is believed to hold, but {unseen} cannot be observed"}
    return {
        "state": "finished",
        "request": request,
        **about,
        "goal": [str(problem.goal)],
        "reached": None if unseen else run.finished.reached,
        **(verdict if unseen else {}),
    }


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)

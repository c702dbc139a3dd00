"""Acting with durative actions: their starts and ends, one after another, by the times of a plan.

The world sees two steps, `NAME-starts` and `NAME-ends`; the loop is that of
`hvr.execution.facts.acting`. Between them a fact says that the action goes on. Whatever breaks a
condition over all of an action ends it without its effects. A new plan begins when everything that
goes on has ended.
"""

from __future__ import annotations

from collections import defaultdict, deque
from fractions import Fraction
from typing import Any

from hvr.errors import UsageError
from hvr.execution.deviations import Deviation, DeviationKind, Difference, Side
from hvr.execution.events import StepDone
from hvr.execution.facts.acting import FactMonitor, FactPolicy, FactWorld
from hvr.execution.facts.detection import FactOutcome, detect_facts, difference_of, explain_state
from hvr.execution.facts.planning import StatePlanner, problem_at
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.wording import Wording
from hvr.pddl import (
    Domain,
    GroundAction,
    Not,
    Problem,
    State,
    Step,
    Task,
)
from hvr.planning.plans import AABlock, MacroAction, Plan, Planned
from hvr.validation import Validator
from hvr.validation.report import StepReport
from hvr.validation.trajectory import ConstraintMonitor
from hvr.worlds.facts.environment import FactEnvironment, base_atoms
from hvr.worlds.facts.faults import FaultyWorld
from hvr.worlds.facts.timed_environment import SplitEnvironment, StartsAndEnds, Timing


class TimedWorld(FactWorld):
    """An environment with durative actions, and the clock.

    Args:
        env: The environment: of the domain (`domain_environment`), or a `TimedEnvironment`.
        domain, problem: With durative actions.
        wording: Says what holds.

    Attributes:
        now: The time. It is simulated where the environment has no `wait`.
        plans: The timed plans that were made.

    Raises:
        UsageError: See `Timing`; or the environment lacks what durative actions need.
        SimulatorError: The environment fails.
    """

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
        self, planned: Planned, promises: ConstraintMonitor, *, aside: bool = False
    ) -> TimedWatch:
        """See `hvr.execution.recovery.ExecutionWorld`."""
        return TimedWatch(self, planned.task, promises, aside=aside)

    def planned(self, policy: FactPolicy, stage: Problem) -> Planned:
        """Return a plan that begins when everything that goes on has ended."""
        maker = policy.planner
        if not isinstance(maker, StatePlanner):
            raise UsageError("durative actions need hvr's planners or engines, not a model's plans")
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
        """Return the task, the ends of what goes on, and the state that they should lead to.

        What cannot end as it should is stopped.
        """
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
        """Let time go by until a step is due; return whether that was the world's own time."""
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
        """See `FactWorld.do`."""
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
        """Tell the environment that an action is broken off."""
        self._ask(f"stop {action}", lambda: self._env.stop(action.name, action.args))


class TimedWatch(FactMonitor):
    """Watches at the start and the end of every action, and what must hold in between."""

    world: TimedWorld

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """Wait until the step is due, look, and do it: see `BeliefMonitor`."""
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
        """Stop what goes on though its condition over all is seen not to hold."""
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

"""Acting with durative actions: their starts and ends, one after another, by the times of a plan.

The world sees two steps, `NAME-starts` and `NAME-ends`; the loop is that of `hvr.worlds.acting`.
Between them a fact says that the action goes on. Whatever breaks a condition over all of an action
ends it without its effects. A new plan begins when everything that goes on has ended.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

from hvr.errors import UsageError
from hvr.execution.compare import Difference
from hvr.execution.events import StepDone
from hvr.execution.failures import Deviation, DeviationKind, Side
from hvr.knowledge.wording import PredicateWording, Template, Wording
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Expression,
    Forall,
    FunctionTerm,
    GroundAction,
    Not,
    Problem,
    State,
    Step,
    Task,
    TimedAction,
    substitute,
)
from hvr.pddl.durative import part_at, times_of
from hvr.pddl.model import When, numbers_of, walk
from hvr.pddl.task import binding_of
from hvr.plans import AABlock, MacroAction, Plan, Planned
from hvr.retrieval.relevance import Relevant
from hvr.solving.features import Feature, features_of
from hvr.solving.snapping import Snapped, snapped
from hvr.validation import Validator
from hvr.validation.promises import Promises
from hvr.validation.report import StepReport
from hvr.worlds.acting import FactPolicy, FactWatch, FactWorld
from hvr.worlds.detection import FactOutcome, base, detect_facts, difference_of, explained
from hvr.worlds.environment import (
    FactEnvironment,
    Observation,
    PddlEnvironment,
    Sending,
    check_timeless,
)
from hvr.worlds.faults import FaultyWorld
from hvr.worlds.planning import StatePlanner, problem_at


class TimedEnvironment(FactEnvironment, Protocol):
    """An environment for durative actions.

    It may also have `wait(seconds)`, if it has a clock, and `stop(name, args)`, which is called for
    an action that a broken condition has ended.
    """

    def start(self, name: str, args: tuple[str, ...], duration: float) -> str:
        """Start a durative action; return nothing if it has started, else why not."""
        ...

    def end(self, name: str, args: tuple[str, ...]) -> str:
        """Let a durative action end; return nothing if it has, else why it failed."""
        ...


METHODS = ("start", "end", "wait", "stop")
"""The methods of an environment that only durative actions need."""


class Timing:
    """A domain with durative actions as one in which their starts and ends are actions.

    Args:
        domain, problem: With durative actions.

    Attributes:
        domain: The domain without time.
        schemas: Durative actions by the names of their starts and ends.

    Raises:
        UsageError: They use more of time than can be acted in.
    """

    def __init__(self, domain: Domain, problem: Problem) -> None:
        check_actable(domain, problem)
        names = snapped(domain, problem)
        self.names: Snapped = names
        self.timed_domain = domain
        both = {**names.starts, **names.ends}
        self.schemas = {name: domain.durative_actions[of] for name, of in both.items()}
        actions = dict(names.domain.actions)
        for name in both:
            schema, going_on = actions[name], self._going_on(name)
            if name in names.starts:
                needs = And((Not(going_on), schema.precondition))
                actions[name] = schema.replace(precondition=needs)
            else:
                actions[name] = schema.replace(effect=And((schema.effect, Not(going_on))))
        self.domain = names.domain.replace(actions=actions, durative_actions={})
        self._start_of = {of: name for name, of in names.starts.items()}
        self._end_of = {of: name for name, of in names.ends.items()}
        self._of_fact = {fact: of for of, fact in names.running.items()}

    def _going_on(self, name: str) -> Atom:
        schema = self.schemas[name]
        return Atom(self.names.running[schema.name], tuple([p.name for p in schema.parameters]))

    def problem(self, problem: Problem) -> Problem:
        """Return a problem for the domain without time, in which everything ends before the goal.

        It has no metric: the length of a plan is not a cost of its steps.
        """
        ended = [
            Forall(schema.parameters, Not(self._going_on(name)))
            if schema.parameters
            else Not(self._going_on(name))
            for name, schema in self.schemas.items()
            if name in self.names.ends
        ]
        return problem.replace(goal=And((problem.goal, *ended)), metric=None)

    def wording(self, wording: Wording) -> Wording:
        """Return words that also say what goes on."""
        said = dict(wording.predicates)
        for of, fact in self.names.running.items():
            arity = len(self.timed_domain.durative_actions[of].parameters)
            step = " ".join([of, *(f"{{{n}}}" for n in range(arity))])
            true, false = (Template(f"({step}) {says}", arity) for says in _GOES_ON)
            said[fact] = PredicateWording(true, false, true, (), (), ())
        return dataclasses.replace(wording, predicates=MappingProxyType(said))

    def running(self, state: State) -> Iterator[tuple[Atom, GroundAction, Expression]]:
        """Yield what goes on: its fact, the action, and the condition over all of it."""
        for atom in sorted(base(state), key=str):
            if (of := self._of_fact.get(atom.predicate)) is not None:
                action = GroundAction(of, atom.args)
                schema = self.timed_domain.durative_actions[of]
                condition = part_at(schema.condition, "over all")
                yield atom, action, substitute(condition, binding_of(schema, action))

    def broken(self, state: State) -> frozenset[Atom]:
        """Return the facts of what goes on though its condition over all does not hold."""
        return frozenset(a for a, _, needs in self.running(state) if not state.holds(needs))

    def start(self, action: GroundAction) -> GroundAction:
        """Return the start of a durative action."""
        return action.replace(name=self._start_of[action.name])

    def end(self, action: GroundAction) -> GroundAction:
        """Return the end of a durative action."""
        return action.replace(name=self._end_of[action.name])

    def steps(self, plan: Collection[Step]) -> list[tuple[Fraction, Fraction, GroundAction]]:
        """Return the starts, ends and other steps of a timed plan, each with time and duration."""
        found: list[tuple[Fraction, int, Fraction, GroundAction]] = []
        for step in plan:
            if not isinstance(step, TimedAction):
                found.append((Fraction(0), 1, Fraction(0), step))
            elif step.duration is None:
                found.append((step.start, 1, Fraction(0), step.action))
            else:
                start, duration = step.start, step.duration
                found.append((start, 2, duration, self.start(step.action)))
                found.append((start + duration, 0, duration, self.end(step.action)))
        # Interfering steps are apart; of the others the ends come first.
        found.sort(key=lambda one: one[:2])
        return [(time, duration, action) for time, _, duration, action in found]


_GOES_ON = ("goes on", "does not go on")


def check_actable(domain: Domain, problem: Problem) -> None:
    """Refuse what cannot be acted in.

    Raises:
        UsageError: The problem changes by itself, or what an action does depends on more than the
            state at its start and the state at its end.
    """
    if not domain.durative_actions:
        check_timeless(domain, problem)
        return
    strange = features_of(domain, problem) & {
        Feature.CONTINUOUS, Feature.TIMED, Feature.PREFERENCES, Feature.CONSTRAINTS,
    }  # fmt: skip
    if strange:
        raise UsageError(
            f"{domain.name} has durative actions with {', '.join(sorted(strange))}: carrying out "
            "such plans is not supported"
        )
    for schema in domain.durative_actions.values():
        for part in walk(schema.effect):
            if isinstance(part, When) and len(times_of(part.condition) | times_of(part.effect)) > 1:
                raise UsageError(
                    f"{schema.name} has a conditional effect across several times: carrying it out "
                    "is not supported"
                )
        chosen = not any(
            isinstance(p, Comparison) and p.operator == "=" for p in walk(schema.duration)
        )
        if chosen and any(isinstance(n, Duration) for n in _numbers(schema)):
            raise UsageError(
                f"the effect of {schema.name} depends on a duration that is not fixed: carrying it "
                "out is not supported"
            )


def _numbers(schema: DurativeActionSchema) -> Iterator[Any]:
    stack: list[Any] = [*numbers_of(schema.effect), *numbers_of(schema.condition)]
    while stack:
        number = stack.pop()
        yield number
        stack += getattr(number, "operands", ())


class SplitEnvironment(PddlEnvironment):
    """Runs a domain with durative actions itself, by starts and ends, without a clock.

    Args:
        domain, problem: With durative actions.
        hidden: Predicates and functions that are never seen.

    Raises:
        UsageError: See `Timing`; or a hidden name is unknown, or that of a rule.
    """

    def __init__(self, domain: Domain, problem: Problem, hidden: Collection[str] = ()) -> None:
        self.timing = Timing(domain, problem)
        super().__init__(self.timing.domain, self.timing.problem(problem), hidden)

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """See `FactEnvironment`: a start, an end, or an action without duration."""
        error = super().step(name, args)
        self._break_off()
        return error

    def put(self, atoms: Collection[Atom], numbers: Mapping[FunctionTerm, Fraction]) -> None:
        """See `PddlEnvironment`."""
        super().put(atoms, numbers)
        self._break_off()

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        """End a durative action without its effects."""
        going_on = Atom(self.timing.names.running[name], args)
        super().put(base(self.state) - {going_on}, self.state.numbers())

    def _break_off(self) -> None:
        if broken := self.timing.broken(self.state):
            super().put(base(self.state) - broken, self.state.numbers())


def domain_environment(
    domain: Domain, problem: Problem, hidden: Collection[str] = ()
) -> PddlEnvironment:
    """Return an environment that runs a domain itself, with durative actions or without."""
    of = SplitEnvironment if domain.durative_actions else PddlEnvironment
    return of(domain, problem, hidden)


class _StartsAndEnds:
    """A `TimedEnvironment` as one whose steps are starts and ends, and that shows what goes on."""

    def __init__(self, env: Any, timing: Timing) -> None:
        offered = getattr(env, "methods", None)
        self.methods = {m for m in METHODS if hasattr(env, m)} if offered is None else offered
        if lacking := [m for m in METHODS[:2] if m not in self.methods]:
            raise UsageError(
                f"the environment has no {' and no '.join(lacking)}, which durative actions need"
            )
        self.env = env
        self.timing = timing
        self.duration = 0.0
        self._running: set[tuple[str, ...]] = set()

    def reset(self) -> None:
        self._running = set()
        self.env.reset()

    def step(self, name: str, args: tuple[str, ...]) -> str:
        schema = self.timing.schemas.get(name)
        if schema is None:
            return str(self.env.step(name, args))
        going_on = (self.timing.names.running[schema.name], *args)
        if name in self.timing.names.ends:
            self._running.discard(going_on)
            return str(self.env.end(schema.name, args))
        error = str(self.env.start(schema.name, args, self.duration))
        if not error:
            self._running.add(going_on)
        return error

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        self._running.discard((self.timing.names.running[name], *args))
        if "stop" in self.methods:
            self.env.stop(name, args)

    def observe(self) -> Observation:
        seen: Any = self.env.observe()
        if isinstance(seen, Observation):
            seen = dataclasses.replace(seen, facts=[*seen.facts, *sorted(self._running)])
        shown: Observation = seen  # of whatever else `FactWorld.look` speaks
        return shown

    def sent(self) -> dict[str, Any]:
        return self.env.sent() if isinstance(self.env, Sending) else {}


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
        adapter = _StartsAndEnds(inner, self.timing) if own else None
        self._env: Any = adapter or inner
        self.has_clock = adapter is not None and "wait" in adapter.methods
        self.now = Fraction(0)
        self.plans: list[tuple[Step, ...]] = []
        self._problem = problem
        self._due: dict[GroundAction, deque[tuple[Fraction, Fraction]]] = {}
        self._last: dict[GroundAction, tuple[Fraction, Fraction]] = {}
        self._ends: dict[GroundAction, Fraction] = {}
        super().__init__(
            adapter or env, self.timing.domain, self.timing.problem(problem),
            self.timing.wording(wording),
        )  # fmt: skip

    def watch(self, planned: Planned, promises: Promises, *, aside: bool = False) -> TimedWatch:
        """See `hvr.execution.acting.Acting`."""
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
                    self.state = state.task.state_with(base(state) - {atom}, state.numbers())
                    break
            else:
                return task, ends, validator.state

    def _end_of(self, action: GroundAction) -> Fraction:
        """Return when a durative action that has started ends."""
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
        if isinstance(self._env, _StartsAndEnds):
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


class TimedWatch(FactWatch):
    """Watches at the start and the end of every action, and what must hold in between."""

    world: TimedWorld

    def step(
        self, number: int, action: GroundAction, block: int, before: State, report: StepReport
    ) -> StepDone:
        """See `hvr.execution.acting.Watching`: wait until the step is due, look, and do it."""
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
                    number=number, action=action, block=block, success=False, error="",
                    difference=waited, sent=(), failures=(*noticed, self.cannot(number, action)),
                    time=world.now,
                )  # fmt: skip
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
        """Stop what goes on though its condition over all is seen not to hold.

        Args:
            number: The number of the step.
            was: The state before.
            action: The step, if it was tried.
        """
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
            why = explained(unmet, self.world.wording) or "a condition is unmet"
            text = f"{one} was broken off, because {why}."
            failures.append(
                Deviation(
                    DeviationKind.MISSING_PRECONDITION, Side.PRE, unmet, number, one, text, one.args
                )
            )
        if off:
            atoms = base(self._state) - set(off)
            self._state = self.task.state_with(atoms, self._state.numbers())
        return tuple(failures), Difference(missing=tuple(off))


def _both(first: Difference, second: Difference) -> Difference:
    return Difference(
        (*first.missing, *second.missing),
        (*first.unexpected, *second.unexpected),
        (*first.numbers, *second.numbers),
    )

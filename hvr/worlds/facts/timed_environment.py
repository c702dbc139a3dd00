"""Environments for durative actions, executed as separate starts and ends.

An environment receives two steps per action, `NAME-starts` and `NAME-ends`. Between them, a fact
says that the action is running.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

from hvr.errors import UsageError
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
    TimedAction,
    substitute,
)
from hvr.pddl.durative import part_at, times_of
from hvr.pddl.formulas import When, numbers_of, walk
from hvr.pddl.task import binding_of
from hvr.planning.solving.forward import Snapped, snapped
from hvr.planning.solving.portfolio import Feature, features_of
from hvr.worlds.facts.environment import (
    CallReporter,
    FactEnvironment,
    Observation,
    PddlEnvironment,
    base_atoms,
    require_untimed,
)


class TimedEnvironment(FactEnvironment, Protocol):
    """An environment for durative actions.

    It may also have `wait(seconds)` if it has a clock, and `stop(name, args)`, which is called when
    a violated condition interrupts an action.
    """

    def start(self, name: str, args: tuple[str, ...], duration: float) -> str:
        """Start a durative action; return the reason for a refusal, or "" on success."""
        ...

    def end(self, name: str, args: tuple[str, ...]) -> str:
        """End a durative action; return the reason for a failure, or "" on success."""
        ...


METHODS = ("start", "end", "wait", "stop")
"""Methods that an environment needs only for durative actions."""


class Timing:
    """A domain in which each durative action is split into two actions, its start and its end.

    Attributes:
        schemas: Durative actions by the names of their starts and ends.

    Raises:
        UsageError: The timing is unsupported; see `check_actable`.
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
            schema, running_fact = actions[name], self._running_fact(name)
            if name in names.starts:
                needs = And((Not(running_fact), schema.precondition))
                actions[name] = schema.replace(precondition=needs)
            else:
                actions[name] = schema.replace(effect=And((schema.effect, Not(running_fact))))
        self.domain = names.domain.replace(actions=actions, durative_actions={})
        self._start_of = {of: name for name, of in names.starts.items()}
        self._end_of = {of: name for name, of in names.ends.items()}
        self._of_fact = {fact: of for of, fact in names.running.items()}

    def _running_fact(self, name: str) -> Atom:
        schema = self.schemas[name]
        return Atom(self.names.running[schema.name], tuple([p.name for p in schema.parameters]))

    def problem(self, problem: Problem) -> Problem:
        """Return the problem for the split domain, without its metric.

        Its goal also requires that every action has ended.
        """
        ended = [
            Forall(schema.parameters, Not(self._running_fact(name)))
            if schema.parameters
            else Not(self._running_fact(name))
            for name, schema in self.schemas.items()
            if name in self.names.ends
        ]
        return problem.replace(goal=And((problem.goal, *ended)), metric=None)

    def wording(self, wording: Wording) -> Wording:
        """Return the wording, extended by clauses for running actions."""
        said = dict(wording.predicates)
        for of, fact in self.names.running.items():
            arity = len(self.timed_domain.durative_actions[of].parameters)
            step = " ".join([of, *(f"{{{n}}}" for n in range(arity))])
            true, false = (Template(f"({step}) {says}", arity) for says in _RUNNING_CLAUSES)
            said[fact] = PredicateWording(true, false, true, (), (), ())
        return dataclasses.replace(wording, predicates=MappingProxyType(said))

    def running(self, state: State) -> Iterator[tuple[Atom, GroundAction, Expression]]:
        """Yield (fact, action, `over all` condition) for each running action."""
        for atom in sorted(base_atoms(state), key=str):
            if (of := self._of_fact.get(atom.predicate)) is not None:
                action = GroundAction(of, atom.args)
                schema = self.timed_domain.durative_actions[of]
                condition = part_at(schema.condition, "over all")
                yield atom, action, substitute(condition, binding_of(schema, action))

    def broken(self, state: State) -> frozenset[Atom]:
        """Return the facts of running actions whose `over all` conditions are violated."""
        return frozenset(a for a, _, needs in self.running(state) if not state.holds(needs))

    def start(self, action: GroundAction) -> GroundAction:
        return action.replace(name=self._start_of[action.name])

    def end(self, action: GroundAction) -> GroundAction:
        return action.replace(name=self._end_of[action.name])

    def steps(self, plan: Collection[Step]) -> list[tuple[Fraction, Fraction, GroundAction]]:
        """Return a plan's starts, ends and instantaneous steps as (time, duration, step), by time.

        Instantaneous steps have duration 0, and steps without a time have time 0.
        """
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
        # Interfering steps never coincide; among simultaneous others, ends come first.
        found.sort(key=lambda one: one[:2])
        return [(time, duration, action) for time, _, duration, action in found]


_RUNNING_CLAUSES = ("goes on", "does not go on")


def check_actable(domain: Domain, problem: Problem) -> None:
    """Reject timing that cannot be executed.

    Raises:
        UsageError: The model has processes, events or timed literals. Or, with durative actions, it
            has preferences or trajectory constraints, a conditional effect spans several times, or
            an effect depends on a duration that is not fixed.
    """
    if not domain.durative_actions:
        require_untimed(domain, problem)
        return
    unsupported = features_of(domain, problem) & {
        Feature.CONTINUOUS,
        Feature.TIMED,
        Feature.PREFERENCES,
        Feature.CONSTRAINTS,
    }
    if unsupported:
        raise UsageError(
            f"{domain.name} has durative actions with {', '.join(sorted(unsupported))}: "
            "executing such plans is not supported"
        )
    for schema in domain.durative_actions.values():
        for part in walk(schema.effect):
            if isinstance(part, When) and len(times_of(part.condition) | times_of(part.effect)) > 1:
                raise UsageError(
                    f"{schema.name} has a conditional effect across several times: executing it "
                    "is not supported"
                )
        chosen = not any(
            isinstance(p, Comparison) and p.operator == "=" for p in walk(schema.duration)
        )
        if chosen and any(isinstance(n, Duration) for n in _numbers(schema)):
            raise UsageError(
                f"the effect of {schema.name} depends on a duration that is not fixed: "
                "executing it is not supported"
            )


def _numbers(schema: DurativeActionSchema) -> Iterator[Any]:
    stack: list[Any] = [*numbers_of(schema.effect), *numbers_of(schema.condition)]
    while stack:
        number = stack.pop()
        yield number
        stack += getattr(number, "operands", ())


class SplitEnvironment(PddlEnvironment):
    """Simulates a domain with durative actions as starts and ends, without a clock.

    Raises:
        UsageError: The timing is unsupported, or a hidden name is unknown or derived.
    """

    def __init__(self, domain: Domain, problem: Problem, hidden: Collection[str] = ()) -> None:
        self.timing = Timing(domain, problem)
        super().__init__(self.timing.domain, self.timing.problem(problem), hidden)

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """See `FactEnvironment`; the step is a start, an end, or an action without duration."""
        error = super().step(name, args)
        self._break_off()
        return error

    def put(self, atoms: Collection[Atom], numbers: Mapping[FunctionTerm, Fraction]) -> None:
        super().put(atoms, numbers)
        self._break_off()

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        """End a durative action without its effects."""
        running_fact = Atom(self.timing.names.running[name], args)
        super().put(base_atoms(self.state) - {running_fact}, self.state.numbers())

    def _break_off(self) -> None:
        if broken := self.timing.broken(self.state):
            super().put(base_atoms(self.state) - broken, self.state.numbers())


def domain_environment(
    domain: Domain, problem: Problem, hidden: Collection[str] = ()
) -> PddlEnvironment:
    """Return an environment that simulates a domain with or without durative actions.

    Args:
        hidden: Predicates and functions that observations omit.

    Raises:
        UsageError: The timing is unsupported, or a hidden name is unknown or derived.
    """
    of = SplitEnvironment if domain.durative_actions else PddlEnvironment
    return of(domain, problem, hidden)


class StartsAndEnds:
    """Adapts a `TimedEnvironment`: steps are starts and ends, and running actions are facts.

    Raises:
        UsageError: The environment lacks `start` or `end`.
    """

    def __init__(self, env: Any, timing: Timing) -> None:
        offered = getattr(env, "methods", None)
        self.methods = {m for m in METHODS if hasattr(env, m)} if offered is None else offered
        if missing := [m for m in METHODS[:2] if m not in self.methods]:
            raise UsageError(
                f"the environment lacks {' and '.join(missing)}, which durative actions require"
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
        running_fact = (self.timing.names.running[schema.name], *args)
        if name in self.timing.names.ends:
            self._running.discard(running_fact)
            return str(self.env.end(schema.name, args))
        error = str(self.env.start(schema.name, args, self.duration))
        if not error:
            self._running.add(running_fact)
        return error

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        self._running.discard((self.timing.names.running[name], *args))
        if "stop" in self.methods:
            self.env.stop(name, args)

    def observe(self) -> Observation:
        seen: Any = self.env.observe()
        if isinstance(seen, Observation):
            seen = dataclasses.replace(seen, facts=[*seen.facts, *sorted(self._running)])
        shown: Observation = seen  # `FactWorld.look` rejects any other value
        return shown

    def sent(self) -> dict[str, Any]:
        return self.env.sent() if isinstance(self.env, CallReporter) else {}

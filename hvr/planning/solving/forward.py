"""Forward search for numbers, derived predicates, durative actions and timed literals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Expression,
    GroundAction,
    NumericEffect,
    NumericExpression,
    Predicate,
    Problem,
    Step,
    Task,
    TimedAction,
    UndefinedValueError,
)
from hvr.pddl.durative import DurativeOperator, ground_durative, part_at
from hvr.pddl.facts import conjuncts
from hvr.pddl.formulas import (
    TRUE,
    Effect,
    Formula,
    Timed,
    functions_of,
    map_leaves,
    parts_of,
    walk,
    with_parts,
)
from hvr.pddl.state import Operator, Rational, Values, evaluate
from hvr.planning.search.constraints import Compiled, compile_constraints
from hvr.planning.solving.race import retimed
from hvr.planning.solving.subgoals import Distance, Subgoals
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import execute, holds, read_functions
from hvr.validation.validator import Validator

# Best first ---------------------------------------------------------------------------------------
# Best-first search with deferred evaluation: a state is estimated when it is expanded, not when
# it is generated.
#
# A step waits in two queues: one for helpful actions, one for all actions, which keeps the search
# complete. Progress boosts the helpful queue (Richter & Westphal 2010, "The LAMA planner").
# Helpful actions that a relaxed plan repeats are also tried that often at once.

_WEIGHT = 5
_ADVANTAGE = 100
"""Number of additional turns of the helpful queue after an estimate improves."""
MAX_SEARCH_STATES = 1_000_000

S = TypeVar("S")


class SearchSpace(Protocol[S]):
    """States and the transitions between them; a step is a number."""

    def key(self, state: S) -> object: ...

    def satisfied(self, state: S) -> bool: ...

    def estimate(self, state: S) -> Distance | None:
        """Return a goal distance estimate with helpful actions, or None for a dead end."""

    def choices(self, state: S) -> Iterable[int]: ...

    def after(self, state: S, step: int) -> S | None:
        """Return the state after a step, or None if it is not applicable."""


@dataclass(frozen=True)
class SearchEnd(Generic[S]):
    """The result of a search.

    Args:
        path: The steps to a goal state, if any.
        state: The goal state, if any.
        reason: The reason why a search without a path ended, or "" if the state space is exhausted.
        states: The number of states examined.
    """

    path: tuple[int, ...] | None
    state: S | None
    reason: str
    states: int


@dataclass(frozen=True)
class _Reached(Generic[S]):
    state: S
    depth: int
    before: _Reached[S] | None = None
    step: int = -1
    repeats: int = 1


_Item: TypeAlias = "tuple[float, int, _Reached[S], int, int]"
"""(rank, tie-breaker, state, step from it, repetitions)"""


class BestFirst(Generic[S]):
    """A single best-first search."""

    def __init__(self, space: SearchSpace[S], clock: Deadline) -> None:
        self._space = space
        self._clock = clock
        self._order = count()
        self._queues: tuple[list[_Item[S]], list[_Item[S]]] = ([], [])
        self._known: set[object] = set()

    def run(self, start: S) -> SearchEnd[S]:
        self._known = {self._space.key(start)}
        turns = [0, 0]
        best, advantage = inf, 0
        node: _Reached[S] | None = _Reached(start, 0)
        while node is not None or any(self._queues):
            if node is None:
                queue = int(turns[1] < turns[0] - advantage)
                queue = queue if self._queues[queue] else 1 - queue
                turns[queue] += 1
                node = self._next(queue)
            if node is not None:
                if self._space.satisfied(node.state):
                    return SearchEnd(_path(node), node.state, "", len(self._known))
                estimate = self._space.estimate(node.state)
                if estimate is not None:
                    if estimate.steps < best:
                        best, advantage = estimate.steps, advantage + _ADVANTAGE
                    self._expand(node, estimate)
                node = None
            if self._clock.expired:
                limit = f"the time limit of {self._clock.seconds:g} s was reached"
                reason = f"{limit}; a larger budget gives more time"
                return SearchEnd(None, None, reason, len(self._known))
            if len(self._known) > MAX_SEARCH_STATES:
                reason = f"the limit of {MAX_SEARCH_STATES} states was reached"
                return SearchEnd(None, None, reason, len(self._known))
        return SearchEnd(None, None, "", len(self._known))

    def _expand(self, node: _Reached[S], estimate: Distance) -> None:
        helpful, others = self._queues
        rank = node.depth + 1 + _WEIGHT * estimate.steps
        for step, repeats in estimate.helpful:
            heappush(helpful, (estimate.steps, next(self._order), node, step, 1))
            if repeats > 1:
                heappush(helpful, (estimate.steps, next(self._order), node, step, repeats))
        for step in self._space.choices(node.state):
            heappush(others, (rank, next(self._order), node, step, 1))

    def _next(self, queue: int) -> _Reached[S] | None:
        _, _, before, step, repeats = heappop(self._queues[queue])
        state, done = before.state, 0
        while done < repeats and (after := self._space.after(state, step)) is not None:
            state, done = after, done + 1
        key = self._space.key(state)
        if not done or key in self._known:
            return None
        self._known.add(key)
        return _Reached(state, before.depth + done, before, step, done)


def _path(node: _Reached[S]) -> tuple[int, ...]:
    steps: list[int] = []
    while node.before is not None:
        steps += [node.step] * node.repeats
        node = node.before
    return tuple(reversed(steps))


# Forward ------------------------------------------------------------------------------------------
# Forward search for problems that Fast Downward does not support: with numbers, possibly with
# derived predicates.
#
# It is guided by relaxed plans over facts and numbers (`hvr.planning.solving.subgoals`). It is
# small and simple, made for thousands of ground actions rather than the largest competition
# problems.

_State = tuple[int, Values]


@dataclass(frozen=True)
class ForwardOutcome:
    """A plan, a proof that none exists (`proven`), or the reason why the search gave up."""

    plan: tuple[GroundAction, ...] | None
    proven: bool
    reason: str
    states: int


def forward(task: Task, seconds: float) -> ForwardOutcome:
    """Search for a plan of a task without times, ignoring preferences.

    Raises:
        PlannerError: A constraint mentions times, numbers or derived predicates.
    """
    clock = Deadline(seconds)
    numeric = read_functions(task)
    relaxation = Relaxation(task.initial, task.goal, numeric, clock, beyond=None)
    if not relaxation.reachable:
        reason = "" if relaxation.complete else TOO_LARGE
        return ForwardOutcome(None, relaxation.complete, reason, 0)
    compiled = compile_constraints(task, relaxation.operators)
    space = _Steps(task, compiled, relaxation, numeric)
    end = BestFirst(space, clock).run((compiled.initial, task.initial.values))
    if end.path is not None:
        plan = tuple([space.operators[number].action for number in end.path])
        return ForwardOutcome(plan, False, "", end.states)
    reason = end.reason or ("" if relaxation.complete else TOO_LARGE)
    return ForwardOutcome(None, not reason, reason, end.states)


TOO_LARGE = "the problem has too many ground actions for the forward search"


class _Steps:
    """The search space of a non-temporal task."""

    def __init__(
        self, task: Task, compiled: Compiled, relaxation: Relaxation, numeric: frozenset[str]
    ) -> None:
        self.task = task
        self.goal = compiled.goal
        self.operators = tuple(compiled.operators.values())
        self.subgoals = Subgoals(task, self.operators, relaxation.rules, compiled.goal)
        self.key_of = NumericKey(task, numeric)

    def key(self, state: _State) -> object:
        return self.key_of(*state)

    def satisfied(self, state: _State) -> bool:
        return holds(self.goal, *state)

    def estimate(self, state: _State) -> Distance | None:
        return self.subgoals.estimate(*state)

    def choices(self, state: _State) -> Iterator[int]:
        bits = state[0]
        for number, operator in enumerate(self.operators):
            if bits & operator.positive == operator.positive and not bits & operator.negative:
                yield number

    def after(self, state: _State, step: int) -> _State | None:
        return execute(self.task, self.operators[step], *state)


class NumericKey:
    """Creates keys of states that leave out numbers that no condition reads, such as costs."""

    def __init__(self, task: Task, functions: frozenset[str]) -> None:
        self._task = task
        self._functions = functions
        self._kept: dict[int, bool] = {}

    def __call__(self, bits: int, values: Values) -> object:
        kept = []
        for index, value in enumerate(values):
            if index not in self._kept:
                self._kept[index] = self._task.term(index).function in self._functions
            if self._kept[index]:
                kept.append(value)
        return bits, tuple(kept)


# Snap actions -------------------------------------------------------------------------------------
# Durative actions as pairs of instantaneous ones, a start and an end (Fox & Long 2003). They keep
# the conditions and effects but not the time; the search estimates distances with them.


@dataclass(frozen=True)
class Snapped:
    """A domain in which separate actions start and end each durative action.

    Args:
        starts, ends: Names of durative actions by the names of their starts and ends.
        running: For each durative action, the predicate that is true while it runs.
        literals: Indexes of timed initial literals by the names of the actions that represent them.
    """

    domain: Domain
    starts: Mapping[str, str]
    ends: Mapping[str, str]
    running: Mapping[str, str]
    literals: Mapping[str, int]


def snapped(domain: Domain, problem: Problem) -> Snapped:
    """Add a start and an end action for each durative action of a domain.

    Timed initial literals become actions without conditions.
    """
    taken = {*domain.predicates, *domain.functions, *domain.actions, *domain.durative_actions}

    def fresh(name: str) -> str:
        while name in taken:
            name += "-"
        taken.add(name)
        return name

    actions = dict(domain.actions)
    predicates = dict(domain.predicates)
    starts: dict[str, str] = {}
    ends: dict[str, str] = {}
    running: dict[str, str] = {}
    for schema in domain.durative_actions.values():
        predicate = running[schema.name] = fresh(f"{schema.name}-goes-on")
        predicates[predicate] = Predicate(predicate, schema.parameters)
        running_atom = Atom(predicate, tuple([p.name for p in schema.parameters]))
        for when, names in (("at start", starts), ("at end", ends)):
            name = fresh(f"{schema.name}-{when[3:]}s")
            names[name] = schema.name
            actions[name] = _end_of(schema, name, when, running_atom)
    literals: dict[str, int] = {}
    for number, timed in enumerate(problem.timed_init):
        name = fresh(f"literal-{number}")
        literals[name] = number
        actions[name] = ActionSchema(name, effect=timed.effect)
    changed = domain.replace(actions=actions, predicates=predicates)
    return Snapped(changed, starts, ends, running, literals)


def _end_of(schema: DurativeActionSchema, name: str, when: str, running_atom: Atom) -> ActionSchema:
    condition = cast(Formula, part_at(schema.condition, when))
    effect = cast(
        Effect, run_trampoline(_without_duration(part_at(schema.effect, when), _bound(schema)))
    )
    if when == "at start":
        return ActionSchema(name, schema.parameters, condition, And((effect, running_atom)))
    needs = And((running_atom, condition, part_at(schema.condition, "over all")))
    # The running predicate is not deleted: estimates ignore deletes anyway.
    return ActionSchema(name, schema.parameters, needs, effect)


def _bound(schema: DurativeActionSchema) -> NumericExpression:
    """Return an expression for the duration: the lower bound or, failing that, the upper bound."""
    for symbols in (("=",), (">=", ">"), ("<=", "<")):
        for part in conjuncts(schema.duration):
            test = part.body if isinstance(part, Timed) else part
            if isinstance(test, Comparison) and test.operator in symbols:
                return test.right
    return Duration()


def _without_duration(effect: Expression, bound: NumericExpression) -> Steps[Expression]:
    if isinstance(effect, NumericEffect):
        amount = map_leaves(effect.amount, lambda n: bound if isinstance(n, Duration) else n)
        return effect.replace(amount=amount)
    parts: list[Expression] = []
    for part in parts_of(effect):
        parts.append((yield _without_duration(part, bound)))
    return with_parts(effect, parts)


# Temporal -----------------------------------------------------------------------------------------
# Decision epochs (Cushing, Kambhampati, Mausam & Weld 2007, "When is temporal planning really
# temporal?"): at each time any action may start, or time advances to the next end or timed
# literal. Plans that need a start between two happenings are not found, so an exhausted search
# proves nothing. Estimates treat starts and ends as instantaneous actions. Plans are retimed
# (`hvr.planning.solving.race`) and count only if hvr's validator accepts them.

_WAIT = -1
"""The step that advances to the next end or timed literal."""
_ORDER = Fraction(1, 10**6)
"""Distance between consecutive steps that start at the same time."""
_MARGIN = Fraction(1, 100)
"""Distance between a duration and an excluded bound."""


@dataclass(frozen=True)
class _Pending:
    """The end of a running action, or a future timed literal.

    Args:
        order: The rank of the action's start, after all literals.
        number: The index of the start among the operators, or -1 for a literal.
        operator: The running action, or None for a literal.
        effect: The effect of a literal, or None for an action.
    """

    end: Rational
    order: int
    number: int
    operator: DurativeOperator | None
    effect: Operator | None


@dataclass(frozen=True)
class _Instant:
    """A search state with its time, its plan (a linked list), and the ends and literals to come."""

    bits: int
    values: Values
    now: Rational
    agenda: tuple[_Pending, ...]
    plan: _Started = ()
    count: int = 0


_Started: TypeAlias = "tuple[()] | tuple[_Started, TimedAction]"


class _Happenings:
    """The search space of a temporal task, whose steps are starts, ends and timed literals."""

    def __init__(
        self, task: Task, names: Snapped, relaxation: Relaxation, validator: Validator
    ) -> None:
        self.task = task
        self.names = names
        self.operators = relaxation.operators
        self.subgoals = Subgoals(task, self.operators, relaxation.rules, task.goal)
        self.validator = validator
        self.key_of = NumericKey(task, read_functions(task) | _in_durations(task))
        ends = {**names.ends, **dict.fromkeys(names.literals, "")}
        self.waits = {n for n, one in enumerate(self.operators) if one.action.name in ends}

    def key(self, state: _Instant) -> object:
        later = tuple([(pending.end - state.now, pending.number) for pending in state.agenda])
        return self.key_of(state.bits, state.values), later

    def satisfied(self, state: _Instant) -> bool:
        if any(pending.operator is not None for pending in state.agenda):
            return False
        if not holds(self.task.goal, state.bits, state.values):
            return False
        plan = self.plan(state)
        return self.validator.check(plan).valid

    def plan(self, state: _Instant) -> tuple[Step, ...]:
        steps: list[Step] = []
        rest = state.plan
        while rest:
            rest, step = rest
            steps.append(step)
        steps.reverse()
        return retimed(self.validator, steps) or tuple(steps)

    def estimate(self, state: _Instant) -> Distance | None:
        estimate = self.subgoals.estimate(state.bits, state.values)
        if estimate is None:
            return None
        steps = [(n, 1) for n, _ in estimate.helpful if n not in self.waits]
        if len(steps) < len(estimate.helpful) or not steps:
            steps.append((_WAIT, 1))
        return Distance(estimate.steps, tuple(steps))

    def choices(self, state: _Instant) -> Iterator[int]:
        yield _WAIT
        bits = state.bits
        for number, operator in enumerate(self.operators):
            possible = bits & operator.positive == operator.positive
            if possible and not bits & operator.negative and number not in self.waits:
                yield number

    def after(self, state: _Instant, step: int) -> _Instant | None:
        try:
            if step == _WAIT:
                return self._waited(state)
            # Ends at the current time come before any start.
            if state.agenda and state.agenda[0].end <= state.now:
                return None
            name = self.operators[step].action.name
            if name in self.names.starts:
                return self._started(state, step, self.names.starts[name])
            return self._done(state, self.operators[step])
        except UndefinedValueError:
            return None

    def _waited(self, state: _Instant) -> _Instant | None:
        if not state.agenda:
            return None
        pending, *later = state.agenda
        operator = pending.effect if pending.operator is None else pending.operator.end
        assert operator is not None
        after = execute(self.task, operator, state.bits, state.values)
        if after is None:
            return None
        bits, values = after
        if pending.operator is not None:
            bits &= ~self._running_bit(self.operators[pending.number].action)
        if not self._kept(bits, values, later):
            return None
        return _Instant(bits, values, pending.end, tuple(later), state.plan, state.count)

    def _started(self, state: _Instant, number: int, name: str) -> _Instant | None:
        action = GroundAction(name, self.operators[number].action.args)
        running_bit = self._running_bit(action, name)
        if state.bits & running_bit:
            return None
        duration = self._duration(action, state.values)
        if duration is None or duration <= 0:
            return None
        durative = ground_durative(self.task, action, duration)
        after = execute(self.task, durative.start, state.bits, state.values)
        if after is None:
            return None
        end = state.now + duration
        pending = _Pending(end, state.count, number, durative, None)
        agenda = sorted([*state.agenda, pending], key=lambda one: (one.end, one.order))
        if not self._kept(*after, agenda):
            return None
        step = TimedAction(action, state.now + state.count * _ORDER, Fraction(duration))
        bits, values = after[0] | running_bit, after[1]
        plan = state.plan, step
        return _Instant(bits, values, state.now, tuple(agenda), plan, state.count + 1)

    def _done(self, state: _Instant, operator: Operator) -> _Instant | None:
        after = execute(self.task, operator, state.bits, state.values)
        if after is None or not self._kept(*after, state.agenda):
            return None
        step = TimedAction(operator.action, state.now + state.count * _ORDER)
        return _Instant(*after, state.now, state.agenda, (state.plan, step), state.count + 1)

    def _running_bit(self, action: GroundAction, name: str = "") -> int:
        name = name or self.names.starts[action.name]
        return 1 << self.task.index_of(self.names.running[name], action.args)

    @staticmethod
    def _kept(bits: int, values: Values, agenda: list[_Pending] | tuple[_Pending, ...]) -> bool:
        return all(
            pending.operator is None or holds(pending.operator.invariant, bits, values)
            for pending in agenda
        )

    def _duration(self, action: GroundAction, values: Values) -> Rational | None:
        """Return the shortest duration (the longest if no lower bound is positive), if any."""
        least: Rational | None = None
        most: Rational | None = None
        for test in ground_durative(self.task, action, None).tests:
            bound = evaluate(test.bound, values)
            if test.symbol in ("=", ">=", ">"):
                bound = bound + _MARGIN if test.symbol == ">" else bound
                least = bound if least is None else max(least, bound)
            if test.symbol in ("=", "<=", "<"):
                bound = bound - _MARGIN if test.symbol == "<" else bound
                most = bound if most is None else min(most, bound)
        if least is None or least <= 0:
            return most
        return None if most is not None and most < least else least


def _in_durations(task: Task) -> frozenset[str]:
    return frozenset(
        term.function
        for schema in task.domain.durative_actions.values()
        for test in walk(schema.duration)
        if isinstance(test, Comparison)
        for term in functions_of(test.right)
    )


@dataclass(frozen=True)
class TemporalOutcome:
    """A plan, or the reason why there is none ("" if the whole search space was searched)."""

    plan: tuple[Step, ...] | None
    reason: str


def temporal(domain: Domain, problem: Problem, seconds: float) -> TemporalOutcome:
    """Search for a timed plan of a task without continuous effects.

    The search ignores constraints and preferences; only the validation of the plan checks them.
    """
    clock = Deadline(seconds)
    names = snapped(domain, problem)
    task = Task(names.domain, problem)
    relaxation = Relaxation(task.initial, task.goal, read_functions(task), clock, beyond=None)
    if not relaxation.reachable:
        return TemporalOutcome(None, "" if relaxation.complete else TOO_LARGE)
    space = _Happenings(task, names, relaxation, Validator(Task(domain, problem)))
    literals = [
        _Pending(
            Fraction(timed.time),
            number - len(problem.timed_init),
            -1,
            None,
            task.operator(GroundAction("at"), {}, TRUE, timed.effect),
        )
        for number, timed in enumerate(problem.timed_init)
    ]
    agenda = tuple(sorted(literals, key=lambda one: (one.end, one.order)))
    start = _Instant(task.initial.bits, task.initial.values, 0, agenda)
    end = BestFirst(space, clock).run(start)
    if end.state is not None:
        return TemporalOutcome(space.plan(end.state), "")
    return TemporalOutcome(None, end.reason)

"""Forward best-first search, for problems with numbers and derived predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Generic, Protocol, TypeAlias, TypeVar

from hvr.pddl import GroundAction, Task
from hvr.pddl.numeric import Values
from hvr.planning.search.constraints import Compiled, compile_constraints
from hvr.planning.solving.subgoals import Distance, Subgoals
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import execute, holds, read_functions

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
    """Creates keys of states, without numbers that no condition reads, such as costs."""

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

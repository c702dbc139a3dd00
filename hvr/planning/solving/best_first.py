"""Best-first search that estimates a state when its turn comes, not when it is made.

A step waits in two queues: among those that the estimate calls helpful, and among all, so that
nothing is left out for good. Progress gives the helpful ones an advantage (Richter & Westphal 2010,
"The LAMA planner"). Helpful steps that a relaxed plan repeats are also tried as often at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Generic, Protocol, TypeAlias, TypeVar

from hvr.planning.solving.subgoals import Distance
from hvr.validation.relaxation import Clock

_WEIGHT = 5
_ADVANTAGE = 100
"""How many turns more the helpful steps have after the estimate has become better."""
MOST_STATES = 1_000_000

S = TypeVar("S")


class SearchSpace(Protocol[S]):
    """States and the steps between them; a step is a number."""

    def key(self, state: S) -> object:
        """Return a key that equal states share."""

    def satisfied(self, state: S) -> bool:
        """Return whether the search ends here."""

    def estimate(self, state: S) -> Distance | None:
        """Return how far the goal is, with helpful steps; None if it is out of reach."""

    def choices(self, state: S) -> Iterable[int]:
        """Return the steps that may be possible."""

    def after(self, state: S, step: int) -> S | None:
        """Return the state after a step, None if it is not possible."""


@dataclass(frozen=True)
class SearchEnd(Generic[S]):
    """How a search ended.

    Args:
        path: The steps to a state that satisfies, None without one.
        state: The last state of the path.
        why: Without a path, why the search ended; empty if everything has been tried.
        states: How many states were reached.
    """

    path: tuple[int, ...] | None
    state: S | None
    why: str
    states: int


@dataclass(frozen=True)
class _Reached(Generic[S]):
    """A state and the way to it: a step from the state before, some times."""

    state: S
    depth: int
    before: _Reached[S] | None = None
    step: int = -1
    repeats: int = 1


_Item: TypeAlias = "tuple[float, int, _Reached[S], int, int]"
"""A rank, a number to tell items apart, a state, a step from it, and how often."""


class BestFirst(Generic[S]):
    """One search.

    Args:
        space: The states.
        clock: When to give up.
    """

    def __init__(self, space: SearchSpace[S], clock: Clock) -> None:
        self._space = space
        self._clock = clock
        self._order = count()
        self._queues: tuple[list[_Item[S]], list[_Item[S]]] = ([], [])
        self._known: set[object] = set()

    def run(self, start: S) -> SearchEnd[S]:
        """Search from a state."""
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
                why = f"the {self._clock.seconds:g} s are up; a larger budget gives more time"
                return SearchEnd(None, None, why, len(self._known))
            if len(self._known) > MOST_STATES:
                why = f"{len(self._known)} states were reached"
                return SearchEnd(None, None, why, len(self._known))
        return SearchEnd(None, None, "", len(self._known))

    def _expand(self, node: _Reached[S], estimate: Distance) -> None:
        """Let the steps from a state wait for their turn."""
        helpful, others = self._queues
        rank = node.depth + 1 + _WEIGHT * estimate.steps
        for step, repeats in estimate.helpful:
            heappush(helpful, (estimate.steps, next(self._order), node, step, 1))
            if repeats > 1:
                heappush(helpful, (estimate.steps, next(self._order), node, step, repeats))
        for step in self._space.choices(node.state):
            heappush(others, (rank, next(self._order), node, step, 1))

    def _next(self, queue: int) -> _Reached[S] | None:
        """Take a step that waits; return the state after it, None if it is known."""
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

"""The repair of a plan with the fewest insertions, by search over places and states.

A node is a state before a step of the plan. From it the step is kept or left out, or another
action is inserted before it. A repair costs the number of its insertions first and its length
second. Deletions are free; a move and a replacement are a deletion and an insertion each.
Restarting weighted A* finds repairs. The bound of `hvr.judging.bound` is admissible, and the last
round, with weight 1, proves what it finds. A repair without a proof is improved: some of its
insertions are taken out, and the rest is repaired with fewer.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from hvr.judging.bound import Bound, Estimate, Rule
from hvr.judging.course import Mark, execute, holds
from hvr.judging.relaxed import reads_of
from hvr.pddl import State, Task
from hvr.pddl.conditions import Operator
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import read_functions

WORK = 40_000_000
"""How many conditions are tested for one plan: some twenty seconds of a processor."""

_WEIGHTS = (5, 2, 1)
"""Weights of the bound: the first rounds look for any repair, the last one for the best."""
_SHARE = 4
"""A round but the last, or an improvement, takes at most this part of the work that is left."""

Placed: TypeAlias = tuple[int | None, Operator]
"""A step, and its index in the plan; None if it was inserted."""

_Key: TypeAlias = tuple[int, int, tuple[object, ...]]
_Cost: TypeAlias = tuple[int, int]
"""Insertions, and steps in all."""
_Path: TypeAlias = "tuple[_Path, int | None, Operator] | None"
"""The steps so far, the last one first."""


@dataclass(frozen=True)
class PlanRepair:
    """What was found about a plan that does not reach its goal.

    Args:
        steps: Steps of the repaired plan; None where no repair was found.
        least: Number of steps that every repair inserts, proven.
        smallest: No repair has fewer insertions, or as many and fewer steps: proven.
        hopeless: There is no repair: proven.
    """

    steps: tuple[Placed, ...] | None
    least: int
    smallest: bool = False
    hopeless: bool = False


def repair(start: State, plan: Sequence[Operator | None], work: int = WORK) -> PlanRepair:
    """Return the smallest repair that is found of a plan.

    Args:
        start: State before the first step.
        plan: Steps of the plan; None for what is not an action of the task.
        work: How many conditions to test.
    """
    return _Repairs(start, [(i, o) for i, o in enumerate(plan) if o is not None], work).run()


class _Repairs:
    def __init__(self, start: State, steps: list[Placed], work: int) -> None:
        self.start = start
        self.task = start.task
        self.steps = steps
        self.left = work
        numeric = read_functions(self.task)
        # Grounding is limited by the number of actions, not by the time.
        relaxation = Relaxation(start, self.task.goal, numeric, Clock(math.inf), beyond=None)
        self.complete = relaxation.complete
        self.operators = relaxation.operators
        self.rules = relaxation.rules

    def run(self) -> PlanRepair:
        search = self._search(self.steps)
        first = search.estimate(0, search.begin)
        if first is None:
            return PlanRepair(None, 0, hopeless=self.complete)
        least = first.least if self.complete else 0
        best: tuple[Placed, ...] | None = None
        exhausted = False
        for weight in _WEIGHTS:
            most = self.left if weight == 1 else self.left // _SHARE
            found, ended = self._run(search, weight, _inserted(best), most)
            best = best if found is None else found
            exhausted = ended and (weight == 1 or found is None)
            if best is not None and _inserted(best) == least:
                break
        if best is None:
            return PlanRepair(None, max(least, search.least), hopeless=exhausted and self.complete)
        if self.complete:
            least = _inserted(best) if exhausted else max(least, search.least)
        if _inserted(best) > least:
            return PlanRepair(self._improved(best), least)
        shorter, exhausted = self._run(search, 0, _inserted(best), self.left, len(best))
        return PlanRepair(best if shorter is None else shorter, least, exhausted and self.complete)

    def _search(self, steps: Sequence[Placed]) -> _Search:
        return _Search(self.start, steps, self.operators, self.rules)

    def _run(
        self, search: _Search, weight: int, bound: int, most: int, length: int = sys.maxsize
    ) -> tuple[tuple[Placed, ...] | None, bool]:
        before = search.work
        found = search.run(weight, (bound, length), before + most)
        self.left -= search.work - before
        return found

    def _improved(self, best: tuple[Placed, ...]) -> tuple[Placed, ...]:
        """Return a repair in which no insertions next to each other can be had for fewer."""
        for size in range(2, _inserted(best)):
            places = [place for place, (index, _) in enumerate(best) if index is None]
            for begin in range(len(places) - size + 1):
                gone = places[begin : begin + size]
                rest = [step for place, step in enumerate(best) if place not in gone]
                search = self._search(rest)
                found, _ = self._run(search, 1, size, self.left // _SHARE)
                if found is not None:
                    return self._improved(found)
        return best


def _inserted(steps: Sequence[Placed] | None) -> int:
    return sys.maxsize if steps is None else sum(index is None for index, _ in steps)


class _Search:
    """Searches from the beginning of one plan, which share the bounds of their states."""

    def __init__(
        self,
        start: State,
        steps: Sequence[Placed],
        operators: Sequence[Operator],
        rules: Sequence[Rule],
    ) -> None:
        self.task: Task = start.task
        self.steps = steps
        self.operators = operators
        self.begin: Mark = (start.bits, start.values)
        plan = [operator for _, operator in steps]
        self.bound = Bound(self.task, plan, operators, rules, self.begin)
        self.least = 0
        self.work = 0
        read = self.task.goal.mentioned()
        for operator in (*plan, *operators):
            read |= reads_of(operator)
        # What a derived atom follows from is not looked into.
        derived = self.task.derived_bits
        self._read = (-1 if read & derived else read) & ~derived
        functions = read_functions(self.task)
        changed = {i for o in (*plan, *operators) for _, (_, i, _) in o.numeric}
        self._numbers = sorted(i for i in changed if self.task.term(i).function in functions)
        self._known: dict[_Key, Estimate | None] = {}

    def estimate(self, place: int, mark: Mark) -> Estimate | None:
        """Return the bound of a state."""
        key = self._key(place, mark)
        if key not in self._known:
            before = self.bound.work
            self._known[key] = self.bound.estimate(place, mark)
            self.work += self.bound.work - before
        return self._known[key]

    def run(self, weight: int, most: _Cost, work: int) -> tuple[tuple[Placed, ...] | None, bool]:
        """Search for a repair that is cheaper than a known one.

        Args:
            weight: Weight of the bound; 0 looks at all that is no dearer, shorter ones first.
            most: Cost of the known repair.
            work: Work to end at.

        Returns:
            The repair, and whether nothing cheaper is left: with weights of 1 and 0 only.
        """
        order = count()
        queue: list[tuple[tuple[int, ...], int, bool, _Cost, int, Mark, _Path]] = []
        best: dict[_Key, _Cost] = {}

        def useless(cost: _Cost, ahead: int) -> bool:
            if weight:
                return cost[0] + ahead >= most[0]
            return cost[0] + ahead > most[0] or cost[1] >= most[1]

        def push(cost: _Cost, ahead: int, place: int, mark: Mark, path: _Path, rest: bool) -> None:
            key = self._key(place, mark)
            if not rest and best.get(key, (sys.maxsize, 0)) <= cost:
                return
            if useless(cost, ahead + rest):
                return
            if not rest:
                best[key] = cost
            priority = _priority(weight, cost, ahead + rest, place)
            heappush(queue, (priority, next(order), rest, cost, place, mark, path))

        push((0, 0), 0, 0, self.begin, None, False)
        while queue:
            if self.work > work:
                return None, False
            priority, _, rest, cost, place, mark, path = heappop(queue)
            self.work += 1
            if best[self._key(place, mark)] < cost:
                continue
            estimate = self.estimate(place, mark)
            if estimate is None or useless(cost, estimate.least + rest):
                continue
            exact = _priority(weight, cost, estimate.least + rest, place)
            if exact > priority:
                # The bound of its parent was lower.
                heappush(queue, (exact, next(order), rest, cost, place, mark, path))
                continue
            if weight == 1:
                self.least = max(self.least, cost[0] + estimate.least + rest)
            if not rest and place == len(self.steps) and holds(self.task.goal, mark):
                return _unrolled(path), True
            for more, ahead, at, after, way in self._successors(estimate, rest, place, mark, path):
                push((cost[0] + more[0], cost[1] + more[1]), ahead, at, after, way, False)
            if not rest:
                push(cost, estimate.least, place, mark, path, True)
        return None, True

    def _successors(
        self, estimate: Estimate, rest: bool, place: int, mark: Mark, path: _Path
    ) -> Iterator[tuple[_Cost, int, int, Mark, _Path]]:
        """Yield the nodes after one: costs, bound, place, state and path.

        Args:
            estimate: Bound of the node.
            rest: Whether to yield the insertions that do not lower the bound, instead of all else.
            place: Place of the node.
            mark: State of the node.
            path: Path to the node.
        """
        least = estimate.least
        if not rest and place < len(self.steps):
            index, operator = self.steps[place]
            after = execute(self.task, operator, mark)
            if after is not None:
                yield (0, 1), least, place + 1, after, (path, index, operator)
            yield (0, 0), least, place + 1, mark, path
        numbers = estimate.helpful
        if rest:
            numbers = frozenset(range(len(self.operators))) - numbers
            self.work += len(numbers)
        for number in sorted(numbers):
            operator = self.operators[number]
            after = execute(self.task, operator, mark)
            if after is not None and after != mark:
                ahead = least if rest else max(0, least - 1)
                yield (1, 1), ahead, place, after, (path, None, operator)

    def _key(self, place: int, mark: Mark) -> _Key:
        bits, values = mark
        known = len(values)
        numbers = tuple([values[i] if i < known else None for i in self._numbers])
        return place, bits & self._read, numbers


def _priority(weight: int, cost: _Cost, ahead: int, place: int) -> tuple[int, ...]:
    """Return the place of a node in the queue."""
    if not weight:
        return (cost[1], cost[0], -place)
    left_out = place - (cost[1] - cost[0])
    return (cost[0] + weight * ahead, ahead, left_out, -place)


def _unrolled(path: _Path) -> tuple[Placed, ...]:
    steps: list[Placed] = []
    while path is not None:
        path, index, operator = path
        steps.append((index, operator))
    return tuple(reversed(steps))

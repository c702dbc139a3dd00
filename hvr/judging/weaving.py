"""New steps woven into a plan, by a search from its beginning.

A node is a state before a step of the plan. From it the step is kept, passed over, or another step
is put in before it. How many steps will have to be put in is estimated by a relaxed plan in which
the steps still to come are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from hvr.judging.course import Course, Mark, execute, holds
from hvr.pddl import GroundAction, State
from hvr.pddl.conditions import Conjunction, Operator
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import read_functions

_INSERTED, _PASSED = 4, 1
_MOST_NODES = 1500

_Path: TypeAlias = "tuple[_Path, int, GroundAction | None] | None"
"""What was done differently: the path before, the place, and the step put in or None if the step
there is passed over."""


def weave(
    course: Course, clock: Clock
) -> tuple[tuple[tuple[int, GroundAction], ...], frozenset[int]] | None:
    """Return steps to put into a plan, with their places, and the steps to pass over.

    None where none were found in the time allowed, or with so many states looked at.
    """
    return _Weaving(course, clock).run()


class _Weaving:
    def __init__(self, course: Course, clock: Clock) -> None:
        self.course = course
        self.task = course.task
        self.clock = clock
        start = State(self.task, *course.marks[0])
        numeric = read_functions(self.task)
        self.relaxation = Relaxation(start, self.task.goal, numeric, clock)
        numbers = {o.action: i for i, o in enumerate(self.relaxation.operators)}
        self.later: list[set[int]] = [set()]
        for action in reversed(course.plan):
            more = {numbers[action]} if action in numbers else set()
            self.later.append(self.later[-1] | more)
        self.later.reverse()
        self.gives = [_gives(operator) for operator in self.relaxation.operators]
        self._known: dict[int, tuple[set[int], list[int]] | None] = {}

    def run(self) -> tuple[tuple[tuple[int, GroundAction], ...], frozenset[int]] | None:
        operators = self.course.operators
        order = count()
        start = self.course.marks[0]
        first = self._ahead(0, start)
        if first is None:
            return None
        queue: list[tuple[int, int, int, int, Mark, _Path]] = [
            (first, 0, next(order), 0, start, None)
        ]
        best = {(0, start): 0}
        for _ in range(_MOST_NODES):
            if not queue or self.clock.expired:
                return None
            _, negative, _, cost, mark, path = heappop(queue)
            place = -negative
            if best[place, mark] < cost:
                continue
            if place == len(operators) and holds(self.task.goal, mark):
                return _unrolled(path)
            for after, at, more, way in self._successors(place, mark, path):
                key = at, after
                if best.get(key, cost + more + 1) <= cost + more:
                    continue
                ahead = self._ahead(at, after)
                if ahead is None:
                    continue
                best[key] = cost + more
                entry = (cost + more + ahead, -at, next(order), cost + more, after, way)
                heappush(queue, entry)
        return None

    def _successors(
        self, place: int, mark: Mark, path: _Path
    ) -> Iterator[tuple[Mark, int, int, _Path]]:
        """Yield the states next to one, with their places, what they cost, and the way there."""
        unmet = 0
        if place < len(self.course.operators):
            operator = self.course.operators[place]
            after = None if operator is None else execute(self.task, operator, mark)
            if after is not None:
                yield after, place + 1, 0, path
            elif operator is not None:
                unmet = _unmet(operator.precondition, mark[0])
            yield mark, place + 1, _PASSED, (path, place, None)
        else:
            unmet = _unmet(self.task.goal, mark[0])
        for number in self._helpful(mark[0], unmet):
            inserted = self.relaxation.operators[number]
            after = execute(self.task, inserted, mark)
            if after is not None and after != mark:
                yield after, place, _INSERTED, (path, place, inserted.action)

    def _helpful(self, bits: int, unmet: int) -> list[int]:
        relaxed = self._relaxed(bits)
        numbers = dict.fromkeys(relaxed[1] if relaxed is not None else ())
        for number, gives in enumerate(self.gives if unmet else ()):
            if gives & unmet:
                numbers[number] = None
        return list(numbers)

    def _relaxed(self, bits: int) -> tuple[set[int], list[int]] | None:
        if bits not in self._known:
            self._known[bits] = self.relaxation.relaxed_plan(bits)
        return self._known[bits]

    def _ahead(self, place: int, mark: Mark) -> int | None:
        """Estimate what is still to be paid; None where the goal is out of reach."""
        relaxed = self._relaxed(mark[0])
        if relaxed is None:
            return None
        missing = len(relaxed[0] - self.later[place])
        if not missing and place == len(self.course.operators):
            missing = not holds(self.task.goal, mark)
        return _INSERTED * missing


def _gives(operator: Operator) -> int:
    """Return the bits that an action may change."""
    mask = operator.add | operator.delete
    for _, add, delete in operator.conditional:
        mask |= add | delete
    return mask


def _unmet(condition: Conjunction, bits: int) -> int:
    """Return the bits that may have the wrong value for a condition."""
    mask = condition.positive & ~bits | condition.negative & bits
    for clause in condition.clauses:
        if not clause.holds(bits):
            mask |= clause.positive & ~bits | clause.negative & bits
            for part in clause.parts:
                mask |= _unmet(part, bits)
    return mask


def _unrolled(path: _Path) -> tuple[tuple[tuple[int, GroundAction], ...], frozenset[int]]:
    inserted: list[tuple[int, GroundAction]] = []
    passed: set[int] = set()
    while path is not None:
        path, place, action = path
        if action is None:
            passed.add(place)
        else:
            inserted.append((place, action))
    return tuple(reversed(inserted)), frozenset(passed)

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
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import read_functions

_INSERTED, _PASSED = 4, 1
_MOST_NODES = 1500
_MOST_TAILS = 1000
_MOST_TRIED = 20_000
"""How many steps are tried to find an ending that is shorter than a known one."""

_Path: TypeAlias = "tuple[_Path, int, GroundAction | None] | None"
"""What was done differently: the path before, the place, and the step put in or None if the step
there is passed over."""


class Weaving:
    """Searches for steps to put into a plan.

    Args:
        course: the plan.
        clock: when to give up.
    """

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
        self._known: dict[int, tuple[set[int], list[int]] | None] = {}

    def weave(self) -> tuple[tuple[tuple[int, GroundAction], ...], frozenset[int]] | None:
        """Return steps to put in, with their places, and steps to pass over.

        None where none were found in the time allowed, or with so many states looked at.
        """
        return self._search(0, self.course.marks[0], _MOST_NODES, (2, 3))

    def finish(self, mark: Mark) -> tuple[GroundAction, ...] | None:
        """Return steps that reach the goal from the end of a plan; None where none were found."""
        end = len(self.course.operators)
        woven = self._search(end, mark, _MOST_TAILS, (2, 3))
        if woven is not None:
            # There may be a shorter one; that is worth less, above all where there is much to try.
            most = _MOST_TRIED // max(1, len(self.relaxation.operators))
            woven = self._search(end, mark, most, (1, 1)) or woven
        return None if woven is None else tuple([action for _, action in woven[0]])

    def _search(
        self, begin: int, start: Mark, most: int, weights: tuple[int, int]
    ) -> tuple[tuple[tuple[int, GroundAction], ...], frozenset[int]] | None:
        # What is still to be paid is estimated when a node is looked at, not when it is made: most
        # nodes are never looked at.
        end = len(self.course.operators)
        order = count()
        queue: list[tuple[int, int, int, int, int, Mark, _Path]] = [
            (0, -begin, next(order), 0, begin, start, None)
        ]
        best = {(begin, start): 0}
        for _ in range(most):
            if not queue or self.clock.expired:
                return None
            _, _, _, cost, place, mark, path = heappop(queue)
            if best[place, mark] < cost:
                continue
            if place == end and holds(self.task.goal, mark):
                return _unrolled(path)
            ahead = self._ahead(place, mark)
            if ahead is None:
                continue
            for after, at, more, nearer, way in self._successors(place, mark, path):
                total = cost + more
                if best.get((at, after), total + 1) <= total:
                    continue
                best[at, after] = total
                priority = weights[0] * total + weights[1] * max(0, ahead - nearer)
                heappush(queue, (priority, -at, next(order), total, at, after, way))
        return None

    def _successors(
        self, place: int, mark: Mark, path: _Path
    ) -> Iterator[tuple[Mark, int, int, int, _Path]]:
        """Yield the states next to one.

        Yields:
            the state, its place, what it costs to get there, how much nearer to the goal it seems,
            and the way there.
        """
        if place < len(self.course.operators):
            operator = self.course.operators[place]
            after = None if operator is None else execute(self.task, operator, mark)
            if after is not None:
                yield after, place + 1, 0, 0, path
            yield mark, place + 1, _PASSED, 0, (path, place, None)
        relaxed = self._relaxed(mark[0])
        helpful = frozenset(relaxed[1]) if relaxed is not None else frozenset()
        for number, inserted in enumerate(self.relaxation.operators):
            after = execute(self.task, inserted, mark)
            if after is not None and after != mark:
                nearer = _INSERTED if number in helpful else -_INSERTED
                yield after, place, _INSERTED, nearer, (path, place, inserted.action)

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

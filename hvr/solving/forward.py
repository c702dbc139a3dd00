"""A forward search in this process, for what Fast Downward lacks: numbers, also with derived
predicates.

Weighted A* over states, guided by the length of relaxed plans (`hvr.validation.relaxation`), which
looks at facts and rules; a number that a condition wants counts as one step. The actions that a
relaxed plan begins with are tried first. Small and simple: for hundreds of ground actions, not for
the largest problems of the competitions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from pathlib import Path

from hvr.errors import HvrError
from hvr.files import write_whole
from hvr.pddl import (
    GroundAction,
    Task,
    UndefinedValueError,
    parse_domain,
    parse_problem,
    print_plan,
)
from hvr.pddl.conditions import Conjunction
from hvr.pddl.numeric import Values
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import execute, read_functions

_WEIGHT = 3
MOST_STATES = 1_000_000

_State = tuple[int, Values]


@dataclass(frozen=True)
class ForwardOutcome:
    """What a search came to.

    Args:
        plan: None without one.
        proven: without a plan: there is none.
        why: without either, why the search ended.
        states: how many states were looked at.
    """

    plan: tuple[GroundAction, ...] | None
    proven: bool
    why: str
    states: int


def forward(task: Task, seconds: float) -> ForwardOutcome:
    """Search for a plan from the initial state of a task.

    Args:
        task: without time; its trajectory constraints and preferences are not looked at.
        seconds: wall time at most.
    """
    clock = Clock(seconds)
    start = task.initial.bits, task.initial.values
    if _holds(task.goal, start):
        return ForwardOutcome((), False, "", 1)
    numeric = read_functions(task)
    relaxation = Relaxation(task.initial, task.goal, numeric, clock, beyond=None)
    if not relaxation.reachable:
        why = "" if relaxation.complete else _TOO_LARGE
        return ForwardOutcome(None, relaxation.complete, why, 0)
    return _Forward(task, relaxation, numeric, clock).run(start)


_TOO_LARGE = "the problem has too many ground actions for the forward search"


class _Forward:
    def __init__(
        self, task: Task, relaxation: Relaxation, numeric: frozenset[str], clock: Clock
    ) -> None:
        self.task = task
        self.relaxation = relaxation
        self.clock = clock
        self.numeric = numeric
        self._kept: dict[int, bool] = {}
        self._estimates: dict[int, tuple[int, list[int]] | None] = {}

    def run(self, start: _State) -> ForwardOutcome:
        operators = self.relaxation.operators
        everything = range(len(operators))
        # A state waits in two queues: with the actions that seem to help, and with all; turn by
        # turn one is taken from each, so that nothing is left out for good.
        helpful: list[tuple[int, int, int, _State]] = []
        others: list[tuple[int, int, int, _State]] = []
        order = count()
        reached: dict[object, tuple[_State | None, int]] = {self._key(start): (None, -1)}
        depth = {self._key(start): 0}
        self._put(helpful, others, next(order), 0, start)
        turn = 0
        while helpful or others:
            turn += 1
            queue = helpful if helpful and (turn % 4 or not others) else others
            _, _, steps, state = heappop(queue)
            key = self._key(state)
            if depth[key] < steps:
                continue
            estimate = self._estimate(state)
            if estimate is None:
                continue
            numbers = estimate[1] if queue is helpful else everything
            for number in numbers:
                after = execute(self.task, operators[number], *state)
                if after is None:
                    continue
                then = self._key(after)
                if depth.get(then, steps + 2) <= steps + 1:
                    continue
                reached[then], depth[then] = (state, number), steps + 1
                if _holds(self.task.goal, after):
                    plan = tuple(operators[n].action for n in self._path(reached, after))
                    return ForwardOutcome(plan, False, "", len(reached))
                self._put(helpful, others, next(order), steps + 1, after)
            if self.clock.expired:
                why = f"the {self.clock.seconds:g} s are up; a larger budget gives more time"
                return ForwardOutcome(None, False, why, len(reached))
            if len(reached) > MOST_STATES:
                why = f"{len(reached)} states were looked at"
                return ForwardOutcome(None, False, why, len(reached))
        why = "" if self.relaxation.complete else _TOO_LARGE
        return ForwardOutcome(None, self.relaxation.complete, why, len(reached))

    def _put(
        self,
        helpful: list[tuple[int, int, int, _State]],
        others: list[tuple[int, int, int, _State]],
        number: int,
        steps: int,
        state: _State,
    ) -> None:
        estimate = self._estimate(state)
        if estimate is None:
            return
        item = (steps + _WEIGHT * estimate[0], number, steps, state)
        heappush(others, item)
        if estimate[1]:
            heappush(helpful, item)

    def _estimate(self, state: _State) -> tuple[int, list[int]] | None:
        bits, _ = state
        if bits not in self._estimates:
            self._estimates[bits] = self.relaxation.estimate(bits)
        estimate = self._estimates[bits]
        if estimate is None:
            return None
        return estimate[0] + self._numbers_missing(state), estimate[1]

    def _numbers_missing(self, state: _State) -> int:
        """Count the comparisons of the goal that do not hold yet."""
        missing = 0
        for test in self.task.goal.tests:
            try:
                missing += not test.holds(state[1])
            except UndefinedValueError:
                missing += 1
        return missing

    def _key(self, state: _State) -> object:
        """Return what tells states apart: costs, on which nothing depends, are left out."""
        bits, values = state
        kept = []
        for index, value in enumerate(values):
            if index not in self._kept:
                self._kept[index] = self.task.term(index).function in self.numeric
            if self._kept[index]:
                kept.append(value)
        return bits, tuple(kept)

    def _path(
        self, reached: dict[object, tuple[_State | None, int]], state: _State
    ) -> Iterator[int]:
        numbers = []
        before: _State | None = state
        while before is not None:
            before, number = reached[self._key(before)]
            numbers.append(number)
        return reversed(numbers[:-1])


def _holds(goal: Conjunction, state: _State) -> bool:
    try:
        return goal.holds(*state)
    except UndefinedValueError:
        return False


def main(arguments: list[str]) -> int:
    """Write the plan that was found; return Fast Downward's exit code for the outcome."""
    domain_file, problem_file, seconds = arguments[:3]
    try:
        domain = parse_domain(Path(domain_file))
        task = Task(domain, parse_problem(Path(problem_file), domain))
        outcome = forward(task, float(seconds))
    except HvrError as error:
        print(error)
        return 34
    if outcome.plan is None:
        print(outcome.why)
        return 11 if outcome.proven else 23
    write_whole(Path("plan.1"), print_plan(outcome.plan))
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A forward search in this process, for what Fast Downward lacks: numbers, also with derived
predicates.

Best-first search over states, guided by relaxed plans over facts and numbers
(`hvr.planning.solving.subgoals`). Small and simple: for thousands of ground actions, not for the
largest problems of the competitions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hvr.base.files import write_whole
from hvr.errors import HvrError
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
from hvr.planning.solving.best_first import BestFirst
from hvr.planning.solving.subgoals import Distance, Subgoals
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import execute, read_functions

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
    if holds(task.goal, *start):
        return ForwardOutcome((), False, "", 1)
    numeric = read_functions(task)
    relaxation = Relaxation(task.initial, task.goal, numeric, clock, beyond=None)
    if not relaxation.reachable:
        why = "" if relaxation.complete else TOO_LARGE
        return ForwardOutcome(None, relaxation.complete, why, 0)
    end = BestFirst(_Steps(task, relaxation, numeric), clock).run(start)
    if end.path is not None:
        plan = tuple([relaxation.operators[number].action for number in end.path])
        return ForwardOutcome(plan, False, "", end.states)
    why = end.why or ("" if relaxation.complete else TOO_LARGE)
    return ForwardOutcome(None, not why, why, end.states)


TOO_LARGE = "the problem has too many ground actions for the forward search"


class _Steps:
    """The states of a task without time: a `SearchSpace`."""

    def __init__(self, task: Task, relaxation: Relaxation, numeric: frozenset[str]) -> None:
        self.task = task
        self.operators = relaxation.operators
        self.subgoals = Subgoals(task, self.operators, relaxation.rules, task.goal)
        self.key_of = NumericKey(task, numeric)

    def key(self, state: _State) -> object:
        return self.key_of(*state)

    def satisfied(self, state: _State) -> bool:
        return holds(self.task.goal, *state)

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
    """What tells states apart: costs, on which nothing depends, are left out.

    Args:
        task: The task.
        functions: The functions whose values matter.
    """

    def __init__(self, task: Task, functions: frozenset[str]) -> None:
        self._task = task
        self._functions = functions
        self._kept: dict[int, bool] = {}

    def __call__(self, bits: int, values: Values) -> object:
        """Return the key of a state."""
        kept = []
        for index, value in enumerate(values):
            if index not in self._kept:
                self._kept[index] = self._task.term(index).function in self._functions
            if self._kept[index]:
                kept.append(value)
        return bits, tuple(kept)


def holds(condition: Conjunction, bits: int, values: Values) -> bool:
    """Return whether a condition holds; one that reads an undefined number does not."""
    try:
        return condition.holds(bits, values)
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

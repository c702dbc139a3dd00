"""The course of a plan: each step as an operator, the state before it, and whether it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.errors import UndefinedValueError
from hvr.pddl import GroundAction, Misfit, State, Task
from hvr.pddl.conditions import Conjunction, Operator
from hvr.pddl.numeric import Values
from hvr.validation import search

Mark: TypeAlias = tuple[int, Values]
"""A state: its bits, derived ones among them, and its numbers."""


def execute(task: Task, operator: Operator, mark: Mark) -> Mark | None:
    """Return the state after a step, None where it cannot be executed."""
    return search.execute(task, operator, *mark)


def holds(condition: Conjunction, mark: Mark) -> bool:
    """Say whether a condition is true; one that reads an undefined number is not."""
    try:
        return condition.holds(*mark)
    except UndefinedValueError:
        return False


def unmet_parts(condition: Conjunction, mark: Mark) -> int:
    """Return how many parts of a condition are false."""
    bits, values = mark
    wrong = (condition.positive & ~bits).bit_count() + (condition.negative & bits).bit_count()
    wrong += sum(not clause.holds(bits, values) for clause in condition.clauses)
    return wrong + sum(not holds(Conjunction(tests=(test,)), mark) for test in condition.tests)


def executable(task: Task, start: Mark, operators: Sequence[Operator]) -> Mark | None:
    """Return the state after some steps, None where one of them cannot be executed."""
    mark: Mark | None = start
    for operator in operators:
        if mark is None:
            return None
        mark = execute(task, operator, mark)
    return mark


def reaches(start: State, operators: Sequence[Operator]) -> bool:
    """Say whether steps can be executed from a state and reach the goal."""
    end = executable(start.task, (start.bits, start.values), operators)
    return end is not None and holds(start.task.goal, end)


@dataclass(frozen=True)
class Course:
    """A plan as it goes when failing steps are passed over.

    Args:
        task: the task.
        plan: the steps.
        operators: the same; None for what is no action of the task.
        marks: the state before each step, and at the end.
        failing: indexes of the steps that cannot be executed.
    """

    task: Task
    plan: tuple[GroundAction, ...]
    operators: tuple[Operator | None, ...]
    marks: tuple[Mark, ...]
    failing: frozenset[int]

    @classmethod
    def of(cls, start: State, plan: Sequence[GroundAction]) -> Course:
        """Follow a plan from a state."""
        task = start.task
        compiled = [task.try_ground(action) for action in plan]
        operators = tuple([None if isinstance(o, Misfit) else o for o in compiled])
        marks: list[Mark] = [(start.bits, start.values)]
        failing = set()
        for index, operator in enumerate(operators):
            after = None if operator is None else execute(task, operator, marks[-1])
            if after is None:
                failing.add(index)
            marks.append(marks[-1] if after is None else after)
        return cls(task, tuple(plan), operators, tuple(marks), frozenset(failing))

    @property
    def valid(self) -> bool:
        """Whether all steps can be executed and the goal is reached."""
        return not self.failing and holds(self.task.goal, self.marks[-1])

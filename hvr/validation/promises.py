"""Trajectory constraints, watched in the states that go by: predicted or observed.

What is left of a constraint after some states is a constraint on the rest, the present state
included: "at some time" is done with once it was so, and "at most once" becomes "never" once it was
so and is no more. So new plans and recoveries are made and checked for what is left, and know
nothing of what was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.pddl import And, Expression, Not, State, Task, Trajectory, substitute
from hvr.validation.trajectory import hard_constraints


class Promises:
    """What is left of some constraints.

    Args:
        constraints: ground constraints.

    Attributes:
        left: what is left of them.
        broken: those that are broken for good.
    """

    def __init__(self, constraints: Iterable[Trajectory] = ()) -> None:
        self.left = tuple(dict.fromkeys(constraints))
        self.broken: list[Trajectory] = []
        self._held: frozenset[Trajectory] = frozenset()

    @classmethod
    def of(cls, task: Task) -> Promises:
        """Return the constraints of a task, watched from its first state."""
        promises = cls(ground_constraints(task))
        promises.observe(task.initial)
        return promises

    def observe(self, state: State) -> tuple[Trajectory, ...]:
        """Look at the next state; return the constraints that it breaks."""
        broken: list[Trajectory] = []
        left: dict[Trajectory, None] = {}
        held = set()
        for one in self.left:
            truths = [state.holds(formula) for formula in one.formulas]
            if truths[0]:
                held.add(one)
            if self._breaks(one, truths):
                broken.append(one)
            else:
                left.update(dict.fromkeys(_rest(one, truths, was=one in self._held)))
        self.left, self._held = tuple(left), frozenset(held)
        self.broken += broken
        return tuple(broken)

    @staticmethod
    def _breaks(constraint: Trajectory, truths: list[bool]) -> bool:
        match constraint.operator:
            case "always":
                return not truths[0]
            case "sometime-before":
                return truths[0]
            case _:
                return False

    def unmet(self, state: State) -> tuple[Expression, ...]:
        """Return the conditions that are missing if a state is the last one."""
        return tuple(
            one.formulas[0] for one in self.left
            if one.operator in ("sometime", "at end") and not state.holds(one.formulas[0])
        )  # fmt: skip

    @property
    def prohibitions(self) -> tuple[Trajectory, ...]:
        """What is left of what must not happen."""
        return tuple(one for one in self.left if one.operator in _PROHIBITIONS)


def ground_constraints(task: Task) -> tuple[Trajectory, ...]:
    """Return the constraints that a task's plans must keep, with objects for their variables."""
    found = []
    for constraint, binding in hard_constraints(task):
        ground = substitute(constraint, binding)
        assert isinstance(ground, Trajectory)
        found.append(ground)
    return tuple(found)


def bound(task: Task, state: State, constraints: tuple[Trajectory, ...]) -> tuple[Task, State]:
    """Return a task with other constraints, and a state as a state of it."""
    if task.problem.constraints == And(constraints):
        return task, state
    other = Task(task.domain, task.problem.replace(constraints=And(constraints)))
    return other, other.state_with(state.atoms(), state.numbers())


_PROHIBITIONS = ("always", "at-most-once", "sometime-before")


def _rest(constraint: Trajectory, truths: list[bool], *, was: bool) -> Iterator[Trajectory]:
    """Yield what is left of a constraint that is not broken.

    Args:
        constraint: the constraint.
        truths: whether its conditions hold now.
        was: whether the first did in the state before.
    """
    match constraint.operator:
        case "sometime":
            if not truths[0]:
                yield constraint
        case "at-most-once" if was and not truths[0]:
            yield Trajectory("always", (), (Not(constraint.formulas[0]),))
        case "sometime-before":
            if not truths[1]:
                yield constraint
        case "sometime-after":
            yield constraint
            if truths[0] and not truths[1]:
                yield Trajectory("sometime", (), (constraint.formulas[1],))
        case _:
            yield constraint

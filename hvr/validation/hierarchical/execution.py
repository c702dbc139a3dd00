"""The states that the actions of a plan lead through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from hvr.errors import InconsistentEffectError, UndefinedValueError
from hvr.pddl import Misfit, Task
from hvr.pddl.conditions import Operator
from hvr.pddl.numeric import Values

State = tuple[int, Values]
_STRIDE, _BLOCKS = 32, 64


class PlanStates(Sequence[State]):
    """The states before, between and after actions, up to the first that cannot be done.

    A state has a bit for each fluent, so one in 32 is kept, and those behind it are made again
    when they are asked for.

    Args:
        task: the domain with the problem.
        operator_of: the operator of each action, by its number.
        count: the number of the actions.
    """

    def __init__(
        self, task: Task, operator_of: Callable[[int], Operator | Misfit], count: int
    ) -> None:
        self._task = task
        self._operator_of = operator_of
        state = task.initial.bits, task.initial.values
        self._kept = [state]
        self._blocks: dict[int, list[State]] = {}
        done = 0
        for done in range(count):
            after = _after(task, operator_of(done), *state)
            if after is None:
                break
            state = after
            if not (done + 1) % _STRIDE:
                self._kept.append(state)
        else:
            done = count
        self._length = done + 1
        self._last = state

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> list[State]: ...
    def __getitem__(self, index: int | slice) -> State | list[State]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if index in (-1, self._length - 1):
            return self._last
        if not 0 <= index < self._length:
            raise IndexError(index)
        number, offset = divmod(index, _STRIDE)
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) == _BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            block = self._blocks[number] = self._again(number)
        return block[offset]

    def _again(self, number: int) -> list[State]:
        block = [self._kept[number]]
        first = number * _STRIDE
        for index in range(first, min(first + _STRIDE, self._length) - 1):
            after = _after(self._task, self._operator_of(index), *block[-1])
            assert after is not None
            block.append(after)
        return block


def _after(task: Task, operator: Operator | Misfit, bits: int, values: Values) -> State | None:
    """Return the state after an action; None if it cannot be done."""
    if isinstance(operator, Misfit):
        return None
    try:
        if not operator.precondition.holds(bits, values):
            return None
        after = operator.apply(bits, values)
        if operator.numeric:
            values = operator.apply_numbers(bits, values)
    except (InconsistentEffectError, UndefinedValueError):
        return None
    return (task.close(after, values) if task.derived_predicates else after), values

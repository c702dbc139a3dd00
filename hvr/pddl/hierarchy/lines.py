"""Lines of plans, of which there are hundreds of thousands, in columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from hvr.values import Compact, set_field

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LINE = re.compile(f"[^{_BREAKS}]*(?:\r\n|[{_BREAKS}]|\\Z)")


class PlanLine(Compact):
    """A line of a plan: an action, or a task with the method and the tasks that replace it.

    Attributes:
        identifier: its number.
        name: the name of the action or task.
        args: its arguments.
        method: the method; "" for an action.
        subtasks: the identifiers of what the method leads to.
        number: the number of the line in the text.
    """

    __slots__ = ("args", "identifier", "method", "name", "number", "subtasks")

    identifier: int
    name: str
    args: tuple[str, ...]
    method: str
    subtasks: tuple[int, ...]
    number: int

    def __init__(
        self,
        identifier: int,
        name: str,
        args: tuple[str, ...] = (),
        method: str = "",
        subtasks: tuple[int, ...] = (),
        number: int = 0,
    ) -> None:
        set_field(self, "identifier", identifier)
        set_field(self, "name", name)
        set_field(self, "args", args)
        set_field(self, "method", method)
        set_field(self, "subtasks", subtasks)
        set_field(self, "number", number)

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


class PlanLines(Sequence[PlanLine]):
    """Lines of a plan, each made when it is asked for: a line takes a tenth of the memory then."""

    def __init__(self) -> None:
        self._identifiers = array("q")
        self._numbers = array("q")
        self._calls: list[tuple[str, ...]] = []
        self._methods: list[str] = []
        self._below = array("q")
        self._ends = array("q")
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(
        self, call: Sequence[str], method: str, identifiers: tuple[int, ...], number: int
    ) -> None:
        """Add a line: name and arguments, method, its identifier and those of its subtasks."""
        key = tuple(call)
        self._calls.append(self._shared.setdefault(key, key))
        key = (method,)
        self._methods.append(self._shared.setdefault(key, key)[0])
        self._identifiers.append(identifiers[0])
        self._below.extend(identifiers[1:])
        self._ends.append(len(self._below))
        self._numbers.append(number)

    def close(self) -> None:
        """Forget what is needed to add lines."""
        self._shared = {}

    def __len__(self) -> int:
        return len(self._calls)

    @overload
    def __getitem__(self, index: int) -> PlanLine: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PlanLine, ...]: ...
    def __getitem__(self, index: int | slice) -> PlanLine | tuple[PlanLine, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        call = self._calls[index]
        if index < 0:
            index += len(self._calls)
        begin = self._ends[index - 1] if index else 0
        return PlanLine(
            self._identifiers[index],
            call[0],
            call[1:],
            self._methods[index],
            tuple(self._below[begin : self._ends[index]]),
            self._numbers[index],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(PlanLine.__eq__, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text like `splitlines(keepends=True)`, one at a time, from 1 on."""
    number = 0
    for match in _LINE.finditer(text):
        if match.start() < len(text):
            number += 1
            yield number, match.group()

"""The lifted model of HDDL: tasks, methods and task networks beside a domain of PDDL."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import overload

from hvr.pddl import TRUE, Domain, Formula, Location, Problem, TypedName
from hvr.values import Compact, Value, cached_property, set_field

ROOT = ""
"""The name of the initial network where methods are named."""


class CompoundTask(Value):
    """The declaration of a task that methods decompose."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, tuple(str(p) for p in self.parameters))


class Subtask(Compact):
    """A task in a network: a compound task or an action, applied to names and ?variables."""

    __slots__ = ("args", "identifier", "location", "name")

    identifier: str
    name: str
    args: tuple[str, ...]
    location: Location | None

    def __init__(
        self,
        identifier: str,
        name: str,
        args: tuple[str, ...] = (),
        location: Location | None = None,
    ) -> None:
        set_field(self, "identifier", identifier)
        set_field(self, "name", name)
        set_field(self, "args", args)
        set_field(self, "location", location)

    def __str__(self) -> str:
        return _call(self.name, self.args)


class Chain(Sequence[tuple[int, int]]):
    """The order of subtasks each of which comes before the next: no pair of it is kept.

    Args:
        count: the number of the subtasks.
    """

    def __init__(self, count: int) -> None:
        self._firsts = range(max(count - 1, 0))

    def __len__(self) -> int:
        return len(self._firsts)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, int], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | tuple[tuple[int, int], ...]:
        if isinstance(index, slice):
            return tuple([(first, first + 1) for first in self._firsts[index]])
        first = self._firsts[index]
        return first, first + 1

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Chain):
            return self._firsts == other._firsts
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


class Network(Value):
    """A task network.

    Attributes:
        subtasks: its tasks, in the order of the file.
        order: pairs of indexes of subtasks, the first of which comes before the second.
        constraints: equalities and inequalities of parameters.
    """

    subtasks: tuple[Subtask, ...] = ()
    order: Sequence[tuple[int, int]] = ()
    constraints: Formula = TRUE

    @cached_property
    def before(self) -> tuple[int, ...]:
        """For each subtask, a bit for each that comes before it, in the transitive closure.

        Subtasks that come before themselves have their own bit.
        """
        count = len(self.subtasks)
        direct: list[list[int]] = [[] for _ in range(count)]
        after: list[list[int]] = [[] for _ in range(count)]
        for one, two in self.order:
            direct[two].append(one)
            after[one].append(two)
        waiting = [len(d) for d in direct]
        ready = [i for i, number in enumerate(waiting) if not number]
        masks = [0] * count
        done = 0
        while ready:
            one = ready.pop()
            done += 1
            for two in after[one]:
                masks[two] |= masks[one] | 1 << one
                waiting[two] -= 1
                if not waiting[two]:
                    ready.append(two)
        return tuple(masks) if done == count else tuple(_cyclic_closure(direct))

    @cached_property
    def cyclic(self) -> bool:
        """Whether some subtask comes before itself, so that nothing fits the network."""
        return len(self._kahn) < len(self.subtasks)

    @cached_property
    def sequence(self) -> Sequence[int] | None:
        """The subtasks in their order, None where it is not total."""
        if self.cyclic:
            return None
        # An order is total if each subtask has a pair with the next in one that agrees with it.
        found = self._kahn
        total = isinstance(self.order, Chain) or all(
            one in self.predecessors(two) for one, two in pairwise(found)
        )
        return found if total else None

    @cached_property
    def topological(self) -> Sequence[int]:
        """The subtasks, each behind all that come before it, otherwise as in the file."""
        count = range(len(self.subtasks))
        if not self.order:
            return count
        if self.sequence is not None:
            return self.sequence
        return tuple(sorted(count, key=lambda i: self.before[i].bit_count()))

    def predecessors(self, index: int) -> Sequence[int]:
        """Return the subtasks that have a pair with one in which that comes second."""
        if isinstance(self.order, Chain):
            return (index - 1,) if index else ()
        return self._direct.get(index, ())

    @cached_property
    def _direct(self) -> dict[int, list[int]]:
        direct: dict[int, list[int]] = {}
        for one, two in self.order:
            direct.setdefault(two, []).append(one)
        return direct

    @cached_property
    def _kahn(self) -> Sequence[int]:
        """Subtasks, each behind all that come before it; without those of cycles and after them."""
        count = len(self.subtasks)
        if isinstance(self.order, Chain) or not self.order:
            return range(count)
        after: dict[int, list[int]] = {}
        waiting = array("q", [0]) * count
        for one, two in self.order:
            after.setdefault(one, []).append(two)
            waiting[two] += 1
        ready = [i for i in range(count) if not waiting[i]]
        for one in ready:
            for two in after.get(one, ()):
                waiting[two] -= 1
                if not waiting[two]:
                    ready.append(two)
        return tuple(ready)


class Method(Value):
    """A way to decompose a task. The initial network of a problem is one, named ROOT."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    task: str = ""
    args: tuple[str, ...] = ()
    precondition: Formula = TRUE
    network: Network = Network()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, tuple(str(p) for p in self.parameters))


class HierarchicalDomain(Value):
    """A domain with its tasks and methods, by name and in the order of the file."""

    domain: Domain
    tasks: Mapping[str, CompoundTask] = MappingProxyType({})
    methods: Mapping[str, Method] = MappingProxyType({})

    @cached_property
    def methods_of(self) -> dict[str, tuple[Method, ...]]:
        """The methods of each task."""
        found: dict[str, tuple[Method, ...]] = dict.fromkeys(self.tasks, ())
        for method in self.methods.values():
            found[method.task] = (*found.get(method.task, ()), method)
        return found

    def parameters_of(self, name: str) -> tuple[TypedName, ...] | None:
        """Return the parameters of a task or action; None if there is none of this name."""
        declared = self.tasks.get(name) or self.domain.actions.get(name)
        return None if declared is None else declared.parameters


class HierarchicalProblem(Value):
    """A problem with its initial network, as a method without a task."""

    problem: Problem
    root: Method


def _cyclic_closure(direct: list[list[int]]) -> list[int]:
    closure = []
    for start in range(len(direct)):
        mask = 0
        open_ = list(direct[start])
        while open_:
            one = open_.pop()
            if not mask >> one & 1:
                mask |= 1 << one
                open_ += direct[one]
        closure.append(mask)
    return closure


def _call(name: str, args: tuple[str, ...]) -> str:
    return f"({' '.join((name, *args))})"

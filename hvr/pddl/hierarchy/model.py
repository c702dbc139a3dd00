"""The lifted model of HDDL, and its printer."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import overload

from hvr.pddl import TRUE, Domain, Formula, Location, Problem, TypedName
from hvr.pddl.formulas import typed_list
from hvr.pddl.model import print_domain, print_problem
from hvr.values import Compact, Value, cached_property, set_field

# Model --------------------------------------------------------------------------------------------
# Tasks, methods and task networks on top of a PDDL domain.

ROOT = ""
"""The name of the initial network, used like the name of a method."""


class CompoundTask(Value):
    """The declaration of a compound task."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, tuple(str(p) for p in self.parameters))


class Subtask(Compact):
    """A node of a task network: a compound task or action with its arguments."""

    __slots__ = ("args", "identifier", "name")

    identifier: str
    name: str
    args: tuple[str, ...]

    def __init__(self, identifier: str, name: str, args: tuple[str, ...] = ()) -> None:
        set_field(self, "identifier", identifier)
        set_field(self, "name", name)
        set_field(self, "args", args)

    def __str__(self) -> str:
        return _call(self.name, self.args)


class Pairs(Sequence[tuple[int, int]]):
    """An ordering relation on subtasks, stored as two columns.

    Columns save memory, because a totally ordered network has about as many pairs as subtasks.
    """

    def __init__(self, firsts: Sequence[int], seconds: Sequence[int]) -> None:
        self.firsts = firsts
        self.seconds = seconds

    @classmethod
    def chain(cls, count: int) -> Pairs:
        return cls(range(max(count - 1, 0)), range(1, max(count, 1)))

    def __len__(self) -> int:
        return len(self.firsts)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, int], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | tuple[tuple[int, int], ...]:
        if isinstance(index, slice):
            return tuple(zip(self.firsts[index], self.seconds[index], strict=True))
        return self.firsts[index], self.seconds[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, Pairs) else other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class TaskNetwork(Value):
    """A partially ordered network of subtasks.

    Attributes:
        order: Pairs of subtask indexes; the first comes before the second.
        constraints: Equalities and inequalities of parameters.
    """

    subtasks: tuple[Subtask, ...] = ()
    order: Sequence[tuple[int, int]] = ()
    constraints: Formula = TRUE

    @cached_property
    def before(self) -> tuple[int, ...]:
        """The bitmask of the predecessors of each subtask, in the transitive closure.

        A subtask on a cycle is its own predecessor.
        """
        if self.cyclic:
            return tuple(_cyclic_closure([*map(self.predecessors, range(len(self.subtasks)))]))
        masks = [0] * len(self.subtasks)
        for two in self._kahn:
            for one in self.predecessors(two):
                masks[two] |= masks[one] | 1 << one
        return tuple(masks)

    @cached_property
    def cyclic(self) -> bool:
        """Whether the ordering has a cycle, so that no plan can satisfy it."""
        return len(self._kahn) < len(self.subtasks)

    @cached_property
    def sequence(self) -> Sequence[int] | None:
        """The indexes of the subtasks in order, or None if the order is not total or is cyclic."""
        if self.cyclic:
            return None
        # The order is total if all consecutive subtasks of a topological order are pairs of it.
        found = self._kahn
        total = self._chained or all(one in self.predecessors(two) for one, two in pairwise(found))
        return found if total else None

    @cached_property
    def topological(self) -> Sequence[int]:
        """The indexes of the subtasks by number of predecessors; ties are in file order.

        This is a topological order unless the ordering has a cycle.
        """
        count = range(len(self.subtasks))
        if not self.order:
            return count
        if self.sequence is not None:
            return self.sequence
        return tuple(sorted(count, key=lambda i: self.before[i].bit_count()))

    def predecessors(self, index: int) -> Sequence[int]:
        """Return the indexes of the subtasks that are directly ordered before a subtask."""
        if self._chained:
            return (index - 1,) if index else ()
        starts, ones = self._before_each
        return ones[starts[index] : starts[index + 1]]

    @cached_property
    def _chained(self) -> bool:
        return isinstance(self.order, Pairs) and isinstance(self.order.firsts, range)

    @cached_property
    def _before_each(self) -> tuple[array[int], array[int]]:
        return _grouped(len(self.subtasks), ((two, one) for one, two in self.order))

    @cached_property
    def _kahn(self) -> Sequence[int]:
        """The subtasks in topological order (Kahn's algorithm), up to the first cycle."""
        count = len(self.subtasks)
        if self._chained or not self.order:
            return range(count)
        starts, twos = _grouped(count, self.order)
        before = self._before_each[0]
        waiting = array("q", [before[i + 1] - before[i] for i in range(count)])
        ready = array("q", [i for i in range(count) if not waiting[i]])
        for one in ready:
            for two in twos[starts[one] : starts[one + 1]]:
                waiting[two] -= 1
                if not waiting[two]:
                    ready.append(two)
        return ready


def _grouped(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[array[int], array[int]]:
    ordered = sorted(pairs, key=itemgetter(0))
    starts = array("q", [0]) * (count + 1)
    for first, _ in ordered:
        starts[first + 1] += 1
    for index in range(count):
        starts[index + 1] += starts[index]
    return starts, array("q", [second for _, second in ordered])


class Method(Value):
    """A way to decompose a task. The initial network of a problem is a method named ROOT."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    task: str = ""
    args: tuple[str, ...] = ()
    precondition: Formula = TRUE
    network: TaskNetwork = TaskNetwork()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, tuple(str(p) for p in self.parameters))


class HierarchicalDomain(Value):
    """A domain with its tasks and methods by name, in file order."""

    domain: Domain
    tasks: Mapping[str, CompoundTask] = MappingProxyType({})
    methods: Mapping[str, Method] = MappingProxyType({})

    @cached_property
    def methods_of(self) -> dict[str, tuple[Method, ...]]:
        """The methods by the name of their task."""
        found: dict[str, tuple[Method, ...]] = dict.fromkeys(self.tasks, ())
        for method in self.methods.values():
            found[method.task] = (*found.get(method.task, ()), method)
        return found

    def parameters_of(self, name: str) -> tuple[TypedName, ...] | None:
        declared = self.tasks.get(name) or self.domain.actions.get(name)
        return None if declared is None else declared.parameters


class HierarchicalProblem(Value):
    """A problem with its initial network, as a method without a task."""

    problem: Problem
    root: Method


def _cyclic_closure(direct: Sequence[Sequence[int]]) -> list[int]:
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


# Printer ------------------------------------------------------------------------------------------
# Parsing the printed text gives an equal value.


def print_hddl_domain(domain: HierarchicalDomain) -> str:
    lines: list[str] = []
    for task in domain.tasks.values():
        lines += ["", f"  (:task {task.name} :parameters ({typed_list(task.parameters)}))"]
    for method in domain.methods.values():
        lines += ["", *_method(method)]
    return _inserted(print_domain(domain.domain), lines)


def print_hddl_problem(problem: HierarchicalProblem) -> str:
    root = problem.root
    lines = ["  (:htn"]
    if root.parameters:
        lines.append(f"    :parameters ({typed_list(root.parameters)})")
    lines += _network(root.network)
    lines[-1] += ")"
    return _inserted(print_problem(problem.problem), lines)


def _inserted(text: str, lines: list[str]) -> str:
    return "\n".join((text.rstrip()[:-1].rstrip(), *lines)) + ")\n"


def _method(method: Method) -> list[str]:
    lines = [
        f"  (:method {method.name}",
        f"    :parameters ({typed_list(method.parameters)})",
        f"    :task ({' '.join((method.task, *method.args))})",
    ]
    if method.precondition != TRUE:
        lines.append(f"    :precondition {method.precondition}")
    lines += _network(method.network)
    lines[-1] += ")"
    return lines


def _network(network: TaskNetwork) -> list[str]:
    names = [s.identifier or _free(network, i) for i, s in enumerate(network.subtasks)]
    tasks = [f"({name} {subtask})" for name, subtask in zip(names, network.subtasks, strict=True)]
    chain = tuple((i, i + 1) for i in range(len(tasks) - 1))
    ordered = network.order == chain and bool(chain)
    keyword = ":ordered-subtasks" if ordered else ":subtasks"
    lines = [f"    {keyword} (and{''.join(f'{chr(10)}      {task}' for task in tasks)})"]
    if network.order and not ordered:
        pairs = " ".join(f"(< {names[a]} {names[b]})" for a, b in network.order)
        lines.append(f"    :ordering (and {pairs})")
    if network.constraints != TRUE:
        lines.append(f"    :constraints {network.constraints}")
    return lines


def _free(network: TaskNetwork, index: int) -> str:
    taken = {subtask.identifier for subtask in network.subtasks}
    name = f"t{index + 1}"
    while name in taken:
        name += "x"
    return name

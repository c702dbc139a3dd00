"""The lifted model of HDDL: tasks, methods and task networks beside a domain of PDDL."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hvr.pddl import TRUE, Domain, Formula, Location, Problem, TypedName
from hvr.values import Value, cached_property

ROOT = ""
"""The name of the initial network where methods are named."""


class CompoundTask(Value):
    """The declaration of a task that methods decompose."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, tuple(str(p) for p in self.parameters))


class Subtask(Value):
    """A task in a network: a compound task or an action, applied to names and ?variables."""

    identifier: str
    name: str
    args: tuple[str, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _call(self.name, self.args)


class Network(Value):
    """A task network.

    Attributes:
        subtasks: its tasks, in the order of the file.
        order: pairs of indexes of subtasks, the first of which comes before the second.
        constraints: equalities and inequalities of parameters.
    """

    subtasks: tuple[Subtask, ...] = ()
    order: tuple[tuple[int, int], ...] = ()
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
        return any(mask >> i & 1 for i, mask in enumerate(self.before))

    @cached_property
    def sequence(self) -> tuple[int, ...] | None:
        """The subtasks in their order, None where it is not total."""
        ranked = sorted(range(len(self.subtasks)), key=lambda i: self.before[i].bit_count())
        masks = self.before
        total = all(masks[i].bit_count() == rank for rank, i in enumerate(ranked))
        return tuple(ranked) if total and not self.cyclic else None

    @cached_property
    def topological(self) -> tuple[int, ...]:
        """The subtasks, each behind all that come before it, otherwise as in the file."""
        return tuple(sorted(range(len(self.subtasks)), key=lambda i: self.before[i].bit_count()))


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

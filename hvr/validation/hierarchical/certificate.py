"""What proves that a plan with its decomposition is a solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from hvr.pddl import GroundAction
from hvr.pddl.hierarchy.model import Method
from hvr.pddl.hierarchy.tree import Tree
from hvr.validation.hierarchical.schedule import Placement
from hvr.validation.report import Decomposed


class Certificate(Sequence[Decomposed]):
    """How each task was decomposed, the initial network first; each is made when it is asked for.

    Args:
        tree: the tree of the plan.
        method_of: the method of each decomposed node.
        placement: how each was decomposed.
    """

    def __init__(self, tree: Tree, method_of: Mapping[int, Method], placement: Placement) -> None:
        self._tree = tree
        self._method_of = method_of
        self._placement = placement

    def __len__(self) -> int:
        return len(self._tree) - self._tree.actions

    @overload
    def __getitem__(self, index: int) -> Decomposed: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decomposed, ...]: ...
    def __getitem__(self, index: int | slice) -> Decomposed | tuple[Decomposed, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        tree, count = self._tree, len(self)
        index = range(count)[index]
        node = tree.actions + index - 1 if index else tree.root
        one, line, method = self._placement[node], tree.line(node), self._method_of[node]
        values = {**one.match.binding, **one.further}
        top = node == tree.root
        return Decomposed(
            None if top else line.identifier,
            None if top else GroundAction(line.name, line.args),
            method.name,
            tuple([(p.name, values[p.name]) for p in method.parameters]),
            tuple([tree.line(child).identifier for child in one.match.children]),
            one.position,
        )

    def __iter__(self) -> Iterator[Decomposed]:
        for index in range(len(self)):
            yield self[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            one == two for one, two in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)

"""What a problem may have hundreds of thousands of, kept small: typed names and ground atoms.

A value of its own for each would take many times its text; here it is made when it is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, islice
from typing import Any, overload

from hvr.pddl.model import Atom, TypedName


class TypedNames(Sequence[TypedName]):
    """Distinct names with their types, in order.

    Attributes:
        types: the types of each name; it must not be changed.
    """

    __slots__ = ("types",)

    def __init__(self, types: Mapping[str, tuple[str, ...]]) -> None:
        self.types = types

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Iterator[TypedName]:
        return (TypedName(name, types) for name, types in self.types.items())

    @overload
    def __getitem__(self, index: int) -> TypedName: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TypedName]: ...
    def __getitem__(self, index: int | slice) -> TypedName | Sequence[TypedName]:
        if isinstance(index, slice):
            return tuple(self)[index]
        place = range(len(self.types))[index]
        return next(islice(iter(self), place, None))

    def __contains__(self, item: object) -> bool:
        return isinstance(item, TypedName) and self.types.get(item.name) == item.types

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypedNames):
            return list(self.types.items()) == list(other.types.items())
        if not isinstance(other, tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class GroundAtoms(Set[Atom]):
    """A set of ground atoms, by predicate.

    Attributes:
        rows: the arguments for which each predicate is true, sorted; they must not be changed.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Mapping[str, list[tuple[str, ...]]]) -> None:
        self.rows = rows

    @classmethod
    def gather(cls, rows: dict[str, list[tuple[str, ...]]]) -> GroundAtoms:
        """Make a set of rows in any order, some maybe twice. The mapping is used up."""
        for name, own in rows.items():
            own.sort()
            rows[name] = [row for row, _ in groupby(own)]
        return cls(rows)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Set[Any]:
        # What union and difference make.
        return frozenset(it)

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def __iter__(self) -> Iterator[Atom]:
        return (Atom(name, row) for name, rows in self.rows.items() for row in rows)

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, Atom):
            return False
        rows = self.rows.get(item.predicate, [])
        place = bisect_left(rows, item.args)
        return place < len(rows) and rows[place] == item.args

    def __hash__(self) -> int:
        return self._hash()

    def __repr__(self) -> str:
        return repr(frozenset(self))

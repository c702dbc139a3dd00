"""Compact storage of ground facts, and joins over them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, islice, product
from typing import Any, overload

from hvr.pddl.formulas import And, Atom, Equal, Expression, Imply, Not, Or, TypedName, is_variable

# Compact sequences --------------------------------------------------------------------------------
# A problem may have hundreds of thousands of typed names and ground atoms. An object for each
# would take many times the memory of the text, so objects are created on access.


class TypedNames(Sequence[TypedName]):
    """A sequence of distinct names with their types; `types` must not be modified."""

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
    """A set of ground atoms, grouped by predicate; the sorted `rows` must not be modified."""

    __slots__ = ("rows",)

    def __init__(self, rows: Mapping[str, list[tuple[str, ...]]]) -> None:
        self.rows = rows

    @classmethod
    def gather(cls, rows: dict[str, list[tuple[str, ...]]]) -> GroundAtoms:
        """Create a set from unsorted rows with possible duplicates, modifying `rows` in place."""
        for name, own in rows.items():
            own.sort()
            rows[name] = [row for row, _ in groupby(own)]
        return cls(rows)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Set[Any]:
        # The result type of union and difference.
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


# Facts --------------------------------------------------------------------------------------------
# Relations indexed for joins, which find the bindings that make a conjunction true.

Row = tuple[str, ...]
Literal = tuple[Atom | Equal, bool]
"""An atom or equality, and whether it must be true."""


class Relation:
    """The argument tuples for which a predicate is true.

    Sorted rows and indexes are built when a join first needs them, because most relations are
    only tested for membership.
    """

    __slots__ = ("_indexes", "_set", "_sorted")

    def __init__(self, rows: Iterable[Row] = (), *, is_sorted: bool = False) -> None:
        self._set = set(rows)
        self._sorted: list[Row] | None = [*rows] if is_sorted else None
        self._indexes: dict[int, dict[str, list[Row]]] = {}

    def __contains__(self, row: Row) -> bool:
        return row in self._set

    def __len__(self) -> int:
        return len(self._set)

    def add(self, row: Row) -> None:
        if row in self._set:
            return
        self._set.add(row)
        if self._sorted is not None:
            self._sorted.append(row)
        for position, index in self._indexes.items():
            index.setdefault(row[position], []).append(row)

    def rows(self, pattern: Sequence[str | None]) -> list[Row]:
        """Return candidate rows for a pattern, in which None matches anything.

        The candidates match in the most selective position only. Callers compare whole rows anyway,
        and an index for every combination of positions would cost more than it saves.
        """
        best = self._rows
        for position, value in enumerate(pattern):
            if value is not None:
                matching = self._index(position).get(value, _NO_ROWS)
                if len(matching) < len(best):
                    best = matching
        return best

    @property
    def _rows(self) -> list[Row]:
        if self._sorted is None:
            # Sorted, so that every process finds the same facts in the same order.
            self._sorted = sorted(self._set)
        return self._sorted

    def _index(self, position: int) -> dict[str, list[Row]]:
        index = self._indexes.get(position)
        if index is None:
            index = self._indexes[position] = {}
            for row in self._rows:
                index.setdefault(row[position], []).append(row)
        return index


_Filter = tuple[Atom | Equal, bool, set[str]]
"""A literal, its sign, and its variables."""

_Join = tuple[Atom, set[str]]
"""A positive atom and the variables that its rows may bind."""

_NO_ROWS: list[Row] = []
_EMPTY = Relation()


class Facts:
    """Ground atoms grouped by predicate, optionally restricted to some predicates."""

    __slots__ = ("_relations",)

    def __init__(
        self, atoms: Iterable[Atom], selected: Callable[[str], bool] = lambda _: True
    ) -> None:
        rows, known = rows_of(atoms), isinstance(atoms, GroundAtoms)
        self._relations = {
            name: Relation(rows[name], is_sorted=known) for name in rows if selected(name)
        }

    def relation(self, predicate: str) -> Relation:
        return self._relations.get(predicate, _EMPTY)

    def atoms(self) -> Iterator[Atom]:
        for name, relation in self._relations.items():
            for row in relation.rows(()):
                yield Atom(name, row)


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of a condition or effect in order, flattening nested conjunctions."""
    stack = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, And):
            stack.extend(reversed(item.operands))
        else:
            yield item


def rows_of(atoms: Iterable[Atom]) -> Mapping[str, Iterable[Row]]:
    """Return the argument tuples of the atoms by predicate."""
    if isinstance(atoms, GroundAtoms):
        return atoms.rows
    rows: dict[str, list[Row]] = {}
    for atom in atoms:
        rows.setdefault(atom.predicate, []).append(atom.args)
    return rows


def match_row(atom: Atom, row: Row) -> dict[str, str] | None:
    """Return the binding that makes an atom's arguments equal to a row, or None."""
    binding: dict[str, str] = {}
    for arg, value in zip(atom.args, row, strict=True):
        if not is_variable(arg):
            if arg != value:
                return None
        elif binding.setdefault(arg, value) != value:
            return None
    return binding


def necessary_literals(formula: Expression, positive: bool = True) -> Iterator[Literal]:
    """Yield literals, paired with their values, without which a formula cannot be true.

    If `positive` is not set, yield the literals without which it cannot be false. Parts from which
    no literal follows are skipped: quantifiers, and disjunctions (conjunctions if not `positive`).
    """
    stack = [(formula, positive)]
    while stack:
        item, sign = stack.pop()
        match item:
            case Atom() | Equal():
                yield item, sign
            case Not(operand):
                stack.append((operand, not sign))
            case And(operands) if sign or len(operands) == 1:
                stack.extend([(operand, sign) for operand in reversed(operands)])
            case Or(operands) if not sign or len(operands) == 1:
                stack.extend([(operand, sign) for operand in reversed(operands)])
            case Imply(left, right) if not sign:
                stack += (right, False), (left, True)
            case _:
                pass


def bindings(
    variables: Sequence[TypedName],
    literals: Iterable[Literal],
    binding: Mapping[str, str],
    relation: Callable[[str], Relation],
    members: Callable[[tuple[str, ...]], Mapping[str, object]],
) -> Iterator[dict[str, str]]:
    """Yield the bindings of `variables` under which all `literals` are true.

    Args:
        literals: The conditions. Literals with a variable that is neither in `variables` nor in
            `binding` are ignored.
        binding: Variables that are already bound, and included in the results.
        relation: A function that returns the relation of a predicate.
        members: A function that returns the objects of a type, as the keys of a mapping.
    """
    inner = {v.name for v in variables}
    # A quantified variable hides an outer one with the same name.
    current = {k: v for k, v in binding.items() if k not in inner}
    types = {v.name: members(v.types) for v in variables}
    filters: dict[str, list[_Filter]] = {v.name: [] for v in variables}
    joins: list[_Join] = []
    for literal, positive in literals:
        names = _variables(literal)
        if not names <= inner | current.keys():
            continue
        open_ = names & inner
        if not open_:
            # Already decided for all bindings.
            if not is_true(literal, positive, current, relation):
                return iter(())
            continue
        for name in open_:
            filters[name].append((literal, positive, names))
        if positive and isinstance(literal, Atom):
            joins.append((literal, open_))
    if not joins and not any(filters.values()):
        return _all_bindings(types, current)
    return _join(types, filters, joins, current, relation)


def _all_bindings(
    types: Mapping[str, Mapping[str, object]], current: dict[str, str]
) -> Iterator[dict[str, str]]:
    for row in product(*types.values()):
        yield {**current, **dict(zip(types, row, strict=True))}


def _join(
    types: Mapping[str, Mapping[str, object]],
    filters: Mapping[str, list[_Filter]],
    joins: list[_Join],
    current: dict[str, str],
    relation: Callable[[str], Relation],
) -> Iterator[dict[str, str]]:
    # Iterative, because an action may have thousands of parameters. Each stack level holds an
    # iterator over ways to bind further variables, and the variables that it has bound now.
    stack: list[tuple[Iterator[dict[str, str]], list[str]]] = []
    while True:
        unbound = [name for name in types if name not in current]
        if unbound:
            stack.append((_choices(unbound, joins, current, relation, types), []))
        else:
            yield dict(current)
        # Backtrack to the innermost level with another choice, undoing its last one.
        while stack:
            choices, bound = stack[-1]
            for name in bound:
                del current[name]
            bound.clear()
            for choice in choices:
                current.update(choice)
                if _consistent(choice, filters, current, relation):
                    bound.extend(choice)
                    break
                for name in choice:
                    del current[name]
            else:
                stack.pop()
                continue
            break
        else:
            return


def _choices(
    unbound: list[str],
    joins: list[_Join],
    current: dict[str, str],
    relation: Callable[[str], Relation],
    types: Mapping[str, Mapping[str, object]],
) -> Iterator[dict[str, str]]:
    # Chosen anew at each level, because earlier bindings change the numbers.
    best: tuple[Atom, list[Row]] | None = None
    for atom, names in joins:
        if all(name in current for name in names):
            continue
        pattern = [current.get(a) if a[0] == "?" else a for a in atom.args]
        rows = relation(atom.predicate).rows(pattern)
        if best is None or len(rows) < len(best[1]):
            best = atom, rows
    smallest = min(unbound, key=lambda name: len(types[name]))
    if best is None or len(types[smallest]) < len(best[1]):
        return iter([{smallest: value} for value in types[smallest]])
    return _matches(best[0], best[1], current, types)


def _matches(
    atom: Atom, rows: list[Row], current: dict[str, str], types: Mapping[str, Mapping[str, object]]
) -> Iterator[dict[str, str]]:
    fixed = dict(current)
    for row in rows:
        bound: dict[str, str] = {}
        for arg, value in zip(atom.args, row, strict=True):
            if arg[0] != "?":
                if arg != value:
                    break
            elif (known := fixed.get(arg) or bound.get(arg)) is not None:
                if known != value:
                    break
            elif value in types[arg]:
                bound[arg] = value
            else:
                break
        else:
            yield bound


def _consistent(
    choice: Mapping[str, str],
    filters: Mapping[str, list[_Filter]],
    current: Mapping[str, str],
    relation: Callable[[str], Relation],
) -> bool:
    keys = current.keys()
    for name in choice:
        for literal, positive, names in filters[name]:
            if names <= keys and not is_true(literal, positive, current, relation):
                return False
    return True


def is_true(
    literal: Atom | Equal,
    positive: bool,
    current: Mapping[str, str],
    relation: Callable[[str], Relation],
) -> bool:
    """Return whether a literal has the truth value `positive`; its variables must be bound."""
    if isinstance(literal, Equal):
        left = current.get(literal.left, literal.left)
        right = current.get(literal.right, literal.right)
        return (left == right) == positive
    row = tuple([current.get(a, a) for a in literal.args])
    return (row in relation(literal.predicate)) == positive


def _variables(literal: Atom | Equal) -> set[str]:
    names = (literal.left, literal.right) if isinstance(literal, Equal) else literal.args
    return {n for n in names if n[0] == "?"}

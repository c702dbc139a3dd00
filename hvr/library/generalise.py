"""The least general form of several macro actions: anti-unification (Plotkin 1970).

Where all members agree, the form says what they say; where they stand for different kinds of
objects, it has a variable of their least common superclass in the ontology. Conditions are
those that all members have, up to this renaming.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.knowledge.ontology import Ontology
from hvr.library.entry import Entry
from hvr.library.literals import Literal, bind_literal, literal_text, variables_of
from hvr.pddl import is_variable

_ROOT = "PhysicalObject"


@dataclass(frozen=True)
class GeneralForm:
    """What the members of a cluster have in common.

    Args:
        name: the words that all names have, with `…` where they differ.
        parameters: variables and their ontology classes.
        precondition: literals that all members need.
        postcondition: literals that all members bring about.
        roles: for each member's id, which of its variables play which part.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    roles: Mapping[str, Mapping[str, str]]

    def class_of(self, entry: Entry, variable: str) -> str | None:
        """Return the class that the part of a member's variable is open to, or None."""
        part = self.roles.get(entry.id, {}).get(variable)
        return dict(self.parameters).get(part) if part else None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "parameters": [list(p) for p in self.parameters],
            "precondition": list(self.precondition),
            "postcondition": list(self.postcondition),
        }


def generalise(members: Sequence[Entry], ontology: Ontology) -> GeneralForm:
    """Return the least general form of some macro actions.

    Args:
        members: one or more, in order.
        ontology: the classes.
    """
    first = members[0]
    maps = [_alignment(first, other) for other in members]
    common = [v for v in first.types if all(v in m.values() for m in maps)]
    classes: dict[str, str] = {}
    for variable in common:
        kinds = [
            member.types[next(w for w, v in m.items() if v == variable)]
            for member, m in zip(members, maps, strict=True)
        ]
        classes[variable] = least_common_class(kinds, ontology)
    renamed = _renamed(classes)
    roles = {
        member.id: {w: renamed[v] for w, v in m.items() if v in renamed}
        for member, m in zip(members, maps, strict=True)
    }
    return GeneralForm(
        _name(members, roles),
        tuple((renamed[v], classes[v]) for v in common),
        _common([m.needs for m in members], [roles[m.id] for m in members]),
        _common([m.effects for m in members], [roles[m.id] for m in members]),
        roles,
    )


def least_common_class(pddl_types: Sequence[str], ontology: Ontology) -> str:
    """Return the most special class of the ontology above all of some PDDL types.

    Of several that are not above one another, the one with fewest object types below it.
    """
    classes = [ontology.class_of_pddl_type(t) for t in pddl_types]
    if None in classes:
        return _ROOT
    above = [ontology.superclasses(c, reflexive=True) for c in classes if c is not None]
    shared = frozenset.intersection(*above)
    least = [
        c for c in shared if not any(o != c and ontology.is_a(o, c) for o in shared)
    ]  # fmt: skip
    types = frozenset(ontology.object_types)

    def size(name: str) -> tuple[int, str]:
        return len(ontology.subclasses(name, reflexive=True) & types), name

    return min(least, key=size, default=_ROOT)


def _alignment(base: Entry, other: Entry) -> dict[str, str]:
    """Return which variable of the one plays the part of which of the other.

    By place in the words where the names have the same words, then by what both bring about,
    then by what both need; always the first pair that fits what is known.
    """
    if base is other:
        return {v: v for v in base.types}
    found: dict[str, str] = {}
    for theirs, mine in _by_words(base, other):
        if theirs not in found and mine not in found.values():
            found[theirs] = mine
    for ours, yours in ((base.effects, other.effects), (base.needs, other.needs)):
        # The literals that share most with what is known first.
        for known_only in (True, False):
            for literal in yours:
                _extend(found, literal, ours, known_only=known_only)
    return found


def _by_words(base: Entry, other: Entry) -> Iterator[tuple[str, str]]:
    for mine in base.names:
        for theirs in other.names:
            ours, yours = mine.lower().split(), theirs.lower().split()
            pattern = ["?" if is_variable(w) else w for w in ours]
            if pattern == ["?" if is_variable(w) else w for w in yours]:
                yield from ((b, a) for a, b in zip(ours, yours, strict=True) if is_variable(a))
                return


def _extend(
    found: dict[str, str], literal: Literal, candidates: Sequence[Literal], *, known_only: bool
) -> None:
    atom, positive = literal
    if all(a in found for a in atom.args if is_variable(a)):
        return
    if known_only and not any(a in found for a in atom.args):
        return
    for other, sign in candidates:
        if (
            sign != positive
            or other.predicate != atom.predicate
            or len(other.args) != len(atom.args)
        ):
            continue
        more: dict[str, str] = {}
        for theirs, mine in zip(atom.args, other.args, strict=True):
            if not is_variable(theirs) or not is_variable(mine):
                if theirs != mine:
                    break
            elif found.get(theirs, more.get(theirs)) is not None:
                if found.get(theirs, more.get(theirs)) != mine:
                    break
            elif mine in found.values() or mine in more.values():
                break
            else:
                more[theirs] = mine
        else:
            found.update(more)
            return


def _renamed(classes: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for variable, kind in classes.items():
        number = 1 + sum(classes[v] == kind for v in found)
        found[variable] = f"?{kind.lower()}{number}"
    return found


def _common(
    literals: Sequence[Sequence[Literal]], roles: Sequence[Mapping[str, str]]
) -> tuple[str, ...]:
    sets = [
        {
            literal_text(bind_literal(item, role))
            for item in items
            if variables_of([item]) <= role.keys()
        }
        for items, role in zip(literals, roles, strict=True)
    ]
    return tuple(sorted(set.intersection(*sets)))


def _name(members: Sequence[Entry], roles: Mapping[str, Mapping[str, str]]) -> str:
    """Return the longest common pattern of the first names: words that differ become `…`."""
    names = [
        [roles[m.id].get(w, "…") if is_variable(w) else w.lower() for w in m.name.split()]
        for m in members
    ]
    pattern = names[0]
    for other in names[1:]:
        pattern = _pattern(pattern, other)
    return " ".join(pattern)


def _pattern(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return a longest common subsequence, with `…` where something was left out."""
    rows, columns = len(one), len(other)
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            same = one[i] == other[j] != "…"
            length[i][j] = (
                1 + length[i + 1][j + 1] if same else max(length[i + 1][j], length[i][j + 1])
            )
    found: list[str] = []
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and one[i] == other[j] != "…":
            found.append(one[i])
            i, j = i + 1, j + 1
            continue
        if not found or found[-1] != "…":
            found.append("…")
        if j >= columns or (i < rows and length[i + 1][j] >= length[i][j + 1]):
            i += 1
        else:
            j += 1
    return found

"""Clusters of similar macro actions, and their least general generalisation."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hvr.base.texts import singular
from hvr.knowledge.ontology import Ontology
from hvr.pddl import is_variable
from hvr.planning.library.entry import Entry, Literal, bind_literal, literal_text, variables_of
from hvr.planning.library.library import Library
from hvr.values import JsonObject

# Similarity ---------------------------------------------------------------------------------------
# Similarity of macro actions of any agents, by effects and by words.

_Shape = tuple[str, tuple[str, ...]]
_POSITIVE_WEIGHT = 0.75
"""Weight of positive effects in the similarity of effects; the rest is for negative ones."""

_EFFECT_WEIGHT = 0.5
"""Weight of effects in the similarity of macro actions; the rest is for words."""

_STOP_WORDS = frozenset(["the", "a", "an", "of", "with", "and", "then", "to", "from"])


@dataclass(frozen=True)
class Signature:
    """The features by which macro actions are compared.

    They are the predicates of the postcondition with their argument types, the predicates that
    become true and false with the constants among their arguments, and the words of the name.
    """

    typed: tuple[tuple[str, bool, tuple[str, ...]], ...]
    positive: tuple[_Shape, ...]
    negative: tuple[_Shape, ...]
    words: frozenset[str]


def signature(entry: Entry) -> Signature:
    words = {
        singular(word.lower())
        for name in entry.names
        for word in name.split()
        if not is_variable(word)
    }
    return Signature(
        tuple(
            sorted(
                (atom.predicate, positive, tuple(entry.types.get(a, a) for a in atom.args))
                for atom, positive in entry.effects
            )
        ),
        tuple(sorted(_shapes(entry.effects, True))),
        tuple(sorted(_shapes(entry.effects, False))),
        frozenset(words - _STOP_WORDS),
    )


def similarity(one: Signature, other: Signature) -> float:
    """Return the similarity of two macro actions, from 0 to 1 (1 for equal postconditions)."""
    if one.typed and one.typed == other.typed:
        return 1.0
    effects = _POSITIVE_WEIGHT * _jaccard(one.positive, other.positive)
    effects += (1 - _POSITIVE_WEIGHT) * _jaccard(one.negative, other.negative)
    return _EFFECT_WEIGHT * effects + (1 - _EFFECT_WEIGHT) * _jaccard(one.words, other.words)


def _shapes(literals: Iterable[Literal], sign: bool) -> list[_Shape]:
    return [
        (atom.predicate, tuple("?" if is_variable(a) else a for a in atom.args))
        for atom, positive in literals
        if positive == sign
    ]


def _jaccard(one: Iterable[object], other: Iterable[object]) -> float:
    a, b = Counter(one), Counter(other)
    union = (a | b).total()
    return (a & b).total() / union if union else 1.0


# Generalise ---------------------------------------------------------------------------------------
# Anti-unification (Plotkin 1970): the least general form keeps what all members share. Variables
# of different types become a variable of their least common superclass in the ontology.
# Its conditions are those that all members share, up to this renaming.

_ROOT = "PhysicalObject"


@dataclass(frozen=True)
class GeneralForm(JsonObject):
    """The common form of the members of a cluster.

    Args:
        name: The words that all names share, with `…` for different words.
        parameters: The variables with their ontology classes.
        roles: For each member's id, the general variable of each of its variables.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    precondition: tuple[str, ...]
    postcondition: tuple[str, ...]
    roles: Mapping[str, Mapping[str, str]]

    json_shape = "name parameters precondition postcondition"

    def class_of(self, entry: Entry, variable: str) -> str | None:
        """Return the class that a variable of a member accepts in the general form, or None."""
        part = self.roles.get(entry.id, {}).get(variable)
        return dict(self.parameters).get(part) if part else None


def generalise(members: Sequence[Entry], ontology: Ontology) -> GeneralForm:
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
    """Return the most specific ontology class that contains all of some PDDL types.

    Among several such classes, the one with the fewest object types below it is chosen. If a type
    has no class, the result is the root class.
    """
    classes = [ontology.class_of_pddl_type(t) for t in pddl_types]
    if None in classes:
        return _ROOT
    above = [ontology.superclasses(c, reflexive=True) for c in classes if c is not None]
    shared = frozenset.intersection(*above)
    least = [c for c in shared if not any(o != c and ontology.is_a(o, c) for o in shared)]
    types = frozenset(ontology.object_types)

    def size(name: str) -> tuple[int, str]:
        return len(ontology.subclasses(name, reflexive=True) & types), name

    return min(least, key=size, default=_ROOT)


def _alignment(base: Entry, other: Entry) -> dict[str, str]:
    # Variables correspond by their position in equal names, then by shared effects, then by shared
    # needs; the first consistent pair is taken. Finding the best alignment is a hard problem, so
    # this is greedy, with the strongest evidence first.
    if base is other:
        return {v: v for v in base.types}
    # One-to-one: no variable is used twice on either side.
    parts: dict[str, str] = {}
    for theirs, mine in _by_words(base, other):
        if theirs not in parts and mine not in parts.values():
            parts[theirs] = mine
    for ours, yours in ((base.effects, other.effects), (base.needs, other.needs)):
        # Literals that share a known variable come first: the others could match anywhere, and a
        # wrong pair is never undone.
        for known_only in (True, False):
            for literal in yours:
                _extend(parts, literal, ours, known_only=known_only)
    return parts


def _by_words(base: Entry, other: Entry) -> Iterator[tuple[str, str]]:
    for mine in base.names:
        for theirs in other.names:
            ours, yours = mine.lower().split(), theirs.lower().split()
            pattern = ["?" if is_variable(w) else w for w in ours]
            if pattern == ["?" if is_variable(w) else w for w in yours]:
                yield from ((b, a) for a, b in zip(ours, yours, strict=True) if is_variable(a))
                return


def _extend(
    parts: dict[str, str], literal: Literal, candidates: Sequence[Literal], *, known_only: bool
) -> None:
    atom, positive = literal
    if all(a in parts for a in atom.args if is_variable(a)):
        return
    if known_only and not any(a in parts for a in atom.args):
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
            elif parts.get(theirs, more.get(theirs)) is not None:
                if parts.get(theirs, more.get(theirs)) != mine:
                    break
            elif mine in parts.values() or mine in more.values():
                break
            else:
                more[theirs] = mine
        else:
            parts.update(more)
            return


def _renamed(classes: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for variable, kind in classes.items():
        number = 1 + sum(classes[v] == kind for v in names)
        names[variable] = f"?{kind.lower()}{number}"
    return names


def _common(
    literals: Sequence[Sequence[Literal]], roles: Sequence[Mapping[str, str]]
) -> tuple[str, ...]:
    # Literals with a variable that some member lacks are omitted.
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
    names = [
        [roles[m.id].get(w, "…") if is_variable(w) else w.lower() for w in m.name.split()]
        for m in members
    ]
    pattern = names[0]
    for other in names[1:]:
        pattern = _pattern(pattern, other)
    return " ".join(pattern)


def _pattern(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return a longest common subsequence of two names, in which `…` stands for other words."""
    rows, columns = len(one), len(other)
    # length[i][j] is the number of common words of one[i:] and other[j:], without gaps.
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            same = one[i] == other[j] != "…"
            length[i][j] = (
                1 + length[i + 1][j + 1] if same else max(length[i + 1][j], length[i][j + 1])
            )
    pattern: list[str] = []
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and one[i] == other[j] != "…":
            pattern.append(one[i])
            i, j = i + 1, j + 1
            continue
        if not pattern or pattern[-1] != "…":
            pattern.append("…")
        if j >= columns or (i < rows and length[i + 1][j] >= length[i][j + 1]):
            i += 1
        else:
            j += 1
    return pattern


# Clusters -----------------------------------------------------------------------------------------
# Clusters of equivalent macro actions across agents (paper, section 2.5).
#
# Agglomerative clustering with complete linkage: the two clusters whose least similar members are
# most similar are joined, while these are similar enough. Ties are broken by id, so that the
# clusters of a library are deterministic.

MIN_SIMILARITY = 0.8


@dataclass(frozen=True)
class Cluster(JsonObject):
    """Equivalent macro actions, in order of id."""

    members: tuple[Entry, ...]
    general: GeneralForm

    json_shape = "id agents members=member_ids general"

    @property
    def id(self) -> str:
        """The id of the first member."""
        return self.members[0].id

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(sorted({entry.agent for entry in self.members}))

    @property
    def member_ids(self) -> list[str]:
        return [entry.id for entry in self.members]

    def variants(self, agent: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.members if entry.agent == agent)


def find_clusters(library: Library, ontology: Ontology) -> tuple[Cluster, ...]:
    """Partition the macro actions of a library into clusters, the largest first.

    The similarity of any two members of a cluster is at least `MIN_SIMILARITY`.
    """
    # Entries with equal signatures are similar anyway; grouping them first makes the search fast.
    groups: dict[Signature, list[Entry]] = defaultdict(list)
    for entry in library:
        groups[signature(entry)].append(entry)
    signatures = sorted(groups, key=lambda s: groups[s][0].id)
    clusters = []
    for numbers in _agglomerate(signatures):
        members = sorted((e for n in numbers for e in groups[signatures[n]]), key=lambda e: e.id)
        clusters.append(Cluster(tuple(members), generalise(members, ontology)))
    return tuple(sorted(clusters, key=lambda c: (-len(c.members), c.id)))


def _agglomerate(signatures: list[Signature]) -> list[list[int]]:
    # Links are in a heap with lazy deletion: joined clusters get a new number, and links to old
    # numbers are skipped.
    clusters = {n: [n] for n in range(len(signatures))}
    links: dict[int, dict[int, float]] = defaultdict(dict)
    heap: list[tuple[float, int, int]] = []

    def link(one: int, other: int, value: float) -> None:
        if value >= MIN_SIMILARITY:
            links[one][other] = links[other][one] = value
            heapq.heappush(heap, (-value, min(one, other), max(one, other)))

    for n, mine in enumerate(signatures):
        for m in range(n):
            link(m, n, similarity(signatures[m], mine))
    fresh = len(signatures)
    while heap:
        _, one, other = heapq.heappop(heap)
        if one not in clusters or other not in clusters:
            continue
        joined = clusters.pop(one) + clusters.pop(other)
        # Complete linkage: the similarity of clusters is the minimum; pairs below the limit have
        # no link.
        for third in links[one].keys() & links[other].keys():
            if third in clusters:
                link(fresh, third, min(links[one][third], links[other][third]))
        clusters[fresh] = joined
        fresh += 1
    return list(clusters.values())

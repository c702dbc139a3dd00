"""Clusters of similar macro actions, and their least general form (anti-unification)."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.base.english import singular
from hvr.knowledge.ontology import Ontology
from hvr.pddl import is_variable
from hvr.planning.library.entry import Entry, Literal, bind_literal, literal_text, variables_of
from hvr.planning.library.library import Library

# Similarity ---------------------------------------------------------------------------------------
# Similarity of macro actions, whoever does them: by what they bring about and by words.

_Shape = tuple[str, tuple[str, ...]]
_POSITIVE = 0.75
"""Weight of what is made true in the similarity of effects; the rest is for what is made false."""

_EFFECTS = 0.5
"""Weight of effects in the similarity of macro actions; the rest is for words."""

_SMALL = frozenset(["the", "a", "an", "of", "with", "and", "then", "to", "from"])


@dataclass(frozen=True)
class Signature:
    """The features of a macro action by which it is compared with others.

    Args:
        typed: predicates of the postcondition with the types of their arguments.
        made: predicates that it makes true, with constants.
        undone: predicates that it makes false, with constants.
        words: the words of its names, without variables.
    """

    typed: tuple[tuple[str, bool, tuple[str, ...]], ...]
    made: tuple[_Shape, ...]
    undone: tuple[_Shape, ...]
    words: frozenset[str]


def signature(entry: Entry) -> Signature:
    """Return the signature of a macro action."""
    words = {
        singular(word.lower())
        for name in entry.names
        for word in name.split()
        if not is_variable(word)
    }
    return Signature(
        tuple(
            sorted(
                (atom.predicate, wanted, tuple(entry.types.get(a, a) for a in atom.args))
                for atom, wanted in entry.effects
            )
        ),
        tuple(sorted(_shapes(entry.effects, True))),
        tuple(sorted(_shapes(entry.effects, False))),
        frozenset(words - _SMALL),
    )


def similarity(one: Signature, other: Signature) -> float:
    """Return how alike two macro actions are, from 0 to 1; 1 for the same postcondition, whatever
    the words.
    """
    if one.typed and one.typed == other.typed:
        return 1.0
    effects = _POSITIVE * _jaccard(one.made, other.made)
    effects += (1 - _POSITIVE) * _jaccard(one.undone, other.undone)
    return _EFFECTS * effects + (1 - _EFFECTS) * _jaccard(one.words, other.words)


def _shapes(literals: Iterable[Literal], wanted: bool) -> list[_Shape]:
    return [
        (atom.predicate, tuple("?" if is_variable(a) else a for a in atom.args))
        for atom, positive in literals
        if positive == wanted
    ]


def _jaccard(one: Iterable[object], other: Iterable[object]) -> float:
    a, b = Counter(one), Counter(other)
    union = (a | b).total()
    return (a & b).total() / union if union else 1.0


# Generalise ---------------------------------------------------------------------------------------
# The least general form of several macro actions: anti-unification (Plotkin 1970).
#
# Where all members agree, the form says what they say; where variables stand for different kinds of
# objects, it has a variable of their least common superclass in the ontology. Conditions are
# those that all members have, up to this renaming.

_ROOT = "PhysicalObject"


@dataclass(frozen=True)
class GeneralForm:
    """The common form of the members of a cluster.

    Args:
        name: the words that all names have, with `…` where they differ.
        parameters: variables and their ontology classes.
        precondition: literals that all members need.
        postcondition: literals that all members bring about.
        roles: for each member's id, the parts that its variables play.
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
    """Return the least general form of some macro actions."""
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

    A class may have several superclasses (an apple is food and sliceable), so there may be several
    that are not above one another; of these, the one with the fewest object types below it.
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
    """Return for variables of one entry those of the base that play the same part.

    By place in the words where the names have the same words, then by what both bring about,
    then by what both need; always the first pair that fits what is known. This is greedy: the
    best alignment is a hard problem, and the more telling evidence comes first.
    """
    if base is other:
        return {v: v for v in base.types}
    # One to one: no variable is taken twice on either side.
    parts: dict[str, str] = {}
    for theirs, mine in _by_words(base, other):
        if theirs not in parts and mine not in parts.values():
            parts[theirs] = mine
    for ours, yours in ((base.effects, other.effects), (base.needs, other.needs)):
        # First the literals that share a variable with what is known: the others could match
        # anywhere, and a wrong pair is never taken back.
        for known_only in (True, False):
            for literal in yours:
                _extend(parts, literal, ours, known_only=known_only)
    return parts


def _by_words(base: Entry, other: Entry) -> Iterator[tuple[str, str]]:
    """Yield pairs of variables at the same place of two names that are otherwise equal."""
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
    """Add the variables of a literal, paired with those of the first candidate that matches it."""
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
    """Return the literals that all members have, up to the renaming.

    Literals with a variable that not all members have are left out.
    """
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
    """Return a common pattern of the first names: words that differ become `…`."""
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
    # length[i][j]: words in common of one[i:] and other[j:]; a gap is never one of them.
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
# Clusters of macro actions that do the same, across agents (paper, section 2.5).
#
# Agglomerative clustering with complete linkage: the two clusters whose least similar members
# are most alike are joined, as long as these are alike enough. Ties go by id, so that the same
# library always has the same clusters.

MIN_SIMILARITY = 0.8
"""Macro actions at least this similar may be in one cluster."""


@dataclass(frozen=True)
class Cluster:
    """Macro actions that do the same.

    Args:
        members: in order of id; each agent's blocks are its variants.
        general: what they have in common.
    """

    members: tuple[Entry, ...]
    general: GeneralForm

    @property
    def id(self) -> str:
        """The id of its first member."""
        return self.members[0].id

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that have a variant, in order."""
        return tuple(sorted({entry.agent for entry in self.members}))

    def variants(self, agent: str) -> tuple[Entry, ...]:
        """Return the members that an agent has learnt."""
        return tuple(entry for entry in self.members if entry.agent == agent)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "id": self.id,
            "agents": list(self.agents),
            "members": [entry.id for entry in self.members],
            "general": self.general.to_json(),
        }


def find_clusters(
    library: Library, ontology: Ontology, alike: float = MIN_SIMILARITY
) -> tuple[Cluster, ...]:
    """Return the clusters of a library, the largest first; every macro action is in one.

    Args:
        library: the macro actions.
        ontology: the classes that parameters are generalised to.
        alike: how similar the members of a cluster are at least, from 0 to 1.
    """
    # Entries with one signature are alike anyway; many of them would only make the search slow.
    groups: dict[Signature, list[Entry]] = defaultdict(list)
    for entry in library:
        groups[signature(entry)].append(entry)
    signatures = sorted(groups, key=lambda s: groups[s][0].id)
    clusters = []
    for numbers in _agglomerate(signatures, alike):
        members = sorted((e for n in numbers for e in groups[signatures[n]]), key=lambda e: e.id)
        clusters.append(Cluster(tuple(members), generalise(members, ontology)))
    return tuple(sorted(clusters, key=lambda c: (-len(c.members), c.id)))


def _agglomerate(signatures: list[Signature], alike: float) -> list[list[int]]:
    """Return the clusters as lists of indices.

    A heap of links with lazy deletion: joined clusters get a new number, and links to numbers
    that are gone are skipped when they come up.
    """
    clusters = {n: [n] for n in range(len(signatures))}
    links: dict[int, dict[int, float]] = defaultdict(dict)
    heap: list[tuple[float, int, int]] = []

    def link(one: int, other: int, value: float) -> None:
        if value >= alike:
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
        # Complete linkage: as alike as the least alike; what was not alike enough stays away.
        for third in links[one].keys() & links[other].keys():
            if third in clusters:
                link(fresh, third, min(links[one][third], links[other][third]))
        clusters[fresh] = joined
        fresh += 1
    return list(clusters.values())

"""Clusters of macro actions that do the same, across agents (paper, section 2.5).

Agglomerative clustering with complete linkage: the two clusters whose least similar members
are most alike are joined, as long as these are alike enough. Ties go by id, so that the same
library always has the same clusters.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from hvr.knowledge.ontology import Ontology
from hvr.planning.library.entry import Entry
from hvr.planning.library.generalise import GeneralForm, generalise
from hvr.planning.library.library import Library
from hvr.planning.library.similarity import Signature, signature, similarity

ALIKE = 0.8
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
    library: Library, ontology: Ontology, alike: float = ALIKE
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

"""A library as a value: a set of entries that others can be merged into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hvr.errors import UsageError
from hvr.planning.library.entry import Entry, make
from hvr.values import cached_property

if TYPE_CHECKING:
    from hvr.knowledge.ontology import Ontology
    from hvr.planning.library.clusters import Cluster

FORMAT = "hvr-library-1"
"""The version of the form that libraries are written in."""


class Library:
    """An immutable set of macro actions, in order of id.

    Merging is a set union: commutative, associative and idempotent.

    Args:
        entries: the macro actions; of those with one id what is known is put together.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        merged: dict[str, Entry] = {}
        for entry in entries:
            known = merged.get(entry.id)
            merged[entry.id] = make(entry) if known is None else known.merge(entry)
        self.entries: tuple[Entry, ...] = tuple(merged[i] for i in sorted(merged))
        """The macro actions."""
        self._clusters: dict[Ontology, tuple[Cluster, ...]] = {}

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        return {entry.id: entry for entry in self.entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._by_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Library):
            return NotImplemented
        return self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    def __repr__(self) -> str:
        return f"<Library of {len(self)} macro actions>"

    def merge(self, *others: Library) -> Library:
        """Return the union of this library and others."""
        return Library(entry for library in (self, *others) for entry in library)

    def add(self, entries: Iterable[Entry]) -> Library:
        """Return the library with more entries."""
        return Library((*self.entries, *entries))

    def of_agent(self, agent: str) -> Library:
        """Return only what one agent has learnt."""
        return Library(entry for entry in self.entries if entry.agent == agent)

    def with_use(self, entry_id: str, run: str, *, validated: bool = True) -> Library:
        """Return the library after one more use of an entry in a run.

        Raises:
            UsageError: there is no such entry.
        """
        used = self.find(entry_id)
        rest = (entry for entry in self.entries if entry.id != used.id)
        return Library((*rest, used.with_use(run, validated=validated)))

    def clusters(self, ontology: Ontology) -> tuple[Cluster, ...]:
        """Return the clusters of macro actions that do the same, the largest first.

        They are computed once: a library does not change.
        """
        if ontology not in self._clusters:
            from hvr.planning.library.clusters import find_clusters

            self._clusters[ontology] = find_clusters(self, ontology)
        return self._clusters[ontology]

    def cluster_of(self, entry_id: str, ontology: Ontology) -> Cluster:
        """Return the cluster that an entry is in.

        Raises:
            UsageError: there is no such entry.
        """
        wanted = self.find(entry_id)
        return next(c for c in self.clusters(ontology) if wanted in c.members)

    def find(self, start: str) -> Entry:
        """Return the entry whose id is, or begins with, a text.

        Raises:
            UsageError: there is none, or several.
        """
        wanted = start.strip().lower()
        matching = [entry for entry in self.entries if wanted and entry.id.startswith(wanted)]
        if len(matching) == 1:
            return matching[0]
        if not matching:
            raise UsageError(
                f"the library has no macro action with the id {start!r}: "
                "`hvr library list` shows all"
            )
        ids = ", ".join(entry.id for entry in matching[:5])
        raise UsageError(f"{start!r} begins the ids of {len(matching)} macro actions: {ids}")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"format": FORMAT, "entries": [entry.to_json() for entry in self.entries]}

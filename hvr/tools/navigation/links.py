"""Links of one kind with what is known of each, in both directions, as an immutable value."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from immutables import Map

from hvr.tools.navigation.evidence import UNTRIED, CallEvidence


@dataclass(frozen=True)
class Links:
    """Links between names.

    A change costs O(log n) and copies the list of those that lead to one target, if the link is
    new.

    Args:
        after: by source and target, what is known of the link.
        before: sources by target, sorted.
    """

    after: Map[str, Map[str, CallEvidence]] = field(default_factory=Map)
    before: Map[str, tuple[str, ...]] = field(default_factory=Map, compare=False, repr=False)

    @staticmethod
    def of(pairs: Iterable[tuple[str, str]]) -> Links:
        """Return links of which nothing is known yet."""
        after: dict[str, dict[str, CallEvidence]] = defaultdict(dict)
        before: dict[str, list[str]] = defaultdict(list)
        for source, target in pairs:
            if target not in after[source]:
                after[source][target] = UNTRIED
                before[target].append(source)
        return Links(
            Map({source: Map(targets) for source, targets in after.items()}),
            Map({target: tuple(sorted(sources)) for target, sources in before.items()}),
        )

    def __len__(self) -> int:
        return sum(len(targets) for targets in self.after.values())

    def __iter__(self) -> Iterator[tuple[str, str, CallEvidence]]:
        """Give source, target and evidence, sorted."""
        for source, targets in sorted(self.after.items()):
            yield from ((source, target, targets[target]) for target in sorted(targets))

    def get(self, source: str, target: str) -> CallEvidence | None:
        """Return what is known of a link; None if it is not there."""
        targets = self.after.get(source)
        return None if targets is None else targets.get(target)

    def targets(self, source: str) -> Map[str, CallEvidence]:
        """Return where links from here lead."""
        return self.after.get(source, Map())

    def sources(self, target: str) -> tuple[str, ...]:
        """Return where links to here come from, sorted."""
        return self.before.get(target, ())

    def put(self, source: str, target: str, evidence: CallEvidence) -> Links:
        """Return the links with one new or changed."""
        targets = self.after.get(source, Map())
        after = self.after.set(source, targets.set(target, evidence))
        if target in targets:
            return Links(after, self.before)
        sources = self.before.get(target, ())
        at = bisect_left(sources, source)
        return Links(after, self.before.set(target, (*sources[:at], source, *sources[at:])))

    def add(self, source: str, target: str) -> Links:
        """Return the links with this one, of which nothing is known if it is new."""
        return self if self.get(source, target) is not None else self.put(source, target, UNTRIED)

    def drop(self, source: str, target: str) -> Links:
        """Return the links without this one."""
        targets = self.after.get(source, Map())
        if target not in targets:
            return self
        rest = targets.delete(target)
        after = self.after.set(source, rest) if rest else self.after.delete(source)
        left = tuple(name for name in self.before[target] if name != source)
        before = self.before.set(target, left) if left else self.before.delete(target)
        return Links(after, before)

    def tried(self, source: str, target: str, ok: bool, time: float) -> Links:
        """Return the links after a try of this one, which is made if it is new."""
        evidence = self.get(source, target) or UNTRIED
        return self.put(source, target, evidence.after(ok, time))

    def changed(self, change: Callable[[CallEvidence], CallEvidence]) -> Links:
        """Return the links with each evidence changed; costs O(links)."""
        after = self.after
        for source, targets in self.after.items():
            new = targets
            for target, evidence in targets.items():
                if (made := change(evidence)) is not evidence:
                    new = new.set(target, made)
            if new is not targets:
                after = after.set(source, new)
        return Links(after, self.before)


NO_LINKS = Links()

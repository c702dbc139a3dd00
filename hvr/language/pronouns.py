"""Pronouns: 'it', 'them', 'both', 'two of them', 'the rest', 'the other one'."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.errors import LanguageError
from hvr.knowledge.roles import PLACE, PORTABLE
from hvr.language.draft import MeaningDraft
from hvr.language.meaning import Entity
from hvr.language.syntax import NounPhrase


class Pronouns:
    """Finds what pronouns stand for, of what was spoken of.

    Args:
        draft: the meaning so far.
    """

    def __init__(self, draft: MeaningDraft) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy

    def of(self, thing: NounPhrase, requires: str | None) -> list[int]:
        """Return what 'it', 'them' or 'both' stands for: the latest with the affordance needed.

        What lacks the affordance is passed over ('put the apple in the fridge and close it'); if
        all lack it, the latest is taken, so that the error speaks of what the user meant.

        Raises:
            LanguageError: nothing was spoken of.
        """
        groups = [g for g in self.draft.spoken()
                  if not any(self.draft.entities[n].somewhere for n in g)]  # fmt: skip
        together = thing.many and ("all" in thing.text or "both" in thing.text)
        if together and not groups:  # 'the pan and the cup in cabinets, all of them closed'
            groups = self.draft.spoken(now=True)
        if not groups:
            raise LanguageError(f"it is not clear what {thing.text!r} stands for")
        suited = [g for g in groups if all(self._suits(n, requires) for n in g)]
        count = thing.determiner.count or 0
        if count > 1 or thing.text in {"one", "one of them", "any of them"}:
            return self._some_of((suited or groups)[0], count)
        if "both" in thing.text or "two" in thing.text:
            pair = self._pair(suited)
            if pair:
                return pair
        if "all" in thing.text and thing.many and (union := self._union(suited)):
            return union
        if thing.many:
            several = next((g for g in suited if self._several(g)), None)
            if several is not None:
                return several
            # Things named one by one ('wash a mug. slice an apple. put them …') together.
            carried = [[n for n in g if self.draft.plays(n, PORTABLE)] for g in suited]
            return self._union(carried) or groups[0]
        return (suited or groups)[0]

    def _union(self, groups: Iterable[list[int]]) -> list[int]:
        """Return the entities of all groups, the first spoken of first; of what was cut, the
        pieces.
        """
        union = list(dict.fromkeys(n for group in reversed(list(groups)) for n in group))
        cut = {self.draft.entities[n].cut_from for n in union}
        return [n for n in union if n not in cut]

    def _some_of(self, group: list[int], count: int) -> list[int]:
        """Return the entities for some of the things of a group: 'two of them'."""
        entity = self.draft.entities[group[0]]
        if len(group) > 1 or entity.count == count:
            return group[:count]
        if entity.cut_from is not None:
            return [self.draft.pieces(entity.cut_from, count)]
        return [self.draft.new(entity.replace(count=count))]

    def _pair(self, groups: list[list[int]]) -> list[int]:
        """Return the latest two things of which people say 'both'; none if there are no two."""
        single: list[int] = []
        for group in groups:
            if len(group) == 2 and not single:
                return group
            cut = {self.draft.entities[n].cut_from for n in single}
            if len(group) == 1 and group[0] not in (*single, *cut):
                single.append(group[0])
        return single[1::-1] if len(single) > 1 else []

    def rest(self, thing: NounPhrase, requires: str | None) -> int:
        """Return what is left of the objects of the verb before: 'one in the sink and the other on
        the table'.

        Raises:
            LanguageError: nothing was spoken of of which something can be left.
        """
        draft = self.draft
        named = [n for n in draft.live(draft.objects)
                 if self._suits(n, requires) and not draft.holds_something(n)]  # fmt: skip
        if not named and requires and requires == self.taxonomy.roles.class_of(PLACE):
            outers = [r.outer for r in draft.relations if r.clause == draft.clause]
            named = draft.live(outers)[-1:]  # 'a fork in one drawer and a knife in another'
        if not named:
            raise LanguageError(f"it is not clear what {thing.text!r} is left of")
        known = draft.entities[named[-1]]
        if count := thing.determiner.count:  # 'the other one'
            other = Entity(known.classes, known.text, group=known.group, count=count)
            return draft.new(other.replace(cut_from=known.cut_from, distinct=True))
        before = [n for n, entity in enumerate(draft.entities)
                  if entity.classes == known.classes and entity.cut_from == known.cut_from
                  and (entity.count != 0 or n in named)]  # fmt: skip
        return draft.new(
            Entity(known.classes, known.text, group=known.group, count=0,
                   cut_from=known.cut_from, besides=tuple(before), rest=True)
        )  # fmt: skip

    def _several(self, group: list[int]) -> bool:
        return len(group) > 1 or self.draft.entities[group[0]].count != 1

    def _suits(self, number: int, requires: str | None) -> bool:
        if requires is None:
            return True
        classes = self.draft.entities[number].classes
        return any(
            self.taxonomy.is_a(c, requires)
            or ((p := self.taxonomy.pieces(c)) is not None and self.taxonomy.is_a(p, requires))
            for c in classes
        )

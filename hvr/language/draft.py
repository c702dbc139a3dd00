"""The meaning of a request while it is being put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.roles import CARRIER, PLACE, VESSEL, WORKTOP
from hvr.language.meaning import Ban, Condition, Entity, Meaning, SpatialRelation
from hvr.language.taxonomy import Taxonomy


class MeaningDraft:
    """Entities, what is asked of each, and what was spoken of last.

    Entities are known by their numbers. A number stays taken when its entity turns out to be
    only a means ('in the microwave') or to be another one ('coffee in a cup').

    Args:
        text: the request.
        taxonomy: the class hierarchy.
    """

    def __init__(self, text: str, taxonomy: Taxonomy) -> None:
        self.text = text
        self.taxonomy = taxonomy
        self.entities: list[Entity] = []
        self.relations: list[SpatialRelation] = []
        self.heated_in: list[SpatialRelation] = []
        self.notes: list[str] = []
        self.ordered: list[int] = []
        self.bans: list[Ban] = []
        self.less_exact: list[Ban] = []  # of tools, unless something else is asked of them
        self.clause = 0
        self.requested = False
        self.objects: tuple[int, ...] = ()  # of the latest verb, of which 'the rest' speaks
        self._born: list[int] = []
        self._alias: dict[int, int] = {}
        self._spoken: list[tuple[int, ...]] = []
        self._now: list[tuple[int, ...]] = []
        self._topic: tuple[int, ...] = ()

    def finish(self) -> Meaning:
        """Return the meaning, when all clauses are read."""
        for number, known in enumerate(self.entities):
            if known.source and not self.wanted(number):
                self.forget(number)
        named = {c for entity in self.entities for c in entity.classes}
        return Meaning(
            self.text,
            tuple(self.entities),
            tuple(self.relations),
            self.clause,
            tuple(self.notes),
            ordered=tuple(self.ordered),
            bans=(*self.bans, *(b for b in self.less_exact if not named & set(b.classes))),
        )

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    # --- entities ------------------------------------------------------------------------

    def new(self, entity: Entity) -> int:
        """Add an entity and return its number."""
        self.entities.append(entity)
        self._born.append(self.clause)
        return len(self.entities) - 1

    def change(self, number: int, **fields: object) -> None:
        """Change some fields of an entity."""
        self.entities[number] = self.entities[number].replace(**fields)

    def forget(self, number: int) -> None:
        """Drop an entity that was only a means."""
        # Its place stays, since others refer to entities by number.
        self.entities[number] = Entity((), "")
        self.relations = [r for r in self.relations if number not in (r.inner, r.outer)]
        self.heated_in = [r for r in self.heated_in if number not in (r.inner, r.outer)]

    def live(self, things: Iterable[int]) -> list[int]:
        """Return the entities that some have become, without those that were only means."""
        alive: list[int] = []
        for number in things:
            now = number
            while now in self._alias:
                now = self._alias[now]
            if self.entities[now].classes and now not in alive:
                alive.append(now)
        return alive

    def is_a(self, number: int, *kinds: str) -> bool:
        """Return whether some class of an entity is of one of the kinds."""
        return any(
            self.taxonomy.is_a(c, kind) for c in self.entities[number].classes for kind in kinds
        )

    def plays(self, number: int, *roles: str) -> bool:
        """Return whether some class of an entity has one of some roles."""
        return any(self.taxonomy.plays(c, *roles) for c in self.entities[number].classes)

    def fresh(self, number: int) -> bool:
        """Return whether an entity is spoken of in this clause for the first time."""
        return self._born[number] == self.clause

    # --- what was spoken of --------------------------------------------------------------

    def mention(self, things: Iterable[int]) -> None:
        """Record that things are spoken of in this clause, the less prominent first."""
        group = tuple(things)
        if group:
            self._now.append(group)

    def keep_topic(self, things: Iterable[int]) -> None:
        """Keep what a pronoun stands for as the topic: in 'put bread on it' that is 'it', rather
        than the bread.
        """
        self._topic = tuple(things)

    def end_clause(self, main: Iterable[int]) -> None:
        """Go on to the next clause; `main` is what this one was about."""
        # Last is most prominent: places, then objects, then what 'it' has been all along. Only
        # now do they count, since 'it' does not mean a thing of its own clause.
        self._spoken += [*self._now, tuple(main), self._topic]
        self._now, self._topic = [], ()
        self.clause += 1

    def spoken(self, *, now: bool = False) -> list[list[int]]:
        """Return groups of entities of earlier clauses, the most prominent first.

        Args:
            now: those of this clause too, and first.
        """
        groups = [self.live(group) for group in (*self._spoken, *(self._now if now else ()))]
        return [group for group in reversed(groups) if group]

    def known(self, classes: Sequence[str]) -> int | None:
        """Return the latest entity that 'the …' can mean; its pieces, once it is cut."""
        for number in range(len(self.entities) - 1, -1, -1):
            entity = self.entities[number]
            # 'pour coffee into the cup': the vessel assumed for the coffee is not 'the cup'.
            preferred = entity.classes[:1]
            default = entity.unnamed and (self.fresh(number) or not set(preferred) & set(classes))
            if set(entity.classes) & set(classes) and not (default or entity.somewhere):
                cut = any(
                    self.taxonomy.cuts(c.template)
                    for c in entity.conditions
                    if c.clause < self.clause
                )
                return self.pieces(number, 0) if cut else number
        return None

    def pieces(self, number: int, count: int) -> int:
        """Return the entity for pieces of a thing; the thing itself if it gives none."""
        entity = self.entities[number]
        classes = tuple(p for c in entity.classes if (p := self.taxonomy.pieces(c)))
        if not classes:
            return number
        for other, known in enumerate(self.entities):
            if known.classes == classes and known.count == count:
                return other
        return self.new(
            Entity(
                classes,
                self.taxonomy.label(classes[0]),
                group=entity.group and len(classes) > 1,
                count=count,
                cut_from=number,
            )
        )

    def each_pieces(self, number: int, count: int) -> list[int]:
        """Return the entities for pieces of every kind of thing that an entity means."""
        entity = self.entities[number]
        if not entity.group or entity.count != 0:
            return [self.pieces(number, count)]
        classes = [p for c in entity.classes if (p := self.taxonomy.pieces(c))]
        return [
            self.new(Entity((c,), self.taxonomy.label(c), count=count, cut_from=number))
            for c in classes
        ]

    # --- what is asked of them -----------------------------------------------------------

    def demand(
        self,
        number: int,
        template: str,
        word: str,
        requires: str | None = None,
        *,
        moved: bool = False,
    ) -> None:
        """Ask for a condition."""
        entity = self.entities[number]
        condition = Condition(template, self.clause, word, requires, moved)
        if condition not in entity.conditions:
            self.change(number, conditions=(*entity.conditions, condition))

    def select(self, number: int, template: str) -> None:
        """Mean only things of which a condition holds at the start."""
        self.change(number, selectors=(*self.entities[number].selectors, template))

    def fill(self, number: int, liquid: str) -> None:
        """Ask for a liquid in a vessel."""
        self.change(number, liquid=liquid, liquid_clause=self.clause)

    def come_from(self, things: Iterable[int], place: int) -> None:
        """Mean only things that stand at a place at the start."""
        entity = self.entities[place]
        for number in things:
            self.change(number, place_from=entity.classes, from_name=entity.name)
            if not self.entities[number].group:
                self.change(place, holding=self.entities[number].classes)
        # 'take the egg from the fridge and close it': the place stays known.
        self.change(place, source=True)

    def wanted(self, number: int) -> bool:
        """Return whether something is asked of an entity: it is more than a place or a means."""
        entity = self.entities[number]
        relations = (*self.relations, *self.heated_in)
        related = any(number in (r.inner, r.outer) for r in relations)
        return bool(entity.conditions) or related or entity.liquid is not None

    def placed(self, number: int) -> bool:
        """Return whether a place is asked for."""
        goes_back = self.entities[number].returns is not None
        return goes_back or any(r.inner == number for r in self.relations)

    def holds_something(self, number: int) -> bool:
        """Return whether something is to be on or in an entity."""
        return any(r.outer == number for r in self.relations)

    def outermost(self, number: int) -> int:
        """Return the outermost thing that can be carried of those that an entity is to be on or
        in; the entity itself without one.
        """
        for relation in self.relations:
            if relation.inner == number and self.plays(relation.outer, CARRIER):
                return self.outermost(relation.outer)
        return number

    # --- places --------------------------------------------------------------------------

    def default_vessel(self, number: int) -> bool:
        """Return whether an entity is the unnamed vessel of a liquid: 'coffee', not 'a mug of
        coffee'.
        """
        entity = self.entities[number]
        return entity.liquid is not None and entity.unnamed

    def place(self, things: Iterable[int], outer: int, word: str) -> None:
        """Ask for things to be on or in another; liquids and dishes take it as their vessel.

        Raises:
            LanguageError: nothing can be put there.
        """
        alive = self.live(things)
        # 'put a fork in a cup and put them on the table': the fork goes along in the cup.
        along = {r.inner for r in self.relations if r.inner in alive and r.outer in alive}
        for number in alive:
            if number in along:
                continue
            if number == outer:
                raise LanguageError(f"{self.entities[number].text!r} cannot be put in itself")
            if self.default_vessel(number) and self.plays(outer, VESSEL):
                self._pour_into(number, outer)
            elif self.entities[number].unnamed and self.plays(outer, CARRIER):
                self.replace_vessel(number, outer)
            elif parts := self._bare_parts(number, outer):
                self.forget(number)
                for part in parts:
                    self._relate(part, outer, word)
            else:
                self._relate(number, outer, word)

    def _bare_parts(self, vessel: int, outer: int) -> list[int]:
        """Return the parts of a dish if they go where the vessel assumed for them does not, or a
        single part that is put where nothing is served: 'a cooked egg in the bin'.
        """
        if not self.entities[vessel].unnamed:
            return []
        parts = [r.inner for r in self.relations if r.outer == vessel and r.part]

        def fits(number: int) -> bool:
            return any(o in self.taxonomy.places(c) for c in self.entities[number].classes
                       for o in self.entities[outer].classes)  # fmt: skip

        alone = len(parts) == 1 and not self.plays(outer, WORKTOP)
        bare = alone or not fits(vessel)
        return parts if bare and all(map(fits, parts)) else []

    def _relate(self, inner: int, outer: int, word: str) -> None:
        entity = self.entities[outer]
        if not entity.classes:
            return
        if not self.plays(outer, PLACE):
            raise LanguageError(
                f"things cannot be put on or in {entity.text!r}: it is not a receptacle"
            )
        if self.outermost(outer) == inner:  # two things cannot hold each other
            raise LanguageError(
                f"{entity.text!r} cannot be in {self.entities[inner].text!r} and hold it too"
            )
        relation = SpatialRelation(inner, outer, self.clause, word)
        if relation not in self.relations:
            self.relations.append(relation)
        self.change(inner, rests=False, serve=False)

    def heat_in(self, things: Iterable[int], vessel: int, word: str) -> None:
        """Use a vessel to heat things in: where they stay is seen when all is read."""
        for number in self.live(things):
            self.heated_in.append(SpatialRelation(number, vessel, self.clause, word))

    def replace_vessel(self, vessel: int, outer: int) -> None:
        """Put a named vessel in place of the assumed one, as in 'a salad in a bowl'."""
        self.relations = [
            r.replace(outer=outer) if r.outer == vessel else r for r in self.relations
        ]
        self._become(vessel, outer)

    def _pour_into(self, vessel: int, target: int) -> None:
        """Give the liquid, and what is asked of it, to a named vessel: 'coffee in a cup'."""
        source, entity = self.entities[vessel], self.entities[target]
        self.change(
            target,
            liquid=source.liquid,
            liquid_clause=source.liquid_clause,
            conditions=(*entity.conditions, *source.conditions),
        )
        self.relations = [
            r.replace(inner=target) if r.inner == vessel else r for r in self.relations
        ]
        self._become(vessel, target)

    def _become(self, old: int, new: int) -> None:
        self.forget(old)
        self._alias[old] = new

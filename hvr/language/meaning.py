"""The meaning of a sentence: entities, conditions on them, and relations between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.ontology import BASIN, CARRIER, PLACE, VESSEL, WORKTOP
from hvr.language.cursor import Picks
from hvr.language.taxonomy import Taxonomy, asks
from hvr.values import Value

PORTION = 4
"""Largest number of pieces that reliably fit on a plate or in a bowl."""


_ON_TOP = frozenset({"on", "onto", "upon", "at", "atop", "off"})


class Condition(Value):
    """A PDDL condition on `?x`, requested by a word of the sentence.

    Args:
        template: PDDL text over `?x`.
        clause: 0-based index of the clause that requests it; later clauses win.
        requires: Affordance class that the entity must have, if any.
        moved: Whether the entity is also put somewhere: 'put a clean cup on the table'.
    """

    template: str
    clause: int
    word: str
    requires: str | None = None
    moved: bool = False


NEXT_TO = "next to"
"""Word of a relation between things that stand side by side."""


class SpatialRelation(Value):
    """Entity `inner` is on or in entity `outer` (both by index), with `part` as part of a dish.

    With the word `NEXT_TO`, `inner` is beside `outer` instead.
    """

    inner: int
    outer: int
    clause: int
    word: str
    part: bool = False


class Nearness(Value):
    """An entity is near another thing at the start.

    Args:
        word: The preposition: 'next to', 'left of'.
        classes: Classes that the other thing may have.
        name: Name of the other object, if the request gives it.
    """

    word: str
    classes: tuple[str, ...]
    name: str | None
    text: str


class Entity(Value):
    """A thing, or several of a kind, that the request mentions.

    Args:
        classes: Ontology classes that it may have, most preferred first.
        group: Whether the classes rank equally (a fruit) instead of by preference.
        count: Number of objects; 0 for all, -1 for some (two if there are two).
        selectors: PDDL conditions on `?x` that must hold at the start.
        place_from: Classes of the place where it stands at the start, if given.
        liquid: PDDL name of the liquid that it must contain.
        rests: Whether the object must end on any serving surface.
        serve: Whether the object must end at the preferred serving place.
        unnamed: Whether the object is an implied vessel, such as the cup of 'coffee'.
        cut_from: Index of the entity that these pieces are cut from.
        from_name: Name of the object where it stands at the start, if given.
        from_clause: Index of the clause that gives its initial place, or None.
        from_parts: Whether a drawer or shelf of that place counts as it.
        firm: Whether this reading requires the object to be at its initial place.
        distinct: Whether the entity differs from all other mentioned entities of its class.
        each: Whether objects placed in or on the entity are distributed over its objects.
        every: Whether the request says 'every' or 'all', so that there may be none.
        everything: Whether no noun restricts its kind.
        apart: Whether each object placed in or on the entity gets a separate place.
        used: Whether the object is only a means, such as the pan in which an egg is fried.
        likely: PDDL conditions on `?x` to prefer at the start, if any object satisfies them.
        turns: Condition on `?x` that the verb achieves; objects that already satisfy it are not
            meant.
        somewhere: Whether the entity is a place described only by its neighbourhood.
        besides: Indices of entities whose objects are excluded.
        rest: Whether only the objects used by `besides` are excluded, not all candidates.
        spare: Number of arbitrary objects to leave out.
        holding: Classes of a thing that is on or in it at the start, if given.
        source: Whether the entity is mentioned only as the initial place of another one.
        returns: Index of the clause that returns it to its initial place, or None.
        swapped: Index of the entity to whose initial place it goes instead, or None.
        near: Entities near the object at the start; the nearest object is chosen.
    """

    classes: tuple[str, ...]
    text: str
    group: bool = False
    count: int = 1
    conditions: tuple[Condition, ...] = ()
    selectors: tuple[str, ...] = ()
    place_from: tuple[str, ...] = ()
    liquid: str | None = None
    liquid_clause: int = 0
    name: str | None = None
    rests: bool = False
    serve: bool = False
    unnamed: bool = False
    cut_from: int | None = None
    from_name: str | None = None
    from_clause: int | None = None
    from_parts: bool = False
    firm: bool = False
    distinct: bool = False
    somewhere: bool = False
    near: tuple[Nearness, ...] = ()
    each: bool = False
    every: bool = False
    everything: bool = False
    apart: bool = False
    used: bool = False
    likely: tuple[str, ...] = ()
    turns: str = ""
    besides: tuple[int, ...] = ()
    rest: bool = False
    spare: int = 0
    returns: int | None = None
    swapped: int | None = None
    half: bool = False
    holding: tuple[str, ...] = ()
    source: bool = False


class Ban(Value):
    """A condition that must not hold at any time.

    Args:
        condition: PDDL text over `?x`.
        classes: Classes of the things that it covers; empty for all.
        most: Number of things that may satisfy it at once.
        again: Whether the condition may hold once but not twice.
    """

    condition: str
    classes: tuple[str, ...]
    name: str | None = None
    most: int = 0
    again: bool = False


class Meaning(Value):
    """The meaning of a whole request.

    Args:
        unread: Content words that did not enter the meaning, in the order of the sentence.
        ordered: Indices of clauses that explicitly come after all earlier ones.
        bans: Conditions that must never hold.
        moves: Indices of clauses that move objects, which must not be in place already.
        spelt: Notes on the misspelt words that were corrected.
    """

    text: str
    entities: tuple[Entity, ...]
    relations: tuple[SpatialRelation, ...]
    clauses: int
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    ordered: tuple[int, ...] = ()
    bans: tuple[Ban, ...] = ()
    moves: tuple[int, ...] = ()
    spelt: tuple[str, ...] = ()


# Draft --------------------------------------------------------------------------------------------


class MeaningDraft:
    """The meaning of a request under construction: entities, their conditions, and recent mentions.

    Entities are identified by index. An index stays taken when its entity turns out to be only a
    means ('in the microwave') or the same as another one ('coffee in a cup').
    """

    def __init__(self, text: str, taxonomy: Taxonomy, brackets: Picks | None = None) -> None:
        self.text = text
        self.taxonomy = taxonomy
        self.brackets = brackets or Picks()
        self.entities: list[Entity] = []
        self.relations: list[SpatialRelation] = []
        self.heated_in: list[SpatialRelation] = []
        self.notes: list[str] = []
        self.ordered: list[int] = []
        self.moves: list[int] = []
        self.bans: list[Ban] = []
        self.less_exact: list[Ban] = []  # on tools; dropped if the request uses the tool otherwise
        self.clause = 0
        self.requested = False
        self.objects: tuple[int, ...] = ()  # of the latest verb; 'the rest' refers to them
        self._born: list[int] = []
        self._alias: dict[int, int] = {}
        self._spoken: list[tuple[int, ...]] = []
        self._now: list[tuple[int, ...]] = []
        self._topic: tuple[int, ...] = ()

    def finish(self) -> Meaning:
        """Return the meaning after all clauses have been read."""
        for number, known in enumerate(self.entities):
            if known.source and not self.is_goal(number):
                self.forget(number)
        named = {c for entity in self.entities for c in entity.classes}
        return Meaning(
            self.text,
            tuple(self.entities),
            tuple(self.relations),
            self.clause,
            tuple(self.notes),
            ordered=tuple(self.ordered),
            moves=tuple(self.moves),
            bans=(*self.bans, *(b for b in self.less_exact if not named & set(b.classes))),
        )

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # --- entities ------------------------------------------------------------------------

    def new(self, entity: Entity) -> int:
        self.entities.append(entity)
        self._born.append(self.clause)
        return len(self.entities) - 1

    def change(self, number: int, **fields: object) -> None:
        self.entities[number] = self.entities[number].replace(**fields)

    def forget(self, number: int) -> None:
        """Drop an entity that was only a means."""
        # The slot stays, since other entities are referred to by index.
        self.entities[number] = Entity((), "")
        self.relations = [r for r in self.relations if number not in (r.inner, r.outer)]
        self.heated_in = [r for r in self.heated_in if number not in (r.inner, r.outer)]

    def live(self, things: Iterable[int]) -> list[int]:
        """Replace entities by their successors, without dropped entities and duplicates."""
        alive: list[int] = []
        for number in things:
            now = number
            while now in self._alias:
                now = self._alias[now]
            if self.entities[now].classes and now not in alive:
                alive.append(now)
        return alive

    def is_a(self, number: int, *kinds: str) -> bool:
        """Return whether any class of an entity is a subclass of one of the kinds."""
        return any(
            self.taxonomy.is_a(c, kind) for c in self.entities[number].classes for kind in kinds
        )

    def plays(self, number: int, *roles: str) -> bool:
        """Return whether any class of an entity has one of the roles."""
        return self.taxonomy.any_plays(self.entities[number].classes, *roles)

    def fresh(self, number: int) -> bool:
        """Return whether this clause mentions an entity for the first time."""
        return self._born[number] == self.clause

    # --- mentions ------------------------------------------------------------------------

    def mention(self, things: Iterable[int]) -> None:
        """Record that this clause mentions things, the least prominent first."""
        group = tuple(things)
        if group:
            self._now.append(group)

    def keep_topic(self, things: Iterable[int]) -> None:
        """Make the referent of a pronoun the topic: in 'put bread on it', 'it' stays the topic."""
        self._topic = tuple(things)

    def end_clause(self, main: Iterable[int]) -> None:
        """Advance to the next clause; `main` holds the main objects of this one."""
        # The last group is the most prominent: places, then objects, then the running topic. They
        # are added only now because 'it' never refers to a thing of its own clause.
        self._spoken += [*self._now, tuple(main), self._topic]
        self._now, self._topic = [], ()
        self.clause += 1

    def spoken(self, *, now: bool = False) -> list[list[int]]:
        """Return mentioned groups, most prominent first; `now` adds the current clause's groups."""
        groups = [self.live(group) for group in (*self._spoken, *(self._now if now else ()))]
        return [group for group in reversed(groups) if group]

    def known(
        self, classes: Sequence[str], described: Iterable[str] = (), count: int | None = None
    ) -> int | None:
        """Return the latest entity that 'the …' can refer to, or its pieces once it is cut.

        Args:
            described: Conditions that its description must name. 'The blue ball' does not refer
                to a red ball mentioned before.
            count: Number of things that it must mean, if given: 'the two mugs'.
        """
        for number in range(len(self.entities) - 1, -1, -1):
            entity = self.entities[number]
            if not set(described) <= set(entity.selectors) or count not in {None, entity.count}:
                continue
            # 'pour coffee into the cup': the implied vessel of the coffee is not 'the cup'.
            preferred = entity.classes[:1]
            if entity.everything or (entity.source and self.fresh(number)):
                continue  # 'from the table to the table'
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
        """Return the entity for the pieces of a thing, or the thing itself if it cannot be cut."""
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
        """Return one entity of pieces for each kind of thing that an entity covers."""
        entity = self.entities[number]
        if not entity.group or entity.count != 0:
            return [self.pieces(number, count)]
        classes = [p for c in entity.classes if (p := self.taxonomy.pieces(c))]
        return [
            self.new(Entity((c,), self.taxonomy.label(c), count=count, cut_from=number))
            for c in classes
        ]

    # --- conditions ----------------------------------------------------------------------

    def demand(
        self,
        number: int,
        template: str,
        word: str,
        requires: str | None = None,
        *,
        moved: bool = False,
    ) -> None:
        entity = self.entities[number]
        condition = Condition(template, self.clause, word, requires, moved)
        if condition not in entity.conditions:
            self.change(number, conditions=(*entity.conditions, condition))

    def select(self, number: int, template: str) -> None:
        """Restrict an entity to things that satisfy a condition at the start."""
        self.change(number, selectors=(*self.entities[number].selectors, template))

    def fill(self, number: int, liquid: str) -> None:
        self.change(number, liquid=liquid, liquid_clause=self.clause)

    def come_from(
        self, things: Iterable[int], place: int, word: str = "on", *, firm: bool = False
    ) -> None:
        """Restrict entities to objects that are at a place at the start.

        Unless the word is like 'on', this includes its drawers and shelves.
        """
        entity = self.entities[place]
        for number in things:
            # What stands on the rim of a sink is in the sink, too.
            around = self.taxonomy.with_role(BASIN) if self.plays(place, BASIN) else ()
            classes = tuple(dict.fromkeys((*entity.classes, *around)))
            origin = {"place_from": classes, "from_name": entity.name}
            self.change(number, from_parts=word.split()[0] not in _ON_TOP)
            self.change(number, **origin, from_clause=self.clause, firm=firm)
            if not self.entities[number].group:
                self.change(place, holding=self.entities[number].classes)
        # 'take the egg from the fridge and close it': 'it' must still find the fridge.
        self.change(place, source=True)

    def is_goal(self, number: int) -> bool:
        """Return whether an entity is more than a place or a means."""
        entity = self.entities[number]
        relations = (*self.relations, *self.heated_in)
        related = any(number in (r.inner, r.outer) for r in relations)
        return bool(entity.conditions) or related or entity.liquid is not None

    def placed(self, number: int) -> bool:
        goes_back = self.entities[number].returns is not None
        return goes_back or any(r.inner == number for r in self.relations)

    def holds_something(self, number: int) -> bool:
        return any(r.outer == number for r in self.relations)

    def outermost(self, number: int) -> int:
        """Return the outermost portable container of an entity, or the entity itself."""
        for relation in self.relations:
            if relation.inner == number and self.plays(relation.outer, CARRIER):
                return self.outermost(relation.outer)
        return number

    # --- places --------------------------------------------------------------------------

    def default_vessel(self, number: int) -> bool:
        """Return whether an entity is the implied vessel of a liquid, as in 'coffee'."""
        entity = self.entities[number]
        return entity.liquid is not None and entity.unnamed

    def place(self, things: Iterable[int], outer: int, word: str) -> None:
        """Require things to be on or in an entity, which replaces any implied vessel."""
        alive = self.live(things)
        # 'put a fork in a cup and put them on the table': the fork travels in the cup.
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
        # Parts go where their vessel does not, or if there is only one: 'a cooked egg in the bin'.
        if not self.entities[vessel].unnamed:
            return []
        parts = [r.inner for r in self.relations if r.outer == vessel and r.part]

        def fits(number: int) -> bool:
            return any(
                o in self.taxonomy.places(c)
                for c in self.entities[number].classes
                for o in self.entities[outer].classes
            )

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
                f"{entity.text!r} cannot both be in {self.entities[inner].text!r} and hold it"
            )
        relation = SpatialRelation(inner, outer, self.clause, word)
        if relation not in self.relations:
            self.relations.append(relation)
        self.change(inner, rests=False, serve=False)

    def heat_in(self, things: Iterable[int], vessel: int, word: str) -> None:
        """Record the vessel in which things are heated; `adapt` settles whether they stay."""
        for number in self.live(things):
            self.heated_in.append(SpatialRelation(number, vessel, self.clause, word))

    def replace_vessel(self, vessel: int, outer: int) -> None:
        """Replace an implied vessel by a named one, as in 'a salad in a bowl'."""
        self.relations = [
            r.replace(outer=outer) if r.outer == vessel else r for r in self.relations
        ]
        self._become(vessel, outer)

    def _pour_into(self, vessel: int, target: int) -> None:
        """Move a liquid and its conditions to a named vessel: 'coffee in a cup'."""
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


# Whole requests -----------------------------------------------------------------------------------


def adapt(draft: MeaningDraft) -> None:
    """Adapt relations and conditions to later clauses about the same things.

    A thing that is placed and then cut must be there in pieces. The pan in which an egg is fried
    before it goes on a plate is only a means. The pot in which potatoes are boiled holds hot water.
    """
    for relation in draft.heated_in:
        _heat_in(draft, relation)
    for relation in tuple(draft.relations):
        _move_pieces(draft, relation)


def _heat_in(draft: MeaningDraft, relation: SpatialRelation) -> None:
    """Use the named vessel, and leave things in it that go nowhere else, except pieces."""
    vessel, inner = draft.entities[relation.outer], draft.entities[relation.inner]
    means = draft.taxonomy.methods.used_with(vessel.classes)
    treated = [c for c in inner.conditions if means and asks(c.template, means.achieves)]
    if means and means.in_contents and vessel.liquid and treated:
        warm = treated[0].replace(template=means.in_contents, requires=None)
        draft.change(relation.outer, conditions=(*vessel.conditions, warm))
    if draft.placed(relation.inner) or inner.serve or inner.cut_from is not None:
        draft.change(relation.outer, used=True)
    else:
        draft.relations.append(relation)


def _move_pieces(draft: MeaningDraft, relation: SpatialRelation) -> None:
    """Place the pieces where a thing is put last and then cut."""
    entity = draft.entities[relation.inner]
    cut = next((c for c in entity.conditions if draft.taxonomy.cuts(c.template)), None)
    last = max((r.clause for r in draft.relations if r.inner == relation.inner), default=0)
    if cut is None or relation.clause != last or cut.clause < relation.clause:
        return
    pieces = draft.pieces(relation.inner, 0)
    draft.relations.remove(relation)
    moved = relation.replace(inner=pieces, clause=cut.clause)
    if moved not in draft.relations:
        draft.relations.append(moved)

"""The meaning of a sentence: entities, conditions on them, and relations between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.roles import CARRIER, PLACE, VESSEL, WORKTOP
from hvr.language.taxonomy import Taxonomy, asks
from hvr.values import Value

PORTION = 4
"""Most pieces that are sure to fit on a plate or in a bowl."""


class Condition(Value):
    """A PDDL condition on `?x`, as a word of the sentence asks for it.

    Args:
        template: PDDL text over `?x`.
        clause: number of the clause that asks for it, from 0: later clauses win.
        word: the word, for messages.
        requires: affordance class the entity must have, or None.
        moved: it is asked of a thing that is put somewhere: 'put a clean cup on the table'.
    """

    template: str
    clause: int
    word: str
    requires: str | None = None
    moved: bool = False


class SpatialRelation(Value):
    """Entity `inner` is on or in entity `outer` (by index).

    `part`: as a part of a dish.
    """

    inner: int
    outer: int
    clause: int
    word: str
    part: bool = False


class Nearness(Value):
    """An entity is near some other thing at the start.

    Args:
        word: the preposition: 'next to', 'left of'.
        classes: what the other thing may be.
        name: the other object's own name if it was said.
        text: the words for it, for messages.
    """

    word: str
    classes: tuple[str, ...]
    name: str | None
    text: str


class Entity(Value):
    """A thing, or several of a kind, that is spoken of.

    Args:
        classes: ontology classes that it may be, most preferred first.
        group: the classes are of equal rank (a fruit), not a preference.
        count: how many; 0 for all there are, -1 for some (two if there are two).
        conditions: what shall hold of it.
        selectors: PDDL conditions on `?x` that must hold of it at the start.
        place_from: classes of the place where it stands at the start, if it was said.
        liquid: PDDL name of the liquid that shall be in it.
        name: the object's own name (`mug-1`) if it was said.
        rests: it shall rest on a serving surface, wherever.
        serve: it shall stand at the preferred serving place.
        unnamed: a vessel that no one named: what a dish comes in.
        cut_from: number of the entity that these are pieces of.
        from_name: name of the object where it stands at the start, if it was said.
        distinct: it is another thing than all others of its class that are spoken of.
        each: what is put there goes to each of them, one by one.
        every: all of them in so many words, of which there may be none.
        everything: no noun says of what kind they are.
        apart: every thing that is put there has one of its own.
        used: it shall be used on the way, as the pan in which an egg is fried.
        likely: PDDL conditions on `?x` that hold of it at the start if they hold of any.
        turns: the condition on `?x` that a verb brings about, which something can only be meant
            of which it does not hold yet.
        somewhere: a place of which only is said what is near it.
        besides: numbers of entities whose objects are not meant.
        rest: those of `besides` that are used are not meant, rather than all that they can be.
        spare: how many of all are left out, whichever.
        holding: classes of a thing that is on or in it at the start, if that was said.
        source: it was only said that something stands there at the start.
        returns: number of the clause in which it goes back where it was at the start, or None.
        near: what it is near to, at the start; of several such things the nearest is meant.
        text: the words, for messages.
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
    holding: tuple[str, ...] = ()
    source: bool = False


class Ban(Value):
    """A condition that must not hold at any time.

    Args:
        condition: PDDL text over `?x`.
        classes: of the things that it is about; empty for all.
        name: the object's own name if it was said.
        most: how many things may be so at once.
        again: it may hold once, and not a second time.
    """

    condition: str
    classes: tuple[str, ...]
    name: str | None = None
    most: int = 0
    again: bool = False


class Meaning(Value):
    """The whole request.

    Args:
        text: the sentence.
        entities: everything spoken of.
        relations: what shall be on or in what.
        clauses: number of clauses.
        notes: what had to be assumed or was left out, one sentence each.
        unread: content words that did not enter the meaning, in the order of the sentence.
        ordered: numbers of the clauses that come after all before them, in so many words.
        bans: what must not be.
    """

    text: str
    entities: tuple[Entity, ...]
    relations: tuple[SpatialRelation, ...]
    clauses: int
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    ordered: tuple[int, ...] = ()
    bans: tuple[Ban, ...] = ()


# Draft --------------------------------------------------------------------------------------------
# The meaning of a request while it is being put together.


class MeaningDraft:
    """Entities, what is asked of each, and what was spoken of last.

    Entities are known by their numbers. A number stays taken when its entity turns out to be
    only a means ('in the microwave') or to be another one ('coffee in a cup').
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


# Whole requests -----------------------------------------------------------------------------------
# What a whole request shows of its parts, once all clauses are read.
#
# A thing that is put somewhere and cut is there in pieces; the pan in which an egg is fried before
# it goes on a plate is only used; what potatoes are boiled in holds hot water.


def adapt(draft: MeaningDraft) -> None:
    """Adapt relations and conditions to what the other clauses say of the same things."""
    for relation in draft.heated_in:
        _heat_in(draft, relation)
    for relation in tuple(draft.relations):
        _move_pieces(draft, relation)


def _heat_in(draft: MeaningDraft, relation: SpatialRelation) -> None:
    """Use the vessel that was named, and leave there what goes nowhere else.

    Pieces of a thing need not all fit in.
    """
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
    """Let the pieces be where a thing was to be that is cut up there.

    Where it is put first and then somewhere else, only the last place counts.
    """
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

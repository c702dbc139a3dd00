"""The meaning of a sentence: entities, conditions on them, and relations between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.ontology import BASIN, CARRIER, PLACE, VESSEL, WORKTOP
from hvr.language.cursor import Picks
from hvr.language.taxonomy import Taxonomy, asks
from hvr.values import Value

PORTION = 4
"""Maximum number of pieces that certainly fit on a plate or in a bowl."""


_ON_TOP = frozenset({"on", "onto", "upon", "at", "atop", "off"})


class Condition(Value):
    """A PDDL condition on `?x` that a word of the sentence requests.

    Args:
        clause: 0-based index of the clause that requests it; later clauses take precedence.
        requires: Affordance class that the entity must have, if any.
        moved: Whether the entity is also put somewhere: 'put a clean cup on the table'.
    """

    template: str
    clause: int
    word: str
    requires: str | None = None
    moved: bool = False


NEXT_TO = "next to"
"""Word of a relation between objects that stand side by side."""


class SpatialRelation(Value):
    """Entity `inner` is in or on entity `outer` (both are indices).

    With the word `NEXT_TO`, `inner` is beside `outer` instead. With `part`, it is a part of a dish.
    """

    inner: int
    outer: int
    clause: int
    word: str
    part: bool = False


class Nearness(Value):
    """The condition that an entity is near another object at the start.

    Args:
        word: The preposition, such as 'next to'.
        classes: Possible classes of the other object.
        name: Name of the other object, if the request gives it.
        text: The other object in the user's words.
    """

    word: str
    classes: tuple[str, ...]
    name: str | None
    text: str


class Entity(Value):
    """One or more objects that the request mentions.

    Args:
        classes: Possible ontology classes, most preferred first.
        group: Whether all classes are equally preferred, as for 'a fruit'.
        count: Number of objects; 0 for all, -1 for some (two if there are two).
        selectors: PDDL conditions on `?x` that must hold at the start.
        place_from: Classes of the place where the object is at the start, if given.
        liquid: PDDL name of the liquid that it must contain.
        rests: Whether the object must end on any serving surface.
        serve: Whether the object must end at the preferred serving place.
        unnamed: Whether the object is an implied vessel, such as the cup of 'coffee'.
        cut_from: Index of the entity that these pieces are cut from.
        from_name: Name of the place where the object is at the start, if given.
        from_clause: Index of the clause that gives its initial place, or None.
        from_parts: Whether the drawers and shelves of the initial place count as this place.
        firm: Whether this reading requires the object to be at its initial place.
        soft: Whether the initial place may also be where the action happens: 'in the sink'.
        distinct: Whether the entity differs from all other mentioned entities of its class.
        nth: Minimum number of objects of its class that must exist: 2 for 'the second mug'.
        each: Whether each of its objects gets the number placed there: 'a fork in each drawer'.
        every: Whether the request says 'every' or 'all', in which case there may be no object.
        everything: Whether no noun restricts its class.
        apart: Whether each object placed in or on the entity gets a separate place.
        used: Whether the object is only a means, such as the pan in which an egg is fried.
        likely: PDDL conditions on `?x` at the start; objects that satisfy them are preferred.
        turns: Condition on `?x` that the verb achieves; objects that already satisfy it are not
            meant.
        somewhere: Whether the entity is a place described only by what is near it.
        besides: Indices of entities whose objects are excluded.
        rest: Whether only the objects used by `besides` are excluded, not all candidates.
        half: Whether only half of the objects are meant.
        spare: Number of arbitrary objects to leave out.
        holding: Classes of an object that is in or on it at the start, if given.
        source: Whether the entity is mentioned only as the initial place of another one.
        returns: Index of the clause that returns it to its initial place, or None.
        swapped: Index of the entity whose initial place it takes instead, or None.
        near: Conditions on nearby objects at the start; the nearest object is chosen.
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
    soft: bool = False
    distinct: bool = False
    nth: int = 0
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
        classes: Classes of the objects that it covers; empty for all.
        name: The only object that it covers, if the request names one.
        most: Number of objects that may satisfy it at once.
        again: Whether the condition may become true once but not twice.
    """

    condition: str
    classes: tuple[str, ...]
    name: str | None = None
    most: int = 0
    again: bool = False


class Meaning(Value):
    """The meaning of a whole request.

    Args:
        unread: Content words that the meaning does not cover, in the order of the sentence.
        ordered: Indices of clauses that explicitly come after all earlier ones.
        bans: Conditions that must never hold.
        moves: Indices of clauses whose objects must not already be at the requested place.
        spelt: Notes on misspelt words that were corrected.
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

    Entities are identified by index. The index is not reused if the entity is dropped as a mere
    means ('in the microwave') or merged into another one ('coffee in a cup').
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
        """Drop an entity with all its relations."""
        # The slot stays, since other entities are referred to by index.
        self.entities[number] = Entity((), "")
        self.relations = [r for r in self.relations if number not in (r.inner, r.outer)]
        self.heated_in = [r for r in self.heated_in if number not in (r.inner, r.outer)]

    def live(self, things: Iterable[int]) -> list[int]:
        """Replace merged entities by their successors, and drop duplicates and dropped entities."""
        alive: list[int] = []
        for number in things:
            now = number
            while now in self._alias:
                now = self._alias[now]
            if self.entities[now].classes and now not in alive:
                alive.append(now)
        return alive

    def is_a(self, number: int, *kinds: str) -> bool:
        """Return whether any class of an entity is a subclass of any class in `kinds`."""
        return any(
            self.taxonomy.is_a(c, kind) for c in self.entities[number].classes for kind in kinds
        )

    def plays(self, number: int, *roles: str) -> bool:
        return self.taxonomy.any_plays(self.entities[number].classes, *roles)

    def fresh(self, number: int) -> bool:
        """Return whether the current clause is the first to mention an entity."""
        return self._born[number] == self.clause

    # --- mentions ------------------------------------------------------------------------

    def mention(self, things: Iterable[int]) -> None:
        """Record that the current clause mentions entities, the least prominent first."""
        group = tuple(things)
        if group:
            self._now.append(group)

    def keep_topic(self, things: Iterable[int]) -> None:
        """Keep the referent of a pronoun as the topic, to which later pronouns then refer too."""
        self._topic = tuple(things)

    def end_clause(self, main: Iterable[int]) -> None:
        """Advance to the next clause, given the main objects of the clause that has just ended."""
        # The last group is the most prominent: places, then objects, then the running topic. They
        # are added only now because 'it' never refers to a thing of its own clause.
        self._spoken += [*self._now, tuple(main), self._topic]
        self._now, self._topic = [], ()
        self.clause += 1

    def spoken(self, *, now: bool = False) -> list[list[int]]:
        """Return the mentioned groups, most prominent first; `now` includes the current clause."""
        groups = [self.live(group) for group in (*self._spoken, *(self._now if now else ()))]
        return [group for group in reversed(groups) if group]

    def known(
        self, classes: Sequence[str], described: Iterable[str] = (), count: int | None = None
    ) -> int | None:
        """Return the last entity that a phrase with 'the' can refer to, or None.

        If an earlier clause has cut the entity, the result is the entity of its pieces.

        Args:
            classes: Possible classes of the phrase.
            described: Conditions that the entity's description must include. 'The blue ball' does
                not refer to a red ball mentioned before.
            count: Number of objects that the phrase gives, as in 'the two mugs'.
        """
        for number in range(len(self.entities) - 1, -1, -1):
            entity = self.entities[number]
            if not set(described) <= set(entity.selectors) or count not in {None, entity.count}:
                continue
            several = entity.count != 1 or entity.group
            if several and not set(entity.classes) <= set(classes):
                continue  # 'wash the dishes and put the mug in the sink'
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
        """Return the entity for `count` pieces of an entity (0: all), or itself if it has none."""
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
        """Return an entity of pieces per class for 'all vegetables', else one for all pieces."""
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
        """Restrict an entity to objects that satisfy a condition at the start."""
        self.change(number, selectors=(*self.entities[number].selectors, template))

    def fill(self, number: int, liquid: str) -> None:
        self.change(number, liquid=liquid, liquid_clause=self.clause)

    def come_from(
        self,
        things: Iterable[int],
        place: int,
        word: str = "on",
        *,
        firm: bool = False,
        soft: bool = False,
    ) -> None:
        """Restrict entities to objects that are at a place at the start.

        Unless `word` means 'on', the drawers and shelves of the place are included. For `firm` and
        `soft`, see `Entity`.
        """
        entity = self.entities[place]
        for number in things:
            # What stands on the rim of a sink is in the sink, too.
            around = self.taxonomy.with_role(BASIN) if self.plays(place, BASIN) else ()
            around += self.taxonomy.rims(entity.classes)
            classes = tuple(dict.fromkeys((*entity.classes, *around)))
            origin = {"place_from": classes, "from_name": entity.name}
            self.change(number, from_parts=word.split()[0] not in _ON_TOP)
            self.change(number, **origin, from_clause=self.clause, firm=firm, soft=soft)
            if not self.entities[number].group:
                self.change(place, holding=self.entities[number].classes)
        # 'take the egg from the fridge and close it': 'it' must still find the fridge.
        self.change(place, source=True)

    def is_goal(self, number: int) -> bool:
        """Return whether the goal mentions an entity, by a condition, a relation or a liquid."""
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
        entity = self.entities[number]
        return entity.liquid is not None and entity.unnamed

    def place(self, things: Iterable[int], outer: int, word: str) -> None:
        """Require objects to be in or on an entity, which replaces their implied vessel if it can.

        Raises:
            LanguageError: An object is to be put in itself.
        """
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
        if not self.plays(outer, PLACE) and entity.name is None:
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
        """Record the vessel in which objects are heated; `adapt` decides if they stay in it."""
        for number in self.live(things):
            self.heated_in.append(SpatialRelation(number, vessel, self.clause, word))

    def replace_vessel(self, vessel: int, outer: int) -> None:
        self.relations = [
            r.replace(outer=outer) if r.outer == vessel else r for r in self.relations
        ]
        self._become(vessel, outer)

    def _pour_into(self, vessel: int, target: int) -> None:
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
    """Adapt relations and conditions to later clauses about the same objects.

    If an object is placed and then cut, its pieces are placed. The pan in which an egg is fried
    before it goes on a plate is only a means. The pot in which potatoes are boiled contains hot
    water.
    """
    for relation in draft.heated_in:
        _heat_in(draft, relation)
    for relation in tuple(draft.relations):
        _move_pieces(draft, relation)


def _heat_in(draft: MeaningDraft, relation: SpatialRelation) -> None:
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

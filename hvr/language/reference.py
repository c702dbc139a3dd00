"""Reference resolution: from noun phrases and pronouns to entities of the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.ontology import (
    PLACE,
    PORTABLE,
    RUNNING,
    RUNS_INTO,
    SLICE,
    SLICED,
    STORAGE,
    SWITCHES,
    VESSEL,
    WORKTOP,
)
from hvr.language.lexicon import Adjective, Dish, Noun
from hvr.language.meaning import Condition, Entity, MeaningDraft, Nearness, SpatialRelation
from hvr.language.modifiers import AdjectiveUse, apply_adjective, qualify
from hvr.language.syntax import Adjunct, Determiner, Nearby, NounPhrase, Predication, how_many
from hvr.language.taxonomy import Taxonomy, literals
from hvr.values import Value

# Pronouns -----------------------------------------------------------------------------------------
# 'it', 'them', 'both', 'two of them', 'the rest', 'the other one'.


_SPOKEN = frozenset({"it", "them", "both"})


class Pronouns:
    """Resolves pronouns to entities mentioned before."""

    def __init__(self, draft: MeaningDraft) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy

    def of(self, thing: NounPhrase, requires: str | None) -> list[int]:
        """Return the referents of 'it', 'them' or 'both': the last with the required affordance.

        Entities without the affordance are skipped: 'put the apple in the fridge and close it'. If
        all lack it, the last one is returned, so that the error names the object that the user
        meant.
        """
        groups = [
            g for g in self.draft.spoken() if not any(self.draft.entities[n].somewhere for n in g)
        ]
        together = thing.many and ("all" in thing.text or "both" in thing.text)
        if together and not groups:  # 'the pan and the cup in cabinets, all of them closed'
            groups = self.draft.spoken(now=True)
        if not groups and (doors := self._doors(thing, requires)):
            return [self.draft.new(Entity(doors, thing.text, group=True))]
        if not groups:
            raise LanguageError(f"it is not clear what {thing.text!r} refers to: name the thing")
        suited = [g for g in groups if all(self._suits(n, requires) for n in g)]
        count = thing.determiner.count or 0
        if count > 1 or thing.text in {"one", "one of them", "any of them"}:
            return self._some_of((suited or groups)[0], count)
        if "both" in thing.text or "two" in thing.text:
            pair = self._pair(suited)
            latest = (suited or groups)[0]
            if not pair and len(latest) == 1 and self.draft.entities[latest[0]].count == 1:
                raise LanguageError(f"it is not clear which two things {thing.text!r} refers to")
            if pair:
                return pair
        if "all" in thing.text and thing.many and (union := self._union(suited)):
            return union
        if thing.many:
            several = next((g for g in suited if self._several(g)), None)
            if several is not None:
                return several
            # Unite things that were named one by one: 'wash a mug. slice an apple. put them …'.
            carried = [[n for n in g if self.draft.plays(n, PORTABLE)] for g in suited]
            return self._union(carried) or groups[0]
        if not suited and (doors := self._doors(thing, requires)):
            return [self.draft.new(Entity(doors, thing.text, group=True))]
        return (suited or groups)[0]

    def _doors(self, thing: NounPhrase, requires: str | None) -> tuple[str, ...]:
        able = self.taxonomy.concrete(requires) if requires and thing.text not in _SPOKEN else ()
        last = thing.text.split()[-1]
        return tuple(c for c in able if self.taxonomy.label(c).split()[-1] == last)

    def _union(self, groups: Iterable[list[int]]) -> list[int]:
        union = list(dict.fromkeys(n for group in reversed(list(groups)) for n in group))
        cut = {self.draft.entities[n].cut_from for n in union}
        return [n for n in union if n not in cut]

    def _some_of(self, group: list[int], count: int) -> list[int]:
        entity = self.draft.entities[group[0]]
        if len(group) > 1 or entity.count == count:
            return group[:count]
        if entity.cut_from is not None:
            return [self.draft.pieces(entity.cut_from, count)]
        return [self.draft.new(entity.replace(count=count))]

    def _pair(self, groups: list[list[int]]) -> list[int]:
        single: list[int] = []
        for group in groups:
            if len(group) == 2 and not single:
                return group
            cut = {self.draft.entities[n].cut_from for n in single}
            if len(group) == 1 and group[0] not in (*single, *cut):
                single.append(group[0])
        # The latest was found first; return them in order of mention.
        return single[1::-1] if len(single) > 1 else []

    def rest(self, thing: NounPhrase, requires: str | None) -> int:
        """Return the entity of the remaining objects: 'put one in the sink and the other …'."""
        draft = self.draft
        named = [
            n
            for n in draft.live(draft.objects)
            if self._suits(n, requires) and not draft.holds_something(n)
        ]
        if not named and requires and requires == self.taxonomy.roles.class_of(PLACE):
            outers = [r.outer for r in draft.relations if r.clause == draft.clause]
            named = draft.live(outers)[-1:]  # 'a fork in one drawer and a knife in another'
        if not named:
            raise LanguageError(f"it is not clear what {thing.text!r} refers to: name the things")
        known = draft.entities[named[-1]]
        if count := thing.determiner.count:  # 'the other one'
            other = Entity(known.classes, known.text, group=known.group, count=count)
            return draft.new(other.replace(cut_from=known.cut_from, distinct=True))
        before = [
            n
            for n, entity in enumerate(draft.entities)
            if entity.classes == known.classes
            and entity.cut_from == known.cut_from
            and (entity.count != 0 or n in named)
        ]
        return draft.new(
            Entity(
                known.classes,
                known.text,
                group=known.group,
                count=0,
                cut_from=known.cut_from,
                besides=tuple(before),
                rest=True,
            )
        )

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


# Referents ----------------------------------------------------------------------------------------


class ReferentReading(Value):
    """How the noun phrases of a clause are to be read.

    Args:
        dishes: Whether a word for both a dish and an object ('wine') means the dish.
        wanted: Whether adjectives request states instead of selecting objects.
        requires: Affordance that the referent of 'it' must have.
        condition: Condition that the verb achieves: 'open the closed fridge'.
        moved: Whether the verb moves the objects.
    """

    dishes: bool = False
    wanted: bool = True
    requires: str | None = None
    condition: str = ""
    moved: bool = False

    def use(self, thing: NounPhrase) -> AdjectiveUse:
        """Return the context for reading a noun phrase's adjectives."""
        every = thing.determiner.count == 0
        return AdjectiveUse(self.condition, thing.determiner.definite, self.moved, every)


class Referents:
    """Resolves noun phrases to entities, creating them as needed."""

    def __init__(self, draft: MeaningDraft) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.pronouns = Pronouns(draft)
        self._place = self.taxonomy.roles.class_of(PLACE)

    def all_of(self, things: Iterable[NounPhrase], reading: ReferentReading) -> list[int]:
        entities: list[int] = []
        for thing in self._described_alike(things):
            found = self.of(thing, reading)
            same = next((n for n in found if n in entities), None)
            # No thing of a list may be dropped: 'every lamp and the light'.
            if same is not None and thing.kind == "noun" and len(found) == 1:
                text = self.draft.entities[same].text
                if thing.text != text:
                    raise LanguageError(f"{thing.text!r} means the same as {text!r} here: name it")
            entities += [n for n in found if n not in entities]
        return entities

    def _described_alike(self, things: Iterable[NounPhrase]) -> Iterator[NounPhrase]:
        """Give a bare noun the adjectives of the noun before: 'sliced tomato and lettuce'."""
        shared: tuple[Adjective, ...] = ()
        cut = False
        for thing in things:
            bare = thing.determiner == Determiner() and not (thing.adjectives or thing.dish)
            pieces = [Noun(p) for c in thing.classes if (p := self.taxonomy.pieces(c))]
            if not (bare and thing.kind == "noun") or self._is_cut(thing):
                shared, cut = thing.adjectives, self._is_cut(thing)
            elif cut and pieces:
                yield thing.replace(nouns=tuple(pieces))
                continue
            elif all(self._able(thing, adjective) for adjective in shared):
                yield thing.replace(adjectives=shared)
                continue
            yield thing

    def _is_cut(self, thing: NounPhrase) -> bool:
        wholes = [self.taxonomy.source(c) for c in thing.classes]
        name = thing.text.partition(" ")[2]
        return any(whole is not None and self.taxonomy.label(whole) == name for whole in wholes)

    def control(self, number: int, needed: str | None) -> None:
        """Replace an object that lacks an affordance by its controls: 'turn on the sink'."""
        entity, roles = self.draft.entities[number], self.taxonomy.roles
        if needed is None or any(self.taxonomy.is_a(c, needed) for c in entity.classes):
            return
        ontology = self.taxonomy.ontology
        joins = [p for role in (SWITCHES, RUNS_INTO) for p in roles.players(role)]
        controls = {ontology.domain_of(p) for p in joins if ontology.range_of(p) in entity.classes}
        if able := tuple(sorted(c for c in controls if c and self.taxonomy.is_a(c, needed))):
            near = Nearness("next to", entity.classes, entity.name, entity.text)
            self.draft.change(number, classes=able, name=None, near=(*entity.near, near))

    def _able(self, thing: NounPhrase, adjective: Adjective) -> bool:
        needed = adjective.requires
        kinds = self.taxonomy.concrete_of(thing.classes)
        return needed is not None and all(self.taxonomy.is_a(c, needed) for c in kinds)

    def of(self, thing: NounPhrase, reading: ReferentReading) -> list[int]:
        thing = _cut_before(thing, self.taxonomy)
        entities = self._entities(thing, reading)
        if thing.relative:
            self._relative(thing, entities, reading)
        self._nearby(thing.nearby, entities)
        self.draft.mention(entities)
        return entities

    def _entities(self, thing: NounPhrase, reading: ReferentReading) -> list[int]:
        # 'Of' and slices take precedence over dishes: 'a cup of coffee' is a cup, 'a slice of
        # toast' a slice.
        if thing.kind == "pronoun":
            entities = self.pronouns.of(thing, reading.requires)
            if reading.requires and reading.requires == self._place and not thing.many:
                self.draft.keep_topic(entities)
            return entities
        if thing.kind == "rest":
            return [self.pronouns.rest(thing, reading.requires)]
        if thing.kind == "name":
            return [self._named(thing, reading)]
        if thing.kind == "beside":
            return [self._somewhere(thing)]
        if thing.kind == "everything":
            return [self._everything(thing, reading)]
        if thing.kind == "slices":
            return self._slices(thing, reading)
        if thing.of is not None:
            return self._vessel_of(thing, reading)
        if thing.dish and (reading.dishes or not thing.nouns):
            return self._dish(thing, thing.dish)
        return [self._noun(thing, reading)]

    # --- known entities ------------------------------------------------------------------

    def _known_dish(self, dish: Dish) -> int | None:
        """Return the vessel of a dish mentioned before, such as 'the coffee', or None."""
        entities = self.draft.entities
        for number in range(len(entities) - 1, -1, -1):
            entity = entities[number]
            same = entity.liquid == dish.liquid if dish.liquid else entity.text == dish.word
            if entity.classes and same:
                return number
        makers = self.taxonomy.methods.sources(dish.liquid) if dish.liquid else ()
        return next(
            (r.inner for r in reversed(self.draft.relations) if self.draft.is_a(r.outer, *makers)),
            None,
        )

    def _known_part(self, part: str) -> int | None:
        source = self.taxonomy.source(part)
        return self.draft.known([c for c in (part, source) if c])

    def _somewhere(self, thing: NounPhrase) -> int:
        places = self.taxonomy.standing
        other = not thing.nearby  # 'anywhere else': not where the thing is now
        if other:
            excluded = self.taxonomy.concrete_of(thing.of.classes) if thing.of else ()
            usual = [c for c in places if self.taxonomy.plays(c, WORKTOP, STORAGE)]
            places = tuple(c for c in usual if c not in excluded)
        entity = Entity(places, thing.text, group=True, somewhere=True, distinct=other)
        return self.draft.new(entity)

    # --- things --------------------------------------------------------------------------

    def _use(self, thing: NounPhrase, reading: ReferentReading) -> AdjectiveUse:
        return reading.use(thing).replace(into=reading.requires == self._place)

    def _named(self, thing: NounPhrase, reading: ReferentReading) -> int:
        object_class = self.taxonomy.class_of_type(thing.text.rsplit("-", 1)[0])
        if object_class is None:
            raise LanguageError(f"{thing.text!r} does not name an object: the type is unknown")
        for number, entity in enumerate(self.draft.entities):
            if entity.name == thing.text:
                return number
        number = self.draft.new(Entity((object_class,), thing.text, name=thing.text))
        qualify(self.draft, number, thing.adjectives, self._use(thing, reading))
        return number

    def _everything(self, thing: NounPhrase, reading: ReferentReading) -> int:
        able = self.taxonomy.concrete(reading.requires) if reading.requires else ()
        if "door" in thing.text:  # 'close all the doors' closes no book
            able = tuple(c for c in able if not self.taxonomy.plays(c, PORTABLE)) or able
        classes = able or self.taxonomy.portable
        return self.draft.new(
            Entity(classes, thing.text, group=True, count=0, every=True, everything=True)
        )

    def _noun(self, thing: NounPhrase, reading: ReferentReading) -> int:
        determiner = thing.determiner
        classes = self.taxonomy.concrete_of(thing.classes)
        if any(self.taxonomy.slices_it(a.condition) for a in thing.adjectives):
            # 'a sliced tomato' means a slice: the tomato no longer exists once it is cut.
            pieces = [p for c in classes if (p := self.taxonomy.pieces(c))]
            if len(pieces) > 1 and determiner.count != 1:
                raise LanguageError(
                    f"{thing.text} of several kinds, sliced: say how many slices of what"
                    f"{self.taxonomy.example('slices')}"
                )
            if pieces:
                return self._pieces(thing, tuple(pieces[:1]), determiner.count or 1, reading)
        same = determiner.definite and (determiner.count or 0) > 0
        if not determiner.other and (determiner.count is None or same):
            described = [a.condition for a in thing.adjectives if a.selects]
            known = self.draft.known(classes, described, determiner.count)
            if known is not None:
                qualify(self.draft, known, thing.adjectives, self._use(thing, reading))
                return known
        group = self._is_group(thing, classes)
        count = how_many(thing, group)
        fixed = not any(self.taxonomy.plays(c, PORTABLE) for c in classes)
        runs = self.taxonomy.roles.bearer(RUNNING)
        fixed = fixed or (runs is not None and reading.requires == runs)  # 'candles on'
        if determiner.count is None and count < 0 and fixed and reading.requires != self._place:
            count = 0  # 'lights off', 'close drawers': they are always there
        if count == 1 and self._ends_all(thing, reading):
            count = 0
        before: tuple[int, ...] = ()
        if determiner.other and count == 0:
            classes, before = self._remaining(classes)
        if determiner.other and determiner.count == 0 and not before:
            raise LanguageError(f"it is not clear what the rest of the {thing.text} is")
        number = self.draft.new(
            Entity(
                classes,
                thing.text,
                group=group,
                count=count,
                distinct=determiner.other and count != 0,
                nth=determiner.nth,
                each=determiner.each,
                half=determiner.half,
                every=determiner.count == 0,
                apart=determiner.apart,
                besides=before,
                rest=determiner.other and count == 0,
            )
        )
        qualify(self.draft, number, thing.adjectives, self._use(thing, reading))
        return number

    def _ends_all(self, thing: NounPhrase, reading: ReferentReading) -> bool:
        ended = {wanted for _, wanted in literals(reading.condition)} == {False}
        whole = any(noun.collective for noun in thing.nouns)
        return ended and whole and thing.determiner.count is None

    def _alike(self, classes: Iterable[str]) -> tuple[int, ...]:
        kinds = set(classes)
        return tuple(n for n, e in enumerate(self.draft.entities) if kinds & set(e.classes))

    def _remaining(self, classes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the classes of 'the rest of the bread', and the earlier entities to leave out."""
        pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
        if not (before := self._alike(classes)) and (cut := self._alike(pieces)):
            return pieces, cut
        return classes, before

    def _is_group(self, thing: NounPhrase, classes: Sequence[str]) -> bool:
        plural = any(noun.plural for noun in thing.nouns) or thing.determiner.count == 0
        leads = len(self.taxonomy.concrete(thing.nouns[0].object_class)) == 1
        return len(classes) > 1 and (plural or not leads)

    def _slices(self, thing: NounPhrase, reading: ReferentReading) -> list[int]:
        count = thing.determiner.count
        assert count is not None
        if thing.determiner.other and thing.of is None and count >= 0:  # 'the other slices'
            return [self.pronouns.rest(thing, reading.requires)]
        if thing.of is not None and thing.of.kind == "pronoun" and thing.of.many:
            sources = (
                self.draft.entities[n].cut_from
                for n in self.pronouns.of(thing.of, reading.requires)
            )
            each = [p for n in sources if n is not None for p in self.draft.each_pieces(n, count)]
            if each:
                return each  # 'a slice of each'
        if thing.of is None or thing.of.kind == "pronoun":
            return self._slices_spoken_of(thing, count, reading)
        of = thing.of
        if of.dish and not of.nouns:
            return self._dish(of, of.dish, count)
        if not of.nouns:
            raise LanguageError(
                f"say what the slice of {of.text!r} is cut from{self.taxonomy.example('slice')}"
            )
        object_class = of.nouns[0].object_class
        parts = self.taxonomy.slices(object_class)
        if of.determiner.count == 0 and len(parts) > 1:  # 'a slice of each vegetable'
            return [
                self.draft.new(Entity((p,), self.taxonomy.label(p), count=count)) for p in parts
            ]
        if object_class not in self.taxonomy.concrete(object_class) and parts:
            # 'a piece of fruit'
            return [self.draft.new(Entity(parts, of.text, group=True, count=count))]
        pieces = self.taxonomy.pieces(object_class)
        if pieces is None and self.taxonomy.plays(object_class, SLICE):
            pieces = object_class
        if pieces is None and object_class not in self.taxonomy.concrete(object_class):
            # 'a piece of cutlery', 'every piece of furniture'
            whole = of.replace(determiner=thing.determiner, adjectives=thing.adjectives)
            return [self._noun(whole, reading)]
        if pieces is None or not self.taxonomy.plays(pieces, SLICE):
            raise LanguageError(f"{self.taxonomy.a_label(object_class)} cannot be cut into slices")
        return [self._pieces(thing, (pieces,), count, reading)]

    def _slices_spoken_of(
        self, thing: NounPhrase, count: int, reading: ReferentReading
    ) -> list[int]:
        for group in self.draft.spoken(now=True):
            slices = [s for number in group if (s := self._slices_from(number, count)) is not None]
            if slices:
                slices = slices if count == 0 else slices[:1]
                for number in slices:
                    self._describe_pieces(number, thing, reading)
                return slices
        able = self.taxonomy.concrete(reading.requires) if reading.requires else ()
        kinds = tuple(c for c in able if self.taxonomy.plays(c, SLICE))
        if len(kinds) == 1:  # 'toast two slices'
            return [self._pieces(thing, kinds, count, reading)]
        raise LanguageError(f"{thing.text} of what? Say it{self.taxonomy.example('slice')}")

    def _slices_from(self, number: int, count: int) -> int | None:
        entity = self.draft.entities[number]
        if entity.cut_from is not None:
            return self.draft.pieces(entity.cut_from, count)
        if self.draft.plays(number, SLICE):
            return number
        able = self.taxonomy.roles.bearer(SLICED)
        return self.draft.pieces(number, count) if able and self.draft.is_a(number, able) else None

    def _pieces(
        self, thing: NounPhrase, classes: tuple[str, ...], count: int, reading: ReferentReading
    ) -> int:
        if thing.determiner.definite and not thing.determiner.other:
            known = self.draft.known(classes)
            if known is not None:
                self._describe_pieces(known, thing, reading)
                return known
        number = self.draft.new(Entity(classes, self.taxonomy.label(classes[0]), count=count))
        self._describe_pieces(number, thing, reading)
        return number

    def _describe_pieces(self, number: int, thing: NounPhrase, reading: ReferentReading) -> None:
        # Pieces that are cut only now cannot be selected by their initial state: 'slice an apple
        # and put the chilled slices on a plate'.
        adjectives = [
            a
            for a in (*thing.adjectives, *(thing.of.adjectives if thing.of else ()))
            if not self.taxonomy.slices_it(a.condition)
        ]
        adjectives = [a for a in adjectives if not self._asked(number, a)]
        use = reading.use(thing)
        if self.draft.entities[number].cut_from is not None:
            use = use.replace(every=False)
        qualify(self.draft, number, adjectives, use)

    def _asked(self, number: int, adjective: Adjective) -> bool:
        asked = {
            part
            for condition in self.draft.entities[number].conditions
            for part in literals(condition.template)
        }
        either = adjective.condition.startswith("(or ")
        return (any if either else all)(part in asked for part in literals(adjective.condition))

    # --- dishes --------------------------------------------------------------------------

    def _dish(self, thing: NounPhrase, dish: Dish, count: int | None = None) -> list[int]:
        asked = thing.determiner.count if count is None else count
        copies = asked if asked and asked > 0 else 1
        if thing.determiner.definite and asked is None:
            known = self._known_dish(dish)
            if known is None and len(dish.parts) == 1:
                known = self._known_part(dish.parts[0].object_class)
            if known is not None:
                qualify(self.draft, known, thing.adjectives)
                return [known]
        draft = self.draft
        if dish.at:
            place = draft.new(Entity((dish.at,), self.taxonomy.label(dish.at)))
            self.add_parts(dish, place, (), copies)
            return [place]
        number = draft.new(
            Entity(
                dish.vessels,
                dish.word,
                liquid=dish.liquid,
                liquid_clause=draft.clause,
                count=copies if dish.liquid else 1,
                unnamed=True,
            )
        )
        if dish.liquid:
            qualify(self.draft, number, thing.adjectives)
        else:
            self.add_parts(dish, number, thing.adjectives, copies)
        return [number]

    def add_parts(
        self, dish: Dish, vessel: int, adjectives: Iterable[Adjective], copies: int = 1
    ) -> None:
        for part in dish.parts:
            conditions: tuple[Condition, ...] = ()
            if part.condition:
                conditions = (Condition(part.condition, self.draft.clause, dish.word),)
            inner = self.draft.new(
                Entity(
                    (part.object_class,),
                    self.taxonomy.label(part.object_class),
                    count=part.count * copies,
                    conditions=conditions,
                )
            )
            self.draft.relations.append(
                SpatialRelation(inner, vessel, self.draft.clause, dish.word, part=True)
            )
            qualify(self.draft, inner, adjectives)

    def _is_its_name(self, thing: NounPhrase, of: NounPhrase) -> bool:
        kinds = {n.object_class for n in thing.nouns}
        return bool(of.nouns) and all(
            any(self.taxonomy.is_a(n.object_class, kind) for kind in kinds) for n in of.nouns
        )

    def _vessel_of(self, thing: NounPhrase, reading: ReferentReading) -> list[int]:
        """Return a vessel with its contents: 'a cup of hot coffee', 'a bowl of salad'."""
        assert thing.of is not None
        if self._is_its_name(thing, thing.of):
            return self.all_of((thing.of,), reading)
        vessels = [n for n in thing.nouns if self.taxonomy.plays(n.object_class, PLACE, VESSEL)]
        place = self.taxonomy.any_plays(thing.of.classes, PLACE) and thing.of.kind == "noun"
        fixed = not self.taxonomy.any_plays(thing.of.classes, PORTABLE)
        if place and (fixed or not any(self.taxonomy.plays(c, VESSEL) for c in thing.classes)):
            at = Predication((), (Adjunct("place", "on", (thing.of,)),))  # 'the pillow of the bed'
            return self._entities(thing.replace(of=None, relative=at), reading)
        if not vessels:
            raise LanguageError(f"hvr does not understand '{thing.text} of {thing.of.text}'")
        bare = NounPhrase("noun", thing.text, thing.determiner, (), tuple(vessels))
        number = self._noun(bare, reading)
        self.put_in(number, thing.of, "of")
        qualify(self.draft, number, thing.adjectives, self._use(thing, reading))
        return [number]

    def put_in(self, vessel: int, thing: NounPhrase, word: str) -> None:
        """Put the complement of 'of' or 'with' into a vessel: a liquid, a dish or objects."""
        draft = self.draft
        dish = thing.dish
        if dish is not None and dish.liquid:
            draft.fill(vessel, dish.liquid)
            qualify(self.draft, vessel, thing.adjectives)
            return
        if dish is not None and dish.parts and not dish.at:
            count = thing.determiner.count
            self.add_parts(dish, vessel, thing.adjectives, count if count and count > 0 else 1)
            return
        for inner in self.of(thing, ReferentReading()):
            if self._is_ingredient(inner, vessel):
                continue
            draft.place([inner], vessel, word)

    def _is_ingredient(self, inner: int, vessel: int) -> bool:
        """Return whether a dish already includes an added object, such as tomato in a salad.

        If it does, the object is dropped. An object that the dish lacks is replaced by its pieces,
        if it has any.
        """
        draft = self.draft
        entity = draft.entities[inner]
        in_dish = [r.inner for r in draft.relations if r.outer == vessel and r.part]
        if inner in in_dish or not (in_dish and entity.classes):
            return inner in in_dish
        wanted = self.taxonomy.pieces(entity.classes[0]) or entity.classes[0]
        if any(draft.entities[other].classes == (wanted,) for other in in_dish):
            draft.forget(inner)
            return True
        draft.change(inner, classes=(wanted,))
        return False

    # --- nearness and relative clauses -----------------------------------------------------

    def _nearby(self, nearby: Iterable[Nearby], things: Iterable[int]) -> None:
        for near in nearby:
            for other in near.things:
                if other.kind == "pronoun" and "door" in other.text and not self.draft.spoken():
                    self.draft.note(f"hvr ignores '{near.word} {other.text}'")
                    continue
                for number in self.of(other, ReferentReading()):
                    entity = self.draft.entities[number]
                    nearness = Nearness(near.word, entity.classes, entity.name, other.text)
                    if not self.draft.is_goal(number):
                        self.draft.forget(number)
                    for thing in things:
                        known = self.draft.entities[thing].near
                        self.draft.change(thing, near=(*known, nearness))

    def _relative(self, thing: NounPhrase, things: list[int], reading: ReferentReading) -> None:
        """Apply a relative clause: 'that is in the fridge', 'which are dirty'."""
        assert thing.relative is not None
        for number in things:
            # 'the egg that was boiled' gets boiled if none is; 'all that are clean' only selects.
            if reading.wanted:
                for adjective in thing.relative.adjectives:
                    apply_adjective(self.draft, number, adjective)
            elif self.draft.entities[number].count == 1:
                qualify(self.draft, number, thing.relative.adjectives, reading.use(thing))
            else:
                for adjective in thing.relative.adjectives:
                    self.draft.select(number, adjective.condition)
        for adjunct in thing.relative.adjuncts:
            furniture = not any(self.draft.plays(n, PORTABLE) for n in things)
            if adjunct.kind == "with" and furniture and thing.determiner.definite:
                held = self.taxonomy.concrete_of(adjunct.classes)
                for number in things if held else ():
                    self.draft.change(number, holding=held)
                self.all_of(adjunct.things, ReferentReading(wanted=False))
                continue
            for other in adjunct.things:
                if adjunct.kind == "with":
                    for number in things:
                        self.put_in(number, other, "with")
                elif adjunct.kind in {"place", "from"}:
                    place = self.of(other, ReferentReading(requires=self._place))[0]
                    self.draft.come_from(things, place, adjunct.word)
                elif adjunct.kind == "unplaced":
                    self._nearby((Nearby(adjunct.word, (other,)),), things)
                else:
                    raise LanguageError(f"hvr does not understand {adjunct.word!r} here")


def _cut_before(thing: NounPhrase, taxonomy: Taxonomy) -> NounPhrase:
    """Rewrite 'a tomato that was cut' as 'a cut tomato', which means its slices."""
    if thing.relative is None:
        return thing
    cut = tuple(a for a in thing.relative.adjectives if taxonomy.slices_it(a.condition))
    if not cut:
        return thing
    others = tuple(a for a in thing.relative.adjectives if a not in cut)
    left = thing.relative.replace(adjectives=others)
    return thing.replace(
        adjectives=(*thing.adjectives, *cut), relative=left if others or left.adjuncts else None
    )

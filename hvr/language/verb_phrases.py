"""Converts verb phrases to conditions on their objects and adjuncts."""

from __future__ import annotations

from hvr.errors import IncompleteError, LanguageError
from hvr.knowledge.ontology import (
    ADJOINS,
    BASIN,
    BIN,
    CARRIER,
    INSTRUMENT,
    OPEN,
    PLACE,
    PORTABLE,
    RUNNING,
    VESSEL,
    WORKTOP,
)
from hvr.language.adjuncts import STATIC, Adjuncts
from hvr.language.dishes import Liquids, Making
from hvr.language.lexicon import Dish, Lexicon, Noun, Verb, verb_for, verb_of
from hvr.language.meaning import NEXT_TO, MeaningDraft, SpatialRelation
from hvr.language.modifiers import apply_adjective, heat_vessel, nothing_at
from hvr.language.negation import leave_out
from hvr.language.reference import ReferentReading, Referents
from hvr.language.spatial import UNDER, beside_named, is_level, settle_nearby, with_as_beside
from hvr.language.syntax import IT, Adjunct, Clause, Determiner, NounGroup, NounPhrase, for_each
from hvr.language.taxonomy import asks, negated

# States -------------------------------------------------------------------------------------------
# Verbs that achieve a state: heat, wash, slice, open, turn on.


class States:
    """Reads the verbs of the frame `state`, which achieve a condition of their objects."""

    def __init__(self, draft: MeaningDraft, adjuncts: Adjuncts, making: Making) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.adjuncts = adjuncts
        self.referents = adjuncts.referents
        self.making = making

    def state(self, verb: Verb, group: NounGroup) -> list[int]:
        """Request the state of a verb; return its objects, or the pieces that they become."""
        condition = verb.condition or ""
        adjuncts = list(group.adjuncts)
        reading = ReferentReading(wanted=False, requires=verb.requires, condition=condition)
        things = self.referents.all_of(group.things, reading)
        for number in things:
            self.referents.control(number, verb.requires)
            if self.draft.fresh(number):
                self.draft.change(number, turns=condition)
            self._demand(number, verb)
            heat_vessel(self.draft, number, condition)
        definite = all(
            t.determiner.definite or t.kind in {"pronoun", "name", "everything"}
            for t in group.things
        )
        if group.things[0].kind == "everything":
            for adjunct in [a for a in adjuncts if a.kind == "place"][:1]:
                adjuncts.remove(adjunct)  # 'wash everything in the sink'
                self.adjuncts.source(things, adjunct)
        vessels: list[int] = []
        for adjunct in adjuncts:
            vessels += self._adjunct(verb, things, adjunct, definite, vessels)
        things = self.draft.live(things)
        if self.taxonomy.cuts(condition):
            # 'slice the tomato and fry it': 'it' now means the slices.
            return [self.draft.pieces(number, 0) for number in things]
        return things

    def _demand(self, number: int, verb: Verb) -> None:
        entity = self.draft.entities[number]
        condition = verb.condition or ""
        floods = any(asks(condition, p) for p in self.taxonomy.methods.floods)
        if floods and entity.liquid and entity.unnamed and self.draft.fresh(number):
            raise LanguageError(f"hvr does not know how to {verb.word} {entity.text!r}")
        if verb.liquid and entity.liquid is None and self.draft.plays(number, VESSEL):
            self.draft.fill(number, verb.liquid)
        if verb.of_dishes and entity.unnamed:
            self.making.leave([number], serving=False)  # 'cook some toast': the dish says how
            return
        if self.taxonomy.cuts(condition) and all(self.taxonomy.source(c) for c in entity.classes):
            self.draft.demand(number, self.taxonomy.there, verb.word)
        else:
            self.draft.demand(number, condition, verb.word, verb.requires)

    def _adjunct(
        self, verb: Verb, things: list[int], adjunct: Adjunct, definite: bool, vessels: list[int]
    ) -> list[int]:
        condition = verb.condition or ""
        cuts = self.taxonomy.cuts(condition)
        if cuts and all(t.kind == "slices" and t.of is None for t in adjunct.things):
            if any(t.determiner.count not in {None, -1, 1} for t in adjunct.things):
                self.draft.note("hvr does not choose the number of slices")
            return []
        live = self.draft.live(things)
        if adjunct.kind in {"means", "unplaced"}:
            self.adjuncts.means(verb, live, adjunct)
        elif adjunct.kind == "with" and self.adjuncts.is_used_anyway(condition, adjunct):
            pass  # 'wash it with water in the sink'
        elif adjunct.kind == "with":
            # 'boil the potato in the pot with water': the nearest vessel holds the contents.
            nearest = [*reversed(self.draft.live(vessels)), *live]
            opens = verb.requires and verb.requires == self.taxonomy.roles.bearer(OPEN)
            if opens and self.adjuncts.describes(live, adjunct):
                return []
            if not self.adjuncts.contents(nearest, adjunct, at_work=True):
                self.adjuncts.means(verb, live, adjunct)
        elif adjunct.kind == "from":
            self.adjuncts.source(live, adjunct)
        else:
            places = self.adjuncts.places(adjunct)
            for outer in places:
                self._place(verb, live, outer, adjunct, definite)
            return [n for n in places if self.draft.plays(n, CARRIER)]
        return []

    def _place(
        self, verb: Verb, things: list[int], outer: int, adjunct: Adjunct, definite: bool
    ) -> None:
        # An appliance that achieves the state is a means, like a knife. Things heated in a pan are
        # in it afterwards. Otherwise 'in' and 'on' before a known place select the thing ('heat the
        # cup on the table'), and all other places are destinations.
        draft, taxonomy = self.draft, self.taxonomy
        condition, methods = verb.condition or "", taxonomy.methods
        liquid = any(draft.entities[n].liquid for n in things)
        classes = draft.entities[outer].classes
        means = methods.used_with(classes)
        where = draft.plays(outer, BASIN) or (
            taxonomy.slices_it(condition) and draft.plays(outer, WORKTOP)
        )
        if where and adjunct.word in STATIC and draft.live(things) and not liquid:
            draft.come_from(things, outer, soft=True)  # which ones, or where to do it
        elif methods.asked_of(condition, classes):
            self.adjuncts.method(verb, things, outer)
        elif means and not liquid and methods.asked_of(condition, means.needs):
            draft.heat_in(things, outer, adjunct.word)
            for number in draft.live(things) if not asks(condition, means.achieves) else ():
                draft.demand(number, means.mark, verb.word)
        elif taxonomy.slices_it(condition) and draft.plays(outer, INSTRUMENT):
            self.adjuncts.forget_means(outer)
        elif taxonomy.cuts(condition) and not draft.plays(outer, WORKTOP):
            for number in things:
                pieces = draft.pieces(number, 0)
                draft.place([pieces], outer, adjunct.word)
        elif adjunct.word in STATIC and (
            (definite and all(t.determiner.definite for t in adjunct.things))
            or not all(draft.plays(n, PORTABLE) for n in things)
        ):
            if any(draft.entities[n].from_clause == draft.clause for n in things):
                place = draft.entities[outer].text
                raise LanguageError(
                    f"two places to {verb.word} something from, one of them {place!r}: name one"
                )
            draft.come_from(things, outer)
        elif taxonomy.slices_it(condition) and draft.plays(outer, WORKTOP):
            self.adjuncts.forget_means(outer)
        else:
            draft.place(things, outer, adjunct.word)


# Verbs --------------------------------------------------------------------------------------------

_IN_HAND = frozenset({"hold", "pick up", "pick", "lift", "grasp", "grab"})
"""Verbs that end with an object in the hand even if it must be made first, unlike 'get'."""


def _with_in_hand(group: NounGroup) -> Adjunct | None:
    pairs = zip(group.adjuncts, group.adjuncts[1:], strict=False)
    return next((one for one, other in pairs if (one.kind, other.kind) == ("with", "hand")), None)


class Interpreter:
    """Converts clauses to entities, conditions and relations.

    The frame of a verb determines how it takes its objects, and each frame has a method. The
    condition that the verb achieves comes from the ontology, so a new verb needs code only if it
    needs a new frame.
    """

    def __init__(self, draft: MeaningDraft, lexicon: Lexicon) -> None:
        self.draft = draft
        self.lexicon = lexicon
        self.taxonomy = draft.taxonomy
        self._portable = self.taxonomy.roles.class_of(PORTABLE)
        self.referents = Referents(draft)
        self.adjuncts = Adjuncts(draft, self.referents)
        self.making = Making(draft, lexicon, self.adjuncts)
        self.states = States(draft, self.adjuncts, self.making)
        self.liquids = Liquids(draft, lexicon, self.adjuncts, self.making.make, self._clear)

    def clause(self, clause: Clause) -> None:
        if clause.given:
            self._as_it_is(clause)
            return
        self.draft.requested = True
        if clause.none:
            self._none(clause.groups[0])
            return
        if clause.purpose:
            self._forget_tools(clause)
        if clause.then or self._switches_with(clause):
            self.draft.ordered.append(self.draft.clause)
        main: list[int] = []
        groups = beside_named(clause.groups, self.taxonomy)
        for group, later in zip(groups, self._later_places(clause), strict=True):
            main += self._group(clause.verb, group, later)
            self.draft.objects = tuple(self.draft.live(main))
        self.draft.end_clause(self.draft.live(main))

    def _forget_tools(self, clause: Clause) -> None:
        """Treat a tool that is fetched only for cutting as a means: 'get a knife to slice it'."""
        if clause.verb is None or not self.taxonomy.cuts(clause.verb.condition or ""):
            return
        hold = verb_of(self.lexicon, "hold").condition or ""
        for number in self.draft.live(self.draft.objects):
            conditions = self.draft.entities[number].conditions
            if self.draft.plays(number, INSTRUMENT) and any(c.template == hold for c in conditions):
                kept = tuple(c for c in conditions if c.template != hold)
                self.draft.change(number, conditions=kept)
                self.adjuncts.forget_means(number)

    def _switches_with(self, clause: Clause) -> bool:
        """Return whether to switch a device on while the previous clause's object is held."""
        # In 'pick up the book and turn on the lamp', the order is part of the request.
        running = self.taxonomy.roles.predicate(RUNNING)
        condition = clause.verb.condition if clause.verb else ""
        return bool(running and asks(condition or "", running)) and self._holds_one()

    def _holds_one(self) -> bool:
        hold = verb_of(self.lexicon, "hold").condition or ""
        return any(
            c.template == hold and c.clause == self.draft.clause - 1
            for n in self.draft.live(self.draft.objects)
            for c in self.draft.entities[n].conditions
        )

    def _as_it_is(self, clause: Clause) -> None:
        main: list[int] = []
        for group in clause.groups:
            things = self.referents.all_of(group.things, ReferentReading(wanted=False))
            for number in things:
                for adjective in group.predicate.adjectives:
                    self.draft.select(number, adjective.condition)
            for adjunct in group.adjuncts:
                if adjunct.kind == "place":
                    self.draft.come_from(things, self.adjuncts.places(adjunct)[0])
            main += things
        self.draft.end_clause(main)

    def _none(self, group: NounGroup) -> None:
        kinds = self.taxonomy.concrete_of(c for t in group.things for c in t.classes)
        for adjunct in group.adjuncts:
            all_of = tuple(t.replace(determiner=Determiner(0)) for t in adjunct.things)
            for place in self.adjuncts.places(adjunct.replace(things=all_of)):
                self.draft.demand(place, nothing_at(self.draft, place, kinds), "be empty")
        if not group.adjuncts:
            needed = next((a.requires for a in group.predicate.adjectives if a.requires), None)
            reading = ReferentReading(wanted=False, requires=needed)
            for number in self.referents.all_of(group.things, reading):
                for adjective in group.predicate.adjectives:
                    self.draft.demand(number, negated(adjective.condition), f"be {adjective.word}")
        self.draft.end_clause(())

    def _later_places(self, clause: Clause) -> list[tuple[Adjunct, ...]]:
        own = [tuple(a for a in g.adjuncts if a.kind == "place") for g in clause.groups]
        return [
            () if places else next((p for p in (*own[i:], *reversed(own[:i])) if p), ())
            for i, places in enumerate(own)
        ]

    def _group(
        self, verb: Verb | None, group: NounGroup, inherited: tuple[Adjunct, ...]
    ) -> list[int]:
        if verb and verb.word == "put on" and self._puts_on(group):  # 'wash it and put on a table'
            places = Adjunct("place", "on", group.things)
            group = NounGroup((IT,), (places, *group.adjuncts), group.predicate)
            verb = verb_of(self.lexicon, "put")
        kinds = self.taxonomy.concrete_of(c for thing in group.things for c in thing.classes)
        if verb is not None and kinds:
            is_a = self.taxonomy.is_a
            verb = verb_for(self.lexicon, verb, lambda able: any(is_a(c, able) for c in kinds))
        frame = verb.frame if verb else ""
        by = tuple(a for a in group.adjuncts if verb and self._is_by(verb, a))
        if verb is not None and by:
            return self._done_by(verb, group, by)
        group = group.replace(adjuncts=tuple(self._under_tap(frame, a) for a in group.adjuncts))
        if frame == "put" and verb is not None and not (inherited or verb.places or verb.condition):
            group = with_as_beside(group)
        if frame == "put" and verb is not None and self._goes_under(group):
            return self._put_under(verb, group, inherited)
        beside = next((a for a in group.adjuncts if self._is_beside(frame, a)), None)
        if beside is not None:
            return self._put_beside(group, beside)
        group = settle_nearby(group, frame, self.taxonomy, placed=bool(inherited))
        if any(adjunct.kind == "together" for adjunct in group.adjuncts):
            return self._together(verb, group, inherited)
        if any(adjunct.kind == "hand" for adjunct in group.adjuncts):
            held = _with_in_hand(group)
            return self._meanwhile(verb, group, held) if held else self._in_hand(verb, group)
        if exceptions := [a for a in group.adjuncts if a.kind == "except"]:
            return self._without(verb, group, exceptions, inherited)
        group = self._for_persons(verb, group)
        if verb is None:
            return self.making.read_state(group)
        if verb.frame == "put" and inherited:
            group = NounGroup(group.things, (*group.adjuncts, *inherited), group.predicate)
        if group.causes_state(verb):  # 'get the potato sliced', 'leave the fridge open'
            return self.making.read_state(group)
        if verb.frame == "hold":
            group = group.attributive()
        frames = {
            "state": self.states.state,
            "put": self._put,
            "set": self._set,
            "clear": self._clear,
            "discard": self._discard,
            "drop": self._drop,
            "hold": self._hold,
            "fill": self.liquids.fill,
            "transfer": self.liquids.pour,
            "empty": self.liquids.empty,
            "swap": self._swap,
            "make": self.making.make,
            "serve": self.making.make,
        }
        things = frames[verb.frame](verb, group)
        for number in self.draft.live(things):
            for adjective in group.predicate.adjectives:
                apply_adjective(self.draft, number, adjective)
        return things

    def _is_beside(self, frame: str, adjunct: Adjunct) -> bool:
        known = self.taxonomy.roles.predicate(ADJOINS) is not None
        return known and frame == "put" and adjunct.kind == "unplaced" and is_level(adjunct.word)

    def _put_beside(self, group: NounGroup, adjunct: Adjunct) -> list[int]:
        draft = self.draft
        moved = ReferentReading(wanted=False, requires=self._portable, moved=True)
        things = self.referents.all_of(group.things, moved)
        others = self.referents.all_of(adjunct.things, ReferentReading(wanted=False))
        if same := set(things) & set(others):
            text = draft.entities[same.pop()].text
            raise LanguageError(f"{text!r} cannot be put next to itself")
        draft.relations += [
            SpatialRelation(thing, other, draft.clause, NEXT_TO)
            for thing in things
            for other in others
        ]
        return things

    def _goes_under(self, group: NounGroup) -> bool:
        under = group.adjuncts[0] if group.adjuncts else None
        return (
            under is not None
            and under.kind == "unplaced"
            and under.word in UNDER
            and all(t.nouns for t in under.things)
            and all(self.taxonomy.plays(c, PORTABLE) for c in under.classes)
        )

    def _put_under(self, verb: Verb, group: NounGroup, inherited: tuple[Adjunct, ...]) -> list[int]:
        """Put a dish under an object, as in 'put a plate under the cake'."""
        under, *others = group.adjuncts
        carried = all(self.taxonomy.any_plays(t.classes, CARRIER) for t in group.things)
        if len(group.things) != 1 or not carried:
            below, top = group.things[0].text, under.things[0].text
            what = f"name one object to put under {top!r}"
            what = what if carried else f"nothing can stand on {below!r}"
            raise LanguageError(f"hvr cannot {verb.word} {below!r} {under.word} {top!r}: {what}")
        place = Adjunct("place", "on", group.things)
        things = self._group(verb, NounGroup(under.things, (place,)), ())
        if others or inherited:
            dish = NounGroup(
                tuple(t.replace(determiner=Determiner(definite=True)) for t in group.things),
                tuple(others),
            )
            things += self._group(verb, dish, inherited)
        return things

    def _under_tap(self, frame: str, adjunct: Adjunct) -> Adjunct:
        if adjunct.kind != "unplaced" or adjunct.word not in UNDER or frame not in {"put", "set"}:
            return adjunct
        thing = adjunct.things[0]
        spoken = self.draft.spoken()[:1] if thing.kind == "pronoun" else []
        classes = [c for group in spoken for n in group for c in self.draft.entities[n].classes]
        classes += thing.classes
        word = next((w for c in classes if (w := self.taxonomy.under(c))), "")
        nouns = tuple(e for e in self.lexicon.lookup(word) if isinstance(e, Noun))
        place = NounPhrase("noun", word, Determiner(definite=True), nouns=nouns)
        return Adjunct("place", "in", (place,)) if word else adjunct

    def _puts_on(self, group: NounGroup) -> bool:
        classes = self.taxonomy.concrete_of(c for thing in group.things for c in thing.classes)
        runs = self.taxonomy.roles.bearer(RUNNING) or ""
        running = any(self.taxonomy.is_a(c, runs) for c in classes)
        return (not running or self._holds_one()) and self.adjuncts.may_hold_spoken(classes)

    def _for_persons(self, verb: Verb | None, group: NounGroup) -> NounGroup:
        persons = [a for a in group.adjuncts if a.kind == "for"]
        if not persons or (verb is not None and verb.frame == "set"):
            return group
        if verb is not None and verb.frame not in {"make", "serve"}:
            raise LanguageError(f"hvr does not understand 'for {persons[0].word}' here")
        count = int(persons[0].word)
        return group.replace(
            things=tuple(for_each(t, count) for t in group.things),
            adjuncts=tuple(a for a in group.adjuncts if a.kind != "for"),
        )

    def _is_by(self, verb: Verb, adjunct: Adjunct) -> bool:
        return (
            verb.by is not None
            and bool(adjunct.things)
            and all(
                any(self.taxonomy.is_a(c, verb.by_class) for c in thing.classes)
                for thing in adjunct.things
            )
        )

    def _done_by(self, verb: Verb, group: NounGroup, by: tuple[Adjunct, ...]) -> list[int]:
        """Require an instrument's state ('by the light of the lamp'); return the verb's objects."""
        rest = group.replace(adjuncts=tuple(a for a in group.adjuncts if a not in by))
        things = self._group(verb, rest, ())
        reading = ReferentReading(wanted=False, requires=verb.by_class)
        for adjunct in by:
            for number in self.referents.all_of(adjunct.things, reading):
                self.draft.demand(number, verb.by or "", verb.word)
        return things

    def _without(
        self,
        verb: Verb | None,
        group: NounGroup,
        exceptions: list[Adjunct],
        inherited: tuple[Adjunct, ...],
    ) -> list[int]:
        group = group.replace(adjuncts=tuple(a for a in group.adjuncts if a not in exceptions))
        things = self._group(verb, group, inherited)
        for adjunct in exceptions:
            if not self._are_others(group, adjunct):
                leave_out(self.referents, things, adjunct.things)
        return things

    def _are_others(self, group: NounGroup, exception: Adjunct) -> bool:
        """Return whether an exception only names other objects: 'the plate but not the bowl'."""
        kinds = [
            {c for t in things for c in self.taxonomy.concrete_of(t.classes)}
            for things in (group.things, exception.things)
        ]
        return exception.word == "but not" and all(kinds) and kinds[0].isdisjoint(kinds[1])

    def _together(
        self, verb: Verb | None, group: NounGroup, inherited: tuple[Adjunct, ...]
    ) -> list[int]:
        """Put objects in the same place; how close together they are is not checked."""
        others = tuple(a for a in group.adjuncts if a.kind != "together")
        rest = group.replace(adjuncts=others)
        self.draft.note("'next to each other' is read as at one place; how near is not checked")
        if inherited or any(a.kind == "place" for a in others):
            return self._group(verb, rest, inherited)
        if len(group.things) > 1:
            *moved, last = group.things
            near = Adjunct("unplaced", "next to", (last,))
            return self._group(verb, rest.replace(things=tuple(moved), adjuncts=(near,)), ())
        things = self.referents.all_of(group.things, ReferentReading(wanted=False))
        places = {r.outer for r in self.draft.relations if r.inner in things}
        if len(things) < 2 or len(places) != 1:
            text = group.things[0].text
            raise LanguageError(f"say where to put {text} next to each other")
        return things

    def _swap(self, verb: Verb, group: NounGroup) -> list[int]:
        things = [*group.things, *(t for a in group.adjuncts if a.kind == "with" for t in a.things)]
        reading = ReferentReading(wanted=False, requires=verb.requires)
        numbers = self.referents.all_of(things, reading)
        if len(numbers) != 2 or any(self.draft.entities[n].count != 1 for n in numbers):
            raise LanguageError(f"name the two things to {verb.word}")
        for number, other in zip(numbers, reversed(numbers), strict=True):
            self.draft.change(number, returns=self.draft.clause, swapped=other)
        return numbers

    def _meanwhile(self, verb: Verb | None, group: NounGroup, held: Adjunct) -> list[int]:
        others = tuple(a for a in group.adjuncts if a is not held and a.kind != "hand")
        self.clause(Clause(verb_of(self.lexicon, "hold"), (NounGroup(held.things),)))
        self.draft.ordered.append(self.draft.clause)
        return self._group(verb, group.replace(adjuncts=others), ())

    def _in_hand(self, verb: Verb | None, group: NounGroup) -> list[int]:
        rest = group.replace(adjuncts=tuple(a for a in group.adjuncts if a.kind != "hand"))
        hold = verb_of(self.lexicon, "hold")
        moved = verb is not None and verb.frame == "put"
        things = self._group(hold if moved else verb, rest, ())
        for number in self.draft.live(things):
            self.draft.change(number, rests=False, serve=False)
            self.draft.demand(number, hold.condition or "", hold.word, hold.requires)
        return things

    # --- moving ---------------------------------------------------------------------------

    def _put(self, verb: Verb, group: NounGroup, *, stays: bool = False) -> list[int]:
        away = verb.places and all(self.taxonomy.plays(c, BIN) for c in verb.places)
        if away and all(t.dish and t.dish.liquid and not t.nouns for t in group.things):
            return self.liquids.empty(verb_of(self.lexicon, "empty"), group)
        things = self.referents.all_of(
            group.things,
            ReferentReading(
                self._poured_rather(group), wanted=False, requires=self._portable, moved=True
            ),
        )
        back = any(a.kind == "origin" for a in group.adjuncts)
        others = tuple(a for a in group.adjuncts if a.kind != "origin")
        places = self.adjuncts.take(verb, things, others)
        things = self._holding_dish(group, things, places)
        if stays:
            places = self.adjuncts.where_they_are(things, places)
        if self.adjuncts.settle(things, places):
            if not verb.word.startswith("leav"):
                self.draft.moves.append(self.draft.clause)
            return things
        if back or (verb.back and not verb.places):
            for number in self.draft.live(things):
                self.draft.change(number, returns=self.draft.clause, rests=False, serve=False)
            self.draft.moves.append(self.draft.clause)
            return things
        return self._put_nowhere(verb, group, things)

    def _holding_dish(
        self, group: NounGroup, things: list[int], places: list[tuple[int, str]]
    ) -> list[int]:
        """Return the dish that holds the objects if 'it' means the dish, else the objects."""
        pronoun = len(group.things) == 1 and group.things[0].text == "it"
        vessels = {
            r.outer
            for r in self.draft.relations
            if r.inner in things
            and r.clause == self.draft.clause - 1
            and self.draft.plays(r.outer, CARRIER)
        }
        if not (pronoun and places and len(vessels) == 1):
            return things
        vessel = vessels.pop()
        place = places[0][0]
        return [vessel] if vessel != place and self.adjuncts.goes_on(vessel, place) else things

    def _poured_rather(self, group: NounGroup) -> bool:
        """Return whether a word means the liquid: 'put wine in a cup', where no bottle fits."""
        kinds = {c for t in group.things if t.dish for c in t.classes}
        places = (c for a in group.adjuncts if a.kind == "place" for c in a.classes)
        vessels = [c for c in places if self.taxonomy.plays(c, VESSEL)]
        return any(v not in self.taxonomy.places(k) for k in kinds for v in vessels)

    def _put_nowhere(self, verb: Verb, group: NounGroup, things: list[int]) -> list[int]:
        live = self.draft.live(things)
        others = all(t.kind == "rest" or t.determiner.other for t in group.things)
        if verb.word.startswith("leav") and others:
            return things  # 'and leave the others' asks for nothing
        if any(a.kind == "from" for a in group.adjuncts) and not verb.places:
            words = (e for e in self.lexicon.lookup("clear") if isinstance(e, Verb))
            verb = next(words, verb)  # 'move everything off the stove'
        if verb.places:
            for number in live:
                self.draft.place([number], self.adjuncts.default_place(verb, number), verb.word)
            return things
        if verb.condition:
            for number in live:
                self.draft.demand(number, verb.condition, verb.word, verb.requires)
            return things
        bare = {"pronoun", "name", "everything"}
        text = " and ".join(t.text if t.kind in bare else f"the {t.text}" for t in group.things)
        raise IncompleteError(
            f"say where to {verb.word} {text}"
            f"{self.taxonomy.example('place', f'{verb.word} {text} ')}"
        )

    def _set(self, verb: Verb, group: NounGroup) -> list[int]:
        """Interpret 'set': 'set the table' makes a dish, and any other object is put somewhere."""
        things = group.things
        dish = next(
            (
                d
                for d in self._dishes()
                if d.at
                and len(things) == 1
                and any(n.object_class == d.at for n in things[0].nouns)
            ),
            None,
        )
        if dish is None or any(a.kind == "place" for a in group.adjuncts):
            return self._put(verb, group)
        place = self.referents.of(things[0], ReferentReading())[0]
        listed = [a for a in group.adjuncts if a.kind == "with"]
        persons = next((int(a.word) for a in group.adjuncts if a.kind == "for"), 1)
        if not listed:
            self.referents.add_parts(dish, place, (), persons)
        for adjunct in group.adjuncts:
            if adjunct.kind == "for":
                continue
            each = adjunct.replace(things=tuple(for_each(t, persons) for t in adjunct.things))
            if adjunct.kind != "with" or not self.adjuncts.contents([place], each):
                raise LanguageError(f"hvr does not understand {adjunct.word!r} here")
        return [place]

    def _dishes(self) -> list[Dish]:
        return sorted(
            {e for es in self.lexicon.entries.values() for e in es if isinstance(e, Dish)},
            key=lambda dish: dish.word,
        )

    def _clear(self, verb: Verb, group: NounGroup) -> list[int]:
        things: list[int] = []
        for thing in group.things:
            numbers = self.referents.of(thing, ReferentReading(wanted=False))
            if self.draft.plays(numbers[0], PORTABLE):
                things += numbers
                continue
            if not self.draft.plays(numbers[0], PLACE):
                raise LanguageError(f"hvr does not know how to {verb.word} {thing.text!r}")
            everything = NounPhrase("everything", f"things on the {thing.text}")
            what = self.referents.of(everything, ReferentReading())
            self.draft.come_from(what, numbers[0])
            things += what
        places = self.adjuncts.take(verb, things, group.adjuncts)
        if not self.adjuncts.settle(things, places):
            self._put_nowhere(verb, group, things)
        return things

    def _discard(self, verb: Verb, group: NounGroup) -> list[int]:
        bins = [a for a in group.adjuncts if a.kind == "place" and self.adjuncts.is_bin(a)]
        if bins:
            rest = [a for a in group.adjuncts if a not in bins]
            return self._put(verb, NounGroup(group.things, (*rest, bins[-1])))
        return self._put(verb, group, stays=True)

    def _drop(self, verb: Verb, group: NounGroup) -> list[int]:
        places = [a for a in group.adjuncts if a.kind == "place"]
        kinds = self.taxonomy.concrete_of(c for a in places for c in a.classes)
        floors = [f"- {self.taxonomy.pddl_type(c)})" in (verb.condition or "") for c in kinds]
        if places and not (floors and all(floors)):
            return self._put(verb, group)  # but 'drop it on the floor' is the plain verb
        reading = ReferentReading(wanted=False, requires=self._portable)
        things = self.referents.all_of(group.things, reading)
        self.adjuncts.take(verb, things, [a for a in group.adjuncts if a not in places])
        for number in self.draft.live(things):
            self.draft.demand(number, verb.condition or "", verb.word, verb.requires)
        return things

    def _hold(self, verb: Verb, group: NounGroup) -> list[int]:
        """Pick up an object, or carry it 'to' or 'into' a place; a dish is prepared first."""
        if any(thing.dish and not thing.nouns for thing in group.things) or any(
            thing.of and thing.kind == "noun" for thing in group.things
        ):
            made = self.making.make(verb, group)
            to_place = any(a.kind == "place" for a in group.adjuncts)
            for number in () if to_place else self.draft.live(made):
                known = not self.draft.fresh(number)
                if known or (verb.word in _IN_HAND and not self.draft.placed(number)):
                    self.draft.change(number, rests=False)
                    self.draft.demand(number, "(holding ?x)", verb.word, verb.requires)
            return made
        things = self.referents.all_of(
            group.things, ReferentReading(wanted=False, requires=verb.requires)
        )
        places = self.adjuncts.take(verb, things, group.adjuncts)
        if group.things[0].kind == "everything" and not places:
            return self._put_nowhere(verb_of(self.lexicon, "clear"), group, things)
        onto_dish = any(
            self.draft.plays(number, CARRIER)
            and self.draft.fresh(number)
            and not any(t.determiner.definite for a in group.adjuncts for t in a.things)
            for number, _ in places
        )  # 'get me an apple on a plate'
        named = all(map(self.draft.fresh, things))  # otherwise 'wash it and get it in the pot'
        if places and named and not onto_dish and all(word in STATIC for _, word in places):
            self.adjuncts.where_they_are(things, places)
            places = []
        if not self.adjuncts.settle(things, places):
            for number in self.draft.live(things):
                self.draft.demand(
                    number, verb.condition or "(holding ?x)", verb.word, verb.requires
                )
        return things

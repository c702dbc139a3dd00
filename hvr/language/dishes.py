"""Dishes and drinks: verbs that prepare, fill and pour, as conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hvr.errors import LanguageError, ProposalError
from hvr.knowledge.ontology import (
    APPARATUS,
    BASIN,
    BESIDE,
    BOTTOMLESS,
    CARRIER,
    FILLED,
    PLACE,
    PORTABLE,
    RUNNING,
    SERVED,
    VESSEL,
)
from hvr.language.adjuncts import Adjuncts
from hvr.language.asides import verb_for
from hvr.language.lexicon import Lexicon, Verb, verb_of
from hvr.language.meaning import PORTION, Entity, MeaningDraft
from hvr.language.modifiers import apply_adjective, check_compatible, emptied
from hvr.language.reference import ReferentReading, Referents
from hvr.language.syntax import Adjunct, NounGroup, NounPhrase, Predication
from hvr.language.taxonomy import negated

# Dishes -------------------------------------------------------------------------------------------


class Making:
    """Reads clauses that describe a result: make, serve, 'I want …'."""

    def __init__(self, draft: MeaningDraft, lexicon: Lexicon, adjuncts: Adjuncts) -> None:
        self.draft = draft
        self.lexicon = lexicon
        self.taxonomy = draft.taxonomy
        self.adjuncts = adjuncts
        self.referents = adjuncts.referents

    def make(self, verb: Verb, group: NounGroup) -> list[int]:
        things = self.referents.all_of(group.things, ReferentReading(dishes=True))
        self._share_dish(things)
        serving = verb.frame == "serve"
        unnamed = all(t.kind == "pronoun" for t in group.things)
        if verb.frame == "make" and unnamed and not (group.adjuncts or group.predicate):
            raise LanguageError(f"say what to {verb.word}: {group.things[0].text!r} is not clear")
        beside: list[NounPhrase] = []
        adjuncts: list[Adjunct] = []
        for adjunct in map(self._in_vessel, group.adjuncts):
            if not serving or adjunct.kind != "with" or adjunct.inside:
                adjuncts.append(adjunct)
                continue
            beside += [t for t in adjunct.things if self._goes_beside(t)]
            if inside := tuple(t for t in adjunct.things if t not in beside):
                adjuncts.append(adjunct.replace(things=inside))
        places = self.adjuncts.take(verb, things, adjuncts)
        self.adjuncts.settle(things, places)
        for number in self.draft.live(things):
            self._check_recipe(verb, number, serving=serving)
        self.leave(things, serving=serving)
        self._serve_beside(beside, places)
        return things

    def _share_dish(self, things: list[int]) -> None:
        draft = self.draft
        plates = [
            n
            for n in things
            if draft.entities[n].unnamed
            and draft.entities[n].liquid is None
            and self.taxonomy.relation(draft.entities[n].classes[0]) == "on"
        ]
        pieces = sum(draft.entities[r.inner].count for r in draft.relations if r.outer in plates)
        same = {draft.entities[n].classes[0] for n in plates}
        if len(same) == 1 and pieces <= PORTION:
            for other in plates[1:]:
                draft.replace_vessel(other, plates[0])

    def _in_vessel(self, adjunct: Adjunct) -> Adjunct:
        plays = self.taxonomy.plays
        vessels = adjunct.things and all(
            any(plays(c, VESSEL) and plays(c, PORTABLE) for c in t.classes) for t in adjunct.things
        )
        means = adjunct.kind == "means" and vessels
        return adjunct.replace(kind="place", word="in") if means else adjunct

    def _goes_beside(self, thing: NounPhrase) -> bool:
        own_vessel = thing.of is not None and thing.kind == "noun"
        drink = thing.dish is not None and thing.dish.liquid is not None and not thing.nouns
        beside = self.taxonomy.any_plays(thing.classes, BESIDE)
        return own_vessel or drink or beside

    def _serve_beside(self, things: Iterable[NounPhrase], places: list[tuple[int, str]]) -> None:
        numbers = self.referents.all_of(things, ReferentReading(dishes=True))
        fixed = [(n, w) for n, w in places[-1:] if not self.draft.plays(n, CARRIER)]
        self.adjuncts.settle(numbers, fixed)
        for number in self.draft.live(numbers):
            if not fixed:
                self.draft.change(number, serve=True, rests=False)

    def _check_recipe(self, verb: Verb, number: int, *, serving: bool) -> None:
        entity = self.draft.entities[number]
        known = entity.conditions or entity.liquid or self.draft.placed(number)
        if known or serving or self.draft.holds_something(number):
            return
        if entity.group:
            raise LanguageError(
                f"{entity.text!r} can be many things: say which{self.taxonomy.example('dish')}"
            )
        what = "slice" if self.taxonomy.pieces(entity.classes[0]) else "bring"
        if verb.frame == "hold":
            self.draft.demand(number, verb.condition or "(holding ?x)", verb.word, verb.requires)
            return
        raise LanguageError(
            f"hvr does not know how to {verb.word} {entity.text!r}; say what to do with it, "
            f"for example '{what} the {entity.text}'"
        )

    def leave(self, things: Iterable[int], *, serving: bool) -> None:
        """Choose a place (to serve a result, if `serving`) unless the request names a place."""
        draft = self.draft
        for number in draft.live(things):
            top = draft.outermost(number)
            if draft.placed(top) or not draft.plays(top, PORTABLE):
                continue
            if serving:
                draft.change(self._served_in(top), serve=True, rests=False)
            elif draft.entities[top].liquid or self._holds_food(top):
                draft.change(top, rests=not draft.entities[top].serve)

    def _holds_food(self, number: int) -> bool:
        inner = [r.inner for r in self.draft.relations if r.outer == number]
        dish = self.draft.plays(number, VESSEL, SERVED) or self.draft.entities[number].unnamed
        return bool(inner) and (dish or any(self.draft.plays(n, SERVED) for n in inner))

    def _served_in(self, number: int) -> int:
        if not self.draft.plays(number, SERVED) or self.draft.entities[number].count == 0:
            return number
        vessels = self.taxonomy.preferred("solid food")
        if not vessels:
            return number
        plate = self.draft.new(Entity(vessels, self.taxonomy.label(vessels[0]), unnamed=True))
        self.draft.place([number], plate, "on")
        return plate

    def read_state(self, group: NounGroup) -> list[int]:
        """Request a state that has no verb: 'a hot coffee on the table'; return its entities.

        Raises:
            ProposalError: The adjective only describes objects, but a verb achieves the opposite.
            LanguageError: hvr cannot achieve the state.
        """
        draft = self.draft
        adjectives = group.predicate.adjectives
        if adjectives and all(a.selects for a in adjectives) and not group.adjuncts:
            what, word = group.things[0].text, adjectives[0].word
            if verb := verb_for(self.lexicon, negated(adjectives[0].condition)):
                the = "" if group.things[0].kind in {"pronoun", "name"} else "the "
                raise ProposalError((f"{verb} {the}{what}",))
            raise LanguageError(
                f"hvr cannot make things {word}: say what to do with the {what}"
                f"{self.taxonomy.example('request')}"
            )
        check_compatible(draft.taxonomy, adjectives)
        needed = next((a.requires for a in adjectives if a.requires), None)
        condition = adjectives[0].condition if adjectives else ""
        reading = ReferentReading(dishes=True, requires=needed, condition=condition)
        things = self.referents.all_of(group.things, reading)
        for number in draft.live(things):
            self.referents.control(number, needed)
            for adjective in group.predicate.adjectives:
                apply_adjective(self.draft, number, adjective)
        want = Verb("want", "make")
        marks = [a for a in group.adjuncts if a.kind == "place" and self._is_means(things, a)]
        for adjunct in marks:
            self.adjuncts.method(want, draft.live(things), self.adjuncts.places(adjunct)[0])
        places = self.adjuncts.take(want, things, [a for a in group.adjuncts if a not in marks])
        self.adjuncts.settle(things, places)
        described = bool(group.predicate) or any(a.kind == "with" for a in group.adjuncts)
        one = all(t.determiner.count == 1 and t.kind != "pronoun" for t in group.things)
        for number in draft.live(things):
            self._add_default_goal(number, handed=one and not described)
        self.leave(things, serving=group.predicate.serve)
        return things

    def _is_means(self, things: list[int], adjunct: Adjunct) -> bool:
        conditions = [
            c.template for n in self.draft.live(things) for c in self.draft.entities[n].conditions
        ]
        asked_of = self.taxonomy.methods.asked_of
        return any(
            self.taxonomy.plays(c, APPARATUS)
            and any(asked_of(condition, (c,)) for condition in conditions)
            for c in adjunct.classes
        )

    def _add_default_goal(self, number: int, *, handed: bool) -> None:
        entity, draft = self.draft.entities[number], self.draft
        related = draft.placed(number) or draft.holds_something(number) or entity.liquid
        held = handed and draft.plays(number, PORTABLE)
        if related or entity.serve or (entity.conditions and not held):
            return
        if entity.cut_from is not None or (
            entity.count != 1 and any(self.taxonomy.source(c) for c in entity.classes)
        ):
            draft.demand(number, self.taxonomy.there, "be there")
            return
        roles = self.taxonomy.roles
        runs = roles.bearer(RUNNING)
        if runs and not draft.plays(number, PORTABLE) and draft.is_a(number, runs):
            draft.demand(number, self.taxonomy.state(RUNNING), "be on", runs)
        else:
            draft.demand(number, "(holding ?x)", "be held", roles.class_of(PORTABLE))


# Liquids ------------------------------------------------------------------------------------------

Handler = Callable[[Verb, NounGroup], list[int]]


class Liquids:
    """Reads the verbs that move liquids: fill, pour, empty.

    The domain has no liquid objects: a liquid is the content of a vessel, so every clause is
    interpreted as a clause about vessels. `make` handles 'pour me a glass of wine', and `clear`
    handles 'empty the drawer'.
    """

    def __init__(
        self,
        draft: MeaningDraft,
        lexicon: Lexicon,
        adjuncts: Adjuncts,
        make: Handler,
        clear: Handler,
    ) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.lexicon = lexicon
        self.adjuncts = adjuncts
        self.referents: Referents = adjuncts.referents
        self.make = make
        self.liquids = lexicon.liquids
        self.clear = clear
        self.vessel = self.taxonomy.roles.class_of(VESSEL)

    @property
    def _empty(self) -> str:
        return negated(self.taxonomy.state(FILLED))

    def fill(self, verb: Verb, group: NounGroup) -> list[int]:
        """Fill vessels, by default with the verb's liquid; return their entities."""
        full = self.taxonomy.state(FILLED)
        reading = ReferentReading(wanted=False, requires=self.vessel, condition=full)
        things = self.referents.all_of(group.things, reading)
        places: list[tuple[int, str]] = []
        filled = False
        for adjunct in group.adjuncts:
            liquid = None if adjunct.kind == "with" else self._flows_from(adjunct)
            if liquid is not None:
                for number in self.draft.live(things):
                    if not self.draft.entities[number].liquid:
                        self.draft.fill(number, liquid)
                self.adjuncts.without_effect(adjunct)
            elif adjunct.kind in {"with", "means"} and not self.adjuncts.is_tool(adjunct):
                for number in self.draft.live(things):
                    for thing in adjunct.things:
                        self._fill_with(verb, number, thing)
                filled = True
            elif adjunct.kind == "place":
                for number in self.adjuncts.places(adjunct):
                    if self.draft.plays(number, BASIN):
                        self.adjuncts.forget_means(number)
                    else:
                        places.append((number, adjunct.word))
            else:
                self.adjuncts.without_effect(adjunct)
        for number in self.draft.live(things):
            if not filled and not self.draft.entities[number].liquid:
                if verb.liquid:
                    self.draft.fill(number, verb.liquid)
                else:
                    self.draft.demand(number, full, verb.word, self.vessel)
            if self.draft.entities[number].liquid:
                self.draft.demand(number, self.taxonomy.there, verb.word, self.vessel)
        self.adjuncts.settle(self.draft.live(things), places)
        return things

    def _flows_from(self, adjunct: Adjunct) -> str | None:
        for means in self.taxonomy.methods.means:
            if means.achieves in self.liquids and set(adjunct.classes) & set(means.needs):
                return means.achieves
        return None

    def _fill_with(self, verb: Verb, vessel: int, thing: NounPhrase) -> None:
        known = (
            self.referents.of(thing, ReferentReading(dishes=True))
            if thing.kind == "pronoun"
            else []
        )
        liquid = self.draft.entities[known[0]].liquid if known else None
        if liquid:
            self.draft.fill(vessel, liquid)
            return
        is_dish = thing.dish is not None
        held = [x for n in thing.nouns if (x := self.taxonomy.liquid(n.object_class))]
        if held and not is_dish:  # the content of a bottle
            self.draft.fill(vessel, held[0])
            return
        if (
            thing.kind == "noun"
            and not is_dish
            and not self.taxonomy.any_plays(thing.classes, SERVED)
        ):
            known_liquids = ", ".join(sorted(self.liquids)) or "nothing"
            raise LanguageError(
                f"hvr can {verb.word} things with {known_liquids} or food, not with {thing.text!r}"
            )
        self.referents.put_in(vessel, thing, "with")

    def pour(self, verb: Verb, group: NounGroup) -> list[int]:
        draft = self.draft
        targets: list[int] = []
        others: list[Adjunct] = []
        for adjunct in group.adjuncts:
            if adjunct.kind == "place" and not targets:
                targets = self.adjuncts.places(Adjunct("place", adjunct.word, adjunct.things))
            else:
                others.append(adjunct)
        if not targets:
            if any(a.kind == "from" for a in others):
                return self.empty(verb_of(self.lexicon, "empty"), group)
            if all(t.dish or t.of for t in group.things):
                return self.make(verb, group)
            text = group.things[0].text
            raise LanguageError(
                f"say what to {verb.word} {text} into{self.taxonomy.example('pouring')}"
            )
        target = targets[0]
        if not draft.plays(target, VESSEL, BASIN):
            raise LanguageError(
                f"{self.taxonomy.a_label(draft.entities[target].classes[0])} cannot be filled"
            )
        for thing in group.things:
            liquid, vessel = self._poured(thing, others)
            if draft.plays(target, BASIN):
                if vessel is None:
                    raise LanguageError(
                        f"hvr cannot tell what to {verb.word} {thing.text} from: name the container"
                        f"{self.taxonomy.example('pouring away')}"
                    )
                draft.demand(vessel, self._empty, verb.word, self.vessel)
                self.adjuncts.forget_means(target)
                continue
            if liquid:
                draft.fill(target, liquid)
                draft.demand(target, self.taxonomy.there, verb.word, self.vessel)
            else:
                draft.demand(target, self.taxonomy.state(FILLED), verb.word, self.vessel)
            if vessel is not None:
                if draft.plays(vessel, BOTTOMLESS):
                    self.adjuncts.forget_means(vessel)
                else:
                    draft.demand(vessel, self._empty, verb.word, self.vessel)
        self.adjuncts.settle(
            [target],
            [(n, a.word) for a in others if a.kind == "place" for n in self.adjuncts.places(a)],
        )
        return draft.live([target, *targets])

    def _poured(
        self, thing: NounPhrase, others: Sequence[Adjunct]
    ) -> tuple[str | None, int | None]:
        # Resolving a thing may create an entity: 'the wine' that was not mentioned before gets one
        # with its own vessel, which is then dropped because any bottle will do.
        draft = self.draft
        vessel: int | None = None
        for adjunct in others:
            if adjunct.kind == "from":
                vessel = self.referents.of(
                    adjunct.things[0], ReferentReading(requires=self.vessel)
                )[0]
        liquid = thing.dish.liquid if thing.dish else None
        if liquid is None or thing.determiner.definite or thing.kind == "pronoun":
            before = len(draft.entities)
            number = self.referents.of(thing, ReferentReading(dishes=True, requires=self.vessel))[0]
            if number < before:
                liquid, vessel = liquid or draft.entities[number].liquid, vessel or number
            elif liquid is None:
                vessel = vessel if vessel is not None else number
                classes = draft.entities[number].classes
                liquid = draft.entities[number].liquid or self.taxonomy.liquid(classes[0])
                draft.change(number, liquid=None)
            else:
                draft.forget(number)
        if liquid is None and vessel is not None:
            classes = draft.entities[vessel].classes
            liquid = draft.entities[vessel].liquid or self.taxonomy.liquid(classes[0])
        return liquid, vessel

    def empty(self, verb: Verb, group: NounGroup) -> list[int]:
        draft = self.draft
        vessels_now: list[int] = []
        liquid_only: list[int] = []
        for thing in group.things:
            places = [a for a in group.adjuncts if a.kind in {"place", "from"}]
            vessels = [a for a in places if not self.adjuncts.into_sink(a)]
            liquid = thing.dish and thing.dish.liquid and not thing.nouns
            if thing.kind == "everything" and vessels:  # 'pour out everything in the cup'
                liquid = self.taxonomy.any_plays(vessels[0].classes, VESSEL)
            if liquid and vessels:
                liquid_only += self.referents.of(
                    vessels[0].things[0], ReferentReading(requires=self.vessel)
                )
                continue
            before = len(draft.entities)
            numbers = self.referents.of(
                thing,
                ReferentReading(wanted=False, requires=self.vessel, condition=verb.condition or ""),
            )
            if thing.dish and not thing.nouns and numbers[0] >= before:
                raise LanguageError(
                    f"say which vessel to {verb.word}, not only what is in it"
                    f"{self.taxonomy.example('vessel')}"
                )
            place = draft.plays(numbers[0], PLACE) and not draft.plays(numbers[0], VESSEL)
            if place and places and verb.places:
                inside = Predication((), (Adjunct("place", "in", (thing,)),))
                contents = NounPhrase("everything", f"things in {thing.text}", relative=inside)
                clear = verb_of(self.lexicon, "clear")
                return self.clear(clear, NounGroup((contents,), tuple(places)))
            vessels_now += numbers
        for number in draft.live([*liquid_only, *vessels_now]):
            if draft.entities[number].liquid and draft.fresh(number):
                draft.change(number, liquid=None)  # 'empty the cup of water'
            condition, requires = verb.condition or "", verb.requires
            if verb.places and number in vessels_now and draft.plays(number, PLACE):
                condition, requires = emptied(draft, number, condition), None
            if draft.fresh(number):
                draft.change(number, turns=condition)
            draft.demand(number, condition, verb.word, requires)
        return [*liquid_only, *vessels_now]

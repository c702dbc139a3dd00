"""Clauses about liquids: fill, pour, empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.roles import BASIN, BOTTOMLESS, FILLED, PLACE, SERVED, VESSEL
from hvr.language.adjectives import emptied
from hvr.language.adjuncts import Adjuncts
from hvr.language.lexicon import Dish, Lexicon, Verb, verb_of
from hvr.language.meaning import MeaningDraft
from hvr.language.reference import ReferentReading, Referents
from hvr.language.syntax import Adjunct, NounGroup, NounPhrase
from hvr.language.taxonomy import negated

Handler = Callable[[Verb, NounGroup], list[int]]


class Liquids:
    """The verbs that move liquids.

    The domain has no liquids as objects: a liquid is what a vessel contains. So every clause is
    read as one about vessels.

    Args:
        draft: the meaning so far.
        lexicon: finds the verbs that others stand for.
        adjuncts: takes in what follows the objects.
        make: what to do with 'pour me a glass of wine'.
        clear: what to do with 'empty the drawer'.
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
        self.liquids = {
            e.liquid
            for es in lexicon.entries.values()
            for e in es
            if isinstance(e, Dish) and e.liquid
        }
        self.clear = clear
        self.vessel = self.taxonomy.roles.class_of(VESSEL)

    @property
    def _empty(self) -> str:
        return negated(self.taxonomy.state(FILLED))

    def fill(self, verb: Verb, group: NounGroup) -> list[int]:
        """Fill vessels: with the verb's own liquid if nothing else is given."""
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
                        self.adjuncts.unless_wanted(number)
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
        named = {n.object_class for thing in adjunct.things for n in thing.nouns}
        for means in self.taxonomy.methods.means:
            if means.achieves in self.liquids and named & set(means.needs):
                return means.achieves
        return None

    def _fill_with(self, verb: Verb, vessel: int, thing: NounPhrase) -> None:
        """Fill a vessel with a liquid, with what a bottle holds, or with food."""
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
        if held and not is_dish:  # what a bottle holds
            self.draft.fill(vessel, held[0])
            return
        if (
            thing.kind == "noun"
            and not is_dish
            and not any(self.taxonomy.plays(n.object_class, SERVED) for n in thing.nouns)
        ):
            known_liquids = ", ".join(sorted(self.liquids)) or "nothing"
            raise LanguageError(
                f"hvr can {verb.word} with {known_liquids} or food, not with {thing.text!r}"
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
                f"{verb.word} {text} into what? Say where{self.taxonomy.example('pouring')}"
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
                        f"{verb.word} {thing.text} out of what? Say what it is in"
                        f"{self.taxonomy.example('pouring away')}"
                    )
                draft.demand(vessel, self._empty, verb.word, self.vessel)
                self.adjuncts.unless_wanted(target)
                continue
            if liquid:
                draft.fill(target, liquid)
                draft.demand(target, self.taxonomy.there, verb.word, self.vessel)
            else:
                draft.demand(target, self.taxonomy.state(FILLED), verb.word, self.vessel)
            if vessel is not None:
                if draft.plays(vessel, BOTTOMLESS):
                    self.adjuncts.unless_wanted(vessel)
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
        """Return the liquid that is poured, and its vessel if that is given or known.

        Looking a thing up may make a new entity for it: 'the wine' that was not spoken of before
        gets one with a vessel of its own, which is dropped again: any bottle will do.
        """
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
        """Pour away what is in a vessel; of furniture, take out what is in it."""
        draft = self.draft
        vessels_now: list[int] = []
        liquid_only: list[int] = []
        for thing in group.things:
            places = [a for a in group.adjuncts if a.kind in {"place", "from"}]
            vessels = [a for a in places if not self.adjuncts.into_sink(a)]
            if thing.dish and thing.dish.liquid and not thing.nouns and vessels:
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
                return self.clear(
                    verb_of(self.lexicon, "clear"), NounGroup((thing,), tuple(places))
                )
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

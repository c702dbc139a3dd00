"""Verbs that bring about a state: heat, wash, slice, open, turn on."""

from __future__ import annotations

from hvr.knowledge.roles import CARRIER, INSTRUMENT, OPEN, PORTABLE, VESSEL, WORKTOP
from hvr.language.adjectives import heat_vessel
from hvr.language.adjuncts import STATIC, Adjuncts
from hvr.language.draft import MeaningDraft
from hvr.language.lexicon import Verb
from hvr.language.literals import asks
from hvr.language.making import Making
from hvr.language.referents import ReferentReading
from hvr.language.syntax import Adjunct, NounGroup


class States:
    """The verbs of the frame `state`, which say what then holds of their objects.

    Args:
        draft: the meaning so far.
        adjuncts: takes in what follows the objects.
        making: leaves dishes where they shall stand.
    """

    def __init__(self, draft: MeaningDraft, adjuncts: Adjuncts, making: Making) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.adjuncts = adjuncts
        self.referents = adjuncts.referents
        self.making = making

    def state(self, verb: Verb, group: NounGroup) -> list[int]:
        """Ask for the state that a verb brings about; return its objects, or what they become."""
        condition = verb.condition or ""
        adjuncts = list(group.adjuncts)
        reading = ReferentReading(wanted=False, requires=verb.requires, condition=condition)
        things = self.referents.all_of(group.things, reading)
        for number in things:
            if self.draft.fresh(number):
                self.draft.change(number, turns=condition)
            self._demand(number, verb)
            heat_vessel(self.draft, number, condition)
        definite = all(t.determiner.definite or t.kind in {"pronoun", "name", "everything"}
                       for t in group.things)  # fmt: skip
        if group.things[0].kind == "everything":
            for adjunct in [a for a in adjuncts if a.kind == "place"][:1]:
                adjuncts.remove(adjunct)  # 'wash everything in the sink'
                self.adjuncts.source(things, adjunct)
        vessels: list[int] = []
        for adjunct in adjuncts:
            vessels += self._adjunct(verb, things, adjunct, definite, vessels)
        things = self.draft.live(things)
        if self.taxonomy.cuts(condition):
            # 'slice the tomato and fry it': from now on the slices are spoken of.
            return [self.draft.pieces(number, 0) for number in things]
        return things

    def _demand(self, number: int, verb: Verb) -> None:
        """Ask for the verb's condition; of slices that are to be cut, that there are some."""
        entity = self.draft.entities[number]
        condition = verb.condition or ""
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
        """Take in what follows the objects; return the vessels that it names."""
        condition = verb.condition or ""
        cuts = self.taxonomy.cuts(condition)
        if cuts and all(t.kind == "slices" and t.of is None for t in adjunct.things):
            if any(t.determiner.count not in {None, -1, 1} for t in adjunct.things):
                self.draft.note("things are cut into as many slices as they give")
            return []
        live = self.draft.live(things)
        if adjunct.kind in {"means", "unplaced"}:
            self.adjuncts.means(verb, live, adjunct)
        elif adjunct.kind == "with":
            # 'boil the potato in the pot with water': what is nearest holds it.
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
        """Take in a place after 'heat', 'slice' …: a means, a destination, or where the thing is.

        An appliance that does what the verb says is a means, and so is a knife; what is heated in
        a pan is in it then. Of other places, 'in' and 'on' before a known place ('heat the cup on
        the table') tell which thing is meant, and everything else is where it shall be.
        """
        draft, taxonomy = self.draft, self.taxonomy
        condition, methods = verb.condition or "", taxonomy.methods
        liquid = any(draft.entities[n].liquid for n in things)
        classes = draft.entities[outer].classes
        means = methods.used_with(classes)
        if methods.asked_of(condition, classes):
            self.adjuncts.method(verb, things, outer)
        elif means and not liquid and methods.asked_of(condition, means.needs):
            draft.heat_in(things, outer, adjunct.word)
            for number in draft.live(things) if not asks(condition, means.achieves) else ():
                draft.demand(number, means.mark, verb.word)
        elif taxonomy.slices_it(condition) and draft.plays(outer, INSTRUMENT):
            self.adjuncts.unless_wanted(outer)
        elif taxonomy.cuts(condition) and not draft.plays(outer, WORKTOP):
            for number in things:
                pieces = draft.pieces(number, 0)
                draft.place([pieces], outer, adjunct.word)
        elif adjunct.word in STATIC and (
            (definite and all(t.determiner.definite for t in adjunct.things))
            or not all(draft.plays(n, PORTABLE) for n in things)
        ):
            draft.come_from(things, outer)
        elif taxonomy.slices_it(condition) and draft.plays(outer, WORKTOP):
            self.adjuncts.unless_wanted(outer)
        else:
            draft.place(things, outer, adjunct.word)

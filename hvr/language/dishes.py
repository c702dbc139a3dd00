"""Clauses about dishes and about states that are only wanted: make, serve, 'I want …'."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.errors import LanguageError
from hvr.knowledge.roles import APPARATUS, BESIDE, CARRIER, PORTABLE, RUNNING, SERVED, VESSEL
from hvr.language.adjectives import apply_adjective
from hvr.language.adjuncts import Adjuncts
from hvr.language.lexicon import Verb
from hvr.language.meaning import PORTION, Entity, MeaningDraft
from hvr.language.reference import ReferentReading
from hvr.language.syntax import Adjunct, NounGroup, NounPhrase


class Making:
    """The clauses that say what shall be there in the end, whatever has to be done for it."""

    def __init__(self, draft: MeaningDraft, adjuncts: Adjuncts) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.adjuncts = adjuncts
        self.referents = adjuncts.referents

    def make(self, verb: Verb, group: NounGroup) -> list[int]:
        """Make or serve dishes, or things with something on or in them."""
        things = self.referents.all_of(group.things, ReferentReading(dishes=True))
        self._share_dish(things)
        serving = verb.frame == "serve"
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
            self._make_sure_of(verb, number, serving=serving)
        self.leave(things, serving=serving)
        self._serve_beside(beside, places)
        return things

    def _share_dish(self, things: list[int]) -> None:
        """Let food of one clause that comes on plates come on one, as far as it has room."""
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
        """Return a vessel that something is made 'using' as the place where it is made."""
        vessels = adjunct.things and all(
            any(
                self.taxonomy.plays(n.object_class, VESSEL)
                and self.taxonomy.plays(n.object_class, PORTABLE)
                for n in t.nouns
            )
            for t in adjunct.things
        )
        return (
            adjunct.replace(kind="place", word="in")
            if (adjunct.kind == "means" and vessels)
            else adjunct
        )

    def _goes_beside(self, thing: NounPhrase) -> bool:
        own_vessel = thing.of is not None and thing.kind == "noun"
        drink = thing.dish is not None and thing.dish.liquid is not None and not thing.nouns
        beside = any(self.taxonomy.plays(n.object_class, BESIDE) for n in thing.nouns)
        return own_vessel or drink or beside

    def _serve_beside(self, things: Iterable[NounPhrase], places: list[tuple[int, str]]) -> None:
        """Serve things with others: at the place that was named, or where things are served."""
        numbers = self.referents.all_of(things, ReferentReading(dishes=True))
        fixed = [(n, w) for n, w in places[-1:] if not self.draft.plays(n, CARRIER)]
        self.adjuncts.settle(numbers, fixed)
        for number in self.draft.live(numbers):
            if not fixed:
                self.draft.change(number, serve=True, rests=False)

    def _make_sure_of(self, verb: Verb, number: int, *, serving: bool) -> None:
        """Refuse to make things that nothing says how to make, as in 'make a fork'."""
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
        """Let what was made stand somewhere sensible if no place was given."""
        draft = self.draft
        for number in draft.live(things):
            top = draft.outermost(number)
            if draft.placed(top) or not draft.plays(top, PORTABLE):
                continue
            if serving:
                draft.change(self._served_in(top), serve=True, rests=False)
            elif draft.entities[top].liquid or draft.holds_something(top):
                draft.change(top, rests=not draft.entities[top].serve)

    def _served_in(self, number: int) -> int:
        """Return what is to stand on the table: food comes on a plate."""
        if not self.draft.plays(number, SERVED) or self.draft.entities[number].count == 0:
            return number
        vessels = self.taxonomy.preferred("solid food")
        if not vessels:
            return number
        plate = self.draft.new(Entity(vessels, self.taxonomy.label(vessels[0]), unnamed=True))
        self.draft.place([number], plate, "on")
        return plate

    def wanted(self, group: NounGroup) -> list[int]:
        """Take in a state without a verb, such as 'a hot coffee on the table', 'the mug clean' or
        'the cup full of water'.
        """
        draft = self.draft
        said = group.predicate.adjectives
        if said and all(a.selects for a in said) and not group.adjuncts:
            what = group.things[0].text
            raise LanguageError(
                f"hvr makes nothing {said[0].word}: say what to do with the {what}"
                f"{self.taxonomy.example('request')}"
            )
        needed = next((a.requires for a in group.predicate.adjectives if a.requires), None)
        reading = ReferentReading(dishes=True, requires=needed)
        things = self.referents.all_of(group.things, reading)
        for number in draft.live(things):
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
            self._want_idle(number, handed=one and not described)
        self.leave(things, serving=group.predicate.serve)
        return things

    def _is_means(self, things: list[int], adjunct: Adjunct) -> bool:
        """Return whether a place is what heats the things, as in 'cooked in the microwave'."""
        conditions = [
            c.template for n in self.draft.live(things) for c in self.draft.entities[n].conditions
        ]
        asked_of = self.taxonomy.methods.asked_of
        return any(
            self.taxonomy.plays(n.object_class, APPARATUS)
            and any(asked_of(condition, (n.object_class,)) for condition in conditions)
            for t in adjunct.things
            for n in t.nouns
        )

    def _want_idle(self, number: int, *, handed: bool) -> None:
        """Ask for a wanted thing of which nothing else is said: held, switched on, or just
        there."""
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

"""The meaning of adjuncts after the objects of a verb: places, sources, means and contents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from hvr.errors import LanguageError
from hvr.knowledge.ontology import (
    BIN,
    CARRIER,
    DRAIN,
    HELPER,
    INSTRUMENT,
    OPEN,
    PLACE,
    PORTABLE,
    SOURCE,
    SURFACE,
    TOOL,
    VESSEL,
    WORKTOP,
)
from hvr.language.lexicon import Verb
from hvr.language.meaning import Ban, Entity, MeaningDraft, Nearness
from hvr.language.reference import ReferentReading, Referents
from hvr.language.syntax import Adjunct, NounPhrase
from hvr.language.taxonomy import asks

# Containment --------------------------------------------------------------------------------------
# 'With …' introduces contents or a tool:
#
# a pan with a knife in it        the knife is in the pan, wherever the pan goes
# slice the bread with a knife    the knife is a tool
# boil the potato in the pot with water    the water is in the pot


def holder(
    draft: MeaningDraft, candidates: Sequence[int], adjunct: Adjunct, *, at_work: bool = False
) -> int | None:
    """Return the index of the candidate that is to hold the objects of a 'with' phrase, or None.

    The result is None if the phrase names tools. A candidate that cannot hold the objects is
    returned only if the phrase says 'in it' or 'on it'; the request is then refused later.

    Args:
        candidates: Indices of the possible holders, the nearest to the adjunct first.
        at_work: Whether the verb changes its object, so that 'with a knife' names a tool.
    """
    tools = (TOOL, INSTRUMENT) if at_work else (TOOL,)
    if not adjunct.inside and any(
        draft.taxonomy.any_plays(thing.classes, *tools) for thing in adjunct.things
    ):
        table = next((n for n in candidates if draft.plays(n, WORKTOP)), None)
        if table is None or any(draft.taxonomy.any_plays(t.classes, TOOL) for t in adjunct.things):
            return None
    vessels = [n for n in candidates if draft.plays(n, PLACE, VESSEL)]
    able = [n for n in vessels if _fit(draft, n, adjunct.things)]
    placed = [n for n in able if adjunct.inside in _relations(draft, n)]
    # Explicit contents that do not fit are refused later, with the reason.
    return next(iter(placed or able or (vessels if adjunct.inside else ())), None)


def stands_on(draft: MeaningDraft, place: int, things: Iterable[int], adjunct: Adjunct) -> bool:
    """Return whether 'with' describes the surface at the destination, not the moved objects.

    Examples are 'the pan on the table with the lettuce' and 'to the counter with a loaf on it'.
    """
    if adjunct.classes and not draft.taxonomy.any_plays(adjunct.classes, PORTABLE):
        return not any(thing.dish for thing in adjunct.things)  # 'the counter with the microwave'
    if not draft.plays(place, WORKTOP):
        return False
    if not adjunct.inside:
        return all(thing.determiner.definite for thing in adjunct.things)
    fitting = [n for n in things if draft.plays(n, PLACE) and _fit(draft, n, adjunct.things)]
    return (
        not any(adjunct.inside in _relations(draft, n) for n in fitting)
        and adjunct.inside in _relations(draft, place)
        and _fit(draft, place, adjunct.things)
    )


def _relations(draft: MeaningDraft, number: int) -> set[str]:
    return {draft.taxonomy.relation(c) for c in draft.entities[number].classes}


def _fit(draft: MeaningDraft, number: int, things: Iterable[NounPhrase]) -> bool:
    classes = draft.entities[number].classes
    places = draft.taxonomy.places
    return not any(
        thing.nouns
        and thing.dish is None
        and not any(
            c in places(part)
            for concrete in draft.taxonomy.concrete_of(thing.classes)
            for part in (concrete, draft.taxonomy.pieces(concrete) or concrete)
            for c in classes
        )
        for thing in things
    )


# Adjuncts -----------------------------------------------------------------------------------------

STATIC = frozenset({"in", "on", "at", "inside", "inside of", "within", "on top of", "upon"})
"""Prepositions that state a location; others ('into', 'to') state a direction."""

_BESIDE = frozenset({"at", "end", "edge", "corner"})


def _is_beside(word: str) -> bool:
    return not _BESIDE.isdisjoint(word.split())


def _is_static(word: str) -> bool:
    return word in STATIC or _is_beside(word)


class Adjuncts:
    def __init__(self, draft: MeaningDraft, referents: Referents) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.referents = referents

    def means(self, verb: Verb, things: list[int], adjunct: Adjunct) -> None:
        for thing in adjunct.things:
            for number in self.referents.of(thing, ReferentReading()):
                self.method(verb, things, number)

    def method(self, verb: Verb, things: list[int], number: int) -> None:
        """Request the state that means `number` achieves; drop one without effect, like a knife.

        Raises:
            LanguageError: The means does not help with the verb.
        """
        draft = self.draft
        taxonomy, entity = self.taxonomy, draft.entities[number]
        mark = next(
            (
                m.mark
                for m in taxonomy.methods.means
                if m.asked_by and draft.is_a(number, *m.asked_by)
            ),
            None,
        )
        helps = draft.plays(number, HELPER) or entity.liquid in taxonomy.roles.names(HELPER)
        if mark is None and not helps:
            raise LanguageError(
                f"hvr does not know how to {verb.word} something with {entity.text!r}"
            )
        cuts = taxonomy.cuts(verb.condition or "")
        if mark is None and cuts and not draft.plays(number, INSTRUMENT):
            raise LanguageError(f"hvr cannot {verb.word} anything with {entity.text!r}")
        self._only_with(entity.classes)
        self.forget_means(number)
        for thing in things if mark else ():
            draft.demand(thing, str(mark), verb.word)

    def _only_with(self, tools: tuple[str, ...]) -> None:
        """Forbid a tool with a less specific name: 'with a butter knife' excludes the knife."""
        label = self.taxonomy.label
        for tool in tools:
            others = tuple(
                c
                for c in self.taxonomy.with_role(INSTRUMENT)
                if label(tool).endswith(f" {label(c)}")
            )
            if others:
                self.draft.less_exact.append(Ban("(holding ?x)", others))

    def forget_means(self, number: int) -> None:
        """Drop an entity that was named as a means, unless the goal mentions it too."""
        if not self.draft.is_goal(number):
            self.draft.forget(number)

    def take(
        self, verb: Verb, things: list[int], adjuncts: Sequence[Adjunct]
    ) -> list[tuple[int, str]]:
        """Apply sources, means and contents; return each remaining place as (index, preposition).

        A 'with' phrase that names further objects adds them to `things`.
        """
        places: list[tuple[int, str]] = []
        for adjunct in adjuncts:
            if adjunct.kind == "from":
                self.source(things, adjunct)
            elif adjunct.kind in {"means", "unplaced"}:
                self.means(verb, self.draft.live(things), adjunct)
            elif adjunct.kind == "with":
                last = [n for n, _ in places[-1:]]
                if last and stands_on(self.draft, last[0], self.draft.live(things), adjunct):
                    things += self._beside(last[0], adjunct)
                    continue
                last = [n for n in last if self.draft.plays(n, CARRIER)]
                if not self.contents([*last, *self.draft.live(things)], adjunct):
                    things += self.referents.all_of(adjunct.things, ReferentReading())
            else:
                places += [(number, adjunct.word) for number in self.places(adjunct)]
        return places

    def places(self, adjunct: Adjunct) -> list[int]:
        return self.referents.all_of(
            adjunct.things,
            ReferentReading(wanted=False, requires=self.taxonomy.roles.class_of(PLACE)),
        )

    def source(self, things: Iterable[int], adjunct: Adjunct) -> None:
        """Restrict objects to those initially at a place; 'from the tap' restricts nothing."""
        reading = ReferentReading(requires=self.taxonomy.roles.class_of(PLACE))
        place = self.referents.of(adjunct.things[0], reading)[0]
        if self.draft.plays(place, PLACE):
            self.draft.come_from(self.draft.live(things), place, adjunct.word)
        else:
            self.forget_means(place)

    def where_they_are(
        self, things: list[int], places: list[tuple[int, str]]
    ) -> list[tuple[int, str]]:
        """Read static prepositions such as 'in' as current locations; return the other places."""
        going = [(n, word) for n, word in places if word not in STATIC]
        for number, word in places:
            if word in STATIC:
                self.draft.come_from(things, number, word)
        return going

    def settle(self, things: list[int], places: list[tuple[int, str]]) -> bool:
        """Put objects at the last of several places; return False if there is no place.

        An earlier place moves to the last place with the objects ('the egg on the plate on the
        table'), selects the objects ('the knife on the counter in the drawer'), or is described by
        the last place ('in the bin at the end of the counter').
        """
        draft = self.draft
        current = list(things)
        waiting = list(places)
        while waiting:
            number, word = waiting.pop(0)
            self._not_above(number, word)
            if waiting and not self.goes_on(number, waiting[0][0]):
                if self._is_one_place(number, word, *waiting[0]):
                    self._describe(number, *waiting.pop(0))
                else:
                    draft.come_from(current, number, word, firm=_is_static(waiting[0][1]))
                    continue
            draft.place(current, number, word)
            if draft.entities[number].classes:
                current = [number]
        return bool(places)

    def _is_one_place(self, place: int, word: str, other: int, where: str) -> bool:
        # If it may also be the destination, both readings are tried; the scene rules one out.
        described = _is_static(where)
        if word in STATIC and not described:
            return False
        if not (described and self.draft.plays(place, PLACE)):
            first, second = (self.draft.entities[n].text for n in (place, other))
            raise LanguageError(
                f"two destinations, {word} {first!r} and {where} {second!r}: "
                "name one, or say 'then' between them"
            )
        return word not in STATIC or bool(self.draft.brackets.take(2))

    def _describe(self, place: int, other: int, word: str) -> None:
        draft, entity = self.draft, self.draft.entities[other]
        if not _is_beside(word):
            draft.come_from([place], other, firm=True)
            return
        near = Nearness("next to", entity.classes, entity.name, entity.text)
        draft.change(place, near=(*draft.entities[place].near, near))
        self.forget_means(other)

    def _not_above(self, place: int, word: str) -> None:
        opens = self.taxonomy.roles.bearer(OPEN)
        holds_inside = (
            opens is not None
            and self.draft.is_a(place, opens)
            and not self.draft.plays(place, SURFACE)
        )
        if "top" in word.split() and holds_inside:
            label = self.taxonomy.a_label(self.draft.entities[place].classes[0])
            raise LanguageError(f"nothing can be put {word} {label}: things can only be in it")
        entity = self.draft.entities[place]
        if word in {"on", "onto", "upon"} and holds_inside and not entity.somewhere:
            self.draft.note(
                f"read '{word} the {entity.text}' as 'in the {entity.text}': "
                "things can only be in it"
            )

    def goes_on(self, inner: int, outer: int) -> bool:
        """Return whether an entity is portable and may be put in or on another entity."""
        outers = self.draft.entities[outer].classes
        return self.draft.plays(inner, PORTABLE) and any(
            o in self.taxonomy.places(i) for i in self.draft.entities[inner].classes for o in outers
        )

    def may_hold_spoken(self, places: Collection[str]) -> bool:
        """Return whether places of these classes may hold the last mentioned objects or pieces."""
        spoken = [n for group in self.draft.spoken()[:1] for n in group]
        moved = {c for n in spoken for c in self.draft.entities[n].classes}
        moved |= {p for c in moved if (p := self.taxonomy.pieces(c))}
        return any(p in places for c in moved for p in self.taxonomy.places(c))

    def default_place(self, verb: Verb, number: int) -> int:
        """Return an entity for the verb's default destination, such as the bin of 'throw away'.

        Its classes are the default places that can hold the entity `number` and from which it is
        not taken; if there are none, all default places. Objects of a clause share it.
        """
        classes = self.taxonomy.concrete_of(verb.places)
        allowed = {p for c in self.draft.entities[number].classes for p in self.taxonomy.places(c)}
        avoid = self.draft.entities[number].place_from
        fitting = tuple(c for c in classes if c in allowed and c not in avoid)
        group = any(len(self.taxonomy.concrete(name)) > 1 for name in verb.places)
        places = fitting or classes
        entity = Entity(places, self.taxonomy.label(places[0]), group=group, unnamed=True)
        for known, other in enumerate(self.draft.entities):
            if other == entity and self.draft.fresh(known):
                return known  # one bin for everything that is thrown away
        return self.draft.new(entity)

    def contents(self, things: list[int], adjunct: Adjunct, *, at_work: bool = False) -> bool:
        """Read 'with …' as the contents of the nearest entity that can hold them.

        Return whether there is such an entity. For `at_work`, see `holder`.
        """
        outer = holder(self.draft, things, adjunct, at_work=at_work)
        if outer is None:
            return False
        for thing in adjunct.things:
            self.referents.put_in(outer, thing, "with")
        return True

    def _beside(self, place: int, adjunct: Adjunct) -> list[int]:
        self.describes([place], adjunct)
        if adjunct.inside:
            return []
        beside = self.referents.all_of(adjunct.things, ReferentReading(wanted=False))
        return [number for number in beside if self.draft.plays(number, PORTABLE)]

    def describes(self, places: Iterable[int], adjunct: Adjunct) -> bool:
        """Select furniture by its contents, as in 'the drawer with the knife in it'.

        Return whether the places include furniture and the adjunct names a known class.
        """
        classes = self.taxonomy.concrete_of(adjunct.classes)
        furniture = [n for n in places if not self.draft.plays(n, PORTABLE)]
        if not (furniture and classes):
            return False
        for number in furniture:
            self.draft.change(number, holding=classes)
        self.referents.all_of(adjunct.things, ReferentReading(wanted=False))  # 'and take it out'
        return True

    def is_tool(self, adjunct: Adjunct) -> bool:
        """Return whether 'with …' names only sources such as a tap, not the liquid to fill with."""
        return all(self.taxonomy.any_plays(t.classes, SOURCE) for t in adjunct.things)

    def without_effect(self, adjunct: Adjunct) -> None:
        """Drop the objects of a means that has no effect on the goal, such as 'from the tap'."""
        for thing in adjunct.things:
            for number in self.referents.of(thing, ReferentReading()):
                self.forget_means(number)

    def is_used_anyway(self, condition: str, adjunct: Adjunct) -> bool:
        """Return whether an adjunct names the liquid used for a condition: 'wash it with water'."""
        used = {w for p, w in self.taxonomy.methods.floods.items() if asks(condition, p)}
        return all(t.dish is not None and t.dish.liquid in used for t in adjunct.things)

    def into_sink(self, adjunct: Adjunct) -> bool:
        """Return whether an adjunct names a basin with a drain, such as a sink."""
        return self.taxonomy.any_plays(adjunct.classes, DRAIN)

    def is_bin(self, adjunct: Adjunct) -> bool:
        plays, named = self.taxonomy.plays, self.taxonomy.class_of_type
        return all(
            self.taxonomy.any_plays(thing.classes, BIN)
            or plays(named(thing.text.rpartition("-")[0]) or "", BIN)
            for thing in adjunct.things
        )

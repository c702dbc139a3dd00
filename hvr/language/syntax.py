"""The syntax of a request, before any word is looked up in the ontology."""

from __future__ import annotations

from hvr.language.lexicon import Adjective, Dish, Lexicon, Noun, Verb, verb_of
from hvr.values import Value


class Determiner(Value):
    """The determiner of a noun, including numbers.

    Args:
        count: Number of objects; 0 for all, -1 for some, None if not given.
        each: Whether the word is 'each' or 'every', which refers to the objects one by one.
        apart: Whether the word is 'different' or 'separate', which asks for one per object.
        both: Whether the word is 'both', for two objects or two classes.
        nth: Number of an ordinal such as 'the second'; 0 if there is none.
    """

    count: int | None = None
    definite: bool = False
    other: bool = False
    each: bool = False
    apart: bool = False
    both: bool = False
    half: bool = False
    nth: int = 0


PART_OF = "part of"
"""Relation between a drawer or shelf and its furniture: 'the top drawer of the desk'."""


class Nearby(Value):
    """A location relative to other objects: 'next to the sink'."""

    word: str
    things: tuple[NounPhrase, ...]


class NounPhrase(Value):
    """A noun phrase.

    Args:
        kind: `noun` (nouns or a dish), `slices`, `name`, `pronoun`, `everything`, `rest` (the
            remaining objects) or `beside` (an unnamed place: near the objects of `nearby`, or any
            except `of`).
        nouns: Classes that the head may name.
        dish: Dish that the head may name.
        of: The complement with 'of': a cup of coffee, two slices of bread.
        relative: Relative clause: 'that is in the sink', 'which are dirty'.
        nearby: Locations relative to other objects: 'next to the sink', 'under the table'.
    """

    kind: str
    text: str
    determiner: Determiner = Determiner()
    adjectives: tuple[Adjective, ...] = ()
    nouns: tuple[Noun, ...] = ()
    dish: Dish | None = None
    of: NounPhrase | None = None
    relative: Predication | None = None
    nearby: tuple[Nearby, ...] = ()

    @property
    def many(self) -> bool:
        count = self.determiner.count
        plural = any(noun.plural for noun in self.nouns)
        return plural if count is None else count != 1

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(noun.object_class for noun in self.nouns)


IT = NounPhrase("pronoun", "it", Determiner(1))


class Adjunct(Value):
    """A phrase after a noun: a place, a source, a means, or contents.

    Args:
        kind: `place`, `unplaced` (next to), `from`, `means`, `with`, `hand` (in the hand), `for`
            (`word` is the number of people), `beside` (from next to), `origin` (back to its initial
            place), `together` (next to each other) or `except`.
        inside: `in` or `on` after `with`, if the objects are explicitly contents ('with a knife in
            it', 'containing a knife'), so that they cannot be tools.
    """

    kind: str
    word: str
    things: tuple[NounPhrase, ...]
    inside: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(c for thing in self.things for c in thing.classes)


class Predication(Value):
    """A statement about objects: 'clean', 'on the table', 'washed and put away'.

    Args:
        serve: Whether the word 'served' occurs.
    """

    adjectives: tuple[Adjective, ...] = ()
    adjuncts: tuple[Adjunct, ...] = ()
    serve: bool = False

    def __bool__(self) -> bool:
        return bool(self.adjectives or self.adjuncts or self.serve)

    def and_also(self, other: Predication) -> Predication:
        return Predication(
            (*self.adjectives, *other.adjectives),
            (*self.adjuncts, *other.adjuncts),
            self.serve or other.serve,
        )


class NounGroup(Value):
    """Noun phrases that share adjuncts and a predicate: 'the plate and the cup on the table'."""

    things: tuple[NounPhrase, ...]
    adjuncts: tuple[Adjunct, ...] = ()
    predicate: Predication = Predication()

    def causes_state(self, verb: Verb) -> bool:
        """Return whether a verb asks only for the predicate: 'get the potato sliced'."""
        causes = verb.frame in {"put", "make"} or verb.word == "get"
        stated = {"with"} if verb.frame == "put" else {"with", "place"}
        return bool(self.predicate) and causes and all(a.kind in stated for a in self.adjuncts)

    def attributive(self) -> NounGroup:
        """Return 'the sliced potato' for 'the potato sliced'."""
        more = self.predicate.adjectives
        things = tuple(t.replace(adjectives=(*t.adjectives, *more)) for t in self.things)
        return self.replace(things=things, predicate=self.predicate.replace(adjectives=()))


class Clause(Value):
    """An action to carry out or, without a verb, a state to reach.

    Args:
        groups: The objects, each group with its own adjuncts.
        then: Whether the clause explicitly follows the preceding ones.
        given: Whether the clause describes the initial state instead of a goal.
        past: Whether the clause reports earlier actions.
        none: Whether the state must not hold for any such object: 'no drawer is open'.
        bare: Whether the clause only names objects: ', then the cup'.
        purpose: Whether the previous clause only prepares this one: 'get a knife to cut the bread'.
    """

    verb: Verb | None
    groups: tuple[NounGroup, ...]
    then: bool = False
    given: bool = False
    past: bool = False
    none: bool = False
    bare: bool = False
    purpose: bool = False


def for_each(thing: NounPhrase, persons: int) -> NounPhrase:
    """Request one object per person, unless the phrase is definite or gives another number."""
    count = thing.determiner.count
    if persons == 1 or thing.determiner.definite or count not in {None, 1}:
        return thing
    return thing.replace(determiner=thing.determiner.replace(count=persons))


class Prohibition(Value):
    """Something that must not be done, be used, or be true.

    Args:
        verb: The forbidden action; None if the use of the objects, or a property, is forbidden.
        adjuncts: Forbidden destinations.
        adjectives: Forbidden properties.
        most: Number of objects that may have the property at once: 1 in 'never two doors open'.
        keeps: Whether the prohibition follows from a state that must be preserved.
        again: Whether the state may occur once but not twice.
        instead: Whether another object is to be used instead, so that only tools are forbidden.
        dismissed: Whether the request explicitly does not ask for this action.
    """

    verb: Verb | None
    things: tuple[NounPhrase, ...]
    adjuncts: tuple[Adjunct, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    most: int = 0
    keeps: bool = False
    again: bool = False
    instead: bool = False
    dismissed: bool = False


def how_many(thing: NounPhrase, group: bool) -> int:
    """Return the number of objects that a phrase means; 0 for all, -1 for some.

    'The cutlery' and 'the plates' mean all, 'plates' some, 'a plate' one. The noun of a
    `group` stands for several classes.
    """
    determiner = thing.determiner
    if determiner.count is not None:
        return determiner.count
    if determiner.other and group:
        return 0  # 'the other dishes', 'the other fruit'
    if any(noun.plural for noun in thing.nouns):
        return 0 if determiner.definite else -1
    together = determiner.definite and any(noun.collective for noun in thing.nouns) and group
    return 0 if together else 1


def with_adjuncts(clause: Clause, *more: Adjunct) -> Clause:
    """Add adjuncts to every group of a clause."""
    groups = tuple(g.replace(adjuncts=(*g.adjuncts, *more)) for g in clause.groups)
    return clause.replace(groups=groups)


def pronouns(group: NounGroup) -> bool:
    """Return whether a group, or one of its adjuncts, consists of pronouns."""
    return _spoken_of(group.things) or any(_spoken_of(a.things) for a in group.adjuncts)


def _spoken_of(things: tuple[NounPhrase, ...]) -> bool:
    return bool(things) and all(thing.kind == "pronoun" for thing in things)


def resolve_pronoun(group: NounGroup, things: tuple[NounPhrase, ...]) -> NounGroup:
    if _spoken_of(group.things):
        return group.replace(things=things)
    adjuncts = tuple(
        a.replace(things=things) if _spoken_of(a.things) else a for a in group.adjuncts
    )
    return group.replace(adjuncts=adjuncts)


def ordered(clauses: list[Clause], then: bool) -> list[Clause]:
    """If `then`, mark the first clause as one that follows all preceding clauses."""
    return [c.replace(then=c.then or then) if n == 0 else c for n, c in enumerate(clauses)]


def insert_before_last(early: list[Clause], before: list[Clause]) -> list[Clause]:
    """Insert clauses before the last one: 'put the mug away after washing it'."""
    if not (before and early):
        return [*early, *ordered(before, True)]
    # 'put the mug away after washing it': the noun is in the clause that now comes second, so
    # the noun and the pronoun swap places.
    main = before[-1].groups[0]
    named = [
        c.replace(groups=tuple(resolve_pronoun(g, main.things) for g in c.groups)) for c in early
    ]
    if named == early:
        return [*before[:-1], *early, *ordered(before[-1:], True)]
    late = before[-1]
    if late.verb is not None:
        late = late.replace(groups=(main.replace(things=(IT,)), *late.groups[1:]))
    return [*before[:-1], *named, *ordered([late], True)]


def goals_from_descriptions(clauses: list[Clause]) -> list[Clause]:
    """Turn descriptions of the present state into goals if no clause asks for an action."""
    acts = any(clause.verb is not None or not clause.given for clause in clauses)
    return [c.replace(given=c.past or (c.given and acts)) for c in clauses]


def goes_somewhere(clause: Clause) -> bool:
    given = any(a.kind in {"place", "origin"} for g in clause.groups for a in g.adjuncts)
    return given or bool(clause.verb and clause.verb.places)


def fetch_only(lexicon: Lexicon, clauses: list[Clause]) -> list[Clause]:
    """Read the last clause's 'put' as 'pick up' if it has no place: 'gather the forks to …'."""
    if not clauses or clauses[-1].verb is None or clauses[-1].verb.frame != "put":
        return clauses
    if goes_somewhere(clauses[-1]):
        return clauses
    return [*clauses[:-1], clauses[-1].replace(verb=verb_of(lexicon, "pick up", "hold"))]


def is_bare(thing: NounPhrase) -> bool:
    """Return whether a phrase is a plural without determiner: 'dishes need washing' means all."""
    plural = any(noun.plural for noun in thing.nouns)
    return plural and thing.determiner.count is None and not thing.determiner.definite

"""The syntax of a request, before anything is looked up in the ontology."""

from __future__ import annotations

from hvr.language.lexicon import Adjective, Dish, Noun, Verb
from hvr.values import Value


class Determiner(Value):
    """The determiner of a noun, with numbers.

    Args:
        count: how many; 0 for all, -1 for some, None if it is not given.
        definite: 'the'.
        other: 'another'.
        each: 'each' or 'every': something is said of them one by one.
        apart: one for each: 'different', 'separate'.
        both: 'both', of two things or of two kinds.
    """

    count: int | None = None
    definite: bool = False
    other: bool = False
    each: bool = False
    apart: bool = False
    both: bool = False


class Nearby(Value):
    """What is near a thing: 'next to the sink'."""

    word: str
    things: tuple[NounPhrase, ...]


class NounPhrase(Value):
    """A noun phrase.

    Args:
        kind: `noun` (nouns or a dish), `slices`, `name`, `pronoun`, `everything`, `rest` (those
            of the things named before that are left), or `beside` (a place of which only is said
            what is near it).
        text: the words of its head.
        determiner: what stands before it.
        adjectives: in order.
        nouns: classes the head may mean.
        dish: the dish the head may mean.
        of: what follows 'of': a cup of coffee, two slices of bread.
        relative: 'that is in the sink', 'which are dirty'.
        nearby: 'next to the sink', 'under the table'.
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
        """Whether several are meant: 'them', 'the slices'."""
        count = self.determiner.count
        plural = any(noun.plural for noun in self.nouns)
        return plural if count is None else count != 1


IT = NounPhrase("pronoun", "it", Determiner(1))


class Adjunct(Value):
    """A phrase that follows a thing: a place, a source, a means, contents.

    Args:
        kind: `place`, `unplaced` (next to), `from`, `means`, `with`, `hand` (in the hand), `for`
            (for how many, which is the word), `origin` (back where it was) or `except`.
        word: the preposition, as `in` or `on` for a place.
        things: what it speaks of.
        inside: of `with`: `in` or `on` where it is said that they are so ('with a knife in it',
            'containing a knife'), which no tool is.
    """

    kind: str
    word: str
    things: tuple[NounPhrase, ...]
    inside: str = ""


class Predication(Value):
    """A statement about things: 'clean', 'on the table', 'washed and put away'."""

    adjectives: tuple[Adjective, ...] = ()
    adjuncts: tuple[Adjunct, ...] = ()
    serve: bool = False

    def __bool__(self) -> bool:
        return bool(self.adjectives or self.adjuncts or self.serve)

    def and_also(self, other: Predication) -> Predication:
        """Return what both say."""
        return Predication(
            (*self.adjectives, *other.adjectives),
            (*self.adjuncts, *other.adjuncts),
            self.serve or other.serve,
        )


class NounGroup(Value):
    """Things that share what follows them: 'the plate and the cup on the table'."""

    things: tuple[NounPhrase, ...]
    adjuncts: tuple[Adjunct, ...] = ()
    predicate: Predication = Predication()


class Clause(Value):
    """One thing to do, with a verb, or one state to reach, without.

    Args:
        verb: the verb, or None.
        groups: its objects with what belongs to each.
        then: it comes after what stands before, in so many words.
        given: it says how things are, rather than how they shall be.
        none: of no such thing shall it be so: 'no drawer is open', 'nothing on the table'.
    """

    verb: Verb | None
    groups: tuple[NounGroup, ...]
    then: bool = False
    given: bool = False
    none: bool = False


def for_each(thing: NounPhrase, persons: int) -> NounPhrase:
    """Return a thing as many times as there are persons, unless it says how many there are."""
    count = thing.determiner.count
    if persons == 1 or thing.determiner.definite or count not in {None, 1}:
        return thing
    return thing.replace(determiner=thing.determiner.replace(count=persons))


class Prohibition(Value):
    """Something that must not be done, be used, or be so.

    Args:
        verb: what must not be done; None for using the things, or for the adjectives.
        things: the things.
        adjuncts: where they must not be put.
        adjectives: what they must not be.
        most: how many of them may be so at once: 1 in 'never two doors open'.
        keeps: it follows from a state that is to be kept.
        again: it may be so once, and not a second time.
        instead: something else takes their place, so that only tools are forbidden.
    """

    verb: Verb | None
    things: tuple[NounPhrase, ...]
    adjuncts: tuple[Adjunct, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    most: int = 0
    keeps: bool = False
    again: bool = False
    instead: bool = False


def how_many(thing: NounPhrase, group: bool) -> int:
    """Return how many things a noun means; 0 for all there are, -1 for some.

    'The cutlery' and 'the plates' are all of them, 'plates' some, 'a plate' one.
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

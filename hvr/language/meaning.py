"""The meaning of a sentence: entities, conditions on them, and relations between them."""

from __future__ import annotations

from hvr.values import Value

PORTION = 4
"""Most pieces that are sure to fit on a plate or in a bowl."""


class Condition(Value):
    """A PDDL condition on `?x`, as a word of the sentence asks for it.

    Args:
        template: PDDL text over `?x`.
        clause: number of the clause that asks for it, from 0: later clauses win.
        word: the word, for messages.
        requires: affordance class the entity must have, or None.
        moved: it is asked of a thing that is put somewhere: 'put a clean cup on the table'.
    """

    template: str
    clause: int
    word: str
    requires: str | None = None
    moved: bool = False


class SpatialRelation(Value):
    """Entity `inner` is on or in entity `outer` (by index).

    `part`: as a part of a dish.
    """

    inner: int
    outer: int
    clause: int
    word: str
    part: bool = False


class Nearness(Value):
    """An entity is near some other thing at the start.

    Args:
        word: the preposition: 'next to', 'left of'.
        classes: what the other thing may be.
        name: the other object's own name if it was said.
        text: the words for it, for messages.
    """

    word: str
    classes: tuple[str, ...]
    name: str | None
    text: str


class Entity(Value):
    """A thing, or several of a kind, that is spoken of.

    Args:
        classes: ontology classes that it may be, most preferred first.
        group: the classes are of equal rank (a fruit), not a preference.
        count: how many; 0 for all there are, -1 for some (two if there are two).
        conditions: what shall hold of it.
        selectors: PDDL conditions on `?x` that must hold of it at the start.
        place_from: classes of the place where it stands at the start, if it was said.
        liquid: PDDL name of the liquid that shall be in it.
        name: the object's own name (`mug-1`) if it was said.
        rests: it shall rest on a serving surface, wherever.
        serve: it shall stand at the preferred serving place.
        unnamed: a vessel that no one named: what a dish comes in.
        cut_from: number of the entity that these are pieces of.
        from_name: name of the object where it stands at the start, if it was said.
        distinct: it is another thing than all others of its class that are spoken of.
        each: what is put there goes to each of them, one by one.
        every: all of them in so many words, of which there may be none.
        everything: no noun says of what kind they are.
        apart: every thing that is put there has one of its own.
        used: it shall be used on the way, as the pan in which an egg is fried.
        likely: PDDL conditions on `?x` that hold of it at the start if they hold of any.
        turns: the condition on `?x` that a verb brings about, which something can only be meant
            of which it does not hold yet.
        somewhere: a place of which only is said what is near it.
        besides: numbers of entities whose objects are not meant.
        rest: those of `besides` that are used are not meant, rather than all that they can be.
        spare: how many of all are left out, whichever.
        holding: classes of a thing that is on or in it at the start, if that was said.
        source: it was only said that something stands there at the start.
        returns: number of the clause in which it goes back where it was at the start, or None.
        near: what it is near to, at the start; of several such things the nearest is meant.
        text: the words, for messages.
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
    distinct: bool = False
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
    holding: tuple[str, ...] = ()
    source: bool = False


class Ban(Value):
    """A condition that must not hold at any time.

    Args:
        condition: PDDL text over `?x`.
        classes: of the things that it is about; empty for all.
        name: the object's own name if it was said.
        most: how many things may be so at once.
        again: it may hold once, and not a second time.
    """

    condition: str
    classes: tuple[str, ...]
    name: str | None = None
    most: int = 0
    again: bool = False


class Meaning(Value):
    """The whole request.

    Args:
        text: the sentence.
        entities: everything spoken of.
        relations: what shall be on or in what.
        clauses: number of clauses.
        notes: what had to be assumed or was left out, one sentence each.
        unread: content words that did not enter the meaning, in the order of the sentence.
        ordered: numbers of the clauses that come after all before them, in so many words.
        bans: what must not be.
    """

    text: str
    entities: tuple[Entity, ...]
    relations: tuple[SpatialRelation, ...]
    clauses: int
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    ordered: tuple[int, ...] = ()
    bans: tuple[Ban, ...] = ()

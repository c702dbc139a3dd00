"""The words before a noun, and fixed phrases that name no object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from hvr.errors import LanguageError
from hvr.knowledge.ontology import FILLED, PLACE, VESSEL
from hvr.language.cursor import Cursor
from hvr.language.lexicon import Adjective, FunctionWord
from hvr.language.meaning import MeaningDraft
from hvr.language.syntax import Adjunct, Determiner
from hvr.language.taxonomy import Taxonomy, literals, negated
from hvr.values import Value

# Words before a noun ------------------------------------------------------------------------------
# The words before a noun: determiners, numbers and adjectives.

MOST = 20
"""Maximum number of objects in a request."""


def read_determiner(cursor: Cursor) -> Determiner:
    """Read determiners and numbers: 'the', 'two', 'all of the'; raise LanguageError for 0."""
    count: int | None = None
    nth = 0
    definite = other = each = both = apart = half = False
    while not cursor.done:
        if cursor.word().isdecimal():
            count = int(cursor.word())
            if count == 0:
                raise LanguageError("the request asks for 0 things: say how many")
            cursor.at += 1
            cursor.take("of")
            continue
        number, determiner = cursor.function("number"), cursor.function("det")
        if number and (determiner is None or number.length >= determiner.length):
            cursor.at += number.length
            count = count or int(number.entry.value)  # 'two of the three'
            cursor.take("of")
            continue
        if determiner is None or cursor.named() > determiner.length:
            break
        each = each or cursor.word() in {"each", "every"}
        cursor.at += determiner.length
        value = determiner.entry.value
        if value == "the":
            definite = True
        elif isinstance(value, str) and value[0].isdigit():
            nth = int(value[0])
            other = other or nth == 2  # 'the second' after 'the first'
            if nth != 2:  # objects have no numbers
                definite = True
                cursor.ignore(cursor.word(cursor.at - 1))
        elif value == "other":
            other = True
        elif value == "own":  # 'in its own cabinet'
            apart = True
        elif value == "both":
            definite = both = True
        elif value == "half":
            half, count = True, 0
        elif value == "rest":  # 'the rest of the slices'
            definite = other = True
            count = 0
        elif count is None:
            count = int(value)
    if count is not None and count > MOST:
        raise LanguageError(f"{count} is too many: hvr reads numbers up to {MOST}")
    return Determiner(count, definite, other, each, apart, both, half, nth)


def read_adjectives(cursor: Cursor) -> tuple[Adjective, ...]:
    """Read the adjectives before a noun; those that have no effect are recorded as ignored."""
    adjectives: list[Adjective] = []
    while not cursor.done:
        length = cursor.kind(Adjective)
        if length and length >= cursor.named():
            adjectives.append(cursor.take_adjective())
            linker = cursor.function("and")
            if cursor.word() == "," and (cursor.named(cursor.at + 1) or _slice_next(cursor)):
                cursor.at += 1  # 'a chilled, slice of bread'
            after = cursor.at + (linker.length if linker else int(cursor.word() == ","))
            if after > cursor.at and cursor.kind(Adjective, after):
                cursor.at = after
            continue
        passed = cursor.function("filler", "ignored")
        if passed is None or cursor.named():
            break
        cursor.note_ignored(passed)
        cursor.at += passed.length
        cursor.at = cursor.also(cursor.at)
    return tuple(adjectives)


def _slice_next(cursor: Cursor) -> bool:
    return cursor.function("slice", at=cursor.at + 1) is not None


def deny(adjective: Adjective) -> Adjective:
    return adjective.replace(
        word=f"not {adjective.word}", condition=negated(adjective.condition), selects=False
    )


def several(determiner: Determiner, word: FunctionWord) -> Determiner:
    """Apply a word for slices: 'slices' means some, 'the slices' all, 'a slice' one.

    A number in the determiner takes precedence.
    """
    if determiner.count is not None:
        return determiner
    count = 2 if determiner.both else int(word.value)
    if count < 0 and determiner.definite:
        count = 0
    return Determiner(count, determiner.definite, determiner.other)


# Fixed phrases ------------------------------------------------------------------------------------
# Phrases that name nothing themselves: 'back where it was', 'for two', 'the lower right of'.


def skip_part(cursor: Cursor) -> bool:
    """Skip the part of a place ('the lower right of') and note it; return whether it was there."""
    start = at = cursor.at
    while (match := cursor.function("part", "ignored", at=at)) and cursor.named(at) <= match.length:
        at += match.length
    if at == start or cursor.word(at) != "of" or not cursor.starts_thing(at + 1):
        return False
    cursor.at = at
    cursor.ignore(cursor.between(start))
    cursor.at += 1
    return True


def read_origin(cursor: Cursor) -> Adjunct | None:
    """Read a return to the initial place ('back where it was', 'back'), or return None."""
    match = cursor.function("origin")
    if match is None:
        return None
    after = cursor.at + match.length
    more = cursor.function("prep", "from", "with", at=after)
    if match.length == 1 and (more or cursor.starts_thing(after)):
        return None  # 'back on the table', 'put back the mug'
    cursor.at = after
    return Adjunct("origin", "back", ())


def for_how_many(cursor: Cursor) -> int | None:
    """Read 'for two' or 'for four people' and return the number, or return None."""
    match = cursor.function("for")
    number = cursor.function("number", at=cursor.at + match.length) if match else None
    at = cursor.at + (match.length if match else 0)
    count = int(number.entry.value) if number else 0
    if match and cursor.word(at).isdecimal():
        count = int(cursor.word(at))
    if not count:
        return None
    at += number.length if number else 1
    unit = cursor.function("unit", at=at)
    if unit:  # 'for two minutes'
        start, cursor.at = cursor.at, at + unit.length
        cursor.ignore(cursor.between(start))
        return None
    if cursor.starts_thing(at) and not cursor.function("people", at=at):
        return None
    cursor.at = at
    cursor.take("people")
    return count


def read_inside(cursor: Cursor) -> str:
    """Consume 'in it', 'on top of it' or 'inside' after contents; return `in`, `on` or ''."""
    if cursor.function("hand"):
        return ""
    there, more = cursor.function("there"), cursor.function("prep", "from", "unplaced")
    longer = there and more and more.length > there.length
    if there and not longer and not cursor.starts_thing(cursor.at + there.length):
        cursor.at += there.length
        return "in"
    prep = cursor.function("prep")
    if prep is None:
        return ""
    after = cursor.at + prep.length
    pronoun = cursor.function("pronoun", at=after)
    again = _named_again(cursor, after)
    if pronoun is None and not again:
        return ""
    cursor.at = after + (pronoun.length if pronoun else again)
    return str(prep.entry.value)


def _named_again(cursor: Cursor, at: int) -> int:
    """Return the length of a repeated noun phrase, or 0: 'a pan with an apple on the pan'."""
    if cursor.word(at) != "the" or not (length := cursor.named(at + 1)):
        return 0
    repeated = cursor.tokens[at + 1 : at + 1 + length]
    starts = range(cursor.clause_at, at - length)
    first = next((n for n in starts if cursor.named(n)), None)
    return (
        1 + length if first is not None and cursor.tokens[first : first + length] == repeated else 0
    )


def skip_interjection(cursor: Cursor) -> None:
    cursor.skip_fillers()
    if cursor.word() == ",":
        cursor.at += 1
        cursor.skip_fillers()
        if cursor.word() == ",":
            cursor.at += 1


# Emptiness ----------------------------------------------------------------------------------------
# The meaning of adjectives: 'the dirty mug' selects one, 'a hot coffee' requests a state.

# An empty cup contains no liquid; nothing is in an empty fridge.


def asks_empty(condition: str, taxonomy: Taxonomy) -> bool:
    """Return whether a condition only requires that an object is not filled, as 'empty' does."""
    return literals(condition) == {(taxonomy.roles.predicate(FILLED), False)}


def emptied(draft: MeaningDraft, number: int, condition: str) -> str:
    """Return the condition that a vessel has no liquid (`condition`) or a place has no objects."""
    if not draft.plays(number, PLACE):
        return condition
    nothing = nothing_at(draft, number)
    return f"(and {condition} {nothing})" if draft.plays(number, VESSEL) else nothing


def nothing_at(draft: MeaningDraft, number: int, kinds: Sequence[str] = ()) -> str:
    """Return the condition that no object (of `kinds`, if given) is in or on an entity."""
    relations = sorted({draft.taxonomy.relation(c) for c in draft.entities[number].classes})
    types = [draft.taxonomy.pddl_type(c) for c in kinds] or [draft.taxonomy.roles.thing_type]
    kind = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
    nothing = [f"(not (exists (?inside - {kind}) ({r} ?inside ?x)))" for r in relations]
    return nothing[0] if len(nothing) == 1 else f"(and {' '.join(nothing)})"


# Adjectives ---------------------------------------------------------------------------------------


class AdjectiveUse(Value):
    """The context of the adjectives before a noun, which decides whether they select or request.

    Args:
        condition: Condition that the verb achieves. In 'open the closed fridge', the verb ends the
            state of the adjective, so the adjective only describes.
        definite: Whether the noun has 'the'; for 'the open drawer', an open drawer is preferred.
        moved: Whether the verb moves the object.
        every: Whether the phrase means all such objects: 'put all clean dishes away' selects clean
            ones.
        into: Whether something is put there: 'in an empty drawer' selects a drawer that is empty
            now.
    """

    condition: str = ""
    definite: bool = False
    moved: bool = False
    every: bool = False
    into: bool = False


def qualify(
    draft: MeaningDraft,
    number: int,
    adjectives: Iterable[Adjective],
    use: AdjectiveUse | None = None,
) -> None:
    """Apply the adjectives before a noun, which select objects or request states."""
    use = use or AdjectiveUse()
    adjectives = tuple(adjectives)
    check_compatible(draft.taxonomy, adjectives)
    for adjective in adjectives:
        if draft.taxonomy.slices_it(adjective.condition):
            continue  # the noun already means the slices, if there are any
        methods = draft.taxonomy.methods
        empty = asks_empty(adjective.condition, draft.taxonomy)
        if use.into and empty and draft.plays(number, PLACE):
            draft.select(number, nothing_at(draft, number))
            if draft.plays(number, VESSEL):  # it may be full of water
                draft.demand(number, adjective.condition, f"be {adjective.word}", moved=use.moved)
            continue
        contrary = use.condition and methods.opposed(adjective.condition, use.condition)
        if adjective.selects or contrary or (use.every and use.moved):
            draft.select(number, adjective.condition)
            continue
        if use.definite:
            likely = (*draft.entities[number].likely, adjective.condition)
            draft.change(number, likely=likely)
        apply_adjective(draft, number, adjective, moved=use.moved)


def check_compatible(taxonomy: Taxonomy, adjectives: Sequence[Adjective]) -> None:
    """Raise LanguageError if two adjectives exclude each other."""
    for one, other in combinations(adjectives, 2):
        if taxonomy.methods.opposed(one.condition, other.condition):
            raise LanguageError(f"nothing can be both {one.word} and {other.word}")


def apply_adjective(
    draft: MeaningDraft, number: int, adjective: Adjective, *, moved: bool = False
) -> None:
    """Request the state of an adjective; if it only describes, select objects by it instead."""
    if adjective.selects:
        draft.select(number, adjective.condition)
        return
    condition = adjective.condition
    if asks_empty(condition, draft.taxonomy):
        condition = emptied(draft, number, condition)
    draft.demand(number, condition, f"be {adjective.word}", adjective.requires, moved=moved)
    heat_vessel(draft, number, adjective.condition)


def heat_vessel(draft: MeaningDraft, number: int, condition: str) -> None:
    """Choose the implied vessel, such as a kettle, for a liquid that is to be hot or cold."""
    entity = draft.entities[number]
    vessels = draft.taxonomy.methods.vessels_for(entity.liquid, condition)
    if entity.liquid and entity.unnamed and vessels:
        draft.change(number, classes=vessels)

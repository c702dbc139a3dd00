"""The grammar of noun phrases, and of the adverbs and prepositional phrases after them."""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import (
    PAUSES,
    Cursor,
    compound_dish,
    gerund,
    next_thing,
    predicate_goes_on,
    predicate_starts,
    skip_meal,
)
from hvr.language.lexicon import Adjective, Dish, Noun
from hvr.language.modifiers import (
    deny,
    for_how_many,
    read_adjectives,
    read_determiner,
    read_inside,
    read_origin,
    several,
    skip_interjection,
    skip_part,
)
from hvr.language.syntax import (
    PART_OF,
    Adjunct,
    Determiner,
    Nearby,
    NounGroup,
    NounPhrase,
    Predication,
)

# Phrases ------------------------------------------------------------------------------------------
# Noun phrases and the phrases that follow them, by recursive descent.
#
# group     := thing ((and | ,) thing)* predicate? adjunct*
# thing     := determiner? adjective* head ('of' thing)? relative?
# head      := noun | dish | 'slices' | mug-1 | it | everything
# adjunct   := (in | on | from | using | with …) thing
# predicate := (adjective | adjunct) (and …)*

_ACCOMPANIED = frozenset({"with", "together with", "along with", "accompanied by", "of"})
"""Prepositions before contents, tools or companions; 'containing' introduces only contents."""


def read_group(
    cursor: Cursor, after: str, *, listing: bool = False, subject: bool = False
) -> NounGroup:
    """Read noun phrases with the predicate and adjuncts after them.

    Args:
        after: The words before the phrases, for error messages.
        listing: Whether only noun phrases can follow, as after 'make' or 'I want'.
        subject: Whether a statement about the whole group may follow.
    """
    things = read_things(cursor, after, listing=listing, subject=subject)
    predicate = read_predicate(cursor) if predicate_starts(cursor) else Predication()
    return group_with(cursor, things, predicate)


def group_with(cursor: Cursor, things: tuple[NounPhrase, ...], predicate: Predication) -> NounGroup:
    """Read adjuncts, and return a group of the noun phrases, their predicate and these adjuncts."""
    adjuncts = (*predicate.adjuncts, *read_adjuncts(cursor))
    if adjuncts and not predicate and cursor.word() in {"on", "off"} and cursor.particle_here():
        # 'leave the lamp on the desk on'
        places = tuple(a for a in adjuncts if a.kind == "place")
        where = Predication((), places) if places else None
        things = tuple(t.replace(relative=t.relative or where) for t in things)
        adjuncts = tuple(a for a in adjuncts if a not in places)
        predicate = read_predicate(cursor)
    return NounGroup(things, adjuncts, Predication(predicate.adjectives, (), predicate.serve))


def read_accomplished(cursor: Cursor) -> NounGroup | None:
    """Read 'you closed the laptop' as a state to reach; return None unless a participle follows."""
    length = cursor.kind(Adjective, cursor.at + 1)
    if not length or not cursor.starts_thing(cursor.at + 1 + length):
        return None
    cursor.at += 1
    state = cursor.take_adjective()
    return NounGroup(read_things(cursor, state.word, listing=True), (), Predication((state,)))


def read_things(
    cursor: Cursor, after: str, *, listing: bool = False, subject: bool = False
) -> tuple[NounPhrase, ...]:
    """Read noun phrases joined by 'and' or commas; for the arguments, see `read_group`."""
    skip_meal(cursor)
    groups = [_alternatives(cursor, after)]
    commas_only = True
    while (start := next_thing(cursor, listing=listing, subject=subject)) is not None:
        if after == "with" and _has_own(cursor, start):
            break  # 'fill the mug with coffee, the cup with wine'
        commas_only = commas_only and cursor.word() == "," and start == cursor.at + 1
        cursor.at = start
        groups.append(_alternatives(cursor, after))
    return tuple(_like_first(thing, groups[0][0]) for thing in _chosen(cursor, groups, commas_only))


def _like_first(thing: NounPhrase, first: NounPhrase) -> NounPhrase:
    """Give a bare plural in a list the determiner of the first item: 'the forks and spoons'."""
    determiner = first.determiner
    whole = determiner.count == 0 or (determiner.definite and determiner.count is None)
    bare = thing.determiner == Determiner() and thing.kind == first.kind == "noun"
    if not (whole and bare and any(noun.plural or noun.collective for noun in thing.nouns)):
        return thing
    return thing.replace(determiner=determiner)


def _has_own(cursor: Cursor, start: int) -> bool:
    at, cursor.at = cursor.at, start
    try:
        read_thing(cursor, "with")
        return cursor.word() == "with"
    except LanguageError:
        return False
    finally:
        cursor.at = at


def _chosen(
    cursor: Cursor, groups: list[list[NounPhrase]], commas_only: bool
) -> tuple[NounPhrase, ...]:
    if cursor.denying:
        return tuple(thing for group in groups for thing in group)
    *before, last = groups
    if len(last) > 1 and commas_only and all(len(g) == 1 for g in before):
        groups = [[*(g[0] for g in before), *last]]
    elif before and len(last) > 1 and cursor.brackets.take(2):
        # 'the apple and the egg or the tomato': 'or' joins the last things, or it joins all before
        wholes = [[*(g[0] for g in before), last[0]], *([thing] for thing in last[1:])]
        return tuple(wholes[cursor.picks.take(len(wholes))])
    return tuple(g[cursor.picks.take(len(g))] if len(g) > 1 else g[0] for g in groups)


def _alternatives(cursor: Cursor, after: str) -> list[NounPhrase]:
    cursor.take("either")
    things = [read_thing(cursor, after)]
    while (at := cursor.after_or()) is not None and cursor.starts_thing(at):
        stated = cursor.denying and not (cursor.verb(at) or cursor.split_verb(at))
        stated = stated and not (cursor.ending and cursor.copular(at))
        if (cursor.clause_starts(at) and not stated) or cursor.function("prep", at=at):
            break  # in a condition, 'the mug or the cup is dirty' lists its subjects
        cursor.at = at
        things.append(read_thing(cursor, after))
    return things


def read_one_of(cursor: Cursor, after: str) -> NounPhrase:
    """Read a noun phrase, or several joined by 'or', of which this reading selects one."""
    return _chosen(cursor, [_alternatives(cursor, after)], True)[0]


def read_thing(cursor: Cursor, after: str) -> NounPhrase:
    cursor.skip_fillers()
    if cursor.done or cursor.word() in PAUSES:
        raise _ended(cursor, after)
    everything = cursor.function("everything")
    if everything and everything.length > cursor.named():
        start = cursor.at
        cursor.take("everything")
        return NounPhrase(
            "everything", cursor.between(start), Determiner(0), relative=_relative(cursor)
        )
    start = cursor.at
    if cursor.word() in {"him", "her", "them"} and cursor.word(cursor.at + 1) in {"a", "an"}:
        cursor.at += 1  # 'a coffee for me and him a glass of water'
    pronoun = _pronoun(cursor)
    if pronoun is not None:
        return pronoun
    determiner = read_determiner(cursor)
    if skip_part(cursor):  # 'the lower right of the stove'
        return read_thing(cursor, after)
    door = cursor.function("door")
    if door and cursor.word(cursor.at + door.length) == "of" and cursor.named() < door.length:
        cursor.at += door.length + 1
        return read_thing(cursor, after)
    if (
        door
        and determiner in {Determiner(definite=True), Determiner()}
        and cursor.named() < door.length
    ):
        cursor.at += door.length  # 'put the egg in the fridge and shut the door'
        return NounPhrase("pronoun", cursor.between(start), Determiner(1))
    if door and determiner.count == 0 and cursor.named() < door.length:
        cursor.at += door.length
        return NounPhrase("everything", cursor.between(start), determiner)
    if (determiner.count is not None or determiner.definite) and not cursor.starts_thing():
        if determiner.count is not None:  # 'put both on the table', 'slice two'
            return NounPhrase("pronoun", cursor.between(start), determiner)
        raise _unknown(cursor, after)
    pronoun = _pronoun(cursor)
    if pronoun is not None:
        return NounPhrase("pronoun", cursor.between(start), determiner)
    if cursor.take("apart"):
        determiner = determiner.replace(apart=True)
    adjectives = read_adjectives(cursor)
    thing = _head(cursor, determiner, adjectives, after)
    while (described := _description_after(cursor)) is not None:
        thing = thing.replace(adjectives=(*thing.adjectives, described))
    if determiner.half and not any(noun.plural for noun in thing.nouns):
        raise LanguageError(f"hvr cannot take half of {thing.text!r}: say how many slices")
    if determiner.both and any(noun.plural for noun in thing.nouns):
        thing = thing.replace(determiner=thing.determiner.replace(count=2))  # 'both mugs'
    if cursor.word() == "of" and cursor.take("own"):
        thing = thing.replace(determiner=thing.determiner.replace(apart=True))
    return thing.replace(relative=_relative(cursor))


def _description_after(cursor: Cursor) -> Adjective | None:
    for length, adjective in cursor.entries(Adjective):
        if adjective.selects and length > 1:
            cursor.at += length
            return adjective
    return None


def _ask(after: str) -> str:
    return "" if after in ("want", "is") else f"{after} what? "


def _unknown(cursor: Cursor, after: str) -> LanguageError:
    if cursor.done:
        return _ended(cursor, after)
    if _ask(after):
        return LanguageError(f"{_ask(after)}{_rest(cursor)} is not a thing that hvr knows")
    return LanguageError(
        f"{_rest(cursor)} is neither a thing nor an action that hvr knows; "
        "docs/reference/language.md lists the words"
    )


def _ended(cursor: Cursor, after: str) -> LanguageError:
    ended = f"the request ends too early: {cursor.text.strip()!r}"
    return LanguageError(f"{after} what? T{ended[1:]}" if _ask(after) else ended)


def _rest(cursor: Cursor) -> str:
    return repr(" ".join(cursor.tokens[cursor.at : cursor.at + 6]))


def _pronoun(cursor: Cursor) -> NounPhrase | None:
    """Read a pronoun or return None; 'both' and 'the other' are pronouns only without a noun."""
    match = cursor.function("pronoun", "rest")
    if match is None:
        return None
    length, function = match
    also_determiner = cursor.function("det")
    if also_determiner and (
        also_determiner.length > length or cursor.starts_thing(cursor.at + length)
    ):
        return None
    start = cursor.at
    cursor.at += length
    kind = "rest" if function.role == "rest" else "pronoun"
    return NounPhrase(kind, cursor.between(start), Determiner(int(function.value)))


def _head(
    cursor: Cursor, determiner: Determiner, adjectives: tuple[Adjective, ...], after: str
) -> NounPhrase:
    start = cursor.at
    if cursor.is_name():
        cursor.at += 1
        return NounPhrase("name", cursor.between(start), determiner, adjectives)
    length = cursor.named()
    slices = cursor.function("slice")
    if slices and slices.length >= length:
        return _slices(cursor, determiner, adjectives, after)
    if not length and adjectives and cursor.starts_thing():  # 'cooked the apple'
        raise LanguageError(
            f"hvr cannot make sense of {_rest(cursor)} after {adjectives[-1].word!r} in "
            f"{cursor.text.strip()!r}"
        )
    if not length:
        raise _unknown(cursor, after)
    part_of: tuple[Nearby, ...] = ()
    while cursor.modifier(length):
        part_of += _whole(cursor, length)
        cursor.at += length
        if not part_of:
            cursor.ignore(cursor.between(start))
        start, length = cursor.at, cursor.named()
    filled = compound_dish(cursor)
    if filled is not None and filled[0] > cursor.kind(Dish):
        cursor.at += filled[0]
        return NounPhrase("noun", cursor.between(start), determiner, adjectives, dish=filled[1])
    entries = cursor.lexicon.entries[cursor.tokens[start : start + length]]
    nouns = tuple(entry for entry in entries if isinstance(entry, Noun))
    dish = next((entry for entry in entries if isinstance(entry, Dish)), None)
    cursor.at += length
    if nouns and all(noun.loose for noun in nouns):
        cursor.notes.append(f"read {cursor.between(start)!r} as {nouns[0].loose!r}")
    whole = NounPhrase(
        "noun", cursor.between(start), determiner, adjectives, nouns, dish, nearby=part_of
    )
    compound = cursor.function("slice")
    if compound:  # 'tomato slices'
        cursor.at += compound.length
        return NounPhrase(
            "slices",
            cursor.between(start),
            several(determiner, compound.entry),
            adjectives,
            of=NounPhrase("noun", whole.text, nouns=nouns, dish=dish),
        )
    return _complemented(cursor, whole)


def _complemented(cursor: Cursor, whole: NounPhrase) -> NounPhrase:
    nouns = whole.nouns
    of_word = cursor.function("of")
    more = cursor.function("own", "filler")
    if (
        of_word
        and more
        and more.length > of_word.length
        and not cursor.named(cursor.at + more.length)
    ):
        of_word = None  # 'of its own', 'of the kitchen'
    if of_word and nouns and cursor.starts_thing(cursor.at + of_word.length):
        cursor.at += of_word.length
        if compound := _compound(cursor, whole):
            return compound
        whole_of = read_thing(cursor, "of")
        if {n.object_class for n in nouns} & {n.object_class for n in whole_of.nouns}:
            # 'the left basin of the sink', 'a bar of clean soap'
            return whole.replace(adjectives=(*whole.adjectives, *whole_of.adjectives))
        kinds, wholes = _fixed_types(cursor, nouns), _fixed_types(cursor, whole_of.nouns)
        if kinds and wholes and not kinds & wholes:  # but 'the light of the desk lamp' is the lamp
            return whole.replace(nearby=(*whole.nearby, Nearby(PART_OF, (whole_of,))))
        return whole.replace(of=whole_of)
    return whole


def _compound(cursor: Cursor, head: NounPhrase) -> NounPhrase | None:
    """Read 'the curtain of the shower' as 'the shower curtain', if this names anything."""
    at = cursor.after("det", cursor.at)
    end = at + cursor.named(at)
    text = " ".join((*cursor.tokens[at:end], head.text))
    nouns = tuple(e for e in cursor.lexicon.lookup(text) if isinstance(e, Noun))
    if end == at or not _fixed_types(cursor, nouns):
        return None  # 'a glass of water' is not a water glass
    cursor.at = end
    return head.replace(text=text, nouns=nouns)


def _whole(cursor: Cursor, length: int) -> tuple[Nearby, ...]:
    start, after = cursor.at, cursor.at + length
    nouns, parts = _nouns_at(cursor, start), _nouns_at(cursor, after)
    if not (_fixed_types(cursor, nouns) and _fixed_types(cursor, parts)):
        return ()
    if {n.object_class for n in nouns} & {n.object_class for n in parts}:
        return ()  # 'the toilet tank lid' is the toilet
    text = " ".join(cursor.tokens[start:after])
    return (Nearby(PART_OF, (NounPhrase("noun", text, Determiner(definite=True), nouns=nouns),)),)


def _nouns_at(cursor: Cursor, at: int) -> tuple[Noun, ...]:
    longest = cursor.kind(Noun, at)
    return tuple(noun for length, noun in cursor.entries(Noun, at) if length == longest)


def _fixed_types(cursor: Cursor, nouns: tuple[Noun, ...]) -> frozenset[str]:
    types = [cursor.lexicon.fixed.get(noun.object_class, frozenset()) for noun in nouns]
    return frozenset().union(*types) if all(types) else frozenset()


def _slices(
    cursor: Cursor, determiner: Determiner, adjectives: tuple[Adjective, ...], after: str
) -> NounPhrase:
    start = cursor.at
    word = cursor.take("slice")
    assert word is not None
    counted = several(determiner, word)
    cursor.take("slice")  # 'a slice piece of lettuce'
    of = None
    if cursor.take("of") or cursor.named():  # 'the slice potato'
        of = read_thing(cursor, f"{after} {cursor.between(start)}")
    return NounPhrase("slices", cursor.between(start), counted, adjectives, of=of)


def _relative(cursor: Cursor) -> Predication | None:
    predicate: Predication | None = None
    apart = cursor.word() == "," and cursor.function("relative", at=cursor.at + 1) is not None
    cursor.at += apart
    while cursor.function("relative") if predicate is None else _another_relative(cursor):
        start = cursor.at
        while cursor.take("relative") or cursor.take("be"):
            pass
        if "you" in cursor.between(start).split() and cursor.kind(Adjective):
            clause = Predication((cursor.take_adjective(),))  # 'that you washed'
        else:
            clause = read_predicate(cursor, sole_place=True)
        if not clause:
            raise cursor.parse_error()
        predicate = predicate.and_also(clause) if predicate else clause
    if apart and cursor.word() == ",":  # 'the mug, which is dirty, in the sink'
        cursor.at += 1
    return predicate


def _another_relative(cursor: Cursor) -> bool:
    linker = cursor.function("and")
    if linker is None:
        return False
    after = cursor.at + linker.length
    denied = cursor.word(after) == "not" and cursor.kind(Adjective, after + 1)
    if denied or cursor.function("relative", "be", at=after):
        cursor.at = after
        return True
    return False


# --- adjuncts ---------------------------------------------------------------------------


def read_adjuncts(cursor: Cursor) -> tuple[Adjunct, ...]:
    """Read all places, sources, means and contents at the cursor."""
    adjuncts: list[Adjunct] = []
    start = cursor.at
    while (adjunct := read_adjunct(cursor)) is not None:
        if adjunct.word.startswith("back ") and any(a.kind == "place" for a in adjuncts):
            cursor.at = start  # 'in the microwave, back in the sink': another stage
            break
        adjuncts.append(adjunct)
        start = cursor.at
    return tuple(adjuncts)


def read_adjunct(cursor: Cursor) -> Adjunct | None:
    """Read the place, source, means or contents at the cursor, or return None.

    A comma is consumed only before an adjunct; otherwise it joins noun phrases or clauses.
    """
    saved = cursor.at
    skip_interjection(cursor)
    if cursor.purpose() or absolute(cursor):
        cursor.at = saved
        return None
    either = cursor.function("either")
    if either and cursor.function("prep", at=cursor.at + either.length):
        cursor.at += either.length
    if cursor.take("hand", "recipient"):
        return Adjunct("hand", "in hand", ())
    own = cursor.function("own")
    if own and cursor.word() == "each" and cursor.function("prep", at=cursor.at + own.length):
        cursor.at += own.length  # 'put the fork and the knife each in a drawer'
    return _unplaced_adjunct(cursor) or _placed_adjunct(cursor, saved)


def absolute(cursor: Cursor) -> bool:
    """Return whether 'with' introduces the state of another object: 'with the lid closed'."""
    match, start = cursor.function("with"), cursor.at
    if match is None or cursor.word() != "with":
        return False
    cursor.at += match.length
    try:
        read_thing(cursor, "with")
        return cursor.word() != "," and predicate_starts(cursor)
    except LanguageError:
        return False
    finally:
        cursor.at = start


def _unplaced_adjunct(cursor: Cursor) -> Adjunct | None:
    """Read an adjunct without a named place ('anywhere', 'inside'), or return None."""
    if (anywhere := _anywhere(cursor)) is not None:
        return anywhere
    if (leaving_out := _exception(cursor)) is not None:
        return leaving_out
    if (origin := read_origin(cursor)) is not None:
        return origin
    there = cursor.function("there")
    more = cursor.function("prep", "from", "with", "unplaced")
    longer = there and more and more.length > there.length  # 'in front of' is not 'in'
    if there and not longer and not cursor.starts_thing(cursor.at + there.length):
        cursor.at += there.length  # 'open the microwave and put the potato inside'
        it = NounPhrase("pronoun", "it", Determiner(1))
        return Adjunct("place", "inside", (it,))
    return None


def _placed_adjunct(cursor: Cursor, saved: int) -> Adjunct | None:
    before = cursor.at
    if (persons := for_how_many(cursor)) is not None:
        return Adjunct("for", str(persons), ())
    if cursor.at > before:
        return read_adjunct(cursor)
    if _for_what(cursor):
        return read_adjunct(cursor)
    if (beside := _where(cursor)) is not None:
        return beside
    match = cursor.function("prep", "from", "means", "with", "unplaced", "of")
    noted = cursor.function("unsupported")
    if match is None or (noted and noted.length > match.length):
        if cursor.word(saved) == ",":
            cursor.at = saved
        return None
    length, function = match
    if function.role == "from" and cursor.function("unplaced", at=cursor.at + length):
        cursor.at += length  # 'from behind the television'
        near = read_adjunct(cursor)
        return near.replace(kind="beside") if near is not None and near.things else near
    if function.role == "unplaced" and cursor.function("each other", at=cursor.at + length):
        cursor.at += length
        cursor.take("each other")
        return Adjunct("together", "next to each other", ())
    if cursor.purpose() or not cursor.starts_thing(cursor.at + length):
        doing = cursor.word(cursor.at + length).endswith("ing") and cursor.verb(cursor.at + length)
        if function.role == "unplaced" and not doing:  # 'the cabinet below'
            cursor.ignore(" ".join(cursor.tokens[cursor.at : cursor.at + length]))
            cursor.at += length
            return read_adjunct(cursor)
        cursor.at = saved
        return None
    return _adjunct_after(cursor, length, function.role)


def _adjunct_after(cursor: Cursor, length: int, role: str) -> Adjunct:
    start = cursor.at
    cursor.at += length
    word = cursor.between(start)
    if role in {"with", "of"}:
        things = read_things(cursor, word, listing=True)
        contained = "" if word in _ACCOMPANIED else "in"
        return Adjunct("with", word, things, read_inside(cursor) or contained)
    kind = "place" if role == "prep" else role
    if word in {"between", "in between", "among"}:
        return Adjunct(kind, word, read_things(cursor, word, listing=True))
    if cursor.stating:
        return Adjunct(kind, word, tuple(_alternatives(cursor, word)))
    adjunct = Adjunct(kind, word, (read_one_of(cursor, word),))
    at = cursor.after_or()
    if at is not None and cursor.function("prep", at=at):  # 'on the plate or in the bowl'
        cursor.at = at
        other = read_adjunct(cursor)
        return other if other is not None and cursor.picks.take(2) else adjunct
    return adjunct


def read_spot(cursor: Cursor) -> tuple[Adjunct, ...]:
    """Read a place to find ('find a spot on the shelf to put the book'), or return ()."""
    start = cursor.at
    found = cursor.verb()
    cursor.at += found.length if found and found.entry.frame == "hold" else 0
    cursor.take("det")
    if found and cursor.at > start and (cursor.take("spot") or cursor.word() == "place"):
        cursor.at += cursor.word() == "place"
        places = read_adjuncts(cursor)
        purpose = cursor.purpose()
        cursor.at += purpose
        if purpose:
            return places
    cursor.at = start
    return ()


def _exception(cursor: Cursor) -> Adjunct | None:
    match = cursor.function("except")
    after = cursor.at + (match.length if match else 0)
    if match is None or not cursor.starts_thing(after) or cursor.verb(after):
        return None
    if cursor.word() == "but" and match.length == 1 and cursor.clause_starts(after):
        return None  # 'wash them, but the mug should be in the sink'
    saved, cursor.at = cursor.at, after
    word = " ".join(cursor.tokens[saved:after])
    things = read_things(cursor, "except")
    if cursor.function("first"):  # 'wash the mug, but the tomato first'
        cursor.at = saved
        return None
    return Adjunct("except", word, things)


def _anywhere(cursor: Cursor) -> Adjunct | None:
    """Read an unspecific place ('anywhere but the fridge', 'somewhere else'), or return None."""
    match = cursor.function("anywhere")
    if match is None:
        return None
    start = cursor.at
    cursor.at += match.length
    excluded = None
    if cursor.take("except"):
        cursor.take("prep")
        excluded = read_one_of(cursor, "except")
    place = NounPhrase("beside", cursor.between(start), of=excluded)
    return Adjunct("place", "on", (place,))


def _where(cursor: Cursor) -> Adjunct | None:
    """Read 'where the bread is' as a place next to the bread, or return None."""
    start = cursor.at
    cursor.at += int(cursor.word() == "to")
    if cursor.word() in {"where", "wherever"} and cursor.starts_exactly(cursor.at + 1):
        cursor.at += 1
        thing = read_thing(cursor, "where")
        if cursor.take("be"):
            return Adjunct("unplaced", "next to", (thing,))
    cursor.at = start
    return None


def _for_what(cursor: Cursor) -> bool:
    """Ignore a purpose such as 'for the salad' or 'for serving'; return whether there is one."""
    match = cursor.function("for")
    if match is None:
        return False
    start = cursor.at
    cursor.at += match.length
    use = cursor.last_verb()
    unit = cursor.function("unit", at=cursor.after("det", cursor.at))
    if unit and not cursor.named():  # 'for a sec'
        cursor.at = cursor.after("det", cursor.at) + unit.length
    elif use:
        cursor.at += use.length
    elif cursor.starts_thing():
        read_thing(cursor, "for")
    else:
        cursor.at = start
        return False
    cursor.ignore(cursor.between(start))
    return True


def read_predicate(cursor: Cursor, *, sole_place: bool = False) -> Predication:
    """Read a predicate: adjectives and adjuncts joined by 'and'.

    If `sole_place`, the predicate ends after one place or after the adjectives, and later adjuncts
    belong to the clause.
    """
    adjectives: list[Adjective] = []
    adjuncts: list[Adjunct] = []
    serve = False
    while not cursor.done:
        start = cursor.at
        passed = cursor.function("filler", "ignored")
        placed = cursor.function("placed")
        on_off = cursor.word() if cursor.word() in {"on", "off"} else ""
        if on_off and cursor.particle_here():
            cursor.at += 1
            adjectives += [
                e for e in cursor.lexicon.lookup(f"switched {on_off}") if isinstance(e, Adjective)
            ]
        elif placed and not cursor.kind(Adjective):
            serve = serve or cursor.word() == "served"
            cursor.at += placed.length
            continue
        elif cursor.word() == "not" and cursor.kind(Adjective, cursor.at + 1):
            cursor.at += 1
            adjectives.append(deny(cursor.take_adjective()))
        elif cursor.kind(Adjective):
            adjectives.append(cursor.take_adjective())
            if adjectives[-1].condition == cursor.lexicon.full and cursor.take("of"):
                adjectives.pop()  # 'full of water'
                adjuncts.append(Adjunct("with", "with", read_things(cursor, "of", listing=True)))
        elif (made := gerund(cursor)) is not None:
            adjectives.append(made)
        elif (adjunct := read_adjunct(cursor)) is not None:
            adjuncts.append(adjunct)
        elif passed:
            cursor.at = start
            cursor.note_ignored(passed)
            cursor.at += passed.length
            continue
        else:
            break
        if sole_place and (adjuncts or cursor.word() == ","):
            break
        more = not sole_place and cursor.function(
            "prep", "with", "means", "from", "unplaced", "except"
        )
        if not predicate_goes_on(cursor) and not more:
            break
    return Predication(tuple(adjectives), tuple(adjuncts), serve)

"""The grammar of clauses and their order.

request := clause ((then | and | , | .) clause)*
clause  := verb (and verb)* group ((and | ,) group)*
         | ('I want' | 'there should be') group …
         | ('make sure')? things (is | should be | contains) predicate
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hvr.errors import LanguageError
from hvr.language.cursor import PAUSES, STOPS, Cursor, next_thing, predicate_starts
from hvr.language.lexicon import Adjective, Dish, Verb, verb_of
from hvr.language.modifiers import read_inside
from hvr.language.negation import (
    denied,
    kept,
    left_alone,
    preserves,
    prohibits,
    read_dismissed,
    read_prohibition,
    read_report,
    reports,
)
from hvr.language.noun_phrases import (
    absolute,
    group_with,
    read_accomplished,
    read_adjunct,
    read_adjuncts,
    read_group,
    read_one_of,
    read_predicate,
    read_spot,
    read_thing,
    read_things,
)
from hvr.language.syntax import (
    IT,
    Adjunct,
    Clause,
    Determiner,
    Nearby,
    NounGroup,
    NounPhrase,
    Predication,
    Prohibition,
    fetch_only,
    goals_from_descriptions,
    goes_somewhere,
    insert_before_last,
    is_bare,
    ordered,
    pronouns,
    resolve_pronoun,
    with_adjuncts,
)

# Statements ---------------------------------------------------------------------------------------
# Clauses without a verb: which things must exist, and which properties they must have.


def read_statement(cursor: Cursor) -> Clause:
    """Read a clause that names a state: 'a hot coffee on the table', 'the mug should be clean'."""
    if cursor.take("none"):
        return _none(cursor)
    groups: list[NounGroup] = []
    told: NounGroup | None = None
    while True:
        group = read_group(cursor, "want", listing=True, subject=True)
        stated = _stated(cursor, group)
        if stated is not group:
            told = stated
        elif told and not (group.adjuncts or group.predicate):  # '… goes in the box, the pen too'
            stated = group.replace(adjuncts=told.adjuncts, predicate=told.predicate)
        groups.append(stated)
        at = next_thing(cursor, listing=True)
        if at is None:
            return Clause(None, tuple(groups))
        cursor.at = at


def _none(cursor: Cursor) -> Clause:
    """Read a state that must not hold for any object: 'no drawer is open'."""
    if cursor.starts_thing() and not cursor.states(cursor.at) and not cursor.function("prep"):
        group = read_group(cursor, "no", subject=True)
    else:
        group = NounGroup(
            (NounPhrase("everything", "nothing", Determiner(0)),), read_adjuncts(cursor)
        )
    stated = _stated(cursor, group)
    things = tuple(t.replace(determiner=Determiner(0), relative=None) for t in group.things)
    places = tuple(a for a in (*group.adjuncts, *stated.adjuncts) if a.kind == "place")
    if bool(places) == bool(stated.predicate.adjectives):
        raise LanguageError(
            f"hvr does not understand {cursor.text.strip()!r}: expected either a place or a "
            "state after 'nothing' or 'no'"
        )
    return Clause(None, (NounGroup(things, places[-1:], stated.predicate),), none=True)


def _stated(cursor: Cursor, group: NounGroup) -> NounGroup:
    """Return a group together with a statement after it, such as 'is clean', if there is one."""
    adjuncts = list(group.adjuncts)
    stated: Predication | None = None
    while cursor.states(cursor.at) or _to_be(cursor):
        if cursor.take("be not", "be never"):
            stated = denied(cursor, read_predicate(cursor))
            continue
        cursor.take("modal")
        if cursor.take("have"):
            things = read_things(cursor, "contain", listing=True)
            inside = read_inside(cursor) or "in"
            stated = Predication(
                (), (Adjunct("with", "with", things, inside), *read_adjuncts(cursor))
            )
        elif cursor.take("be", "needing"):
            if cursor.kind(Dish) and not cursor.kind(Adjective):
                raise cursor.parse_error()
            stated = read_predicate(cursor)
            if not stated and not cursor.states(cursor.at):
                raise cursor.parse_error()
        else:
            stated = read_passive(cursor)
    if stated is None:
        return group
    relative = Predication((), tuple(a for a in adjuncts if a.kind == "place"))
    near = tuple(Nearby(a.word, a.things) for a in group.adjuncts if a.kind == "unplaced")
    kept = tuple(a for a in adjuncts if a.kind not in {"place", "unplaced"})
    things = tuple(
        t.replace(
            nearby=(*t.nearby, *near), determiner=Determiner(0) if is_bare(t) else t.determiner
        )
        for t in group.things
    )
    if relative.adjuncts and stated:
        # 'the mug on the table should be clean': the place selects the mug
        things = tuple(t.replace(relative=t.relative or relative) for t in things)
    return NounGroup(
        things,
        (*kept, *stated.adjuncts),
        Predication((*group.predicate.adjectives, *stated.adjectives), (), stated.serve),
    )


def _to_be(cursor: Cursor) -> bool:
    if cursor.word() != "to" or not cursor.function("be", at=cursor.at + 1):
        return False
    cursor.at += 1
    return True


def read_passive(cursor: Cursor) -> Predication:
    """Read a predicate without 'be' ('should stand on the table'), or raise LanguageError."""
    predicate = read_predicate(cursor)
    if not predicate:
        raise LanguageError(
            f"hvr cannot make sense of {' '.join(cursor.tokens[cursor.at - 1 :][:6])!r} in "
            f"{cursor.text.strip()!r}"
        )
    return predicate


# Clauses ------------------------------------------------------------------------------------------

_LISTING = frozenset({"make", "serve", "hold"})
"""Frames of verbs after which a list of things continues instead of a new clause."""


def read_clauses(cursor: Cursor) -> tuple[tuple[Clause, ...], tuple[Prohibition, ...]]:
    """Read a request: return its clauses in the order of their goals, and its prohibitions."""
    clauses, prohibitions, then = list[Clause](), list[Prohibition](), False
    while not cursor.done:
        if cursor.word() in PAUSES:
            cursor.at += 1
            continue
        start = cursor.at
        _skip_to_ban(cursor)
        if cursor.function("after", "before"):
            clauses = (_after if cursor.function("after") else _before)(cursor, clauses)
        elif purpose := cursor.purpose():
            cursor.at += purpose
            clauses = fetch_only(cursor.lexicon, clauses)
            aims = ordered(read_clause(cursor), then and bool(clauses))
            clauses += [c.replace(purpose=n == 0 and bool(clauses)) for n, c in enumerate(aims)]
            then = False
        elif clauses and _by_doing(cursor, clauses[-1]):
            cursor.at += 1
            cursor.ignore(cursor.between(cursor.clause_at).rpartition(" ")[0])
            clauses = [*clauses[:-1], *read_clause(cursor)]
        elif clauses and cursor.word() == "to" and cursor.function("be", at=cursor.at + 1):
            cursor.at += 1
            clauses = [*fetch_only(cursor.lexicon, clauses), _passive_clause(cursor)]
        elif start and cursor.word() == "but":
            clauses = _but_first(cursor, clauses)
        elif clauses and (state := _until(cursor)) is not None:
            clauses.append(state)
        elif cursor.function("instead"):
            prohibitions += _read_instead(cursor)
        elif clauses and absolute(cursor):
            cursor.take("with")
            clauses += read_clause(cursor)
        elif clauses and clauses[-1].verb is not None and (means := _with_it(cursor)) is not None:
            clauses[-1] = with_adjuncts(clauses[-1], means)
        elif clauses and clauses[-1].verb is not None and _returns(cursor):
            clauses += ordered([_elliptic(cursor, clauses[-1])], True)
        elif linker := cursor.take("then", "and", "first"):
            then = _linked(cursor, clauses, then or linker.role == "then")
        elif (alone := left_alone(cursor)) or cursor.function("dismiss"):
            _sort_in(alone or read_dismissed(cursor), clauses, prohibitions)
        elif reports(cursor):
            clauses.append(read_report(cursor))
        elif prohibits(cursor):
            _sort_in(read_prohibition(cursor), clauses, prohibitions)
        else:
            read = _as_before(_separate_clauses(cursor, clauses, start), clauses, prohibitions)
            read = read if clauses else _about_banned(read, prohibitions)
            if preserves(cursor, start):
                prohibitions += [p for clause in read for p in kept(clause)]
            if clauses and not then and cursor.take("first"):  # 'put it away, but wash it first'
                clauses = insert_before_last(read, clauses)
            else:
                clauses += ordered(read, then and bool(clauses))
            then = False
        cursor.begun = bool(clauses)
        if cursor.at == start:  # nothing was consumed: avoid an endless loop
            raise cursor.parse_error()
    return tuple(goals_from_descriptions(clauses)), tuple(prohibitions)


def _sort_in(
    read: Clause | Prohibition, clauses: list[Clause], prohibitions: list[Prohibition]
) -> None:
    if isinstance(read, Prohibition):
        prohibitions.append(read)
    else:
        clauses.append(read)


def _skip_to_ban(cursor: Cursor) -> None:
    at = cursor.at
    while (passed := cursor.function("filler", "and", at=at)) and not cursor.verb(at):
        at += passed.length
    if cursor.function("forbid", "dismiss", at=at):
        cursor.at = at


def _as_before(
    read: list[Clause], clauses: Sequence[Clause], dismissed: Sequence[Prohibition] = ()
) -> list[Clause]:
    """Complete a clause that only names objects with the verb and places of the clause before.

    If there is no previous clause, the verb of the last dismissed action is used.
    """
    # 'put the mug in the fridge, then the cup', 'no need to wash the mug, just the plate'
    if len(read) != 1 or not read[0].bare:
        return read
    stated = clauses and (clauses[-1].groups[0].predicate or clauses[-1].groups[-1].adjuncts)
    if clauses and (clauses[-1].verb is not None or stated):
        last = clauses[-1].groups[-1]
        adjuncts = tuple(a for a in last.adjuncts if a.kind in {"place", "means", "unplaced"})
        groups = tuple(
            g.replace(adjuncts=adjuncts, predicate=last.predicate) for g in read[0].groups
        )
        return [read[0].replace(verb=clauses[-1].verb, groups=groups)]
    if dismissed and dismissed[-1].verb is not None:
        return [read[0].replace(verb=dismissed[-1].verb)]
    return read


def _about_banned(read: list[Clause], banned: Sequence[Prohibition]) -> list[Clause]:
    """Resolve a pronoun that refers to a prohibition: 'don't slice the lettuce, wash it'."""
    if not banned or any(thing.kind != "noun" for thing in banned[-1].things):
        return read
    return [
        c.replace(groups=tuple(resolve_pronoun(g, banned[-1].things) for g in c.groups))
        for c in read
    ]


def _but_first(cursor: Cursor, clauses: list[Clause]) -> list[Clause]:
    cursor.at += 1
    if clauses and cursor.take("first"):
        return insert_before_last(read_clause(cursor), clauses)
    early = _same_first(cursor, clauses[-1]) if clauses else []
    return insert_before_last(early, clauses) if early else clauses


def _same_first(cursor: Cursor, before: Clause) -> list[Clause]:
    start = cursor.at
    if before.verb is not None and cursor.starts_exactly(start) and not cursor.clause_starts(start):
        group = read_group(cursor, "but")
        if cursor.take("first"):
            return [Clause(before.verb, (group,))]
    cursor.at = start
    return []


def _linked(cursor: Cursor, clauses: list[Clause], then: bool) -> bool:
    place, late = cursor.function("prep", "from"), cursor.function("then")
    if late and place and late.length > place.length:
        return True  # 'and in the end wash it'
    if place and clauses and cursor.starts_thing(cursor.at + place.length):
        last = clauses[-1]
        if last.verb is not None and last.verb.frame == "put" and not goes_somewhere(last):
            # 'move it off the table and into the drawer'
            clauses[-1] = with_adjuncts(last, *read_adjuncts(cursor))
        else:
            clauses += ordered([_elliptic(cursor, last)], then)
        then = False
    return then


def _separate_clauses(cursor: Cursor, before: Sequence[Clause], start: int) -> list[Clause]:
    apart = not (before and start and cursor.named(start - 1))
    read = _choice_of_clauses(cursor)
    if not apart and any(clause.verb is None for clause in read):
        cursor.at = start  # 'make coffee bread'
        raise cursor.parse_error()
    cursor.skip_fillers()  # 'it is on the bed, i think'
    # 'give me my watch, it is on the table'
    told = cursor.word(start) in {"it", "they", "that"} and cursor.word(start + 1) in {"is", "are"}
    past = any(cursor.word(at) in {"was", "were"} for at in range(start, cursor.at))
    follows = cursor.after("filler", cursor.at + 1)
    past = bool(past or cursor.verb(follows) or cursor.function("light", at=follows))
    pauses = PAUSES if told else STOPS
    alone = cursor.done and start > 0 and cursor.word(start - 1) in pauses
    begins = start == 0 or cursor.word(start - 1) in PAUSES  # not 'is empty and its door is shut'
    ends = begins and cursor.word() in (PAUSES if past else STOPS)
    absent = bool(read) and read[0].none and cursor.word(start) == "there"  # 'there is no mug'
    if (alone or ends or absent) and _describes_state(cursor, start):
        read = [_as_given(clause) for clause in read]
    return read


def _as_given(clause: Clause) -> Clause:
    if not clause.none:
        return clause.replace(given=clause.verb is None)
    places = tuple(NounGroup(a.things) for g in clause.groups for a in g.adjuncts)
    return Clause(None, places, given=True, past=True)


def _describes_state(cursor: Cursor, start: int) -> bool:
    described = not {"is", "are", "was", "were"}.isdisjoint(cursor.tokens[start : cursor.at])
    return described and not any(
        cursor.function("modal", "ensure", at=at)
        or (cursor.function("goal", at=at) and cursor.word(at) != "there")
        for at in range(start, cursor.at)
    )


def _until(cursor: Cursor) -> Clause | None:
    match = cursor.function("until")
    after = cursor.at + (match.length if match else 0)
    if match is None or not (cursor.copular(after) or cursor.kind(Adjective, after)):
        return None
    cursor.at = after
    if cursor.copular(after):
        return read_statement(cursor)
    return Clause(None, (NounGroup((IT,), (), read_predicate(cursor)),))


def _read_instead(cursor: Cursor) -> list[Prohibition]:
    cursor.take("instead")
    cursor.take("prep")
    if cursor.verb():
        read_clause(cursor)  # 'instead of washing the mug' imposes nothing
        return []
    start = cursor.at
    thing = read_one_of(cursor, "instead of")
    if cursor.named():  # 'instead of the soap dish': a compound that names neither thing
        cursor.at += cursor.named()
        cursor.ignore(cursor.between(start))
        return []
    return [Prohibition(None, (thing,), instead=True)]


def _by_doing(cursor: Cursor, before: Clause) -> bool:
    if before.verb is None or before.verb.frame != "clear" or cursor.word() != "by":
        return False
    return cursor.word(cursor.at + 1).endswith("ing") and bool(cursor.verb(cursor.at + 1))


def _with_it(cursor: Cursor) -> Adjunct | None:
    start = cursor.at
    if cursor.take("use") is None or not cursor.starts_thing():
        cursor.at = start
        return None
    means = Adjunct("means", "using", (read_thing(cursor, "use"),))
    if cursor.function("to"):
        cursor.at = start
        return None
    return means


def _choice_of_clauses(cursor: Cursor) -> list[Clause]:
    cursor.take("either")
    read = read_clause(cursor)
    while (at := cursor.after_or()) is not None:
        cursor.at = at
        other = read_clause(cursor)
        read = other if cursor.picks.take(2) else read
    return read


def _passive_clause(cursor: Cursor) -> Clause:
    cursor.take("be")
    stated = read_passive(cursor)
    predicate = Predication(stated.adjectives, (), stated.serve)
    return Clause(None, (NounGroup((IT,), stated.adjuncts, predicate),))


def _after(cursor: Cursor, before: list[Clause]) -> list[Clause]:
    cursor.take("after")
    if cursor.word() != "you":
        return insert_before_last(_as_before(read_clause(cursor), before), before)
    # 'wash the mug and dry it after you open the window and light a candle': a whole sentence
    # follows, and comes before the whole sentence that precedes it.
    done = read_accomplished(cursor)
    early = [Clause(None, (done,))] if done else read_clause(cursor)
    while cursor.function("and"):
        cursor.take("and")
        early += read_clause(cursor)
    return [*early, *ordered(before, bool(early))]


def _before(cursor: Cursor, before: list[Clause]) -> list[Clause]:
    cursor.take("before")
    late = _as_before(read_clause(cursor), before)
    late = ordered(late, True)
    if before:
        return [*before, *late]
    named = late[0].groups[0].things if late else ()
    while cursor.word() == "," or cursor.function("then", "and"):
        if cursor.take("then", "and") is None:
            cursor.at += 1
    if cursor.done:
        return late
    early = read_clause(cursor)
    if early and late and pronouns(early[0].groups[0]):
        # 'before you slice the tomato wash it': the noun and the pronoun swap places
        first, last = early[0], late[0]
        early[0] = first.replace(
            groups=(resolve_pronoun(first.groups[0], named), *first.groups[1:])
        )
        late[0] = last.replace(groups=(last.groups[0].replace(things=(IT,)), *last.groups[1:]))
    return [*early, *late]


def _returns(cursor: Cursor) -> bool:
    place = cursor.function("prep") if cursor.word() == "back" else None
    return place is not None and cursor.starts_thing(cursor.at + place.length)


def _elliptic(cursor: Cursor, before: Clause) -> Clause:
    return Clause(before.verb, (NounGroup((IT,), read_adjuncts(cursor)),))


def read_clause(cursor: Cursor) -> list[Clause]:
    """Read a clause, or several with the same objects: 'wash and slice the tomato'.

    The result is empty if there are only filler words before the next pause.
    """
    cursor.clause_at = cursor.at
    cursor.skip_fillers()
    if cursor.word() == "do" and cursor.verb(cursor.at + 1):
        cursor.at += 1  # 'but do wash the spoon'
    cursor.take("first")
    if cursor.take("ensure"):
        cursor.skip_fillers()
        exists = cursor.take("goal")  # 'make sure there is a clean cup'
        if cursor.verb() is None:
            said = read_statement(cursor)
            if exists or said.none or any(g.predicate or g.adjuncts for g in said.groups):
                return [said]
            raise cursor.parse_error()  # 'check the stove'
    elif cursor.function("goal") and _prefers_goal(cursor):
        cursor.take("goal")
        if cursor.take("yourself"):
            return read_clause(cursor)
        cursor.skip_fillers()
        return [read_statement(cursor)]
    if cursor.done or cursor.word() in PAUSES:
        return []
    if (means := _fronted(cursor)) is not None:
        return [with_adjuncts(clause, means) for clause in read_clause(cursor)]
    if (light := _light(cursor)) is not None:
        return [light]
    if spot := read_spot(cursor):
        return [with_adjuncts(clause, *spot) for clause in read_clause(cursor)]
    if cursor.verb() or cursor.split_verb() or (cursor.begun and cursor.last_verb()):
        return _verbs(cursor)
    if cursor.starts_thing() or cursor.function("none"):
        said = read_statement(cursor)
        stated = any(g.predicate or g.adjuncts for g in said.groups)
        return [said.replace(bare=not (stated or said.none))]
    raise cursor.parse_error()


def _light(cursor: Cursor) -> Clause | None:
    """Read a verb after its object: 'give the plate a good wash', 'let the apple cool'."""
    start = cursor.at
    if cursor.take("light") is None:
        return None
    things = read_things(cursor, cursor.between(start), listing=True)
    if cursor.word(start) == "let":
        for length, verb in cursor.entries(Verb) if cursor.verb() is None else ():
            cursor.at += length
            return Clause(verb, (group_with(cursor, things, Predication()),))
        cursor.at = start
        return None
    if cursor.take("recipient") or cursor.done or cursor.word() in STOPS:
        return Clause(verb_of(cursor.lexicon, "hold"), (NounGroup(things),))
    cursor.take("det")
    cursor.skip_fillers()
    for length, verb in cursor.entries(Verb):
        cursor.at += length
        return Clause(verb, (group_with(cursor, things, Predication()),))
    raise cursor.parse_error()


def _fronted(cursor: Cursor) -> Adjunct | None:
    """Read the adjunct before a verb ('with a knife, …'), or return None."""
    start = cursor.at
    if cursor.take("use"):
        means = Adjunct("means", "using", (read_thing(cursor, "use"),))
        if cursor.take("to") is None:
            raise cursor.parse_error()
        return means
    excepting = cursor.function("except") and cursor.word() != "but"
    if cursor.verb() or not (excepting or cursor.function("prep", "with", "means", "from")):
        return None
    adjunct = read_adjunct(cursor)
    if cursor.word() == ",":
        cursor.at += 1
    verb = cursor.verb()
    if adjunct is None or not (verb or cursor.split_verb()):
        cursor.at = start
        return None
    tool = adjunct.kind == "with" and verb is not None and verb.entry.frame in {"put", "hold"}
    return adjunct.replace(kind="means") if tool else adjunct


def _prefers_goal(cursor: Cursor) -> bool:
    goal, verb = cursor.function("goal"), cursor.verb()
    assert goal is not None
    return verb is None or goal.length >= verb.length


# --- clauses with a verb ----------------------------------------------------------------


def _verbs(cursor: Cursor) -> list[Clause]:
    verbs: list[Verb] = []
    after: list[bool] = [False]  # for each verb, whether it explicitly follows the one before
    while True:
        match = cursor.verb()
        if match is None or not _another_verb(cursor, cursor.at + match.length):
            break
        verbs.append(match.entry)
        cursor.at += match.length
        if cursor.word() == ",":
            cursor.at += 1
        linker = cursor.take("and", "then")
        after.append(linker is not None and linker.role == "then")
    last, *also = _verb_clause(cursor)
    if not verbs:
        return [last, *also]
    # 'wash and slice the tomato': the first clause names the things and the others refer to them
    # by pronoun, so that all mean the same ones.
    things = tuple(thing for group in last.groups for thing in group.things)
    them = NounPhrase("pronoun", "them", Determiner(0))
    rest = tuple(
        NounGroup((IT if len(group.things) == 1 else them,), group.adjuncts, group.predicate)
        for group in last.groups
    )
    first = [Clause(verbs[0], (NounGroup(things),))]
    middle = [
        Clause(verb, (NounGroup(g.things),), then)
        for verb, then in zip(verbs[1:], after[1:-1], strict=True)
        for g in rest
    ]
    return [*first, *middle, Clause(last.verb, rest, after[-1]), *also]


def _another_verb(cursor: Cursor, at: int) -> bool:
    start = at
    at += cursor.word(at) == ","
    linker = cursor.function("and", "then", at=at)
    at += linker.length if linker else 0
    return at > start and cursor.verb(at) is not None


def _verb_clause(cursor: Cursor) -> list[Clause]:
    """Read a verb with its objects; 'turn the tap on and off' gives two clauses."""
    match = cursor.verb() or cursor.last_verb()
    # A contiguous two-word verb ('turn on') already has its particle.
    apart = cursor.particles() if match is None or match.length == 1 else {}
    verb = match.entry if match else None
    start = cursor.at
    cursor.at += match.length if match else 1
    words = cursor.between(start)
    _skip_recipient(cursor)
    if verb is not None and verb.frame == "put" and cursor.function("prep"):
        after_verb = cursor.at
        early = read_adjunct(cursor)  # 'put on the table a mug'
        if early is not None and cursor.starts_thing():
            group = read_group(cursor, words)
            return [Clause(verb, (group.replace(adjuncts=(early, *group.adjuncts)),))]
        cursor.at = after_verb
    listing = verb is not None and verb.frame in _LISTING
    if verb is not None and (state := _causative(cursor, verb)):
        return [Clause(verb, (group_with(cursor, read_things(cursor, words), state),))]
    left_out = cursor.begun and cursor.object_left_out()
    things = (IT,) if left_out else read_things(cursor, words, listing=listing)
    if cursor.word() == "back" and cursor.word(cursor.at + 1) in {"on", "off"} & set(apart):
        cursor.at += 1  # 'turn the lamp back on'
    particle = cursor.particle_here()
    if particle in apart:
        cursor.at += 1
        verb = apart[str(particle)]
        if particle == "back" and cursor.particle_here() == "down":
            cursor.at += 1
    if verb is None:  # 'turn the lamp on the desk off'
        group = group_with(cursor, things, Predication())
        conditions = {a.condition for a in group.predicate.adjectives}
        verb = next((v for v in apart.values() if v.condition in conditions), None)
        if verb is None:
            raise cursor.parse_error()
        return [Clause(verb, (group.replace(predicate=Predication()),))]
    also = _also(cursor, apart) if particle in apart else []
    groups = [group_with(cursor, things, _after_things(cursor))]
    while (at := next_thing(cursor, listing=listing)) is not None:
        cursor.at = at
        group = read_group(cursor, words, listing=listing)
        conditions = {a.condition for a in group.predicate.adjectives}
        other = next((v for v in apart.values() if v.condition in conditions), None)
        if other is not None and other != verb:  # 'turn the tv on and the lamp off'
            also.append(Clause(other, (group.replace(predicate=Predication()),)))
            continue
        groups.append(group)
        if cursor.particle_here() in apart:
            cursor.at += 1
    return [Clause(verb, tuple(groups)), *also]


def _causative(cursor: Cursor, verb: Verb) -> Predication:
    """Read the state between a verb such as 'make' and its object, if any: 'make clean the mug'."""
    switched = cursor.lexicon.lookup(f"switched {cursor.word()}")
    states = [*cursor.entries(Adjective), *((1, e) for e in switched if isinstance(e, Adjective))]
    for length, state in states if verb.frame in {"make", "hold"} else ():
        if cursor.starts_exactly(cursor.at + length) and not cursor.named():
            cursor.at += length
            return Predication((state,))
    return Predication()


def _also(cursor: Cursor, apart: Mapping[str, Verb]) -> list[Clause]:
    """Read further particles of the same verb as clauses: '… on and off', '… on and then off'."""
    clauses: list[Clause] = []
    while True:
        saved = cursor.at
        if cursor.word() == ",":
            cursor.at += 1
        linker = cursor.take("and", "then")
        particle = cursor.particle_here()
        if cursor.at == saved or particle not in apart:
            cursor.at = saved
            return clauses
        cursor.at += 1
        then = linker is not None and linker.role == "then"
        clauses.append(Clause(apart[str(particle)], (NounGroup((IT,)),), then))


def _skip_recipient(cursor: Cursor) -> None:
    person = cursor.word() in {"him", "her", "them"} and cursor.function("pronoun", "det")
    if person and person.length == 1 and cursor.starts_exactly(cursor.at + 1):
        cursor.at += 1  # 'make her a coffee'
    while (passed := cursor.function("filler", "recipient")) and passed.length > cursor.named():
        if cursor.kind(Adjective) >= passed.length:
            return
        cursor.at += passed.length


def _after_things(cursor: Cursor) -> Predication:
    return read_predicate(cursor) if predicate_starts(cursor) else Predication()

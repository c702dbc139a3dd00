"""Negation: exceptions ('all but one') and prohibitions ('without the microwave'), to PDDL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from hvr.errors import LanguageError
from hvr.knowledge.ontology import CARRIER, FILLED, INSTRUMENT, OPEN, PORTABLE, RUNNING
from hvr.language.adjuncts import Adjuncts
from hvr.language.cursor import PAUSES, Cursor
from hvr.language.lexicon import Adjective, verb_of
from hvr.language.meaning import Ban, MeaningDraft
from hvr.language.modifiers import deny
from hvr.language.noun_phrases import (
    read_adjuncts,
    read_group,
    read_predicate,
    read_thing,
    read_things,
)
from hvr.language.object_choice import ObjectChoice
from hvr.language.reference import ReferentReading, Referents
from hvr.language.syntax import (
    IT,
    Clause,
    Determiner,
    NounGroup,
    NounPhrase,
    Predication,
    Prohibition,
)
from hvr.language.taxonomy import characteristic_literal, literals, negated

# Prohibitions -------------------------------------------------------------------------------------
# 'without the microwave', 'do not open the fridge', 'never two doors open', 'must not be dirty'.
#
# prohibition := forbid verb things adjunct? | without (verb | 'using')? things
#              | forbid verb things 'twice'
#              | forbid ('have' | verb)? number (things | 'doors')? adjective? 'at once'?


def prohibits(cursor: Cursor) -> bool:
    """Return whether a prohibition begins at the cursor."""
    match, wish = cursor.function("forbid", "without"), cursor.function("ensure")
    if match is None:
        return _no_thing(cursor)
    return wish is None or wish.length < match.length


def _no_thing(cursor: Cursor) -> bool:
    after = cursor.at + 1 + cursor.named(cursor.at + 1)
    ends = cursor.word(after) in PAUSES | {""}
    return cursor.word() == "no" and after > cursor.at + 1 and ends


def read_prohibition(cursor: Cursor) -> Prohibition | Clause:
    """Read a prohibition, or a clause for a final state: 'do not leave the fridge open'."""
    if cursor.word() == "no":
        cursor.at += 1
    while cursor.take("forbid", "without"):
        pass
    if cursor.function("with", "means"):
        cursor.take("with", "means")  # 'but not with the sponge'
    start = cursor.at
    if cursor.function("prep"):  # '… on the table, not in the bowl'
        return Prohibition(None, (IT,), read_adjuncts(cursor))
    verb = cursor.verb()
    if verb is None and cursor.split_verb():  # 'do not turn it on'
        apart = cursor.particles()
        cursor.at += 1
        things = _any_of(cursor, cursor.between(start))
        if (particle := cursor.particle_here()) not in apart:
            raise cursor.parse_error()
        cursor.at += 1
        return Prohibition(apart[str(particle)], things, read_adjuncts(cursor))
    limit = _limit(cursor, cursor.at + (verb.length if verb else 0))
    if limit is None and (cursor.take("use") or cursor.take("means") or verb is None):
        return Prohibition(None, _any_of(cursor, "without"))
    if limit is None:
        assert verb is not None
        cursor.at += verb.length
        things = _any_of(cursor, cursor.between(start))
        state = read_predicate(cursor)
        if state.adjectives and verb.entry.frame == "put":  # 'do not leave the fridge open'
            return Clause(None, (NounGroup(things, (), denied(cursor, state)),))
        places = (*state.adjuncts, *read_adjuncts(cursor))
        again = cursor.take("twice") is not None
        return Prohibition(verb.entry, things, places, state.adjectives, again=again)
    cursor.at, most = limit
    things = _counted(cursor)
    cursor.take("at once")
    state = read_predicate(cursor, sole_place=True) if not cursor.done else Predication()
    cursor.take("at once")
    entry = verb.entry if verb else None
    if not (state.adjectives or (entry and entry.condition)):
        raise cursor.parse_error()
    return Prohibition(entry, things, (), state.adjectives, most)


def _any_of(cursor: Cursor, after: str) -> tuple[NounPhrase, ...]:
    cursor.denying = True
    things = read_things(cursor, after)
    cursor.denying = False
    return things


def read_dismissed(cursor: Cursor) -> Prohibition | Clause:
    """Read an unwanted action or object: 'forget the apple', 'no need to wash the mug'.

    For 'I don't want the tomato cold', return the clause for the opposite state.
    """
    start = cursor.at
    cursor.take("dismiss")
    verb = cursor.verb()
    cursor.at += verb.length if verb else 0
    things = [read_thing(cursor, cursor.between(start))]
    while (linker := cursor.function("and", "or")) and (
        cursor.starts_thing(at := cursor.at + linker.length) and not cursor.clause_starts(at)
    ):
        cursor.at = at
        things.append(read_thing(cursor, cursor.between(start)))
    adjuncts = read_adjuncts(cursor)
    if cursor.kind(Adjective):  # 'I don't want the tomato cold'
        state = denied(cursor, read_predicate(cursor))
        return Clause(None, (NounGroup(tuple(things), (), state),))
    if verb is None and any(a.kind == "place" for a in adjuncts):
        return Prohibition(None, tuple(things), adjuncts)  # 'I don't want the book on the bed'
    cursor.ignore(cursor.between(start))
    entry = verb.entry if verb else None
    return Prohibition(entry, tuple(things), adjuncts, dismissed=True)


def reports(cursor: Cursor) -> bool:
    """Return whether a report of an earlier action begins at the cursor."""
    subject = cursor.function("report")
    if subject is None:
        return False
    at = cursor.at + subject.length
    return bool(cursor.kind(Adjective, at)) and cursor.starts_thing(at + cursor.kind(Adjective, at))


def read_report(cursor: Cursor) -> Clause:
    """Read an action that preceded the request: 'I already washed the mug'."""
    start = cursor.at
    cursor.take("report")
    cursor.take_adjective()
    group = read_group(cursor, cursor.between(start), listing=True)
    cursor.ignore(cursor.between(start))
    return Clause(None, (NounGroup(group.things),), given=True, past=True)


def left_alone(cursor: Cursor) -> Prohibition | None:
    """Read objects to leave unchanged ('but leave the statue', 'keep the pen'), or return None."""
    start, last = cursor.at, cursor.tokens[: cursor.at]
    if cursor.word() not in {"leave", "keep"} or cursor.longest() > 1:
        return None
    cursor.at += 1
    if cursor.word() == "the" and cursor.word(cursor.at + 1) in {"one", "ones"}:
        raise cursor.parse_error()  # 'keep the one on the counter' is about another thing
    try:
        things = _any_of(cursor, cursor.between(start)) if cursor.starts_exactly(cursor.at) else ()
    except LanguageError:
        things = ()
    cursor.skip_fillers()
    named = [t for t in things if t.nouns and t.text.split()[-1] not in last]
    apart = cursor.begun or cursor.function("and", at=cursor.at) or cursor.word() == ","
    ends = cursor.done or cursor.word() in PAUSES or cursor.function("and", "then")
    if apart and ends and things and len(named) == len(things):
        return Prohibition(verb_of(cursor.lexicon, "hold"), things)
    cursor.at = start
    return None


def _limit(cursor: Cursor, at: int) -> tuple[int, int] | None:
    have = cursor.function("have", "goal", "be", at=at)
    at += have.length if have else 0
    more = cursor.function("more than", at=at)
    at += more.length if more else 0
    number = cursor.function("number", at=at)
    count = int(number.entry.value) if number else 0
    if cursor.word(at).isdecimal():
        count = int(cursor.word(at))
    if not count or (count == 1 and not more):
        return None
    return at + (number.length if number else 1), count if more else count - 1


def _counted(cursor: Cursor) -> tuple[NounPhrase, ...]:
    if cursor.take("of"):
        return read_things(cursor, "of")
    if cursor.take("door") or not cursor.named():
        return (NounPhrase("everything", "doors", Determiner(0)),)
    return read_things(cursor, "two")


def denied(cursor: Cursor, state: Predication) -> Predication:
    """Negate the adjectives of a predicate that follows 'is not'.

    Raises:
        LanguageError: The predicate has a place or no adjectives.
    """
    if state.adjuncts or state.serve or not state.adjectives:
        raise LanguageError(
            f"hvr does not understand a place to avoid in {cursor.text.strip()!r}: "
            "say where to put things instead"
        )
    return Predication(tuple(deny(a) for a in state.adjectives))


def preserves(cursor: Cursor, start: int) -> bool:
    """Return whether the words since `start` preserve a state: 'keep the fridge closed'."""
    return any(
        cursor.word(at) == "keep" or cursor.function("be never", at=at)
        for at in range(start, cursor.at)
    )


def kept(clause: Clause) -> list[Prohibition]:
    """Return prohibitions that preserve a state, for 'keep the fridge closed'."""
    return [
        Prohibition(None, group.things, (), (deny(adjective),), keeps=True)
        for group in clause.groups
        for adjective in group.predicate.adjectives
    ]


# Exceptions ---------------------------------------------------------------------------------------

_SPOKEN_OF = frozenset({"it", "them", "these", "those"})
"""Pronouns that refer to named things; in 'all but one', 'one' only counts."""


def leave_out(
    referents: Referents, things: Iterable[int], exceptions: Iterable[NounPhrase]
) -> None:
    """Exclude exceptions from objects: 'everything in the sink except the mug'.

    Raises:
        LanguageError: No phrase means all objects, or an exception names no object.
    """
    draft = referents.draft
    all_of = [n for n in draft.live(things) if draft.entities[n].count == 0]
    if not all_of:
        raise LanguageError(
            "hvr understands 'except' only after 'all' or 'everything'"
            f"{draft.taxonomy.example('exception')}"
        )
    for exception in exceptions:
        if exception.dish and not exception.nouns:  # a cup of it would have to be filled first
            raise LanguageError(f"hvr cannot leave out {exception.text!r}: name a thing")
        count = exception.determiner.count
        if exception.kind == "pronoun" and exception.text not in _SPOKEN_OF and count:
            for number in all_of:
                draft.change(number, spare=count)
            continue
        own = exception.kind == "noun" and count is None
        # Resolve to a new entity: a known one would be the very set to exclude from.
        alone = exception.replace(determiner=Determiner(0)) if own else exception
        others = referents.of(alone, ReferentReading(wanted=False))
        for number in all_of:
            _without(draft, number, [n for n in others if n != number])


def _without(draft: MeaningDraft, number: int, others: list[int]) -> None:
    entity = draft.entities[number]
    for other in others:
        left_out = draft.entities[other]
        described = left_out.selectors or left_out.place_from or left_out.name or left_out.near
        classes = tuple(c for c in entity.classes if c not in left_out.classes)
        if classes and not described:
            entity = entity.replace(classes=classes)
        else:
            entity = entity.replace(besides=(*entity.besides, other))
    draft.entities[number] = entity


def exclude_contradicted(draft: MeaningDraft) -> None:
    """Exclude objects with the opposite state from 'all …': 'all lights off but the lamp on'."""
    opposed = draft.taxonomy.methods.opposed
    groups = [n for n, entity in enumerate(draft.entities) if entity.count == 0]
    for number in groups:
        entity = draft.entities[number]
        contrary = [
            n
            for n, other in enumerate(draft.entities)
            if set(other.classes) < set(entity.classes)
            and n not in entity.besides
            and any(
                opposed(a.template, b.template) for a in entity.conditions for b in other.conditions
            )
        ]
        _without(draft, number, contrary)


# Constraints --------------------------------------------------------------------------------------
# Prohibitions become PDDL constraints on every state of a plan:
#
# without the microwave     (always (forall (?x - microwave) (not (toggled ?x))))
# do not open the fridge    (always (forall (?x - fridge) (not (opened ?x))))
# never two doors open      (always (not (exists (?a ?b - item) (and (not (= ?a ?b)) …))))
# never open it twice       (forall (?x - fridge) (at-most-once (opened ?x)))


class Forbidding:
    def __init__(self, draft: MeaningDraft, adjuncts: Adjuncts) -> None:
        self.draft = draft
        self.taxonomy = draft.taxonomy
        self.referents = adjuncts.referents
        self.adjuncts = adjuncts

    def take(self, prohibition: Prohibition) -> None:
        for thing in prohibition.things:
            if prohibition.dismissed:
                self._dismiss(prohibition, thing)
                continue
            if prohibition.verb is None and self._is_other_place(prohibition, thing):
                continue
            if prohibition.verb is None and prohibition.adjuncts:
                named = (c for a in prohibition.adjuncts for c in a.classes)
                self._other_vessel(set(self.taxonomy.concrete_of(named)))
            if prohibition.instead and not self._is_tool(thing):
                continue  # 'in the bowl instead of the fridge' only gives a place
            if self._left_out(prohibition, thing):
                continue
            self._exclude(prohibition, thing)
            requires = prohibition.verb.requires if prohibition.verb else None
            classes, name = self._meant(thing, requires)
            if requires and classes and not any(self.taxonomy.is_a(c, requires) for c in classes):
                assert prohibition.verb is not None
                raise LanguageError(
                    f"cannot {prohibition.verb.word} {thing.text!r}: say which thing is meant"
                )
            if prohibition.keeps and self._is_place(classes):
                continue  # 'put the apple in the fridge and keep it closed': a final state
            for condition in self._conditions(prohibition, classes):
                ban = Ban(condition, classes, name, prohibition.most, prohibition.again)
                self.draft.bans.append(ban)

    def _exclude(self, prohibition: Prohibition, thing: NounPhrase) -> None:
        """Exclude objects that must stay from those moved: 'clear the table, leave the vase'."""
        kinds = set(self.taxonomy.concrete_of(thing.classes))
        moves = prohibition.verb is None or prohibition.verb.frame in {"put", "hold"}
        moves = moves and not (prohibition.adjuncts or prohibition.adjectives)
        for number, entity in enumerate(self.draft.entities):
            group = entity.count == 0 and self.draft.is_goal(number)
            if moves and group and kinds & set(entity.classes):
                leave_out(self.referents, [number], [thing])

    def _dismiss(self, prohibition: Prohibition, thing: NounPhrase) -> None:
        """Raise LanguageError if the request also asks for the dismissed action or object."""
        classes = set(self.taxonomy.concrete_of(thing.classes))
        liquid = thing.dish.liquid if thing.dish else None
        verb = prohibition.verb
        for number, entity in enumerate(self.draft.entities):
            same = classes & set(entity.classes) or (liquid and entity.liquid == liquid)
            if verb is not None and verb.condition:
                same = same and any(c.template == verb.condition for c in entity.conditions)
            if not (classes or liquid) or (same and self.draft.is_goal(number)):
                raise LanguageError(
                    f"{thing.text!r} is both requested and dismissed: say only what to do"
                )

    def _is_other_place(self, prohibition: Prohibition, thing: NounPhrase) -> bool:
        """Remove the prohibited classes from a destination; return whether any was removed."""
        if prohibition.adjectives or prohibition.adjuncts or prohibition.instead:
            return False
        classes = set(self.taxonomy.concrete_of(thing.classes))
        excluded = False
        for number in {r.outer for r in self.draft.relations}:
            entity = self.draft.entities[number]
            others = tuple(c for c in entity.classes if c not in classes)
            if others != entity.classes and others and not self.draft.plays(number, PORTABLE):
                self.draft.change(number, classes=others)
                excluded = True
        return excluded

    def _left_out(self, prohibition: Prohibition, thing: NounPhrase) -> bool:
        """Remove an ingredient ('a salad without tomato'); return whether a dish contained it."""
        if prohibition.verb is not None or prohibition.adjectives or prohibition.adjuncts:
            return False
        classes = set(self.taxonomy.concrete_of(thing.classes))
        classes |= {p for c in classes if (p := self.taxonomy.pieces(c))}
        parts = [
            r.inner
            for r in self.draft.relations
            if r.part and classes & set(self.draft.entities[r.inner].classes)
        ]
        for number in parts:
            self.draft.forget(number)
        if not parts:
            self._other_vessel(classes)
        return bool(parts)

    def _other_vessel(self, classes: set[str]) -> None:
        for number, entity in enumerate(self.draft.entities):
            others = tuple(c for c in entity.classes if c not in classes)
            if entity.unnamed and others:
                self.draft.change(number, classes=others)

    def _is_tool(self, thing: NounPhrase) -> bool:
        runs = self.taxonomy.roles.bearer(RUNNING)
        return any(
            self.taxonomy.plays(c, INSTRUMENT) or (runs is not None and self.taxonomy.is_a(c, runs))
            for c in thing.classes
        )

    def _meant(
        self, thing: NounPhrase, requires: str | None = None
    ) -> tuple[tuple[str, ...], str | None]:
        if thing.kind == "everything":
            return (), None
        if thing.dish is not None and not thing.nouns:
            raise LanguageError(f"hvr cannot leave out {thing.text!r}: say which thing not to use")
        if thing.nouns:
            classes = set(self.taxonomy.concrete_of(thing.classes))
        else:
            number = self.referents.of(thing, ReferentReading(wanted=False, requires=requires))[0]
            classes = set(self.draft.entities[number].classes)
            if thing.kind == "name":
                self.adjuncts.forget_means(number)
                return tuple(sorted(classes)), thing.text
        return tuple(sorted(self.taxonomy.with_controls(classes))), None

    def _is_place(self, classes: tuple[str, ...]) -> bool:
        return any(
            set(self.draft.entities[r.outer].classes) & set(classes) for r in self.draft.relations
        )

    def _conditions(self, prohibition: Prohibition, classes: tuple[str, ...]) -> Iterator[str]:
        verb = prohibition.verb
        if prohibition.adjectives:
            yield from (a.condition for a in prohibition.adjectives)
        elif prohibition.adjuncts and (places := self._places(prohibition)):
            yield places
        elif verb is None:
            used = {self._use(c) for c in classes}
            yield from sorted(used - {""}) or ["(near ?x)"]
            vessels = [c for c in classes if self.taxonomy.plays(c, CARRIER)]
            if vessels:
                # It may already stand where it would be used.
                thing = self.taxonomy.roles.thing_type
                inside = {f"({self.taxonomy.relation(c)} ?inside ?x)" for c in vessels}
                yield from (f"(exists (?inside - {thing}) {at})" for at in sorted(inside))
        elif verb.frame == "state" and verb.condition:
            yield characteristic_literal(verb.condition)
        elif verb.frame in {"put", "hold", "clear", "discard", "drop", "set"}:
            yield "(holding ?x)"
        elif verb.frame in {"fill", "transfer"}:
            yield self.taxonomy.state(FILLED)
        else:
            raise LanguageError(
                f"hvr cannot forbid {verb.word!r}: say what must not be used, opened, moved or "
                f"switched on{self.taxonomy.example('ban')}"
            )

    def _use(self, object_class: str) -> str:
        taxonomy = self.taxonomy
        for role in (RUNNING, OPEN):
            able = taxonomy.roles.bearer(role)
            if able is not None and taxonomy.is_a(object_class, able):
                return taxonomy.state(role)
        return "(holding ?x)" if taxonomy.plays(object_class, PORTABLE) else ""

    def _places(self, prohibition: Prohibition) -> str:
        parts = []
        for adjunct in prohibition.adjuncts:
            for thing in adjunct.things if adjunct.kind == "place" else ():
                classes, name = self._meant(thing)
                for place in classes:
                    relation = self.taxonomy.relation(place)
                    kind = self.taxonomy.pddl_type(place)
                    parts.append(
                        f"({relation} ?x {name})"
                        if name
                        else f"(exists (?place - {kind}) ({relation} ?x ?place))"
                    )
        return parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})" if parts else ""


def constraints(choice: ObjectChoice, bans: tuple[Ban, ...]) -> tuple[str, ...]:
    """Return prohibitions as trajectory constraints, omitting objects that violate one initially.

    Limits on counts and repetitions are always included.
    """
    return tuple(dict.fromkeys(text for ban in bans for text in _constraint(choice, ban)))


def _constraint(choice: ObjectChoice, ban: Ban) -> Iterator[str]:
    classes = [c for c in ban.classes if choice.inventory.of(c)]
    if ban.classes and not classes:
        return  # the scene has no such thing
    if ban.most:
        yield _at_most(choice, ban, classes)
        return
    if ban.again:
        once = f"(at-most-once {ban.condition})"
        named = once.replace("?x", ban.name) if ban.name else None
        yield named or f"(forall (?x - {_kind(choice, classes)}) {once})"
        return
    names = (ban.name,) if ban.name else tuple(n for c in classes for n in choice.inventory.of(c))
    parts = literals(ban.condition)
    late = [n for n in names if choice.holds(ban.condition, n)]
    if len(parts) == 1 and not next(iter(parts))[1]:
        # 'do not close the fridge': things that are open stay open
        wanted = negated(ban.condition)
        yield from (f"(always {wanted.replace('?x', n)})" for n in names if n not in late)
        return
    if late:
        choice.note(f"already true, so not forbidden: {', '.join(late)}")
    if ban.name or late:
        yield from (
            f"(always (not {ban.condition.replace('?x', n)}))" for n in names if n not in late
        )
        return
    kind = _kind(choice, classes)
    yield f"(always (forall (?x - {kind}) (not {ban.condition})))"


def _at_most(choice: ObjectChoice, ban: Ban, classes: list[str]) -> str:
    variables = [f"?x{number}" for number in range(1, ban.most + 2)]
    apart = [f"(not (= {a} {b}))" for a, b in combinations(variables, 2)]
    so = [ban.condition.replace("?x", variable) for variable in variables]
    kind = _kind(choice, classes)
    body = " ".join((*apart, *so))
    return f"(always (not (exists ({' '.join(variables)} - {kind}) (and {body}))))"


def _kind(choice: ObjectChoice, classes: list[str]) -> str:
    types = list(dict.fromkeys(choice.taxonomy.pddl_type(c) for c in classes))
    return (
        f"(either {' '.join(types)})"
        if len(types) > 1
        else types[0]
        if types
        else choice.taxonomy.roles.thing_type
    )

"""The grammar of statements about a scene.

    statement := sentence ((and | but | or) (sentence | predicate))*
    sentence  := (there is | you find) [no | COUNT] things place*
               | [no | neither | COUNT] things place* predicate
    predicate := is [not] state place* | has [no | COUNT] things
    COUNT     := at least two | more than two | at most two | exactly two …

A pronoun means one of the objects that were mentioned before (`mentions`): the first ones of which
the predicate can be true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypedDict

from hvr.errors import LanguageError
from hvr.knowledge.ontology import FILLED, PLACE, PORTABLE, VESSEL
from hvr.language.cursor import STOPS, Cursor, expand_idioms
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.modifiers import read_inside
from hvr.language.noun_phrases import read_adjuncts, read_predicate, read_things
from hvr.language.spelling import corrections, with_object_names
from hvr.language.syntax import Adjunct, Determiner, NounPhrase, Predication
from hvr.language.taxonomy import literals
from hvr.language.truth import (
    CompoundStatement,
    SceneStatement,
    SceneView,
    Statement,
    StatementJudge,
)
from hvr.values import Value

Things: TypeAlias = tuple[NounPhrase, ...]
Mentions: TypeAlias = Sequence[tuple[str, ...]]
"""Objects that were mentioned before; each entry has the objects of one noun phrase."""

_STILL = frozenset("still currently already yet anymore actually really now again".split())
"""Adverbs that add nothing to what holds now."""

_SOME = {"something": "anything", "somewhere": "anywhere"}
_ANYTHING: Things = (NounPhrase("everything", "anything"),)
_GENERIC = frozenset({"things", "thing", "objects", "items", "item", "object"})
_YOU = frozenset({"you", "we", "i"})
_FINDING = frozenset("can could do have has had see find spot got notice found".split())
_NOT = frozenset(
    "not never isn't aren't wasn't weren't hasn't haven't doesn't don't didn't can't cannot".split()
)
_ASKING = frozenset("is are was were isn't aren't does do has have did".split())
_COPULA = frozenset({"been", "being", "do", "does", "did"})
_PERFECT = frozenset({"has", "have", "had"})
_RESTING = frozenset("lying laying standing sitting resting located placed kept".split())
_FLOATING = frozenset({"all", "both", "each"})
_SEVERAL = frozenset({"they", "them", "these", "those"})

_COUNTS: tuple[tuple[tuple[str, ...], int | None, int | None], ...] = (
    (("no", "more", "than"), None, 0),
    (("not", "more", "than"), None, 0),
    (("no", "fewer", "than"), 0, None),
    (("no", "less", "than"), 0, None),
    (("at", "least"), 0, None),
    (("at", "most"), None, 0),
    (("more", "than"), 1, None),
    (("fewer", "than"), None, -1),
    (("less", "than"), None, -1),
    (("exactly",), 0, 0),
    (("only",), 0, 0),
)
"""Words before a number, with what they add to it for the minimum and the maximum, if any."""


class _Limits(Value):
    """Limits relative to the following number; `given` says whether the sentence states any."""

    least: int | None = 0
    most: int | None = None
    given: bool = False


def read_statement(
    text: str,
    reader: Reader,
    view: SceneView,
    mentions: Mentions = (),
    unread: list[str] | None = None,
) -> Statement:
    """Read a clause as a statement: 'there is an egg in the fridge'.

    Args:
        unread: List to which the words that the statement does not cover are added.

    Raises:
        LanguageError: The clause was not understood.
    """
    text = with_object_names(text, view.inventory, reader.taxonomy, reader.lexicon)
    said = [_SOME.get(t, t) for t in tokenize(text) if t not in STOPS | _STILL]
    said = [t for n, t in enumerate(said) if t != "left" or not _is_remaining(said, n)]
    if "same" in said:
        raise LanguageError(f"hvr cannot compare things in the condition {text!r}: name them")
    if "neither" in said[2:]:  # 'the mug is neither dirty nor full'
        said = " ".join(said).replace(" neither ", " not ").replace(" nor ", " and not ").split()
    for at in range(2, len(said)):  # 'there is no bread there'
        if said[at] == "there" and (*said[at + 1 : at + 2], "")[0] not in _ASKING:
            said[at] = said[at] if said[at - 1] in {"in", "on", "and", "or"} else "inside"
    (corrected, *_) = corrections(tuple(said), reader.lexicon)
    cursor = Cursor(text, expand_idioms(corrected.tokens, reader.lexicon), reader.lexicon)
    statement = StatementReader(reader, view, mentions).statement(cursor)
    if unread is not None:
        unread += cursor.unread
    return statement


def _is_remaining(words: Sequence[str], at: int) -> bool:
    """Return whether 'left' means 'remaining': 'there are eggs left in the fridge'."""
    before, after = words[at - 1] if at else "the", (*words[at + 1 : at + 2], "in")[0]
    return before not in {"the", "on", "to", "a"} and after in {"in", "on", "inside", "at"}


def only(statement: Statement, name: str) -> Statement:
    """Restrict a statement to one of its objects."""
    if isinstance(statement, CompoundStatement):
        parts = tuple(only(part, name) for part in statement.statements)
        return statement.replace(statements=parts)
    return statement.replace(things=(name,)) if name in statement.things else statement


class StatementReader:
    def __init__(self, reader: Reader, view: SceneView, mentions: Mentions = ()) -> None:
        self.judge = StatementJudge(reader, view)
        self._mentions = mentions
        self._about: Things = ()

    def statement(self, cursor: Cursor) -> Statement:
        """Read a whole text as a statement.

        Raises:
            LanguageError: The text was not understood, or words are left.
        """
        cursor.denying = cursor.stating = True  # A statement asks for no choice: 'or' lists all.
        return self.continued(cursor, self._sentence(cursor))

    def continued(self, cursor: Cursor, first: Statement) -> Statement:
        """Read the sentences and predicates that 'and' and 'or' join to the first statement.

        Raises:
            LanguageError: The text was not understood, or words are left.
        """
        either: list[list[Statement]] = [[first]]
        while True:
            cursor.skip_fillers()
            if cursor.done:
                return _joined([_joined(both) for both in either], either=True)
            comma = cursor.word() == ","
            cursor.at += comma
            before = either[-1][-1]
            but = cursor.word() in {"but", "yet"}
            if cursor.take("or"):
                either.append([])
            elif cursor.take("and") is None and not (but or comma):
                raise cursor.parse_error()
            cursor.at += cursor.word() in {"but", "yet"}
            either[-1].append(self._further(cursor, before))

    def _further(self, cursor: Cursor, before: Statement) -> Statement:
        start, about, mentions = cursor.at, self._about, self._mentions
        try:
            self._mentions = (before.mentioned, *mentions)
            return self._sentence(cursor)
        except LanguageError:
            cursor.at = start
            return self.predicated(cursor, about) if about else self.existing(cursor)
        finally:
            self._mentions = mentions

    def _sentence(self, cursor: Cursor) -> Statement:
        self._about = ()
        asked = cursor.at == 0 and cursor.word() in _ASKING
        cursor.at += asked
        if cursor.word() == "there":
            cursor.at += 1
            positive, contains, _ = _read_copula(cursor)
            if contains:
                raise cursor.parse_error()
            return self.existing(cursor, denied=not positive)
        if cursor.word() in _YOU:
            denied = False
            while cursor.word() in _YOU | _FINDING | _NOT:
                denied = denied or cursor.word() in _NOT
                cursor.at += 1
            return self.existing(cursor, denied=denied)
        none = cursor.word() == "neither" or cursor.take("none") is not None
        cursor.at += cursor.word() == "neither"
        cursor.take("of")
        limits = _read_limits(cursor)
        things, either = self._things(cursor, "is", nothing=none, subject=True)
        return self.predicated(cursor, things, either=either, none=none, limits=limits)

    def existing(self, cursor: Cursor, *, denied: bool = False) -> Statement:
        """Read what exists or, if `denied`, does not: 'an egg or an apple in the fridge'."""
        limits = _read_limits(cursor)
        none = not limits.given and cursor.take("none") is not None
        denied = denied or none
        alone = cursor.word() == "only"  # 'there is only an egg in it'
        cursor.at += alone
        things, either = self._things(cursor, "there is", nothing=none)
        cursor.skip_fillers()
        places = self._resolved(Predication((), read_adjuncts(cursor)))
        held = [a.things for a in places.adjuncts if a.kind == "place"] if places else []
        if held and all(thing.dish and thing.dish.liquid for thing in things):
            inside = Predication((), (Adjunct("with", "with", things),))  # 'wine in the cup'
            return SceneStatement(self.names(held[0]), inside, denied=denied)
        single = SceneStatement((), places or None, denied=denied)
        found = [
            single.replace(things=self.names(group), open=_is_open(group)).replace(
                **_numbers(group, limits)
            )
            for group in ([things] if either or denied else [(thing,) for thing in things])
        ]
        if alone:
            said = self.names(things)
            others = tuple(name for name in self.names(_ANYTHING) if name not in said)
            found.append(single.replace(things=others, denied=not denied, open=True))
        return _joined(found)

    def names(self, things: Iterable[NounPhrase], *, anything: bool = False) -> tuple[str, ...]:
        found = (n for thing in things for n in self.judge.things(thing, anything=anything))
        return tuple(dict.fromkeys(found))

    def subjects(self, cursor: Cursor) -> tuple[Things, bool]:
        """Read the subjects of a statement, and whether the statement is about any one of them."""
        if cursor.word() in {"anything", "everything"}:
            word = cursor.word()
            cursor.at += 1
            return (NounPhrase("everything", word),), word == "anything"
        return self._listed(cursor, "is", subject=True)

    def _things(
        self, cursor: Cursor, after: str, *, nothing: bool, subject: bool = False
    ) -> tuple[Things, bool]:
        """Read things, and whether one is enough; a negation (`nothing`) needs no noun phrase."""
        number = cursor.function("number")
        at = cursor.at + (number.length if number else int(cursor.word().isdecimal()))
        if cursor.word(at) in _GENERIC:  # 'two things'
            word = cursor.word()
            count = int(number.entry.value) if number else int(word) if word.isdecimal() else 1
            cursor.at = at + 1
            return (NounPhrase("everything", "anything", Determiner(count)),), True
        if cursor.word() == "anything" or (nothing and not cursor.starts_thing()):
            cursor.at += cursor.word() == "anything"
            return _ANYTHING, True
        return self.subjects(cursor) if subject else self._listed(cursor, after)

    def _listed(self, cursor: Cursor, after: str, *, subject: bool = False) -> tuple[Things, bool]:
        start, cursor.ending = cursor.at, not subject
        things = read_things(cursor, after, listing=True, subject=subject)
        words = cursor.tokens[start : cursor.at]
        if len(things) < 2 or {"or", "nor"}.isdisjoint(words):
            return things, False
        if "and" in words:
            raise LanguageError(
                f"{cursor.between(start)!r} has 'and' and 'or': ask one thing at a time"
            )
        return things, True

    # --- predicates ----------------------------------------------------------------------

    def predicated(
        self,
        cursor: Cursor,
        things: Things,
        *,
        either: bool = False,
        none: bool = False,
        limits: _Limits | None = None,
    ) -> Statement:
        """Read the predicate of subjects: 'in the sink are not dirty', 'contains an apple'.

        Args:
            either: Whether it is enough that one subject satisfies the predicate.
            none: Whether no subject may satisfy the predicate.
            limits: Limits on the number of subjects that satisfy it.
        """
        self._about = things
        where = self._restriction(cursor)
        positive, contains, every = _read_copula(cursor)
        if contains:
            return self._containing(cursor, things, none=none, positive=positive, every=every)
        predicate = self._resolved(read_predicate(cursor))
        if not predicate and (state := cursor.verb_state()) is not None:
            predicate = Predication((state,))
        if not predicate:
            raise cursor.parse_error()
        if any(a.kind == "together" for a in predicate.adjuncts) and len(things) == 2:
            predicate = Predication((), (Adjunct("unplaced", "next to", things[1:]),))
            things = things[:1]
        limits = limits or _Limits()
        found = []
        for group in [things] if either or none or limits.given else [(t,) for t in things]:
            names = self._meant(group, predicate)
            whole = every or any(_is_whole(thing) for thing in group)
            one = len(names) == 1 and any(thing.determiner.definite for thing in group)
            found.append(
                SceneStatement(
                    names,
                    predicate,
                    where=where or None,
                    every=(whole or one) and not (none or limits.given),
                    open=_is_open(group) and not whole,
                    denied=none,
                    positive=positive,
                    **_numbers(group, limits),
                )
            )
        return _joined(found)

    def _restriction(self, cursor: Cursor) -> Predication:
        start = cursor.at
        places = read_adjuncts(cursor)
        if places and (cursor.states(cursor.at) or cursor.word() in _NOT | _COPULA):
            return self._resolved(Predication((), places))
        cursor.at = start
        return Predication()

    def _containing(
        self, cursor: Cursor, things: Things, *, none: bool, positive: bool, every: bool
    ) -> Statement:
        """Read the contents of subjects as a statement about the contents or the subjects."""
        limits = _read_limits(cursor)
        nothing = not limits.given and cursor.take("none") is not None
        inner, either = self._things(cursor, "contain", nothing=nothing)
        read_inside(cursor)
        positive = positive is not nothing
        contents = Predication((), (Adjunct("with", "with", (inner[0],), "in"),))
        holders = self._meant(things, contents)
        if limits.given or any(
            (t.determiner.count or 0) > 1 for t in inner
        ):  # 'the sink has more than two mugs in it'
            within = Predication(
                (), (Adjunct("place", "in", tuple(NounPhrase("name", n) for n in holders)),)
            )
            counted = SceneStatement(self.names(inner), within, denied=none is positive)
            return counted.replace(open=_is_open(inner), **_numbers(inner, limits))
        whole = every or any(t.determiner.each or t.determiner.both for t in things)
        whole = whole or any(t.determiner.count == 0 for t in things)
        whole = whole or (not positive and any(map(_is_whole, things)))  # 'the drawers have no …'
        one = len(holders) == 1 and any(t.determiner.definite for t in things)
        single = SceneStatement(
            holders, contents, every=(whole or one) and not none, denied=none, positive=positive
        )
        found = []
        for thing in inner:
            inside = Predication((), (Adjunct("with", "with", (thing,), "in"),))
            found.append(single.replace(predicate=inside))
        return _joined(found, either=either and positive)

    # --- things --------------------------------------------------------------------------

    def _meant(self, things: Things, predicate: Predication) -> tuple[str, ...]:
        """Return the objects that noun phrases mean and of which a predicate can be true."""
        if any(thing.kind == "pronoun" for thing in things):
            return self._referents(things[0], lambda name: self._can_be(name, predicate))
        names = self.names(things, anything=not predicate.adjuncts)
        if any(thing.kind == "everything" for thing in things):
            names = tuple(name for name in names if self._can_be(name, predicate))
        if not names:
            raise LanguageError(f"there is no {' or '.join(t.text for t in things)} here")
        for thing in things:
            self._check_both(thing)
        return names

    def _check_both(self, thing: NounPhrase) -> None:
        if thing.determiner.both and any(noun.plural for noun in thing.nouns):
            names = self.names((thing,))
            if len(names) < 2:
                there = f"only {self.judge.called(names[0])}" if names else "none"
                raise LanguageError(f"both {thing.text}? There is {there} here")

    def _can_be(self, name: str, predicate: Predication) -> bool:
        taxonomy, kind = self.judge.taxonomy, self.judge.inventory.classes[name]
        holds = all(a.kind != "with" for a in predicate.adjuncts)
        full = taxonomy.roles.predicate(FILLED)
        said = {name for a in predicate.adjectives for name, _ in literals(a.condition)}
        holds = holds and full not in said
        return (holds or taxonomy.plays(kind, PLACE) or taxonomy.plays(kind, VESSEL)) and all(
            adjective.requires is None or taxonomy.is_a(kind, adjective.requires)
            for adjective in predicate.adjectives
        )

    def _referents(self, thing: NounPhrase, fits: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the objects that a pronoun means; raise LanguageError if no object fits."""
        found = [names for names in self._mentions if any(map(fits, names))]
        if not found:
            raise LanguageError(f"it is not clear what {thing.text!r} refers to: name the thing")
        if thing.text.split()[-1] not in _SEVERAL:
            return found[0]
        several = next((names for names in found if len(names) > 1), ())
        return several or tuple(dict.fromkeys(name for names in found[:2] for name in names))

    def _resolved(self, predicate: Predication) -> Predication:
        adjuncts = tuple(
            a.replace(things=tuple(named for t in a.things for named in self._as_places(t, a.word)))
            for a in predicate.adjuncts
        )
        return predicate.replace(adjuncts=adjuncts)

    def _as_places(self, thing: NounPhrase, word: str) -> Things:
        if thing.kind == "beside":
            raise LanguageError(f"{thing.text!r} is not a place that hvr can look at: name a place")
        if thing.nearby:  # the drawers of a dresser stay the same when they are open
            return tuple(NounPhrase("name", name) for name in self.judge.things(thing))
        if thing.kind != "pronoun":
            return (thing,)
        taxonomy, classes = self.judge.taxonomy, self.judge.inventory.classes

        def fits(name: str, fixed: bool) -> bool:
            inside = word in {"in", "inside"} and fixed
            relation = not inside or taxonomy.relation(classes[name]) == "in"
            carried = fixed and taxonomy.plays(classes[name], PORTABLE)
            return taxonomy.plays(classes[name], PLACE) and relation and not carried

        likely = any(fits(name, True) for names in self._mentions for name in names)
        names = self._referents(thing, lambda name: fits(name, likely))
        return tuple(NounPhrase("name", name) for name in names)


def _read_copula(cursor: Cursor) -> tuple[bool, bool, bool]:
    """Return whether a verb affirms, whether it means 'contain', and if 'all' or 'both' follows."""
    positive = True
    every = False
    while not cursor.done:
        word, after = cursor.word(), cursor.word(cursor.at + 1)
        if word in _NOT:
            positive = False
        elif word in _PERFECT and after in {"been", "not", "never", "got"}:
            cursor.at += after == "got"
            if after == "got":
                cursor.at += 1
                return positive, True, every
        elif word in _FLOATING:
            every = True
        elif word in _RESTING and cursor.function("prep", at=cursor.at + 1):
            pass  # 'is lying on the sofa'
        elif cursor.take("be not"):
            positive = False
            continue
        elif word not in _COPULA:
            if cursor.take("have"):
                return positive, True, every
            if cursor.take("modal", "be"):
                continue
            break
        cursor.at += 1
    return positive, False, every


def _read_limits(cursor: Cursor) -> _Limits:
    """Read words that limit a following number, such as 'more than', if there are any."""
    for words, least, most in _COUNTS:
        after = cursor.at + len(words)
        number = cursor.function("number", at=after) or cursor.word(after).isdecimal()
        if cursor.tokens[cursor.at : after] == words and number:
            cursor.at = after
            return _Limits(least, most, given=True)
    return _Limits()


class _Numbers(TypedDict):
    least: int
    most: int | None


def _numbers(things: Things, limits: _Limits) -> _Numbers:
    """Return the limits for a statement's objects; LanguageError for a share, such as half."""
    if any(thing.determiner.half for thing in things):
        raise LanguageError("hvr cannot count half of these things: say how many")
    count = max(1, things[0].determiner.count or 1) if len(things) == 1 else 1
    least = 0 if limits.least is None else count + limits.least
    return _Numbers(least=least, most=None if limits.most is None else count + limits.most)


def _is_open(things: Things) -> bool:
    return any(thing.kind == "everything" for thing in things)


def _is_whole(thing: NounPhrase) -> bool:
    """Return whether a noun phrase means all its objects: 'all mugs', 'the mugs', 'everything'."""
    determiner = thing.determiner
    if thing.kind == "everything":
        return thing.text != "anything"
    plural = determiner.definite and determiner.count is None and bool(thing.nouns)
    plural = plural and all(noun.plural for noun in thing.nouns)
    every = determiner.count == 0 or determiner.both or determiner.each
    several = thing.kind == "pronoun" and determiner.count == 0
    return every or plural or several


def _joined(statements: Sequence[Statement], *, either: bool = False) -> Statement:
    return statements[0] if len(statements) == 1 else CompoundStatement(tuple(statements), either)

"""Statements and questions about a scene, read by the grammar and answered from the facts.

    where is the mug?                      what is in the fridge?
    is the fridge open?                    which cabinets are empty?
    is there an apple on the table?        how many mugs are clean?

A statement is true, false, or unknown if the robot has not looked at all relevant places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from hvr.errors import LanguageError
from hvr.knowledge.ontology import CONTAINS, FILLED, PLACE, PORTABLE, VESSEL
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.cursor import Cursor, expand_idioms
from hvr.language.grammar import Reader
from hvr.language.lexicon import Adjective, tokenize
from hvr.language.meaning import Meaning, Nearness
from hvr.language.noun_phrases import read_adjuncts, read_predicate, read_things
from hvr.language.object_choice import ObjectChoice
from hvr.language.spatial import nearest
from hvr.language.spelling import corrections, with_object_names
from hvr.language.syntax import Adjunct, NounPhrase, Predication
from hvr.language.taxonomy import literals
from hvr.values import Value

Truth = bool | None
"""Whether a statement holds; None if the robot has not seen enough to tell."""


class SceneView(Value):
    """What the robot knows about a scene, and the places into which it has not looked."""

    inventory: Inventory
    unseen: frozenset[str] = frozenset()


class SceneStatement(Value):
    """A statement about objects.

    Args:
        every: Whether the statement is about all `things`, not just about one.
        things: The objects that the statement is about.
        denied: Whether the statement is negated as a whole: 'no mug is clean'.
        predicate: The predicate, or None for a statement of mere existence.
        positive: Whether the predicate is affirmed; False in 'the mug is not clean'.
        least: Minimum number of objects unless `every`: 'two mugs are clean'.
        also: Further statements that must hold: 'the mug and the plate are clean' makes two.
    """

    things: tuple[str, ...]
    every: bool
    denied: bool
    predicate: Predication | None
    positive: bool = True
    least: int = 1
    also: tuple[SceneStatement, ...] = ()

    @property
    def parts(self) -> tuple[SceneStatement, ...]:
        """All statements that must hold, each about one noun phrase."""
        return (self.replace(also=()), *self.also)

    @property
    def mentioned(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.things))


class QuestionAnswer(Value):
    """The answer to a question, and the objects that it names, to which later turns can refer."""

    text: str
    things: tuple[str, ...] = ()


Things: TypeAlias = tuple[NounPhrase, ...]


# Evaluation ---------------------------------------------------------------------------------------


class StatementJudge:
    def __init__(self, reader: Reader, view: SceneView) -> None:
        self.reader = reader
        self.view = view
        self.taxonomy = reader.taxonomy
        self.inventory = view.inventory
        empty = Meaning("", (), (), 0)
        self._holds = ObjectChoice(empty, self.taxonomy, self.inventory, reader.domain).holds

    def truth(self, statement: SceneStatement) -> Truth:
        return _all(self._truth(part) for part in statement.parts)

    def _truth(self, statement: SceneStatement) -> Truth:
        if statement.predicate is None:
            values: list[Truth] = [True for _ in statement.things]
        else:
            values = [self.fits(name, statement.predicate) for name in statement.things]
        if not statement.positive:
            values = [None if value is None else not value for value in values]
        found = _all(values) if statement.every else _at_least(statement.least, values)
        return None if found is None else found is not statement.denied

    def fits(self, name: str, predicate: Predication) -> Truth:
        values = [self._adjective(name, adjective) for adjective in predicate.adjectives]
        values += [self._adjunct(name, adjunct) for adjunct in predicate.adjuncts]
        return _all(values)

    def looks(self, statement: SceneStatement) -> tuple[str, ...]:
        """Return the unseen places that can decide a statement; places that it names come first."""
        return tuple(
            dict.fromkeys(place for part in statement.parts for place in self._looks(part))
        )

    def _looks(self, statement: SceneStatement) -> tuple[str, ...]:
        named = [
            place
            for adjunct in (statement.predicate.adjuncts if statement.predicate else ())
            for thing in adjunct.things
            for place in self.things(thing)
            if place in self.view.unseen
        ]
        own = [name for name in statement.things if name in self.view.unseen]
        inside = [p for n in statement.things for p in self.above(n) if p in self.view.unseen]
        chosen = dict.fromkeys([*named, *own, *inside])
        lost = [n for n in statement.things if n in self.inventory.unplaced]
        if not chosen and lost:
            chosen = dict.fromkeys(sorted(self.view.unseen))
        return tuple(chosen)

    def things(self, thing: NounPhrase, *, anything: bool = False) -> tuple[str, ...]:
        """Return the objects that a noun phrase can mean; empty if none fits the description.

        Args:
            anything: Whether "anything" includes furniture: 'is anything open?'

        Raises:
            LanguageError: The phrase names a missing object or is not a noun phrase.
        """
        if thing.kind == "name":
            if thing.text not in self.inventory.classes:
                raise LanguageError(f"there is no {thing.text} here")
            return (thing.text,)
        if thing.kind == "everything":
            every = self.inventory.classes
            names = [n for n in every if anything or self.inventory.true("pickupable", n)]
        elif thing.kind == "slices" and thing.of is not None:
            classes = {p for c in thing.of.classes for p in self.taxonomy.slices(c)}
            names = [n for n, c in self.inventory.classes.items() if c in classes]
        elif thing.nouns:
            names = [n for c in thing.classes for n in self.inventory.of(c)]
            if not names:  # a light is switched by its switch
                kinds = set(self.taxonomy.concrete_of(thing.classes))
                controls = sorted(self.taxonomy.with_controls(kinds) - kinds)
                names = [n for c in controls for n in self.inventory.of(c)]
        else:
            raise LanguageError(f"it is not clear which thing {thing.text!r} is")
        there = [n for n in names if self.taxonomy.is_there(self.inventory, n)]
        for adjective in thing.adjectives:
            there = [n for n in there if self._adjective(n, adjective)]
        if thing.relative:
            there = [n for n in there if self.fits(n, thing.relative)]
        return tuple(dict.fromkeys(there))

    def _adjective(self, name: str, adjective: Adjective) -> Truth:
        if adjective.requires and not self.taxonomy.is_a(
            self.inventory.classes[name], adjective.requires
        ):
            return False
        asked = literals(adjective.condition)
        if {p for p, _ in asked} == {self.taxonomy.roles.predicate(FILLED)}:
            return self._filled(name, next(iter(asked))[1])
        if name in self.inventory.unplaced:
            return None
        return self._holds(adjective.condition, name)

    def _filled(self, name: str, wanted: bool) -> Truth:
        values: list[Truth] = []
        kind = self.inventory.classes[name]
        if self.taxonomy.plays(kind, VESSEL):
            values.append(self._holds(f"({self.taxonomy.roles.predicate(FILLED)} ?x)", name))
        if self.taxonomy.plays(kind, PLACE):
            values.append(self._has(name, lambda _: True))
        found = _any(values)
        return None if found is None else found is wanted

    def _has(self, place: str, suits: Callable[[str], bool]) -> Truth:
        if place in self.view.unseen:
            return None
        return any(suits(name) for name in self.inventory.contents.get(place, ()))

    def above(self, name: str) -> list[str]:
        chain: list[str] = []
        while (parent := self.inventory.parents.get(name)) is not None and parent not in chain:
            chain.append(parent)
            name = parent
        return chain

    def _adjunct(self, name: str, adjunct: Adjunct) -> Truth:
        if adjunct.kind == "hand":
            return name in self.inventory.held
        if adjunct.kind in {"place", "from"}:
            places = {p for thing in adjunct.things for p in self.things(thing)}
            if not places:
                return False
            above = self.above(name)
            if places & set(above):
                return None if places & set(above) & self.view.unseen else True
            hidden = name in self.inventory.unplaced or set(above) & self.view.unseen
            return None if hidden and places & self.view.unseen else False
        if adjunct.kind == "with":
            return _all(self._contains(name, thing) for thing in adjunct.things)
        if adjunct.kind == "unplaced":
            return _all(self._near(name, adjunct.word, thing) for thing in adjunct.things)
        raise LanguageError(f"hvr needs a place after {adjunct.word!r}: name one")

    def _near(self, name: str, word: str, thing: NounPhrase) -> Truth:
        others = {*self.things(thing)} - {name}
        if {name, *others} & {*self.inventory.unplaced, *self.inventory.held}:
            return None if {name, *others} & {*self.inventory.unplaced} else False
        near = [self.near(word, other) for other in others]
        return any(name in nearest(self.inventory, [*self.inventory.positions], x, 0) for x in near)

    def near(self, word: str, name: str) -> Nearness:
        """Return the condition to be near an object: `next to` the alarm clock."""
        return Nearness(word, (self.inventory.classes[name],), name, name)

    def _contains(self, name: str, thing: NounPhrase) -> Truth:
        liquid = thing.dish.liquid if thing.dish else None
        liquid = liquid or next((x for c in thing.classes if (x := self.taxonomy.liquid(c))), None)
        if liquid:
            return self.inventory.true(CONTAINS, name, liquid)
        wanted = set(self.things(thing))
        found = self._has(name, lambda inner: inner in wanted)
        unseen = self.view.unseen
        hidden = [n for n in wanted if n in self.inventory.unplaced or {*self.above(n)} & unseen]
        return False if found is None and not hidden else found

    # --- words ---------------------------------------------------------------------------

    def called(self, name: str) -> str:
        """Return the phrase for an object: 'the fridge', or 'mug-1' if there are several mugs."""
        kind = self.inventory.classes[name]
        if sum(c == kind for c in self.inventory.classes.values()) == 1:
            return f"the {self.taxonomy.label(kind)}"
        return name

    def where(self, name: str) -> str:
        if name in self.inventory.held:
            return "in the hand"
        parent = self.inventory.parents.get(name)
        if parent is None:
            return "not seen yet" if name in self.inventory.unplaced else "standing on its own"
        relation = self.taxonomy.relation(self.inventory.classes[parent])
        return f"{relation} {self.called(parent)}"

    def described(self, name: str) -> str:
        """Return the phrase for an object with its place, to distinguish it from others."""
        if name not in self.inventory.held and not self.taxonomy.any_plays(
            (self.inventory.classes[name],), PORTABLE
        ):
            return self.called(name)
        return f"{self.called(name)}, {self.where(name)}"


def _all(values: Iterable[Truth]) -> Truth:
    found = list(values)
    return False if False in found else None if None in found else True


def _any(values: Iterable[Truth]) -> Truth:
    return _at_least(1, list(values))


def _at_least(least: int, values: Sequence[Truth]) -> Truth:
    true = values.count(True)
    return True if true >= least else None if true + values.count(None) >= least else False


# Reading ------------------------------------------------------------------------------------------

_BE = frozenset({"is", "are", "was", "were", "isn't", "aren't"})
_DO = frozenset({"does", "do", "has", "have", "did"})
_ASKS = _BE | _DO | {"where", "which", "what", "how", "who", "where's", "what's"}
_POLITE = (
    *("please", "hey", "robot", "so", "and", "ok", "okay", "tell me", "do you know", "can you see"),
    *("can you tell me", "could you tell me", "i wonder", "show me", "now", "then"),
)


_SINCE = frozenset({"yet", "already", "now", "anymore", "again", "then", "today", "please"})


def is_question(text: str) -> bool:
    """Return whether a text is a question rather than a request: not 'do the dishes'."""
    tokens = _asked(text)
    if not tokens or tokens[0] not in _ASKS:
        return False
    wish = tokens[:2] in {("do", "the"), ("do", "all"), ("do", "it"), ("have", "the")}
    return not wish and not (tokens[0] in {"do", "have"} and tokens[1:2] not in _YOU)


_YOU = [("you",), ("we",), ("i",), ("any",), ("the",)]


def _asked(text: str) -> tuple[str, ...]:
    tokens = tuple(t for t in tokenize(text) if t not in {"?", ",", "!", ".", "still", "currently"})
    while len(tokens) > 2 and tokens[-1] in _SINCE:
        tokens = tokens[:-1]
    while True:
        for words in map(tuple, map(str.split, _POLITE)):
            if tokens[: len(words)] == words and len(tokens) > len(words):
                tokens = tokens[len(words) :]
                break
        else:
            return tokens


def answer(text: str, reader: Reader, view: SceneView) -> QuestionAnswer:
    """Return the answer to a question, or raise LanguageError if it was not understood."""
    text = with_object_names(text, view.inventory, reader.taxonomy, reader.lexicon)
    (corrected, *_) = corrections(_asked(text), reader.lexicon)
    return _Questions(reader, view).answer(text, corrected.tokens)


def read_statement(text: str, reader: Reader, view: SceneView) -> SceneStatement:
    """Read a clause as a statement ('there is an egg in the fridge'), or raise LanguageError."""
    text = with_object_names(text, view.inventory, reader.taxonomy, reader.lexicon)
    (corrected, *_) = corrections(_asked(text), reader.lexicon)
    tokens = expand_idioms(corrected.tokens, reader.lexicon)
    return _Questions(reader, view).statement(Cursor(text, tokens, reader.lexicon))


_WE_HAVE = {
    (do, who, have)
    for do, have in (("do", "have"), ("do", "see"), ("have", "got"))
    for who in ("we", "you", "i")
}


class _Questions:
    def __init__(self, reader: Reader, view: SceneView) -> None:
        self.reader = reader
        self.judge = StatementJudge(reader, view)
        self.view = view

    def answer(self, text: str, tokens: tuple[str, ...]) -> QuestionAnswer:
        first = tokens[0]
        cursor = Cursor(text, tokens, self.reader.lexicon)
        cursor.at, cursor.denying = 1, True
        if first in {"where", "where's"}:
            if cursor.word() in _BE:
                cursor.at += 1
            return self._where(cursor)
        if first in {"what", "what's"} and (
            first == "what's" or cursor.word() in _BE or cursor.word() in _DO
        ):
            return self._what(cursor, first)
        if first in {"which", "what"}:
            return self._which(cursor)
        if first == "how" and cursor.word() == "many":
            cursor.at += 1
            return self._count(cursor)
        return self._whether(cursor, first)

    def statement(self, cursor: Cursor) -> SceneStatement:
        """Read 'there is a mug', 'the mug is (not) dirty', 'no mug is on the table'."""
        cursor.denying = True  # A condition asks for no choice: 'or' lists all.
        if cursor.word() == "there" and cursor.word(cursor.at + 1) in _BE | {"isn't", "aren't"}:
            denied = cursor.word(cursor.at + 1) in {"isn't", "aren't"}
            cursor.at += 2
            return self._existing(cursor, denied=denied)
        if cursor.word() in {"you", "we", "i"}:
            cursor.at += 1
            cursor.take("modal")
            cursor.at += cursor.word() in {"have", "see", "find", "can"}
            cursor.at += cursor.word() in {"see", "find", "got"}
            return self._existing(cursor, denied=False)
        none = cursor.take("none") is not None
        things, either = self._subjects(cursor)
        return self._predicated(cursor, things, either=either, none=none)

    def _existing(self, cursor: Cursor, *, denied: bool) -> SceneStatement:
        denied = denied or cursor.take("none") is not None
        if cursor.word() == "not":
            cursor.at += 1
            denied = True
        if not cursor.starts_thing() and denied:  # 'there is nothing in the fridge'
            things: Things = (NounPhrase("everything", "anything"),)
            either = True
        else:
            things, either = _listed_things(cursor, "there is")
        adjuncts = read_adjuncts(cursor)
        self._end(cursor)
        predicate = Predication((), adjuncts) if adjuncts else None
        groups = [things] if either or denied else [(thing,) for thing in things]
        return _joined(
            SceneStatement(self._names(group), False, denied, predicate, least=_least(group))
            for group in groups
        )

    def _names(self, things: Iterable[NounPhrase], *, anything: bool = False) -> tuple[str, ...]:
        found = (n for thing in things for n in self.judge.things(thing, anything=anything))
        return tuple(dict.fromkeys(found))

    def _subjects(self, cursor: Cursor) -> tuple[Things, bool]:
        if cursor.word() in {"anything", "something"}:
            cursor.at += 1
            return (NounPhrase("everything", "anything"),), True
        return _listed_things(cursor, "is", subject=True)

    def _predicated(
        self, cursor: Cursor, things: Things, *, either: bool = False, none: bool = False
    ) -> SceneStatement:
        positive = cursor.word() != "not"
        cursor.at += not positive
        if cursor.word() in {"isn't", "aren't", "doesn't", "don't"}:
            positive = False
            cursor.at += 1
        elif cursor.take("be not"):
            positive = False
        else:
            cursor.take("modal")
            before = cursor.at
            if cursor.take("have") or cursor.word() == "contain":
                cursor.at += cursor.at == before
                contents = _contents(cursor)
                self._end(cursor)
                return self._about(things, contents, either=either, none=none, positive=True)
            cursor.take("be")
        if cursor.word() == "not":
            positive = False
            cursor.at += 1
        if cursor.word() in {"contain", "have", "hold"}:
            cursor.at += 1
            predicate = _contents(cursor)
        else:
            predicate = read_predicate(cursor)
        self._end(cursor)
        if not predicate:
            raise cursor.parse_error()
        return self._about(things, predicate, either=either, none=none, positive=positive)

    def _about(
        self, things: Things, predicate: Predication, *, either: bool, none: bool, positive: bool
    ) -> SceneStatement:
        parts = []
        for group in [things] if either or none else [(thing,) for thing in things]:
            names = self._names(group, anything=not predicate.adjuncts)
            if not names:
                words = " or ".join(thing.text for thing in group)
                raise LanguageError(f"there is no {words} here")
            self._check_both(group)
            determiners = [thing.determiner for thing in group]
            whole = any(d.count == 0 or d.both or d.each for d in determiners)
            one = len(names) == 1 and any(d.definite for d in determiners)
            every = (whole or one) and not none
            parts.append(SceneStatement(names, every, none, predicate, positive, _least(group)))
        return _joined(parts)

    def _check_both(self, things: Things) -> None:
        """Raise LanguageError for 'both mugs' if only one exists: the question presupposes two."""
        for thing in things:
            if thing.determiner.both and any(noun.plural for noun in thing.nouns):
                names = self._names((thing,))
                if len(names) < 2:
                    only = self.judge.called(names[0]) if names else "none"
                    raise LanguageError(f"both {thing.text}? There is only {only} here")

    def _end(self, cursor: Cursor) -> None:
        cursor.skip_fillers()
        if not cursor.done:
            raise cursor.parse_error()

    # --- answers -------------------------------------------------------------------------

    def _where(self, cursor: Cursor) -> QuestionAnswer:
        things = read_things(cursor, "where", listing=True)
        self._end(cursor)
        names = [n for thing in things for n in self.judge.things(thing)]
        if not names:
            raise LanguageError(f"there is no {things[0].text} here")
        said = [self._where_is(name) for name in names]
        return QuestionAnswer("; ".join(said), tuple(names))

    def _where_is(self, name: str) -> str:
        called, where = self.judge.called(name), self.judge.where(name)
        if where == "not seen yet":
            return f"{called} has not been seen yet"
        if where == "standing on its own":
            return f"{called} stands in the room, not on or in anything"
        return f"{called} is {where}"

    def _what(self, cursor: Cursor, first: str) -> QuestionAnswer:
        verb = cursor.word()
        cursor.at += first == "what" and verb in _BE | _DO
        robot = cursor.word() == "the" and cursor.word(cursor.at + 1) == "robot"
        if robot or cursor.word() == "you":
            cursor.at += 1 + robot
            cursor.at += cursor.word() in {"have", "got"} | {"holding", "hold", "carrying"}
            cursor.at += cursor.word() == "got"
            hand = read_adjuncts(cursor)
            self._end(cursor)
            if any(one.kind != "hand" for one in hand):
                raise cursor.parse_error()
            return self._listed(list(self.view.inventory.held), "in the hand", True)
        if verb in _DO:  # 'what does the fridge contain'
            things = read_things(cursor, "what", listing=True)
            cursor.at += 1
            self._end(cursor)
            place = Adjunct("place", "in", things)
        else:
            there = cursor.word() == "there"
            cursor.at += there
            found = read_adjuncts(cursor)
            self._end(cursor)
            if not found:
                raise cursor.parse_error()
            place = found[0]
        if place.kind == "hand":
            return self._listed(list(self.view.inventory.held), "in the hand", True)
        places = [p for thing in place.things for p in self.judge.things(thing)]
        inside = [n for p in places for n in self.view.inventory.contents.get(p, ())]
        where = " and ".join(f"{self._relation(p)} {self.judge.called(p)}" for p in places)
        seen = not set(places) & self.view.unseen
        return self._listed(inside, where, seen)

    def _relation(self, place: str) -> str:
        return self.judge.taxonomy.relation(self.view.inventory.classes[place])

    def _listed(self, names: list[str], where: str, seen: bool) -> QuestionAnswer:
        if not seen and not names:
            return QuestionAnswer(f"I have not looked {where} yet")
        if not names:
            return QuestionAnswer(f"nothing is {where}")
        said = joined([self.judge.called(n) for n in names])
        return QuestionAnswer(f"{said} {'is' if len(names) == 1 else 'are'} {where}", tuple(names))

    def _chosen(self, cursor: Cursor) -> tuple[list[str], list[str]]:
        if cursor.word() in {"things", "objects", "items"}:
            cursor.at += 1
            things: Things = (NounPhrase("everything", "things"),)
        else:
            things = read_things(cursor, "which", listing=True, subject=True)
        names = [n for thing in things for n in self.judge.things(thing)]
        if cursor.tokens[cursor.at :] in _WE_HAVE:
            return names, []
        cursor.at += (
            cursor.word() == "there"
            or (cursor.word() in _BE and cursor.word(cursor.at + 1) == "there") * 2
        )
        positive = True
        if cursor.done:
            return names, []
        if not cursor.function("prep", "with", "from"):
            statement = self._predicated(cursor, things)
            predicate, positive = statement.predicate or Predication(), statement.positive
        else:
            predicate = Predication((), read_adjuncts(cursor))
            self._end(cursor)
        values = {n: self.judge.fits(n, predicate) for n in names}
        if not positive:
            values = {n: None if v is None else not v for n, v in values.items()}
        yes = [n for n, v in values.items() if v]
        return yes, [n for n, v in values.items() if v is None]

    def _holding(self, cursor: Cursor) -> QuestionAnswer | None:
        """Answer 'which cabinet is the plate in?'; return None for any other question."""
        start = cursor.at
        last = len(cursor.tokens) - 1
        if cursor.tokens[last] not in {"in", "on", "inside"}:
            return None
        places = read_things(cursor, "which", listing=True, subject=True)
        if cursor.word() in _BE and cursor.starts_thing(cursor.at + 1):
            cursor.at += 1
            things = read_things(cursor, "is")
            if cursor.at == last:
                inside = [n for thing in things for n in self.judge.things(thing)]
                around = {p for n in inside for p in self.judge.above(n)}
                named = [n for thing in places for n in self.judge.things(thing)]
                found = [n for n in named if n in around]
                said = joined([self.judge.called(n) for n in found]) if found else "none"
                return QuestionAnswer(said, tuple(found))
        cursor.at = start
        return None

    def _which(self, cursor: Cursor) -> QuestionAnswer:
        cursor.at += cursor.word() == "of"
        if (found := self._holding(cursor)) is not None:
            return found
        yes, unknown = self._chosen(cursor)
        said = joined([self.judge.called(n) for n in yes]) if yes else "none"
        return QuestionAnswer(said + self._unknown(unknown), tuple(yes))

    def _count(self, cursor: Cursor) -> QuestionAnswer:
        yes, unknown = self._chosen(cursor)
        listed = f": {joined([self.judge.called(n) for n in yes])}" if yes else ""
        return QuestionAnswer(f"{len(yes)}{listed}{self._unknown(unknown)}", tuple(yes))

    def _unknown(self, names: list[str]) -> str:
        if not names:
            return ""
        return f"; not seen yet: {joined([self.judge.called(n) for n in names])}"

    def _whether(self, cursor: Cursor, first: str) -> QuestionAnswer:
        if first in _BE and cursor.word() == "there":
            cursor.at += 1
            statement = self._existing(cursor, denied=False)
        elif first in _DO and cursor.word() in {"you", "we", "i"}:
            cursor.at += 1
            cursor.at += cursor.word() in {"have", "see", "find", "got"}
            statement = self._existing(cursor, denied=False)
        else:
            things, either = self._subjects(cursor)
            statement = self._predicated(cursor, things, either=either)
        found = self.judge.truth(statement)
        if found is None:
            places = joined([self.judge.called(p) for p in self.judge.looks(statement)])
            return QuestionAnswer(
                f"I do not know: I have not looked into {places} yet", statement.mentioned
            )
        return QuestionAnswer(
            f"{'yes' if found else 'no'}{self._why(statement, found)}", statement.mentioned
        )

    def _why(self, statement: SceneStatement, found: bool) -> str:
        yes: list[str] = []
        for part in statement.parts if found else ():
            if part.denied or part.every or not 1 < len(part.things) <= 8:
                continue
            predicate, positive = part.predicate, part.positive
            yes += [
                name
                for name in part.things
                if predicate is None or self.judge.fits(name, predicate) is positive
            ]
        return f": {'; '.join(self.judge.described(n) for n in yes)}" if yes else ""


def _joined(statements: Iterable[SceneStatement]) -> SceneStatement:
    first, *others = statements
    return first.replace(also=tuple(others))


def _listed_things(cursor: Cursor, after: str, *, subject: bool = False) -> tuple[Things, bool]:
    """Read things, and whether 'or' joins them; raise LanguageError if both 'and' and 'or' do."""
    start = cursor.at
    things = read_things(cursor, after, listing=True, subject=subject)
    words = cursor.tokens[start : cursor.at]
    if len(things) < 2 or "or" not in words:
        return things, False
    if "and" in words:
        raise LanguageError(
            f"{cursor.between(start)!r} has 'and' and 'or': ask one thing at a time"
        )
    return things, True


def _contents(cursor: Cursor) -> Predication:
    start = cursor.at
    things, either = _listed_things(cursor, "contain")
    if either:
        raise LanguageError(f"{cursor.between(start)!r} has 'or': ask one thing at a time")
    return Predication((), (Adjunct("with", "with", things, "in"),))


def _least(things: Things) -> int:
    if any(thing.determiner.half for thing in things):
        raise LanguageError("hvr cannot count half of these things: say how many")
    return max(1, things[0].determiner.count or 1) if len(things) == 1 else 1


def joined(words: Collection[str]) -> str:
    listed = list(words)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"

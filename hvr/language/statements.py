"""Questions about a scene, read by the grammar and answered from the facts.

where is the mug?                      what is in the fridge?
is the fridge open?                    which cabinets are empty?
is there an apple on the table?        how many mugs are clean?
"""

from __future__ import annotations

from collections.abc import Collection

from hvr.errors import LanguageError
from hvr.language.assertions import StatementReader, Things, only
from hvr.language.cursor import Cursor
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.noun_phrases import read_adjuncts, read_things
from hvr.language.spelling import corrections, with_object_names
from hvr.language.syntax import Adjunct, NounPhrase, Predication
from hvr.language.truth import SceneStatement, SceneView, Statement
from hvr.values import Value

_CONTAINING = frozenset("contain contains hold holds have".split())


class QuestionAnswer(Value):
    """The answer to a question, and the objects in the answer, to which later turns can refer."""

    text: str
    things: tuple[str, ...] = ()


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
    """Return whether a turn asks a question rather than making a request ('do the dishes')."""
    tokens = _asked(text)
    if not tokens or tokens[0] not in _ASKS or "?" in text.rstrip("? "):
        return False
    wish = tokens[:2] in {("do", "the"), ("do", "all"), ("do", "it"), ("have", "the")}
    return not wish and not (tokens[0] in {"do", "have"} and tokens[1:2] not in _YOU)


_YOU = [("you",), ("we",), ("i",), ("any",), ("the",)]


_SKIPPED = frozenset({"?", ",", "!", ".", "still", "currently", "else"})


def _asked(text: str) -> tuple[str, ...]:
    tokens = tuple(t for t in tokenize(text) if t not in _SKIPPED)
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


_WE_HAVE = {
    (do, who, have)
    for do, have in (("do", "have"), ("do", "see"), ("have", "got"))
    for who in ("we", "you", "i")
}


class _Questions:
    def __init__(self, reader: Reader, view: SceneView) -> None:
        self.reader = reader
        self.view = view
        self._statements = StatementReader(reader, view)
        self.judge = self._statements.judge

    def answer(self, text: str, tokens: tuple[str, ...]) -> QuestionAnswer:
        first = tokens[0]
        cursor = Cursor(text, tokens, self.reader.lexicon)
        cursor.at, cursor.denying, cursor.stating = 1, True, True
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
            if cursor.word() not in _CONTAINING:
                raise cursor.parse_error()
            cursor.at += 1
            self._end(cursor)
            place = Adjunct("place", "in", things)
        else:
            cursor.at += cursor.word() == "there"
            cursor.take("relative")  # 'lying'
            found = read_adjuncts(cursor)
            self._end(cursor)
            if not found:
                raise cursor.parse_error()
            place = found[0]
        if place.kind == "hand":
            return self._listed(list(self.view.inventory.held), "in the hand", True)
        places = [p for thing in place.things for p in self.judge.things(thing)]
        inside = [n for p in places for n in self.view.inventory.contents.get(p, ())]
        known = [p for p in places if self.view.inventory.contents.get(p)] or places
        where = " and ".join(f"{self._relation(p)} {self.judge.called(p)}" for p in known)
        hidden = [self.judge.called(p) for p in places if p in self.view.unseen]
        told = self._listed(inside, where, not hidden)
        if not (inside and hidden):
            return told
        return told.replace(text=f"{told.text}; I have not looked into {joined(hidden)} yet")

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
        if cursor.done:
            return names, []
        statement: Statement
        if not cursor.function("prep", "with", "from"):
            first = self._statements.predicated(cursor, things)
            statement = self._statements.continued(cursor, first)
        else:
            statement = SceneStatement(tuple(names), Predication((), read_adjuncts(cursor)))
            self._end(cursor)
        values = {n: self.judge.truth(only(statement, n)) for n in names}
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
            statement = self._statements.existing(cursor)
        elif first in _DO and cursor.word() in {"you", "we", "i"}:
            cursor.at += 1
            cursor.at += cursor.word() in {"have", "see", "find", "got"}
            statement = self._statements.existing(cursor)
        else:
            things, either = self._statements.subjects(cursor)
            statement = self._statements.predicated(cursor, things, either=either)
        statement = self._statements.continued(cursor, statement)
        found = self.judge.truth(statement)
        if found is None:
            places = joined([self.judge.called(p) for p in self.judge.looks(statement)])
            why = f": I have not looked into {places} yet" if places else ""
            return QuestionAnswer(f"I do not know{why}", statement.mentioned)
        return QuestionAnswer(
            f"{'yes' if found else 'no'}{self._why(statement, found)}", statement.mentioned
        )

    def _why(self, statement: Statement, found: bool) -> str:
        """Return a colon and the two to eight objects that make a statement true, else ''."""
        yes: list[str] = []
        for part in statement.parts if found else ():
            if not (part.denied or part.every) and 1 < len(part.things) <= 8:
                yes += [name for name in part.things if self.judge.truth(only(part, name))]
        return f": {'; '.join(self.judge.described(n) for n in yes)}" if yes else ""


def joined(words: Collection[str]) -> str:
    listed = list(words)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"

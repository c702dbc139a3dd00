"""Conditions in requests: 'if the mug is dirty, wash it, otherwise put it away'.

If hvr knows whether a condition holds, it decides at once, with a note. Otherwise, the goal has two
branches, and an observation decides. hvr does not wait for events, so the condition of 'when' must
already hold, or the clauses before it must bring it about.

`hvr.language.conditions` splits the request, `hvr.language.assertions` reads the conditions, and
the request's reader reads the clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hvr.errors import AmbiguousError, HvrError, ImpossibleGoalError, LackingError, LanguageError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.antecedents import Antecedent, Antecedents, mentions
from hvr.language.assertions import only, read_statement
from hvr.language.clauses import read_clauses
from hvr.language.conditions import Conditional, Part, conditional_parts, is_idle, words_of_parts
from hvr.language.cursor import Cursor
from hvr.language.dialogue import Rewriter
from hvr.language.goal_builder import Contingency, Goal, Stage
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.modifiers import read_adjectives
from hvr.language.paraphrase import NOTHING_LEFT
from hvr.language.phrases import DialogueMemory, PhraseReader
from hvr.language.spelling import corrections
from hvr.language.syntax import NounPhrase
from hvr.language.truth import SceneStatement, SceneView, Statement, StatementJudge
from hvr.values import Value

_OWN = re.compile(r"if (.+?), then: (.+?); otherwise: (.+)", re.IGNORECASE)
"""hvr's paraphrase of a goal with two branches."""

_SOMETHING = re.compile(r"\b(?:any|some|no)thing\b")
_REFERS = re.compile(r"\b(?:it|them|one|that)\b")
_MOST_UNKNOWN = 3
"""Maximum number of conditions that may follow an unknown one, because each doubles the work."""
_ASKING = frozenset("is are was were isn't aren't does do has have did".split())
_PRONOUN = re.compile(r"^(?:it|they|all of them|both of them)\b")


class _Said(Value):
    """The part of a request that has been read so far.

    Args:
        clauses: Clauses to carry out, with all pronouns resolved.
        near: Noun phrases of the last condition, most prominent first.
        mentions: Noun phrases of the clauses, most prominent first.
        notes: Decisions about conditions.
        unread: Words of conditions that the goal does not cover.
        model: The clause whose words an elliptical alternative repeats.
    """

    clauses: tuple[str, ...] = ()
    near: tuple[Antecedent, ...] = ()
    mentions: tuple[Antecedent, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    model: str = ""


def conditional_goals(
    request: str, reader: Reader, inventory: Inventory
) -> tuple[Goal, ...] | None:
    """Return the possible goals of a request with a condition; None if it has no condition.

    If hvr knows whether the condition holds, the goals are those of the branch to carry out;
    otherwise, there is one goal, with a `Contingency`.

    Raises:
        LanguageError: The condition was not understood or requires waiting.
    """
    conditions = _Conditions(reader, inventory, request)
    if own := _OWN.fullmatch(request.strip()):
        parts: tuple[Part, ...] | None = (
            Conditional(own[1].strip().lower(), then=(own[2],), otherwise=(own[3],)),
        )
    else:
        parts = conditional_parts(request, conditions)
    return None if parts is None else conditions.goals(parts, _Said())


class _Conditions:
    """Reads the parts of a request, and decides conditions whose truth is known."""

    def __init__(self, reader: Reader, inventory: Inventory, request: str) -> None:
        self.reader = reader
        self.inventory = inventory
        self._request = request
        self._view = SceneView(inventory, inventory.unseen)
        self._judge = StatementJudge(reader, self._view)
        self._spelt: tuple[str, ...] = ()
        self._refused: dict[tuple[str, ...], str] = {}

    # --- the interface for `conditions` --------------------------------------------------

    def tokens(self, request: str) -> tuple[str, ...]:
        said = self._uncontracted(tokenize(request))
        (spelt, *_) = corrections(said, self.reader.lexicon)
        self._spelt = spelt.notes
        return spelt.tokens

    def _uncontracted(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        """Read 'the mug's dirty' as 'the mug is dirty', but not 'the desk's drawer'."""
        words: list[str] = []
        for at, token in enumerate(tokens):
            cursor = Cursor("", tokens, self.reader.lexicon)
            cursor.at = at + 1
            owned = cursor.starts_thing() and (read_adjectives(cursor) or True) and cursor.named()
            base = token.removesuffix("'s")
            known = base != token and base in self.reader.lexicon.parts
            words += [base, "is"] if known and not owned else [token]
        return tuple(words)

    def starts(self, tokens: Sequence[str]) -> bool:
        cursor = Cursor(" ".join(tokens), tuple(tokens), self.reader.lexicon)
        passed = cursor.function("filler", "first")
        while passed and not cursor.verb() and not cursor.named():
            cursor.at += passed.length
            passed = cursor.function("filler", "first")
        at = cursor.at
        if cursor.verb(at) or cursor.split_verb(at) or cursor.last_verb(at):
            return True
        asks = cursor.function("goal", "ensure", "maintain", "light", at=at)
        return asks is not None and cursor.word(at) != "there"

    def refusal(self, tokens: Sequence[str]) -> str:
        words = tuple(tokens)
        if words not in self._refused:
            anything = [(name,) for name in self.inventory.classes]
            try:
                read_statement(" ".join(words), self.reader, self._view, anything)
                self._refused[words] = ""
            except HvrError as error:
                self._refused[words] = str(error) or "it is not a statement"
        return self._refused[words]

    # --- goals ---------------------------------------------------------------------------

    def goals(self, parts: Sequence[Part], said: _Said) -> tuple[Goal, ...]:
        for number, part in enumerate(parts):
            if isinstance(part, Conditional):
                return self._decided(part, tuple(parts[number + 1 :]), said)
            if not is_idle(part):
                said = self._and_clause(part, said)
        return self._read(said)

    def _read(self, said: _Said) -> tuple[Goal, ...]:
        whole = ". ".join(said.clauses)
        if not whole or _only_forbids(whole, self.reader):  # doing nothing violates no prohibition
            goals: tuple[Goal, ...] = (Goal((Stage("(and)"),), paraphrase=(NOTHING_LEFT,)),)
        else:
            goals = self.reader.goals(whole, self.inventory)
        notes = (*self._spelt, *said.notes)
        return tuple(
            goal.replace(notes=(*notes, *goal.notes), unread=(*said.unread, *goal.unread))
            for goal in goals
        )

    def _decided(self, part: Conditional, rest: tuple[Part, ...], said: _Said) -> tuple[Goal, ...]:
        if part.trailing and self._is_about_nothing(part):
            note = f"hvr finds nothing to which {words_of_parts(part.then)!r} applies"
            said = said.replace(notes=(*said.notes, note))
            return self.goals((*part.otherwise, *rest), said)
        statement, part, said = self._statement(part, said)
        if (shared := self._shared_out(part, statement)) is not None:
            chosen, note = shared
            said = said.replace(notes=(*said.notes, note))
            return self.goals((*chosen, *rest), said)
        truth = self._judge.truth(statement)
        if truth is None:
            if sum(isinstance(one, Conditional) for one in rest) > _MOST_UNKNOWN:
                raise LanguageError(f"more than {_MOST_UNKNOWN + 1} conditions: split the request")
            return (self._contingent(part, statement, rest, said),)
        chosen, left = part.then, part.otherwise
        if truth is part.denied:
            chosen, left = left, chosen
        if part.event and not truth and not part.denied:
            if not said.clauses:
                raise LanguageError(
                    f"hvr does not wait for events, and '{part.condition}' is false now: say "
                    "'if', or what to do first"
                )
            if not part.then:
                return self.goals((*part.otherwise, *rest), said)
            after = part.then[0] if isinstance(part.then[0], str) else ""
            return self.goals((f"then {after}", *part.then[1:], *rest), said)
        note = f"{self._called(part, statement)}: {'yes' if truth else 'no'}"
        note += f", so hvr leaves out {words_of_parts(left)!r}" if left else ""
        said = said.replace(notes=(*said.notes, note))
        return self.goals((*chosen, *rest), self._in_branch(part, statement, truth, said))

    def _contingent(
        self, part: Conditional, statement: Statement, rest: tuple[Part, ...], said: _Said
    ) -> Goal:
        looks = self._judge.looks(statement)
        condition = self._called(part, statement)
        if not looks:
            raise LanguageError(f"hvr cannot find out whether {condition}")
        goals = []
        for truth in (True, False):
            chosen = part.otherwise if truth is part.denied else part.then
            branch = self._in_branch(part, statement, truth, said.replace(notes=()))
            clauses = tuple(p for p in chosen if isinstance(p, Conditional) or not is_idle(p))
            found = any(truth is (p.positive is not p.denied) for p in statement.parts)
            unknown = found and self._is_open(part, statement)
            goals.append(self._branch((*clauses, *rest), branch, unknown=unknown))
        then, otherwise = goals
        if then.deferred and otherwise.deferred:
            raise ImpossibleGoalError(then.deferred)
        places = " or ".join(self._judge.called(place) for place in looks[:3])
        places += f" or {len(looks) - 3} more" if len(looks) > 3 else ""
        words = ["; then ".join(goal.paraphrase) for goal in goals]
        note = f"it is not known whether {condition}: hvr looks into {places} first"
        either = f"(or {then.stages[-1].wanted} {otherwise.stages[-1].wanted})"
        return Goal(
            (Stage(either),),
            tuple(dict.fromkeys((*said.notes, note, *then.notes, *otherwise.notes))),
            tuple(dict.fromkeys((*then.unread, *otherwise.unread))),
            (f"if {condition}, then: {words[0]}; otherwise: {words[1]}",),
            contingency=Contingency(condition, statement, looks, then, otherwise, self._request),
        )

    def _branch(self, parts: Sequence[Part], said: _Said, *, unknown: bool) -> Goal:
        """Return the goal of a branch; it may be deferred if it concerns `unknown` objects."""
        refers = unknown and _REFERS.search(words_of_parts(parts))
        why = "what is there is not known yet" if refers else ""
        if not why:
            try:
                read = self.goals(parts, said)
            except ImpossibleGoalError as error:
                why = str(error)
            else:
                if len(read) > 1:
                    raise AmbiguousError(tuple("; then ".join(g.paraphrase) for g in read))
                return read[0]
        return Goal(
            (Stage("(and)"),), paraphrase=(f"{words_of_parts(parts)!r} ({why})",), deferred=why
        )

    # --- clauses -------------------------------------------------------------------------

    def _and_clause(self, clause: str, said: _Said) -> _Said:
        text = self._resolved(clause, said)
        named = mentions(text, self.reader, self.inventory)
        return said.replace(clauses=(*said.clauses, text), mentions=(*named, *said.mentions))

    def _resolved(self, clause: str, said: _Said) -> str:
        follows = bool(said.clauses)
        antecedents = Antecedents(
            self.reader, self.inventory, said.near, said.mentions, follows=follows
        )
        first = clause
        for version in self._versions(clause, antecedents, said.model):
            first = version if first == clause else first
            try:
                self.reader.goals(". ".join((*said.clauses, version)), self.inventory)
            except (AmbiguousError, ImpossibleGoalError) as error:
                if isinstance(error, LackingError):  # 'if it holds an apple, open it'
                    continue
            except LanguageError:
                continue
            return version
        return first

    def _versions(self, clause: str, antecedents: Antecedents, model: str) -> Iterator[str]:
        if model and not self.starts(tokenize(clause)):  # '… else on the table'
            memory = DialogueMemory(request=model)
            rewriter = Rewriter(self.reader, self.inventory, memory)
            yield from (text for text in rewriter.requests(clause) if isinstance(text, str))
        if model and (completed := self._like(clause, model)):
            yield from antecedents.versions(completed)
        yield from antecedents.versions(clause)

    def _like(self, clause: str, model: str) -> str:
        """Complete 'bring the potato' with the place of 'bring it to the table', or return ''."""
        rewriter = PhraseReader(self.reader, self.inventory)
        (tokens, own), (words, spans) = rewriter.spans(clause), rewriter.spans(model)
        place = next((s.preposition for s in spans if s.preposition < s.start), 0)
        alone = len(own) == 1 and (own[0].start, own[0].end) == (1, len(tokens))
        return (
            f"{clause} {' '.join(words[place:])}"
            if alone and place and tokens[:1] == words[:1]
            else ""
        )

    # --- conditions ----------------------------------------------------------------------

    def _statement(self, part: Conditional, said: _Said) -> tuple[Statement, Conditional, _Said]:
        """Read a condition whose pronouns refer to the surrounding clauses."""
        around = mentions(f"{part.scope}. {words_of_parts(part.then)}", self.reader, self.inventory)
        said_before = (*said.mentions, *said.near)
        before = (*around, *said_before) if part.trailing else (*said_before, *around)
        names = [mention.names for mention in before]
        unread: list[str] = []
        text = part.condition
        statement = read_statement(text, self.reader, self._view, names, unread)
        if part.scope and any(one.predicate is None for one in statement.parts):
            text = f"{text} {part.scope}"
            statement = read_statement(text, self.reader, self._view, names)
        notes = tuple(f"hvr ignores {phrase!r}" for phrase in unread)
        said = said.replace(notes=(*said.notes, *notes), unread=(*said.unread, *unread))
        return statement, part.replace(condition=text), said

    def _called(self, part: Conditional, statement: Statement) -> str:
        said = re.sub(r"^(.+?) (?:(?:should|will) )?be\b", r"\1 is", part.condition)
        if said.split()[0] in _ASKING:  # 'is the mug dirty?'
            asked, *words = said.split()
            spans = PhraseReader(self.reader, self.inventory).spans(said)[1]
            at = 1 if words[0] == "there" or not spans else spans[0].end - 1
            said = " ".join((*words[:at], asked, *words[at:]))
        if statement.mentioned and _PRONOUN.match(said):
            said = _PRONOUN.sub(self._judge.called(statement.mentioned[0]), said)
        return said

    def _in_branch(
        self, part: Conditional, statement: Statement, truth: bool, said: _Said
    ) -> _Said:
        """Add the objects that a condition mentions and that agree with the branch for `truth`."""
        named = mentions(f"{part.condition} {part.scope}", self.reader, self.inventory)
        found: list[Antecedent] = []
        for mention in named or (Antecedent(statement.mentioned),):
            agree = tuple(n for n in mention.names if self._agrees(n, statement, truth))
            found.append(mention.replace(names=agree))
        # Of 'the mug or the cup is dirty', 'it' means the one that is.
        found = [m for m in found if m.names] or list(named)
        other: tuple[Antecedent, ...] = ()
        model = ""
        if truth is part.denied or not part.then:
            other = mentions(words_of_parts(part.then), self.reader, self.inventory)
            model = words_of_parts(part.then[-1:])
        things = tuple(self._found(statement)) if _SOMETHING.search(part.condition) else ()
        whole = (Antecedent(things, whole=True),) if things else ()
        return said.replace(near=(*whole, *found, *other), model=model)

    def _is_open(self, part: Conditional, statement: Statement) -> bool:
        if _SOMETHING.search(part.condition):
            return True
        named = [m.names for m in mentions(part.condition, self.reader, self.inventory)]
        return any(
            sum(not set(names).isdisjoint(one.things) for names in named) > 1
            for one in statement.parts
            if not (one.every or one.denied)
        )

    def _found(self, statement: Statement) -> Iterator[str]:
        """Yield the known objects that 'something' means."""
        for part in statement.parts:
            for name in part.things:
                inside = part.predicate and any(a.kind == "with" for a in part.predicate.adjuncts)
                if self._judge.truth(only(part.replace(denied=False, least=1), name)):
                    yield from self.inventory.contents.get(name, ()) if inside else (name,)

    def _agrees(self, name: str, statement: Statement, truth: bool) -> bool:
        for part in statement.parts:
            if name in part.things and not part.every:
                holds = self._judge.truth(only(part.replace(least=1, most=None), name))
                if holds is not None and holds is not truth:
                    return False
        return True

    def _is_about_nothing(self, part: Conditional) -> bool:
        """Return whether the clause is about each of several things, but none of them exist."""
        clause = words_of_parts(part.then)
        spans = PhraseReader(self.reader, self.inventory).spans(clause)[1][:1]
        each = [s.thing for s in spans if s.thing.nouns and _is_plural(s.thing)]
        refers = each and _PRONOUN.match(part.condition)
        return bool(refers) and not self._judge.things(each[0])

    def _shared_out(
        self, part: Conditional, statement: Statement
    ) -> tuple[tuple[Part, ...], str] | None:
        """Apply a condition behind a clause to each object: 'wash every mug if it is dirty'.

        The result is None if the clause is not about each of several objects, or if hvr does not
        know whether the condition holds for some of them.
        """
        clause = words_of_parts(part.then)
        if not (part.trailing and _PRONOUN.match(part.condition)):
            return None
        if not isinstance(statement, SceneStatement) or len(part.then) > 1:
            return None
        phrases = PhraseReader(self.reader, self.inventory)
        spans = phrases.spans(clause)[1]
        tokens, joined = phrases.coordinated(clause)
        for span in joined[:1]:
            inside = [s.thing for s in spans if span.start <= s.start and s.end <= span.end]
            unnamed = any(not (thing.nouns or thing.kind == "name") for thing in inside)
            if unnamed or (len(inside) < 2 and not _is_plural(inside[0])):
                continue
            names = tuple(n for thing in inside for n in self._judge.things(thing))
            values = {n: self._judge.truth(only(statement, n)) for n in names}
            if len(names) < 2 or None in values.values():
                return None
            chosen = [n for n, truth in values.items() if truth is not part.denied]
            words = (*tokens[: span.start], " and ".join(chosen), *tokens[span.end :])
            note = f"{'unless' if part.denied else 'if'} {part.condition}: "
            note += f"true of {' and '.join(chosen) or 'none'}"
            return (" ".join(words),) if chosen else part.otherwise, note
        return None


def _is_plural(thing: NounPhrase) -> bool:
    determiner = thing.determiner
    plural = determiner.definite and any(noun.plural for noun in thing.nouns)
    return plural or determiner.count == 0


def _only_forbids(text: str, reader: Reader) -> bool:
    try:
        clauses, prohibitions = read_clauses(Cursor(text, tokenize(text), reader.lexicon))
    except LanguageError:
        return False
    return bool(prohibitions) and not clauses

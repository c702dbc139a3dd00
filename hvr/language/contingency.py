"""Conditions in requests: 'if the mug is dirty, wash it, otherwise put it away'.

If hvr knows whether the condition holds, it decides at once, with a note. Otherwise, the goal has
two branches, and an observation decides. hvr does not wait for events, so the condition of 'when'
must already hold.

    request     := sentence (. sentence)*
    sentence    := before? IF condition (, | then) clauses (otherwise clauses)?
                 | before? clause IF condition (otherwise clauses)?
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hvr.errors import AmbiguousError, HvrError, ImpossibleGoalError, LanguageError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.cursor import PAUSES, STOPS, Cursor
from hvr.language.dialogue import DialogueMemory, Rewriter
from hvr.language.goal_builder import Contingency, Goal, Stage
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.negation import prohibits
from hvr.language.paraphrase import NOTHING_LEFT
from hvr.language.phrases import PhraseReader
from hvr.language.spelling import corrections
from hvr.language.statements import SceneStatement, SceneView, StatementJudge, read_statement
from hvr.values import Value

_IF = {
    "if": False,
    "unless": True,
    "in case": False,
    "when": False,
    "provided that": False,
    "only if": False,
}
"""Words before a condition, with whether they negate it."""

_EVENTS = frozenset({"when"})
_ELSE = (("otherwise",), ("or", "else"), ("else",), ("if", "not"))
_SUBJECT = 2
"""Number of words at the beginning of a condition in which a pronoun is the subject."""

_OWN = re.compile(r"if (.+?), then: (.+?); otherwise: (.+)", re.IGNORECASE)
"""hvr's paraphrase of a goal with two branches."""

_CHECKED = re.compile(
    r"\b(?:check|see|look|find out|verify|make sure) (?:if|whether|that) ([^,.;]+)[,.;]\s*(?:and )?"
    r"if (so|not|(?:it|they) (?:isn't|aren't|is not|are not)|(?:it|they) (?:is|are|does|do))\b,?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(is|are) (there )?([^?]+)\? *(?:and )?if (so|yes|not|no|(?:it|they) (?:is|are)),?",
    re.IGNORECASE,
)
"""A check and the condition on its result: 'check whether the fridge is open; if not, …'."""

_NOTHING = re.compile(
    r"(?:just )?(?:(?:leave|let) (?:it|them|that)(?: (?:alone|be|as it is|as they are|where it is"
    r"|there))?|(?:do|change) nothing|do not do anything|don't (?:do anything|bother)"
    r"|skip (?:it|that)|forget (?:about )?(?:it|that))"
)
"""Branches that ask for nothing."""

_AGAIN = re.compile(r"^(if|unless) (?:it|they)(?:'s|'re| is| are)\b")
_THERE = re.compile(r"(?<=\w) there\b(?! (?:is|are))", re.IGNORECASE)
_PLACE = re.compile(r".* (in|on|into|onto) ((?:the|a|an|my) [^,.;]+)", re.IGNORECASE)

_LINKS = frozenset({"and", "then", "but", ",", "also"})
_PRONOUNS = frozenset({"it", "they", "them", "that", "this"})


class Conditional(Value):
    """A request with a condition, in words.

    Args:
        word: The word that introduces the condition, such as 'if' or 'unless'.
        before, after: Clauses that do not depend on the condition.
        then, otherwise: Clauses to carry out if the condition holds, and if not.
    """

    word: str
    condition: str
    then: str
    otherwise: str = ""
    before: str = ""
    after: str = ""


def conditional_goals(
    request: str, reader: Reader, inventory: Inventory
) -> tuple[Goal, ...] | None:
    """Return the possible goals of a request with a condition, or None for a request without one.

    If hvr knows whether the condition holds, the goals are those of the branch to carry out;
    otherwise, there is one goal, with a `Contingency`.

    Raises:
        LanguageError: The condition was not understood or requires waiting.
    """
    found = _split(request, reader, inventory)
    if found is None:
        return None
    view = SceneView(inventory, inventory.unseen)
    judge = StatementJudge(reader, view)
    condition = standing_alone(found.condition, found.then, reader, inventory)
    if condition == found.condition:  # 'open the microwave, and if there is something in it, …'
        condition = standing_alone(condition, found.before, reader, inventory)
    condition = _THERE.sub(lambda _: f" {_place_in(found.then)}", condition)
    statement = read_statement(condition, reader, view)
    truth = judge.truth(statement)
    denied = _IF[found.word]
    if truth is None:
        return (_contingent(found, statement, judge, denied=denied),)
    if found.word in _EVENTS and not truth:
        raise LanguageError(
            f"hvr does not wait for events, and '{condition}' is false now: say 'if', or "
            "what to do first"
        )
    chosen = found.then if truth is not denied else found.otherwise
    note = f"{condition}: {'yes' if truth else 'no'}"
    left_out = found.otherwise if truth is not denied else found.then
    note += f", so hvr leaves out {left_out!r}" if left_out else ""
    goals = _goals(found, chosen, statement, truth, judge)
    return tuple(goal.replace(notes=(note, *goal.notes)) for goal in goals)


def _contingent(
    found: Conditional, statement: SceneStatement, judge: StatementJudge, *, denied: bool
) -> Goal:
    yes, no = (found.otherwise, found.then) if denied else (found.then, found.otherwise)
    goals = []
    for text, truth in ((yes, True), (no, False)):
        read = _goals(found, text, statement, truth, judge)
        if len(read) > 1:
            raise AmbiguousError(tuple("; then ".join(goal.paraphrase) for goal in read))
        goals.append(read[0])
    then, otherwise = goals
    looks = judge.looks(statement)
    if not looks:
        raise LanguageError(f"hvr cannot find out whether {found.condition}")
    places = " or ".join(judge.called(place) for place in looks[:3])
    places += f" or {len(looks) - 3} more" if len(looks) > 3 else ""
    said = ["; then ".join(goal.paraphrase) for goal in goals]
    note = f"it is not known whether {found.condition}: hvr looks into {places} first"
    either = f"(or {then.stages[-1].wanted} {otherwise.stages[-1].wanted})"
    return Goal(
        (Stage(either),),
        (note, *dict.fromkeys((*then.notes, *otherwise.notes))),
        tuple(dict.fromkeys((*then.unread, *otherwise.unread))),
        (f"if {found.condition}, then: {said[0]}; otherwise: {said[1]}",),
        contingency=Contingency(found.condition, statement, looks, then, otherwise),
    )


def _goals(
    found: Conditional, text: str, statement: SceneStatement, truth: bool, judge: StatementJudge
) -> tuple[Goal, ...]:
    reader, inventory = judge.reader, judge.inventory
    refusal: HvrError | None = None
    subject = " and ".join(statement.mentioned)
    verb = "are" if len(statement.mentioned) > 1 else "is"
    after = _AGAIN.sub(rf"\1 {subject} {verb}", found.after) if subject else found.after
    places = _places(f"{found.then}. {found.condition}", judge)
    for branch in _with_names(text, statement, truth, judge, places):
        whole = ". ".join(part for part in (found.before, branch, after) if part)
        if whole and not (branch or found.before) and _only_forbids(whole, reader):
            whole = ""  # doing nothing violates no prohibition
        if not whole:
            return (Goal((Stage("(and)"),), paraphrase=(NOTHING_LEFT,)),)
        try:
            return reader.goals(whole, inventory)
        except AmbiguousError:
            raise
        except (LanguageError, ImpossibleGoalError) as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _places(text: str, judge: StatementJudge) -> tuple[str, ...]:
    spans = PhraseReader(judge.reader, judge.inventory).spans(text)[1]
    named = [s.thing for s in spans if s.thing.nouns or s.thing.kind == "name"]
    names = [judge.things(t)[0] for t in named if judge.things(t)]
    movable = [n for n in names if judge.inventory.true("pickupable", n)]
    return tuple(dict.fromkeys(n for n in names if n not in movable))


def _only_forbids(text: str, reader: Reader) -> bool:
    tokens = tokenize(text)
    starts = [n for n in range(len(tokens)) if n == 0 or tokens[n - 1] in STOPS]
    cursors = [Cursor(text, tokens[n:], reader.lexicon) for n in starts]
    return bool(cursors) and all(prohibits(cursor) for cursor in cursors)


def _with_names(
    text: str,
    statement: SceneStatement,
    truth: bool,
    judge: StatementJudge,
    places: tuple[str, ...],
) -> Iterator[str]:
    fits = [
        name
        for part in statement.parts
        for name in part.things
        if _fits(name, part, judge) is not (not truth)
    ]
    things = tuple(dict.fromkeys(fits)) or statement.mentioned
    memory = DialogueMemory(things=things[:1], group=things[:1], places=places)
    if statement.every or statement.also or statement.least > 1:
        memory = memory.replace(things=things, group=things)
    for request in Rewriter(judge.reader, judge.inventory, memory).requests(text):
        if isinstance(request, str):
            yield request
    words = text.split()
    parts = (p for part in statement.parts if part.predicate for p in part.predicate.adjuncts)
    others = [n for p in parts for thing in p.things if thing.nouns for n in judge.things(thing)]
    for at, word in enumerate(words):
        for thing in (*things[:1], *places, *others) if word.strip(",.") in _PRONOUNS else ():
            yield " ".join((*words[:at], thing, *words[at + 1 :]))


def _fits(name: str, statement: SceneStatement, judge: StatementJudge) -> bool | None:
    if statement.predicate is None:
        return True
    fits = judge.fits(name, statement.predicate)
    return None if fits is None else fits is (statement.positive is not statement.denied)


def standing_alone(condition: str, then: str, reader: Reader, inventory: Inventory) -> str:
    """Replace the pronoun in a condition ('if it is open') by an object in `then`, if any."""
    words = condition.split()
    at = next((n for n, word in enumerate(words) if word in {"it", "they", "them"}), None)
    if at is None or not then:
        return condition
    rewriter = PhraseReader(reader, inventory)
    judge = StatementJudge(reader, SceneView(inventory, inventory.unseen))
    spans = rewriter.spans(then)[1]
    for span in spans if at < _SUBJECT else reversed(spans):  # '… if there is an egg in it'
        names = judge.things(span.thing) if span.thing.nouns or span.thing.kind == "name" else ()
        if names:
            return " ".join((*words[:at], names[0], *words[at + 1 :]))
    return condition


# Splitting ----------------------------------------------------------------------------------------


def _split(request: str, reader: Reader, inventory: Inventory) -> Conditional | None:
    if own := _OWN.fullmatch(request.strip()):
        return Conditional("if", own[1].strip().lower(), own[2], own[3])
    request = _CHECKED.sub(_condition_checked, _ASKED.sub(_question_checked, request.strip()))
    tokens = tokenize(request)
    if not any(words.split()[0] in tokens for words in _IF):
        return None
    (spelt, *_) = corrections(tokens, reader.lexicon)
    tokens = spelt.tokens
    at, word = next(_conditions(request, tokens, reader), (-1, ""))
    if at < 0:
        return None
    start = max((n + 1 for n in range(at) if tokens[n] in STOPS), default=0)
    end = next((n for n in range(at, len(tokens)) if tokens[n] in STOPS), len(tokens))
    head, tail = tokens[start:at], tokens[at + len(word.split()) : end]
    rest = tokens[end + 1 :]
    tail, otherwise = _else(tail)
    if (length := _else_at(rest, 0)) and not otherwise:
        stop = next((n for n, token in enumerate(rest) if token in STOPS), len(rest))
        otherwise, rest = rest[length:stop], rest[stop + 1 :]
    while head and head[-1] in _LINKS:
        head = head[:-1]
    before = [_text(tokens[: max(0, start - 1)])]
    leading = not head or tokens[at - 1] in _LINKS or not _has_verb(request, head, reader)
    if leading:
        condition, then = _condition_first(tail, reader, inventory)
        before.append(_text(head) if _has_verb(request, head, reader) else "")
    else:
        condition, more = _statement_first(tail, reader, inventory)
        rest = (*more, ".", *rest) if more else rest
        kept, then = _last_clause(request, head, reader)
        before.append(_text(kept))
    if not condition or not then:
        raise LanguageError(f"hvr does not understand the condition in {request.strip()!r}")
    otherwise = () if _NOTHING.fullmatch(_text(_trimmed(otherwise))) else otherwise
    if otherwise and _NOTHING.fullmatch(_text(then)):
        word, then, otherwise = "if" if _IF[word] else "unless", _trimmed(otherwise), ()
    return Conditional(
        word,
        _text(condition),
        _text(then),
        _text(_trimmed(otherwise)),
        ". ".join(filter(None, before)),
        _text(rest),
    )


def _condition_checked(found: re.Match[str]) -> str:
    denied = found[2].endswith("t")  # 'not', "isn't"
    return f"{'unless' if denied else 'if'} {found[1]},"


def _place_in(text: str) -> str:
    place = _PLACE.search(text)
    if place is None:
        raise LanguageError(f"it is not clear where 'there' is in the condition of {text!r}")
    return f"{place[1].removesuffix('to')} {place[2]}"


def _question_checked(found: re.Match[str]) -> str:
    subject, _, state = found[3].rpartition(" ")
    said = f"there {found[1]} {found[3]}" if found[2] else f"{subject} {found[1]} {state}"
    return f"{'unless' if found[4][0] == 'n' else 'if'} {said},"


def _conditions(request: str, tokens: tuple[str, ...], reader: Reader) -> Iterator[tuple[int, str]]:
    cursor = Cursor(request, tokens, reader.lexicon)
    for at in range(len(tokens)):
        cursor.at = at
        match = cursor.function("unsupported")
        phrase = " ".join(tokens[at : at + match.length]) if match else ""
        if (
            match
            and phrase in _IF
            and match.length >= cursor.longest()
            and not _else_at(tokens, at)
        ):
            yield at, phrase


def _else_at(tokens: Sequence[str], at: int) -> int:
    for words in _ELSE:
        if tuple(tokens[at : at + len(words)]) == words:
            after = tokens[at + len(words) : at + len(words) + 1]
            return len(words) + (tuple(after) == (",",))
    return 0


def _else(tail: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for at in range(len(tail)):
        if length := _else_at(tail, at):
            return _trimmed(tail[:at]), tail[at + length :]
    return tail, ()


def _condition_first(
    tail: tuple[str, ...], reader: Reader, inventory: Inventory
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    view = SceneView(inventory, inventory.unseen)
    marks = [n for n, token in enumerate(tail) if token in {",", "then"}]
    others = [n for n in range(1, len(tail)) if n not in marks]
    for at in (*marks, *others):
        condition, then = tail[:at], _trimmed(tail[at:])
        if not then or not _has_verb("", then, reader, at=0):
            continue
        try:
            read_statement(_text(condition), reader, view)
        except LanguageError:
            if _PRONOUNS & set(condition[:2]) and at in marks:
                return condition, then
            continue
        return condition, then
    if marks:  # so that the error is about the condition
        read_statement(_text(tail[: marks[0]]), reader, view)
    return (), ()


def _statement_first(
    tail: tuple[str, ...], reader: Reader, inventory: Inventory
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    view = SceneView(inventory, inventory.unseen)
    for at in (n for n, token in enumerate(tail) if token in _LINKS):
        condition, more = _trimmed(tail[:at]), _trimmed(tail[at:])
        if more and condition and _has_verb("", more, reader, at=0):
            if condition[0] in _PRONOUNS:
                return condition, more
            try:
                read_statement(_text(condition), reader, view)
            except LanguageError:
                continue
            return condition, more
    return tail, ()


def _last_clause(
    request: str, head: tuple[str, ...], reader: Reader
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for at in range(len(head) - 1, 0, -1):
        if head[at - 1] in _LINKS and _has_verb(request, head[at:], reader, at=0):
            return _trimmed(head[:at]), head[at:]
    return (), head


def _has_verb(request: str, tokens: tuple[str, ...], reader: Reader, at: int | None = None) -> bool:
    cursor = Cursor(request, tokens, reader.lexicon)
    places = range(len(tokens)) if at is None else (at,)
    return any(cursor.clause_starts(n) or bool(cursor.function("forbid", at=n)) for n in places)


def _trimmed(tokens: Sequence[str]) -> tuple[str, ...]:
    words = list(tokens)
    while words and words[0] in _LINKS | PAUSES:
        words.pop(0)
    while words and words[-1] in _LINKS | PAUSES:
        words.pop()
    return tuple(words)


def _text(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace(" ,", ",")

"""Conditions over time: 'until', 'whenever', 'while', 'as long as', 'before', 'never … while'.

    whenever a cabinet is open, close it      (forall (?x - cabinet) (sometime-after …))
    keep it open until the apple is in it     (sometime-before (not (opened …)) (in apple-1 …))
    never carry the knife while it is on      (always (imply (toggled …) (not (holding …))))
    keep the light on while you work          (always (toggled …))
    do not open it before the mug is clean    (sometime-before (opened …) (not (dirty mug-1)))

This module knows no world: `TimedWords` reads the parts of a request. Each condition becomes
trajectory constraints of PDDL 3 and, if one of them is violated at the start, a condition to
establish first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from hvr.errors import HvrError, LanguageError
from hvr.language.function_words import FUNCTION_WORDS
from hvr.values import Value

EVERY, WHILE, UNTIL, BEFORE = "whenever", "while", "until", "before"

_CONNECTIVES = {
    "whenever": EVERY,
    "every time": EVERY,
    "every time that": EVERY,
    "each time": EVERY,
    "any time": EVERY,
    "while": WHILE,
    "as long as": WHILE,
    "so long as": WHILE,
    "for as long as": WHILE,
    "until": UNTIL,
    "till": UNTIL,
    "up until": UNTIL,
    "before": BEFORE,
}
"""Words that connect a clause and a condition over time."""

_SPLIT = sorted(((tuple(text.split()), kind) for text, kind in _CONNECTIVES.items()), reverse=True)
_STOPS = frozenset(".;!?")
_LINKS = frozenset({"and", "then", "but", ",", "also", "so"})
_ROBOT = frozenset({"you", "robot"})
_OTHERS = frozenset({"i", "we", "he", "she", "they", "my", "our", "his", "her", "their"})
"""First words of conditions about people, which do not concern the robot."""

_PRONOUNS = frozenset({"it", "them", "they", "that", "this"})
_WORKING = frozenset(
    "work|working|are working|do this|doing this|do that|do it|doing so|do so|are at it|are busy|"
    "are at work|are doing this".split("|")
)
"""Conditions that hold as long as the robot does anything."""


class TimedPart(Value):
    """A clause with its condition over time, in words.

    Args:
        kind: One of `EVERY`, `WHILE`, `UNTIL` and `BEFORE`.
        forbids: Whether the clause is a prohibition, in which case its text lacks the words 'do
            not'.
        keeps: Whether the clause asks to preserve a state instead of reaching it.
    """

    kind: str
    condition: str
    clause: str
    forbids: bool = False
    keeps: bool = False


class TimedCondition(Value):
    """A condition on states, as PDDL text.

    Args:
        things: The objects that it mentions, to which pronouns can refer.
        each: (object, condition) pairs, of which one must hold: 'a cabinet is open'.
        wish: Words of a request to make it true; empty if that is impossible.
        lasts: Whether it is a state that lasts, rather than the result of an action.
    """

    text: str
    things: tuple[str, ...] = ()
    each: tuple[tuple[str, str], ...] = ()
    wish: str = ""
    lasts: bool = True


class TimedWords(Protocol):
    """The interface to a world's reader of conditions, clauses and prohibitions in a request."""

    def tokens(self, request: str) -> tuple[str, ...]: ...

    def starts(self, tokens: Sequence[str]) -> bool:
        """Return whether a clause begins at the first word."""
        ...

    def standing_alone(self, condition: str, clause: str) -> str:
        """Replace the pronoun of a condition by the object that its clause names."""
        ...

    def state(self, text: str) -> TimedCondition:
        """Read a statement about the world: 'the fridge is open', 'the knife is in the hand'."""
        ...

    def activity(self, text: str) -> TimedCondition:
        """Return the state in which an activity of the robot takes place."""
        ...

    def kept(self, text: str) -> TimedCondition:
        """Read a clause that asks to preserve a state."""
        ...

    def wished(self, text: str) -> TimedCondition:
        """Read a clause as the state that it requests."""
        ...

    def forbidden(self, text: str) -> tuple[str, ...]:
        """Read a clause after 'do not' as the states that it forbids."""
        ...

    def holds(self, text: str) -> bool:
        """Return whether a condition holds now, according to the known facts."""
        ...

    def over_all(self, texts: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """Merge (object, constraint) pairs into a few quantified constraints."""
        ...


class TimedRequest(Value):
    """A request with conditions over time, after these have become constraints.

    Args:
        parts: (words, condition) for each part that remains to be done. For an 'until', the
            condition is its end in PDDL; otherwise it is ''.
        first: Conditions to establish before anything else.
        lasting: Constraints that may be violated before `first` holds.
        constraints: Constraints that hold from the start.
        due: Whether the condition of a 'whenever' holds at the start, so that the reaction is due.
        held: A state that must hold until the end: 'switch it on while holding the book'.
    """

    parts: tuple[tuple[str, str], ...]
    first: tuple[str, ...]
    lasting: tuple[str, ...]
    constraints: tuple[str, ...]
    due: bool
    held: str = ""

    @property
    def main(self) -> str:
        return ". ".join(text for text, _ in self.parts)


def timed_request(request: str, words: TimedWords) -> TimedRequest | None:
    """Return a request with its conditions over time as constraints, or None if it has none."""
    tokens = words.tokens(request)
    if not any(tokens[n : n + len(key)] == key for n in range(len(tokens)) for key, _ in _SPLIT):
        return None
    pieces: list[str | TimedPart] = []
    for sentence in _sentences(tokens):
        pieces += _pieces(sentence, words)
    if not any(isinstance(piece, TimedPart) for piece in pieces):
        return None
    return _Constraints(words).of(pieces)


# Splitting ----------------------------------------------------------------------------------------


def _sentences(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    start = 0
    for at in (*[n for n, token in enumerate(tokens) if token in _STOPS], len(tokens)):
        if sentence := tuple(tokens[start:at]):
            yield sentence
        start = at + 1


def _pieces(tokens: tuple[str, ...], words: TimedWords) -> Iterator[str | TimedPart]:
    for at in range(len(tokens)):
        found = next(((len(k), kind) for k, kind in _SPLIT if tokens[at : at + len(k)] == k), None)
        if found is None or not (read := _joined(tokens, at, *found, words)):
            continue
        before, part, after = read
        yield from _plain(before)
        yield part
        yield from _pieces(after, words)
        return
    yield from _plain(tokens)


def _joined(
    tokens: tuple[str, ...], at: int, length: int, kind: str, words: TimedWords
) -> tuple[tuple[str, ...], TimedPart, tuple[str, ...]] | None:
    left, right = tokens[:at], tokens[at + length :]
    if not right or right[0] in _OTHERS:
        return None
    first = _trimmed(left)
    leading = not first or (left[-1] in _LINKS and kind != BEFORE)
    try:
        if not leading:
            raise LanguageError("")
        condition, clause, after = _condition_first(right, kind, words)
    except HvrError:
        if not first and kind == BEFORE:
            return None  # it may only order two clauses
        if not first or left[-1] not in {first[-1], ","}:
            raise
        first, clause = _last_clause(first, words)
        if _part(kind, right, clause, words) is None:
            return None
        condition, after = _condition_last(right, kind, clause, words)
    part = _part(kind, condition, clause, words)
    if part is None:
        return None
    acts = kind == WHILE and not (part.forbids or part.keeps)
    if acts and not _condition(kind, part.condition, part.clause, words).lasts:
        return None  # 'pick up the pen while turning on the lamp' only orders two clauses
    return first, part, after


def _part(
    kind: str, condition: Sequence[str], clause: Sequence[str], words: TimedWords
) -> TimedPart | None:
    bare = _after(clause, "filler", "ensure")
    forbids = _length(bare, "forbid") or _length(bare, "without")
    keeps = bool(_length(bare, "maintain")) or not words.starts(bare) or _is_state(bare)
    if kind == BEFORE and not forbids and not _is_state(bare):
        return None  # it orders two clauses
    if kind == UNTIL and not (forbids or keeps) and _PRONOUNS & set(condition[:1]):
        return None  # 'wash the mug until it is clean' only names a result
    if kind == UNTIL and not (forbids or keeps) and not _is_about(condition):
        return None  # 'cook it until done'
    if kind == WHILE and not (forbids or keeps) and not words.starts(bare):
        return None
    if not condition or not clause:
        raise LanguageError(f"{kind!r} needs both a clause and a condition: give the missing one")
    text = bare[forbids:] if forbids else bare
    return TimedPart(kind, _text(condition), _text(text), bool(forbids), keeps and not forbids)


_STATE = frozenset(
    "must should has have needs need shall ought stays stay remains remain is are".split()
)
"""Verbs of statements."""


def _is_state(tokens: Sequence[str]) -> bool:
    forms = [n for n, token in enumerate(tokens) if token in _STATE]
    return bool(forms) and forms[0] > 0 and tokens[0] not in _ROBOT


def _is_about(condition: Sequence[str]) -> bool:
    return _is_state(condition) or bool(_ROBOT & set(condition[:1]))


def _condition_first(
    right: tuple[str, ...], kind: str, words: TimedWords
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Split 'the fridge is open, close it, and wash the mug' into condition, clause and rest."""
    marks = [n for n, token in enumerate(right) if token in {",", "then"}]
    others = [n for n in range(1, len(right)) if n not in marks]
    refusal: HvrError | None = None
    for at in (*marks, *others):
        condition, rest = right[:at], _trimmed(right[at:])
        if not rest or not _begins(rest, words):
            continue
        try:
            _condition(kind, _text(condition), _text(rest), words)
        except HvrError as error:
            refusal = refusal or error
            continue
        end = _next_clause(rest, words)
        return condition, _trimmed(rest[:end]), _trimmed(rest[end:])
    raise refusal or LanguageError(
        f"hvr does not understand the condition in {_text((kind, *right))!r}"
    )


def _next_clause(rest: tuple[str, ...], words: TimedWords) -> int:
    for at in range(1, len(rest) - 1):
        if rest[at] == "," and _begins(_trimmed(rest[at:]), words):
            return at
    return len(rest)


def _condition_last(
    right: tuple[str, ...], kind: str, clause: Sequence[str], words: TimedWords
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ends = [
        n
        for n in range(1, len(right))
        if right[n] in _LINKS and _begins(_trimmed(right[n:]), words)
    ]
    # A comma before another order ends the condition, if what precedes it can be read.
    apart = [n for n in ends if right[n] == "," and not _is_state(_trimmed(right[n:])[:_SUBJECT])]
    refusal: HvrError | None = None
    for end in dict.fromkeys((*apart, len(right), *reversed(ends))):
        try:
            _condition(kind, _text(_trimmed(right[:end])), _text(clause), words)
        except HvrError as error:
            refusal = error
            continue
        return _trimmed(right[:end]), _trimmed(right[end:], keep_then=True)
    assert refusal is not None
    raise refusal


def _last_clause(
    left: tuple[str, ...], words: TimedWords
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for at in range(len(left) - 1, 0, -1):
        if left[at - 1] in _LINKS and _begins(left[at:], words):
            return _trimmed(left[:at]), left[at:]
    return (), left


_SUBJECT = 7
"""Maximum number of words in a statement before its verb."""


def _begins(tokens: Sequence[str], words: TimedWords) -> bool:
    plain = _after(tokens, "filler", "then", "first", "ensure")
    if not plain or plain[0] in _LINKS:
        return False
    if _length(plain, "forbid") or _length(plain, "maintain"):
        return True
    return words.starts(plain) or _is_state(plain[:_SUBJECT])


def _length(tokens: Sequence[str], role: str) -> int:
    phrases = FUNCTION_WORDS[role]
    most = min(len(tokens), 7)
    return next((n for n in range(most, 0, -1) if " ".join(tokens[:n]) in phrases), 0)


def _after(tokens: Sequence[str], *roles: str) -> tuple[str, ...]:
    rest = tuple(tokens)
    while rest and (passed := max(_length(rest, role) for role in roles)):
        if _length(rest, "maintain") or _length(rest, "forbid") > passed:
            break
        rest = rest[passed:]
        while rest[:1] == (",",):
            rest = rest[1:]
    return rest or tuple(tokens)


def _trimmed(tokens: Sequence[str], *, keep_then: bool = False) -> tuple[str, ...]:
    words = list(tokens)
    while words and words[0] in _LINKS and not (keep_then and words[0] == "then"):
        words.pop(0)
    while words and words[-1] in _LINKS:
        words.pop()
    return tuple(words)


def _plain(tokens: Sequence[str]) -> Iterator[str]:
    if text := _text(_trimmed(tokens, keep_then=True)):
        yield text


def _text(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace(" ,", ",")


# Conditions ---------------------------------------------------------------------------------------

_ALWAYS = TimedCondition("(and)")
"""The condition 'while you work'."""


def _condition(kind: str, text: str, clause: str, words: TimedWords) -> TimedCondition:
    text = words.standing_alone(_plainly(text), clause)
    tokens = tuple(text.split())
    if tokens[:2] == ("the", "robot"):
        tokens = tokens[1:]
    doing = tokens[1:] if tokens[:1] and tokens[0] in _ROBOT else tokens
    if kind == WHILE and " ".join(doing) in _WORKING:
        return _ALWAYS
    if len(doing) < len(tokens) or words.starts(tokens):
        return words.activity(_text(_after(doing, "modal", "be")))
    return words.state(text)


_PERFECT = {("has", "been"): "is", ("have", "been"): "are", ("had", "been"): "is"}
_WITHIN = frozenset({"inside", "in", "there"})
_SHORTEST = 2
"""Number of words before the place in the shortest statement, 'potato is inside'."""


def _plainly(text: str) -> str:
    """Turn 'the mug has been washed' into 'is washed', and 'the potato is inside' into 'in it'."""
    words = text.split()
    for at in range(len(words) - 1):
        if (plain := _PERFECT.get((words[at], words[at + 1]))) is not None:
            words[at : at + 2] = [plain]
            break
    stated = any(word in {"is", "are"} for word in words[:-1])
    if stated and words[-1] in _WITHIN and len(words) > _SHORTEST:
        words[-2 if words[-2] == "in" else -1 :] = ["in", "it"]
    return " ".join(words)


# Constraints --------------------------------------------------------------------------------------


class _Constraints:
    """Turns the parts of a request into constraints and parts that remain to be done."""

    def __init__(self, words: TimedWords) -> None:
        self.words = words
        self.parts: list[tuple[str, str]] = []
        self.first: list[str] = []
        self.lasting: list[str] = []
        self.constraints: list[str] = []
        self.due = False
        self.held = ""

    def of(self, pieces: Sequence[str | TimedPart]) -> TimedRequest:
        things: tuple[str, ...] = ()
        for piece in pieces:
            self.held = ""
            if isinstance(piece, str):
                self._say(piece, things)
                things = ()
                continue
            condition = _condition(piece.kind, piece.condition, piece.clause, self.words)
            things = (*self._part(piece, condition), *condition.things)
        return TimedRequest(
            tuple(self.parts),
            tuple(dict.fromkeys(self.first)),
            tuple(dict.fromkeys(self.lasting)),
            tuple(dict.fromkeys(self.constraints)),
            self.due,
            self.held,
        )

    def _say(self, text: str, things: tuple[str, ...]) -> None:
        tokens = text.split()
        then = tokens[:1] if tokens[0] == "then" else []
        for name in things if _PRONOUNS & set(tokens) else ():
            named = _with_name(" ".join(tokens[len(then) :]), name)
            try:
                self.words.wished(named)
            except HvrError:
                continue
            text = " ".join((*then, named))
            break
        self.parts.append((text, ""))

    def _part(self, part: TimedPart, condition: TimedCondition) -> tuple[str, ...]:
        """Add the constraints of a part; return the objects whose state it preserves."""
        if part.forbids:
            self._forbid(part, condition)
        elif condition is _ALWAYS or (
            (part.keeps or part.kind in {BEFORE, UNTIL}) and not _returns(part)
        ):
            state = self.words.kept(part.clause)
            if part.kind == BEFORE:
                self._check(condition.text, f"{part.kind} {part.clause}", part.condition)
                self.constraints.append(f"(sometime-before {condition.text} {state.text})")
            elif part.kind == UNTIL or not condition.lasts:
                self._until(state, condition)
                self.held = state.text if part.kind == WHILE else ""
            else:
                self._keep(state.text, condition)
            return state.things
        elif part.kind == WHILE:
            wanted = self.words.wished(part.clause)
            self._until(condition, wanted.replace(wish=part.clause))
            self.held = condition.text
        else:
            self._react(part, condition)
        return ()

    def _forbid(self, part: TimedPart, condition: TimedCondition) -> None:
        for act in self.words.forbidden(part.clause):
            if part.kind in {UNTIL, BEFORE}:
                self._check(act, f"{part.kind} {part.condition}", part.clause)
                self.constraints.append(f"(sometime-before {act} {condition.text})")
            elif condition is _ALWAYS:
                self._always(_negated(act))
            else:
                self._always(f"(imply {condition.text} {_negated(act)})")

    def _check(self, text: str, limit: str, words: str) -> None:
        if self.words.holds(text):
            raise LanguageError(f"{words!r} is forbidden {limit} but already holds: undo it first")

    def _keep(self, state: str, condition: TimedCondition) -> None:
        if condition is _ALWAYS:
            self._always(state)
            self.lasting.append(f"(sometime-after {_negated(state)} {state})")
        else:
            self._always(f"(imply {condition.text} {state})")
            self.lasting.append(f"(sometime-after {condition.text} {state})")

    def _always(self, body: str) -> None:
        if not self.words.holds(body):
            self.first.append(body)
            self.lasting.append(f"(always {body})")
        else:
            self.constraints.append(f"(always {body})")

    def _until(self, state: TimedCondition, end: TimedCondition) -> None:
        if not end.wish:
            raise LanguageError(f"hvr cannot make the condition after 'until' true: {end.text}")
        if not self.words.holds(state.text):
            self.first.append(state.text)
        self.lasting.append(f"(sometime-before {_negated(state.text)} {end.text})")
        self.parts.append((end.wish, end.text))

    def _react(self, part: TimedPart, condition: TimedCondition) -> None:
        each = condition.each or (((condition.things or ("",))[0], condition.text),)
        texts = []
        for name, text in each:
            wish = self.words.wished(_with_name(part.clause, name))
            texts.append((name, f"(sometime-after {text} {wish.text})"))
            self.due = self.due or (self.words.holds(text) and not self.words.holds(wish.text))
        self.constraints += self.words.over_all(texts)


def _returns(part: TimedPart) -> bool:
    """Return whether a state must be restored: 'whenever a drawer is open, it must be closed'."""
    tokens = part.clause.split()
    return part.kind == EVERY and tokens[0] in _PRONOUNS and _is_state(tokens)


def _with_name(clause: str, name: str) -> str:
    return " ".join(
        name if name and word.strip(",") in _PRONOUNS else word for word in clause.split()
    )


def _negated(text: str) -> str:
    return text[5:-1] if text.startswith("(not (") else f"(not {text})"

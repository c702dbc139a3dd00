"""The structure of a request with conditions.

    request   := (clauses | condition | ELSE clauses)*
    condition := IF statement (, | then) clauses          'if the mug is dirty, wash it'
               | clauses IF statement                     'wash the mug if it is dirty'
               | CHECK whether statement                  'see if the mug is dirty; if so, …'
               | question ?                               'is the mug dirty? if it is, …'
    IF        := [and | but] (if | unless | in case | when | should | …)

'If so', 'if it is not' and ELSE belong to the nearest condition before them. `ConditionWords` says
which words are an order and which a statement, so that this module depends on no world.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from hvr.errors import LanguageError
from hvr.language.cursor import STOPS
from hvr.language.function_words import FUNCTION_WORDS
from hvr.values import Value

_CONJUNCTIONS = {
    **dict.fromkeys(
        "if|in case|in the case that|in case that|in the event that|provided|provided that|"
        "providing|providing that|assuming|assuming that|supposing|suppose|given that|"
        "on condition that|on the condition that|only if|but only if|only in case".split("|"),
        False,
    ),
    **dict.fromkeys("unless|except if|except in case".split("|"), True),
    **dict.fromkeys("when|only when".split("|"), False),
    "except when": True,
}
"""Words before a condition, with whether they negate it."""

_WORDS = sorted(
    ((tuple(w.split()), no) for w, no in _CONJUNCTIONS.items()), key=lambda e: -len(e[0])
)
_ELSE = [tuple(w.split()) for w in ("or otherwise", "or else", "otherwise", "else", "failing that")]
_THEN = re.compile(r", (?:and )?then ")
_SUPPOSED = re.compile(
    r"(?:(?:i|we) (?:think|believe|guess|suppose|hope|wonder|assume)(?: if| whether| that)? |"
    r"maybe |perhaps |possibly |there (?:may|might|could) be )?(?P<said>.+)"
)
"""A supposition that a later 'if so' takes up: 'I think there is an egg in the fridge'."""

_ABLE = (("can",), ("could",))
_QUANTIFIERS = frozenset("something anything everything nothing someone anyone what".split())
"""Words after which 'else' means 'other'."""

_LINKS = frozenset({"and", "then", "but", ",", "also", "so", ":"})
_PASSED = frozenset({"please", "just", "only", "also", "then", "and", "but", ",", "so", ":"})

_CHECK = re.compile(
    r"(?:go and |come and |first )?"
    r"(?:check|see|look|test|verify|determine|inspect|ascertain|find out|figure out|make sure|"
    r"tell me|let me know|have a look|take a look|look and see|check and see)"
    r"(?: \w+ing)? (?P<if>if|whether|whether or not)\b"
)
_LOOK = re.compile(
    r"(?:please |first |go and |go )*(?:look|check|peek|search|have a look|take a look)"
    r"(?: and see)?(?P<in> (?:in|into|inside|through|on|under|behind))? "
    r"(?P<place>(?!for\b|if\b|whether\b).+)"
)
_GO = re.compile(r"(?:please |first )*(?:go|walk|come|head)(?: over)?(?P<in> to) (?P<place>.+)")
"""A search before a condition: 'look in the drawers, and if there is a fork, …'."""

_MOST_WORDS = 40
"""Number of words after "if you can" in which an order is looked for."""
_SEARCHING = frozenset({"check", "search", "look"})
_SEARCH = re.compile(
    r"(?:check|search|look (?:in|into|inside|through|on)) (?P<place>.+?) for (?P<thing>.+)|"
    r"(?:look|search|check) for (?P<what>.+?) (?:in|inside|on) (?P<where>.+)"
)
"""A search whose result decides: 'check the drawers for a spoon; if there is one, …'."""

_ASKING = frozenset("is are was were isn't aren't does do has have did".split())
_BE = r"(?:is|are|was|were|does|do|did|has|have|had|can|could)"
_IT = r"(?:it|they|there|that|this|he|she|you|we|i)"
_ONE = r"(?:one|any|some|it|them|so|the case|inside|there|in there)"
_SHORT = (
    rf"so|yes|true|{_IT} {_BE}(?: (?:find|see|have|spot))?(?: {_ONE})?|"
    rf"(?:you|we|i) (?:find|see|spot)(?: {_ONE})?|there (?:is|are) {_ONE}"
)
_YES = re.compile(_SHORT)
_NO = re.compile(
    rf"not|no|none|{_IT} {_BE} (?:somewhere else|elsewhere|not there)|"
    rf"{_IT} (?:{_BE} not|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|"
    rf"haven't|can't|cannot|couldn't)(?: (?:find|see|have|spot))?(?: {_ONE})?|"
    r"there (?:is|are) (?:none|no one|nothing)|(?:that|this) is not (?:so|the case)"
)
"""Conditions that repeat or deny the one before them: 'if so', 'if there is one', 'if not'."""


_NOTHING = re.compile(
    r"(?:then )?(?:please |just |simply )*(?:(?:leave|let) (?:it|them|that|everything|the \w+)"
    r"(?: (?:alone|be|as it is|as they are|where it is|where they are|there|in there|inside))?|"
    r"(?:do|change) nothing|nothing|do not do anything|don't (?:do anything|bother)|don't|do not|"
    r"skip (?:it|that)|forget (?:about )?(?:it|that)|never mind)(?: else)?"
)
"""Branches that ask for nothing."""


class Conditional(Value):
    """A condition with the parts of a request that depend on it.

    Args:
        condition: The words of the condition.
        scope: Where to look, such as 'in the drawers', if the preceding words say so.
        denied: Whether the conjunction negates it, as 'unless' does.
        event: Whether the conjunction names an event, as 'when' does.
        checked: Whether the condition is a check or question, whose answer the request uses later.
        trailing: Whether the condition stands behind the clause that depends on it.
    """

    condition: str
    denied: bool = False
    event: bool = False
    checked: bool = False
    trailing: bool = False
    scope: str = ""
    then: tuple[Part, ...] = ()
    otherwise: tuple[Part, ...] = ()


Part: TypeAlias = "str | Conditional"


class ConditionWords(Protocol):
    """The interface to a world's reader of orders and statements."""

    def tokens(self, request: str) -> tuple[str, ...]: ...

    def starts(self, tokens: Sequence[str]) -> bool:
        """Return whether an order begins at the first word."""
        ...

    def refusal(self, tokens: Sequence[str]) -> str:
        """Return why the words are neither a statement nor a question; empty if they are one.

        Pronouns may mean anything.
        """
        ...


class _Open:
    """A conditional under construction."""

    def __init__(self, conditional: Conditional, outer: list[str | _Open]) -> None:
        self.head = conditional
        self.outer = outer
        self.then: list[str | _Open] = []
        self.otherwise: list[str | _Open] = []

    def branch(self, *, yes: bool) -> list[str | _Open]:
        return self.then if yes else self.otherwise

    def closed(self) -> Conditional:
        return self.head.replace(then=_closed(self.then), otherwise=_closed(self.otherwise))


def _closed(parts: Sequence[str | _Open]) -> tuple[Part, ...]:
    return tuple(part if isinstance(part, str) else part.closed() for part in parts)


def conditional_parts(request: str, words: ConditionWords) -> tuple[Part, ...] | None:
    """Return a request as clauses and conditionals, or None if it has no condition.

    Raises:
        LanguageError: A condition was not understood, or no clause depends on it.
    """
    parts = _Splitter(words).parts(words.tokens(request))
    found = [part for part in parts if isinstance(part, Conditional)]
    return parts if any(part.then or part.otherwise for part in found) else None


def is_idle(clause: str) -> bool:
    """Return whether a clause asks for nothing: 'leave it'."""
    return _NOTHING.fullmatch(clause) is not None


def words_of_parts(parts: Sequence[Part]) -> str:
    """Return the words of all clauses in the given parts, leaving out the conditions."""
    texts = (p if isinstance(p, str) else words_of_parts((*p.then, *p.otherwise)) for p in parts)
    return ". ".join(filter(None, texts))


class _Splitter:
    def __init__(self, words: ConditionWords) -> None:
        self.words = words
        self.root: list[str | _Open] = []
        self.last: _Open | None = None
        self.stack: list[_Open] = []
        self._look: tuple[list[str | _Open], str] | None = None

    def parts(self, tokens: tuple[str, ...]) -> tuple[Part, ...]:
        for sentence, stop in _sentences(tokens):
            self.stack = []
            if stop == "?" and sentence[0] in _ASKING and self._states(sentence):
                self._open(Conditional(_text(sentence), checked=True), self.root)
            else:
                self._sentence(sentence)
        return _closed(self.root)

    # --- one sentence --------------------------------------------------------------------

    def _sentence(self, tokens: tuple[str, ...]) -> None:
        target = self.root
        while tokens:
            at, mark = next(self._marks(tokens), (len(tokens), ""))
            head, rest = tokens[:at], tokens[at:]
            if mark == "else":
                self._say(head, target)
                target = self._else()
                tokens = _trimmed(rest[_else_length(rest) :])
            elif mark == "check":
                self._say(head, target, go=True)
                target, tokens = self._check(rest, self.root)
            elif mark:
                target, tokens = self._condition(head, rest, target)
            else:
                self._say(head, target)
                return

    def _say(self, tokens: Sequence[str], target: list[str | _Open], *, go: bool = False) -> None:
        """Add a clause, which may say where to look or, before a check (`go`), ask to go there."""
        text = _text(_trimmed(tokens, keep_then=True))
        if not text:
            return
        if any(target is one.otherwise for one in self.stack) and (late := _THEN.search(text)):
            # 'if it is dirty wash it, otherwise dry it, and then put it away'
            self._say(text[: late.start()].split(), target)
            self._say(["then", *text[late.end() :].split()], self.root)
            return
        self._look = None
        looked = _LOOK.fullmatch(text) or (_GO.fullmatch(text) if go else None)
        if looked is not None:
            scope = f"{'on' if (looked['in'] or '').strip() == 'on' else 'in'} {looked['place']}"
            if self._states(("there", "is", "anything", *scope.split())):
                self._look = target, scope
        target.append(text)

    def _marks(self, tokens: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        for at in range(len(tokens)):
            begins = at == 0 or tokens[at - 1] in _LINKS
            if self.last and _else_length(tokens[at:]) and tokens[at - 1] not in _QUANTIFIERS:
                yield at, "else"
            elif begins and (_CHECK.match(_text(tokens[at:])) or self._searched(tokens[at:])[0]):
                yield at, "check"
            elif self._is_condition(tokens, at) or (begins and self._is_inverted(tokens[at:])):
                yield at, "if"

    def _is_condition(self, tokens: tuple[str, ...], at: int) -> bool:
        """Return whether a conjunction begins a condition: not in 'if you could open it'."""
        polite = tokens[at + 1 : at + 2] == ("you",) and tokens[at + 2 : at + 3] in _ABLE
        if polite and tokens[at] == "if":
            return self._leading(tokens[at + 1 : at + 1 + _MOST_WORDS]) is not None
        return _conjunction(tokens, at) is not None

    def _is_inverted(self, tokens: Sequence[str]) -> bool:
        """Return whether 'should' begins a condition: 'should the mug be dirty, …'."""
        asks = tokens[:1] == ("should",) and tokens[1:2] not in (("i",), ("we",))
        return asks and self._leading(tuple(tokens[1:])) is not None

    def _states(self, tokens: Sequence[str]) -> bool:
        return bool(tokens) and not self.words.refusal(tokens)

    def _searched(self, tokens: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        """Return the length of 'check the drawers for a fork' and its statement, or (0, ())."""
        ends = [n for n in range(1, len(tokens)) if tokens[n] in _LINKS or tokens[n] == "if"]
        for end in (*ends, len(tokens)) if tokens[:1] and tokens[0] in _SEARCHING else ():
            found = _SEARCH.fullmatch(_text(tokens[:end]))
            said = _existence(found) if found else ()
            rest = _trimmed(tokens[end:])
            if said and (not rest or self._begins(rest)) and self._states(said):
                return end, said
        return 0, ()

    # --- conditions ----------------------------------------------------------------------

    def _check(
        self, tokens: tuple[str, ...], target: list[str | _Open]
    ) -> tuple[list[str | _Open], tuple[str, ...]]:
        found = _CHECK.match(_text(tokens))
        body = tokens[len(found[0].split()) :] if found else tokens
        end, said = (self._end(body), ()) if found else self._searched(tokens)
        self._open(Conditional(_text(said or _trimmed(body[:end])), checked=True), target)
        return self.root, body[end:]

    def _end(self, body: tuple[str, ...]) -> int:
        ends = [n for n in range(1, len(body)) if body[n] in _LINKS]
        for end in (len(body), *reversed(ends)):
            rest = _trimmed(body[end:])
            follows = not rest or self._begins(rest) or next(self._marks(rest), (1, ""))[0] == 0
            if follows and self._states(_trimmed(body[:end])):
                return end
        raise self._misread(body)

    def _misread(self, body: tuple[str, ...]) -> LanguageError:
        mark = next((n for n, token in enumerate(body) if token in {",", "then"}), len(body))
        said = _trimmed(body[:mark])
        if not said:
            return LanguageError("a condition has no words: say when it holds")
        why = f": {self.words.refusal(said)}" if self.words.refusal(said) else ""
        return LanguageError(f"hvr does not understand the condition {_text(said)!r}{why}")

    def _condition(
        self, head: tuple[str, ...], tokens: tuple[str, ...], target: list[str | _Open]
    ) -> tuple[list[str | _Open], tuple[str, ...]]:
        length, denied = _conjunction(tokens, 0) or (1, False)
        event = "when" in tokens[:length]
        body = tokens[length:]
        said = _trimmed(head, keep_then=True)
        leading = not said or head[-1] in _LINKS
        if self.last is None and self.root and leading and self._answer(body) is not None:
            self._suppose(target)
        if self.last is not None and (answer := self._answer(body)) is not None:
            size, yes = answer
            branch = self.last.branch(yes=(yes is not denied) is not self.last.head.denied)
            before, clause = (said, ()) if leading else self._last_clause(said)
            self._say(before, target)
            self._say(clause, branch)
            self.stack = [self.last]
            return target if clause else branch, _trimmed(body[size:])
        split = self._leading(body) if leading else None
        if split is not None and said and body[len(split[0]) :][:2] == (",", "and"):
            split = None if head[-1] == "," else split  # 'wash the mug, if it is dirty, and …'
        if split is not None:
            self._say(said, target)
            if said and self.stack:
                target = self.stack[0].outer  # 'if A, X, and if B, Y'
            condition, rest = split
            opened = self._open(Conditional(_text(condition), denied, event), target)
            return opened.then, rest
        if not said:
            raise self._misread(body)
        return self._trailing(said, body, Conditional("", denied, event, trailing=True), target)

    def _suppose(self, target: list[str | _Open]) -> None:
        """Treat the clause before 'if so' as a condition, if it is a statement."""
        found = _SUPPOSED.fullmatch(str(target[-1])) if target else None
        if found is not None and self._states(found["said"].split()):
            target.pop()
            self._open(Conditional(found["said"], checked=True), target)

    def _trailing(
        self,
        said: tuple[str, ...],
        body: tuple[str, ...],
        conditional: Conditional,
        target: list[str | _Open],
    ) -> tuple[list[str | _Open], tuple[str, ...]]:
        stop = next((n for n in range(len(body)) if _else_length(body[n:])), len(body))
        end = self._end(body[:stop])
        condition, rest = _trimmed(body[:end]), body[end:]
        before, clause = self._last_clause(said)
        self._say(before, target)
        opened = self._open(conditional.replace(condition=_text(condition)), target)
        self._say(tuple(w for n, w in enumerate(clause) if n or w != "only"), opened.then)
        return target, rest

    def _open(self, conditional: Conditional, target: list[str | _Open]) -> _Open:
        if self._look is not None:
            clauses, scope = self._look
            clauses.pop()
            conditional = conditional.replace(scope=scope)
            self._look = None
        opened = _Open(conditional, target)
        target.append(opened)
        self.stack.append(opened)
        self.last = opened
        return opened

    def _else(self) -> list[str | _Open]:
        opened = [one for one in self.stack if not one.otherwise]
        nearest = opened[-1] if opened else self.last
        if nearest is None:
            raise LanguageError("'otherwise' needs a condition before it: say 'if …'")
        return nearest.otherwise

    def _answer(self, body: tuple[str, ...]) -> tuple[int, bool] | None:
        """Return the length of 'so' after 'if', and whether it affirms ('so', 'not'), or None."""
        ends = (n for n in range(len(body), 0, -1) if n == len(body) or body[n] in {",", "then"})
        for end in ends:
            for pattern, yes in ((_YES, True), (_NO, False)):
                if pattern.fullmatch(_text(body[:end])):
                    return end, yes
        for end in range(min(5, len(body) - 1), 0, -1):
            for pattern, yes in ((_YES, True), (_NO, False)):
                if pattern.fullmatch(_text(body[:end])) and self.words.starts(body[end:]):
                    return None if self._leading(body) else (end, yes)
        return None

    def _leading(self, body: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        marks = [n for n, token in enumerate(body) if token in {",", "then", ":"}]
        others = [n for n in range(1, len(body)) if n not in marks]
        for at in (*marks, *others):
            rest = _trimmed(body[at:])
            if rest and self._begins(rest) and self._states(_trimmed(body[:at])):
                return _trimmed(body[:at]), rest
        for at in marks:
            if _trimmed(body[at:]) and self._states(_trimmed(body[:at])):
                return _trimmed(body[:at]), _trimmed(body[at:])
        return None

    def _begins(self, tokens: tuple[str, ...]) -> bool:
        if _else_length(tokens) or _conjunction(tokens, 0):
            return True
        plain = tokens
        while plain and plain[0] in _PASSED:
            plain = plain[1:]
        end = next((n for n, token in enumerate(plain) if token in _LINKS), len(plain))
        if plain and is_idle(_text(plain[:end])):
            return True
        forbids = bool(plain) and _has_role(plain, "forbid", "dismiss")
        return forbids or (bool(plain) and self.words.starts(plain))

    def _last_clause(self, said: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split the last clause from following clauses that do not depend on its condition."""
        for at in range(len(said) - 1, 0, -1):
            clause = said[at:]
            if said[at - 1] in _LINKS and self._begins(clause):
                return _trimmed(said[:at]), clause
        return (), said


# Words --------------------------------------------------------------------------------------------


def _sentences(tokens: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    start = 0
    for at in (*[n for n, token in enumerate(tokens) if token in STOPS], len(tokens)):
        if sentence := tuple(tokens[start:at]):
            yield sentence, tokens[at] if at < len(tokens) else ""
        start = at + 1


def _conjunction(tokens: Sequence[str], at: int) -> tuple[int, bool] | None:
    """Return the length of a conjunction at a position and whether it negates, or None."""
    for words, denied in _WORDS:
        if tuple(tokens[at : at + len(words)]) == words:
            longer = _length(tokens[at:], "filler", "courtesy", "then")
            return None if longer > len(words) else (len(words), denied)  # 'when done'
    return None


def _else_length(tokens: Sequence[str]) -> int:
    length = next((len(w) for w in _ELSE if tuple(tokens[: len(w)]) == w), 0)
    return length + (length > 0 and tuple(tokens[length : length + 1]) == (",",))


def _length(tokens: Sequence[str], *roles: str) -> int:
    for size in range(min(len(tokens), 7), 0, -1):
        phrase = " ".join(tokens[:size])
        if any(phrase in FUNCTION_WORDS[role] for role in roles):
            return size
    return 0


def _has_role(tokens: Sequence[str], *roles: str) -> bool:
    return _length(tokens, *roles) > 0


def _existence(found: re.Match[str]) -> tuple[str, ...]:
    what, where = found["thing"] or found["what"], found["place"] or found["where"]
    return tuple(f"there is {what} in {where}".split())


def _trimmed(tokens: Sequence[str], *, keep_then: bool = False) -> tuple[str, ...]:
    words = list(tokens)
    while words and words[0] in _LINKS and not (keep_then and words[0] == "then"):
        words.pop(0)
    while words and words[-1] in _LINKS:
        words.pop()
    return tuple(words)


def _text(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace(" ,", ",")

"""The clauses of a request, their moods, and their references to entities."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from hvr.tools.navigation.words.english import (
    ADVERBS,
    AUXILIARIES,
    COURTESY,
    DETERMINERS,
    PHRASAL,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    RESTRICTIONS,
    SUBJECTS,
    stem,
)
from hvr.tools.navigation.words.lexer import (
    GENERAL_VERBS,
    Token,
    ValueForm,
    ValueSpan,
    after,
    is_verb,
    tokens_of,
    written,
)
from hvr.tools.navigation.words.vocabulary import is_content

# Moods --------------------------------------------------------------------------------------------


class Mood(StrEnum):
    ORDER = "order"
    QUESTION = "question"
    FORBIDDEN = "forbidden"
    """It forbids something."""
    CONDITIONAL = "conditional"
    """It contains an order that is conditional or one of several alternatives."""
    STATEMENT = "statement"


@dataclass(frozen=True)
class RequestClause:
    """A clause of a request.

    Args:
        opener: Subordinating word, such as "because"; empty for a main clause.
        borrowed: Positions of pronouns that were replaced by values from another clause.
        fragment: Whether the clause has no verb of its own ("no wait, O-12", "or maybe not"), so
            that it may correct the clause before it.
    """

    tokens: tuple[Token, ...]
    mood: Mood
    opener: str = ""
    borrowed: frozenset[int] = frozenset()
    fragment: bool = False

    @property
    def spans(self) -> tuple[ValueSpan, ...]:
        return tuple(token.span for token in self.tokens if token.span is not None)

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)


_WANT = r"(?:want|need|like|love|wish|prefer|have|require)"
_CAN = r"(?:could|would|can)"
_OPENER = re.compile(
    r"(?:"
    + "|".join(
        (
            r"(?:would|do) you mind",
            r"(?:would|will|might) you be able to",
            r"are you able to",
            r"be able to",
            r"would you be so kind as to",
            r"would you like to",
            r"(?:can|could|would|will|might) (?:you|some(?:one|body)|any(?:one|body))",
            r"(?:can|could|might) i (?:get|ask|have) you(?: to)?",
            rf"(?:(?:i|we|you)(?:'d| would| do)? )?(?:(?:really|just|also|now|still) )?{_WANT}"
            r"(?: you)? to",
            r"would like to",
            r"i(?:'m| am) (?:looking|here|ready|calling) to",
            rf"(?:i|we)(?:'d| would)? (?:really )?appreciate(?: it)? if you {_CAN}",
            rf"(?:it )?(?:would|'d) be (?:\w+ )?\w+ if you {_CAN}",
            rf"i was (?:wondering|hoping) (?:if )?(?:you {_CAN}|to)",
            r"let(?:'s| us| me)",
            r"feel free to",
            r"go ahead and",
            r"proceed to",
            r"please",
            r"make sure (?:to|that you|you)",
            r"be sure to",
            r"remember to",
            r"(?:do not|don't|dont|never) (?:forget|hesitate|fail) to",
            r"why (?:don't|not) you",
            r"why not",
            r"(?:help|assist)(?: me| us)?(?: to| by| with| in)?",
            r"do me (?:a|the) favou?r (?:and|of)",
            r"try to",
            r"i'll have you",
            r"you (?:may|should|must)(?! (?:not|never))",
            r"thank you (?:for|and)",
        )
    )
    + r")\b,?\s*"
)
"""Phrases that turn the following words into an order."""

_NOT = r"(?:don't|do not|dont|didn't|never|no longer|wouldn't|would not|not|rather not)"
_FORBIDS = re.compile(
    r"(?:please )?(?:"
    + "|".join(
        (
            r"never ?mind|do not|don't|dont|never|not|neither|avoid|refrain from|skip",
            r"forget about|leave out",
            r"hold off",
            r"no need to|there(?:'s| is) no need|under no circumstances|by no means",
            rf"(?:i|we|you)(?:'d| would| do)? ?{_NOT} (?:\w+ )?(?:want|wish|need|like|ask|mean|"
            r"plan|intend|say|tell)?",
            r"(?:i|we|you)? ?(?:(?:must|should|may|can|need) ?(?:not|never)|mustn't|shouldn't|"
            r"can't|cannot|needn't)",
            r"make sure (?:that )?(?:you )?(?:do not|don't|never|not)",
            r"(?:i|we)'d rather (?:you )?(?:not|didn't)",
            r"(?:i|we) (?:changed my mind|decided not|forbid|prohibit)",
            r"(?:leave|keep) (?:\S+ ){1,5}(?:alone|untouched|unchanged|as it is|as they are)",
            r"it(?:'s| is) (?:forbidden|not (?:necessary|needed|allowed))",
            r"no one should|nobody should",
        )
    )
    + r")(?!\w)"
)

_ASKS_BACK = re.compile(
    r"(?:i(?:'m| am) (?:curious|interested|wondering)|"
    rf"(?:i|we|you)(?:'d| would)? (?:really )?{_WANT} (?:an?|the|some|any|more|details?|info\w*)|"
    r"ask(?: \w+){1,3} (?:if|whether|what|when|where|which|who|why|how)|"
    r"(?:tell|show|let|inform|explain|advise|know|see|find|figure|check|determine|wonder\w*|verify|"
    r"learn|say|remind|understand|ask|confirm|clarify|hear|curious)\b(?: to)?"
    r"(?: me| us| know| out| for me| about| myself)*[\s,]*(?:about )?"
    r"(?:if|whether|what|when|where|which|who|whom|whose|why|how|that))\b"
)
"""Phrases that ask a question within an order, as in "tell me whether"."""

_HYPOTHETICAL = re.compile(
    r"(?:what|how) (?:if|about)|suppose|imagine|assum(?:e|ing)|pretend|say that|is it possible|"
    r"what would happen|would it be possible"
)
_DIRECTS = re.compile(r"\b(?:should|must|needs? to|has to|have to|ought to) (?:now )?be \w+")
"""Orders in the passive: "it should be cancelled"."""

_SHOULD_BE = re.compile(
    r"(?:the|its|his|her|my) .+ (?P<modal>should|must) (?:now )?be \N{WHITE SQUARE}"
)
_CORRECTS = re.compile(r"(?:i|we) (?:mean|meant)\b")
_REPLACES = re.compile(
    r"(?:let's )?(?:make|change) (?:it|that|this)(?: to)? \N{WHITE SQUARE}(?! \N{WHITE SQUARE})$"
)
"""A correction of the value before: "make it 60"."""

_CAUSES = re.compile(
    r"(?:(?:i|we)(?:'d| would| do)? (?:want|need|like|prefer|require)(?: to have| to get)?"
    r"|have|get) (?=.)"
)
"""Words before a thing and the change that it needs: "I need O-11 cancelled"."""
_SALUTES = frozenset("thanks thank cheers regards greetings hi hello hey dear sincerely".split())

_REPORTS = re.compile(r"(?:\S+ )?(?:said|says|told|asked|thinks|believes|claims|suggested|ordered)")
_WISHES = ("want", "wants", "wanted", "need", "needs", "says")
_LOOSE = ADVERBS | COURTESY | {"and", "but", "or", "plus", "also", "oh", "um", "yes", "there"}
_LOOSE_END = ("please", "thanks", "thank", "then", "too", "also")


def stripped(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without punctuation and courtesies at both ends."""
    some = list(tokens)
    while some and some[0].span is None:
        if " ".join(token.lower for token in some[:2]) in PHRASAL:
            break
        no = some[0].lower == "no" and len(some) > 1 and some[1].lower in (",", "don't", "do")
        if some[0].is_word and not no and (some[0].lower not in _LOOSE or len(some) == 1):
            break
        some.pop(0)
    while some and some[-1].span is None:
        if some[-1].lower not in _LOOSE_END and (some[-1].is_word or some[-1].text in ")%"):
            break
        some.pop()
    return some


def is_open_order(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens begin with words that mark an order: "please", "I want to"."""
    said = [token for token in tokens if token.lower not in ("and", "or")]
    return bool(said) and _OPENER.match(written(said)) is not None


def is_wish(tokens: Sequence[Token]) -> bool:
    said = written(tokens)
    return bool(_REPORTS.match(said) or re.search(r"\bto \w+", said)) or any(
        token.lower in _WISHES for token in tokens[1:4]
    )


def with_mood(
    tokens: Sequence[Token], end: str, verbs: Collection[str], before: Sequence[RequestClause]
) -> RequestClause:
    """Return a clause and its mood, leaving out words such as "please" that only mark the mood.

    Args:
        end: Punctuation mark at the end of the clause's sentence.
        verbs: Stems of known verbs.
        before: Earlier clauses of the sentence.
    """
    # In "Could you look it up and cancel it?", the opening applies to the whole sentence.
    ordered = end == "?" and bool(before) and before[-1].mood is Mood.ORDER
    some = list(tokens)
    while True:
        said = written(some)
        opener = _OPENER.match(said)
        if opener is None and (done := _caused(some, verbs)):
            return RequestClause(tuple(done), Mood.ORDER)
        if opener is None and (forbids := _FORBIDS.match(said)):
            bare = not _says(after(some, forbids.end()))
            return RequestClause(tuple(some), Mood.FORBIDDEN, fragment=bare)
        if opener is None or opener.end() >= len(said):
            break
        ordered = True
        some = stripped(after(some, opener.end()))
    if (asks := _ASKS_BACK.match(written(some))) is not None:
        # Drop the asking phrase except for its last word, such as "whether".
        length = len(asks[0].split()) - 1
        return RequestClause(tuple(stripped(some[length:]) or some), Mood.QUESTION)
    if (wanted := _SHOULD_BE.fullmatch(written(some))) and end != "?":  # "It should be 5 Elm Road"
        about = [t for t in some[:-1] if t.lower not in {"now", "be", wanted["modal"]}]
        start = some[0].start
        order = (Token("change", start), *about, Token("to", some[-1].start - 1), some[-1])
        return RequestClause(order, Mood.ORDER)
    if _REPLACES.match(written(some)):
        return RequestClause(tuple(some), Mood.STATEMENT, fragment=True)
    correction = _CORRECTS.match(written(some))
    mood = _mood(some, end, verbs, ordered=ordered, first=not before)
    bare = (
        mood is Mood.QUESTION and end != "?" and some[0].lower not in QUESTION_WORDS | AUXILIARIES
    )
    return RequestClause(tuple(some), mood, fragment=_says(some) and (bare or bool(correction)))


def _caused(tokens: Sequence[Token], verbs: Collection[str]) -> list[Token]:
    """Return "cancelled O-11" for "I need O-11 cancelled"; empty for any other clause."""
    causes = _CAUSES.match(written(tokens))
    rest = after(tokens, causes.end()) if causes else []
    last = rest[-1] if len(rest) > 1 else None
    if last is None or last.span is not None or not _PARTICIPLE.fullmatch(last.lower):
        return []
    middle = [t for t in rest[:-1] if t.lower not in ("to", "be")]
    return [last, *middle] if middle and stem(last.lower) in verbs else []


_PARTICIPLE = re.compile(r"\w{2,}(?:ed|[^aeiou]en|sent|paid|put|set|made|bought|sold)")


def _says(tokens: Sequence[Token]) -> bool:
    return any(t.span is not None or is_content(t) or t.lower in RESTRICTIONS for t in tokens)


def _mood(
    tokens: Sequence[Token], end: str, verbs: Collection[str], *, ordered: bool, first: bool
) -> Mood:
    said = written(tokens)
    word = tokens[0].lower
    if _HYPOTHETICAL.match(said) or word in QUESTION_WORDS:
        return Mood.QUESTION
    if (not ordered and word in AUXILIARIES) or word.removesuffix("n't") in AUXILIARIES - {word}:
        return Mood.QUESTION
    if word.split("'")[0] in SUBJECTS:
        if end == "?" and first:
            return Mood.QUESTION
        return Mood.ORDER if _DIRECTS.search(said) and end != "?" else Mood.STATEMENT
    if ordered or is_verb(tokens, verbs):
        if len(tokens) > 1 and tokens[1].lower in ("no", "neither", "none", "nothing"):
            return Mood.FORBIDDEN
        return Mood.QUESTION if end == "?" and not ordered else Mood.ORDER
    if _DIRECTS.search(said) and end != "?":
        return Mood.ORDER
    if end != "?" and (_REPORTS.match(said) or _finite(tokens) or _past(tokens)):
        return Mood.STATEMENT
    if word in PREPOSITIONS and end != "?":
        return Mood.STATEMENT  # "In the folder docs, ..." is only a location
    # A bare noun phrase asks for what it names.
    return Mood.QUESTION


_PAST = frozenset(
    """lost broke forgot left bought sent got found paid went came gave took made did wrote lent
    stole fell ran saw received moved arrived changed asked called dropped missed""".split()
)


def _past(tokens: Sequence[Token]) -> bool:
    """Return whether tokens begin with a subject and a past-tense verb: "Bob lost his card"."""
    joint = DETERMINERS | PREPOSITIONS | PRONOUNS
    return any(
        tokens[at].lower in _PAST and (at + 1 == len(tokens) or tokens[at + 1].lower in joint)
        for at in range(1, min(len(tokens), 4))
    )


def _finite(tokens: Sequence[Token]) -> bool:
    return any(
        token.lower in AUXILIARIES or token.lower.endswith("n't") for token in tokens[1:]
    ) or any(token.lower in _WISHES for token in tokens[1:4])


# Clauses ------------------------------------------------------------------------------------------
# Only an order may lead to a writing call. A question leads to read-only calls; a prohibition or a
# statement leads to none.


def clauses_of(text: str, verbs: Collection[str] = ()) -> tuple[RequestClause, ...]:
    """Return the clauses of a request; `verbs` are stems of verbs that are not built in."""
    known = GENERAL_VERBS | frozenset(verbs)
    found: list[RequestClause] = []
    for sentence, end in _sentences(tokens_of(text)):
        found += _clauses(sentence, end, known)
    return tuple(found)


def _sentences(tokens: Sequence[Token]) -> list[tuple[list[Token], str]]:
    found: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    for token in tokens:
        if token.span is not None or token.text not in ".!?;…":
            part.append(token)
        elif part:
            found.append((part, token.text))
            part = []
        elif token.text == "?" and found:
            found[-1] = (found[-1][0], "?")
    if part:
        found.append((part, ""))
    return found


_JOINERS = frozenset(["and", "but", "then", "or", "nor", "plus", "&"])
_GOING_ON = frozenset(["and", "or", "nor"])
"""Words that continue the previous verb: "don't move or delete it"."""
_SIGNS = ",:—–-"
_CONDITIONS = frozenset(["if", "unless", "when", "once", "until"])
_EXCLUSIONS = frozenset(["without", "instead", "rather"])
_REASONS = frozenset(["because", "since", "although", "though", "while", "as", "so"])
_TIMES = frozenset(["after", "before"])
_SUBORDINATE = _CONDITIONS | _EXCLUSIONS | _REASONS | _TIMES
_TAG = re.compile(r"\b(?:would|will|could|can) you(?: please)?$")
_POLITE = re.compile(
    r"(?:you (?:can|could|would|don't mind|do not mind|please|like)|possible|needed|necessary|"
    r"i may|it is possible|it's possible|at all)\b"
)
_ASKING = frozenset(
    stem(word)
    for word in (
        "know",
        "see",
        "check",
        "find",
        "tell",
        "ask",
        "wonder",
        "verify",
        "learn",
        "say",
        "determine",
        "confirm",
        "sure",
        "out",
    )
)
"""Verbs after which "if" and "when" introduce a question: "see if it came"."""


def _clauses(tokens: list[Token], end: str, verbs: frozenset[str]) -> list[RequestClause]:
    found: list[RequestClause] = []
    if end == "?" and (tag := _TAG.search(written(tokens))):
        tokens, end = tokens[: -len(tag[0].split())], ""
    condition = False
    conditions: list[Token] = []
    for part, opener in _parts(tokens, verbs):
        body = stripped(part)
        if not body:
            continue
        inverted = end != "?" and body[0].lower in ("should", "had", "were")
        polite = len(part) <= 5 and _POLITE.match(written(part))
        if inverted or (opener in _CONDITIONS and not polite):
            at = _order_after(body, verbs)
            found.append(RequestClause(tuple(body[:at]), Mood.STATEMENT, opener))
            if body[at:]:  # "If it is late cancel it"
                found.append(RequestClause(tuple(body[at:]), Mood.CONDITIONAL))
                continue
            orders = [clause for clause in found if clause.mood is Mood.ORDER]
            # In "Cancel it if it is late", the condition follows the order that it restricts.
            found = [replace(c, mood=Mood.CONDITIONAL) if c in orders else c for c in found]
            condition = not orders
            conditions = body if opener in ("if", "when") and not orders else []
        elif opener in _EXCLUSIONS:
            found.append(RequestClause(tuple(body), Mood.FORBIDDEN, opener))
        elif opener in _TIMES and _gerund(body) and stem(body[0].lower) in verbs:
            # "Close it after moving the money": hvr asks whether to do both.
            found.append(RequestClause(tuple(body), Mood.CONDITIONAL, opener))
        elif opener in _REASONS | _TIMES or (polite and opener in _CONDITIONS):
            found.append(RequestClause(tuple(body), Mood.STATEMENT, opener))
        elif found and _goes_on(found[-1], opener, body):
            found.append(RequestClause(tuple(body), found[-1].mood))
        else:
            clause = with_mood(body, end, verbs, found)
            if any(token.lower in _SALUTES for token in part):
                clause = replace(clause, fragment=False)
            if opener == "or" and clause.mood is Mood.ORDER and found[-1:] != []:
                # "Cancel it or redirect it" asks for only one of the two.
                found[-1] = _held(found[-1])
                clause = _held(clause)
            if condition and clause.mood is Mood.ORDER:
                clause = replace(clause, mood=Mood.CONDITIONAL)
            elif conditions and clause.mood is Mood.QUESTION:
                # "If it is noon here, what time is it there?" needs both clauses.
                clause = replace(clause, tokens=(*conditions, *clause.tokens))
                found.pop()
            found.append(clause)
    return found


def _order_after(body: Sequence[Token], verbs: Collection[str]) -> int:
    """Return the index at which an order begins after a condition, or the length if none does."""
    inside = SUBJECTS | AUXILIARIES | PREPOSITIONS | DETERMINERS | ADVERBS | {"not", "and", "or"}
    for at in range(3, len(body) - 1):
        if body[at - 1].lower not in inside and is_verb(body[at:], verbs):
            return at
    return len(body)


def _held(clause: RequestClause) -> RequestClause:
    held = clause.mood is Mood.ORDER
    return replace(clause, mood=Mood.CONDITIONAL) if held else clause


def _goes_on(before: RequestClause, opener: str, body: Sequence[Token]) -> bool:
    if before.mood not in (Mood.FORBIDDEN, Mood.STATEMENT) or before.opener or is_open_order(body):
        return False
    listed = before.mood is Mood.STATEMENT and opener == "," and is_wish(before.tokens)
    return opener in _GOING_ON or listed


def _parts(tokens: list[Token], verbs: frozenset[str]) -> list[tuple[list[Token], str]]:
    """Split a sentence into clauses, and return each with the word that opens it."""
    parts: list[tuple[list[Token], str]] = []
    part: list[Token] = []
    opener = ""
    skip = False
    for index, token in enumerate(tokens):
        word, rest = token.lower, tokens[index + 1 :]
        sign = token.span is None and token.text in _SIGNS
        new = None
        if skip:
            skip = False
            continue
        after_of = _after_of(rest)
        valued = after_of is not rest and bool(after_of) and after_of[0].span is not None
        if word in _EXCLUSIONS and (_gerund(after_of) or valued):
            new, skip = word, rest[0].lower in ("of", "than")
        elif _opens(word, rest, tokens[:index]):
            new = word
        elif ((sign or word in _JOINERS) and _starts_clause(rest, verbs)) or (
            sign and opener in _SUBORDINATE
        ):
            new = (
                "," if sign else word if word in _GOING_ON and rest[0].lower not in ADVERBS else ""
            )
        if new is None:
            part.append(token)
            continue
        parts.append((part, opener))
        part, opener = [], new
    parts.append((part, opener))
    return [(some, word) for some, word in parts if some]


def _after_of(rest: Sequence[Token]) -> Sequence[Token]:
    return rest[1:] if rest and rest[0].lower in ("of", "than") else rest


def _gerund(rest: Sequence[Token]) -> bool:
    return bool(rest) and len(rest[0].lower) > 4 and rest[0].lower.endswith("ing")


def _opens(word: str, rest: Sequence[Token], before: Sequence[Token]) -> bool:
    if not rest:
        return False
    first = rest[0].lower
    asked = bool(before) and stem(before[-1].lower or "x") in _ASKING
    if word == "if":
        polite = first == "you" and len(rest) > 1 and rest[1].lower in ("can", "could", "would")
        return not asked and not polite and not (before and before[-1].lower == "me")
    if word in ("unless", "because", "although", "though", "until"):
        return first != "of"
    if word == "so":
        return first in SUBJECTS or first == "that"
    if word == "when" and not before:
        return first not in AUXILIARIES
    if word in ("when", "since", "as", "while", "once"):
        subject = first in SUBJECTS or first in DETERMINERS or rest[0].span is not None
        return (
            subject
            and not asked
            and any(t.lower in AUXILIARIES or t.lower.endswith(("ed", "s")) for t in rest[1:5])
        )
    return word in _TIMES and (first in SUBJECTS or _gerund(rest))


def _starts_clause(rest: Sequence[Token], verbs: frozenset[str]) -> bool:
    """Return whether the tokens in `rest` begin a clause, rather than the next item of a list."""
    rest = list(rest)
    while rest and (rest[0].lower in ADVERBS or rest[0].lower in _JOINERS | {","}):
        rest.pop(0)
    if not rest or rest[0].span is not None:
        return False
    first = rest[0].lower
    following = rest[1].lower if len(rest) > 1 else ""
    if first in ("don't", "never", "do", "let's", "not", "dont"):
        return True
    if first in ("want", "wish", "need", "would") and following in ("to", "like"):
        return True
    if first.split("'")[0] in SUBJECTS:
        return len(rest) > 1 and (rest[1].is_word or "'" in first)
    if first in QUESTION_WORDS:
        return first not in ("who", "which", "whose")
    if first in AUXILIARIES:
        return following in SUBJECTS or following in DETERMINERS
    return is_verb(rest, verbs)


_SHARED_FORMS = frozenset(
    {ValueForm.ID, ValueForm.EMAIL, ValueForm.PATH, ValueForm.URL, ValueForm.NAME, ValueForm.NUMBER}
)
_BETWEEN = frozenset({",", "and", "&", "as", "well", "the"})
_DISTRIBUTES = frozenset({"both", "each"})


def each_part(clause: RequestClause, value: str) -> list[RequestClause]:
    """Return one clause per item of a value in words: two for "add eggs and bread".

    The result is empty if the clause does not contain the value.
    """
    tokens = list(clause.tokens)
    for start in range(len(tokens)):
        for end in range(start + 1, len(tokens) + 1):
            run = tokens[start:end]
            if " ".join(t.text for t in run) == " ".join(re.findall(r"[\w'-]+|[^\w\s]", value)):
                joints = [
                    n for n in range(start, end) if (tokens[n].lower or tokens[n].text) in _AND
                ]
                edges = [start, *(n + 1 for n in joints)], [*joints, end]
                parts = [tokens[a:b] for a, b in zip(*edges, strict=True) if a < b]
                head, tail = tokens[:start], tokens[end:]
                return [replace(clause, tokens=(*head, *part, *tail)) for part in parts]
    return []


_AND = frozenset({"and", ",", "&"})


def _repeated(clause: RequestClause, choices: Collection[str]) -> list[RequestClause]:
    """Return two clauses for "refund 30 for O-11 and 40 for O-12 today"; empty for others."""
    tokens = clause.tokens

    def shape(token: Token) -> str:
        word = "choice" if token.is_word and stem(token.lower) in choices else token.lower
        time = token.span is not None and token.span.form is ValueForm.TIME  # "at 6", "at 7:30"
        form = ValueForm.NUMBER if time or token.span is None else token.span.form
        return form.value if token.span else word

    for joint, token in enumerate(tokens):
        rest = tokens[joint + 1 :]
        for length in range(min(joint - 1, len(rest)), 1, -1) if token.lower == "and" else ():
            head, last, tail = tokens[: joint - length], tokens[:joint], rest[length:]
            if [*map(shape, last[-length:])] == [*map(shape, rest[:length])]:
                parts = ((*last, *tail), (*head, *rest))
                return [replace(clause, tokens=part) for part in parts]
    return []


def each_value(clause: RequestClause, choices: Collection[str] = ()) -> list[RequestClause]:
    """Return a clause per value in "cancel O-11 and O-12"; empty if there is no list.

    Args:
        choices: Stems of the words that a parameter offers as choices, which count as values.
    """
    if repeated := _repeated(clause, choices):
        return repeated
    tokens = [t for t in clause.tokens if t.lower not in _DISTRIBUTES]
    runs: list[list[int]] = []

    def form(token: Token) -> str:
        if token.span is not None:
            return token.span.form.value if token.span.form in _SHARED_FORMS else ""
        return "choice" if token.is_word and stem(token.lower) in choices else ""

    for at, token in enumerate(tokens):
        if not form(token):
            continue
        last = runs[-1][-1] if runs else -1
        joined = {t.lower or t.text for t in tokens[last + 1 : at]} if runs else set()
        alike = runs and form(tokens[last]) == form(token)
        if alike and joined and joined <= _BETWEEN:
            runs[-1].append(at)
        else:
            runs.append([at])
    lists = [run for run in runs if len(run) > 1]
    if len(lists) != 1:
        return []
    (run,) = lists
    head, tail = tokens[: run[0]], tokens[run[-1] + 1 :]
    return [replace(clause, tokens=(*head, tokens[at], *tail)) for at in run]

"""What a clause does: it orders, asks, forbids, or merely states something."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hvr.tools.navigation.words.english import (
    ADVERBS,
    AUXILIARIES,
    COURTESY,
    PREPOSITIONS,
    QUESTION_WORDS,
    SUBJECTS,
)
from hvr.tools.navigation.words.tokens import Token, after, is_verb, written
from hvr.tools.navigation.words.values import ValueSpan


class Mood(StrEnum):
    """What a clause does."""

    ORDER = "order"
    QUESTION = "question"
    FORBIDDEN = "forbidden"
    """It says what is not to be done."""
    CONDITIONAL = "conditional"
    """It orders something in case something else holds, or as an alternative."""
    STATEMENT = "statement"


@dataclass(frozen=True)
class RequestClause:
    """A clause of a request.

    Args:
        tokens: The words of the clause, without those that only make it a request.
        mood: The mood of the clause.
        opener: The word that makes it a subordinate clause, such as "because"; empty if none does.
        borrowed: The places of values that another clause says and a pronoun here refers to.
    """

    tokens: tuple[Token, ...]
    mood: Mood
    opener: str = ""
    borrowed: frozenset[int] = frozenset()

    @property
    def spans(self) -> tuple[ValueSpan, ...]:
        """The values that it says."""
        return tuple(token.span for token in self.tokens if token.span is not None)

    @property
    def text(self) -> str:
        """Its words."""
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
"""Words that make an order of what follows."""

_NOT = r"(?:don't|do not|dont|didn't|never|no longer|wouldn't|would not|not|rather not)"
_FORBIDS = re.compile(
    r"(?:please )?(?:"
    + "|".join(
        (
            r"do not|don't|dont|never|not|neither|avoid|refrain from|skip|forget about|leave out",
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
"""Words that ask a question within an order, as in "tell me whether"."""

_HYPOTHETICAL = re.compile(
    r"(?:what|how) (?:if|about)|suppose|imagine|assum(?:e|ing)|pretend|say that|is it possible|"
    r"what would happen|would it be possible"
)
_DIRECTS = re.compile(r"\b(?:should|must|needs? to|has to|have to|ought to) (?:now )?be \w+")
"""Words that order in the passive: "it should be cancelled"."""

_REPORTS = re.compile(r"(?:\S+ )?(?:said|says|told|asked|thinks|believes|claims|suggested|ordered)")
_WISHES = ("want", "wants", "wanted", "need", "needs", "says")
_LOOSE = ADVERBS | COURTESY | {"and", "but", "or", "plus", "also", "oh", "um", "yes", "there"}
_LOOSE_END = ("please", "thanks", "thank", "then", "too", "also")


def stripped(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without signs and courtesy at both ends."""
    some = list(tokens)
    while some and some[0].span is None:
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
    """Return whether words order openly what follows, as "please" and "I want to" do."""
    said = [token for token in tokens if token.lower not in ("and", "or")]
    return bool(said) and _OPENER.match(written(said)) is not None


def is_wish(tokens: Sequence[Token]) -> bool:
    """Return whether a statement reports a wish or an utterance."""
    said = written(tokens)
    return bool(_REPORTS.match(said) or re.search(r"\bto \w+", said)) or any(
        token.lower in _WISHES for token in tokens[1:4]
    )


def judged(
    tokens: Sequence[Token], end: str, verbs: Collection[str], before: Sequence[RequestClause]
) -> RequestClause:
    """Return a clause with its mood, and without the words that only make it a request.

    Args:
        tokens: The clause.
        end: The sign that ends its sentence.
        verbs: The stems of known verbs.
        before: The clauses of its sentence that come before it.
    """
    # "Could you look it up and cancel it?": the first words hold for all of the sentence.
    ordered = end == "?" and bool(before) and before[-1].mood is Mood.ORDER
    some = list(tokens)
    while True:
        said = written(some)
        opener = _OPENER.match(said)
        if opener is None and _FORBIDS.match(said):
            return RequestClause(tuple(some), Mood.FORBIDDEN)
        if opener is None or opener.end() >= len(said):
            break
        ordered = True
        some = stripped(after(some, opener.end()))
    if (asks := _ASKS_BACK.match(written(some))) is not None:
        # The words that ask say nothing of the matter, except the last one, such as "whether".
        length = len(asks[0].split()) - 1
        return RequestClause(tuple(stripped(some[length:]) or some), Mood.QUESTION)
    return RequestClause(tuple(some), _mood(some, end, verbs, ordered=ordered, first=not before))


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
    if end != "?" and (_REPORTS.match(said) or _finite(tokens)):
        return Mood.STATEMENT
    if word in PREPOSITIONS and end != "?":
        return Mood.STATEMENT  # "In the folder docs, ..." only says where
    # A noun phrase asks for what it names.
    return Mood.QUESTION


def _finite(tokens: Sequence[Token]) -> bool:
    """Return whether a finite verb follows the subject of a clause."""
    return any(
        token.lower in AUXILIARIES or token.lower.endswith("n't") for token in tokens[1:]
    ) or any(token.lower in _WISHES for token in tokens[1:4])

"""Answers to questions, small talk, and the words that join a turn to the one before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hvr.language.function_words import NUMBERS
from hvr.values import Value

# Answers ------------------------------------------------------------------------------------------

_YES = frozenset({"yes", "y", "yeah", "yep", "yup", "sure", "ok", "okay", "right", "correct", "do"})
_NO = frozenset({"no", "n", "nope", "neither", "none", "cancel", "stop", "nothing", "nevermind"})
ORDINALS = {
    **{
        word: n
        for n, word in enumerate(
            ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"), start=1
        )
    },
    **{
        f"{n}{end}": n
        for n, end in ((1, "st"), (2, "nd"), (3, "rd"), *((k, "th") for k in range(4, 9)))
    },
    "former": 1,
    "last": -1,
    "latter": -1,
}
_ANY = frozenset({"any", "either", "whichever", "whatever", "anyone", "matter"})
_PLAIN = frozenset(
    "the a an one ones please i i'd mean meant want would like take use that it's it is option "
    "number choice thing of them this then just go with for me think let's choose pick doesn't "
    "don't no not care will do fine ok works you decide up to these those two both".split()
)


class DialogueQuestion(Value):
    """A question, its possible answers, and the requests that the answers stand for.

    `requests` is empty if the answers themselves are the requests.
    """

    text: str
    choices: tuple[str, ...]
    requests: tuple[str, ...] = ()

    def meant(self, number: int) -> str:
        """Return the request for the answer with a 0-based number."""
        return (self.requests or self.choices)[number]


CANCEL = -1


def chosen(answer: str, choices: Sequence[str]) -> int | None:
    """Return the 0-based number of the chosen answer, `CANCEL`, or None for any other answer.

    Examples:
        >>> chosen("the second one", ("the mug is clean", "the cup is clean"))
        1
        >>> chosen("the mug please", ("the mug is clean", "the cup is clean"))
        0
    """
    said = answer.strip().rstrip(".!").lower()
    for number, choice in enumerate(choices):
        if said == choice.lower().rstrip("."):
            return number
    words = re.findall(r"[\w-]+", said)
    if not words:
        return None
    if words[0] in _NO and all(w in _NO | _PLAIN | {"of"} for w in words):
        return CANCEL
    if len(choices) == 1 and words[0] in _YES:
        return 0
    if {*words} & _ANY and {*words} <= _ANY | _PLAIN:
        return 0
    numbers = [_number(word) for word in words if _number(word)]
    rest = [w for w in words if w not in _PLAIN | _YES and not _number(w)]
    if len(numbers) == 1 and not rest:
        number = numbers[0] - 1 if numbers[0] > 0 else len(choices) - 1
        return number if 0 <= number < len(choices) else None
    own = [set(re.findall(r"[\w-]+", choice.lower())) for choice in choices]
    # A word that occurs in only one choice decides; words that occur in none suggest a new request.
    fits = [n for n, has in enumerate(own) if rest and all(w in has for w in rest)]
    return fits[0] if len(fits) == 1 else None


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    if word in ORDINALS:
        return ORDINALS[word]
    return NUMBERS.get(word, 0) if word != "one" else 0


# Discourse markers --------------------------------------------------------------------------------

_PAUSE = r"[\s,.!;:?\u2026-]*"
_IDLE = (
    r"oh|ah|hm+|uh+|um+|well|great|perfect|good|nice|cool|fine|lovely|super|excellent|"
    r"wonderful|thanks(?: a lot| so much| robot)?|thank you(?: so much| very much)?|cheers|"
    r"all ?right|alright|right|ok|okay|yes|yeah|sure|hey|hi|hello|bye|"
    r"good (?:job|morning|evening|night)|well done"
)
_RETRACTING = (
    r"stop|(?:stop|forget|cancel|scratch) (?:it|that|this)|never ?mind(?: that)?|don't|"
    r"(?:i(?: have|'ve)? )?changed? my mind|on second thoughts?|wrong(?: one)?|that's wrong"
)
_AMENDING = (
    r"no|nope|wait|sorry|oops|actually|rather(?! than)|instead(?! of)|i mean|i meant|"
    r"not (?:that|this)(?: one)?|i said|i asked for|hold on|better"
)
_ADDING = (
    r"and|also|now|then|next(?! to)|please|but|so|(?:do )?(?:exactly )?(?:the )?same "
    r"(?:thing )?(?:for|with|to)|(?:do|repeat) (?:that|it|this)(?: again)? (?:with|to|for)|"
    r"what about|how about|likewise|while you(?:'re| are) (?:at it|there|here)|or"
)
SPOKEN = re.compile(  # Some are markers only before a pause or another marker: 'right, now …'.
    rf"(?:(?:(?P<idle>{_IDLE})|(?P<retracts>{_RETRACTING}))"
    rf"(?=\s*[,.!;:?\u2026-]|\s*$|\s+(?:{_IDLE}|{_AMENDING}|and|now|then|but|so|just)\b(?!-))"
    rf"|(?P<amends>{_AMENDING})\b)(?!-){_PAUSE}",
    re.IGNORECASE,
)
ALSO = re.compile(rf"^(?:(?:{_ADDING}|ok|okay|just|only)\b[\s,]*)+", re.IGNORECASE)
TAIL = re.compile(
    r"(?:^|[, ]+)(?:too|as well|also|next|now|please|instead|then|thanks|thank you|actually|"
    r"whatever|rather|i (?:mean|meant|think|guess)|right now|if you can|sorry|"
    r"(?:is|are|would be|will be) (?:better|fine|ok|okay|nice|good|enough)|will do|it is)[.!?]*$",
    re.IGNORECASE,
)


def unmarked(text: str) -> str:
    """Return a turn without leading words that only greet, thank or agree."""
    while (match := SPOKEN.match(text.strip())) and match["idle"]:
        text = text.strip()[match.end() :]
    return text.strip()


def trimmed(text: str) -> str:
    """Return a turn without the words that only join it to the previous turn: 'and … too'."""
    text = ALSO.sub("", text).strip(" ,.!?")
    while (rest := TAIL.sub("", text).strip(" ,.!?")) != text:
        text = rest
    return text


# Small talk ---------------------------------------------------------------------------------------

_SMALL_TALK = {
    "you are welcome": "",
    "say what to do": "and now|what now|now what|what next|and then|so|well|how are you|hi there|"
    "what is up|good afternoon|good day",
    "nothing is under way": "i(?: have|'ve)? changed my mind|"
    "(?:no,? )?(?:not (?:that|this|it)(?: one)?|don't|do not)|"
    "that(?:'s| is| was) (?:wrong|not (?:it|right|what i \\w+))|never ?mind|"
    "(?:stop|cancel|forget)(?: it| that| about it)?|don't bother|no need",
    "all right": r"(?:any|either|whichever|whatever)(?: (?:one|of (?:them|the \w+)|\w+))?"
    "(?: (?:is fine|will do|works|is ok|you like|you want))?|(?:it )?doesn't matter|"
    r"(?:and |so |but )*(?:(?:it|they|that|the [\w ]+?)(?: can| may| should)? (?:stay|remain)s?|"
    r"(?:leave|keep) (?:it|them|that|the [\w ]+?)) (?:right )?(?:there|here|"
    "where (?:it|they|that) (?:is|are|was|were))",
    "there is no open question": "yes|no|yep|nope|yeah|sure",
    "I carry out requests, answer questions about the scene and what was "
    "done, and take requests back ('undo')": "what can you do|what do you do|help|who are you|"
    "how does this work|what else can you do|what can i say|what can i ask",
}
_TALK = {told: re.compile(rf"(?:{said})$") for told, said in _SMALL_TALK.items() if said}


def small_talk(text: str) -> str:
    """Return the reply to small talk such as 'thanks'; empty if the text is something else."""
    plain = " ".join(text.lower().split()).strip(" .!?,")
    rest = unmarked(plain).strip(" .!?,") or plain * (plain in _YES)
    if not rest:
        return (
            "say what to do" if plain.startswith(("h", "good m", "good e")) else "you are welcome"
        )
    return next((told for told, said in _TALK.items() if said.match(rest)), "")


# Undo ---------------------------------------------------------------------------------------------

_UNDO = frozenset({"undo", "undone", "revert", "reverse", "take", "taking"})
_UNDONE = frozenset(
    "undo undone revert reverse take back it that this them the my last previous latest thing "
    "things step steps request requests order orders action actions change changes command "
    "commands one ones bit bits what you i did have done just again please both twice all "
    "everything of no oh can could me now asked said told to so far we whole lot once more times "
    "time only".split()
)


def undone(text: str, done: int) -> int:
    """Return how many of the `done` requests a turn retracts; 0 if it is about something else."""
    words = re.findall(r"[\w']+", text.lower())
    takes = next((n for n, word in enumerate(words) if word in _UNDO), None)
    if takes is None or any(w not in _UNDONE and w not in NUMBERS for w in words):
        return 0
    if {"did", "have", "what"} & {*words[:takes]} or "back to" in " ".join(words):
        return 0  # 'what did you undo?', 'take that back to me'
    if words[takes] in {"take", "taking"} and (
        "back" not in words or not {*words} & {"that", "it", "last", "request", "order", "said"}
    ):
        return 0
    if {"everything", "all", "lot"} & {*words}:
        return max(done, 1)
    if {"both", "twice"} & {*words}:
        return 2
    return max((NUMBERS[w] for w in words if w in NUMBERS), default=1)

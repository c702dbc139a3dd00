"""Interpretation of dialogue turns: answers to questions, and requests that need the context.

A request that depends on earlier turns is rewritten as a self-contained one, with the names of the
objects that it refers to:

    wash the mug … and now the other one        wash mug-2
    put the apple in the fridge … put it back   put apple-1 on countertop-2
    slice the tomato … no, the lettuce          slice the lettuce
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hvr.errors import HvrError, LanguageError
from hvr.knowledge.ontology import PLACE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.cursor import PAUSES, Cursor
from hvr.language.function_words import NUMBERS
from hvr.language.grammar import Reader
from hvr.language.lexicon import plurals, tokenize
from hvr.language.noun_phrases import read_thing
from hvr.language.spelling import corrections
from hvr.language.statements import is_question
from hvr.language.syntax import NounPhrase
from hvr.values import Value

# Answers ------------------------------------------------------------------------------------------

_YES = frozenset({"yes", "y", "yeah", "yep", "yup", "sure", "ok", "okay", "right", "correct", "do"})
_NO = frozenset({"no", "n", "nope", "neither", "none", "cancel", "stop", "nothing", "nevermind"})
_ORDINALS = {
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
_PLAIN = frozenset(
    {
        "the",
        "a",
        "an",
        "one",
        "please",
        "i",
        "mean",
        "meant",
        "want",
        "that",
        "it",
        "is",
        "option",
        "number",
        "choice",
        "thing",
        "of",
        "them",
        "this",
    }
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
    """Return the 0-based number of the chosen answer, `CANCEL`, or None for any other text.

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
    if word in _ORDINALS:
        return _ORDINALS[word]
    return NUMBERS.get(word, 0) if word != "one" else 0


# Small talk ---------------------------------------------------------------------------------------

_SMALL_TALK = {
    "you are welcome": "",
    "say what to do": "and now|what now|now what|what next|and then|so|well|how are you|hi there|"
    "what is up|good afternoon|good day",
    "nothing is under way": "never ?mind|forget (?:it|that|about it)|stop|stop (?:it|that)|cancel|"
    "cancel (?:it|that)|don't bother|no need",
    "there is no open question": "yes|no|yep|nope|yeah|sure",
    "I carry out requests, answer questions about the scene and what was "
    "done, and take requests back ('undo')": "what can you do|what do you do|help|who are you|"
    "how does this work|what else can you do|what can i say|what can i ask",
}
_TALK = {told: re.compile(rf"(?:{said})$") for told, said in _SMALL_TALK.items() if said}


def small_talk(text: str) -> str:
    """Return the reply to small talk such as 'thanks'; empty for any other text."""
    plain = " ".join(text.lower().split()).strip(" .!?,")
    rest = _INTERJECTION.sub("", plain).strip(" .!?,")
    if not rest:
        return (
            "say what to do" if plain.startswith(("h", "good m", "good e")) else "you are welcome"
        )
    return next((told for told, said in _TALK.items() if said.match(rest)), "")


# Requests -----------------------------------------------------------------------------------------


class DialogueMemory(Value):
    """The memory of a dialogue.

    Args:
        request: The last request or question, in self-contained form.
        things: Mentioned objects, most prominent first.
        group: Objects that the last turn was about; 'them' and 'the first one' refer to these.
        places: Mentioned places, most prominent first.
        used: Objects of the last request and its repetitions.
        origins: The place of each moved object before it was moved.
        acted: Objects of the last plan's actions, most recent first.
    """

    request: str = ""
    things: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    origins: Mapping[str, str] = MappingProxyType({})
    acted: tuple[str, ...] = ()


class PhraseSpan(Value):
    """A noun phrase in a request.

    Args:
        start, end: Range of the indices of its words in the request.
        preposition: Index of its preposition's first word; equal to `start` if it has none.
    """

    start: int
    end: int
    preposition: int
    thing: NounPhrase


_CORRECTS = re.compile(
    r"^(?:(?:no|nope|wait|sorry|oops|actually|rather|instead|i mean|i meant|not that one|not that|"
    r"not this one|i said|i asked for)\b[,.! ]*)+",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"^(?:(?:and|also|now|then|next|ok|okay|please|the same for|the same with|the same to|same for|"
    r"same with|do the same for|do the same with|do the same to|do that with|do that to|"
    r"what about|how about|likewise)\b[, ]*)+",
    re.IGNORECASE,
)
_INTERJECTION = re.compile(
    r"^(?:(?:oh|ah|hm+|well|great|perfect|good|nice|cool|fine|lovely|super|excellent|wonderful|"
    r"thanks(?: a lot| so much)?|thank you(?: so much| very much)?|all ?right|right|ok|okay|hey|"
    r"hi|hello|good (?:job|morning|evening|night)|well done|cheers|bye)"
    r"(?:[ ]*[,.!;:-]+[ ]*|$|(?<=oh)[ ]+|[ ]+(?=and\b|now\b|then\b|no\b)))+",
    re.IGNORECASE,
)
_TOO = re.compile(r"[, ]+(?:too|as well|also|next|now|please|instead|then)[.!?]*$", re.IGNORECASE)
_NOT_BUT = re.compile(r"^not (.+?)(?:,| but)\s*(?:but )?(.+)$", re.IGNORECASE)
_OTHER = re.compile(
    r"^(?:the )?(?:other|another|next|second|remaining)(?: one| ones)?$|^the others$", re.IGNORECASE
)
_BACK = re.compile(
    r"\b(?:put|bring|take|move|place|return|give|set)\b(?P<before> back)? (?P<what>.+?)"
    r"(?P<after> back)?(?: (?:there$|where|to where|to its|in its|to their|in their)\b.*)?[.!]*$",
    re.IGNORECASE,
)
_APART = re.compile(
    r"(?:except|but not|not|apart from|other than)(?: for)? (?P<what>[^,]+), "
    r"(?P<rest>.*\b(?:it|that|them|those)\b.*)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|that|them|those)\b", re.IGNORECASE)
_IF_SO = re.compile(
    r"if (?:(?:it|they|that|there) (?:is|are)(?P<not> not|n't)?|so|(?:it|they|there) does?|not)"
    r"(?:, | then |,? then,? )(?P<rest>.+)",
    re.IGNORECASE,
)
_USED = re.compile(
    r"\bthe (?P<what>[\w ]+?) (?:(?:that|which) )?you (?:have )?(?:just )?"
    r"(?:used|took|picked up|(?!mention|need|want)[a-z]+ed)\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(?!the|that|this|which|what|no)(?P<before>[a-z]+) (?P<one>one(?P<ones>s)?)\b(?! of)",
    re.IGNORECASE,
)
_NTH = re.compile(r"\bthe (\w+) one\b", re.IGNORECASE)
_ONE_OF = re.compile(r"\bone of (?:them|these|those)\b", re.IGNORECASE)
_EVERYTHING = frozenset({"everything", "all of it", "all of them", "all", "it all", "them all"})
_TOGETHER = re.compile(
    r"\b(?:(?P<two>both of (?:them|these|those)|them both|the two of them|(?:these|those|the) two"
    r"(?= *$| *[,.!?]| (?:in|on|off|out|to|into|from|back|again|away)\b)"
    r"|both(?= *$| *[,.!?]| (?:in|on|off|out|to|into|from|back|again|away)\b))"
    r"|all of (?:them|these|those)|them all|it all)(?![\w-])"
)
_COUNTED = re.compile(
    r"\b(?P<number>two|three|four|five|six) of (?:them|these|those|the (?:pieces|slices))\b",
    re.IGNORECASE,
)
_SWITCHED = re.compile(r"^(?:back )?(?P<state>on|off)(?: (?:again|back))?$", re.IGNORECASE)
_WITHIN = frozenset({"in", "on"})
_SLICES = frozenset({"slice", "slices"})
_AFTER_PRONOUN = frozenset({"one", "in", "on", "off", "back", "too", "again", "away", "down"})
_PRONOUNS = frozenset({"it", "them", "they", "that", "this", "those", "these"})
_AGAIN = re.compile(
    r"^(?:do (?:it|that|this) again|again|once more|repeat(?: that| it)?|same again)$"
)


class Rewriter:
    """Rewrites requests that depend on earlier turns as self-contained ones."""

    def __init__(self, reader: Reader, inventory: Inventory, memory: DialogueMemory) -> None:
        self.reader = reader
        self.inventory = inventory
        self.memory = memory

    def requests(self, text: str) -> Iterator[str | DialogueQuestion]:
        """Yield the interpretations of a text, most likely first: requests or a question."""
        text = _INTERJECTION.sub("", text)
        plain = _CORRECTS.sub("", text).strip(" ,")
        corrects = plain != text.strip(" ,")
        if corrects and (pair := _NOT_BUT.match(plain)):
            plain = pair[2]
            if (taken := self._back(f"put {pair[1]} back")) and not self._has_verb(plain):
                for request in self._instead(plain):
                    if isinstance(request, str):
                        yield f"{taken} and {request}"
        if (apart := _APART.fullmatch(plain)) is not None:  # 'except the spoon, put that back'
            plain = _PRONOUN.sub(apart["what"], apart["rest"], count=1)
        plain = self._standing_alone(plain)
        if self.memory.request and _AGAIN.match(plain.rstrip(".!")):
            yield self.memory.request
            return
        rest = _TOO.sub("", _ALSO.sub("", plain)).strip(" ,.!?")
        if self.memory.request and (back := self._back(plain)):
            yield back
            return
        if self.memory.request and (switched := self._switched(rest)):
            yield switched
        if self.memory.request and not self._has_verb(rest):
            instead = list(self._instead(rest))
            yield from instead
            if instead and self._only_names(rest):
                return
        if text.rstrip().endswith("?") and self._only_names(rest):
            return  # 'and the kettle?' orders nothing by itself
        yield from self._resolved(plain if plain else text)

    def _standing_alone(self, text: str) -> str:
        if (asked := _IF_SO.match(text)) and is_question(self.memory.request):
            (_, *words), spans = self.spans(self.memory.request.rstrip("?"))
            if spans and words:
                end = spans[0].end - 1
                said = [*words[:end], "is", *words[end:]]
                said = ["there", "is", *words[1:]] if words[0] == "there" else said
                text = f"{'unless' if asked['not'] else 'if'} {' '.join(said)}, {asked['rest']}"

        def used(match: re.Match[str]) -> str:
            named = self.spans(match["what"])[1]
            kinds = {c for span in named for c in self._classes(span.thing)}
            names = (n for n in self.memory.acted if self.inventory.classes.get(n) in kinds)
            return next(names, match[0])

        return _USED.sub(used, text)

    def _only_names(self, rest: str) -> bool:
        tokens, spans = self.spans(rest) if rest else ((), [])
        return len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(tokens))

    # --- parts ---------------------------------------------------------------------------

    def _switched(self, rest: str) -> str:
        match = _SWITCHED.match(rest)
        tokens = list(tokenize(self.memory.request)) if match else []
        at = [n for n, word in enumerate(tokens) if word in {"on", "off"}]
        if match is None or len(at) != 1:
            return ""
        tokens[at[0]] = match["state"].lower()
        return " ".join(tokens)

    def _instead(self, rest: str) -> Iterator[str | DialogueQuestion]:
        # 'and the cup', 'no, in the sink'
        if not rest or self._has_verb(rest):
            return
        tokens, spans = self.spans(self.memory.request)
        own, found = self.spans(rest)
        split = next((s.preposition for s in found if s.preposition < s.start), 0)
        if split and _OTHER.match(" ".join(own[:split])):  # 'the second one in the bin'
            for request in self._instead(" ".join(own[:split])):
                if isinstance(request, str):
                    memory = self.memory.replace(request=request)
                    place = " ".join(own[split:])
                    yield from Rewriter(self.reader, self.inventory, memory)._instead(place)
            return
        if _OTHER.match(rest):
            yield from self._other(
                tokens,
                spans,
                several=rest.endswith("ones") or rest == "the others",
                any_one=rest.startswith("another"),
            )
            return
        if len(found) != 1 or found[0].end != len(own):
            return
        new = found[0]
        governed = new.preposition == 0 < new.start
        if new.start and not governed:
            return
        for span in self._like(new, spans, governed=governed):
            start = span.preposition if governed else span.start
            yield " ".join((*tokens[:start], *own, *tokens[span.end :]))

    def _like(
        self, new: PhraseSpan, spans: Sequence[PhraseSpan], *, governed: bool
    ) -> list[PhraseSpan]:
        kind = self._portable(new.thing)
        fitting = [s for s in spans if (s.preposition < s.start) is governed or not governed]
        return sorted(
            fitting,
            key=lambda s: (self._portable(s.thing) is not kind, s.preposition < s.start, s.start),
        )

    def _portable(self, thing: NounPhrase) -> bool:
        classes = set(self.reader.taxonomy.concrete_of(thing.classes))
        if thing.kind == "name":
            classes = {self.inventory.classes.get(thing.text, "")}
        return bool(classes & set(self.reader.taxonomy.portable))

    def _other(
        self, tokens: Sequence[str], spans: Sequence[PhraseSpan], *, several: bool, any_one: bool
    ) -> Iterator[str | DialogueQuestion]:
        if not spans:
            return
        main = next((s for s in spans if s.preposition == s.start), spans[0])
        kinds = {self.inventory.classes[n] for n in self.memory.used if n in self.inventory.classes}
        named = self._classes(main.thing)
        kinds = {c for c in kinds if c in named} or named
        others = [
            n for c in sorted(kinds) for n in self.inventory.of(c) if n not in self.memory.used
        ]
        if not others:
            raise LanguageError(f"there is no other {main.thing.text} here")
        texts = [" ".join((*tokens[: main.start], n, *tokens[main.end :])) for n in others]
        if several:
            names = " and ".join(others)
            yield " ".join((*tokens[: main.start], names, *tokens[main.end :]))
        elif len(others) == 1 or any_one:
            yield texts[0]
        else:
            from hvr.language.truth import SceneView, StatementJudge

            judge = StatementJudge(self.reader, SceneView(self.inventory))
            words = tuple(judge.described(n) for n in others)
            yield DialogueQuestion("Which one?", words, tuple(texts))

    def _classes(self, thing: NounPhrase) -> set[str]:
        if thing.kind == "name":
            return {self.inventory.classes.get(thing.text, "")}
        return set(self.reader.taxonomy.concrete_of(thing.classes))

    def _back(self, text: str) -> str:
        """Return a request to put objects back, for 'put it back'; empty without earlier places."""
        match = _BACK.search(text.strip())
        returns = match and (match["before"] or match["after"] or text.lower().startswith("return"))
        if match is None or not returns:
            return ""
        before = text.strip()[: match.start()]
        if before.strip() and self.spans(before)[1]:
            return ""  # something else is said before
        names = self._meant(match["what"])
        if not names:
            return ""
        requests = []
        for name in names:
            place = self.memory.origins.get(name, "")
            if place not in self.inventory.classes or self.inventory.parents.get(name) == place:
                return ""
            relation = self.reader.taxonomy.relation(self.inventory.classes[place])
            requests.append(f"put {name} {relation} {place}")
        return " and ".join(requests)

    def _meant(self, words: str) -> tuple[str, ...]:
        plain = _TOGETHER.sub("them", words.lower().removesuffix(" back").strip())
        if plain in _EVERYTHING:
            return tuple(self.memory.origins)
        if plain in _PRONOUNS:
            moved = [n for n in self.memory.things if n in self.memory.origins]
            last = self.memory.group if len(self.memory.group) > 1 else self.memory.used
            together = tuple(n for n in last if n in moved)
            many = plain in {"them", "those", "these", "they"}
            return (together or tuple(moved)) if many else tuple(moved[:1])
        tokens, spans = self.spans(plain)
        if len(spans) != 1 or spans[0].end != len(tokens):
            return ()
        classes = self._classes(spans[0].thing)
        moved = [n for n in self.memory.origins if self.inventory.classes.get(n) in classes]
        name = spans[0].thing.text if spans[0].thing.kind == "name" else ""
        return (name,) if name in self.memory.origins else tuple(moved[-1:])

    def _resolved(self, text: str) -> Iterator[str]:
        for said in (*self._known(text), text):
            yield from self._referring(said)

    def _referring(self, text: str) -> Iterator[str]:
        label = next((self._label(n) for n in (*self.memory.group, *self.memory.things)), "")
        if label and (one := _ONE.search(text)) and one["before"] not in _ORDINALS:
            plural = one["ones"] and plurals(label)[0]
            text = f"{text[: one.start('one')]}{plural or label}{text[one.end('one') :]}"
        tokens = list(tokenize(self._counted(text))) if text.strip() else []
        if " ".join(tokens) != " ".join(tokenize(text) if text.strip() else ()):
            yield " ".join(tokens)
        together = _TOGETHER.search(" ".join(tokens))
        if together is not None:
            joined = " ".join(tokens)
            tokens = f"{joined[: together.start()]}them{joined[together.end() :]}".split()
        at = next((n for n, word in enumerate(tokens) if self._refers(tokens, n)), None)
        first = next((n for n in range(len(tokens)) if self._names(tokens, n)), len(tokens))
        referred = []
        if at is not None and self.memory.things:
            for names in self._referents(tokens[at], together):
                referred.append(" ".join((*tokens[:at], " and ".join(names), *tokens[at + 1 :])))
        within = at is not None and at > first and tokens[0] != "which"
        if not within:
            yield from referred
        if "there" in tokens and tokens[0] != "there":
            where = tokens.index("there")
            start = where - (where > 1 and tokens[where - 1] in _WITHIN)
            for place, relation in self._places():
                said = " ".join((*tokens[:start], relation, place, *tokens[where + 1 :]))
                yield from self._referring(said)
        if (slices := self._sliced(tokens)) is not None:
            yield slices
        yield text
        if within:  # 'put the mug next to it', where 'it' refers to nothing in the request itself
            yield from referred

    def _label(self, name: str) -> str:
        return self.reader.taxonomy.label(self.inventory.classes[name])

    def _known(self, text: str) -> Iterator[str]:
        """Yield the request with 'the drawer' replaced by the drawer mentioned last, if any."""
        tokens, spans = self.spans(text) if text.strip() else ((), [])
        about = (*self.memory.group, *self.memory.acted, *self.memory.places[:1])
        said = list(tokens)
        for span in reversed(spans):
            kinds, thing = self._classes(span.thing), span.thing
            several = sum(c in kinds for c in self.inventory.classes.values()) > 1
            plain = thing.determiner.definite and not (thing.adjectives or thing.relative)
            names = {n for n in about if self.inventory.classes.get(n) in kinds}
            single = thing.nouns and not thing.nouns[0].plural and thing.kind != "name"
            if several and plain and single and len(names) == 1 and len(thing.nouns) == 1:
                said[span.start : span.end] = names
        if said != list(tokens):
            yield " ".join(said)

    def _referents(self, pronoun: str, together: re.Match[str] | None) -> Iterator[tuple[str, ...]]:
        memory = self.memory
        if together is None and pronoun not in {"them", "they", "those", "these"}:
            yield from ((name,) for name in (*memory.group, *memory.things, *memory.places))
            return
        groups = dict.fromkeys((memory.group, memory.used, memory.things[:2]))
        for group in groups:
            two = together is not None and together["two"] is not None
            fits = len(group) == 2 if two else len(group) > 1 or together is None
            if group and fits:
                yield group

    def _places(self) -> Iterator[tuple[str, str]]:
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        for name in self.memory.places:
            if taxonomy.plays(classes[name], PLACE):
                yield name, taxonomy.relation(classes[name])

    def _sliced(self, tokens: Sequence[str]) -> str | None:
        at = next((n for n, word in enumerate(tokens) if word in _SLICES and n), None)
        if at is None or tokens[at + 1 : at + 2] == ["of"]:
            return None
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        whole = next((n for n in self.memory.things if taxonomy.slices(classes[n])), None)
        if whole is None:
            return None
        return " ".join(
            (*tokens[: at + 1], "of", taxonomy.label(classes[whole]), *tokens[at + 1 :])
        )

    def _counted(self, text: str) -> str:
        def meant(match: re.Match[str]) -> str:
            number = _number(match[1].lower())
            group = self.memory.group
            at = number - 1 if number > 0 else len(group) - 1
            return group[at] if number and 0 <= at < len(group) else match[0]

        def several(match: re.Match[str]) -> str:
            number, group = NUMBERS[match["number"].lower()], self.memory.group
            if len(group) >= number:
                return " and ".join(group[:number])
            taxonomy, classes = self.reader.taxonomy, self.inventory.classes
            whole = next((n for n in self.memory.things if taxonomy.slices(classes[n])), None)
            label = taxonomy.label(classes[whole]) if whole else ""
            return f"{match['number']} slices of {label}" if label else match[0]

        text = _COUNTED.sub(several, text)
        some = next((n for n in self.memory.group if n not in self.memory.used), None)
        return _NTH.sub(meant, _ONE_OF.sub(some, text) if some else text)

    def _refers(self, tokens: Sequence[str], at: int) -> bool:
        if tokens[at] in {"it", "them", "they"}:
            return not (tokens[at] == "it" and tokens[at + 1 : at + 2] == ["is"] and at == 0)
        last = at + 1 == len(tokens) or tokens[at + 1] in PAUSES | _AFTER_PRONOUN
        return tokens[at] in _PRONOUNS and last

    def _names(self, tokens: Sequence[str], at: int) -> bool:
        cursor = Cursor("", tuple(tokens), self.reader.lexicon)
        cursor.at = at
        return bool(cursor.named() and not cursor.verb()) or cursor.is_name()

    def _has_verb(self, text: str) -> bool:
        if not text.strip() or is_question(text):
            return bool(text.strip())
        cursor = self._cursor(text)
        return any(cursor.clause_starts(at) for at in range(min(3, len(cursor.tokens))))

    def _cursor(self, text: str) -> Cursor:
        (spelt, *_) = corrections(tokenize(text), self.reader.lexicon)
        return Cursor(text, spelt.tokens, self.reader.lexicon)

    def spans(self, text: str) -> tuple[tuple[str, ...], list[PhraseSpan]]:
        """Return the words of a text and its noun phrases, except those that cannot be read."""
        cursor = self._cursor(text)
        found: list[PhraseSpan] = []
        at = 0
        while at < len(cursor.tokens):
            cursor.at = at
            if (verb := cursor.verb()) is not None:
                at += verb.length
                continue
            governor = cursor.function("prep", "from", "unplaced", "with")
            start = at + governor.length if governor else at
            cursor.at = start
            starts = cursor.starts_exactly(start) or cursor.named(start)
            if not starts:
                at += 1
                continue
            try:
                thing = read_thing(cursor, "")
            except HvrError:
                at += 1
                continue
            found.append(PhraseSpan(start, cursor.at, at if governor else start, thing))
            at = max(cursor.at, at + 1)
        return cursor.tokens, found

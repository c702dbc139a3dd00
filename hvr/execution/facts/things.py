"""The noun phrases of requests to PDDL worlds.

    thing = an object: "truck1", "truck 1", "the red block", or "the truck" if only one exists
          | a list: "red, green and blue", "balls 1 and 2"; a choice: "the depot or the harbour"
          | DETERMINER [ADJECTIVE …] TYPE [restriction] [exception]
          | "everything", "no one", "something else", … [restriction] [exception]

A restriction is any property that the world's predicates can express: "at the depot", "that are not
lit", "parked in bay 1", "of the fiat". Descriptions are evaluated in the initial state, so a thing
is a set of objects with a quantifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hvr.errors import LanguageError
from hvr.language.function_words import NUMBERS
from hvr.language.lexicon import plurals
from hvr.pddl import Domain, Formula, Problem
from hvr.values import Value
from hvr.worlds.facts.lexicon import WorldLexicon, object_phrases

Property = Callable[[str, tuple[str, ...]], Formula | None]
"""Makes a formula about an object or variable from its name and types; None if it cannot apply."""

ALL, SOME, NONE = "every", "some", "no"


class Thing(Value):
    """The objects that a noun phrase refers to.

    Args:
        members: Objects that the quantifier ranges over.
        quantifier: ALL, SOME or NONE; empty for one definite object.
        kind: Type that consists of the members, if the phrase names it without a restriction.
        least, most: Bounds on the number of objects; `most` is None if there is no bound.
        loose: Whether only members that the clause can be about count, as for "everything".
        other: Whether the phrase means a member at which the subject is not, as in "the other".
        fresh: Whether an order means only objects that do not fulfil it yet, as for "a block".
        said: The phrase, if it leaves open which of the members it means.
        persons: The members that "everybody" means, if the clause can be about them.
        parts: Items of a list that cannot be joined in one set, as in "a ball and a box".
    """

    members: tuple[str, ...]
    quantifier: str = ""
    kind: str = ""
    least: int = 1
    most: int | None = None
    loose: bool = False
    fresh: bool = False
    other: bool = False
    said: str = ""
    persons: tuple[str, ...] = ()
    parts: tuple[Thing, ...] = ()


_MOST_WORDS = 20
"""Maximum number of words of a noun phrase."""

_N = rf"(?P<n>{'|'.join(NUMBERS)}|\d{{1,3}})"
_THE = r"(?: the| my| your| our| these| those)?"
_OF = rf"(?: of{_THE})?"
_DETERMINERS = [
    (re.compile(rf"(?:{pattern}) (?P<rest>.+)"), quantifier, how)
    for pattern, quantifier, how in (
        (rf"all{_OF}{_THE} {_N}", ALL, "count"),
        (rf"(?:all|each|every one|every single one){_OF}{_THE}", ALL, ""),
        (r"every single|every", ALL, ""),
        (rf"both{_OF}{_THE}", ALL, "both"),
        (rf"(?:no more than|not more than|at most|up to|a maximum of) {_N}{_OF}", SOME, "most"),
        (rf"(?:no fewer than|no less than|at least|a minimum of) {_N}{_OF}", SOME, "least"),
        (rf"{_N} or more{_OF}", SOME, "least"),
        (rf"(?:exactly|precisely|only|just) {_N}{_OF}", SOME, "exactly"),
        (rf"more than {_N}{_OF}", SOME, "more"),
        (rf"(?:fewer|less) than {_N}{_OF}", SOME, "fewer"),
        (rf"(?:none|neither|not one|not any){_OF}{_THE}", NONE, ""),
        (r"no|not a|not an", NONE, ""),
        (rf"half{_OF}{_THE}", SOME, "half"),
        (r"another|a different|one other|one more", SOME, "other"),
        (rf"(?:one|any one|any|either|some) of{_THE}", SOME, "fresh"),
        (r"an|a|one|any", SOME, "fresh"),
        (r"some", SOME, ""),
        (rf"{_N}{_OF}", SOME, "number"),
        (rf"(?:the|these|those|my|our) {_N}", ALL, "count"),
        (r"the|this|that|these|those|my|your|our|its|their|his|her", "", ""),
    )
]
_WHOLE = re.compile(
    r"(?P<word>everything|everybody|everyone|whatever|anything|anybody|anyone|something|somebody|"
    r"someone|nothing|nobody|no one|all|none|whoever|all of them|none of them)"
    r"(?P<rest>(?: .+)?)"
)
_EXCEPT = re.compile(
    r"(?P<before>.*?) ?\b(?:except(?: for)?|but(?: not)?|apart from|other than|excluding|besides|"
    r"save for|bar|with the exception of) (?P<out>.+)"
)
EXCEPTION = re.compile(
    r"(?P<head>.+?),? (?P<out>(?:except|apart from|other than|excluding|besides|"
    r"with the exception of|save for) .+|but (?:not )?.+)"
)
_RELATIVE = re.compile(r"(?:that|which|who) ")
_FINITE = re.compile(
    r"(?:is|are|was|were|has|have|must|should|may|can|shall|will|needs?|does|do)\b"
)
_ADVERBS = re.compile(r" (?:yet|now|already|right now|at the moment|still|currently)$")
_LIST = re.compile(r", and |, | and ")
_CHOICE = re.compile(r", or |, | or ")
_ANY_THING = ("thing", "object", "item", "one", "person")
_PERSONS = frozenset({"person", "human", "people", "man", "woman"})
_ANY = re.compile(r"\b(?:things?|objects?|items?|persons?|people)\b")
_OTHER = frozenset({"other", "opposite", "remaining", "rest", "others", "else"})


class ThingReader:
    """Parses noun phrases.

    Args:
        holds: Returns whether a formula is true in the initial state.
        property_of: Parses a phrase that can restrict a noun, such as "at the depot", but not a
            prepositional phrase such as "from the depot".
        linked: Returns the property of belonging to an object, as in "the wheel of the fiat".
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        words: WorldLexicon,
        holds: Callable[[Formula], bool],
        property_of: Callable[[str], Property | None],
        linked: Callable[[Thing], Property],
    ) -> None:
        self.domain = domain
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self.mentioned: list[str] = []
        self._holds = holds
        self._property = property_of
        self._linked = linked
        self.phrases: Mapping[str, str] = dict(self._phrases())
        self._squeezed = {_squeezed(name): name for name in self.objects}
        self._nouns_by_word: dict[str, list[tuple[str, list[str], bool]]] = {}
        for kind, names in (*words.types.items(), ("object", _ANY_THING)):
            for noun in names:
                forms = plurals(noun)
                for form in dict.fromkeys((noun, *forms)):
                    entry = (kind, form.split(), form in forms)
                    self._nouns_by_word.setdefault(entry[1][0], []).append(entry)
        self._known: dict[str, Thing | None] = {}
        self._open: set[str] = set()

    def read(self, text: str) -> Thing | None:
        """Parse a noun phrase; return None if it is not one.

        Raises:
            LanguageError: No object matches the description, or several match one with "the".
        """
        words = text.split()
        if len(words) > _MOST_WORDS:
            return None
        if _OTHER & {*words}:
            return self._read(text)
        if text not in self._known:
            if text in self._open:
                return None
            self._open.add(text)
            try:
                self._known[text] = self._read(text)
            finally:
                self._open.discard(text)
        return self._known[text]

    def is_noun(self, word: str) -> bool:
        return word in self._nouns_by_word

    def plain(self, text: str) -> str | None:
        """Return the object that an undescribed phrase names: 'mona lisa' for monalisa."""
        found = self.phrases.get(text)
        return found or self._squeezed.get(_squeezed(text.removeprefix("the ")))

    def _phrases(self) -> Iterator[tuple[str, str]]:
        for kind, names in self.words.types.items():
            members = self._members(kind)
            if len(members) == 1:
                for noun in names:
                    yield f"the {noun}", members[0]
                    yield noun, members[0]
        digits = {str(number): word for word, number in NUMBERS.items()}
        for name, types in self.objects.items():
            kinds = [kind for kind in self.words.types if self.domain.has_type(types, (kind,))]
            nouns = [noun for kind in kinds for noun in self.words.types[kind]]
            for phrase in (*object_phrases(name), *_parted(name, nouns)):
                head, _, last = phrase.rpartition(" ")
                said = [phrase, *(f"{head} {end}" for end in (digits.get(last),) if head and end)]
                said += [f"{head} number {last}"] if last.isdecimal() else []
                for form in (
                    *said,
                    *(f for n in nouns for f in (f"{phrase} {n}", f"{n} {phrase}")),
                ):
                    yield form, name
                    yield f"the {form}", name

    def _members(self, kind: str) -> tuple[str, ...]:
        return tuple(self.domain.members(self.objects, (kind,)))

    def _read(self, text: str) -> Thing | None:
        name = self.plain(text)
        if name is not None:
            return Thing((name,))
        for read in (self._whole, self._determined, self._several, self._located):
            found = read(text)
            if found is not None:
                return found
        return None

    # --- lists ---------------------------------------------------------------------------

    def _several(self, text: str) -> Thing | None:
        return self._numbered(text) or self._list(text) or self._choice(text)

    def _numbered(self, text: str) -> Thing | None:
        """Parse 'balls 1, 2 and 3', 'trucks 1 and 2', 'ball 1 and 2'."""
        head, _, rest = text.removeprefix("the ").partition(" ")
        nouns = [
            n
            for names in self.words.types.values()
            for n in names
            if head == n or head in plurals(n)
        ]
        items = _LIST.split(rest)
        if not nouns or len(items) < 2:
            return None
        names = [self.plain(f"{noun} {item}") for noun in nouns[:1] for item in items]
        return _all_of([n for n in names if n], listed=True) if None not in names else None

    def _list(self, text: str) -> Thing | None:
        text = text.removeprefix("both ")
        for joint in _LIST.finditer(text):
            first = self.read(text[: joint.start()])
            rest = self.read(text[joint.end() :]) if first is not None else None
            if first is None or rest is None:
                continue
            parts = [p for thing in (first, rest) for p in (thing.parts or (thing,))]
            if all(p.quantifier in ("", ALL) and not p.loose and not p.said for p in parts):
                return _all_of([m for p in parts for m in p.members], listed=True)
            return Thing((), parts=tuple(parts))
        return None

    def _choice(self, text: str) -> Thing | None:
        parts = _CHOICE.split(text.removeprefix("either ")) if " or " in text else []
        things = [self.read(part) for part in parts]
        known = [t for t in things if t is not None and not (t.quantifier or t.parts or t.said)]
        if not parts or len(known) < len(parts):
            return None
        return Thing(tuple(m for t in known for m in t.members), SOME)

    # --- descriptions --------------------------------------------------------------------

    def _whole(self, text: str) -> Thing | None:
        match = _WHOLE.fullmatch(text)
        if match is None:
            return None
        word, rest = match["word"], match["rest"].strip()
        negative = word.startswith("no")
        some = word.startswith("some") or word.startswith("any")
        quantifier = NONE if negative else SOME if some else ALL
        members = tuple(self.objects)
        if rest.split()[:1] == ["else"]:
            members = tuple(m for m in members if m not in self.mentioned)
            rest = rest[4:].strip()
        found = self._chosen(members, rest, text)
        body = word.endswith(("body", "one")) or word == "whoever"
        persons = tuple(m for m in found or () if body and m in self._persons())
        return None if not found else Thing(found, quantifier, loose=True, persons=persons)

    def _persons(self) -> tuple[str, ...]:
        """Return the objects whose type means persons or, failing that, the agents of actions."""
        kinds = [k for k, nouns in self.words.types.items() if _PERSONS & {*nouns}]
        firsts = [a.parameters[0].types for a in self.domain.actions.values() if a.parameters]
        kinds = kinds or [kind for types in firsts for kind in types]
        return tuple(m for kind in kinds for m in self._members(kind))

    def _determined(self, text: str) -> Thing | None:
        for pattern, quantifier, how in _DETERMINERS:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            number = _number(match.groupdict().get("n"))
            found = self._described(match["rest"], text, other=how == "other")
            if found is None and how not in ("", "other"):
                found = self._among(match["rest"])
            if found is None:
                continue
            members, kind, many = found
            thing = self._quantified(members, kind, quantifier, how, number, many, text)
            loose = thing is not None and kind in ("", "object") and _ANY.search(match["rest"])
            return thing.replace(loose=True, kind="") if thing is not None and loose else thing
        others = re.fullmatch(r"(?:all )?(?:the )?(?P<word>rest|others?|other ones?)", text)
        if others is not None:
            return self._others(many=others["word"] not in ("other", "other one"))
        found = self._described(text, text)  # a plural without an article
        return _all_of(list(found[0])) if found is not None and found[2] else None

    def _others(self, *, many: bool) -> Thing | None:
        kinds = {self.objects[name] for name in self.mentioned}
        members = [m for m in self.objects if m not in self.mentioned and self.objects[m] in kinds]
        if not members or (len(members) > 1 and not many):
            return None
        return _all_of(members)

    def _among(self, text: str) -> tuple[tuple[str, ...], str, bool] | None:
        thing = self.read(text) if not text.startswith("the ") else None
        if thing is None or thing.quantifier not in ("", ALL) or len(thing.members) < 2:
            return None
        return thing.members, "", True

    def _quantified(
        self,
        members: tuple[str, ...],
        kind: str,
        quantifier: str,
        how: str,
        number: int,
        many: bool,
        text: str,
    ) -> Thing | None:
        size = len(members)
        if how in ("count", "both"):
            number = 2 if how == "both" else number
            if size != number:
                raise LanguageError(
                    f"{text!r} means {number} objects, but {size} match{'es' * (size == 1)}"
                )
            return Thing(members, ALL, kind)
        least, most = 1, None
        if how in ("number", "least", "exactly", "more"):
            least = number + (how == "more")
            most = number if how == "exactly" or least == 0 else None
        elif how in ("most", "fewer"):
            least, most = 0, number - (how == "fewer")
        elif how == "half":
            if size % 2:
                raise LanguageError(f"{text!r} cannot mean half of {size} objects: give a number")
            least = size // 2
        if least > size:
            raise LanguageError(
                f"{text!r} needs {least} objects, but only {size} match{'es' * (size == 1)}"
            )
        if how == "number" and number == 1 and many:
            return None
        if quantifier:
            fresh = how in ("fresh", "other", "number", "half")
            kind = kind if least == 1 and most is None else ""
            return Thing(members, quantifier, kind, least, most, fresh=fresh)
        if many:
            return _all_of(list(members))
        if size != 1 and re.match(r"the (?:other|opposite) ", text):
            return Thing(members, other=True, said=text)
        if size != 1:
            return Thing(members, said=text)
        return Thing(members)

    def _described(
        self, text: str, whole: str, *, other: bool = False
    ) -> tuple[tuple[str, ...], str, bool] | None:
        """Return a noun's members, its type if nothing describes it, and whether it is a plural."""
        for kind, adjectives, many, tail in self._nouns(text):
            members = self._members(kind)
            plain = not adjectives and not tail and not other
            if other or _OTHER & {*adjectives}:
                if not self.mentioned and not whole.startswith(("the other", "the opposite")):
                    return None
                members = tuple(m for m in members if m not in self.mentioned)
            found: tuple[str, ...] | None = members
            for adjective in adjectives:
                if adjective not in _OTHER and found is not None:
                    found = self._of_kind(found, adjective) or self._restricted(found, adjective)
            if found is not None:
                found = self._chosen(found, tail, whole)
            if found is not None:
                if not found:
                    raise LanguageError(f"no object matches {whole!r}")
                return found, kind if plain else "", many
        return None

    def _of_kind(self, members: tuple[str, ...], noun: str) -> tuple[str, ...]:
        """Return the members of a type whose noun is used as an adjective: 'the bronze one'."""
        kinds = [kind for kind, nouns in self.words.types.items() if noun in nouns]
        return tuple(m for m in members if any(m in self._members(kind) for kind in kinds))

    def _nouns(self, text: str) -> Iterator[tuple[str, list[str], bool, str]]:
        words = text.split()
        for start in range(min(len(words), 4)):
            for kind, form, many in self._nouns_by_word.get(words[start], ()):
                size = len(form)
                if words[start : start + size] == form:
                    yield kind, words[:start], many, " ".join(words[start + size :])

    def _chosen(self, members: tuple[str, ...], tail: str, whole: str) -> tuple[str, ...] | None:
        """Return the members that a restriction and an exception leave, or None if unclear."""
        left: tuple[str, ...] = ()
        if (out := _EXCEPT.fullmatch(tail)) is not None:
            thing = self.read(out["out"])
            if thing is None or thing.quantifier not in ("", ALL):
                raise LanguageError(f"hvr does not understand the exception in {whole!r}: name it")
            left, tail = thing.members, out["before"]
        found = self._restricted(members, tail) if tail else members
        if found is None:
            return None
        if missing := [name for name in left if name not in found]:
            raise LanguageError(f"{whole!r} does not include {', '.join(missing)}")
        return tuple(m for m in found if m not in left)

    def _restricted(self, members: tuple[str, ...], text: str) -> tuple[str, ...] | None:
        said = _ADVERBS.sub("", _RELATIVE.sub("", text, count=1))
        if _FINITE.match(text):  # 'is clear' needs "that"
            return None
        said = re.sub(r"^(?:still|currently|already|now) ", "", said)
        mark, _, rest = said.partition(" ")
        found: Property | None = None
        if mark in ("of", "with", "from") and rest:
            thing = self.read(rest)
            found = self._linked(thing) if thing is not None else None
        found = found or self._property(said)
        values = [self._of(found, m) for m in members] if found is not None else []
        if all(value is None for value in values):
            return None
        pairs = zip(members, values, strict=True)
        return tuple(m for m, value in pairs if value is not None and self._holds(value))

    def _of(self, said: Property, name: str) -> Formula | None:
        try:
            return said(name, self.objects[name])
        except LanguageError:  # 'the block on red' is not red itself
            return None

    def _located(self, text: str) -> Thing | None:
        """Parse 'parcel1 from the market'; raise LanguageError if the object is not there."""
        owner, genitive, noun = text.partition("'s ")
        if genitive:
            return self._determined(f"the {noun} of {owner}")
        words = text.split()
        for size in range(len(words) - 1, 0, -1):
            name = self.plain(" ".join(words[:size]))
            found = self._restricted((name,), " ".join(words[size:])) if name else None
            if found:
                return Thing(found)
            if found is not None and words[size] == "from":
                place = " ".join(words[size + 1 :]).removeprefix("the ")
                raise LanguageError(f"{name} is not at {place} now")
        return None


def _all_of(members: list[str], *, listed: bool = False) -> Thing:
    members = list(dict.fromkeys(members))
    least = len(members) if listed else 1
    return Thing(tuple(members), ALL if len(members) > 1 else "", least=least)


def _number(text: str | None) -> int:
    return 0 if text is None else NUMBERS.get(text) or int(text)


def _squeezed(text: str) -> str:
    return re.sub(r"[ _-]", "", text)


def _parted(name: str, nouns: Sequence[str]) -> Iterator[str]:
    """Yield spellings of an object's name that end in a noun, such as 'red can' for `redcan`."""
    for noun in nouns:
        head = name.removesuffix(noun)
        if head and head != name and head.isalpha():
            yield f"{head} {noun}"

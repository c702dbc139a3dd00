"""The noun phrases of goals in PDDL worlds.

    thing = an object: "truck1", "truck 1", or "the truck" if only one exists
          | every TYPE, all TYPES, both TYPES | some TYPE, a TYPE, at least two TYPES | no TYPE
          | "everything", "nothing", "something"
          | a described TYPE: "the parcel at the depot", "all lit lamps", "every block except red"

Descriptions are evaluated in the initial state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hvr.errors import LanguageError
from hvr.language.function_words import NUMBERS
from hvr.language.lexicon import plurals
from hvr.pddl import Atom, Domain, Formula, Not, Problem, TypedName
from hvr.pddl.task import holds_initially
from hvr.values import cached_property
from hvr.worlds.facts.lexicon import WorldLexicon, object_phrases

ALL, SOME, NONE = "every", "some", "no"
_QUANTIFIERS = {
    "every": ALL,
    "each": ALL,
    "all": ALL,
    "all the": ALL,
    "all of the": ALL,
    "both": ALL,
    "both the": ALL,
    "both of the": ALL,
    "some": SOME,
    "a": SOME,
    "an": SOME,
    "any": SOME,
    "one": SOME,
    "at least one": SOME,
    "no": NONE,
}
_WHOLE = {"everything": ALL, "whatever": ALL, "something": SOME, "anything": SOME, "nothing": NONE}
_WHOLE |= {"everybody": ALL, "everyone": ALL, "nobody": NONE}
_COUNTS = {**NUMBERS, **{str(n): n for n in range(1, 11)}}
_COUNTED = re.compile(rf"(?:at least )?(?P<least>{'|'.join(_COUNTS)})(?: of the)? (?P<rest>.+)")
_EXCEPT = re.compile(
    r"(?P<before>.*?) ?\b(?:except(?: for)?|but(?: not)?|apart from|other than|excluding) "
    r"(?P<out>.+)"
)
_RELATIVE = re.compile(
    r"(?:(?:that|which) )?(?:(?:is|are|lies|lie|stands|stand) )?(?:still )?(?P<how>.+?)"
    r"(?: (?:yet|now|already|right now|at the moment))?"
)
_LIST = re.compile(r", and |, | and ")


@dataclass(frozen=True)
class Thing:
    """An argument of a clause: an object, or a type with a quantifier.

    Args:
        members: Objects that the quantifier ranges over; None means all objects of the type.
        least: Minimum number of objects for the quantifier "some".
        count_all: Whether objects that fulfil the request already are counted, as for 'at least
            two'.
    """

    name: str
    quantifier: str = ""
    members: tuple[str, ...] | None = None
    least: int = 1
    count_all: bool = False


class ThingReader:
    """Parses noun phrases.

    Args:
        clause: Parses a clause about an object, such as "parcel1 is at depot".
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        words: WorldLexicon,
        clause: Callable[[str], Formula | None],
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self.phrases: Mapping[str, Thing] = dict(self._phrases())
        self._clause = clause
        self._known: dict[tuple[str, tuple[str, ...]], Thing | None] = {}

    def read(self, text: str, parameter: TypedName) -> Thing | None:
        """Parse a phrase as an argument of the parameter's type; return None if it is not one.

        Raises:
            LanguageError: No object matches the description, or several match one with "the".
        """
        key = (text, parameter.types)
        if key not in self._known:
            self._known[key] = self._read(text, parameter.types)
        return self._known[key]

    def _read(self, text: str, types: tuple[str, ...]) -> Thing | None:
        thing = self.plain(text) or self._described(text, types)
        if thing is None:
            return None
        if thing.members is not None:
            fits = all(self.domain.has_type(self.objects[m], types) for m in thing.members)
            return thing if fits else None
        if thing.quantifier:
            # All objects of the type must fit; otherwise the sentence means another predicate.
            return thing if self.domain.fits((thing.name,), types) else None
        return thing if self.domain.has_type(self.objects[thing.name], types) else None

    def plain(self, text: str) -> Thing | None:
        """Return the thing that a phrase without a description names: 'mona lisa' for monalisa."""
        whole = re.sub(r"[ -]", "", text.removeprefix("the "))
        return self.phrases.get(text) or (Thing(whole) if whole in self.objects else None)

    # --- plain phrases -------------------------------------------------------------------

    def _phrases(self) -> Iterator[tuple[str, Thing]]:
        for type_name, names in self.words.types.items():
            members = self.domain.members(self.objects, (type_name,))
            for noun in names:
                for word, quantifier in _QUANTIFIERS.items():
                    many = word.startswith(("all", "both")) or word == "no"
                    if word.startswith("both") and len(members) != 2:
                        continue
                    for form in (noun, *plurals(noun)) if many else (noun,):
                        count = word == "at least one"
                        yield f"{word} {form}", Thing(type_name, quantifier, count_all=count)
                if len(members) == 1:
                    yield f"the {noun}", Thing(next(iter(members)))
        for name, types in self.objects.items():
            kinds = [kind for kind in self.words.types if self.domain.has_type(types, (kind,))]
            nouns = [noun for kind in kinds for noun in self.words.types[kind]]
            for phrase in (*object_phrases(name), *_parted(name, nouns)):
                for form in (phrase, *(f"{phrase} {noun}" for noun in nouns)):
                    yield form, Thing(name)
                    yield f"the {form}", Thing(name)

    # --- descriptions --------------------------------------------------------------------

    def _described(self, text: str, types: tuple[str, ...]) -> Thing | None:
        word, _, rest = text.partition(" ")
        if word in _WHOLE and not rest and len(types) == 1:
            return Thing(types[0], _WHOLE[word])
        kind = self.words.types.get(types[0], types)[0]
        text = re.sub(r"\bthings\b", plurals(kind)[0], re.sub(r"\bthing\b", kind, text))
        if word in _WHOLE:
            return self._chosen(_WHOLE[word], types[0], "", rest, text)
        if (counted := _COUNTED.fullmatch(text)) is not None:
            found = self._noun(counted["rest"])
            least = _COUNTS[counted["least"]]
            several = found is not None and (least == 1) is not found[2]
            if found is None or not several:
                return None
            some = self._chosen(SOME, found[0], found[1], found[3], text)
            fits = some is not None and some.members is not None and len(some.members) >= least
            at_least = text.startswith("at least")
            return Thing(some.name, SOME, some.members, least, at_least) if some and fits else None
        for determiner in sorted((*_QUANTIFIERS, "the"), key=len, reverse=True):
            if text.startswith(f"{determiner} "):
                found = self._noun(text[len(determiner) + 1 :])
                if found is None:
                    continue
                kind, adjective, many, tail = found
                quantifier = _QUANTIFIERS.get(determiner, ALL if many else "")
                both = determiner.startswith("both")
                thing = self._chosen(quantifier, kind, adjective, tail, text)
                if thing is None or (both and len(thing.members or ()) != 2):
                    return None
                return thing
        return self._located(text)

    def _located(self, text: str) -> Thing | None:
        """Parse an object with its place, such as 'parcel1 from the market', or return None."""
        head, origin, place = text.partition(" from ")
        thing = self.phrases.get(head)
        if not origin or thing is None or thing.quantifier:
            return None
        true = self._is(thing.name, f"from {place}")
        if true is False:
            raise LanguageError(f"{thing.name} is not at {place.removeprefix('the ')} now")
        return thing if true else None

    def _noun(self, text: str) -> tuple[str, str, bool, str] | None:
        for kind, names in self.words.types.items():
            for noun in names:
                forms = plurals(noun)
                for many, form in ((False, noun), *((True, one) for one in forms)):
                    if not many and noun in forms:  # 'sheep'
                        continue
                    match = re.fullmatch(rf"(?:([\w-]+) )?{re.escape(form)}(?: (.+))?", text)
                    if match is not None:
                        return kind, match[1] or "", many, match[2] or ""
        return None

    def _chosen(
        self, quantifier: str, kind: str, adjective: str, tail: str, text: str
    ) -> Thing | None:
        left: set[str] = set()
        if (out := _EXCEPT.fullmatch(tail)) is not None:
            things = [self._read(one, (kind,)) for one in _LIST.split(out["out"])]
            if quantifier not in (ALL, SOME) or None in things:
                return None
            left, tail = {name for t in things if t for name in self.named(t)}, out["before"]
        how = [part for part in (adjective, tail) if part]
        members = []
        for name in self.domain.members(self.objects, (kind,)):
            values = [self._is(name, part) for part in how]
            if None in values:
                return None
            members += [name] if all(values) else []
        if not left <= set(members):
            missing = ", ".join(sorted(left - set(members)))
            raise LanguageError(f"{text!r} does not include {missing}")
        members = [m for m in members if m not in left]
        if not members and (how or left):
            raise LanguageError(f"no object matches {text!r}")
        if quantifier:
            return Thing(kind, quantifier, tuple(members))
        if len(members) != 1:
            if how:
                raise LanguageError(f"{text!r} can mean {' or '.join(members)}: name one of them")
            return None
        return Thing(members[0])

    def named(self, thing: Thing) -> Collection[str]:
        """Return the objects that a thing ranges over."""
        whole = self.domain.members(self.objects, (thing.name,)) if thing.quantifier else ()
        return thing.members or whole or (thing.name,)

    def _is(self, name: str, how: str) -> bool | None:
        relative = _RELATIVE.fullmatch(how)
        said = relative["how"] if relative else how
        place = said.removeprefix("from ")
        ways = [f"{p} {place}" for p in ("at", "in", "on")] if place != said else [said]
        values = [self._true(f"{name} is {way}") for way in ways]
        return True if True in values else False if False in values else None

    def _true(self, clause: str) -> bool | None:
        formula = self._clause(clause)
        match formula:
            case None:
                return None
            case Atom():
                return formula in self._facts
            case Not(Atom() as atom):
                return atom not in self._facts
        return holds_initially(self.domain, self.problem, formula)

    @cached_property
    def _facts(self) -> frozenset[Atom]:
        return frozenset(self.problem.init)


def _parted(name: str, nouns: Sequence[str]) -> Iterator[str]:
    """Yield spellings of an object's name that end in a noun, such as 'red can' for `redcan`."""
    for noun in nouns:
        head = name.removesuffix(noun)
        if head and head != name and head.isalpha():
            yield f"{head} {noun}"

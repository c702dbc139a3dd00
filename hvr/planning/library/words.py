"""What the words of a macro action speak of: objects, classes of objects, liquids, a verb."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from hvr.errors import PddlError
from hvr.knowledge.ontology import Ontology
from hvr.language.lexicon import Dish, Lexicon, Noun, Verb
from hvr.language.vocabulary import load_lexicon
from hvr.pddl import Task
from hvr.planning.library.literals import parse_literal

_TOKEN = re.compile(r"\?[\w-]+|[^\W\d_]+(?:[-_ ]?\d+)(?![\w-])|[^\W_]+(?:'[^\W\d_]+)?")
_INSTANCE = re.compile(r"([^\W\d_]+)[-_ ]?(\d+)")
_LITERAL = re.compile(r"\(not \([^()]*\)\)|\([^()]*\?[^()]*\)")
_ARTICLES = frozenset(
    ("a", "an", "the", "some", "any", "one", "my", "your", "its", "this", "that", "all", "each")
)
_JOINTS = frozenset({"and", "then", "to"})
_HOLDING = ("holding", True)
_OPPOSITES = (("on", "off"), ("open", "close"), ("up", "down"), ("fill", "empty"))


def natural(name: str) -> tuple[str, int, str]:
    """Return a key that sorts `mug-2` before `mug-10`."""
    stem, _, number = name.rpartition("-")
    return (stem, int(number), name) if stem and number.isdecimal() else (name, -1, name)


def object_types(task: Task) -> dict[str, str]:
    """Return the objects of a task and their PDDL types, without the constants of the domain."""
    constants = {c.name for c in task.domain.constants}
    return {n: kinds[0] for n, kinds in task.objects.items() if n not in constants}


@dataclass(frozen=True)
class Mention:
    """Something that is spoken of.

    Args:
        start, end: where the words stand in the text.
        classes: the classes that they may mean; none for a variable.
        name: the object or variable, if one is named.
    """

    start: int
    end: int
    classes: frozenset[str]
    name: str = ""


@dataclass(frozen=True)
class NameReading:
    """What a macro action in words speaks of.

    Args:
        text: the words.
        mentions: what it speaks of, in order, each once.
        spans: where that is said, repetitions included.
        liquids: water, coffee, wine.
        verb: predicates and whether they are to be true, as the ontology says of the verb.
        frame: the other words, without articles.
    """

    text: str
    mentions: tuple[Mention, ...]
    spans: tuple[Mention, ...]
    liquids: frozenset[str]
    verb: frozenset[tuple[str, bool]]
    frame: tuple[str, ...]

    def contradicts(self, other: NameReading) -> bool:
        """Say whether one says 'on' where the other says 'off', and the like."""
        mine, theirs = set(self.frame), set(other.frame)
        return any(
            (a in mine and a not in theirs and b in theirs and b not in mine)
            or (b in mine and b not in theirs and a in theirs and a not in mine)
            for a, b in _OPPOSITES
        )

    def rewritten(self, names: Mapping[Mention, str]) -> str:
        """Return the words with other names for the mentions that have one."""
        parts: list[str] = []
        place = 0
        for span in self.spans:
            name = next((n for m, n in names.items() if same_thing(m, span)), None)
            if name is not None:
                before = self.text[place : span.start]
                parts += [_without_article(before), name]
                place = span.end
        parts.append(self.text[place:])
        return " ".join("".join(parts).split())


def same_thing(one: Mention, other: Mention) -> bool:
    """Say whether two mentions are of one thing: the same name, or no name and the same class."""
    return one.name == other.name and (bool(one.name) or one.classes == other.classes)


def _without_article(text: str) -> str:
    words = text.split(" ")
    while len(words) > 1 and words[-1] == "" and words[-2].lower() in _ARTICLES:
        words.pop(-2)
    return " ".join(words)


def read_words(
    text: str,
    ontology: Ontology,
    objects: Mapping[str, str],
    types: Mapping[str, str] | None = None,
) -> NameReading:
    """Find what a macro action speaks of.

    Args:
        text: the words, such as `Put tomatosliced-1 on the plate`.
        ontology: its words name the classes.
        objects: the objects that may be named and their PDDL types.
        types: the PDDL types of variables that may be in the text.
    """
    lexicon = _lexicon(ontology)
    tokens = [(m.start(), m.end(), m[0].lower()) for m in _TOKEN.finditer(text)]
    plain = tuple(token for _, _, token in tokens)
    known = {**objects, **(types or {})}
    spans: list[Mention] = []
    liquids: set[str] = set()
    verb: set[tuple[str, bool]] = set()
    frame: list[str] = []
    place = verbs = 0
    while place < len(tokens):
        start, end, token = tokens[place]
        length = 1
        named = _named(token, known)
        action = _verb_at(lexicon, plain, place) if _is_verb_position(plain, place) else None
        noun = None if action or named else _noun_at(lexicon, ontology, plain, place)
        if named:
            spans.append(Mention(start, end, _classes(ontology, known[named]), named))
        elif action:
            length, conditions = action
            verbs += 1
            verb |= conditions
            frame += plain[place : place + length]
        elif noun:
            length, classes, liquid = noun
            if liquid:
                liquids.add(liquid)
            else:
                spans.append(Mention(start, tokens[place + length - 1][1], classes))
        elif token not in _ARTICLES:
            frame.append(token)
        place += length
    if verbs > 1:
        # 'take the mug and put it down': what is held on the way is not what is wanted.
        verb.discard(_HOLDING)
    if not verb and frame[1:] and plain[-1] == frame[-1]:
        # 'turn the coffee machine on' has its verb in two places.
        split = lexicon.separable.get(frame[0], {}).get(frame[-1])
        verb |= _demands(split) if split else frozenset()
    mentions: list[Mention] = []
    for span in spans:
        if not any(same_thing(span, known) for known in mentions):
            mentions.append(span)
    return NameReading(
        text, tuple(mentions), tuple(spans), frozenset(liquids), frozenset(verb), tuple(frame)
    )


@lru_cache(maxsize=4)
def _lexicon(ontology: Ontology) -> Lexicon:
    return load_lexicon(ontology)


def _named(token: str, known: Iterable[str]) -> str:
    """Return the object or variable that a token names: `mug-1`, also written `Mug_1` or
    `mug 1`.
    """
    if token in known:
        return token
    instance = _INSTANCE.fullmatch(token)
    name = f"{instance[1]}-{instance[2]}" if instance else ""
    return name if name in known else ""


def _classes(ontology: Ontology, pddl_type: str) -> frozenset[str]:
    object_class = ontology.class_of_pddl_type(pddl_type)
    return frozenset({object_class}) if object_class else frozenset()


def _is_verb_position(tokens: tuple[str, ...], place: int) -> bool:
    return place == 0 or tokens[place - 1] in _JOINTS


def _verb_at(
    lexicon: Lexicon, tokens: tuple[str, ...], place: int
) -> tuple[int, frozenset[tuple[str, bool]]] | None:
    for length, entries in lexicon.matches(tokens, place):
        for entry in entries:
            if isinstance(entry, Verb):
                return length, _demands(entry)
    return None


def _demands(verb: Verb) -> frozenset[tuple[str, bool]]:
    """Return predicates of what a verb brings about, where that is a conjunction of literals."""
    if verb.condition is None or "(or " in verb.condition or verb.frame not in {"state", "hold"}:
        return frozenset()
    demands = set()
    for text in _LITERAL.findall(verb.condition):
        try:
            atom, positive = parse_literal(text)
        except PddlError:
            return frozenset()
        demands.add((atom.predicate, positive))
    return frozenset(demands - {("near", True)})


def _noun_at(
    lexicon: Lexicon, ontology: Ontology, tokens: tuple[str, ...], place: int
) -> tuple[int, frozenset[str], str] | None:
    """Return length, classes and liquid of the longest name of a thing at a place."""
    for length, entries in lexicon.matches(tokens, place):
        liquid = next((e.liquid for e in entries if isinstance(e, Dish) and e.liquid), None)
        if liquid is not None and length == 1:
            return length, frozenset(), liquid
        classes = frozenset(e.object_class for e in entries if isinstance(e, Noun))
        if classes:
            return length, classes, ""
    typed = ontology.class_of_pddl_type(tokens[place])
    return (1, frozenset({typed}), "") if typed else None

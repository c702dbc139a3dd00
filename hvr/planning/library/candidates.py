"""Library entries whose words may mean a macro action, the most similar first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from hvr.errors import PddlError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.language.lexicon import Dish, Lexicon, Noun, Verb, load_lexicon
from hvr.pddl import Task, is_variable
from hvr.planning.library.entry import Entry, parse_literal
from hvr.planning.library.library import Library

# Words of macro actions ---------------------------------------------------------------------------
# What the words of a macro action speak of: objects, classes of objects, liquids, a verb.

_TOKEN = re.compile(r"\?[\w-]+|[^\W\d_]+(?:[-_ ]?\d+)(?![\w-])|[^\W_]+(?:'[^\W\d_]+)?")
_INSTANCE = re.compile(r"([^\W\d_]+)[-_ ]?(\d+)")
_LITERAL = re.compile(r"\(not \([^()]*\)\)|\([^()]*\?[^()]*\)")
_ARTICLES = frozenset(
    ("a", "an", "the", "some", "any", "one", "my", "your", "its", "this", "that", "all", "each")
)
_JOINTS = frozenset({"and", "then", "to"})
_HOLDING = ("holding", True)
_OPPOSITES = (("on", "off"), ("open", "close"), ("up", "down"), ("fill", "empty"))


def natural_key(name: str) -> tuple[str, int, str]:
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


# Candidates ---------------------------------------------------------------------------------------
# Entries of the library whose words may mean a macro action, the most alike first.
#
# Likeness alone would take "slice the potato" for "slice the tomato" and "turn on" for "turn off".
# So it only ranks what is left when the things that both speak of have been matched one by one
# (`_assignments`) and the verbs do not contradict each other (`_compatible`).

_MOST_ROLES = 12
"""Most ways that are tried to match what the words speak of with an entry's parameters; there are
factorially many where several things are of one class."""

_UNSAID = 0.75
"""Factor on the likeness for each thing that only the entry's name speaks of."""

_PHRASE_JOINTS = frozenset({"in", "on", "with", "into", "onto", "from", "to", "at", "and", "by"})

_SAME_VERB = 0.3
"""Enough likeness of the words if the ontology says that the verbs mean the same."""

MIN_WORD_SIMILARITY = 0.6
"""Least likeness of words that are taken for the same, from 0 to 1."""

Roles = Mapping[str, frozenset[str]]
"""For some variables, the objects that the words allow."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A macro action that is looked for.

    Args:
        name: it in words, with or without numbers of objects.
        agent: name of the agent that asks; its own entries come first among equals.
        request: the whole task that it is a part of; entries learnt for it come first among
            equals.
        postcondition: PDDL conditions over objects of the task that must hold after the block;
            without any, the entry's own postcondition must.
    """

    name: str
    agent: str
    request: str = ""
    postcondition: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """An entry that may be meant.

    Args:
        entry: the entry.
        classes: the ontology class that each variable is open to.
        roles: ways to understand the words: the objects that variables may stand for.
        score: how alike the words are, from 0 to 1.
        generalised: some variable is open to more than what it was learnt with.
    """

    entry: Entry
    classes: Mapping[str, str | None]
    roles: tuple[Roles, ...]
    score: float
    generalised: bool = False


class _Proposal(NamedTuple):
    """A candidate with the two texts whose likeness decides.

    Its score is not the likeness yet, but what is left of it: see `_shown`.
    """

    candidate: Candidate
    asked: NameReading
    named: NameReading


def candidates(
    library: Library,
    query: Query,
    types: Mapping[str, str],
    embedder: Embedder,
    ontology: Ontology,
) -> list[Candidate]:
    """Return the entries that may be meant, in the order in which to try them.

    Args:
        library: where to look.
        query: what is asked for.
        types: the objects there are and their PDDL types.
        embedder: compares words.
        ontology: the classes.

    Raises:
        LLMError: the embedder's provider did not answer.
    """
    asked = read_words(query.name, ontology, types)
    proposals = list(_proposals(library, asked, types, ontology, bool(query.postcondition)))
    kept: dict[tuple[str, bool], Candidate] = {}
    # All likenesses at once: an embedder behind a network is asked one time, not for each entry.
    for proposal, likeness in zip(proposals, _likenesses(proposals, embedder), strict=True):
        candidate = proposal.candidate
        score = likeness * candidate.score
        same = bool(proposal.asked.verb) and proposal.asked.verb == proposal.named.verb
        if score < (_SAME_VERB if same else MIN_WORD_SIMILARITY):
            continue
        # An entry has several names; the one that is most like the words counts.
        key = candidate.entry.id, candidate.generalised
        if key not in kept or kept[key].score < score:
            kept[key] = replace(candidate, score=score)

    def rank(c: Candidate) -> tuple[bool, float, bool, bool, int, str]:
        entry = c.entry
        elsewhere = query.request not in {origin.request for origin in entry.origins}
        other = entry.agent != query.agent
        # Rounded, so that the last bits of a likeness do not decide; the id makes the order total.
        return c.generalised, -round(c.score, 6), elsewhere, other, -entry.used, entry.id

    return sorted(kept.values(), key=rank)


def _proposals(
    library: Library,
    asked: NameReading,
    types: Mapping[str, str],
    ontology: Ontology,
    checked_after: bool,
) -> Iterator[_Proposal]:
    """Yield the entries whose words do not speak against them, with the texts to compare."""
    for entry, classes, generalised in _open(library, ontology):
        for name in entry.names:
            words = read_words(name, ontology, {}, entry.types)
            if not _compatible(asked, words, entry, checked_after):
                continue
            ways = tuple(islice(_assignments(asked, words, entry, classes, ontology), _MOST_ROLES))
            if not ways:
                continue
            roles = tuple(_roles(way, types, ontology) for way in ways)
            # The ways differ in which variable is which, hardly in what the texts share.
            texts, share = _shown(asked, words, ways[0], ontology)
            yield _Proposal(Candidate(entry, classes, roles, share, generalised), *texts)


def _open(
    library: Library, ontology: Ontology
) -> Iterator[tuple[Entry, Mapping[str, str | None], bool]]:
    """Yield every entry as it was learnt, and once more if its cluster opens a variable to more
    kinds of objects.
    """
    own: dict[str, dict[str, str | None]] = {}
    for entry in library:
        own[entry.id] = {v: ontology.class_of_pddl_type(t) for v, t in entry.types.items()}
        yield entry, own[entry.id], False
    for cluster in library.clusters(ontology):
        for entry in cluster.members:
            mine = own[entry.id]
            wider = {v: cluster.general.class_of(entry, v) or c for v, c in mine.items()}
            if wider != mine:
                yield entry, wider, True


def _compatible(asked: NameReading, words: NameReading, entry: Entry, checked_after: bool) -> bool:
    """Return whether the words do not speak against an entry."""
    if asked.contradicts(words):
        return False
    texts = (*entry.effects, *entry.needs)
    spoken = words.liquids | {a for atom, _ in texts for a in atom.args if not is_variable(a)}
    if not asked.liquids <= spoken:
        return False
    # If a postcondition is checked after the proof, effects need not be guessed from the verb.
    if asked.verb == words.verb or checked_after:
        return True
    brought = {(atom.predicate, positive) for atom, positive in entry.effects}
    undone = {(predicate, not positive) for predicate, positive in brought}
    # 'put the potato down' is not 'slice the potato', and the other way round.
    return bool(asked.verb & brought) and not asked.verb & undone


def _assignments(
    asked: NameReading,
    words: NameReading,
    entry: Entry,
    classes: Mapping[str, str | None],
    ontology: Ontology,
) -> Iterator[dict[Mention, str]]:
    """Yield ways to give each thing that is spoken of a parameter of its own.

    Parameters of the entry's name come first, then others of its steps: where a thing was
    before is in the conditions only, and is not what 'put it on the table' speaks of.
    """
    # Only variables have names here: the entry's name was read without any objects.
    named = [m.name for m in words.mentions if m.name]
    used = [a for step in entry.steps for a in step.args if is_variable(a)]
    pool = list(dict.fromkeys([*named, *used]))
    # A thing that an entry's name has without a variable must be spoken of, too.
    loose = [m for m in words.mentions if not m.name]

    def extend(
        rest: tuple[Mention, ...], taken: dict[Mention, str], free: list[Mention]
    ) -> Iterator[dict[Mention, str]]:
        if not rest:
            yield taken
            return
        mention = rest[0]
        for variable in pool:
            if variable not in taken.values() and _agrees(mention, classes[variable], ontology):
                yield from extend(rest[1:], {**taken, mention: variable}, free)
        # 'the egg' may also be the egg that the entry's name has as a word of its own.
        same = next((m for m in free if m.classes & mention.classes), None)
        if same is not None and not mention.name:
            yield from extend(rest[1:], taken, [m for m in free if m is not same])

    if not asked.mentions and named and not asked.liquids:
        return  # 'tidy up' speaks of nothing that could tell what the parameters are
    yield from extend(asked.mentions, {}, loose)


def _agrees(mention: Mention, wider: str | None, ontology: Ontology) -> bool:
    if wider is None:
        return False
    return any(ontology.is_a(c, wider) or ontology.is_a(wider, c) for c in mention.classes)


def _roles(way: Mapping[Mention, str], types: Mapping[str, str], ontology: Ontology) -> Roles:
    """Return the objects that the words allow for each variable."""
    return {
        variable: frozenset({mention.name})
        if mention.name
        else frozenset(
            o
            for o, t in types.items()
            if (c := ontology.class_of_pddl_type(t))
            and any(ontology.is_a(c, m) for m in mention.classes)
        )
        for mention, variable in way.items()
    }


def _shown(
    asked: NameReading, words: NameReading, way: Mapping[Mention, str], ontology: Ontology
) -> tuple[tuple[NameReading, NameReading], float]:
    """Return both texts with the same names for the things that they share, to compare the rest.

    What only the entry speaks of is left out of its name: 'brew coffee' does not say in what.
    That costs something, except for a tool, and for a bottle of what is spoken of. Returns the
    texts and what is left of 1.
    """
    text, share = f" {' '.join(words.text.split())} ", 1.0
    for mention in words.mentions:
        if mention.name and mention.name not in way.values():
            phrase = re.search(rf"(\s\w+)?\s{re.escape(mention.name)}(?=\s)", text)
            joint = (phrase[1] or "").strip().lower() if phrase else ""
            if phrase:
                start = (
                    phrase.start()
                    if joint in _PHRASE_JOINTS
                    else phrase.start() + len(phrase[1] or "")
                )
                text = text[:start] + text[phrase.end() :]
            liquids = {
                str(v).removeprefix("k:")
                for c in mention.classes
                for v in ontology.annotation(c, "defaultLiquid")
            }
            share *= 1.0 if joint == "with" or liquids & asked.liquids else _UNSAID
    mine = asked.rewritten(dict(way))
    return (
        NameReading(mine, (), (), asked.liquids, asked.verb, asked.frame),
        NameReading(text.strip(), (), (), words.liquids, words.verb, words.frame),
    ), share


def _likenesses(proposals: Sequence[_Proposal], embedder: Embedder) -> list[float]:
    """Return the likeness of the texts of each proposal; 1 where they are the same."""
    texts = [
        tuple(r.text.lower().strip(" .").replace("?", "") for r in (p.asked, p.named))
        for p in proposals
    ]
    known = {(mine, theirs): 1.0 for mine, theirs in texts if mine == theirs}
    for asked in dict.fromkeys(mine for mine, _ in texts):
        rest = list(dict.fromkeys(t for mine, t in texts if mine == asked != t))
        if rest:
            likeness = embedder.similarities(asked, rest)
            known.update({(asked, t): s for t, s in zip(rest, likeness, strict=True)})
    return [known[mine, theirs] for mine, theirs in texts]

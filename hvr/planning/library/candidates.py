"""Find library entries whose names match a macro action, the most similar first."""

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
# The meaning of a macro action's name: objects, classes, liquids, a verb.

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
    """Return the first PDDL type of each object of a task, except the constants of the domain."""
    constants = {c.name for c in task.domain.constants}
    return {n: kinds[0] for n, kinds in task.objects.items() if n not in constants}


@dataclass(frozen=True)
class Mention:
    """A mention of an object in the name of a macro action.

    Attributes:
        start, end: The offsets of the mention.
        classes: The possible classes of the object; empty for a variable.
        name: The name of the object or variable, or "" if only a class is named.
    """

    start: int
    end: int
    classes: frozenset[str]
    name: str = ""


@dataclass(frozen=True)
class NameReading:
    """The meaning of a macro action's name.

    Args:
        mentions: The mentions in order, without repetitions.
        spans: All mentions, including repetitions.
        liquids: The liquids that the name mentions.
        verb: The predicates of the verb's effect with their truth values, from the ontology.
        frame: The words outside mentions, without articles.
    """

    text: str
    mentions: tuple[Mention, ...]
    spans: tuple[Mention, ...]
    liquids: frozenset[str]
    verb: frozenset[tuple[str, bool]]
    frame: tuple[str, ...]

    def contradicts(self, other: NameReading) -> bool:
        """Return whether two names contain opposites, such as "on" and "off"."""
        mine, theirs = set(self.frame), set(other.frame)
        return any(
            (a in mine and a not in theirs and b in theirs and b not in mine)
            or (b in mine and b not in theirs and a in theirs and a not in mine)
            for a, b in _OPPOSITES
        )

    def rewritten(self, names: Mapping[Mention, str]) -> str:
        """Return the text with some mentions replaced by the given names."""
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
    """Read the name of a macro action, such as `Put tomatosliced-1 on the plate`.

    Args:
        objects: The PDDL types of the objects that the name may contain.
        types: The PDDL types of the variables that the name may contain.
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
        starts_phrase = place == 0 or plain[place - 1] in _JOINTS
        action = _verb_at(lexicon, plain, place) if starts_phrase else None
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
        # In "take the mug and put it down", holding the mug is not the goal.
        verb.discard(_HOLDING)
    if not verb and frame[1:] and plain[-1] == frame[-1]:
        # The verb of "turn the coffee machine on" is split.
        split = lexicon.separable.get(frame[0], {}).get(frame[-1])
        verb |= _demands(split) if split else frozenset()
    mentions: list[Mention] = []
    for span in spans:
        if not any(same_thing(span, known) for known in mentions):
            mentions.append(span)
    return NameReading(
        text, tuple(mentions), tuple(spans), frozenset(liquids), frozenset(verb), tuple(frame)
    )


_lexicon = lru_cache(maxsize=4)(load_lexicon)


def _named(token: str, known: Iterable[str]) -> str:
    if token in known:
        return token
    instance = _INSTANCE.fullmatch(token)
    name = f"{instance[1]}-{instance[2]}" if instance else ""
    return name if name in known else ""


def _classes(ontology: Ontology, pddl_type: str) -> frozenset[str]:
    object_class = ontology.class_of_pddl_type(pddl_type)
    return frozenset({object_class}) if object_class else frozenset()


def _verb_at(
    lexicon: Lexicon, tokens: tuple[str, ...], place: int
) -> tuple[int, frozenset[tuple[str, bool]]] | None:
    for length, entries in lexicon.matches(tokens, place):
        for entry in entries:
            if isinstance(entry, Verb):
                return length, _demands(entry)
    return None


def _demands(verb: Verb) -> frozenset[tuple[str, bool]]:
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
    """Return (length, classes, liquid or "") of the longest noun at a position, or None."""
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
# Similarity alone would confuse "slice the potato" with "slice the tomato", and "turn on" with
# "turn off". It only ranks the entries whose mentions match the query's one by one
# (`_assignments`) and whose verbs do not contradict it (`_compatible`).

_MOST_ROLES = 12
"""Maximum number of assignments of mentions to an entry's parameters. There are factorially many
if several things have the same class.
"""

_UNMENTIONED = 0.75
"""Factor on the similarity for each thing that only the entry's name mentions."""

_PHRASE_JOINTS = frozenset({"in", "on", "with", "into", "onto", "from", "to", "at", "and", "by"})

_SAME_VERB = 0.3
"""Minimum similarity of names whose verbs mean the same according to the ontology."""

MIN_WORD_SIMILARITY = 0.6

Roles = Mapping[str, frozenset[str]]
"""For some variables, the objects that the name allows."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A macro action to look up in the library.

    Args:
        agent: The robot that asks. Its own entries win ties.
        request: The task that contains the macro action. Entries learnt for this task win ties.
        postcondition: PDDL conditions over the task's objects that must hold after the block. If
            empty, the entry's own postcondition must hold.
    """

    name: str
    agent: str
    request: str = ""
    postcondition: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A library entry that may match a query.

    Args:
        classes: The ontology class that each variable accepts, or None if its type has no class.
        roles: Possible interpretations of the name: the objects that the variables may denote.
        score: The similarity of the names, from 0 to 1.
        generalised: Whether a variable accepts more classes than in the learnt entry.
    """

    entry: Entry
    classes: Mapping[str, str | None]
    roles: tuple[Roles, ...]
    score: float
    generalised: bool = False


class _Proposal(NamedTuple):
    """A candidate and the two texts to compare, whose similarity is multiplied by its score."""

    candidate: Candidate
    asked: NameReading
    named: NameReading


def candidates(
    library: Library, query: Query, types: Mapping[str, str], embedder: Embedder, ontology: Ontology
) -> list[Candidate]:
    """Return the entries that may match a query, the most promising first."""
    asked = read_words(query.name, ontology, types)
    proposals = list(_proposals(library, asked, types, ontology, bool(query.postcondition)))
    kept: dict[tuple[str, bool], Candidate] = {}
    # Compute all similarities at once, so that a remote embedder is called only once.
    for proposal, similarity in zip(proposals, _similarities(proposals, embedder), strict=True):
        candidate = proposal.candidate
        score = similarity * candidate.score
        same = bool(proposal.asked.verb) and proposal.asked.verb == proposal.named.verb
        if score < (_SAME_VERB if same else MIN_WORD_SIMILARITY):
            continue
        # An entry scores by its most similar name.
        key = candidate.entry.id, candidate.generalised
        if key not in kept or kept[key].score < score:
            kept[key] = replace(candidate, score=score)

    def rank(c: Candidate) -> tuple[bool, float, bool, bool, int, str]:
        entry = c.entry
        elsewhere = query.request not in {origin.request for origin in entry.origins}
        other = entry.agent != query.agent
        # Rounding removes floating-point noise; the id makes the order total.
        return c.generalised, -round(c.score, 6), elsewhere, other, -entry.used, entry.id

    return sorted(kept.values(), key=rank)


def _proposals(
    library: Library,
    asked: NameReading,
    types: Mapping[str, str],
    ontology: Ontology,
    checked_after: bool,
) -> Iterator[_Proposal]:
    for entry, classes, generalised in _variants(library, ontology):
        for name in entry.names:
            words = read_words(name, ontology, {}, entry.types)
            if not _compatible(asked, words, entry, checked_after):
                continue
            ways = tuple(islice(_assignments(asked, words, entry, classes, ontology), _MOST_ROLES))
            if not ways:
                continue
            roles = tuple(_roles(way, types, ontology) for way in ways)
            # The assignments differ in which variable is which, but hardly in the shared text.
            texts, share = _comparable(asked, words, ways[0], ontology)
            yield _Proposal(Candidate(entry, classes, roles, share, generalised), *texts)


def _variants(
    library: Library, ontology: Ontology
) -> Iterator[tuple[Entry, Mapping[str, str | None], bool]]:
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
    if asked.contradicts(words):
        return False
    texts = (*entry.effects, *entry.needs)
    spoken = words.liquids | {a for atom, _ in texts for a in atom.args if not is_variable(a)}
    if not asked.liquids <= spoken:
        return False
    # If the proof checks a postcondition, effects need not be guessed from the verb.
    if asked.verb == words.verb or checked_after:
        return True
    brought = {(atom.predicate, positive) for atom, positive in entry.effects}
    undone = {(predicate, not positive) for predicate, positive in brought}
    # "put the potato down" is not "slice the potato", and vice versa.
    return bool(asked.verb & brought) and not asked.verb & undone


def _assignments(
    asked: NameReading,
    words: NameReading,
    entry: Entry,
    classes: Mapping[str, str | None],
    ontology: Ontology,
) -> Iterator[dict[Mention, str]]:
    # Parameters in the entry's name come first, then others of its steps. Parameters that occur
    # only in conditions are excluded: "put it on the table" does not refer to the former place.
    # Only variables have names here, because the entry's name was read without objects.
    named = [m.name for m in words.mentions if m.name]
    used = [a for step in entry.steps for a in step.args if is_variable(a)]
    pool = list(dict.fromkeys([*named, *used]))
    # The query must also mention the things that the entry's name mentions without a variable.
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
        # "the egg" may also match an egg that is only a word in the entry's name.
        same = next((m for m in free if m.classes & mention.classes), None)
        if same is not None and not mention.name:
            yield from extend(rest[1:], taken, [m for m in free if m is not same])

    if not asked.mentions and named and not asked.liquids:
        return  # A name like "tidy up" does not determine the parameters.
    yield from extend(asked.mentions, {}, loose)


def _agrees(mention: Mention, wider: str | None, ontology: Ontology) -> bool:
    if wider is None:
        return False
    return any(ontology.is_a(c, wider) or ontology.is_a(wider, c) for c in mention.classes)


def _roles(way: Mapping[Mention, str], types: Mapping[str, str], ontology: Ontology) -> Roles:
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


def _comparable(
    asked: NameReading, words: NameReading, way: Mapping[Mention, str], ontology: Ontology
) -> tuple[tuple[NameReading, NameReading], float]:
    # Things that only the entry mentions are removed from its name: "brew coffee" does not say into
    # what. Each removal reduces the score, except for tools and for a bottle of a mentioned liquid.
    # Returns the texts and the remaining score.
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
            share *= 1.0 if joint == "with" or liquids & asked.liquids else _UNMENTIONED
    mine = asked.rewritten(dict(way))
    return (
        NameReading(mine, (), (), asked.liquids, asked.verb, asked.frame),
        NameReading(text.strip(), (), (), words.liquids, words.verb, words.frame),
    ), share


def _similarities(proposals: Sequence[_Proposal], embedder: Embedder) -> list[float]:
    texts = [
        tuple(r.text.lower().strip(" .").replace("?", "") for r in (p.asked, p.named))
        for p in proposals
    ]
    known = {(mine, theirs): 1.0 for mine, theirs in texts if mine == theirs}
    for asked in dict.fromkeys(mine for mine, _ in texts):
        rest = list(dict.fromkeys(t for mine, t in texts if mine == asked != t))
        if rest:
            similarity = embedder.similarities(asked, rest)
            known.update({(asked, t): s for t, s in zip(rest, similarity, strict=True)})
    return [known[mine, theirs] for mine, theirs in texts]

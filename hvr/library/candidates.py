"""Entries of the library whose words may mean a macro action, the most alike first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from hvr.knowledge.ontology import Ontology
from hvr.library.entry import Entry
from hvr.library.library import Library
from hvr.library.words import Mention, NameReading, read_words
from hvr.pddl import is_variable
from hvr.retrieval.embedders import Embedder

_MOST_ROLES = 12
"""Ways to match what the words speak of with an entry's parameters."""

_UNSAID = 0.75
"""What is left of the likeness for each thing that only the entry's name speaks of."""

_JOINTS = frozenset({"in", "on", "with", "into", "onto", "from", "to", "at", "and", "by"})

_SAME_VERB = 0.3
"""Enough likeness of the words if the ontology says that the verbs mean the same."""

Roles = Mapping[str, frozenset[str]]
"""For some variables, the objects that the words allow."""


@dataclass(frozen=True)
class Candidate:
    """An entry that may be meant.

    Args:
        entry: it.
        classes: the ontology class that each variable is open to.
        roles: ways to understand the words: which objects which variables may stand for.
        score: how alike the words are, from 0 to 1.
        generalised: some variable is open to more than what it was learnt with.
    """

    entry: Entry
    classes: Mapping[str, str | None]
    roles: tuple[Roles, ...]
    score: float
    generalised: bool = False


def candidates(
    library: Library,
    query: NameReading,
    types: Mapping[str, str],
    embedder: Embedder,
    ontology: Ontology,
    *,
    agent: str,
    threshold: float,
    checked_after: bool,
    request: str = "",
) -> list[Candidate]:
    """Return the entries that may be meant, in the order in which to try them.

    Args:
        library: where to look.
        query: what is asked for.
        types: the objects there are and their PDDL types.
        embedder: compares words.
        ontology: the classes.
        agent: who asks; its own entries come first among equals.
        threshold: how alike the words must be, from 0 to 1.
        checked_after: a postcondition will be checked, so that a verb which says more than
            the entry's does no harm.
        request: the whole task; entries learnt for it come first among equals.
    """
    found: list[tuple[Candidate, NameReading, NameReading]] = []
    for entry, classes, generalised in _open(library, ontology):
        for name in entry.names:
            words = read_words(name, ontology, {}, entry.types)
            if not _compatible(query, words, entry, checked_after):
                continue
            ways = tuple(islice(_assignments(query, words, entry, classes, ontology), _MOST_ROLES))
            if not ways:
                continue
            roles = tuple(_roles(way, types, ontology) for way in ways)
            shown, share = _shown(query, words, ways[0], ontology)
            found.append((Candidate(entry, classes, roles, share, generalised), *shown))
    scores = _scores(found, embedder)
    kept: dict[tuple[str, bool], Candidate] = {}
    for (candidate, asked, words), likeness in zip(found, scores, strict=True):
        score = likeness * candidate.score
        same = bool(asked.verb) and asked.verb == words.verb
        if score < (min(threshold, _SAME_VERB) if same else threshold):
            continue
        key = candidate.entry.id, candidate.generalised
        if key not in kept or kept[key].score < score:
            kept[key] = Candidate(
                candidate.entry, candidate.classes, candidate.roles, score, candidate.generalised
            )

    def rank(c: Candidate) -> tuple[bool, float, bool, bool, int, str]:
        entry = c.entry
        elsewhere = request not in {origin.request for origin in entry.origins}
        other = entry.agent != agent
        return c.generalised, -round(c.score, 6), elsewhere, other, -entry.used, entry.id

    return sorted(kept.values(), key=rank)


def _open(
    library: Library, ontology: Ontology
) -> Iterator[tuple[Entry, Mapping[str, str | None], bool]]:
    """Yield every entry as learnt, and once more where its cluster opens a variable to more."""
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


def _compatible(query: NameReading, words: NameReading, entry: Entry, checked_after: bool) -> bool:
    """Say whether the words do not speak against an entry."""
    if query.contradicts(words):
        return False
    texts = (*entry.effects, *entry.needs)
    spoken = words.liquids | {a for atom, _ in texts for a in atom.args if not is_variable(a)}
    if not query.liquids <= spoken:
        return False
    if query.verb == words.verb or checked_after:
        return True
    brought = {(atom.predicate, positive) for atom, positive in entry.effects}
    undone = {(predicate, not positive) for predicate, positive in brought}
    # 'put the potato down' is not 'slice the potato', and the other way round.
    return bool(query.verb & brought) and not query.verb & undone


def _assignments(
    query: NameReading,
    words: NameReading,
    entry: Entry,
    classes: Mapping[str, str | None],
    ontology: Ontology,
) -> Iterator[dict[Mention, str]]:
    """Yield ways to give each thing that is spoken of a parameter of its own.

    Parameters of the entry's name come first, then others of its steps: where a thing was
    before is in the conditions only, and is not what 'put it on the table' speaks of.
    """
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
        same = next((m for m in free if m.classes & mention.classes), None)
        if same is not None and not mention.name:
            yield from extend(rest[1:], taken, [m for m in free if m is not same])

    if not query.mentions and named and not query.liquids:
        return
    yield from extend(query.mentions, {}, loose)


def _agrees(mention: Mention, wider: str | None, ontology: Ontology) -> bool:
    """Say whether a thing that is spoken of may fill a place that is open to a class."""
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
    query: NameReading, words: NameReading, way: Mapping[Mention, str], ontology: Ontology
) -> tuple[tuple[NameReading, NameReading], float]:
    """Return both texts with the same names for the things that they share, to compare the rest.

    What only the entry speaks of is left out of its name: 'brew coffee' does not say in what.
    That costs something, except for a tool, and for a bottle of what is spoken of. Returns the
    texts and what is left of 1.
    """
    text, share = f" {' '.join(words.text.split())} ", 1.0
    for mention in words.mentions:
        if mention.name and mention.name not in way.values():
            found = re.search(rf"(\s\w+)?\s{re.escape(mention.name)}(?=\s)", text)
            joint = (found[1] or "").strip().lower() if found else ""
            if found:
                start = found.start() if joint in _JOINTS else found.start() + len(found[1] or "")
                text = text[:start] + text[found.end() :]
            liquids = {
                str(v).removeprefix("k:")
                for c in mention.classes
                for v in ontology.annotation(c, "defaultLiquid")
            }
            share *= 1.0 if joint == "with" or liquids & query.liquids else _UNSAID
    asked = query.rewritten(dict(way))
    return (
        NameReading(asked, (), (), query.liquids, query.verb, query.frame),
        NameReading(text.strip(), (), (), words.liquids, words.verb, words.frame),
    ), share


def _scores(
    found: list[tuple[Candidate, NameReading, NameReading]], embedder: Embedder
) -> list[float]:
    """Return how alike the texts are; 1 where they are the same."""
    texts = [
        tuple(r.text.lower().strip(" .").replace("?", "") for r in (asked, words))
        for _, asked, words in found
    ]
    known = {(mine, theirs): 1.0 for mine, theirs in texts if mine == theirs}
    for asked in dict.fromkeys(mine for mine, _ in texts):
        rest = list(dict.fromkeys(t for mine, t in texts if mine == asked != t))
        if rest:
            likeness = embedder.similarities(asked, rest)
            known.update({(asked, t): s for t, s in zip(rest, likeness, strict=True)})
    return [known[mine, theirs] for mine, theirs in texts]

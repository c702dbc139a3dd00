"""The selection of objects by the names in a model's answer (paper, section 3.3, KG-RAG)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from hvr.base.texts import singular, squeezed, words
from hvr.knowledge.ontology import (
    APPARATUS,
    CRACKABLE,
    CUP,
    CUTTABLE,
    FILLED,
    FILLER,
    INSTRUMENT,
    PIECE_OF,
    RUNS_INTO,
    SLOT,
    SOILED,
    SWITCHES,
    TREATS,
    WORKTOP,
    Ontology,
)
from hvr.knowledge.retrieval.embedders import Embedder
from hvr.knowledge.retrieval.inventory import Inventory, number_of, situation

PER_CLASS = 2

THRESHOLDS: Mapping[str, float] = {"lexical": 0.38, "minilm": 0.65}
"""Minimum cosine for a match, by embedder (measured: docs/results/retrieval.md)."""

_FILLERS = frozenset(
    ("a", "an", "the", "some", "any", "one", "two", "three", "four", "five", "my", "your", "this")
)
_LONGEST = 80
"""Maximum number of characters in a name; longer texts are sentences."""
_MOST_WORDS = 3
_NUMBERED = re.compile(r"[-_ #]*\d+\s*$")


def default_threshold(embedder: Embedder) -> float:
    """Return the minimum cosine for a match; an unknown model uses the value for minilm."""
    return THRESHOLDS.get(embedder.name, THRESHOLDS["minilm"])


@dataclass(frozen=True)
class SelectedObjects:
    """The selected objects, each with the reason, and the names that match nothing in the scene."""

    reasons: dict[str, str] = field(hash=False)
    unmatched: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The objects, in order of selection."""
        return tuple(self.reasons)


def select(
    names: Sequence[str],
    inventory: Inventory,
    embedder: Embedder,
    *,
    threshold: float | None = None,
    per_class: int = PER_CLASS,
) -> SelectedObjects:
    """Select the objects to which some names refer.

    A name is an object (`mug-2`) or a class by one of its names in the ontology (`Mug`, "the coffee
    cup", "knives"). Otherwise, the class with the most similar name is used. For a class, the
    nearest object in each situation is selected: a free burner and one with a pan, at most
    `per_class` objects in all. An object comes with its first `per_class` existing or future
    pieces.

    Args:
        threshold: Minimum cosine for a similar class; by default `default_threshold(embedder)`.

    Raises:
        LLMError: An embedding provider did not answer.
    """
    # Names are matched independently: the objects for one do not depend on the others.
    limit = default_threshold(embedder) if threshold is None else threshold
    matcher = Matcher(inventory, embedder, limit)
    chooser = _Chooser(inventory, per_class)
    unmatched = []
    for name in dict.fromkeys(n.strip() for n in names if words(n)):
        objects, classes, why = matcher.match(name)
        for object_name in objects:
            chooser.named(object_name, why)
        for cls in classes:
            chooser.of_class(cls, why, sole=len(classes) == 1)
        if not objects and not classes:
            unmatched.append(name)
    return SelectedObjects(chooser.reasons, tuple(unmatched))


def mentioned(text: str, inventory: Inventory) -> tuple[str, ...]:
    """Return the phrases of a sentence that name objects or classes in the scene, in order."""
    return tuple(phrase for phrase, _ in kinds_mentioned(text, inventory))


def kinds_mentioned(text: str, inventory: Inventory) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the phrases of `mentioned`, each with the classes in the scene that it may mean."""
    known = _names(inventory.ontology)
    present = frozenset(inventory.classes.values())
    objects = {squeezed(n): c for n, c in inventory.classes.items()}
    spoken = words(text)
    named: dict[str, frozenset[str]] = {}
    start = 0
    while start < len(spoken):
        for length in (_MOST_WORDS, 2, 1):
            part = spoken[start : start + length]
            phrase = " ".join(part)
            # "cabinets, the apple": the article belongs to the next noun.
            whole = part[0] not in _FILLERS and part[-1] not in _FILLERS
            kinds = known.get(_key(phrase), ()) if whole else ()
            below = (inventory.ontology.subclasses(kind, reflexive=True) for kind in kinds)
            meant = present.intersection(c for classes in below for c in classes)
            if squeezed(phrase) in objects:
                meant |= {objects[squeezed(phrase)]}
            if meant:
                named.setdefault(phrase, meant)
                start += length - 1
                break
        start += 1
    return tuple(named.items())


class Matcher:
    """Matches names to objects and classes of a scene; unknown names are compared by embedding."""

    def __init__(self, inventory: Inventory, embedder: Embedder, threshold: float) -> None:
        self._inventory = inventory
        self._embedder = embedder
        self._threshold = threshold
        self._present = frozenset(inventory.classes.values())
        self._objects = {squeezed(n): n for n in inventory.classes}
        self._known = _names(inventory.ontology)
        types = inventory.ontology.object_types
        self._texts = {t: c for c in types for t in _texts(inventory.ontology, c)}

    def match(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        """Return the objects and the classes that a name means, with the reason; all may be empty.

        An exact name gives objects, and any other name gives classes. A known class without objects
        in the scene is not replaced by a similar class: without a toaster, no toaster can be used.
        """
        # From exact to vague, so that similarity never overrides a known name.
        if len(name) > _LONGEST:
            return (), (), ""
        same = self._objects.get(squeezed(name))
        if same is not None:
            return (same,), (), "named by the model"
        plain = _NUMBERED.sub("", name) or name
        if plain in self._present:  # "Sink" may also mean SinkBasin, which people call a sink
            also = (c for c in self._known[_key(plain)] if c != plain and c in self._present)
            return (), (plain, *also), f"the model named {name!r}"
        for text in dict.fromkeys((_key(name), _key(plain))):
            if text in self._known:
                classes = self._there(self._known[text])
                return (), classes, f"the model named {name!r}" if classes else ""
        candidates = list(self._texts)
        query = " ".join(w for w in words(plain) if w not in _FILLERS) or plain
        cosines = self._embedder.similarities(query, candidates)
        score: dict[str, float] = {}
        for text, cosine in zip(candidates, cosines, strict=True):
            cls = self._texts[text]
            # rounded, since floating-point noise may depend on the machine
            score[cls] = max(score.get(cls, -1.0), round(cosine, 9))
        # All classes compete, even those absent from the scene: "toaster" must not match the next
        # best thing if the scene has no toaster.
        best = min(score, key=lambda c: (-score[c], c not in self._present, c))
        if score[best] < self._threshold or best not in self._present:
            return (), (), ""
        return (), (best,), f"the model named {name!r}, nearest to {best} ({score[best]:.2f})"

    def _there(self, classes: Iterable[str]) -> tuple[str, ...]:
        for cls in classes:
            if cls in self._present:
                return (cls,)
            below = self._inventory.ontology.subclasses(cls)
            below_here = tuple(sorted(c for c in below if c in self._present))
            if below_here:
                return below_here
        return ()


class _Chooser:
    def __init__(self, inventory: Inventory, per_class: int) -> None:
        self.reasons: dict[str, str] = {}
        self._inventory = inventory
        self._per_class = per_class
        self._source = dict(inventory.joined(PIECE_OF))
        self._pieces: dict[str, list[str]] = {}
        for piece, source in self._source.items():
            self._pieces.setdefault(source, []).append(piece)
        for pieces in self._pieces.values():
            pieces.sort(key=number_of)

    def add(self, name: str, reason: str) -> None:
        self.reasons.setdefault(name, reason)

    def named(self, name: str, reason: str) -> None:
        self.add(name, reason)
        source = self._source.get(name)
        if source is not None and not self._there(name):
            self.add(source, f"what {name} is cut from")
        self._add_pieces(name)

    def of_class(self, cls: str, reason: str, *, sole: bool) -> None:
        limit = self._per_class if sole else 1
        objects = self._inventory.of(cls)
        whole = [n for n in objects if n not in self._source]
        seen: set[tuple[object, ...]] = set()
        for name in whole:
            here = situation(name, self._inventory)
            if not self._there(name):
                self._add_pieces(name)  # its remaining pieces
            elif here not in seen and len(seen) < limit:
                seen.add(here)
                self.add(name, reason)
                if sole:
                    self._add_pieces(name)
        self._of_sources([n for n in objects if n in self._source], reason, limit)

    def _of_sources(self, pieces: list[str], reason: str, limit: int) -> None:
        rank = {
            n: i
            for c in {self._inventory.classes[self._source[p]] for p in pieces}
            for i, n in enumerate(self._inventory.of(c))
        }
        pieces.sort(key=lambda n: (not self._there(n), rank[self._source[n]], number_of(n)))
        for name in pieces[:limit]:
            self.add(name, reason)
            if not self._there(name):
                self.add(self._source[name], f"what {name} is cut from")

    def _add_pieces(self, source: str) -> None:
        for piece in self._pieces.get(source, ())[: self._per_class]:
            self.add(piece, f"a piece of {source}")

    def _there(self, name: str) -> bool:
        return self._inventory.true("present", name)


def _texts(ontology: Ontology, cls: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ontology.labels(cls), " ".join(words(cls)))))


@lru_cache(maxsize=4)
def _names(ontology: Ontology) -> Mapping[str, Sequence[str]]:
    """Return the classes that each name in the ontology may mean; `_key` normalises the names."""
    # Object types precede their superclasses, and labels precede class names: "table" is a
    # DiningTable before any Table, "sink" is a SinkBasin before the Sink around it.
    known: dict[str, list[str]] = {}
    types = ontology.object_types
    kinds = ontology.subclasses("PhysicalObject") - set(types)
    kinds -= ontology.subclasses("AffordingObject", reflexive=True)
    for classes in (types, sorted(kinds)):
        for cls in classes:
            for text in ontology.labels(cls):
                known.setdefault(_key(text), []).append(cls)
        for cls in classes:
            known.setdefault(_key(cls), []).append(cls)
    return known


def _key(name: str) -> str:
    telling = [w for w in words(name) if w not in _FILLERS] or list(words(name))
    return "".join(singular(w) for w in telling)


# Expansion ----------------------------------------------------------------------------------------
# Add the objects on which chosen ones depend: a knife for slicing, the faucet of a basin, a pan.
#
# A language model names the objects in a sentence but forgets the means. The rules here follow
# facts in the graph and relations between classes (`k:placeableIn`, `k:cooks`, `k:prefers`), never
# names of things. Unlike `relevance`, they have no goal, so they infer the likely actions from the
# chosen objects.

Additions = Iterator[tuple[str, str]]
"""Objects to add, each with the reason."""


def expand(names: Iterable[str], inventory: Inventory) -> dict[str, str]:
    """Return the objects on which some objects depend, each with the reason."""
    expander = _Expander(names, inventory)
    expander.run()
    return expander.added


class _Expander:
    """Applies rules until they add nothing; they terminate because they only add scene objects."""

    def __init__(self, names: Iterable[str], inventory: Inventory) -> None:
        self.added: dict[str, str] = {}
        self._inventory = inventory
        self._ontology = inventory.ontology
        self._chosen = dict.fromkeys(names)
        self._source = dict(inventory.joined(PIECE_OF))
        self._holders: dict[str, list[str]] = {}
        self._joined: dict[str, tuple[tuple[str, str], ...]] = {}
        self._treating = inventory.roles.predicates(TREATS)
        self._ranked = inventory.of("PhysicalObject")
        there = [n for n in self._ranked if inventory.true("present", n)]
        rank = {n: i for i, n in enumerate(there)}
        self._takes: dict[str, list[str]] = defaultdict(list)
        for thing, place in inventory.pairs("fits"):
            if thing in rank:
                self._takes[place].append(thing)
        for things in self._takes.values():
            things.sort(key=rank.__getitem__)

    def run(self) -> None:
        # A rule that tests whether a kind is chosen must run after the rules that choose it. A
        # burner for a chosen pan precedes other heat sources, and both precede knobs, places and
        # contents. The work surface comes last, since any other rule may provide one.
        for rules in (
            (self._dish, self._under, self._filling, self._sources, self._tool),
            (self._heat, self._carriers, self._drinks, self._washing),
            (self._controls, self._places, self._occupants),
            (self._work_surface,),
        ):
            before = -1
            while before != len(self._chosen):
                before = len(self._chosen)
                for rule in rules:
                    for name, reason in list(rule()):
                        self._add(name, reason)

    def _add(self, name: str, reason: str) -> None:
        if name not in self._chosen:
            self._chosen[name] = None
            self.added[name] = reason

    # --- uses -------------------------------------------------------------------------------

    def _sources(self) -> Additions:
        for name in self._chosen:
            source = self._source.get(name)
            if source is not None and not self._true("present", name):
                yield source, f"what {name} is cut from"
        for name in self._with(CUTTABLE, CRACKABLE):
            pieces = sorted((p for p, s in self._source.items() if s == name), key=number_of)
            if pieces and not any(p in self._chosen for p in pieces):
                yield pieces[0], f"a piece of {name}"

    def _tool(self) -> Additions:
        wanted = [n for n in self._with(CUTTABLE) if self._true("present", n)]
        if not wanted or self._with(INSTRUMENT):
            return
        tools = self._inventory.tools(INSTRUMENT, "slicing")
        if tools:
            yield tools[0], f"cuts {wanted[0]}"

    def _heat(self) -> Additions:
        for name in list(self._chosen):
            cooks = [h for h in self._all(APPARATUS) if self._treats(h, name)]
            if not cooks or any(h in self._chosen for h in cooks):
                continue
            direct = [h for h in cooks if self._true("fits", name, h)]
            yield (
                (direct or cooks)[0],
                f"{self._treating[0]} {name}",
            )  # an appliance that needs no dish is simpler

    def _dish(self) -> Additions:
        for name in self._with(CRACKABLE):
            made = [p for p, s in self._source.items() if s == name]
            heats = [h for h in self._all(APPARATUS) if any(self._treats(h, p) for p in made)]
            slots = [h for h in heats if self._plays(h, SLOT)]
            dishes = [
                d for h in slots or heats for d in self._takes[h] if self._true("fits", name, d)
            ]
            if dishes and not any(d in self._chosen for d in dishes):
                yield dishes[0], f"for {name} when it is cracked"

    def _under(self) -> Additions:
        slots = [h for h in self._all(APPARATUS) if self._plays(h, SLOT)]
        for name in [n for n in self._chosen if self._true("pickupable", n)]:
            below = [h for h in slots if name in self._takes[h]]
            if below and name not in self._source and not any(h in self._chosen for h in below):
                free = [h for h in below if not self._inventory.contents.get(h)]
                here = [h for h in below if self._inventory.parents.get(name) == h]
                yield (here + free + below)[0], f"heats what is in {name}"

    def _filling(self) -> Additions:
        for place in self._with(SLOT):
            if any(self._true("fits", n, place) for n in self._chosen):
                continue
            later = (p for p in self._source if self._true("fits", p, place))
            for name in (*self._takes[place], *later):
                if name not in self._source or self._there(name, self._source[name]):
                    yield name, f"goes onto {place}"
                    break

    def _carriers(self) -> Additions:
        for heat in self._with(APPARATUS):
            for name in list(self._chosen):
                if not self._treats(heat, name) or self._true("fits", name, heat):
                    continue
                dishes = [d for d in self._takes[heat] if self._true("fits", name, d)]
                if dishes and not any(d in self._chosen for d in dishes):
                    yield dishes[0], f"carries {name} on {heat}"

    def _drinks(self) -> Additions:
        if self._with(FILLED, FILLER) or self._with_pair(RUNS_INTO):
            return
        for name in list(self._chosen):
            if not self._inventory.roles.plays(self._class(name), CUP):
                continue
            for machine in self._all(FILLER):
                if self._true("fits", name, machine):
                    yield machine, f"fills {name}"
                    break
            for faucet, basin in self._pairs(RUNS_INTO):
                if self._true("fits", name, basin):
                    yield faucet, f"fills {name}"
                    break

    def _washing(self) -> Additions:
        dirty = [n for n in self._with(SOILED) if self._true("pickupable", n)]
        if dirty and not self._with_pair(RUNS_INTO):
            for faucet, _ in self._pairs(RUNS_INTO)[:1]:
                yield faucet, f"to wash {dirty[0]}"

    # --- dependencies -----------------------------------------------------------------------

    def _controls(self) -> Additions:
        for role in (SWITCHES, RUNS_INTO):
            for control, controlled in self._pairs(role):
                if controlled in self._chosen:
                    yield control, f"{role} {controlled}"
                elif control in self._chosen:
                    yield controlled, f"{control} {role} it"

    def _places(self) -> Additions:
        for name in list(self._chosen):
            parent = self._inventory.parents.get(name)
            if parent is not None and self._true("pickupable", name):
                yield parent, f"where {name} is"

    def _occupants(self) -> Additions:
        for name in list(self._chosen):
            if self._plays(name, SLOT) or self._true("pickupable", name):
                for inner in self._inventory.contents.get(name, ()):
                    yield inner, f"is on or in {name}"
        for name in self._inventory.held:
            yield name, "in the hand"

    def _work_surface(self) -> Additions:
        kinds = self._inventory.roles.players(WORKTOP)
        surfaces = [n for c in kinds for n in self._inventory.of(c)]
        if surfaces and not any(n in self._chosen for n in surfaces):
            yield surfaces[0], "to put things down"

    # --- queries ----------------------------------------------------------------------------

    def _true(self, predicate: str, *args: str) -> bool:
        return self._inventory.true(predicate, *args)

    def _there(self, *names: str) -> bool:
        return any(self._true("present", n) for n in names)

    def _class(self, name: str) -> str:
        return self._inventory.classes[name]

    def _plays(self, name: str, *roles: str) -> bool:
        return self._inventory.plays(name, *roles)

    def _treats(self, apparatus: str, name: str) -> bool:
        return any(self._true(p, apparatus, name) for p in self._treating)

    def _with(self, *roles: str) -> list[str]:
        return [n for n in self._chosen if self._plays(n, *roles)]

    def _with_pair(self, role: str) -> bool:
        return any(a in self._chosen or b in self._chosen for a, b in self._pairs(role))

    def _all(self, role: str) -> list[str]:
        if role not in self._holders:
            self._holders[role] = [n for n in self._ranked if self._plays(n, role)]
        return self._holders[role]

    def _pairs(self, role: str) -> tuple[tuple[str, str], ...]:
        if role not in self._joined:
            self._joined[role] = self._inventory.joined(role)
        return self._joined[role]

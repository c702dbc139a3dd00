"""Descriptions of objects for a prompt: one line each, read from the graph by SPARQL.

    mug-1 (Mug): in sinkbasin-1; not dirty, not filled; can be picked up, filled; container
    tomatosliced-1 (TomatoSliced): does not exist yet: made by slicing tomato-1; can be picked up

States have the names of PDDL predicates (`not opened`, `dirty`), as in conditions. Affordances have
the labels of the ontology.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from hvr.base.texts import singular, words
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.graph_reader import predicate_rules
from hvr.knowledge.ontology import (
    CONTAINS,
    CRACKABLE,
    FILLED,
    SLOT,
    SURFACE,
    TREATS,
    Ontology,
    roles_of,
)
from hvr.knowledge.retrieval.inventory import number_of
from hvr.knowledge.terms import Value

_FEW = 3
_MOST_INSIDE = 6
_CAN = "can be "


def object_context(
    graph: KnowledgeGraph, names: Iterable[str], *, contents: bool = False, surfaces: bool = False
) -> str:
    """Return one line per object: class, place, state, affordances and relations.

    Args:
        names: The objects; the lines are sorted by class and number.
        contents: Whether to list the contents of objects with doors, and the places in which an
            object did not fit.
        surfaces: Whether `contents` also lists the objects on each surface.
    """
    objects = _read(graph, names)
    kinds = _Kinds(graph, {o.cls for o in objects.values()})
    ranked = sorted(objects, key=lambda n: (objects[n].cls, number_of(n), n))
    if not contents:
        return "\n".join(_object_line(objects[n], kinds) for n in ranked)
    tried = graph.did_not_fit()
    return "\n".join(
        "; ".join(
            filter(
                None,
                (
                    _object_line(objects[n], kinds),
                    *_room(objects[n], kinds, tried),
                    _lying_on(objects[n], kinds) if surfaces else "",
                ),
            )
        )
        for n in ranked
    )


def class_context(graph: KnowledgeGraph, names: Iterable[str]) -> str:
    """Return one line for each class of existing objects, without the objects' names."""
    members, kinds = _by_class(graph, names)
    return "\n".join(_class_line(c, members[c], kinds) for c in sorted(members))


def kind_context(graph: KnowledgeGraph, names: Iterable[str]) -> str:
    """Return the classes of some objects, with one line for all classes that have the same uses."""
    members, kinds = _by_class(graph, names)
    lines: dict[str, list[str]] = defaultdict(list)
    for cls in sorted(members):
        parts = kinds.uses(cls, {k for o in members[cls] for k in o.kinds})
        made = kinds.source(cls)
        if made is not None:
            parts = [f"made by {made[0]} {made[1]}"]
        there = sum(o.present for o in members[cls])
        lines["; ".join(parts)].append(f"{cls} ({there})" if there > 1 else cls)
    return "\n".join(f"{', '.join(same)}: {use or 'no use'}" for use, same in lines.items())


def _by_class(
    graph: KnowledgeGraph, names: Iterable[str]
) -> tuple[dict[str, list[_Object]], _Kinds]:
    members: dict[str, list[_Object]] = defaultdict(list)
    for o in _read(graph, names).values():
        members[o.cls].append(o)
    return members, _Kinds(graph, members)


@dataclass(frozen=True)
class LineWords:
    """The content of object lines in prompts, from the ontology (`k:Telling`).

    Args:
        abilities: Affordances that are listed together: "can be picked up, filled".
        uses: Further affordances to mention. The remaining ones show in the state or in the
            validator's suggestions.
        states: States that are mentioned even if false. History marks are mentioned only if true.
        implied: The subset of `states` that is mentioned only if true. For example, it goes without
            saying that an existing object is uncut.
        relations: Pairs of a property, prefixed with `^` if inverted, and the phrase for it.
    """

    abilities: tuple[str, ...]
    uses: tuple[str, ...]
    states: tuple[str, ...]
    implied: frozenset[str]
    relations: tuple[tuple[str, str], ...]


@lru_cache(maxsize=8)
def line_words_of(ontology: Ontology) -> LineWords:
    def listed(prop: str) -> tuple[str, ...]:
        return tuple(
            name
            for individual in ontology.instances("Telling")
            for value in ontology.annotation(individual, prop)
            for name in str(value).split()
        )

    second = dict(ontology.pairs("saidOfSecond"))
    return LineWords(
        listed("abilities"),
        listed("uses"),
        listed("states"),
        frozenset(listed("statesIfSo")),
        tuple(
            phrase
            for prop, first in sorted(ontology.pairs("saidOfFirst"), reverse=True)
            for phrase in ((prop, first), (f"^{prop}", second[prop]))
        ),
    )


@dataclass
class _Object:
    name: str
    cls: str
    kinds: set[str] = field(default_factory=set)
    state: dict[str, Value] = field(default_factory=dict)
    relations: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def present(self) -> bool:
        return self.state.get("isPresent") is True


def _read(graph: KnowledgeGraph, names: Iterable[str]) -> dict[str, _Object]:
    # Use only two queries, since a query costs far more than a row.
    objects = {n: _Object(n, graph.object_class(n)) for n in dict.fromkeys(names)}
    if not objects:
        return objects
    values = " ".join(f"o:{n}" for n in objects)
    # Annotations mark every PDDL predicate and every property that entails one.
    about = graph.query(
        f"""SELECT ?o ?p ?v WHERE {{
              VALUES ?o {{ {values} }}
              {{ ?p k:pddlPredicate ?predicate . ?o ?p ?v }}
              UNION {{ ?o a ?v . ?v k:pddlPredicate ?predicate . BIND(rdf:type AS ?p) }}
              UNION {{ ?o k:temperature ?v . BIND(k:temperature AS ?p) }} }}"""
    )
    for name, prop, value in about:
        o = objects[str(name)]
        if prop == "rdf:type":
            o.kinds.add(str(value))
        elif isinstance(value, bool):
            o.state[str(prop)] = value
        else:
            o.relations[str(prop)].append(str(value))
    relations = line_words_of(graph.ontology).relations
    joined = " ".join(f"k:{prop}" for prop, _ in relations if not prop.startswith("^"))
    back = graph.query(
        f"""SELECT ?o ?p ?s WHERE {{
              VALUES ?o {{ {values} }}
              VALUES ?p {{ {joined} k:pieceOf k:holding k:near k:on k:in }}
              ?s ?p ?o }}"""
    )
    for name, prop, subject in back:
        objects[str(name)].relations[f"^{prop}"].append(str(subject))
    for o in objects.values():
        for others in o.relations.values():
            others.sort(key=lambda n: (number_of(n), n))
    return objects


class _Kinds:
    def __init__(self, graph: KnowledgeGraph, shown: Collection[str]) -> None:
        self.graph = graph
        self._shown = shown
        self._ontology = graph.ontology
        self.line_words = line_words_of(graph.ontology)
        self.roles = roles_of(graph.ontology)
        self._there = frozenset(graph.object_class(n) for n in graph.objects())
        rules = predicate_rules(graph.ontology).values()
        self.predicates = {r.term: r.predicate for r in rules}
        self.terms = {r.predicate: r.term for r in rules}
        self._uses: dict[tuple[str, frozenset[str]], list[str]] = {}

    def uses(self, cls: str, kinds: Iterable[str]) -> list[str]:
        key = (cls, frozenset(self.predicates[c] for c in kinds if c in self.predicates))
        if key not in self._uses:
            self._uses[key] = [s for s in (*self._good_for(key[1]), *self._takes(*key)) if s]
        return self._uses[key]

    def source(self, cls: str) -> tuple[str, str] | None:
        """Return the action and source class of a piece's class, ("slicing", "Tomato"), or None."""
        for other in self._ontology.object_types:
            if cls in map(str, self._ontology.annotation(other, "slicesInto")):
                cracked = self.roles.plays(other, CRACKABLE)
                return ("cracking" if cracked else "slicing"), other
        return None

    def _good_for(self, predicates: frozenset[str]) -> list[str]:
        label = {p: self._ontology.label(self.terms[p]) for p in predicates}
        able = [label[p].removeprefix(_CAN) for p in self.line_words.abilities if p in predicates]
        other = [label[p] for p in self.line_words.uses if p in predicates]
        if predicates & set(self.roles.predicates(SLOT)):
            other = [o for o in other if o not in map(label.get, self.roles.predicates(SURFACE))]
        return [f"{_CAN}{', '.join(able)}" if able else "", ", ".join(other)]

    def _takes(self, cls: str, predicates: frozenset[str]) -> list[str]:
        related = self._ontology.related
        takes = sorted(c for c in self._there if cls in related("placeableIn", c))
        few = bool(predicates & set(self.roles.predicates(SLOT))) and 0 < len(takes) <= _FEW
        treats = [
            (str(name), kinds)
            for relation in self.roles.players(TREATS)
            for name in self._ontology.predicates(relation)
            if (kinds := sorted(related(relation, cls).intersection(self._shown)))
        ]
        return [
            f"takes one {' or '.join(takes)}" if few else "",
            *(f"{name} {', '.join(kinds)}" for name, kinds in treats),
        ]


def _object_line(o: _Object, kinds: _Kinds) -> str:
    parts: list[str] = []
    if not o.present:
        parts.append(_absence(o, kinds))
    else:
        parts += [_place(o, kinds), ", ".join(_states(o, kinds))]
    if o.present or "pieceOf" in o.relations:
        parts += kinds.uses(o.cls, o.kinds)
    parts += _belongs(o, kinds)
    return f"{o.name} ({o.cls}): {'; '.join(p for p in parts if p)}".removesuffix(": ")


def _class_line(cls: str, members: list[_Object], kinds: _Kinds) -> str:
    parts = kinds.uses(cls, {k for o in members for k in o.kinds})
    there = [o for o in members if o.present]
    made = kinds.source(cls)
    if made is not None:
        parts = [*parts, f"made by {made[0]} {made[1]}"]
    places = {_place(o, kinds, by_class=True) for o in there} - {""}
    count = f"{len(there)} there" if there or made is None else "none yet"
    return f"{cls}: {'; '.join((*parts, *sorted(places), count))}"


def _absence(o: _Object, kinds: _Kinds) -> str:
    sources = o.relations.get("pieceOf")
    how = kinds.source(o.cls)
    if sources and how is not None:
        return f"does not exist yet: made by {how[0]} {sources[0]}"
    done = [p for p in kinds.line_words.implied if o.state.get(kinds.terms[p]) is True]
    return f"does not exist any more{': ' if done else ''}{', '.join(sorted(done))}"


def _place(o: _Object, kinds: _Kinds, *, by_class: bool = False) -> str:
    """Return the place of a portable object (only its class if `by_class`), or "" for furniture."""
    if kinds.terms["pickupable"] not in o.kinds:
        return ""
    if "^holding" in o.relations:
        return "held by the robot"
    for prop in ("on", "in"):
        for place in o.relations.get(prop, ()):
            return f"{prop} {kinds.graph.object_class(place) if by_class else place}"
    return "place unknown"


def _states(o: _Object, kinds: _Kinds) -> Iterator[str]:
    yield from (["near the robot"] if "^near" in o.relations else [])
    full = kinds.roles.predicates(FILLED)
    inside = [x for r in kinds.roles.players(CONTAINS) for x in o.relations.get(r, ())]
    for predicate in kinds.line_words.states:
        value = o.state.get(kinds.terms[predicate])
        if value is True and predicate in full and inside:
            yield f"{predicate} with {', '.join(inside)}"
        elif value is True:
            yield predicate
        elif value is False and predicate not in kinds.line_words.implied:
            yield f"not {predicate}"
    yield from (t for t in o.relations.get("temperature", ()) if t in kinds.predicates)
    shown = {kinds.terms[p] for p in (*kinds.line_words.states, "present")}
    marks = (kinds.predicates[t] for t, v in o.state.items() if v is True and t not in shown)
    yield from sorted(marks)


def _belongs(o: _Object, kinds: _Kinds) -> Iterator[str]:
    for prop, wording in kinds.line_words.relations:
        if prop in o.relations:
            yield f"{wording} {', '.join(o.relations[prop])}"
    if "^on" in o.relations and o.kinds & set(kinds.roles.players(SLOT)):
        yield f"taken up by {', '.join(o.relations['^on'])}"


def _room(o: _Object, kinds: _Kinds, tried: Collection[tuple[str, str]]) -> Iterator[str]:
    inside = o.relations.get("^in", [])
    if inside and kinds.terms["openable"] in o.kinds:
        more = ", …" if len(inside) > _MOST_INSIDE else ""
        yield f"in it: {', '.join(inside[:_MOST_INSIDE])}{more}"
    full = sorted(place for thing, place in tried if thing == o.name)
    if full:
        yield f"did not fit in {', '.join(full)}"


def _lying_on(o: _Object, kinds: _Kinds) -> str:
    things = o.relations.get("^on", [])
    if not things or o.kinds & set(kinds.roles.players(SLOT)):  # a slot names its occupant
        return ""
    more = ", …" if len(things) > _MOST_INSIDE else ""
    return f"on it: {', '.join(things[:_MOST_INSIDE])}{more}"


# Background ---------------------------------------------------------------------------------------
# The ontology's background knowledge for a request: dishes, words, preferences and notes.
#
#     vegan meal: LettuceSliced, TomatoSliced, PotatoSliced (cooked), on or in one Plate
#
# A language model may imagine a different vegan meal, but the kitchen's definition decides whether
# a plan is correct.

_MOST_DISHES = 4
_MOST_WORDS = 8
_FILLERS = frozenset(("a", "an", "the", "of", "and", "on", "in", "with", "some", "one"))
_LITERAL = re.compile(r"\((not )?\(?(\w+) \?x(?: (\w+))?\)")


def dishes(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return a description of each dish that a request names, with its parts."""
    return tuple(_dish(name, ontology) for name in _named(request, ontology))


def ingredients(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return the classes of the parts and vessels of the dishes that a request names."""
    classes: list[str] = []
    for dish in _named(request, ontology):
        for part in ontology.annotation(dish, "part"):
            classes += [str(c) for c in ontology.annotation(str(part), "ofClass")]
        classes += _listed(ontology, dish, "vesselOrder")[:1]
        classes += [str(place) for place in ontology.annotation(dish, "place")]
        liquids = set(map(str, ontology.annotation(dish, "liquid")))
        for means in ontology.instances("Means"):
            if liquids & set(map(str, ontology.annotation(means, "achieves"))):
                classes += _listed(ontology, means, "needs")
    return tuple(dict.fromkeys(name.removeprefix("k:") for name in classes))


def _named(request: str, ontology: Ontology) -> tuple[str, ...]:
    spoken = _spoken(request)
    fits: list[tuple[int, str]] = []
    for dish in ontology.instances("Dish"):
        asked = tuple(map(str, ontology.annotation(dish, "askedAs")))
        texts = [_content(text) for text in (*ontology.labels(dish), *asked)]
        best = max((len(text) for text in texts if text and text <= spoken), default=0)
        if best:
            fits.append((-best, dish))
    # "tomato egg toast" does not mention toast as well.
    chosen: list[str] = []
    covered: set[str] = set()
    for _, dish in sorted(fits):
        own = {w for text in ontology.labels(dish) for w in _content(text)} & spoken
        if not own or not own <= covered:
            chosen.append(dish)
            covered |= own
    return tuple(chosen[:_MOST_DISHES])


def known_dishes(ontology: Ontology) -> str:
    return ", ".join(sorted(ontology.label(name) for name in ontology.instances("Dish")))


def meanings(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return meanings of a request's verbs and adjectives as conditions: `clean: not dirty`."""
    # Match contiguous words: 'put a cup on a table' does not contain 'put on'.
    spoken = f" {' '.join(words(request))} "
    conditions_by_word: dict[str, str] = {}
    for kind in ("Verb", "Adjective"):
        for name in ontology.instances(kind):
            conditions = ontology.annotation(name, "condition")
            forms = (*ontology.labels(name), *map(str, ontology.annotation(name, "participle")))
            named = [text for text in forms if f" {' '.join(words(text))} " in spoken]
            if named and conditions:
                conditions_by_word[max(named, key=len)] = _plain(str(conditions[0]))
    lines = (f"{word}: {text}" for word, text in conditions_by_word.items() if word != text)
    return tuple(lines)[:_MOST_WORDS]


def preferences(classes: Collection[str], ontology: Ontology) -> tuple[str, ...]:
    """Return the preferences between two of the given classes, in words."""
    texts = []
    for name in ontology.instances("Preference"):
        sides = [
            {c for c in ontology.subclasses(kind, reflexive=True) if c in classes}
            for side in ("prefers", "over")
            for value in ontology.annotation(name, side)
            if ontology.has_class(kind := str(value).removeprefix("k:"))
        ]
        if len(sides) == 2 and all(sides):
            texts.append(ontology.label(name))
    return tuple(texts)


def default_end_states(ontology: Ontology) -> tuple[str, ...]:
    """Return the final states that an ontology prefers, in words."""
    return tuple(map(ontology.label, ontology.preferences("end of task")))


def notes(
    ontology: Ontology,
    *,
    reader: str,
    predicates: Collection[str] = (),
    classes: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return notes on predicates and classes for a prompt for a `reader`: `goal` or `steps`."""
    above = {a for c in classes for a in ontology.superclasses(c, reflexive=True)}
    texts: list[str] = []
    for name in ontology.instances("Note"):
        meant = " ".join(map(str, ontology.annotation(name, "forWhom")))
        about = set(_listed(ontology, name, "aboutPredicate"))
        kinds = set(_listed(ontology, name, "aboutClass"))
        if (not meant or meant == reader) and (about & set(predicates) or kinds & above):
            texts += map(str, ontology.annotation(name, "tells"))
    return tuple(texts)


def _listed(ontology: Ontology, name: str, prop: str) -> list[str]:
    return [word for value in ontology.annotation(name, prop) for word in str(value).split()]


def _dish(name: str, ontology: Ontology) -> str:
    parts = [
        _part(str(part), ontology) for part in sorted(ontology.annotation(name, "part"), key=str)
    ]
    holds = roles_of(ontology).predicate(CONTAINS) or CONTAINS
    liquids = [f"{holds} {liquid}" for liquid in ontology.annotation(name, "liquid")]
    vessels = _listed(ontology, name, "vesselOrder")
    places = [str(p).removeprefix("k:") for p in ontology.annotation(name, "place")]
    where = f"on one {places[0]}" if places else ""
    if vessels and liquids:
        where = f"in one {' or '.join(vessels)}"
    elif vessels:
        where = f"together on or in one {' or '.join(vessels)}"
    return f"{ontology.label(name)}: {', '.join(filter(None, (*parts, *liquids, where)))}"


def _part(name: str, ontology: Ontology) -> str:
    kind = next((str(c).removeprefix("k:") for c in ontology.annotation(name, "ofClass")), name)
    count = next((f"{c} " for c in ontology.annotation(name, "count")), "")
    conditions = " and ".join(_plain(str(c)) for c in ontology.annotation(name, "condition"))
    return f"{count}{kind}{f' ({conditions})' if conditions else ''}"


def _plain(condition: str) -> str:
    joint = " or " if condition.startswith("(or ") else " and "
    return joint.join(_literals(condition)) or condition.replace("?", "")


def _literals(condition: str) -> Iterator[str]:
    for sign, predicate, value in _LITERAL.findall(condition):
        yield f"{'not ' if sign else ''}{predicate}{f' {value}' if value else ''}"


def _spoken(request: str) -> frozenset[str]:
    return frozenset(form for word in words(request) for form in (word, singular(word)))


def _content(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in words(text) if word not in _FILLERS)

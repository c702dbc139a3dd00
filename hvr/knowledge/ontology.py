"""The ontology: classes, labels, affordances, and mappings to PDDL and AI2-THOR.

Names of classes, properties and individuals are local names of the namespace `k:`, such as
`Mug` or `isOpen`; a leading `k:` is accepted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, parse

from hvr.base.files import data_path
from hvr.base.texts import read_text
from hvr.errors import DataFileError, UnknownObjectError
from hvr.knowledge.query import QueryResult, run_query
from hvr.knowledge.terms import (
    ALT_LABEL,
    HIDDEN_LABEL,
    KITCHEN,
    LABEL,
    OWL,
    RDF_TYPE,
    RDFS,
    Node,
    Triple,
    Value,
    k,
    short,
)
from hvr.knowledge.terms import value as value_terms
from hvr.values import cached_property

# Closure ------------------------------------------------------------------------------------------
# The rules cover the part of OWL 2 RL that the ontology uses: subclasses and subproperties,
# equivalents, domains and ranges, and inverse, symmetric and transitive properties. Tests compare
# them with a general OWL RL reasoner (`hvr.knowledge.owl`). hvr does not use that reasoner itself,
# because importing rdflib takes longer than loading everything else.

SUB_CLASS = NamedNode(RDFS + "subClassOf")
SUB_PROPERTY = NamedNode(RDFS + "subPropertyOf")
_EQUIVALENT_CLASS = NamedNode(OWL + "equivalentClass")
_EQUIVALENT_PROPERTY = NamedNode(OWL + "equivalentProperty")
_INVERSE = NamedNode(OWL + "inverseOf")
_SYMMETRIC = NamedNode(OWL + "SymmetricProperty")
_TRANSITIVE = NamedNode(OWL + "TransitiveProperty")
_DOMAIN = NamedNode(RDFS + "domain")
_RANGE = NamedNode(RDFS + "range")

_Ancestors = dict[Node, frozenset[Node]]


class EntailmentRules:
    """The entailment rules that result from an ontology's axioms."""

    def __init__(self, axioms: Iterable[Triple]) -> None:
        classes: dict[Node, set[Node]] = defaultdict(set)
        properties: dict[Node, set[Node]] = defaultdict(set)
        self._types: dict[tuple[Node, bool], set[Node]] = defaultdict(set)
        self._inverse: dict[Node, set[Node]] = defaultdict(set)
        self._transitive: set[Node] = set()
        for s, p, o in axioms:
            if p == SUB_CLASS:
                classes[s].add(o)
            elif p == SUB_PROPERTY:
                properties[s].add(o)
            elif p == _EQUIVALENT_CLASS:
                classes[s].add(o)
                classes[o].add(s)
            elif p == _EQUIVALENT_PROPERTY:
                properties[s].add(o)
                properties[o].add(s)
            elif p == _INVERSE:
                self._inverse[s].add(o)
                self._inverse[o].add(s)
            elif p == _DOMAIN:
                self._types[s, False].add(o)
            elif p == _RANGE:
                self._types[s, True].add(o)
            elif p == RDF_TYPE and o == _SYMMETRIC:
                self._inverse[s].add(s)
            elif p == RDF_TYPE and o == _TRANSITIVE:
                self._transitive.add(s)
        self.superclasses = _ancestors(classes)
        self.superproperties = _ancestors(properties)

    def axioms(self) -> set[Triple]:
        """Return the asserted and entailed subclass and subproperty axioms."""
        return {(c, SUB_CLASS, a) for c, above in self.superclasses.items() for a in above} | {
            (c, SUB_PROPERTY, a) for c, above in self.superproperties.items() for a in above
        }

    def entail(self, triples: Iterable[Triple]) -> set[Triple]:
        """Return the triples and everything that they entail."""
        known: set[Triple] = set()
        todo: list[Triple] = list(triples)
        after: dict[tuple[Node, Node], set[Node]] = defaultdict(set)
        before: dict[tuple[Node, Node], set[Node]] = defaultdict(set)
        while todo:
            triple = todo.pop()
            if triple in known:
                continue
            known.add(triple)
            s, p, o = triple
            if p == RDF_TYPE:
                todo.extend((s, p, c) for c in self.superclasses.get(o, ()))
                continue
            todo.extend((s, q, o) for q in self.superproperties.get(p, ()))
            todo.extend((s, RDF_TYPE, c) for c in self._types.get((p, False), ()))
            if isinstance(o, Literal):
                continue
            todo.extend((o, RDF_TYPE, c) for c in self._types.get((p, True), ()))
            todo.extend((o, q, s) for q in self._inverse.get(p, ()))
            if p in self._transitive:
                # Join in both directions, since either of two triples may come first.
                after[p, s].add(o)
                before[p, o].add(s)
                todo.extend((s, p, x) for x in after.get((p, o), ()))
                todo.extend((x, p, o) for x in before.get((p, s), ()))
        return known


def _ancestors(parents: dict[Node, set[Node]]) -> _Ancestors:
    result: _Ancestors = {}
    for start in parents:
        seen: set[Node] = set()
        todo = [start]
        while todo:
            for parent in parents.get(todo.pop(), ()):
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)
        result[start] = frozenset(seen - {start})
    return result


# Ontology -----------------------------------------------------------------------------------------

_CLASS = NamedNode(OWL + "Class")
_AFFORDING = "AffordingObject"
_WORDING = frozenset(
    (
        HIDDEN_LABEL,
        *map(k, ("saidTrue", "saidFalse", "imperative", "title", "stepText", "purpose")),
        *map(k, ("writtenAs", "negationWrittenAs", "orderVerb")),
        *map(k, ("role", "neverNamed", "under", "makes", "keeps", "askedBy", "goesInto", "whyNot")),
        *map(k, ("inContents", "fillsWith", "lasting", "also", "ofDishes", "learntAs")),
        k("exampleOf"),
    )
)
"""Properties that only `wording` and the reader of requests use.

They entail nothing, so they are left out of the closure, which every graph of a scene copies.
"""


class Ontology:
    """An immutable ontology with its entailments.

    Methods that need the superclasses or subclasses of a class raise `UnknownObjectError` if it is
    unknown.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.axioms: tuple[Triple, ...] = tuple(dict.fromkeys(triples))
        self.rules = EntailmentRules(self.axioms)
        self._by_property: dict[Node, dict[Node, list[Node]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for s, p, o in self.axioms:
            self._by_property[p][s].append(o)
        named = [
            s
            for s, kinds in self._by_property[RDF_TYPE].items()
            if _CLASS in kinds and isinstance(s, NamedNode)
        ]
        self._above: dict[str, frozenset[str]] = {
            _local(c): frozenset(
                _local(a) for a in self.rules.superclasses.get(c, ()) if isinstance(a, NamedNode)
            )
            for c in named
        }
        below: dict[str, set[str]] = {c: set() for c in self._above}
        for name, above in self._above.items():
            for a in above:
                below.setdefault(a, set()).add(name)
        self._below = {c: frozenset(b) for c, b in below.items()}
        # Not functools.cache, which would keep every ontology until the process ends.
        self._sometimes: dict[str, frozenset[str]] = {}
        self._annotations: dict[tuple[str, str], tuple[Value, ...]] = {}
        self._related: dict[tuple[str, str], frozenset[str]] = {}
        self._one_by_property: dict[str, dict[str, str]] = {}

    # --- classes ---

    def classes(self) -> frozenset[str]:
        return frozenset(self._above)

    def has_class(self, name: str) -> bool:
        return name.removeprefix("k:") in self._above

    def superclasses(self, cls: str, *, reflexive: bool = False) -> frozenset[str]:
        """Return all superclasses of a class; `reflexive` includes the class itself."""
        name = self._known(cls)
        return self._above[name] | {name} if reflexive else self._above[name]

    def subclasses(self, cls: str, *, reflexive: bool = False) -> frozenset[str]:
        """Return all subclasses of a class; `reflexive` includes the class itself."""
        name = self._known(cls)
        return self._below[name] | {name} if reflexive else self._below[name]

    def parents(self, cls: str) -> tuple[str, ...]:
        """Return the direct superclasses as asserted; none for an unknown class."""
        return tuple(_local(o) for o in self._objects(k(cls), SUB_CLASS) if _is_named(o))

    def is_a(self, cls: str, ancestor: str) -> bool:
        """Return whether `cls` is `ancestor` or a subclass of it; False for an unknown class."""
        return cls == ancestor or ancestor in self._above.get(cls, ())

    def affordances(self, cls: str) -> frozenset[str]:
        """Return the affordances of all instances of a class: `Pickupable`, `Openable`, …"""
        affording = self._below.get(_AFFORDING, frozenset())
        return (self.superclasses(cls, reflexive=True) & affording) - set(self.object_types)

    def sometimes(self, cls: str) -> frozenset[str]:
        """Return the affordances that only some instances of a class have."""
        found = self._sometimes.get(cls)
        if found is None:
            above = self.superclasses(cls, reflexive=True)
            found = frozenset(str(a) for c in above for a in self.annotation(c, "sometimes"))
            self._sometimes[cls] = found
        return found

    # --- labels ---

    def label(self, name: str) -> str:
        """Return the label of a class, property or individual, or its local name if it has none."""
        labels = self._objects(k(name), LABEL)
        return short(labels[0]) if labels else name.removeprefix("k:")

    def labels(self, name: str) -> tuple[str, ...]:
        node = k(name)
        nodes = (*self._objects(node, LABEL), *self._objects(node, ALT_LABEL))
        return tuple(short(n) for n in nodes)

    # --- annotations ---

    def annotation(self, name: str, prop: str) -> tuple[Value, ...]:
        """Return a term's asserted values for a property, which may be an IRI outside `k:`."""
        found = self._annotations.get((name, prop))
        if found is None:
            found = tuple(value_terms(o) for o in self._objects(k(name), _property(prop)))
            self._annotations[name, prop] = found
        return found

    def subjects(self, prop: str) -> tuple[str, ...]:
        """Return the sorted names of all terms that have a property."""
        return tuple(sorted(_local(s) for s in self._by_property[_property(prop)] if _is_named(s)))

    def pairs(self, prop: str) -> tuple[tuple[str, str], ...]:
        """Return (term, value) pairs for all asserted values of a property."""
        return tuple(
            (_local(s), str(value_terms(o)))
            for s, objects in self._by_property[_property(prop)].items()
            if _is_named(s)
            for o in objects
        )

    def instances(self, cls: str) -> tuple[str, ...]:
        """Return the sorted individuals of a class, such as `water` for `Liquid`; () if unknown."""
        if not self.has_class(cls):
            return ()
        wanted = {k(c) for c in self.subclasses(cls, reflexive=True)}
        kinds = self._by_property[RDF_TYPE]
        return tuple(sorted(_local(s) for s in kinds if not wanted.isdisjoint(kinds[s])))

    def preferences(self, context: str) -> list[str]:
        """Return the sorted individuals of `k:Preference` whose only `k:context` is `context`."""
        return [
            name
            for name in self.instances("Preference")
            if self.annotation(name, "context") == (context,)
        ]

    def predicates(self, term: str) -> tuple[str, ...]:
        return tuple(str(v) for v in self.annotation(term, "pddlPredicate"))

    def domain_of(self, prop: str) -> str | None:
        domain = self._objects(k(prop), _DOMAIN)
        return _local(domain[0]) if domain else None

    def range_of(self, prop: str) -> str | None:
        ends = self._objects(k(prop), _RANGE)
        return _local(ends[0]) if ends else None

    def pddl_type(self, cls: str) -> str | None:
        types = self.annotation(cls, "pddlType")
        return str(types[0]) if types else None

    def class_of_pddl_type(self, name: str) -> str | None:
        """Return the class that corresponds to a PDDL type, or None."""
        return self._one_by("pddlType").get(name)

    def class_of_thor_type(self, name: str) -> str | None:
        """Return the class that corresponds to an AI2-THOR object type, or None."""
        return self._one_by("thorType").get(name)

    @cached_property
    def object_types(self) -> tuple[str, ...]:
        """The classes that have direct instances: simulated object types or lowest PDDL types."""
        simulated = self._one_by("thorType")
        if simulated:
            return tuple(sorted(simulated.values()))
        typed = set(self._one_by("pddlType").values())
        return tuple(sorted(c for c in typed if typed.isdisjoint(self._below.get(c, ()))))

    def related(self, prop: str, cls: str) -> frozenset[str]:
        """Return the object types related to a class, including inherited relations.

        For example, `related("placeableIn", "Mug")` returns the places for mugs.
        """
        found = self._related.get((prop, cls))
        if found is None:
            above = self.superclasses(cls, reflexive=True)
            direct = {str(o) for c in above for o in self.annotation(c, prop)}
            types = set(self.object_types)
            found = frozenset(t for d in direct for t in self.subclasses(d, reflexive=True) & types)
            self._related[prop, cls] = found
        return found

    # --- queries ---

    @cached_property
    def closure(self) -> frozenset[Triple]:
        """The axioms and what they entail, without labels and other wording."""
        facts = (axiom for axiom in self.axioms if axiom[1] not in _WORDING)
        return frozenset(self.rules.entail(facts) | self.rules.axioms())

    @cached_property
    def quads(self) -> tuple[Quad, ...]:
        return tuple(Quad(*t) for t in self.closure)  # type: ignore[arg-type]

    @cached_property
    def store(self) -> Store:
        store = Store()
        store.bulk_extend(self.quads)
        return store

    def query(self, sparql: str) -> QueryResult:
        """Run a SPARQL query on the closure, with the predefined prefixes."""
        return run_query(self.store, sparql)

    # --- internals ---

    def _objects(self, subject: Node, prop: Node) -> list[Node]:
        return self._by_property[prop].get(subject, [])

    def _known(self, cls: str) -> str:
        name = cls.removeprefix("k:")
        if name not in self._above:
            raise UnknownObjectError(f"the ontology has no class {name!r}")
        return name

    def _one_by(self, prop: str) -> dict[str, str]:
        found = self._one_by_property.get(prop)
        if found is None:
            found = {str(v): s for s in self.subjects(prop) for v in self.annotation(s, prop)}
            self._one_by_property[prop] = found
        return found


def load_ontology(folder: Path | None = None) -> Ontology:
    """Read all Turtle files in a folder, or hvr's own ontology (cached) if the folder is None.

    Raises:
        DataFileError: A file is unreadable or not valid Turtle; the message gives file and line.
    """
    return _own_ontology() if folder is None else ontology_of(_in_folder(folder))


def ontology_of(files: Iterable[Path]) -> Ontology:
    """Read an ontology from Turtle files; see `load_ontology` for the errors."""
    found = [path.resolve() for path in files]
    stamps = [path.stat() if path.is_file() else None for path in found]
    return _read_once(tuple(found), tuple(s and (s.st_mtime_ns, s.st_size) for s in stamps))


@cache
def _own_ontology() -> Ontology:
    return load_ontology(data_path("ontology"))


@lru_cache(maxsize=16)
def _read_once(files: tuple[Path, ...], stamps: tuple[tuple[int, int] | None, ...]) -> Ontology:
    del stamps  # only a cache key: a changed file is read again
    return Ontology(triple for path in files for triple in _read_file(path))


def _in_folder(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.ttl"))
    if not files:
        raise DataFileError(f"{folder}: no ontology (*.ttl) found")
    return files


def _read_file(path: Path) -> Iterator[Triple]:
    text = read_text(path)
    try:
        for quad in parse(text, format=RdfFormat.TURTLE, rename_blank_nodes=True):
            yield quad.subject, quad.predicate, quad.object
    except SyntaxError as error:
        raise DataFileError(f"{path}:{error.lineno}: not valid Turtle ({error.msg})") from error


def _is_named(node: Node) -> bool:
    return isinstance(node, NamedNode)


def _local(node: Node) -> str:
    assert isinstance(node, NamedNode)
    return node.value.removeprefix(KITCHEN)


def _property(name: str) -> NamedNode:
    return NamedNode(name) if "://" in name else k(name)


# Roles --------------------------------------------------------------------------------------------
# The roles of an ontology's classes, states and relations for the reader of requests: `k:role`.
#
# Grammar and goals never name a class or predicate of a world. They look up a role, such as
# "portable", which the ontology assigns to classes, properties or individuals. If a world lacks a
# role, the part of the grammar that needs the role does not apply there.

# Classes.
THING, AFFORDANCE, AGENT, LIQUID = "thing", "affordance", "agent", "liquid"
PORTABLE, PLACE, SURFACE, CONTAINER = "portable", "place", "surface", "container"
CARRIER = "carrier"
"""Can be carried with objects on or in it."""
SLOT = "slot"
"""A place that takes one thing at a time."""
WORKTOP, STORAGE = "worktop", "storage"
GROUND = "ground"
"""A place used only if the request names it."""
VESSEL, BOTTOMLESS = "vessel", "bottomless"
BASIN = "basin"
"""A place where vessels are filled and emptied."""
DRAIN = "drain"
"""Liquids can be poured away into it."""
SOURCE = "source"
"""Fills vessels but is never the filling: 'fill the cup with the faucet'."""
INSTRUMENT = "instrument"
"""A hand tool that changes other things."""
APPARATUS = "apparatus"
"""Changes the objects placed in or on it, and is not a place to keep them."""
TOOL = "tool"
"""After 'with' it names the means, not the contents."""
HELPER = "helper"
"""May be named as a means without changing the goal."""
BESIDE = "beside"
"""Served beside its companion."""
SERVED = "served"
"""Served on a dish."""
BIN, SLICE = "bin", "slice"
FURNITURE = "furniture"
"""Cannot be moved."""
LONG = "long"
"""Too long to be reached completely from one position."""
CUP = "cup"
"""A vessel to drink from."""
FILLER = "filler"
"""Fills the vessel placed at it while it is on."""
CUTTABLE, CRACKABLE = "cuttable", "breakable open"
"""Divided, with or without an instrument."""

# States and relations.
PRESENT, OPEN, RUNNING = "present", "open", "running"
REACH = "within reach"
FILLED, CONTAINS = "filled", "contains"
PIECE_OF, FITS = "piece of", "fits"
DIVIDED = "divided"
"""Cutting replaces the thing by its pieces."""
SLICED = "sliced"
"""Like `DIVIDED`, but its pieces are called slices."""
SWITCHES = "switches"
"""Relates a control to the device it switches."""
RUNS_INTO = "runs into"
"""Relates the source of a liquid to its basin."""
TREATS = "treats"
"""Relates an appliance to the things it changes permanently."""
ADJOINS = "adjoins"
"""Relates things that stand side by side."""
DEED = "deed"
"""Records what has been done since the robot began the current stage of a request."""
SOILED = "soiled"
SITUATION = "situation"
"""States that make one object of a kind preferable to another."""

ROLES = frozenset(
    {
        THING,
        AFFORDANCE,
        AGENT,
        LIQUID,
        PORTABLE,
        PLACE,
        SURFACE,
        CONTAINER,
        CARRIER,
        SLOT,
        WORKTOP,
        STORAGE,
        GROUND,
        VESSEL,
        BOTTOMLESS,
        BASIN,
        DRAIN,
        SOURCE,
        INSTRUMENT,
        APPARATUS,
        TOOL,
        HELPER,
        BESIDE,
        SERVED,
        BIN,
        SLICE,
        FURNITURE,
        LONG,
        CUP,
        FILLER,
        CUTTABLE,
        CRACKABLE,
        PRESENT,
        OPEN,
        RUNNING,
        REACH,
        FILLED,
        CONTAINS,
        PIECE_OF,
        FITS,
        DIVIDED,
        SLICED,
        SWITCHES,
        RUNS_INTO,
        TREATS,
        ADJOINS,
        DEED,
        SOILED,
        SITUATION,
    }
)
"""All roles; docs/reference/language.md describes them."""


class Roles:
    """The terms of an ontology by their roles (`k:role`)."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        found: dict[str, list[str]] = defaultdict(list)
        for name, role in ontology.pairs("role"):
            found[role].append(name)
        self._players = {role: tuple(names) for role, names in found.items()}
        self._extents: dict[str, frozenset[str]] = {
            role: frozenset(
                c
                for name in names
                if ontology.has_class(name)
                for c in ontology.subclasses(name, reflexive=True)
            )
            for role, names in found.items()
        }

    def players(self, role: str) -> tuple[str, ...]:
        """Return the classes, properties or individuals with a role, in the ontology's order."""
        return self._players.get(role, ())

    def plays(self, object_class: str, *roles: str) -> bool:
        """Return whether a class or one of its superclasses has one of the roles."""
        return any(object_class in self._extents.get(role, ()) for role in roles)

    def class_of(self, role: str) -> str | None:
        """Return the first term with a role, normally a class, or None."""
        return next(iter(self.players(role)), None)

    def predicates(self, role: str) -> tuple[str, ...]:
        return tuple(
            str(name)
            for player in self.players(role)
            for name in self._ontology.annotation(player, "pddlPredicate")
        )

    def predicate(self, role: str) -> str | None:
        """Return the first PDDL predicate with a role, or None."""
        return next(iter(self.predicates(role)), None)

    def bearer(self, role: str) -> str | None:
        """Return the class of objects that can have the property with a role, or None."""
        player = self.class_of(role)
        return self._ontology.domain_of(player) if player else None

    def names(self, role: str) -> frozenset[str]:
        """Return the PDDL constants with a role, such as liquids."""
        return frozenset(
            str(name)
            for player in self.players(role)
            for name in self._ontology.annotation(player, "pddlName")
        )

    def pddl_type(self, role: str) -> str | None:
        """Return the PDDL type of the class with a role, or None."""
        player = self.class_of(role)
        return self._ontology.pddl_type(player) if player else None

    @property
    def thing_type(self) -> str:
        """The PDDL type of all physical objects, or `object` if the ontology has none."""
        return self.pddl_type(THING) or "object"


@lru_cache(maxsize=8)
def roles_of(ontology: Ontology) -> Roles:
    return Roles(ontology)

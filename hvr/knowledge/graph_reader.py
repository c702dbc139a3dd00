"""Reads a graph: PDDL atoms, by the ontology's annotations, and descriptions of objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pyoxigraph import DefaultGraph, NamedNode, Store
from pyoxigraph import Literal as RdfLiteral

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.query import run_query
from hvr.knowledge.terms import RDF, RDF_TYPE, TRUE, Node, k, obj, short, value
from hvr.knowledge.terms import Value as TermValue
from hvr.pddl.formulas import Atom
from hvr.values import Value

# Mapping ------------------------------------------------------------------------------------------

Kind = Literal["class", "flag", "relation", "value", "classes"]

_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "subject object": ("subject", "object"),
    "subject": ("subject",),
    "object": ("object",),
    "none": (),
}


class PredicateRule(Value):
    """The mapping from RDF to a PDDL predicate.

    Args:
        kind: `class`: true of the instances of a class; `flag`: true where a boolean property
            is true; `relation`: true of the ends of an object property; `value`: true of
            subjects with an individual as value of a property; `classes`: true of the
            instances of classes that an annotation property relates.
        term: Local name of the class, property or individual.
        arguments: The ends of the relation that become arguments: `subject`, `object` or both.
        prop: The property, if the kind is `value`.
    """

    predicate: str
    kind: Kind
    term: str
    arguments: tuple[str, ...]
    prop: str = ""


@lru_cache(maxsize=8)
def predicate_rules(ontology: Ontology) -> Mapping[str, PredicateRule]:
    """Return the rule of every PDDL predicate in the ontology.

    Raises:
        DataFileError: The annotations of a predicate are incomplete or contradictory.
    """
    rules: dict[str, PredicateRule] = {}
    for term in ontology.subjects("pddlPredicate"):
        for predicate in ontology.annotation(term, "pddlPredicate"):
            rule = _rule(ontology, term, str(predicate))
            other = rules.setdefault(rule.predicate, rule)
            if other is not rule:
                raise DataFileError(
                    f"ontology: both k:{other.term} and k:{term} map to the predicate "
                    f"{predicate!r}; keep one k:pddlPredicate"
                )
    return rules


def _rule(ontology: Ontology, term: str, predicate: str) -> PredicateRule:
    kinds = {str(v) for v in ontology.annotation(term, RDF + "type")}
    if "owl:Class" in kinds:
        return PredicateRule(predicate, "class", term, ("subject",))
    value_of = ontology.annotation(term, "valueOf")
    if value_of:
        return PredicateRule(predicate, "value", term, ("subject",), str(value_of[0]))
    written = " ".join(str(v) for v in ontology.annotation(term, "pddlArguments"))
    if written not in _ARGUMENTS:
        raise DataFileError(
            f"ontology: k:{term} maps to the predicate {predicate!r} and needs a "
            f"k:pddlArguments, one of {', '.join(map(repr, _ARGUMENTS))}"
        )
    kind: Kind = "relation"
    if "owl:AnnotationProperty" in kinds:
        kind = "classes"
    elif "owl:DatatypeProperty" in kinds:
        kind = "flag"
    return PredicateRule(predicate, kind, term, _ARGUMENTS[written])


# Facts --------------------------------------------------------------------------------------------


class FactReader:
    """Reads PDDL atoms from a store."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._by_term: dict[Node, list[PredicateRule]] = defaultdict(list)
        self._between_classes: list[PredicateRule] = []
        for rule in predicate_rules(ontology).values():
            if rule.kind == "classes":
                self._between_classes.append(rule)
            else:
                self._by_term[k(rule.term)].append(rule)
        self._constants: dict[Node, str] = {
            k(n): str(ontology.annotation(n, "pddlName")[0]) for n in ontology.subjects("pddlName")
        }

    def read(self, store: Store, objects: Mapping[str, str]) -> frozenset[Atom]:
        atoms: set[Atom] = set()
        for name in objects:
            self._read_node(store, obj(name), name, objects, atoms)
        for quad in store.quads_for_pattern(None, RDF_TYPE, k("Agent"), DefaultGraph()):
            assert isinstance(quad.subject, NamedNode)
            self._read_node(store, quad.subject, None, objects, atoms)
        self._read_classes(objects, atoms)
        return frozenset(atoms)

    def _read_node(
        self,
        store: Store,
        node: NamedNode,
        name: str | None,
        objects: Collection[str],
        atoms: set[Atom],
    ) -> None:
        """Add the atoms about one subject; the robot has no `name` and is never an argument."""
        for quad in store.quads_for_pattern(node, None, None, DefaultGraph()):
            p, o = quad.predicate, quad.object
            for rule in self._by_term.get(o, ()):
                # either the subject's class or the value of one of its properties
                applies = p == RDF_TYPE if rule.kind == "class" else rule.prop == short(p)
                if applies and name is not None:
                    atoms.add(Atom(rule.predicate, (name,)))
            for rule in self._by_term.get(p, ()):
                if rule.kind == "flag" and o != TRUE:
                    continue
                other = short(o)
                ends = {
                    "subject": name,
                    "object": other if other in objects else self._constants.get(o),
                }
                args = [ends[a] for a in rule.arguments]
                known = tuple(a for a in args if a is not None)
                if len(known) == len(args):
                    atoms.add(Atom(rule.predicate, known))

    def _read_classes(self, objects: Mapping[str, str], atoms: set[Atom]) -> None:
        members: dict[str, list[str]] = defaultdict(list)
        for name, cls in objects.items():
            members[cls].append(name)
        for rule in self._between_classes:
            for cls, subjects in members.items():
                for other in self._ontology.related(rule.term, cls) & members.keys():
                    atoms.update(
                        Atom(rule.predicate, (a, b))
                        for a in subjects
                        for b in members[other]
                        if a != b
                    )


# Description --------------------------------------------------------------------------------------

_HIDDEN = frozenset({"name", "thorId", "inScene", "historyMark", "within", "locatedIn"})


@dataclass(frozen=True)
class Description:
    """Everything known about an object.

    Args:
        labels: Names of the class `type` in the ontology.
        kinds: Superclasses of `type` that are not affordances.
        thor_id: AI2-THOR's objectId; empty for pieces that do not exist yet.
        state: Properties with plain values, including history marks.
        relations: Outgoing relations as (property, object).
        inverse: Incoming relations as (subject, property).
        events: Executed steps that have the object as an argument, as (event, action, step,
            outcome).
    """

    name: str
    type: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    affordances: tuple[str, ...]
    thor_id: str
    state: dict[str, TermValue]
    relations: tuple[tuple[str, str], ...]
    inverse: tuple[tuple[str, str], ...]
    events: tuple[tuple[TermValue, ...], ...]


def describe(store: Store, ontology: Ontology, name: str, cls: str) -> Description:
    """Return the description of an object of the class `cls` in a store."""
    node = obj(name)
    default = DefaultGraph()
    types: set[str] = set()
    state: dict[str, TermValue] = {}
    relations: list[tuple[str, str]] = []
    thor_id = ""
    for quad in store.quads_for_pattern(node, None, None, default):
        prop, o = short(quad.predicate), quad.object
        if quad.predicate == RDF_TYPE:
            types.add(short(o))
        elif prop == "thorId":
            thor_id = short(o)
        elif prop in _HIDDEN:
            continue
        elif isinstance(o, RdfLiteral) or prop == "temperature":
            state[prop] = value(o)
        else:
            relations.append((prop, short(o)))
    inverse = [
        (short(q.subject), short(q.predicate))
        for q in store.quads_for_pattern(None, None, node, default)
        if short(q.predicate) not in _HIDDEN and not short(q.predicate).startswith("argument")
    ]
    affordances = {t for t in types if ontology.is_a(t, "AffordingObject")} - {cls}
    return Description(
        name=name,
        type=cls,
        labels=ontology.labels(cls),
        kinds=tuple(sorted(types - affordances - {cls})),
        affordances=tuple(sorted(affordances - {"AffordingObject"})),
        thor_id=thor_id,
        state=dict(sorted(state.items())),
        relations=tuple(sorted(relations)),
        inverse=tuple(sorted(inverse)),
        events=_events(store, node),
    )


def _events(store: Store, node: NamedNode) -> tuple[tuple[TermValue, ...], ...]:
    return run_query(
        store,
        f"""SELECT ?event ?action ?step ?outcome WHERE {{
              ?event k:argument {node} ; k:step ?step ; k:sequence ?n ; k:outcome ?outcome ;
                     a ?class .
              ?class k:pddlAction ?action
            }} ORDER BY ?n""",
    ).rows

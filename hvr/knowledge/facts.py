"""From triples to PDDL atoms, by the annotations of the ontology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from pyoxigraph import DefaultGraph, NamedNode, Store

from hvr.knowledge.mapping import PredicateRule, predicate_rules
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.terms import RDF_TYPE, TRUE, Node, k, obj, short
from hvr.pddl.model import Atom


class FactReader:
    """Reads PDDL atoms from a store.

    Args:
        ontology: ties classes and properties to predicates.

    Raises:
        DataFileError: the annotations of a predicate are incomplete or contradict others.
    """

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
        """Return all true atoms over some objects.

        Args:
            store: the graph.
            objects: the object type of each.
        """
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
        """Add the atoms of one subject; `name` is None for an agent, which is no argument."""
        for quad in store.quads_for_pattern(node, None, None, DefaultGraph()):
            p, o = quad.predicate, quad.object
            for rule in self._by_term.get(o, ()):
                # A class that it belongs to, or a value that it has.
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

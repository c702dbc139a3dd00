"""What follows from triples: the part of OWL 2 RL that the ontology uses.

Sub-classes and sub-properties, equivalents, domains and ranges, inverse, symmetric and
transitive properties. A general OWL RL reasoner is used to check this one (see
`hvr.knowledge.owl`); it is not used to answer, since it brings rdflib with it, which takes
longer to import than everything else takes to load.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode

from hvr.knowledge.terms import OWL, RDF_TYPE, RDFS, Node, Triple

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


class Rules:
    """The rules that the axioms of an ontology make.

    Args:
        axioms: the triples of the ontology.
    """

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
        """All strict superclasses of every class that has any."""
        self.superproperties = _ancestors(properties)
        """All strict superproperties of every property that has any."""

    def axioms(self) -> set[Triple]:
        """Return the sub-class and sub-property axioms that follow, asserted ones included."""
        return {(c, SUB_CLASS, a) for c, above in self.superclasses.items() for a in above} | {
            (c, SUB_PROPERTY, a) for c, above in self.superproperties.items() for a in above
        }

    def entail(self, triples: Iterable[Triple]) -> set[Triple]:
        """Return the triples and all that follows from them by these rules."""
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

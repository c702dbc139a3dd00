"""Comparison of the ontology's entailments with a general OWL 2 RL reasoner."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import NamedNode

from hvr.knowledge.ontology import SUB_CLASS, SUB_PROPERTY
from hvr.knowledge.owl import n_triples
from hvr.knowledge.terms import KITCHEN, OBJECT, RDF_TYPE, Triple, short


def missing_entailments(triples: Iterable[Triple], known: Iterable[Triple]) -> list[Triple]:
    """Return the triples about hvr's names that only an OWL 2 RL reasoner derives.

    The comparison covers types, subclasses, subproperties and relations between objects.
    """
    import rdflib
    from reasonable import PyReasoner

    graph = rdflib.Graph()
    graph.parse(data=n_triples(triples), format="nt")
    reasoner = PyReasoner()
    reasoner.from_graph(graph)
    ours = {_key(t) for t in known}
    missing: list[Triple] = []
    for s, p, o in reasoner.reason():
        names = [str(n) for n in (s, p, o)]
        if isinstance(s, rdflib.BNode) or isinstance(o, rdflib.BNode | rdflib.Literal):
            continue
        wanted = names[1] in _COMPARED or names[1].startswith(KITCHEN)
        own = names[0].startswith((KITCHEN, OBJECT)) and names[2].startswith((KITCHEN, OBJECT))
        if wanted and own and names[0] != names[2] and tuple(names) not in ours:
            missing.append((NamedNode(names[0]), NamedNode(names[1]), NamedNode(names[2])))
    return sorted(missing, key=lambda t: tuple(map(short, t)))


_COMPARED = frozenset(n.value for n in (RDF_TYPE, SUB_CLASS, SUB_PROPERTY))


def _key(triple: Triple) -> tuple[str, str, str]:
    s, p, o = (n.value if isinstance(n, NamedNode) else str(n) for n in triple)
    return s, p, o

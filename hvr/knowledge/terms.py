"""RDF terms: namespaces, nodes and their short text forms."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode
from pyoxigraph import Triple as RdfTriple

KITCHEN = "https://w3id.org/hvr/kitchen#"
OBJECT = "https://w3id.org/hvr/object/"
"""Objects of a scene and the robot; prefix `o:`."""
EVENT = "https://w3id.org/hvr/event/"
"""Executed steps; prefix `e:`."""
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"

PREFIXES = {
    "k": KITCHEN,
    "o": OBJECT,
    "e": EVENT,
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "skos": SKOS,
    "xsd": XSD,
}
"""Prefixes available in every query and export."""

Node: TypeAlias = NamedNode | BlankNode | Literal | RdfTriple
Triple: TypeAlias = tuple[Node, Node, Node]
Value: TypeAlias = str | bool | int | float | None
"""A term as a plain value: the short name of a node, or the value of a literal."""

RDF_TYPE = NamedNode(RDF + "type")
LABEL = NamedNode(RDFS + "label")
ALT_LABEL = NamedNode(SKOS + "altLabel")
HIDDEN_LABEL = NamedNode(SKOS + "hiddenLabel")
TRUE = Literal(True)
FALSE = Literal(False)

_DATE_TIME = NamedNode(XSD + "dateTime")
_INTEGERS = frozenset(
    XSD + t for t in ("integer", "int", "long", "short", "byte", "nonNegativeInteger")
)
_FLOATS = frozenset(XSD + t for t in ("double", "float", "decimal"))


@lru_cache(maxsize=4096)
def k(name: str) -> NamedNode:
    """Return the node of an ontology term such as `Mug` or `isOpen`."""
    return NamedNode(KITCHEN + name.removeprefix("k:"))


@lru_cache(maxsize=16384)
def obj(name: str) -> NamedNode:
    """Return the node of an object such as `mug-1`."""
    return NamedNode(OBJECT + name)


def date_time(text: str) -> Literal:
    """Return an ISO 8601 time as a literal."""
    return Literal(text, datatype=_DATE_TIME)


def short(node: Node) -> str:
    """Return the text form of a node.

    Objects become `mug-1`, ontology terms their local name (`Mug`), events `e:3`, other IRIs a
    prefixed or full IRI, and literals their text.
    """
    if isinstance(node, NamedNode):
        iri = node.value
        if iri.startswith(KITCHEN):
            return iri[len(KITCHEN) :]
        if iri.startswith(OBJECT):
            return iri[len(OBJECT) :]
        for prefix, start in PREFIXES.items():
            if iri.startswith(start):
                return f"{prefix}:{iri[len(start) :]}"
        return iri
    if isinstance(node, Literal | BlankNode):
        return node.value
    return str(node)


def value(node: Node | None) -> Value:
    """Return a term as a boolean or number if possible, otherwise as a string; None for None.

    NaN and infinite numbers become strings, because JSON cannot represent them.
    """
    if node is None:
        return None
    if isinstance(node, Literal):
        kind = node.datatype.value
        if kind == XSD + "boolean":
            return node.value in ("true", "1")
        try:
            if kind in _INTEGERS:
                return int(node.value)
            if kind in _FLOATS and isfinite(number := float(node.value)):
                return number
        except ValueError:  # "abc"^^xsd:integer is legal RDF
            return node.value
    return short(node)

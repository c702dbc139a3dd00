"""Everything that a graph knows of one object, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyoxigraph import DefaultGraph, Literal, NamedNode, Store

from hvr.knowledge.ontology import Ontology
from hvr.knowledge.query import run_query
from hvr.knowledge.terms import RDF_TYPE, Value, obj, short, value

_HIDDEN = frozenset({"name", "thorId", "inScene", "historyMark", "within", "locatedIn"})


@dataclass(frozen=True)
class Description:
    """What is known of an object.

    Args:
        name: its name.
        type: its class, AI2-THOR's type.
        labels: what people call it.
        kinds: the other classes it belongs to, in order.
        affordances: what it is good for, in order.
        thor_id: AI2-THOR's objectId; empty for pieces not made yet.
        state: its own properties with plain values, history marks included.
        relations: (property, other) for what it stands in relation to.
        inverse: (other, property) for what stands in relation to it.
        events: (event, action, step, outcome) of the executed steps that had it as argument.
    """

    name: str
    type: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    affordances: tuple[str, ...]
    thor_id: str
    state: dict[str, Value]
    relations: tuple[tuple[str, str], ...]
    inverse: tuple[tuple[str, str], ...]
    events: tuple[tuple[Value, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON values."""
        return {
            "name": self.name,
            "type": self.type,
            "labels": list(self.labels),
            "kinds": list(self.kinds),
            "affordances": list(self.affordances),
            "thor_id": self.thor_id,
            "state": dict(self.state),
            "relations": [list(r) for r in self.relations],
            "inverse": [list(r) for r in self.inverse],
            "events": [list(e) for e in self.events],
        }


def describe(store: Store, ontology: Ontology, name: str, cls: str) -> Description:
    """Collect what a store knows of an object.

    Args:
        store: the graph.
        ontology: its ontology.
        name: the object.
        cls: its class.
    """
    node = obj(name)
    default = DefaultGraph()
    types: set[str] = set()
    state: dict[str, Value] = {}
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
        elif isinstance(o, Literal) or prop == "temperature":
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


def _events(store: Store, node: NamedNode) -> tuple[tuple[Value, ...], ...]:
    return run_query(
        store,
        f"""SELECT ?event ?action ?step ?outcome WHERE {{
              ?event k:argument {node} ; k:step ?step ; k:sequence ?n ; k:outcome ?outcome ;
                     a ?class .
              ?class k:pddlAction ?action
            }} ORDER BY ?n""",
    ).rows

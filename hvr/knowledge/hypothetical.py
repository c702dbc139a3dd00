"""Graphs of hypothetical states: copies of a graph in which atoms define the state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from pyoxigraph import DefaultGraph, Quad, Store

from hvr.errors import UnknownObjectError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.graph_reader import PredicateRule, predicate_rules
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.terms import FALSE, RDF_TYPE, TRUE, Node, Triple, k, obj
from hvr.knowledge.triples import ROBOT
from hvr.pddl.formulas import Atom

_DEFAULT = DefaultGraph()


def hypothetical_copy(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Return an in-memory copy of a graph, for queries about states set by `assume_atoms`.

    The copy has the objects, their state and the events, but not the graphs of event changes.
    `KnowledgeGraph.update` does not support it.
    """
    store = Store()
    store.extend(graph.store.quads_for_pattern(None, None, None, _DEFAULT))
    return KnowledgeGraph(store, graph.ontology)


def assume_atoms(graph: KnowledgeGraph, atoms: Collection[Atom], fluents: Collection[str]) -> None:
    """Set the state of a graph: the given atoms are true, all other fluents false.

    Derived triples (`k:locatedIn`, `k:within`, the neutral temperature) are kept consistent. Only
    differences from the current state are written, so later calls are cheaper than the first.

    Args:
        atoms: The state; atoms whose predicate is not in `fluents` are ignored.
        fluents: Names of the predicates that change.

    Raises:
        UnknownObjectError: An atom names an unknown object.
        UsageError: A fluent is unknown to the ontology, or holds for whole classes, so that it
            cannot change.
    """
    state = _State(graph, atoms, fluents)
    before, after = state.before(), state.after()
    for triple in before - after:
        graph.store.remove(Quad(*triple, _DEFAULT))  # type: ignore[arg-type]
    graph.store.extend(Quad(*t) for t in after - before)  # type: ignore[arg-type]


class _State:
    """The triples of the fluents that are present, and the triples that the atoms require."""

    def __init__(
        self, graph: KnowledgeGraph, atoms: Collection[Atom], fluents: Collection[str]
    ) -> None:
        self._graph = graph
        self._ontology = graph.ontology
        self._rules = [_rule(graph.ontology, f) for f in sorted(set(fluents))]
        self._atoms: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for atom in atoms:
            self._atoms[atom.predicate].append(atom.args)
        self._names = dict.fromkeys(graph.objects())
        self._constants = _constants(graph.ontology)
        above = graph.ontology.rules.superproperties
        self._direct = {k(r.prop or r.term) for r in self._rules}
        self._derived = {a for p in self._direct for a in above.get(p, ())}
        self._siblings = (
            {p for p, more in above.items() if self._derived & more} - self._direct - self._derived
        )

    def before(self) -> set[Triple]:
        return self._stored(self._direct | self._derived)

    def after(self) -> set[Triple]:
        direct = set(self._asserted())
        above = self._ontology.rules.superproperties
        # Flags have no superproperty and imply only classes, which do not change.
        plain = {t for t in direct if t[1] not in above}
        more = self._ontology.rules.entail((direct - plain) | self._stored(self._siblings))
        kept = self._direct | self._derived
        return plain | {t for t in more if t[1] in kept}

    def _asserted(self) -> Iterator[Triple]:
        valued: dict[str, list[PredicateRule]] = defaultdict(list)
        for rule in self._rules:
            if rule.kind == "flag":
                yield from self._flag(rule)
            elif rule.kind == "value":
                valued[rule.prop].append(rule)
            else:
                for args in self._atoms[rule.predicate]:
                    ends = dict(zip(rule.arguments, args, strict=True))
                    subject = self._node(ends["subject"]) if "subject" in ends else ROBOT
                    yield subject, k(rule.term), self._node(ends["object"])
        for prop, rules in valued.items():
            yield from self._values(prop, rules)

    def _flag(self, rule: PredicateRule) -> Iterator[Triple]:
        prop = k(rule.term)
        true: set[Node] = {
            self._node(args[0]) if args else ROBOT for args in self._atoms[rule.predicate]
        }
        yield from ((s, prop, TRUE) for s in true)
        if rule.term in _marks(self._ontology):
            return
        known = {s for s, _, _ in self._stored([prop])}
        if not rule.arguments:
            known = {ROBOT}
        elif "present" in self._atoms:  # newly created pieces get a state
            kind = k(self._ontology.domain_of(rule.term) or "PhysicalObject")
            made = (obj(args[0]) for args in self._atoms["present"])
            known |= {s for s in made if self._is_a(s, kind)}
        yield from ((s, prop, FALSE) for s in known - true)

    def _values(self, prop: str, rules: list[PredicateRule]) -> Iterator[Triple]:
        chosen: dict[Node, set[Node]] = defaultdict(set)
        for rule in rules:
            for (name,) in self._atoms[rule.predicate]:
                chosen[self._node(name)].add(k(rule.term))
        ruled = {k(r.term) for r in rules}
        neutral = _neutral(self._ontology, prop)
        for s, _, value in self._stored([k(prop)]):
            if s not in chosen:
                chosen[s].add(k(neutral) if value in ruled and neutral else value)
        for (name,) in self._atoms.get("present", ()):
            if neutral and obj(name) not in chosen:
                chosen[obj(name)].add(k(neutral))
        yield from ((s, k(prop), v) for s, values in chosen.items() for v in values)

    def _node(self, name: str) -> Node:
        if name in self._names:
            return obj(name)
        if name in self._constants:
            return self._constants[name]
        raise UnknownObjectError(f"the graph has no object {name!r}")

    def _is_a(self, node: Node, kind: Node) -> bool:
        return Quad(node, RDF_TYPE, kind, _DEFAULT) in self._graph.store  # type: ignore[arg-type]

    def _stored(self, properties: Iterable[Node]) -> set[Triple]:
        return {
            (q.subject, q.predicate, q.object)
            for p in properties
            for q in self._graph.store.quads_for_pattern(None, p, None, _DEFAULT)  # type: ignore[arg-type]
        }


def _rule(ontology: Ontology, predicate: str) -> PredicateRule:
    rule = predicate_rules(ontology).get(predicate)
    if rule is None:
        raise UsageError(f"the ontology has no term for the predicate {predicate!r}")
    if rule.kind in ("class", "classes"):
        raise UsageError(
            f"the predicate {predicate!r} holds for whole classes (k:{rule.term}) and "
            "cannot change; remove it from the fluents"
        )
    return rule


@lru_cache(maxsize=8)
def _constants(ontology: Ontology) -> dict[str, Node]:
    return {str(ontology.annotation(n, "pddlName")[0]): k(n) for n in ontology.subjects("pddlName")}


@lru_cache(maxsize=8)
def _marks(ontology: Ontology) -> frozenset[str]:
    above = ontology.rules.superproperties
    return frozenset(
        r.term
        for r in predicate_rules(ontology).values()
        if k("historyMark") in above.get(k(r.term), ())
    )


@lru_cache(maxsize=64)
def _neutral(ontology: Ontology, prop: str) -> str | None:
    with_predicate = {r.term for r in predicate_rules(ontology).values() if r.prop == prop}
    values = (v for v in ontology.subjects("valueOf") if prop in ontology.annotation(v, "valueOf"))
    return next((v for v in values if v not in with_predicate), None)

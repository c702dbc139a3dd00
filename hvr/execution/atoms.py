"""Changes of the graph as PDDL atoms, without reading the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hvr.knowledge.events import Change, Statement
from hvr.knowledge.mapping import PredicateRule, predicate_rules
from hvr.knowledge.ontology import Ontology
from hvr.pddl.model import Atom


class ChangeReader:
    """Turns statements into PDDL atoms, by the annotations of an ontology.

    Args:
        ontology: ties properties to predicates.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._rules: dict[str, PredicateRule] = {}
        self._values: dict[tuple[str, str], str] = {}
        for rule in predicate_rules(ontology).values():
            if rule.kind in ("flag", "relation"):
                self._rules[rule.term] = rule
            elif rule.kind == "value":
                self._values[rule.prop, rule.term] = rule.predicate
        self._constants: Mapping[str, str] = {
            n: str(ontology.annotation(n, "pddlName")[0]) for n in ontology.subjects("pddlName")
        }

    def atoms(self, change: Change) -> tuple[frozenset[Atom], frozenset[Atom]]:
        """Return the atoms that became true and those that became false."""
        return self._read(change.added), self._read(change.removed)

    def _read(self, statements: Iterable[Statement]) -> frozenset[Atom]:
        atoms = (self._atom(statement) for statement in statements)
        return frozenset(atom for atom in atoms if atom is not None)

    def _atom(self, statement: Statement) -> Atom | None:
        subject, prop, value = statement
        if (prop, str(value)) in self._values:
            return Atom(self._values[prop, str(value)], (subject,))
        rule = self._rules.get(prop)
        if rule is None or (rule.kind == "flag" and value is not True):
            return None
        ends = {"subject": subject, "object": self._constants.get(str(value), str(value))}
        return Atom(rule.predicate, tuple(ends[a] for a in rule.arguments))

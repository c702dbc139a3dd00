"""Executed steps and what they changed, as values and as triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad

from hvr.errors import StoreError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.scene import ROBOT
from hvr.knowledge.terms import EVENT, RDF_TYPE, Triple, date_time, k, obj, short, value
from hvr.values import Value

Statement: TypeAlias = tuple[str, str, str | bool]
"""Subject, property and value: `("mug-1", "on", "plate-2")`, `("mug-1", "isDirty", True)`."""


NO_ROOM = ("No valid positions to place object found", "is full right now", "is already full")
"""What AI2-THOR says when there is no room for something in or on a receptacle."""


class Change(Value):
    """What an observation changed in the graph.

    Args:
        added: statements that became true, in order.
        removed: statements that ceased to be true, in order.
    """

    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class FailureNote(Value):
    """Something that went otherwise than the domain says, as it is kept in the graph.

    Args:
        kind: what kind of failure, `dropped`.
        side: `pre` or `post`: which condition of the action was violated.
        literals: the PDDL literals that should have held.
        explanation: one sentence.
        objects: names of the objects that it is about.
    """

    kind: str
    side: str
    literals: tuple[str, ...] = ()
    explanation: str = ""
    objects: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the note as JSON values."""
        return {
            "kind": self.kind,
            "side": self.side,
            "literals": list(self.literals),
            "explanation": self.explanation,
            "objects": list(self.objects),
        }


class ActionEvent(Value):
    """An executed step.

    Args:
        step: number of the step in the plan.
        action: PDDL name of the action, `put_on`.
        args: names of its objects, in order.
        success: whether the environment reported success.
        error: what it said if not.
        time: when, ISO 8601; now if empty.
        change: what was seen to change.
        failures: what went otherwise than expected.
    """

    step: int
    action: str
    args: tuple[str, ...] = ()
    success: bool = True
    error: str = ""
    time: str = ""
    change: Change = Change()
    failures: tuple[FailureNote, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {
            "step": self.step,
            "action": self.action,
            "args": list(self.args),
            "success": self.success,
            "error": self.error,
            "time": self.time,
            "added": [list(s) for s in self.change.added],
            "removed": [list(s) for s in self.change.removed],
            "failures": [f.to_json() for f in self.failures],
        }


def statements(triples: Iterable[Triple]) -> tuple[Statement, ...]:
    """Return triples as statements, in order."""
    plain = []
    for s, p, o in triples:
        v = value(o)
        plain.append((short(s), short(p), v if isinstance(v, bool) else str(v)))
    return tuple(sorted(plain, key=lambda t: (t[0], t[1], str(t[2]))))


def event_quads(event: ActionEvent, sequence: int, ontology: Ontology) -> Iterator[Quad]:
    """Yield the triples that record an event, and its two graphs of changes.

    Args:
        event: what happened.
        sequence: its position among all events.
        ontology: has the class of the action.

    Raises:
        StoreError: the time is not ISO 8601, or the action is unknown.
    """
    node = NamedNode(f"{EVENT}{sequence}")
    cls = next(
        (
            c
            for c in ontology.subjects("pddlAction")
            if event.action in ontology.annotation(c, "pddlAction")
        ),
        None,
    )
    if cls is None:
        raise StoreError(f"the ontology has no class for the action {event.action!r}")
    try:
        moment = datetime.fromisoformat(event.time) if event.time else datetime.now(UTC)
    except ValueError as error:
        raise StoreError(f"event time {event.time!r} is not ISO 8601") from error
    facts: list[Triple] = [
        (node, RDF_TYPE, k(cls)),
        (node, k("sequence"), Literal(sequence)),
        (node, k("step"), Literal(event.step)),
        (node, k("time"), date_time(moment.isoformat())),
        (node, k("outcome"), k("success" if event.success else "failure")),
        (node, k("performedBy"), ROBOT),
    ]
    facts += [(node, k(f"argument{i}"), obj(a)) for i, a in enumerate(event.args, start=1)]
    if event.error:
        facts.append((node, k("error"), Literal(event.error)))
    for name, changed in (("added", event.change.added), ("removed", event.change.removed)):
        if changed:
            graph = NamedNode(f"{EVENT}{sequence}-{name}")
            facts.append((node, k(name), graph))
            for subject, prop, v in changed:
                yield Quad(obj(subject), k(prop), _node(v, prop), graph)
    nodes = {node}
    for number, failure in enumerate(event.failures, start=1):
        failed = NamedNode(f"{EVENT}{sequence}-failure-{number}")
        nodes.add(failed)
        facts += _failure_facts(failure, failed, event.step)
        facts.append((failed, k("failureOf"), node))
    for triple in ontology.rules.entail(facts):
        # Types of the arguments would follow from domain and range; they are there already.
        if triple[0] in nodes:
            yield Quad(*triple)  # type: ignore[arg-type]


def notice_quads(
    failures: Sequence[FailureNote], step: int, sequence: int, ontology: Ontology
) -> Iterator[Quad]:
    """Yield the triples that record failures of no executed step.

    Args:
        failures: what was noticed.
        step: number of the last step that was done.
        sequence: their position among all events.
        ontology: the class hierarchy.
    """
    facts: list[Triple] = []
    nodes: set[NamedNode] = set()
    for number, failure in enumerate(failures, start=1):
        node = NamedNode(f"{EVENT}{sequence}-failure-{number}")
        nodes.add(node)
        facts += [*_failure_facts(failure, node, step), (node, k("sequence"), Literal(sequence))]
    for triple in ontology.rules.entail(facts):
        if triple[0] in nodes:
            yield Quad(*triple)  # type: ignore[arg-type]


def _failure_facts(failure: FailureNote, node: NamedNode, step: int) -> list[Triple]:
    facts: list[Triple] = [
        (node, RDF_TYPE, k("Failure")),
        (node, k("step"), Literal(step)),
        (node, k("failureKind"), Literal(failure.kind)),
        (node, k("violatedSide"), Literal(failure.side)),
        (node, k("explanation"), Literal(failure.explanation)),
    ]
    facts += [(node, k("violated"), Literal(literal)) for literal in failure.literals]
    facts += [(node, k("about"), obj(name)) for name in failure.objects]
    return facts


def _node(v: str | bool, prop: str) -> NamedNode | Literal:
    if isinstance(v, bool):
        return Literal(v)
    return k(v) if prop in ("temperature", "containsLiquid") else obj(v)

"""A library as Turtle: individuals of `k:MacroAction`, and back."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, RdfFormat, parse, serialize
from pyoxigraph import Triple as RdfTriple

from hvr.errors import DataFileError
from hvr.knowledge.terms import KITCHEN, LABEL, PREFIXES, RDF_TYPE, k
from hvr.planning.library.entry import Entry, Origin, Parameter, Use, entry_from_json
from hvr.planning.library.library import Library

_START = KITCHEN + "macro-"
_ORIGIN = {
    "request": "request",
    "scene": "learntInScene",
    "model": "writtenBy",
    "date": "date",
    "version": "hvrVersion",
    "run": "runName",
}
_Node: TypeAlias = NamedNode | Literal
_Values: TypeAlias = dict[str, dict[str, list[str]]]
"""For each subject, the values of its properties."""


def to_turtle(library: Library) -> bytes:
    """Return a library as Turtle; the same library gives the same bytes."""
    triples = sorted(
        (t for entry in library for t in _entry_triples(entry)),
        key=lambda t: (t[0].value, t[1].value, t[2].value),
    )
    data = serialize((RdfTriple(*t) for t in triples), format=RdfFormat.TURTLE, prefixes=PREFIXES)
    assert data is not None
    return data


def _entry_triples(entry: Entry) -> Iterator[tuple[NamedNode, NamedNode, _Node]]:
    node = NamedNode(_START + entry.id)
    yield node, RDF_TYPE, k("MacroAction")
    for name in entry.names:
        yield node, LABEL, Literal(name)
    yield node, k("agentName"), Literal(entry.agent)
    yield node, k("parameters"), Literal(" ".join(str(p) for p in entry.parameters))
    for text in entry.precondition:
        yield node, k("precondition"), Literal(text)
    for text in entry.postcondition:
        yield node, k("postcondition"), Literal(text)
    yield node, k("block"), Literal("\n".join(str(step) for step in entry.steps))
    for origin in entry.origins:
        other = _part(entry, "origin", repr(origin))
        yield node, k("learntFrom"), other
        yield other, RDF_TYPE, k("MacroActionOrigin")
        for field, prop in _ORIGIN.items():
            yield other, k(prop), Literal(str(getattr(origin, field)))
        yield other, k("simulated"), Literal(origin.simulated)
    for use in entry.uses:
        other = _part(entry, "use", repr(use))
        yield node, k("usedIn"), other
        yield other, RDF_TYPE, k("MacroActionUse")
        yield other, k("runName"), Literal(use.run)
        yield other, k("timesUsed"), Literal(use.used)
        yield other, k("timesValidated"), Literal(use.validated)


def _part(entry: Entry, kind: str, content: str) -> NamedNode:
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    return NamedNode(f"{_START}{entry.id}-{kind}-{digest}")


def from_turtle(data: str | bytes, place: str) -> Library:
    """Read a library.

    Args:
        data: the Turtle.
        place: what messages call it: the file.

    Raises:
        DataFileError: it is no Turtle, or no library; the message says where.
    """
    values: _Values = defaultdict(lambda: defaultdict(list))
    try:
        for quad in parse(data, format=RdfFormat.TURTLE):
            subject = getattr(quad.subject, "value", str(quad.subject))
            value = getattr(quad.object, "value", str(quad.object))
            values[subject][quad.predicate.value].append(value)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{place}:{line}" if line else place
        message = getattr(error, "msg", None) or str(error)
        raise DataFileError(f"{where}: not valid Turtle: {message}") from error
    kind = k("MacroAction").value
    nodes = [s for s, props in values.items() if kind in props.get(RDF_TYPE.value, ())]
    if not nodes and values:
        raise DataFileError(f"{place}: there is no macro action in it; is this a library?")
    return Library([_entry(node, values, place) for node in nodes])


def _entry(node: str, values: _Values, place: str) -> Entry:
    own = values[node]
    name = node.removeprefix(_START)

    def one(subject: str, prop: str) -> str:
        texts = values.get(subject, {}).get(k(prop).value, [])
        if len(texts) != 1:
            raise DataFileError(
                f"{place}: macro action {name}: expected one k:{prop}, found {len(texts)}"
            )
        return texts[0]

    def many(prop: str) -> list[str]:
        return own.get(k(prop).value, [])

    words = one(node, "parameters").split()
    parameters = [Parameter(v, t) for v, t in zip(words[::3], words[2::3], strict=False)]
    if " ".join(str(p) for p in parameters) != " ".join(words):
        raise DataFileError(f"{place}: macro action {name}: its k:parameters are no typed list")
    try:
        uses = [
            Use(one(u, "runName"), int(one(u, "timesUsed")), int(one(u, "timesValidated")))
            for u in many("usedIn")
        ]
    except ValueError as error:
        raise DataFileError(f"{place}: macro action {name}: not a count: {error}") from error
    origins = [
        Origin(
            **{field: one(o, prop) for field, prop in _ORIGIN.items()},
            simulated=one(o, "simulated") in ("true", "1"),
        )
        for o in many("learntFrom")
    ]
    try:
        return entry_from_json(
            {
                "id": name,
                "names": own.get(LABEL.value, []),
                "agent": one(node, "agentName"),
                "parameters": [[p.variable, p.type] for p in parameters],
                "precondition": many("precondition"),
                "postcondition": many("postcondition"),
                "steps": one(node, "block").split("\n"),
                "origins": [o.to_json() for o in origins],
                "uses": [u.to_json() for u in uses],
            }
        )
    except DataFileError as error:
        raise DataFileError(f"{place}: {error}") from error

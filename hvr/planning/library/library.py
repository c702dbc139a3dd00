"""The library of macro actions: an immutable set of entries, stored as Turtle or JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyoxigraph import Literal, NamedNode, RdfFormat, parse, serialize
from pyoxigraph import Triple as RdfTriple

from hvr.base.declared import decode
from hvr.base.files import exclusive_writer, user_folder, write_whole, writing
from hvr.base.texts import read_json, read_text
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.terms import KITCHEN, LABEL, PREFIXES, RDF_TYPE, k
from hvr.planning.library.entry import Entry, EntryRecord, Origin, Use, make
from hvr.values import Value, cached_property

if TYPE_CHECKING:
    from hvr.knowledge.ontology import Ontology
    from hvr.planning.library.clusters import Cluster


# Library ------------------------------------------------------------------------------------------

FORMAT = "hvr-library-1"


class Library:
    """An immutable set of macro actions, in order of id.

    Merging is a set union: commutative, associative and idempotent. Entries with equal ids are
    merged.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        merged: dict[str, Entry] = {}
        for entry in entries:
            known = merged.get(entry.id)
            merged[entry.id] = make(entry) if known is None else known.merge(entry)
        self.entries: tuple[Entry, ...] = tuple(merged[i] for i in sorted(merged))
        self._clusters: dict[Ontology, tuple[Cluster, ...]] = {}

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        return {entry.id: entry for entry in self.entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._by_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Library):
            return NotImplemented
        return self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    def __repr__(self) -> str:
        return f"<Library of {len(self)} macro actions>"

    def merge(self, *others: Library) -> Library:
        return Library(entry for library in (self, *others) for entry in library)

    def add(self, entries: Iterable[Entry]) -> Library:
        return Library((*self.entries, *entries))

    def of_agent(self, agent: str) -> Library:
        return Library(entry for entry in self.entries if entry.agent == agent)

    def with_use(self, entry_id: str, run: str, *, validated: bool = True) -> Library:
        """Add a use of an entry in a run, valid if `validated`; for errors, see `find`."""
        used = self.find(entry_id)
        rest = (entry for entry in self.entries if entry.id != used.id)
        return Library((*rest, used.with_use(run, validated=validated)))

    def clusters(self, ontology: Ontology) -> tuple[Cluster, ...]:
        """Return the clusters of equivalent macro actions, the largest first (cached)."""
        if ontology not in self._clusters:
            from hvr.planning.library.clusters import find_clusters

            self._clusters[ontology] = find_clusters(self, ontology)
        return self._clusters[ontology]

    def cluster_of(self, entry_id: str, ontology: Ontology) -> Cluster:
        """Return the cluster of the only entry whose id begins with `entry_id`; see `find`."""
        entry = self.find(entry_id)
        return next(c for c in self.clusters(ontology) if entry in c.members)

    def find(self, start: str) -> Entry:
        """Return the only entry whose id begins with `start`, or raise a UsageError."""
        prefix = start.strip().lower()
        matching = [entry for entry in self.entries if prefix and entry.id.startswith(prefix)]
        if len(matching) == 1:
            return matching[0]
        if not matching:
            raise UsageError(
                f"the library has no macro action with the id {start!r}: "
                "`hvr library list` shows all"
            )
        ids = ", ".join(entry.id for entry in matching[:5]) + ", …" * (len(matching) > 5)
        raise UsageError(f"{start!r} is ambiguous: {len(matching)} ids begin with it ({ids})")

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "entries": [entry.to_json() for entry in self.entries]}


# Turtle -------------------------------------------------------------------------------------------
# A library as individuals of `k:MacroAction` in Turtle.

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
"""The values of each property, by subject."""


def to_turtle(library: Library) -> bytes:
    """Return a library as Turtle; equal libraries give equal bytes."""
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
    """Read a library from Turtle, or raise a DataFileError that begins with `place`."""
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
        raise DataFileError(f"{where}: not valid Turtle ({message})") from error
    kind = k("MacroAction").value
    nodes = [s for s, props in values.items() if kind in props.get(RDF_TYPE.value, ())]
    if not nodes and values:
        raise DataFileError(f"{place}: found no macro action; is this a library?")
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
    parameters = tuple(zip(words[::3], words[2::3], strict=False))
    if " ".join(f"{variable} - {kind}" for variable, kind in parameters) != " ".join(words):
        raise DataFileError(f"{place}: macro action {name}: k:parameters must be a typed list")
    try:
        uses = tuple(
            Use(one(u, "runName"), int(one(u, "timesUsed")), int(one(u, "timesValidated")))
            for u in many("usedIn")
        )
    except ValueError as error:
        raise DataFileError(f"{place}: macro action {name}: expected a count ({error})") from error
    origins = tuple(
        Origin(
            **{field: one(o, prop) for field, prop in _ORIGIN.items()},
            simulated=one(o, "simulated") in ("true", "1"),
        )
        for o in many("learntFrom")
    )
    record = EntryRecord(
        id=name,
        names=tuple(own.get(LABEL.value, [])),
        agent=one(node, "agentName"),
        parameters=parameters,
        precondition=tuple(many("precondition")),
        postcondition=tuple(many("postcondition")),
        steps=tuple(one(node, "block").split("\n")),
        origins=origins,
        uses=uses,
    )
    try:
        return record.entry()
    except DataFileError as error:
        raise DataFileError(f"{place}: {error}") from error


# Store --------------------------------------------------------------------------------------------
# Library files are read and written as a whole, and merged if several processes write them.

VARIABLE = "HVR_LIBRARY"


def default_path() -> Path:
    """Return the path of the user's library: `$HVR_LIBRARY`, or a file in `user_folder("data")`."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return user_folder("data") / "library.ttl"


def read_library(path: Path, *, missing_ok: bool = False) -> Library:
    """Read a library: JSON if the file name ends in `.json`, else Turtle.

    If `missing_ok`, a missing file is an empty library.

    Raises:
        DataFileError: The file is missing, unreadable or corrupt; the message says where.
    """
    if missing_ok and not path.exists():
        return Library()
    return _from_json(path) if _is_json(path) else from_turtle(read_text(path), str(path))


def write_library(library: Library, path: Path) -> None:
    """Write a library atomically: as JSON if the file name ends in `.json`, else as Turtle.

    Missing folders are created.

    Raises:
        DataFileError: The file cannot be written.
    """
    if _is_json(path):
        text = json.dumps(library.to_json(), indent=2, ensure_ascii=False) + "\n"
        data = text.encode("utf-8", "backslashreplace")
    else:
        data = to_turtle(library)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data, durable=True)


def update_library(path: Path, more: Library) -> Library:
    """Merge a library into a file without losing concurrent updates; return the merged library.

    The file need not exist.

    Raises:
        DataFileError: The file is corrupt (and left unchanged) or cannot be written.
    """
    # The lock includes reading: otherwise entries added between reading and writing would be
    # lost.
    with exclusive_writer(path):
        merged = read_library(path, missing_ok=True).merge(more)
        write_library(merged, path)
    return merged


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


class _LibraryFile(Value):
    format: str
    entries: tuple[EntryRecord, ...]


def _from_json(path: Path) -> Library:
    values = read_json(path)
    try:
        file = decode(_LibraryFile, values, error=DataFileError)
        if file.format != FORMAT:
            raise DataFileError(f"expected the format {FORMAT!r}, found {file.format!r}")
        return Library(record.entry() for record in file.entries)
    except DataFileError as error:
        raise DataFileError(f"{path}: {error}") from error

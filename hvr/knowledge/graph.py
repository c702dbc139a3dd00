"""The knowledge graph of a scene: an RDF store from which PDDL problems are derived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store, parse, serialize

from hvr.base.files import write_whole
from hvr.errors import StoreError, UnknownObjectError
from hvr.knowledge.graph_reader import Description, FactReader, describe
from hvr.knowledge.journal import Journal, read_journal
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.query import QueryLimits, QueryResult, run_limited_query, run_query
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import KITCHEN, PREFIXES, RDF_TYPE, TRUE, Node, Triple, k, obj, short
from hvr.knowledge.triples import (
    NO_ROOM,
    ROBOT,
    ActionEvent,
    Change,
    FailureNote,
    SceneReader,
    event_quads,
    notice_quads,
    statements_of,
)
from hvr.pddl.formulas import TRUE as NO_GOAL
from hvr.pddl.formulas import Atom, Formula, TypedName
from hvr.pddl.model import Domain, Problem
from hvr.values import cached_property

if TYPE_CHECKING:
    import rdflib

    from hvr.knowledge.sparql_server import SharedGraph

_DEFAULT = DefaultGraph()
_DERIVED = ("locatedIn", "within")


class KnowledgeGraph:
    """The graph of one scene and its ontology, in memory or in a folder.

    Create it with `create` or `open`. Each new scene graph replaces the known places and states.
    History marks, nearness and events change only through their own methods. Use the graph as a
    context manager, or call `close`, to release the folder.

    Methods raise `UnknownObjectError` for unknown objects, classes and marks, and `StoreError` if
    the store is closed or cannot be written.
    """

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        *,
        path: Path | None = None,
        journal: Journal | None = None,
        shared: SharedGraph | None = None,
    ) -> None:
        self._store: Store | None = store
        self._journal = journal
        self._shared = shared
        self._unsent = ""
        self.ontology = ontology
        self.path = path
        """The folder of the store; None for a graph in memory."""
        self._reader = SceneReader(ontology)
        self._facts = FactReader(ontology)
        self._seen: SceneGraph | None = None
        self._last_event: int | None = None

    # --- lifecycle ---

    @classmethod
    def create(
        cls,
        path: Path | None = None,
        ontology: Ontology | None = None,
        shared: SharedGraph | None = None,
    ) -> KnowledgeGraph:
        """Create a graph that contains only the ontology.

        Args:
            path: A new or empty folder for the store; None to keep the graph in memory.
            shared: Graph on a server that mirrors all changes; closing this graph closes it.

        Raises:
            StoreError: The folder cannot be created or is not empty.
        """
        ontology = ontology or load_ontology()
        journal = None
        if path is not None:
            try:
                path.mkdir(parents=True, exist_ok=True)
                if any(path.iterdir()):
                    raise StoreError(f"{path}: a new graph needs an empty folder")
                journal = Journal.create(path)
            except OSError as error:
                raise StoreError(f"{path}: cannot create a graph: {error}") from error
        graph = cls(Store(), ontology, path=path, journal=journal, shared=shared)
        robot = ontology.rules.entail(
            [(ROBOT, RDF_TYPE, k("SingleArmRobot")), (ROBOT, k("handEmpty"), TRUE)]
        )
        try:
            graph._change([*ontology.quads, *(Quad(*t) for t in robot)])  # type: ignore[arg-type]
        except BaseException:
            graph.close()
            raise
        return graph

    @classmethod
    def open(
        cls, path: Path, *, read_only: bool = False, ontology: Ontology | None = None
    ) -> KnowledgeGraph:
        """Open the graph of a folder.

        Args:
            read_only: Whether to open the graph for reading only, which is possible while another
                process writes. Its later changes become visible when the graph is reopened.

        Raises:
            StoreError: The graph is missing or corrupt, or another process writes to it.
        """
        journal, quads = (None, read_journal(path)) if read_only else Journal.resume(path)
        graph = cls(Store(), ontology or load_ontology(), path=path, journal=journal)
        graph._fill(quads, str(path))
        return graph

    @classmethod
    def of_quads(cls, quads: bytes, name: str, ontology: Ontology | None = None) -> KnowledgeGraph:
        """Return an in-memory graph from N-Quads; messages call it `name`."""
        graph = cls(Store(), ontology or load_ontology())
        graph._fill(quads, name)
        return graph

    def _fill(self, quads: bytes, name: str) -> None:
        fault = "it has no ontology"
        try:
            # Not `load`, which renames blank nodes.
            self.store.bulk_extend(parse(quads, format=RdfFormat.N_QUADS))
            if Quad(NamedNode(KITCHEN.rstrip("#")), RDF_TYPE, _ONTOLOGY) in self.store:
                return
        except (SyntaxError, ValueError) as error:
            fault = str(error)
        self.close()
        raise StoreError(f"{name}: the graph is corrupt: {fault}")

    def close(self) -> None:
        """Release the folder; the graph cannot be used afterwards."""
        if self._journal is not None:
            self._journal.close()
        if self._shared is not None:
            self._shared.close()
        self._journal = self._shared = self._store = None

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        if self._store is None:
            raise StoreError("the graph is closed; open it again")
        return self._store

    def __len__(self) -> int:
        return len(self.store)

    # --- observation ---

    def add_scene(
        self, scene: SceneGraph, pieces: Mapping[str, Sequence[str]] | None = None
    ) -> Change:
        """Add all objects of a scene with their static properties and their state.

        Returns the same kind of changes as `update`. Objects whose type is unknown to the ontology
        are skipped.

        Args:
            pieces: Names of the pieces into which each object can be cut or cracked. Pieces that
                are not in the scene become objects that are not present yet.

        Raises:
            SceneError: A piece is assigned to an object that is not in the scene or cannot be cut.
            StoreError: The store cannot be written.
        """
        triples: list[Triple] = []
        for o in self._reader.known(scene):
            triples += self._reader.static(o, scene.scene)
        waiting: list[SceneObject] = []
        for piece, source in self._reader.pieces(scene, pieces or {}):
            triples += self._reader.static(piece, scene.scene)
            triples.append((obj(piece.name), k("pieceOf"), obj(source)))
            if piece.name not in scene.objects:
                waiting.append(piece)
        if scene.scene:
            triples.append((obj(scene.scene), RDF_TYPE, k("Scene")))
        self._add_objects(triples)
        self._write(self.ontology.rules.entail(self._reader.belongings(scene, self._types)))
        return self.update(scene)

    def update(self, scene: SceneGraph) -> Change:
        """Replace the known places and states by a new observation; return the changes.

        New objects are added, and missing objects are marked as absent. Objects that have not
        changed since the last update are skipped. The result omits derived triples.
        """
        known = self._reader.known(scene)
        new = [o for o in known if o.name not in self._types]
        if new:
            static = [t for o in new for t in self._reader.static(o, scene.scene)]
            self._add_objects(static)
        last, self._seen = self._seen, None
        earlier = last.objects if last is not None else {}
        changed = [o for o in known if not _same_state(o, earlier.get(o.name))]
        missing = self._types.keys() - scene.objects.keys()
        if last is not None:
            # Objects that were missing before are already marked as absent.
            missing &= last.objects.keys()
        moved = (
            last is None
            or scene.held != last.held
            or bool(missing)
            or any(o.name not in earlier or o.parents != earlier[o.name].parents for o in known)
        )
        seen = set(self._reader.states(changed, self._types))
        seen |= {(obj(name), k("isPresent"), _FALSE) for name in missing}
        before = self._states_of([*(o.name for o in changed), *missing])
        kept = self._state_terms
        if moved:
            # Entailing derived places is costly, so skip it if nothing moved.
            seen |= set(self._reader.places(scene, self._types))
            before |= self._triples_with(self._reader.place_properties + _DERIVED)
            kept = kept | self._place_terms
        after = {t for t in self.ontology.rules.entail(seen) if t[1] in kept}
        added, removed = after - before, before - after
        self._write(added, removed | self._out_of_date(removed))
        self._seen = scene
        derived = {k(p) for p in _DERIVED}
        return Change(
            statements_of(t for t in added if t[1] not in derived),
            statements_of(t for t in removed if t[1] not in derived),
        )

    def set_near(self, names: Iterable[str]) -> None:
        """Replace the set of objects near the robot."""
        after: set[Triple] = {(ROBOT, k("near"), obj(self._known(n))) for n in names}
        before = self._triples_with(("near",))
        self._write(after - before, before - after)

    # --- events ---

    def set_marks(
        self, added: Iterable[tuple[str, str]] = (), removed: Iterable[tuple[str, str]] = ()
    ) -> Change:
        """Set and clear history marks, as returned by `hvr.knowledge.triples.marks`.

        Returns the changed statements.

        Args:
            added: Pairs of an object and the PDDL name of a mark.
            removed: Pairs to clear, unless they are also in `added`.
        """
        before = self._triples_with((*self._marks.values(), "historyMark"))
        plain = {t for t in before if t[1] != k("historyMark")}
        plain -= {(obj(self._known(n)), self._mark(m), TRUE) for n, m in removed}
        plain |= {(obj(self._known(n)), self._mark(m), TRUE) for n, m in added}
        after = {t for t in self.ontology.rules.entail(plain) if t[1] != RDF_TYPE}
        self._write(after - before, before - after)
        hidden = k("historyMark")
        return Change(
            statements_of(t for t in after - before if t[1] != hidden),
            statements_of(t for t in before - after if t[1] != hidden),
        )

    def record(self, event: ActionEvent) -> str:
        """Add an executed step to the event log, and return the event's name, such as `e:3`.

        If an object did not fit in a place, the pair is remembered until an object is taken out of
        the place; see `did_not_fit`.
        """
        sequence = self._next_event()
        self._change([*event_quads(event, sequence, self.ontology)])
        self._last_event = sequence
        if any(part in event.error for part in NO_ROOM) and len(event.args) == 2:
            thing, place = event.args
            self._write([(obj(self._known(thing)), k("didNotFit"), obj(self._known(place)))])
        return f"e:{sequence}"

    def notice(self, step: int, failures: Sequence[FailureNote]) -> None:
        """Log failures noticed after a step that did not cause them, such as an unmet goal."""
        sequence = self._next_event()
        self._change([*notice_quads(failures, step, sequence, self.ontology)])
        self._last_event = sequence

    def _next_event(self) -> int:
        if self._last_event is None:
            last = self.query("SELECT (MAX(?n) AS ?last) { ?event k:sequence ?n }").rows[0][0]
            self._last_event = last if isinstance(last, int) else 0
        return 1 + self._last_event

    def did_not_fit(self) -> frozenset[tuple[str, str]]:
        """Return (object, place) pairs in which the place had no room for the object."""
        return frozenset((short(s), short(o)) for s, _, o in self._triples_with(("didNotFit",)))

    # --- queries ---

    def query(
        self, sparql: str, limits: QueryLimits | None = None, *, allow_service: bool = False
    ) -> QueryResult:
        """Run a SPARQL 1.1 query.

        Predefined prefixes are `k:` (ontology), `o:` (objects), `e:` (events), `rdf:`, `rdfs:`,
        `owl:`, `skos:` and `xsd:`.

        Args:
            limits: Limits under which the query runs in a separate process, for queries from
                outside; the process costs about 50 ms. Without limits, nothing can stop an endless
                query, and a deeply nested query can crash this process.
            allow_service: Whether SERVICE may open network connections.

        Raises:
            StoreError: The query is malformed (with line and column), fails, or uses SERVICE
                without `allow_service`.
            QueryLimitError: The query exceeded the limits.
        """
        if limits is None:
            return run_query(self.store, sparql, allow_service=allow_service)
        return run_limited_query(self.quads(), sparql, limits, allow_service=allow_service)

    def objects(self, cls: str = "PhysicalObject") -> tuple[str, ...]:
        """Return the names of all objects of a class and its subclasses, sorted."""
        wanted = self.ontology.subclasses(cls, reflexive=True)
        return tuple(sorted(n for n, types in self._types.items() if not wanted.isdisjoint(types)))

    def classes(self, name: str) -> frozenset[str]:
        return self._types[self._known(name)]

    def object_class(self, name: str) -> str:
        """Return the class that corresponds to the AI2-THOR type of an object."""
        return next(c for c in self.classes(name) if c in self._object_types)

    def pddl_type(self, name: str) -> str:
        return str(self.ontology.pddl_type(self.object_class(name)))

    def describe(self, name: str) -> Description:
        cls = self.object_class(name)
        return describe(self.store, self.ontology, name, cls)

    def facts(self, names: Iterable[str] | None = None) -> frozenset[Atom]:
        """Return all true PDDL atoms over some objects (all objects if None) and over liquids.

        `fits` is omitted for objects and places that did not fit before.
        """
        chosen = self._types if names is None else {self._known(n) for n in names}
        classes = {n: self.object_class(n) for n in chosen}
        atoms = self._facts.read(self.store, classes)
        return atoms - {Atom("fits", pair) for pair in self.did_not_fit()}

    def problem(
        self,
        domain: Domain,
        name: str,
        objects: Iterable[str] | None = None,
        goal: Formula = NO_GOAL,
    ) -> Problem:
        """Return a PDDL problem about the current state of objects.

        Args:
            domain: Domain that declares the predicates and types. Facts with undeclared predicates
                are omitted.
            objects: Names of the objects; None for all objects whose type the domain declares.

        Raises:
            UnknownObjectError: An object is unknown, or the domain does not declare its type.
        """
        if objects is None:
            chosen = [n for n in self._types if self.pddl_type(n) in domain.types]
        else:
            chosen = [self._known(n) for n in objects]
        typed = []
        for n in sorted(set(chosen)):
            kind = self.pddl_type(n)
            if kind not in domain.types:
                raise UnknownObjectError(f"{n}: domain {domain.name} has no type {kind!r}")
            typed.append(TypedName(n, (kind,)))
        init = frozenset(a for a in self.facts(chosen) if a.predicate in domain.predicates)
        return Problem(name, domain.name, tuple(typed), init, goal)

    # --- export ---

    def scene_triples(self) -> set[Triple]:
        """Return all triples about objects, states and events, without the ontology."""
        quads = self.store.quads_for_pattern(None, None, None, _DEFAULT)
        all_: set[Triple] = {(q.subject, q.predicate, q.object) for q in quads}
        return all_ - self.ontology.closure

    def quads(self) -> bytes:
        """Return the whole store as N-Quads."""
        quads = self.store.dump(format=RdfFormat.N_QUADS)
        assert quads is not None
        return quads

    def export(self, target: Path | IO[bytes]) -> None:
        """Write the scene with its states and events as Turtle, without the ontology.

        Turtle cannot contain the named graphs of event changes; see `export_all`.
        """
        triples = sorted(self.scene_triples(), key=lambda t: tuple(map(str, t)))
        rdf = [Quad(*t).triple for t in triples]  # type: ignore[arg-type]
        self._save(serialize(rdf, format=RdfFormat.TURTLE, prefixes=PREFIXES), target)

    def export_all(self, target: Path | IO[bytes]) -> None:
        """Write the whole store as TriG, with the ontology and the graphs of event changes."""
        quads = sorted(self.store, key=lambda q: (str(q.graph_name), str(q)))
        self._save(serialize(quads, format=RdfFormat.TRIG, prefixes=PREFIXES), target)

    def rdflib_graph(self) -> rdflib.Graph:
        """Return an rdflib graph over the same store; its changes are not written to the folder."""
        import rdflib
        from oxrdflib import OxigraphStore
        from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

        graph = rdflib.Graph(OxigraphStore(store=self.store), identifier=DATASET_DEFAULT_GRAPH_ID)
        for prefix, iri in PREFIXES.items():
            graph.bind(prefix, iri)
        return graph

    # --- internals ---

    @cached_property
    def _marks(self) -> dict[str, str]:
        marks = self.ontology.rules.superproperties
        top = k("historyMark")
        return {
            str(p): short(prop)
            for prop, above in marks.items()
            if top in above
            for p in self.ontology.annotation(short(prop), "pddlPredicate")
        }

    @cached_property
    def _object_types(self) -> frozenset[str]:
        return frozenset(self.ontology.object_types)

    @cached_property
    def _types(self) -> dict[str, frozenset[str]]:
        types: dict[str, set[str]] = defaultdict(set)
        store = self.store
        for thing in store.quads_for_pattern(None, RDF_TYPE, k("PhysicalObject"), _DEFAULT):
            for quad in store.quads_for_pattern(thing.subject, RDF_TYPE, None, _DEFAULT):
                types[short(quad.subject)].add(short(quad.object))
        return {n: frozenset(types[n]) for n in sorted(types)}

    def _add_objects(self, static: Iterable[Triple]) -> None:
        triples = self.ontology.rules.entail(static)
        self._write(triples)
        learnt: dict[Node, set[str]] = defaultdict(set)
        for s, p, o in triples:
            if p == RDF_TYPE:
                learnt[s].add(short(o))
        types = dict(self._types)
        for node, classes in learnt.items():
            if "PhysicalObject" in classes:
                name = short(node)
                types[name] = types.get(name, frozenset()) | classes
        self.__dict__["_types"] = {name: types[name] for name in sorted(types)}

    def _known(self, name: str) -> str:
        if name not in self._types:
            raise UnknownObjectError(f"the graph has no object {name!r}")
        return name

    def _mark(self, mark: str) -> NamedNode:
        if mark not in self._marks:
            raise UnknownObjectError(
                f"no history mark named {mark!r} (marks: {', '.join(sorted(self._marks))})"
            )
        return k(self._marks[mark])

    @cached_property
    def _state_terms(self) -> frozenset[NamedNode]:
        return frozenset(k(p) for p in self._reader.state_properties)

    @cached_property
    def _place_terms(self) -> frozenset[NamedNode]:
        return frozenset(k(p) for p in self._reader.place_properties + _DERIVED)

    def _states_of(self, names: Iterable[str]) -> set[Triple]:
        store, wanted = self.store, self._state_terms
        return {
            (q.subject, q.predicate, q.object)
            for name in names
            for q in store.quads_for_pattern(obj(name), None, None, _DEFAULT)
            if q.predicate in wanted
        }

    def _out_of_date(self, removed: Iterable[Triple]) -> set[Triple]:
        emptied = {o for _, p, o in removed if p in (k("on"), k("in"))}
        if not emptied:
            return set()
        return {t for t in self._triples_with(("didNotFit",)) if t[2] in emptied}

    def _triples_with(self, properties: Iterable[str]) -> set[Triple]:
        store = self.store
        return {
            (q.subject, q.predicate, q.object)
            for p in properties
            for q in store.quads_for_pattern(None, k(p), None, _DEFAULT)
        }

    def _write(self, added: Iterable[Triple], removed: Iterable[Triple] = ()) -> None:
        self._change(
            [Quad(*t) for t in added],  # type: ignore[arg-type]
            [Quad(*t) for t in removed],  # type: ignore[arg-type]
        )

    def _change(self, added: Sequence[Quad], removed: Sequence[Quad] = ()) -> None:
        # Write the file first.
        store = self.store
        if self._journal is not None:
            self._journal.append(added, removed)
        elif self.path is not None:
            raise StoreError(f"{self.path} cannot be written, because it was opened read-only")
        self._send(added, removed)
        if not removed:
            store.extend(added)
            return
        update = f"DELETE DATA {{ {_data(removed)} }}"
        store.update(f"{update} ;\nINSERT DATA {{ {_data(added)} }}" if added else update)

    def _send(self, added: Sequence[Quad], removed: Sequence[Quad]) -> None:
        """Mirror a change to the server unless it has failed before; the folder stays complete."""
        if self._shared is None or self._unsent:
            return
        try:
            self._shared.append(added, removed)
        except StoreError as error:
            self._unsent = str(error)

    def catch_up(self) -> str:
        """Send the whole graph to the server if an earlier change could not be sent.

        Returns the reason why the server still lacks changes, or "".
        """
        if self._unsent and self._shared is not None:
            try:
                self._shared.replace(self.quads())
            except StoreError:
                return self._unsent
            self._unsent = ""
        return self._unsent

    @staticmethod
    def _save(data: bytes | None, target: Path | IO[bytes]) -> None:
        assert data is not None
        if isinstance(target, Path):
            write_whole(target, data)
        else:
            target.write(data)


_ONTOLOGY = NamedNode("http://www.w3.org/2002/07/owl#Ontology")
_FALSE = Literal(False)


def _same_state(now: SceneObject, before: SceneObject | None) -> bool:
    return before is not None and (
        now.attributes is before.attributes or now.attributes == before.attributes
    )


def _data(quads: Iterable[Quad]) -> str:
    return "\n".join(f"{q.subject} {q.predicate} {q.object} ." for q in quads)

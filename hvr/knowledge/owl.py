"""The ontology in Owlready2, and consistency checks by general reasoners.

The reasoners need packages that are slow to import, and HermiT needs Java, so neither planning nor
queries use this module.
"""

from __future__ import annotations

import io
import shutil
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, NamedNode, RdfFormat, serialize
from pyoxigraph import Triple as RdfTriple

from hvr.errors import StoreError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.terms import KITCHEN, Triple

if TYPE_CHECKING:
    import owlready2


@dataclass(frozen=True)
class ConsistencyReport:
    """The result of a consistency check; if none ran, `consistent` is None and `note` says why."""

    checked: bool
    consistent: bool | None = None
    reasoner: str = ""
    problems: tuple[str, ...] = ()
    note: str = ""


def load_owlready(
    ontology: Ontology | None = None, facts: Iterable[Triple] = ()
) -> owlready2.Ontology:
    """Return an ontology (by default hvr's own) and additional facts as an Owlready2 ontology.

    Classes are attributes: `load_owlready().Mug`.

    Raises:
        StoreError: Owlready2 cannot read the triples.
    """
    owlready2 = _owlready2()
    ontology = ontology or load_ontology()
    data = n_triples([*ontology.axioms, *facts])
    world = owlready2.World()
    loaded = world.get_ontology(KITCHEN)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded.load(fileobj=io.BytesIO(data))
    except owlready2.OwlReadyOntologyParsingError as error:
        raise StoreError(f"Owlready2 cannot read the ontology: {error}") from error
    return loaded


def check_consistency(
    ontology: Ontology | None = None, facts: Iterable[Triple] = (), *, java: str | None = None
) -> ConsistencyReport:
    """Search for contradictions with the reasoner HermiT, which needs Java.

    `java` is the path of Java, by default found on the PATH. Without Java nothing is checked, and
    the report says so.

    Raises:
        StoreError: The reasoner failed for a reason other than a contradiction.
    """
    program = shutil.which(java or "java")
    if program is None:
        return ConsistencyReport(
            False,
            note=f"{java or 'java'} was not found: install a Java runtime to check the ontology",
        )
    owlready2 = _owlready2()
    loaded = load_owlready(ontology, facts)
    before = owlready2.JAVA_EXE
    owlready2.JAVA_EXE = program
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            owlready2.sync_reasoner_hermit(loaded.world, infer_property_values=False, debug=0)
        unsatisfiable = [c.name for c in loaded.world.inconsistent_classes()]
    except owlready2.OwlReadyInconsistentOntologyError:
        return ConsistencyReport(
            True, False, "HermiT", ("the axioms and facts contradict each other",)
        )
    except owlready2.OwlReadyJavaError as error:
        raise StoreError(f"the reasoner HermiT failed: {error}") from error
    finally:
        owlready2.JAVA_EXE = before
    named = tuple(f"k:{n} can have no instance" for n in sorted(unsatisfiable) if n != "Nothing")
    return ConsistencyReport(True, not named, "HermiT", named)


def n_triples(triples: Iterable[Triple]) -> bytes:
    data = serialize([_rdf(t) for t in triples], format=RdfFormat.N_TRIPLES)
    assert data is not None
    return data


def _rdf(triple: Triple) -> RdfTriple:
    s, p, o = triple
    assert isinstance(s, NamedNode | BlankNode) and isinstance(p, NamedNode)
    return RdfTriple(s, p, o)


def _owlready2() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import owlready2
    return owlready2

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.errors import DataFileError, StoreError, UnknownObjectError
from hvr.knowledge.graph_reader import predicate_rules
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.owl import check_consistency, load_owlready
from hvr.knowledge.terms import RDF_TYPE, k, obj
from tests.knowledge.entailments import missing_entailments

PREFIXES = """@prefix k: <https://w3id.org/hvr/kitchen#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def domain_text() -> str:
    text = (data_path("domains") / "kitchen" / "domain.pddl").read_text(encoding="utf-8")
    return re.sub(r";.*", "", text)


def section(name: str) -> str:
    """Return a section of the domain's text, without hvr's parser."""
    text = domain_text()
    start = text.index(f"(:{name}")
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + len(name) + 2 : i]
    raise AssertionError(name)


def declared_types() -> set[str]:
    words = section("types").split()
    return {w for w in words if w not in ("-", "object")}


def test_every_predicate_of_the_domain_is_tied_and_no_other(ontology: Ontology) -> None:
    arity = {
        m[1]: m[2].count("?") for m in re.finditer(r"\(([\w-]+)([^()]*)\)", section("predicates"))
    }
    rules = predicate_rules(ontology)
    assert set(rules) == set(arity)
    for name, count in arity.items():
        assert len(rules[name].arguments) == count, name


def test_every_type_of_the_domain_is_tied_and_no_other(ontology: Ontology) -> None:
    tied = {ontology.pddl_type(c) for c in ontology.subjects("pddlType")}
    assert tied == declared_types()


def test_every_action_of_the_domain_is_tied_and_no_other(ontology: Ontology) -> None:
    names = set(re.findall(r"\(:action\s+([\w-]+)", domain_text()))
    tied = {
        a for c in ontology.subjects("pddlAction") for a in ontology.annotation(c, "pddlAction")
    }
    assert tied == names


def test_constants_are_those_of_the_domain(ontology: Ontology) -> None:
    words = section("constants").replace("- liquid", "").split()
    assert {ontology.annotation(n, "pddlName")[0] for n in ontology.subjects("pddlName")} == {
        *words
    }


def test_a_mug_is_dishware_and_can_be_picked_up(ontology: Ontology) -> None:
    assert {"Dishware", "Vessel", "Pickupable", "ContainerReceptacle"} <= ontology.superclasses(
        "Mug"
    )
    assert "Mug" not in ontology.superclasses("Mug")
    assert "Mug" in ontology.superclasses("k:Mug", reflexive=True)
    assert "Mug" in ontology.subclasses("Drinkware")
    assert {"Pickupable", "Fillable", "Dirtyable", "Breakable"} <= ontology.affordances("Mug")
    assert "Mug" not in ontology.affordances("Mug")
    assert "Dishware" not in ontology.affordances("Mug")


def test_types_of_the_simulator_and_of_pddl(ontology: Ontology) -> None:
    assert ontology.class_of_thor_type("CoffeeMachine") == "CoffeeMachine"
    assert ontology.class_of_pddl_type("coffeemachine") == "CoffeeMachine"
    assert ontology.pddl_type("CoffeeMachine") == "coffeemachine"
    assert ontology.class_of_pddl_type("ottoman") is None
    assert ontology.class_of_thor_type("Ottoman") is None
    assert len(ontology.object_types) == len(declared_types() - {"item", "liquid", "dish"})


def test_each_receptacle_is_a_surface_or_a_container(ontology: Ontology) -> None:
    for cls in ontology.object_types:
        kinds = ontology.superclasses(cls) & {"SurfaceReceptacle", "ContainerReceptacle"}
        assert len(kinds) <= 1, cls
        assert bool(kinds) == ("Receptacle" in ontology.superclasses(cls)), cls


def test_the_rules_of_eggs_and_slices(ontology: Ontology) -> None:
    assert "Crackable" in ontology.superclasses("Egg")
    assert "Sliceable" not in ontology.superclasses("Egg")
    sliceable = ontology.subclasses("Sliceable")
    assert sliceable == {"Apple", "Bread", "Lettuce", "Potato", "Tomato"}
    for cls in (*sliceable, "Egg"):
        assert ontology.annotation(cls, "slicesInto")


def test_relations_between_classes(ontology: Ontology) -> None:
    assert ontology.related("cooks", "Toaster") == {"BreadSliced"}
    assert "CoffeeMachine" in ontology.related("placeableIn", "Mug")
    assert "CoffeeMachine" not in ontology.related("placeableIn", "Cup")
    holders = ontology.subclasses("Receptacle") | {
        c for c in ontology.object_types if "SurfaceReceptacle" in ontology.sometimes(c)
    }
    for cls in ontology.object_types:
        assert ontology.related("placeableIn", cls) <= holders, cls


def test_what_can_be_heated_or_cooled_fits_where_it_happens(ontology: Ontology) -> None:
    for cls in ontology.object_types:
        places = ontology.related("placeableIn", cls)
        kinds = ontology.superclasses(cls)
        assert ("Coolable" in kinds) == ("Fridge" in places), cls
        assert ("Washable" in kinds) == ("SinkBasin" in places), cls
        assert ("Toastable" in kinds) == ("Toaster" in places), cls


def test_names_of_object_types_are_unambiguous(ontology: Ontology) -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for cls in ontology.object_types:
        assert ontology.labels(cls)
        for label in ontology.labels(cls):
            assert label == label.lower().strip()
            owners[label].add(cls)
    assert {label: who for label, who in owners.items() if len(who) > 1} == {}


def test_labels_keep_the_order_of_the_file(ontology: Ontology) -> None:
    assert ontology.label("CoffeeMachine") == "coffee machine"
    assert ontology.labels("CoffeeMachine")[:2] == ("coffee machine", "coffee maker")
    assert ontology.label("MicrowaveOven") == "MicrowaveOven"


def test_preferences_name_what_exists(ontology: Ontology) -> None:
    preferences = ontology.instances("Preference")
    assert preferences
    for p in preferences:
        assert ontology.annotation(p, "context")
        for prop in ("prefers", "over", "appliesTo"):
            for cls in ontology.annotation(p, prop):
                assert ontology.has_class(str(cls))


def test_unknown_class(ontology: Ontology) -> None:
    with pytest.raises(UnknownObjectError, match="Spaceship"):
        ontology.superclasses("Spaceship")


def test_sparql_over_the_ontology(ontology: Ontology) -> None:
    rows = ontology.query("SELECT ?c WHERE { ?c rdfs:subClassOf k:Drinkware } ORDER BY ?c").rows
    assert rows == (("Cup",), ("Mug",))
    with pytest.raises(StoreError, match="line 1"):
        ontology.query("SELECT ?c WHERE { ?c")


def test_corrupt_turtle_is_reported_with_file_and_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text(PREFIXES + 'k:A a owl:Class ;\n  rdfs:label "a\n', encoding="utf-8")
    with pytest.raises(DataFileError, match=rf"{re.escape(str(bad))}:\d+: not valid Turtle"):
        load_ontology(tmp_path)


def test_no_ontology_and_unreadable_ontology(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no ontology"):
        load_ontology(tmp_path)
    (tmp_path / "folder.ttl").mkdir()
    with pytest.raises(DataFileError, match="it is a folder"):
        load_ontology(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('k:p a owl:ObjectProperty ; k:pddlPredicate "p" .', "pddlArguments"),
        ('k:A a owl:Class ; k:pddlPredicate "p" . k:B a owl:Class ; k:pddlPredicate "p" .', "both"),
    ],
)
def test_contradicting_ties_are_reported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.ttl").write_text(PREFIXES + text, encoding="utf-8")
    with pytest.raises(DataFileError, match=message):
        predicate_rules(load_ontology(tmp_path))


def test_missing_data_folder() -> None:
    with pytest.raises(DataFileError, match="'nonsense'"):
        data_path("nonsense")


def test_rules_equivalence_inverse_and_transitivity(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(
        PREFIXES
        + """k:A a owl:Class ; owl:equivalentClass k:B . k:B a owl:Class . k:C a owl:Class .
k:B rdfs:subClassOf k:C .
k:p a owl:TransitiveProperty ; owl:inverseOf k:q ; rdfs:range k:A .
k:r rdfs:subPropertyOf k:p ; owl:equivalentProperty k:s .""",
        encoding="utf-8",
    )
    found = load_ontology(tmp_path).rules.entail(
        [(obj("x"), k("r"), obj("y")), (obj("y"), k("s"), obj("z"))]
    )
    assert (obj("x"), k("p"), obj("z")) in found
    assert (obj("z"), k("q"), obj("x")) in found
    assert (obj("z"), RDF_TYPE, k("C")) in found
    assert (obj("x"), RDF_TYPE, k("C")) not in found


@pytest.mark.slow
def test_owl_rl_reasoner_finds_nothing_more(ontology: Ontology) -> None:
    assert missing_entailments(ontology.axioms, ontology.closure) == []


def test_owlready_reads_the_same_classes(ontology: Ontology) -> None:
    loaded = load_owlready()
    assert {c.name for c in loaded.classes()} == ontology.classes()
    above = {c.name for c in loaded.Mug.ancestors()} - {"Thing", "Mug"}
    assert above == ontology.superclasses("Mug")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="HermiT needs Java")
def test_hermit_finds_the_ontology_consistent() -> None:
    report = check_consistency()
    assert report.checked and report.consistent and not report.problems


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="HermiT needs Java")
def test_hermit_finds_a_contradiction() -> None:
    both = [(obj("x"), RDF_TYPE, k("Mug")), (obj("x"), RDF_TYPE, k("Apple"))]
    report = check_consistency(facts=both)
    assert report.checked and report.consistent is False


def test_without_java_the_report_says_so() -> None:
    report = check_consistency(java="no-such-java")
    assert not report.checked and report.consistent is None
    assert "no-such-java" in report.note

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import DataFileError, SceneError, StoreError, UnknownObjectError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.terms import FALSE, RDF_TYPE, TRUE, k, obj
from hvr.knowledge.triples import ActionEvent, Change
from hvr.pddl.formulas import Atom, TypedName
from hvr.pddl.model import Domain, Predicate
from tests.knowledge.entailments import missing_entailments
from tests.knowledge.knowledge_kitchen import PIECES, THINGS, scene_of, thing, with_


def atom(text: str) -> Atom:
    predicate, *args = text.split()
    return Atom(predicate, tuple(args))


# --- facts ---


@pytest.mark.parametrize(
    "fact",
    [
        "pickupable mug-1",
        "container mug-1",
        "surface countertop-1",
        "large countertop-1",
        "holds_one coffeemachine-1",
        "brews coffeemachine-1",
        "heats microwave-1",
        "cools fridge-1",
        "toggleable stoveknob-1",
        "bottomless winebottle-1",
        "cutting_tool knife-1",
        "crackable egg-1",
        "sliceable bread-1",
        "breakable bowl-2",
        "breakable mug-1",
        "openable kettle-1",
        "fits mug-1 coffeemachine-1",
        "fits breadsliced-2 toaster-1",
        "cooks stoveburner-1 potato-1",
        "cooks toaster-1 breadsliced-1",
        "cooks microwave-1 eggcracked-1",
        "knob_of stoveknob-1 stoveburner-1",
        "faucet_of faucet-1 sinkbasin-1",
        "beside stoveknob-1 stoveburner-1",
        "beside stoveburner-1 stoveknob-1",
        "piece_of breadsliced-1 bread-1",
        "piece_of eggcracked-1 egg-1",
        "present mug-1",
        "on mug-1 countertop-1",
        "in egg-1 bowl-1",
        "in bowl-1 fridge-1",
        "on pan-1 stoveburner-1",
        "in potato-1 pan-1",
        "cold egg-1",
        "dirty mug-1",
        "filled winebottle-1",
        "contains winebottle-1 wine",
        "contains kettle-1 water",
        "hand_empty",
    ],
)
def test_true_facts(graph: KnowledgeGraph, fact: str) -> None:
    assert atom(fact) in graph.facts()


@pytest.mark.parametrize(
    "fact",
    [
        "breakable bowl-1",
        "sliceable egg-1",
        "container kettle-1",
        "surface sink-1",
        "toggleable stoveburner-1",
        "heats coffeemachine-1",
        "fits bowl-1 coffeemachine-1",
        "fits bowl-1 bowl-1",
        "present breadsliced-1",
        "in egg-1 fridge-1",
        "hot mug-1",
        "cold mug-1",
        "near mug-1",
        "opened fridge-1",
        "toggled faucet-1",
        "washed mug-1",
        "cracked egg-1",
    ],
)
def test_false_facts(graph: KnowledgeGraph, fact: str) -> None:
    assert atom(fact) not in graph.facts()


def test_objects_of_unknown_types_are_left_out(graph: KnowledgeGraph) -> None:
    assert not any("ottoman-1" in a.args for a in graph.facts())
    with pytest.raises(UnknownObjectError, match="ottoman-1"):
        graph.classes("ottoman-1")


def test_facts_over_some_objects(graph: KnowledgeGraph) -> None:
    few = graph.facts(["mug-1", "countertop-1", "winebottle-1"])
    assert {x for a in few for x in a.args} == {"mug-1", "countertop-1", "winebottle-1", "wine"}
    assert few < graph.facts()
    with pytest.raises(UnknownObjectError, match="mug-9"):
        graph.facts(["mug-9"])


def test_holding(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    held = with_(scene, "mug-1", parents=()).replace(held="mug-1")
    change = graph.update(held)
    assert ("mug-1", "on", "countertop-1") in change.removed
    assert ("robot", "holding", "mug-1") in change.added
    facts = graph.facts()
    assert atom("holding mug-1") in facts
    assert atom("hand_empty") not in facts
    assert atom("on mug-1 countertop-1") not in facts
    assert atom("hand_empty") not in graph.facts(["fridge-1"])


def test_what_did_not_fit(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    fits = atom("fits mug-1 coffeemachine-1")
    full = "No valid positions to place object found"
    graph.record(ActionEvent(1, "put_on", ("mug-1", "coffeemachine-1"), False, "too far"))
    assert graph.did_not_fit() == frozenset() and fits in graph.facts()
    graph.record(ActionEvent(2, "put_on", ("mug-1", "coffeemachine-1"), False, full))
    graph.record(ActionEvent(3, "put_in", ("egg-1", "fridge-1"), False, full))
    pair = ("mug-1", "coffeemachine-1")
    assert graph.did_not_fit() == {pair, ("egg-1", "fridge-1")}
    assert fits not in graph.facts() and fits not in graph.facts(["mug-1", "coffeemachine-1"])
    graph.update(with_(scene, "bowl-1", parents=("countertop-1",)))
    assert graph.did_not_fit() == {pair}


CHANGES = st.one_of(
    st.tuples(
        st.sampled_from(["mug-1", "bowl-1", "egg-1", "pan-1", "potato-1"]),
        st.sampled_from([(), ("countertop-1",), ("bowl-2", "countertop-1"), ("fridge-1",)]),
    ),
    st.tuples(
        st.sampled_from(["mug-1", "fridge-1", "egg-1", "faucet-1"]),
        st.dictionaries(
            st.sampled_from(["isDirty", "isOpen", "isToggled", "isBroken", "isSliced"]),
            st.booleans(),
        ),
    ),
    st.tuples(st.just("held"), st.sampled_from([None, "mug-1", "egg-1"])),
    st.tuples(st.just("gone"), st.sampled_from(["mug-1", "egg-1", "kettle-1"])),
    st.tuples(st.just("new"), st.sampled_from(["breadsliced-1", "spoon-1"])),
)


def changed(scene: SceneGraph, change: tuple[str, Any]) -> SceneGraph:
    what, value = change
    if what == "held":
        return scene.replace(held=value if value in scene.objects else None)
    if what == "gone":
        left = {n: o for n, o in scene.objects.items() if n != value}
        return scene.replace(objects=left, held=None)
    if what == "new":
        kind = "Spoon" if value == "spoon-1" else "BreadSliced"
        return scene.replace(objects={**scene.objects, value: thing(value, kind, "countertop-1")})
    if what not in scene.objects:
        return scene
    return with_(scene, what, **({"parents": value} if isinstance(value, tuple) else value))


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.lists(CHANGES, min_size=1, max_size=3), min_size=1, max_size=3))
def test_updates_look_only_at_what_changed_and_miss_nothing(
    turns: list[list[tuple[str, Any]]],
) -> None:
    scene = scene_of(*THINGS)
    graph, thorough = KnowledgeGraph.create(), KnowledgeGraph.create()
    for each in (graph, thorough):
        each.add_scene(scene, PIECES)
    for turn in turns:
        for change in turn:
            scene = changed(scene, change)
        thorough._seen = None  # rescan everything
        assert graph.update(scene) == thorough.update(scene)
    assert graph.scene_triples() == thorough.scene_triples()


def test_near_is_only_what_was_said(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    graph.set_near(["mug-1", "countertop-1"])
    graph.update(scene)
    assert atom("near mug-1") in graph.facts()
    graph.set_near(["fridge-1"])
    assert {a for a in graph.facts() if a.predicate == "near"} == {atom("near fridge-1")}
    graph.set_near([])
    assert not [a for a in graph.facts() if a.predicate == "near"]
    with pytest.raises(UnknownObjectError, match="mug-9"):
        graph.set_near(["mug-9"])


def test_cutting_makes_pieces_present(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    cut = with_(with_(scene, "bread-1", isSliced=True, parents=()), "egg-1", isBroken=True)
    new = [thing(f"breadsliced-{i}", "BreadSliced", "countertop-1") for i in (1, 2)]
    cut = cut.replace(objects={**cut.objects, **{t.name: t for t in new}})
    graph.update(cut)
    facts = graph.facts()
    assert {atom("sliced bread-1"), atom("cracked egg-1"), atom("present breadsliced-2")} <= facts
    assert {atom("present bread-1"), atom("present egg-1")}.isdisjoint(facts)
    assert atom("piece_of breadsliced-1 bread-1") in facts
    assert atom("sliced egg-1") not in facts


def test_what_shatters_is_gone_and_what_only_breaks_stays(
    graph: KnowledgeGraph, scene: SceneGraph
) -> None:
    phone = thing("cellphone-1", "CellPhone", "countertop-1", isBroken=True)
    broken = with_(scene, "mug-1", isBroken=True, parents=())
    graph.update(broken.replace(objects={**broken.objects, "cellphone-1": phone}))
    assert atom("present mug-1") not in graph.facts()
    assert atom("present cellphone-1") in graph.facts()


def test_missing_objects_are_not_present(graph: KnowledgeGraph) -> None:
    graph.update(scene_of(*(t for t in THINGS if t.name != "knife-1")))
    facts = graph.facts()
    assert atom("present knife-1") not in facts
    assert atom("on knife-1 countertop-1") not in facts
    assert atom("pickupable knife-1") in facts


def test_some_sinks_hold_things_and_every_fridge_cools() -> None:
    graph = KnowledgeGraph.create()
    graph.add_scene(
        scene_of(
            thing("sink-1", "Sink", receptacle=True),
            thing("mug-1", "Mug", "sink-1"),
            thing("fridge-1", "Fridge", isColdSource=False),
        )
    )
    facts = graph.facts()
    assert {atom("surface sink-1"), atom("on mug-1 sink-1")} <= facts
    assert atom("cools fridge-1") in facts


def test_the_same_observation_changes_nothing(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    size = len(graph)
    assert not graph.update(scene)
    assert len(graph) == size


def test_liquids(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    graph.update(with_(scene, "mug-1", isFilledWithLiquid=True, fillLiquid="coffee"))
    assert atom("contains mug-1 coffee") in graph.facts()
    change = graph.update(scene)
    assert ("mug-1", "containsLiquid", "coffee") in change.removed
    assert atom("filled mug-1") not in graph.facts()


def test_pieces_that_cannot_be(scene: SceneGraph) -> None:
    graph = KnowledgeGraph.create()
    with pytest.raises(SceneError, match="apple-7"):
        graph.add_scene(scene, {"apple-7": ["applesliced-1"]})
    with pytest.raises(SceneError, match="mug-1 is a Mug"):
        graph.add_scene(scene, {"mug-1": ["mugpiece-1"]})


# --- problems ---

DOMAIN = Domain(
    "small",
    types={"mug": ("object",), "countertop": ("object",)},
    predicates={p: Predicate(p) for p in ("on", "present", "hand_empty")},
)


def test_problem(graph: KnowledgeGraph) -> None:
    goal = atom("on mug-1 countertop-1")
    problem = graph.problem(DOMAIN, "p", ["mug-1", "countertop-1"], goal)
    assert problem.name == "p" and problem.domain_name == "small" and problem.goal == goal
    assert problem.objects == (
        TypedName("countertop-1", ("countertop",)),
        TypedName("mug-1", ("mug",)),
    )
    assert problem.init == {
        atom("on mug-1 countertop-1"),
        atom("present mug-1"),
        atom("present countertop-1"),
        atom("hand_empty"),
    }


def test_problem_over_all_objects_that_the_domain_knows(graph: KnowledgeGraph) -> None:
    problem = graph.problem(DOMAIN, "p")
    assert {o.name for o in problem.objects} == {"mug-1", "countertop-1"}
    with pytest.raises(UnknownObjectError, match="fridge-1: domain small has no type 'fridge'"):
        graph.problem(DOMAIN, "p", ["fridge-1"])


# --- inference and queries ---


def test_types_and_places_are_inferred(graph: KnowledgeGraph) -> None:
    assert graph.query("ASK { o:mug-1 a k:Dishware, k:Pickupable }").rows == ((True,),)
    rows = graph.query("SELECT ?o { ?o k:within o:fridge-1 } ORDER BY ?o").rows
    assert rows == (("bowl-1",), ("egg-1",))
    assert graph.objects("Food") == (
        "bread-1",
        "breadsliced-1",
        "breadsliced-2",
        "egg-1",
        "eggcracked-1",
        "potato-1",
    )


@pytest.mark.slow
def test_nothing_is_left_to_infer(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    graph.set_marks([("mug-1", "washed")])
    graph.record(ActionEvent(1, "pick_up", ("mug-1",)))
    graph.update(with_(scene, "mug-1", parents=()).replace(held="mug-1"))
    stored = {(q.subject, q.predicate, q.object) for q in graph.store}
    assert missing_entailments(stored, stored) == []


def test_what_was_inferred_goes_with_its_reason(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    graph.update(with_(scene, "bowl-1", parents=("countertop-1",)))
    assert graph.query("SELECT ?o { ?o k:within o:fridge-1 }").rows == ()
    assert graph.query("ASK { o:egg-1 k:within o:countertop-1 }").rows == ((True,),)


def test_values_of_answers(graph: KnowledgeGraph) -> None:
    answer = graph.query(
        'SELECT ?o ?dirty ?n (1.5 AS ?x) ?none ("b"^^xsd:integer AS ?bad) '
        "{ ?o a k:Mug ; k:isDirty ?dirty . BIND(STRLEN('abc') AS ?n) }"
    )
    assert answer.dicts() == [
        {"o": "mug-1", "dirty": True, "n": 3, "x": 1.5, "none": None, "bad": "b"}
    ]
    assert len(answer) == 1 and list(answer) == list(answer.rows)
    triples = graph.query("CONSTRUCT { ?o rdf:type k:Mug } WHERE { ?o a k:Mug }")
    assert triples.rows == (("mug-1", "rdf:type", "Mug"),)


def test_malformed_query_says_where(graph: KnowledgeGraph) -> None:
    with pytest.raises(StoreError, match=r"line 2, column \d+") as caught:
        graph.query("SELECT ?o\nWHERE ?o a k:Mug }")
    assert "found '?o a k:Mug }'" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(StoreError, match="prefix foo: is not declared"):
        graph.query("SELECT ?o { ?o foo:bar ?x }")
    with pytest.raises(StoreError, match="malformed"):
        graph.query("")


def test_a_query_cannot_write(graph: KnowledgeGraph) -> None:
    size = len(graph)
    with pytest.raises(StoreError):
        graph.query("DELETE WHERE { ?s ?p ?o }")
    assert len(graph) == size


# --- marks, events, descriptions ---


def test_marks(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    graph.set_marks([("mug-1", "washed")])
    change = graph.set_marks({("mug-1", "warm_liquid"), ("bowl-1", "chilled")})
    assert change.added == (("bowl-1", "chilled", True), ("mug-1", "warmLiquid", True))
    graph.update(scene)
    wanted = {atom("washed mug-1"), atom("warm_liquid mug-1"), atom("chilled bowl-1")}
    assert wanted <= graph.facts()
    graph.set_marks(removed=[("mug-1", "warm_liquid")])
    assert atom("warm_liquid mug-1") not in graph.facts()
    assert atom("washed mug-1") in graph.facts()
    graph.set_marks(removed=[("mug-1", "washed")])
    assert not graph.query("SELECT ?x { o:mug-1 k:historyMark ?x }").rows
    with pytest.raises(UnknownObjectError, match="no history mark named 'painted'"):
        graph.set_marks([("mug-1", "painted")])
    with pytest.raises(UnknownObjectError, match="mug-9"):
        graph.set_marks([("mug-9", "washed")])


def test_events(graph: KnowledgeGraph, scene: SceneGraph) -> None:
    change = graph.update(with_(scene, "fridge-1", isOpen=True))
    assert change == Change((("fridge-1", "isOpen", True),), (("fridge-1", "isOpen", False),))
    first = ActionEvent(1, "open_obj", ("fridge-1",), time="2026-01-02T03:04:05+00:00")
    assert graph.record(first.replace(change=change)) == "e:1"
    failed = ActionEvent(2, "put_in", ("mug-1", "fridge-1"), False, "No valid positions")
    assert graph.record(failed) == "e:2"
    assert graph.query(
        "SELECT ?c ?step ?time { ?e a ?c ; k:step ?step ; k:time ?time ; k:sequence 1 . "
        "?c k:pddlAction [] }"
    ).rows == (("OpenObj", 1, "2026-01-02T03:04:05Z"),)
    assert graph.query(
        "SELECT ?a ?b ?error { ?e k:outcome k:failure ; k:argument1 ?a ; k:argument2 ?b ; "
        "k:error ?error }"
    ).rows == (("mug-1", "fridge-1", "No valid positions"),)
    assert graph.query(
        "SELECT ?s ?v { o:fridge-1 ^k:argument ?e . ?e k:added ?g . GRAPH ?g { ?s k:isOpen ?v } }"
    ).rows == (("fridge-1", True),)
    with pytest.raises(StoreError, match="fly"):
        graph.record(ActionEvent(3, "fly"))
    with pytest.raises(StoreError, match="ISO 8601"):
        graph.record(ActionEvent(3, "drop_obj", time="yesterday"))


def test_changes_keep_relations_and_values(graph: KnowledgeGraph) -> None:
    change = Change((("mug-1", "in", "fridge-1"), ("mug-1", "temperature", "cold")))
    graph.record(ActionEvent(1, "put_in", ("mug-1", "fridge-1"), change=change))
    rows = graph.query("SELECT ?p ?o { GRAPH ?g { o:mug-1 ?p ?o } } ORDER BY ?p").rows
    assert rows == (("in", "fridge-1"), ("temperature", "cold"))
    assert graph.query("ASK { GRAPH ?g { ?x k:temperature k:cold } }").rows == ((True,),)


def test_describe(graph: KnowledgeGraph) -> None:
    graph.set_marks([("bowl-1", "chilled")])
    graph.record(ActionEvent(4, "pick_up", ("bowl-1",)))
    found = graph.describe("bowl-1")
    assert (found.name, found.type, found.thor_id) == ("bowl-1", "Bowl", "Bowl|bowl-1")
    assert found.labels[0] == "bowl"
    assert "Dishware" in found.kinds and "Pickupable" in found.affordances
    assert found.state["chilled"] is True and found.state["isDirty"] is False
    assert found.relations == (("in", "fridge-1"),)
    assert ("egg-1", "in") in found.inverse
    assert found.events == (("e:1", "pick_up", 4, "success"),)
    assert found.relations == (("in", "fridge-1"),)
    assert graph.describe("egg-1").state["temperature"] == "cold"
    with pytest.raises(UnknownObjectError, match="mug-9"):
        graph.describe("mug-9")


# --- export ---


def test_export_round_trip(tmp_path: Path, graph: KnowledgeGraph) -> None:
    import rdflib

    graph.record(
        ActionEvent(1, "pick_up", ("mug-1",), change=Change((("mug-1", "isDirty", True),)))
    )
    first, second = tmp_path / "a.ttl", io.BytesIO()
    graph.export(first)
    graph.export(second)
    assert first.read_bytes() == second.getvalue()
    assert b"@prefix k:" in second.getvalue()
    read = rdflib.Graph().parse(first)
    assert len(read) == len(graph.scene_triples())
    assert (rdflib.URIRef(obj("mug-1").value), None, None) in read
    everything = io.BytesIO()
    graph.export_all(everything)
    assert b"e:1-added {" in everything.getvalue()
    with pytest.raises(DataFileError, match="cannot be written"):
        graph.export(tmp_path / "no" / "such" / "folder.ttl")


def test_rdflib_sees_and_changes_the_same_store(graph: KnowledgeGraph) -> None:
    import rdflib

    view = graph.rdflib_graph()
    kitchen = rdflib.Namespace("https://w3id.org/hvr/kitchen#")
    mug = rdflib.URIRef(obj("mug-1").value)
    assert (mug, rdflib.RDF.type, kitchen.Dishware) in view
    view.add((mug, kitchen.washed, rdflib.Literal(True)))
    assert atom("washed mug-1") in graph.facts()


def test_scene_triples_leave_the_ontology_out(graph: KnowledgeGraph) -> None:
    triples = graph.scene_triples()
    assert (obj("mug-1"), RDF_TYPE, k("Mug")) in triples
    assert (obj("fridge-1"), k("isOpen"), FALSE) in triples
    assert (obj("mug-1"), k("isDirty"), TRUE) in triples
    assert not any(s == k("Mug") for s, _, _ in triples)

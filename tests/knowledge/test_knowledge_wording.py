"""The English of the ontology: a wording is a line of data that only its readers see."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.errors import DataFileError
from hvr.execution.deviations import DeviationKind, Explanation, RawDeviation, literal_clause
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.wording import Template, load_wording, wording_of
from hvr.language.lexicon import Noun, load_lexicon
from hvr.pddl import Atom, GroundAction, Not

PREFIXES = "@prefix k: <https://w3id.org/hvr/kitchen#> .\n"


def extended(folder: Path, lines: str) -> Ontology:
    """Return hvr's ontology with additional lines."""
    shutil.copytree(data_path("ontology"), folder / "ontology")
    (folder / "ontology" / "more.ttl").write_text(PREFIXES + lines, encoding="utf-8")
    return load_ontology(folder / "ontology")


def test_a_new_predicate_is_explained_in_the_words_of_its_line(tmp_path: Path) -> None:
    line = (
        'k:burnt k:pddlPredicate "burnt" ; k:saidTrue "{0} is black" ; k:saidFalse "{0} is fine" .'
    )
    wording = wording_of(extended(tmp_path, line))
    burnt = Atom("burnt", ("toast-1",))
    action = GroundAction("toggle_off", ("toaster-1",))
    finding = RawDeviation(DeviationKind.WRONG_EFFECT, (Not(burnt),), ("toast-1",))
    sentence = Explanation(action, (), wording).sentence(finding)
    assert sentence == "(toggle_off toaster-1) did not have the expected effect:  toast-1 is black."
    assert literal_clause(Not(burnt), wording) == "toast-1 is fine"
    assert literal_clause(burnt) == "(burnt toast-1) holds"


def test_every_action_and_every_changing_state_has_words() -> None:
    wording = load_wording()
    for name, action in wording.actions.items():
        assert action.imperative and action.step and action.purpose and action.written, name
    for name, predicate in wording.predicates.items():
        assert bool(predicate.true) == bool(predicate.false), name


@pytest.mark.parametrize("text", ["{name} is black", "{0 is black", "{} is black"])
def test_a_wording_with_other_arguments_is_refused(tmp_path: Path, text: str) -> None:
    line = f'k:burnt k:pddlPredicate "burnt" ; k:saidTrue "{text}" .'
    with pytest.raises(DataFileError, match=r"k:burnt has the k:saidTrue"):
        wording_of(extended(tmp_path, line))


def test_a_template_with_too_few_arguments_says_nothing() -> None:
    assert Template("{0} is on {1}", 2).fill(["a"]) == ""
    assert Template("{0} is on {1}", 2).fill(["a", "b"]) == "a is on b"
    assert load_wording().clause("on", ["a"]) == ""


def test_what_only_readers_of_wording_need_is_in_no_graph() -> None:
    ontology = load_ontology()
    assert load_wording().nouns["oven"] == "Microwave"
    assert "oven" not in ontology.labels("Microwave")
    (oven,) = load_lexicon(ontology).lookup("oven")
    assert isinstance(oven, Noun) and oven.loose, "what is read so is said"
    for prop in ("k:saidTrue", "k:writtenAs", "k:orderVerb", "skos:hiddenLabel"):
        assert len(ontology.query(f"SELECT ?s ?o {{ ?s {prop} ?o }}")) == 0


def test_hidden_labels_are_no_labels() -> None:
    ontology = load_ontology()
    for noun, cls in load_wording().nouns.items():
        assert noun not in ontology.labels(cls)

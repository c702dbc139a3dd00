"""The learnt reader and the choice between readings; needs the extra `language`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import (
    DataFileError,
    HvrError,
    ImpossibleGoalError,
    LanguageError,
    MissingExtraError,
    UsageError,
)
from hvr.knowledge.ontology import DIVIDED, load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Goal, Stage, goal_of
from hvr.language.grammar import READERS, Reader, make_reader
from hvr.language.learnt import is_installed
from hvr.language.learnt.agreement import EndStates, ReaderThresholds, agreed
from hvr.language.learnt.encoder import SentenceEncoder
from hvr.language.learnt.frames import (
    KINDS,
    ONLY_PLACING,
    OTHER,
    Frame,
    Ngrams,
    beyond,
    grams,
    meaning_of,
)
from hvr.language.learnt.reader import Head, LearntReader, Reading
from hvr.language.lexicon import tokenize
from tests.language.goal_sets import world_of

needs_extra = pytest.mark.skipif(not is_installed(), reason="the extra 'language' is not installed")


@cache
def grammar_reader() -> Reader:
    return Reader(load_ontology(), load_world().agent.domain())


@cache
def kitchen() -> Inventory:
    return world_of("FloorPlan1").inventory()


@pytest.fixture(scope="module")
def grammar() -> Reader:
    return grammar_reader()


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return kitchen()


@pytest.fixture(scope="module")
def ends(grammar: Reader, inventory: Inventory) -> EndStates:
    return EndStates(grammar.taxonomy, inventory, grammar.domain)


@pytest.fixture(scope="module")
def learnt(grammar: Reader) -> LearntReader:
    return LearntReader(grammar.ontology, grammar.domain, grammar.lexicon, grammar.taxonomy)


def goal(text: str) -> Goal:
    return Goal((Stage(text),), paraphrase=(text,))


ON = "(exists (?a - apple ?t - countertop) (on ?a ?t))"
HOT_ON = "(exists (?t - countertop ?a - apple) (and (microwaved ?a) (on ?a ?t)))"
IN = "(exists (?a - apple ?f - fridge) (in ?a ?f))"


def test_a_goal_entails_what_it_includes(ends: EndStates) -> None:
    assert ends.entails(goal(HOT_ON), goal(ON))
    assert not ends.entails(goal(ON), goal(HOT_ON))
    assert not ends.entails(goal(ON), goal(IN))


def test_names_of_variables_and_their_order_do_not_matter(ends: EndStates) -> None:
    other = "(exists (?x - countertop) (exists (?y - apple) (and (on ?y ?x))))"
    assert ends.entails(goal(ON), goal(other))
    assert ends.entails(goal(other), goal(ON))


def test_a_named_thing_is_one_of_its_kind(ends: EndStates, inventory: Inventory) -> None:
    apple = inventory.of("Apple")[0]
    named = goal(f"(exists (?t - countertop) (on {apple} ?t))")
    assert ends.entails(named, goal(ON))
    assert not ends.entails(goal(ON), named)


def test_two_things_are_more_than_one(ends: EndStates) -> None:
    two = goal("(exists (?a ?b - mug ?t - countertop) (and (not (= ?b ?a)) (on ?a ?t) (on ?b ?t)))")
    one = goal("(exists (?a - mug ?t - countertop) (on ?a ?t))")
    assert ends.entails(two, one)
    assert not ends.entails(one, two)


def test_what_happened_in_an_earlier_stage_counts(ends: EndStates, inventory: Inventory) -> None:
    apple = inventory.of("Apple")[0]
    staged = Goal((Stage(f"(microwaved {apple})"),
                   Stage(f"(exists (?t - countertop) (on {apple} ?t))")))  # fmt: skip
    assert ends.entails(staged, goal(HOT_ON))
    assert not ends.entails(Goal(staged.stages[1:]), goal(HOT_ON))


def reading(text: str | None, p: float) -> Reading:
    return Reading(Frame("place", "Apple", "CounterTop"), goal(text) if text else None, p)


THRESHOLDS = ReaderThresholds(alone=0.7, more=0.8, instead=0.85, near=0.3)


def choose(first: Goal | HvrError, second: Reading, ends: EndStates) -> Goal:
    return agreed(first, second, ends, THRESHOLDS, "abc")


def test_readings_that_agree_are_the_grammars(ends: EndStates) -> None:
    assert choose(goal(ON), reading(ON, 0.99), ends) == goal(ON)


def test_the_stronger_reading_meets_both(ends: EndStates) -> None:
    hot = "(exists (?a - apple ?t - countertop) (and (hot ?a) (on ?a ?t)))"
    microwaved = HOT_ON.replace("(microwaved ?a)", "(hot ?a) (microwaved ?a)")
    chosen = choose(goal(hot), reading(microwaved, 0.9), ends)
    assert chosen.stages == goal(microwaved).stages
    assert chosen.reader == "learnt abc"
    assert "90 % sure" in chosen.notes[0]


def test_the_grammar_is_never_overruled(ends: EndStates) -> None:
    both = "(exists (?s - dishsponge ?p - pot ?t - countertop) (and (on ?s ?t) (on ?p ?t)))"
    inside = "(exists (?s - dishsponge ?p - pot ?t - countertop) (and (in ?s ?p) (on ?p ?t)))"
    assert choose(goal(both), reading(inside, 0.99), ends) == goal(both)
    assert choose(goal(ON), reading(IN, 0.99), ends) == goal(ON)


def test_a_clean_thing_may_be_washed(ends: EndStates) -> None:
    clean = "(exists (?a - apple ?t - countertop) (and (not (dirty ?a)) (on ?a ?t)))"
    washed = clean.replace("(not (dirty ?a))", "(washed ?a) (not (dirty ?a))")
    chosen = choose(goal(clean), reading(washed, 0.9), ends)
    assert chosen.stages == goal(washed).stages
    assert choose(goal(clean), reading(washed, 0.7), ends) == goal(clean)


def test_a_sure_reading_stands_alone(ends: EndStates) -> None:
    chosen = choose(LanguageError("unknown"), reading(IN, 0.9), ends)
    assert chosen.reader == "learnt abc"


def test_a_refusal_names_the_nearest_reading(ends: EndStates) -> None:
    with pytest.raises(LanguageError, match=r"unknown; did you mean: "):
        choose(LanguageError("unknown"), reading(IN, 0.5), ends)
    with pytest.raises(LanguageError, match=r"^unknown$"):
        choose(LanguageError("unknown"), reading(IN, 0.1), ends)


def test_what_is_impossible_stays_so_unless_something_else_is_surely_meant(ends: EndStates) -> None:
    with pytest.raises(ImpossibleGoalError, match="no way"):
        choose(ImpossibleGoalError("no way"), reading(IN, 0.8), ends)
    chosen = choose(ImpossibleGoalError("no way"), reading(IN, 0.9), ends)
    assert chosen.reader == "learnt abc"


def test_what_is_impossible_is_replaced_only_by_a_reading_of_every_word(ends: EndStates) -> None:
    partial = replace(reading(IN, 0.9), whole=False)
    with pytest.raises(ImpossibleGoalError, match="no way"):
        choose(ImpossibleGoalError("no way"), partial, ends)


def test_warmth_that_nobody_asked_for_is_not_added(ends: EndStates) -> None:
    assert choose(goal(ON), reading(HOT_ON, 0.9), ends) == goal(ON)


def test_a_request_that_no_frame_says_is_the_grammars(ends: EndStates) -> None:
    full = goal("(exists (?m - mug ?t - countertop) (and (contains ?m water) (on ?m ?t)))")
    assert choose(full, reading(IN, 0.9), ends) == full


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ("slice half the bread", "half"),
        ("if the mug is dirty, wash it", "if"),
        ("put three apples in the fridge", "three"),
        ("wash both cups", ""),
    ],
)
def test_words_that_no_frame_says(request_: str, word: str) -> None:
    assert beyond(request_) == word


things = ("Apple", "Tomato", "Mug", "Pan", "Knife", "Book", "Egg", "WineBottle")
places = ("CounterTop", "Fridge", "Cabinet", "Microwave", "CoffeeMachine", "Shelf", "Toaster")
dishes = ("Bowl", "Mug", "Pan")
"""A scene without cups: a cup in a coffee machine is read as a mug, so that its affordances apply.
"""


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([k for k in KINDS if k != OTHER]), st.sampled_from(things),
    st.sampled_from(places), st.sampled_from(dishes), st.booleans(),
)  # fmt: skip
def test_a_frame_becomes_a_goal_that_affordances_allow_or_none(
    kind: str, thing: str, place: str, carrier: str, sliced: bool
) -> None:
    grammar, scene = grammar_reader(), kitchen()
    taxonomy = grammar.taxonomy
    frame = Frame(kind, thing, place, carrier if kind == "stack" else None, sliced)
    if kind not in ONLY_PLACING and kind in ("hold", "slice"):
        frame = replace(frame, place=None)
    meaning = meaning_of(frame, "x", taxonomy)
    try:
        goal_of(meaning, taxonomy, scene, grammar.domain)
    except ImpossibleGoalError:
        return
    outer = frame.carrier or frame.place
    inner = taxonomy.pieces(thing) if sliced else None
    assert scene.of(thing)
    assert outer is None or outer in taxonomy.places(inner or thing)


def test_readers_by_name(grammar: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    assert READERS == ("grammar", "learnt", "both")
    with pytest.raises(UsageError, match="unknown reader 'x'"):
        make_reader("x", grammar.ontology, grammar.domain)
    monkeypatch.setattr("hvr.language.learnt.find_spec", lambda _name: None)
    assert type(make_reader(None, grammar.ontology, grammar.domain)) is Reader
    with pytest.raises(MissingExtraError, match="language"):
        make_reader("learnt", grammar.ontology, grammar.domain)


def test_weights_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n")
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0no")
    pytest.importorskip("numpy")
    with pytest.raises(DataFileError, match="does not contain the weights"):
        SentenceEncoder(tmp_path)


words = st.lists(st.sampled_from(("put", "the", "knife", "in", "cup")), min_size=1, max_size=8)


@given(words)
def test_grams_are_words_and_neighbours_whatever_the_case(said: list[str]) -> None:
    found = grams(" ".join(said).upper() + "!")
    assert found == sorted(set(found)) == grams("  ".join(said))
    assert set(said) <= set(found)
    assert {f"< {said[0]}", f"{said[-1]} >"} <= set(found)


@needs_extra
def test_words_add_up_by_their_rarity_and_unknown_ones_add_nothing() -> None:
    import numpy as np

    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    weights = Ngrams(["cup", "knife"], np.array([3.0, 4.0]), table, np.array([0.5, 0.5]))
    assert np.allclose(weights.scores("A knife, a cup"), [0.5 + 3 / 5, 0.5 + 4 / 5])
    assert np.allclose(weights.scores("soap"), [0.5, 0.5])


@needs_extra
def test_a_head_that_is_none_is_refused(tmp_path: Path) -> None:
    import numpy as np

    np.savez(tmp_path / "head.npz", about=np.array('{"classes": [], "labels": {}, "tuned": []}'))
    with pytest.raises(DataFileError, match="not the head of a learnt reader: 'grams'"):
        Head(SentenceEncoder(), tmp_path / "head.npz")


@needs_extra
def test_the_encoder_is_that_of_the_package() -> None:
    """The expected numbers come from sentence-transformers 6.2 with the package's weights."""
    import numpy as np

    encoder = SentenceEncoder()
    vector = encoder.sentence("Put a chilled head of lettuce on the table, café!")
    assert encoder.pieces.numbers("tomatoe's")[0] == 101
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    assert np.allclose(vector[:6], EXPECTED, atol=2e-5)


EXPECTED = (0.025872, -0.024324, 0.0113, 0.044405, -0.017643, 0.013963)


@needs_extra
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("Place a chilled tomato slice on the kitchen counter.",
         Frame("cool", "Tomato", "CounterTop", None, True)),
        ("stick a rinsed off mug under the coffee brewer",
         Frame("clean", "Mug", "CoffeeMachine")),
        ("Move a bowl containing a spoon to the counter",
         Frame("stack", "Spoon", "CounterTop", "Bowl")),
    ],
)  # fmt: skip
def test_people_are_understood(
    learnt: LearntReader, inventory: Inventory, text: str, frame: Frame
) -> None:
    first = learnt.read(text, inventory)
    assert first.frame == frame
    assert first.goal is not None
    assert learnt.read(text, inventory) == first


@needs_extra
@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["tell me a joke", "put the cat in the oven", "räum die küche auf", "?"]
)
def test_what_is_off_the_point_is_not_acted_on(
    learnt: LearntReader, inventory: Inventory, text: str
) -> None:
    result = learnt.read(text, inventory)
    assert result.goal is None or result.p < ReaderThresholds().alone


@needs_extra
@pytest.mark.slow
def test_goals_that_the_scene_does_not_allow_are_never_read(
    learnt: LearntReader, inventory: Inventory
) -> None:
    for thing, place in product(("pan", "tomato"), ("toaster", "microwave", "drawer")):
        result = learnt.read(f"put the {thing} in the {place}", inventory)
        assert result.goal is None or result.frame.place in learnt.taxonomy.places(
            result.frame.thing
        )


@pytest.mark.parametrize(
    ("request_", "left_out"),
    [
        ("move a knife and the lettuce to the fridge. slice the lettuce", ("knife",)),
        ("take the knife and slice the lettuce, then put it in the fridge", ()),
        ("slice the lettuce with a knife and put it in the fridge", ()),
    ],
)
def test_a_tool_that_is_moved_with_a_thing_is_no_means(
    learnt: LearntReader, request_: str, left_out: tuple[str, ...]
) -> None:
    tokens = tokenize(request_)
    sliced = learnt.taxonomy.roles.predicates(DIVIDED)
    found = learnt._gate.coverage(tokens, ("LettuceSliced", "Fridge"), sliced, 1)
    assert found.against == left_out

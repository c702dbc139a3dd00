"""The lexicon from the ontology's labels, and the tokens of a text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import LanguageError
from hvr.knowledge.ontology import load_ontology
from hvr.language.lexicon import Dish, Noun, Verb, load_lexicon, plurals, tokenize
from hvr.language.spelling import Corrected, candidates, corrections, likelihood
from hvr.language.taxonomy import Taxonomy, literals

LEXICON = load_lexicon(load_ontology())
TAXONOMY = Taxonomy(load_ontology())


@pytest.mark.parametrize(
    ("word", "many"),
    [("apple", "apples"), ("knife", "knives"), ("dish", "dishes"), ("shelf", "shelves"),
     ("potato", "potatoes"), ("glass", "glasses"), ("slice of bread", "slices of bread"),
     ("berry", "berries"), ("tray", "trays")],
)  # fmt: skip
def test_plurals(word, many):
    assert many in plurals(word)


def test_tokens_are_words_names_and_punctuation():
    assert tokenize("Put mug-1, the chef\u2019s knife & 2 eggs!") == (
        "put", "mug-1", ",", "the", "chef's", "knife", "and", "2", "eggs", "!",
    )  # fmt: skip


def test_too_long_and_empty_texts_are_refused():
    for text in ("", " \t ", "a " * 2000):
        with pytest.raises(LanguageError):
            tokenize(text)


def test_plural_synonyms_are_plurals():
    (glasses,) = (e for e in LEXICON.lookup("glasses") if isinstance(e, Noun))
    assert glasses.plural
    dishes = [e.object_class for e in LEXICON.lookup("dishes") if isinstance(e, Noun)]
    assert dishes == ["Plate", "Dishware"]


def test_a_word_can_be_several_things():
    kinds = {type(e) for e in LEXICON.lookup("toast")}
    assert {Verb, Dish} <= kinds


def test_nearest_words():
    assert LEXICON.nearest("cofee") == ("coffee",)
    assert "wash" in LEXICON.nearest("wsh")
    assert LEXICON.nearest("tea")[0].startswith("tea")
    assert LEXICON.nearest("zzzz") == ()


def test_literals_of_conditions():
    assert literals("(and (washed ?x) (not (dirty ?x)))") == {("washed", True), ("dirty", False)}
    assert literals("(not (lid-closed ?x))") == {("lid-closed", False)}


def test_the_ontology_says_which_states_exclude_each_other_and_which_divide_things():
    opposed = TAXONOMY.methods.opposed
    assert opposed("(opened ?x)", "(not (opened ?x))")
    assert opposed("(or (hot ?x) (warm_liquid ?x))", "(cold ?x)")
    assert not opposed("(hot ?x)", "(hot ?x)")
    assert TAXONOMY.cuts("(sliced ?x)")
    assert not TAXONOMY.cuts("(not (sliced ?x))")
    assert TAXONOMY.cuts("(cracked ?x)") and not TAXONOMY.slices_it("(cracked ?x)")


@pytest.mark.slow
def test_the_lexicon_does_not_depend_on_hash_seeds():
    code = (
        "from hvr.knowledge.ontology import load_ontology\n"
        "from hvr.language.lexicon import load_lexicon\n"
        "print(list(load_lexicon(load_ontology()).entries.items()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


def test_misspelt_words_are_corrected():
    tokens = tokenize("put the tomatoe and the frok in the frigde")
    found = corrections(tokens, LEXICON)  # 'frok' may also be 'from'
    texts = {" ".join(corrected.tokens): corrected for corrected in found}
    assert texts["put the tomato and the fork in the fridge"].notes[0] == (
        "read 'tomatoe' as 'tomato'"
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("could u pls put the appel in teh fridge", "could you pls put the apple in teh fridge"),
        ("dont open teh frigde", "don't open teh fridge"),
        ("slice the spple adn wash it", "slice the apple and wash it"),
    ],
)
def test_chat_is_read(text, plain):
    (corrected,) = corrections(tokenize(text), LEXICON)
    assert " ".join(corrected.tokens) == plain


@pytest.mark.parametrize(
    "word", ["cake", "shirt", "cat", "peel", "mash", "door", "tea", "zzzzz", "late", "cable", "map"]
)
def test_other_words_are_left_alone(word):
    assert corrections((word,), LEXICON) == (Corrected((word,)),)


@pytest.mark.slow
@given(st.sampled_from(sorted(w for w in LEXICON.words if len(w) > 6)), st.data())
def test_what_is_corrected_is_near_and_known(word, data):
    at = data.draw(st.integers(1, len(word) - 1))
    misspelt = word[:at] + data.draw(st.sampled_from("aeiourst")) + word[at:]
    for meant in candidates(misspelt, LEXICON):
        assert meant in LEXICON.parts and likelihood(misspelt, meant) <= 2

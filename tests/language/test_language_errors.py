"""Requests that cannot be understood or done are refused with a reason."""

from __future__ import annotations

import re

import pytest

from hvr.errors import HvrError, ImpossibleGoalError, LanguageError, MissingObjectError
from hvr.language.lexicon import tokenize

REFUSED = [
    ("", LanguageError, "empty"),
    ("   \n", LanguageError, "empty"),
    ("?!", LanguageError, "not name a known thing"),
    ("42", LanguageError, "not name a known thing"),
    ("²³ ٣", LanguageError, "not name a known thing"),
    ("asdf qwer", LanguageError, "not name a known thing"),
    ("the", LanguageError, "not name a known thing"),
    ("hello robot", LanguageError, "not name a known thing"),
    ("make coffe beans", LanguageError, "unknown word: 'beans'"),
    ("bake a cake", LanguageError, "unknown word: 'cake'"),
    ("make tea", LanguageError, "'tea kettle'"),
    ("make a pizza", LanguageError, "hvr knows how to make .*coffee"),
    ("make a fork", LanguageError, "does not know how to make 'fork'"),
    ("do not open the fridge", LanguageError, "no action found"),
    ("make coffee or tea", LanguageError, "'tea'"),
    ("if the mug is dirty, wash it", None, ""),
    ("whenever the mug is dirty, wash it", LanguageError, "does not wait for events"),
    ("wash the mug without sugar", LanguageError, "'sugar'"),
    ("half an apple on a plate", LanguageError, "'half'"),
    ("what is in the fridge", LanguageError, "does not answer questions"),
    ("put the cup outside", LanguageError, "'outside'"),
    ("put the cup", LanguageError, "where"),
    ("slice", LanguageError, "what"),
    ("wash it", LanguageError, "what 'it' refers to"),
    ("put the mug in it", LanguageError, "what 'it' refers to"),
    ("wash the cup, open the fridge, wash both", LanguageError, "which two things 'both' refers"),
    ("pour the wine", None, ""),
    ("pour the apple", LanguageError, "say what to pour"),
    ("put the mug in the mug", LanguageError, "in itself"),
    ("put the plate on the bowl and the bowl on the plate", HvrError, "bowl|plate"),
    ("put 500 apples in the fridge", LanguageError, "500"),
    ("put the fridge in the apple", LanguageError, "not a receptacle"),
    ("heat the potato with a book", LanguageError, "does not know how to heat"),
    ("toast the mug", ImpossibleGoalError, "lacks the affordance Toastable"),
    ("slice the fridge", ImpossibleGoalError, "lacks the affordance Sliceable"),
    ("cooked the apple", LanguageError, "cannot make sense of 'the apple' after 'cooked'"),
    ("fill the plate with water", ImpossibleGoalError, "lacks the affordance Fillable"),
    ("open the apple", ImpossibleGoalError, "an apple lacks the affordance Openable"),
    ("wash the toaster", ImpossibleGoalError, "lacks the affordance Washable"),
    ("cook the knife", ImpossibleGoalError, "lacks the affordance Cookable"),
    ("pick up the stove", ImpossibleGoalError, "lacks the affordance Pickupable"),
    ("throw away the fridge", ImpossibleGoalError, "lacks the affordance Pickupable"),
    ("microwave the tomato", ImpossibleGoalError, "does not go into a microwave"),
    ("put the pan in the microwave", ImpossibleGoalError, "it can be put on or in: "),
    ("put three forks on the counter", ImpossibleGoalError, "only 1 fork, not 3"),
    ("pick up the apple and the mug", ImpossibleGoalError, "one arm"),
    ("put mug-7 on the counter", ImpossibleGoalError, "no mug-7; it has mug-1"),
    ("put everything in the fridge", ImpossibleGoalError, "cannot be put on or in a fridge"),
    ("put the apple on the table", MissingObjectError, "has no table"),
    ("x" * 3000, LanguageError, "got 3000"),
]


@pytest.mark.parametrize(("text", "error", "message"), REFUSED, ids=[r[0][:40] for r in REFUSED])
def test_refused_with_a_reason(understand, text, error, message):
    if error is None:
        understand("1", text)
        return
    with pytest.raises(error, match=message) as caught:
        understand("1", text)
    assert caught.value.exit_code in {1, 2}
    assert "\n" not in str(caught.value)


def test_a_missing_object_tells_its_classes(understand):
    with pytest.raises(MissingObjectError) as caught:
        understand("28", "boil water in the kettle")
    assert caught.value.scene == "FloorPlan28"
    assert caught.value.classes == ("Kettle",)
    with pytest.raises(MissingObjectError, match="wine bottle, needed for wine") as caught:
        understand("28", "serve a glass of wine")
    assert caught.value.classes == ("WineBottle",)


def test_nothing_to_do_is_said(understand):
    with pytest.raises(ImpossibleGoalError, match="nothing on or in the side table can be moved"):
        understand("28", "move everything from the side table to the dining table")


@pytest.mark.parametrize("number", ["-1", "1.5", "-2.5"])
def test_numbers_that_count_nothing_are_refused(number: str) -> None:
    with pytest.raises(LanguageError, match=f"not {re.escape(number)}"):
        tokenize(f"put {number} apples in the fridge")

"""Words around a wish change nothing; denied, past and reported wishes are not carried out."""

from __future__ import annotations

import pytest

from hvr.errors import AmbiguousError, LanguageError
from tests.language.test_asides import read

AROUND = (
    "would it be too much trouble to {}",
    "i was wondering whether you'd mind {ing}",
    "i'd be ever so grateful if you {ed}",
    "my back is killing me, so {}",
    "the kids will be home any minute so {}",
    "for the photo shoot i want you to {}",
    "you know what would be great? {}",
    "if you've got a sec, {}, ta",
    "what about {ing}",
    "{} before my sister arrives",
    "{} or else i'll be cross",
    "{} - no hurry though",
    "do me a solid and {}",
    "i can't face it tonight. {}?",
    "{} like the good robot you are",
    "it's about time you {ed}",
    "i'm begging you to {}",
    "do you reckon you could {}",
    "how would you feel about {ing}",
    "we don't want a fire, {}",
    "not to be rude but {}",
    "while tidying up for the party, {}. it keeps things neat and pleasant",
    "even though the pantry is open, {}",
    "to prepare for the holidays, {}, ready for a fresh start",
    "after a long day of meetings, {}. its shine cheers everybody up",
    "instead of standing around, {}",
)


@pytest.mark.parametrize("words", AROUND)
def test_words_around_a_wish_change_nothing(words: str) -> None:
    text = words.replace("{ing}", "washing the mug").replace("{ed}", "washed the mug")
    assert read(text.replace("{}", "wash the mug")).stages == read("wash the mug").stages


@pytest.mark.parametrize(
    "text",
    [
        "i was going to slice the apple but i'm full",
        "he already sliced the apple",
        "i'm glad you sliced the apple",
        "you should never slice the apple",
        "if i had asked you to slice the apple you would have",
        "could you show me how to slice the apple",
        "have you sliced the apple",
        "why would anyone slice the apple",
        "the last thing i want is for you to slice the apple",
        "slice the apple if my wife agrees",
        "after the guests leave, slice the apple",
        "when boiling, slice the apple",
        "after slicing the bread and serving it to the guests, slice the apple",
        "tomorrow, slice the apple",
        "slice the apple with a hammer",
        "feed the cat and slice the apple",
        "would you mind not slicing the apple",
        "i see you slice the apple",
        "you used to slice the apple",
        "slice the apple in an hour",
        "how would you feel if i sliced the apple",
    ],
)
def test_other_sentences_about_a_wish_are_refused(text: str) -> None:
    with pytest.raises(LanguageError):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "my wife told me to tell you to slice the apple",
        'he said "slice the apple"',
        "slice the apple, just kidding",
        "robots slice the apple",
    ],
)
def test_doubtful_wishes_are_asked_about(text: str) -> None:
    with pytest.raises(AmbiguousError, match="did you mean: the apple is sliced"):
        read(text)

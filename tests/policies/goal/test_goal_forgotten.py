"""Objects that a request names and the goal omits."""

from __future__ import annotations

import pytest

from hvr.policies.goal.answer import GoalVocabulary, parse_goal_answer
from hvr.policies.goal.policy import unmentioned_objects
from tests.policies.goal.test_goal_checking import words as known_words

REQUEST = "put a slice of apple, the fork and a cup of wine on the dining table"


WORDS: GoalVocabulary = known_words()


def names(request: str, *literals: str, left_out: tuple[str, ...] = ()) -> tuple[str, ...]:
    stage = [
        {"predicate": predicate, "args": args, "holds": True}
        for predicate, *args in (text.split() for text in literals)
    ]
    answer = parse_goal_answer({"stages": [stage], "left_out": list(left_out)})
    return unmentioned_objects(request, answer, WORDS)


ALL = ("on AppleSliced DiningTable", "on fork-1 DiningTable", "contains Cup wine")


def test_a_goal_that_speaks_of_everything_forgets_nothing() -> None:
    assert names(REQUEST, *ALL) == ()


@pytest.mark.parametrize(
    ("left", "said"), [(0, ("slice of apple",)), (1, ("fork",)), (2, ("cup", "wine"))]
)
def test_what_is_left_out_is_named(left: int, said: tuple[str, ...]) -> None:
    kept = (literal for n, literal in enumerate(ALL) if n != left)
    assert names(REQUEST, *kept) == said


def test_means_and_what_the_model_says_that_it_leaves_out_are_not() -> None:
    heat = "slice the apple with the knife and heat a slice of it in the microwave"
    assert names(heat, "microwaved AppleSliced") == ()
    assert names(REQUEST, *ALL[1:], left_out=("a slice of apple",)) == ()

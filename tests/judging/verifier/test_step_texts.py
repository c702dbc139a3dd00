"""Step texts are judged by the words that they share with the request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.judgement.draft_reader import StepTexts, TextModel, read_texts
from hvr.judging.verifier.judgement.fit import fit_judge
from hvr.judging.verifier.judgement.judge import Judge
from hvr.tools.tool_plans import ToolPlan
from tests.judging.verifier.small_world import (
    PLACES,
    HashEncoder,
    small_plans,
    small_tools,
    tiny_config,
)

NAMES = ("Paris", "Oslo", "Bergen", "Turin", "Lyon", "Kiev")


def embedded() -> ToolEmbeddings:
    return ToolEmbeddings(small_tools(), HashEncoder(), tiny_config())


def told(number: int) -> ToolPlan:
    """Return a plan whose steps mention the town and the number of its request."""
    plan = small_plans()[number % 72]
    town = NAMES[number % len(NAMES)]
    steps = tuple(f"{s} in {town} for number {number}" for s in plan.steps)
    return replace(
        plan, id=f"{plan.id} {number}", request=f"{plan.request} {number} in {town}", steps=steps
    )


@pytest.fixture(scope="module")
def judge() -> Judge:
    return fit_judge(embedded(), [told(i) for i in range(72)])


def test_words_of_the_tool_are_not_of_the_request() -> None:
    said = read_texts(
        embedded(), "book a train to Oslo at 9", [("book_train", "book the train in Bergen at 10")]
    )
    assert said.strange(0) == ["berge", "10"]
    assert said.counts.tolist() == [1, 1, 0, 1, 0, 0, 0]
    same = read_texts(embedded(), "book it in Oslo at 9", [("book_train", "book it in Oslo at 9")])
    assert same.strange(0) == [] and same.counts.tolist() == [1, 0, 1, 0, 1, 0, 0]


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True))
def test_steps_go_back_unless_they_keep_the_order_of_the_request(words: list[str]) -> None:
    steps = [[(w, 2)] for w in words]
    assert StepTexts(words, steps).backwards == 0
    assert (StepTexts(words, steps[::-1]).backwards > 0) == (len(words) > 1)


def test_without_anything_learnt_texts_change_nothing() -> None:
    said = read_texts(embedded(), "book it", [("book_train", "pay in Oslo at 9")])
    assert TextModel().order(said) == 0
    assert TextModel().same_request(said) == pytest.approx(0.95)


@pytest.mark.slow
def test_a_plan_that_speaks_of_other_things_is_not_for_the_request(judge: Judge) -> None:
    own = told(100)
    other = replace(own, request=own.request.replace("100", "999").replace(NAMES[4], "Madrid"))
    right, wrong = judge.judge([own, other])
    assert right.score > wrong.score + 0.2
    surer = replace(judge, texts=TextModel((0.0, -5.0, 0.0, -5.0, 0.0, 0.0, 0.0)))
    found = surer.judge([other])[0]
    assert not found.accepted and "which the request does not" in found.findings[0].reason
    assert "100" in found.findings[0].reason
    silent = replace(other, steps=())
    assert judge.judge([silent])[0].score > wrong.score


@pytest.mark.slow
def test_plans_without_texts_are_learnt_from_all_the_same() -> None:
    plans = [replace(p, steps=()) for p in small_plans()]
    judge = fit_judge(embedded(), plans)
    assert judge.texts.same_request(StepTexts((), ())) == pytest.approx(0.95)
    assert judge.texts.backwards == 0
    assert len(PLACES) == 6 and judge.judge(plans[:1])[0].score > 0.3

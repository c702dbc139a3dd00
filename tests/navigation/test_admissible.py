"""What may be done next: computed, and all that a model may choose among."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.navigation.chains import CallFacts, NavigationTool
from hvr.navigation.decision import Decision, NextMove, admissible, choose

TOOLS = (
    NavigationTool("by_email", frozenset({"email"}), frozenset({"user"})),
    NavigationTool("by_name", frozenset({"name"}), frozenset({"user"})),
    NavigationTool("weather", frozenset(), frozenset({"degrees"})),
    NavigationTool("cancel", frozenset({"user", "reason"}), frozenset()),
)
GOAL = CallFacts(done=frozenset({"cancel"}))


def test_other_calls_of_use_are_admissible_and_useless_ones_are_not() -> None:
    facts = CallFacts(frozenset({"email", "name", "reason"}))
    found = admissible(facts, GOAL, TOOLS, {tool.name for tool in TOOLS})
    calls = {one.call for one in found if one.move is NextMove.CALL}
    assert calls == {"by_email", "by_name"}


def test_what_the_user_alone_can_say_may_be_asked_for_though_a_call_is_possible() -> None:
    tools = (*TOOLS, NavigationTool("note", frozenset({"email"}), frozenset({"name"})))
    facts = CallFacts(frozenset({"email"}))
    found = admissible(facts, GOAL, tools, {tool.name for tool in tools})
    assert ("reason",) in {one.ask for one in found}


def test_only_the_answer_is_admissible_when_all_is_done() -> None:
    facts = CallFacts(done=frozenset({"cancel"}))
    (only,) = admissible(facts, GOAL, TOOLS, ())
    assert only.move is NextMove.ANSWER


@pytest.mark.slow
@given(st.text(max_size=40))
def test_whatever_a_model_says_one_of_the_admissible_is_chosen(said: str) -> None:
    facts = CallFacts(frozenset({"email", "name", "reason"}))
    found = _FOUND or admissible(facts, GOAL, TOOLS, {tool.name for tool in TOOLS})
    _FOUND[:] = found
    assert choose(found, said) in found
    assert choose(found, "2, because") == found[1]
    assert choose(found, "99") == choose(found, "call rm") == found[0]


_FOUND: list[Decision] = []

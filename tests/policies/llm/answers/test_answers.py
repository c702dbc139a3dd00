# ruff: noqa: E501 - the junk is verbatim
"""Parsers of a model's answers, on a table of messy ones and on arbitrary text."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.policies.llm.answers import (
    Actions,
    LiteralText,
    read_actions,
    read_conditions,
    read_macro_plan,
    read_objects,
)
from tests.policies.llm.answers.answer_tables import (
    ACTIONS,
    CONDITIONS,
    MACRO_PLANS,
    OBJECTS,
    UNREAD,
)

JUNK = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["(", ")", "[", "]", "{", "}", ",", "-", "*", "**", "`", "```", "\n", "\r\n", "\t", "|", "# ",
         "1. ", "2) ", "Actions:", "Description:", "Preconditions:", "Postconditions:", "not ", "and ",
         "or ", "pick_up", "put_on ", "mug-1", "<think>", "</think>", '"', "'", ": ", "->", ";", "=",
         "Corrected plan:", "Step 1", "go to ", "Put ", " in the ", "(not (", "?x", "²", "ﷺ", "\x00"]
    ),
    max_size=60,
).map("".join)  # fmt: skip


def shown(actions: Actions) -> str:
    return "; ".join(f"{a.name} {', '.join(a.args)}".strip() for a in actions.actions)


def literals(found: tuple[LiteralText, ...]) -> str:
    return " ".join(literal.text for literal in found)


@pytest.mark.parametrize(("text", "meant"), [c[1:] for c in OBJECTS], ids=[c[0] for c in OBJECTS])
def test_objects(text: str, meant: str) -> None:
    assert read_objects(text) == tuple(meant.split())


@pytest.mark.parametrize(
    ("text", "meant"), [c[1:] for c in MACRO_PLANS], ids=[c[0] for c in MACRO_PLANS]
)
def test_macro_plans(text: str, meant: tuple[str, ...]) -> None:
    assert read_macro_plan(text) == meant


@pytest.mark.parametrize(
    ("text", "count", "meant"), [c[1:] for c in CONDITIONS], ids=[c[0] for c in CONDITIONS]
)
def test_conditions(text: str, count: int, meant: tuple[tuple[str, str], ...]) -> None:
    found = read_conditions(text, count)
    assert tuple((literals(c.precondition), literals(c.postcondition)) for c in found) == meant


@pytest.mark.parametrize(("text", "meant"), [c[1:] for c in ACTIONS], ids=[c[0] for c in ACTIONS])
def test_actions(text: str, meant: str) -> None:
    assert shown(read_actions(text)) == meant


@pytest.mark.parametrize(
    ("text", "meant", "unread"), [c[1:] for c in UNREAD], ids=[c[0] for c in UNREAD]
)
def test_lines_that_cannot_be_read_are_kept(text: str, meant: str, unread: int) -> None:
    found = read_actions(text)
    assert shown(found) == meant
    assert len(found.unread) == unread


def test_parts_that_are_no_literals_are_named() -> None:
    text = "1. X\nPreconditions: (or (hot a-1) (cold a-1)) (hot b-1)\nPostconditions: (= a-1 b-1)"
    (found,) = read_conditions(text, 1)
    assert found.problems == ("(or (hot a-1) (cold a-1))", "(= a-1 b-1)")


def test_an_action_knows_its_line() -> None:
    (action,) = read_actions("Sure:\n1. **pick_up**(`mug-1`)  # take it").actions
    assert str(action) == "(pick_up, mug-1)"
    assert "pick_up" in action.line and "take it" in action.line


@pytest.mark.slow
@settings(max_examples=80)
@given(JUNK, st.integers(0, 4))
def test_no_text_raises(text: str, count: int) -> None:
    read_objects(text)
    read_macro_plan(text)
    read_actions(text)
    assert len(read_conditions(text, count)) == count


NAMES = st.sampled_from(
    ["pick_up", "put_on", "navigate_to_obj", "open_obj", "toggle_on", "slice_obj"]
)
OBJECT = st.builds(
    "{}-{}".format, st.text(string.ascii_lowercase, min_size=2, max_size=9), st.integers(1, 30)
)
PLANS = st.lists(st.tuples(NAMES, st.lists(OBJECT, min_size=1, max_size=2)), min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    PLANS,
    st.sampled_from(
        ["{i}. ({n}, {a})", "{i}) {n}({a})", "- `({n}, {a})`", "({n}, {a})", "{n}({a});"]
    ),
    st.sampled_from(["", "Description: It acts.\n\nActions:\n", "Sure, here it is:\n\n```\n"]),
)
def test_a_plan_comes_back_as_it_was_written(
    plan: list[tuple[str, list[str]]], form: str, before: str
) -> None:
    text = before + "\n".join(
        form.format(i=i, n=name, a=", ".join(args)) for i, (name, args) in enumerate(plan, 1)
    )
    found = read_actions(text)
    assert [(a.name, list(a.args)) for a in found.actions] == plan
    assert not found.unread


@pytest.mark.slow
@pytest.mark.parametrize(
    "junk",
    ["(" * 200_000, "[" * 200_000, "{[" * 100_000, "(a " * 60_000, "1. " * 60_000, "a-" * 100_000,
     "<think>" * 30_000, "not (" * 40_000, "- x\n" * 50_000, "pick_up mug-1 " * 14_000, "**" * 100_000,
     "\n" * 200_000, " " * 200_000, "Corrected plan:\n" * 12_000, "_a" * 100_000, "Actions: (" * 20_000,
     '{"action": ' * 18_000, "Preconditions: (not " * 10_000, "|" * 200_000, "mug, " * 40_000,
     "a" * 200_000, "(pick_up, mug-1)" * 12_000],
    ids=lambda junk: junk[:12].strip() or "blank",
)  # fmt: skip
def test_much_junk_is_read_to_the_end(junk: str) -> None:
    read_objects(junk)
    read_macro_plan(junk)
    read_actions(junk)
    assert len(read_conditions(junk, 2)) == 2

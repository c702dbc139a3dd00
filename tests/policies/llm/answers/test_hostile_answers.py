"""Parsers of answers, on texts designed to slow them down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.policies.llm.answers import read_actions, read_conditions, read_macro_plan, read_objects
from hvr.policies.llm.answers.plans import MAX_NAMES
from hvr.policies.llm.answers.text import MAX_READ_CHARACTERS

# Each is repeated many times; a quadratic regular expression would run for minutes.
PIECES = (
    "(", ")", "[", "{", ",", ":", "-", "*", "__a", "`", "a", "a_", "a-", "(a)", "((a))", "x=", "->",
    "ﷺ", "<|im", "1.", "1.a", "<think>", "[1],", '["a"],', '{"a":', "pre", "before(", "not", "(not",
    "(and", "then", ".A", "step", "pick_up(mug-1)", "mug-1,", "|a", "*a*", "_a_", ":effect",
    "name:a", "robot",
)  # fmt: skip
WORDS = (
    " ", "\n", "1. a\n", "1. Pick up the mug\n", "(pick_up, mug-1)\n", "the ", "```\n",
    "- name: a\n  args: b\n", "corrected plan:\n1. a\n", "1. A 2. B ", "pick up the mug-1 and ",
    "Preconditions: (a b)\n", "precondition (", "<a> (1) ",
    '{"action": "pick_up", "args": ["mug-1"]}\n',
)  # fmt: skip
STARTS = (
    "pre", "before (", "1. ", "(pick_up", "[a] ", "plan", "Actions", '{"a": "', "```", "*", "_",
)  # fmt: skip

_PROGRAM = """
import sys
from hvr.models.replies import find_json
from hvr.policies.llm.answers import read_actions, read_conditions, read_macro_plan, read_objects
from tests.policies.llm.answers.test_hostile_answers import hostile_texts
for text in hostile_texts():
    read_actions(text), read_conditions(text, 5), read_macro_plan(text), read_objects(text)
    try:
        find_json(text, {"type": "object", "required": ["a"]})
    except ValueError:
        pass
print("done")
"""


def hostile_texts() -> list[str]:
    """Return the texts: some very long, some with long lines."""
    texts = [piece * (100_000 // len(piece)) for piece in ("(", "1. ", "1. a\n", " ", "a")]
    texts += [piece * (15_000 // len(piece)) for piece in (*PIECES, *WORDS)]
    for piece in PIECES:
        texts.append(f"1. {(piece * 1900)[:1900]}!\n" * 4)
    texts += [f"{start}{blank * 1900}!\n" * 8 for start in STARTS for blank in " a"]
    return texts


@pytest.mark.slow
def test_no_text_keeps_the_readers_busy() -> None:
    pytest.importorskip("jsonschema")
    root = Path(__file__).parents[4]
    # It takes seconds, on a machine that may be busy.
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=root, capture_output=True, check=False, text=True, timeout=600,
    )  # fmt: skip
    assert ended.stdout == "done\n", ended.stderr[-2000:]


@pytest.mark.parametrize("depth", [50, 200, 400, 600, 900, 5000])
@pytest.mark.parametrize(
    ("before", "inside", "after"),
    [
        ("[", '"(a b)"', "]"),
        ('{"plan": ', '["pick up mug"]', "}"),
        ('{"actions": ', '["pick up mug"]', "}"),
        ('{"preconditions": ', '"(a b)"', "}"),
        ("(", "a b", ")"),
        ("(not ", "(a b)", ")"),
        ("(and ", "(a b)", ")"),
    ],
)
def test_nesting_is_no_error(depth: int, before: str, inside: str, after: str) -> None:
    nested = before * depth + inside + after * depth
    for text in (nested, f'{{"preconditions": {nested}}}', f"1. A\nPreconditions: {nested}"):
        read_actions(text)
        read_conditions(text, 3)
        read_macro_plan(text)
        read_objects(text)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.sampled_from((*PIECES, *WORDS, *STARTS)), max_size=12), st.integers(1, 1000))
def test_what_is_read_is_bounded(pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    assert len(read_objects(text)) <= MAX_NAMES
    titles = read_macro_plan(text)
    assert len(titles) <= MAX_READ_CHARACTERS and all(len(title) <= 200 for title in titles)
    actions = read_actions(text)
    assert len(actions.actions) + len(actions.unread) <= MAX_READ_CHARACTERS
    assert len(read_conditions(text, 5)) == 5

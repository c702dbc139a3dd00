"""Rewards of calls by the resulting state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.knowledge.world_file import load_world
from hvr.tools.calling.calls import ToolCall
from hvr.tools.calling.rewards import ToolRewards
from hvr.tools.calling.worlds import open_tools
from hvr.validation.rewards import MISSED

DESK = '''
from typing import Any

state: dict[str, Any] = {"books": {"B-7": "Emma", "B-8": "Ulysses"}, "loans": {}}


def find_book(title: str) -> str:
    """Find a book by its title."""
    return next(number for number, name in state["books"].items() if name == title)


def lend_book(book_id: str, reader: str) -> str:
    """Lend a book to a reader."""
    if book_id in state["loans"]:
        raise ValueError(f"{book_id} is lent")
    state["loans"][book_id] = reader
    return "lent"


def give_back(book_id: str) -> str:
    """Take a book back."""
    del state["loans"][book_id]
    return "back"
'''
LEND = {"name": "lend_book", "arguments": {"book_id": "B-7", "reader": "Ann"}}
FIND = {"name": "find_book", "arguments": {"title": "Emma"}}
OTHER = {"name": "lend_book", "arguments": {"book_id": "B-8", "reader": "Ann"}}
BACK = {"name": "give_back", "arguments": {"book_id": "B-8"}}


@pytest.fixture(scope="module")
def rewards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolRewards]:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "desk.py").write_text(DESK, encoding="utf-8")
    (folder / "world.toml").write_text('[tools]\nmodule = "desk"\nreads = ["find_book"]\n')
    environment = open_tools(load_world(str(folder)))
    yield ToolRewards(environment, [ToolCall(LEND["name"], LEND["arguments"])])  # type: ignore[arg-type]
    environment.close()


def answer(*calls: dict[str, object]) -> list[dict[str, object]]:
    made = [
        {"id": f"c{i}", "type": "function",
         "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}}
        for i, c in enumerate(calls)
    ]  # fmt: skip
    return [{"role": "assistant", "content": None, "tool_calls": made}]


def test_the_goal_state_counts_and_not_the_way(rewards: ToolRewards) -> None:
    short, long, around = rewards.scores(
        [answer(LEND), answer(FIND, LEND), answer(OTHER, BACK, LEND)]
    )
    assert [score.reward for score in (short, long, around)] == [1.0, 1.0, 1.0]
    assert short.rewards == (1.0,) and long.rewards == (0.0, 1.0)


def test_what_is_missing_or_changed_beside_costs(rewards: ToolRewards) -> None:
    none, other, both, empty = rewards.scores(
        [answer(FIND), answer(OTHER), answer(LEND, OTHER), "I would lend Emma to Ann."]
    )
    assert none.reward == other.reward == both.reward == empty.reward == 0
    assert "missing required changes" in none.says
    assert "1 other value is wrong" in both.says
    assert "no call" in empty.says
    assert both.rewards == (1.0, -1.0)


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "<tool_call>{}</tool_call>"])
def test_calls_written_as_json_text_are_made(rewards: ToolRewards, form: str) -> None:
    (score,) = rewards.scores([form.format(json.dumps(LEND))])
    assert score.reward == 1 and not score.says


@given(st.lists(st.sampled_from([LEND, FIND, OTHER, BACK]), max_size=6))
def test_rewards_are_bounded(rewards: ToolRewards, calls: list[dict[str, object]]) -> None:
    (score,) = rewards.scores([answer(*calls)])
    assert (score.reward == 1) == score.reached
    assert score.reached or 0 <= score.reward <= MISSED
    assert all(-1 <= reward <= 1 for reward in score.rewards)
    assert not calls or sum(score.rewards) == pytest.approx(float(score.reached))


def test_a_reference_that_fails_is_a_mistake_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(DESK, encoding="utf-8")
    (tmp_path / "world.toml").write_text('[tools]\nmodule = "desk"\n')
    with pytest.raises(UsageError, match="reference call 1"):
        ToolRewards(open_tools(load_world(str(tmp_path))), [ToolCall("fly", {})])

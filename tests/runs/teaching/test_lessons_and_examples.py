"""Chat examples: their answers are right, and the halves share nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr import rewards
from hvr.errors import UsageError
from hvr.pddl import Task, parse_domain, parse_plan, parse_problem
from hvr.policies.llm.next_steps import END, HEAD, NextSteps
from hvr.runs.teaching import Teaching, examples
from hvr.validation.validator import Validator
from tests.command_line import Hvr

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(examples(Teaching(worlds=("blocksworld",), count=15, error=0.3)))


def score(row: Row, plan: Row) -> float:
    (judged,) = rewards.PlanRewards().scores(
        [row["messages"][-1]["content"]],
        domain=plan["domain"],
        problem=plan["problem"],
        best=plan["best"],
    )
    return judged.reward


def by_lesson(rows: list[Row]) -> dict[str, list[Row]]:
    lessons: dict[str, list[Row]] = {}
    for row in rows:
        lessons.setdefault(row["id"].rpartition("-")[0], []).append(row)
    return lessons


@pytest.mark.slow
def test_every_plan_and_correction_is_a_shortest_plan(rows: list[Row]) -> None:
    checked = []
    for lesson in by_lesson(rows).values():
        plan = next((row for row in lesson if row["purpose"] == "plan"), None)
        if plan is None:
            continue  # another request had the same prompts
        for row in lesson:
            if row["purpose"] in ("plan", "correct_plan"):
                assert score(row, plan) == 1.0
                checked.append(row["purpose"])
    assert {"plan", "correct_plan"} == set(checked)


def test_a_correction_shows_a_wrong_answer_and_the_validators_words(rows: list[Row]) -> None:
    corrections = [row for row in rows if row["purpose"] == "correct_plan"]
    assert corrections
    for row in corrections:
        prompt = row["messages"][-2]["content"]
        wrong = prompt.partition("Actions that were written:")[2].partition("Problem:")[0].strip()
        assert "Problem:" in prompt
        assert wrong != row["messages"][-1]["content"].removeprefix("Actions:").strip()


@pytest.mark.parametrize("shared", ["task", "scene", "wording"])
def test_the_halves_share_nothing(rows: list[Row], shared: str) -> None:
    halves = [{row[shared] for row in rows if row["split"] == half} for half in _HALVES]
    assert all(halves)
    assert halves[0].isdisjoint(halves[1])


_HALVES = ("train", "held-out")


def test_no_prompt_is_repeated(rows: list[Row]) -> None:
    prompts = [json.dumps(row["messages"][:-1]) for row in rows]
    assert len(set(prompts)) == len(prompts)


@pytest.mark.slow
def test_the_same_options_give_the_same_examples(rows: list[Row]) -> None:
    assert list(examples(Teaching(worlds=("blocksworld",), count=15, error=0.3))) == rows


@pytest.mark.slow
def test_blocks_of_the_hierarchical_setting_form_a_plan() -> None:
    rows = list(examples(Teaching(worlds=("blocksworld",), count=4, setting="HVR")))
    assert {"macro_plan", "conditions", "block"} <= {row["purpose"] for row in rows}


def test_structured_answers_follow_their_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    rows = list(examples(Teaching(worlds=("blocksworld",), count=3, setting="VR+structured")))
    for row in rows:
        jsonschema.validate(json.loads(row["messages"][-1]["content"]), row["schema"])


@pytest.mark.slow
def test_kitchens_give_examples_with_their_licence() -> None:
    rows = list(examples(Teaching(worlds=("kitchen",), count=2, held_out=0.5)))
    assert {row["split"] for row in rows} == set(_HALVES)
    for row in rows:
        assert "rl_ai2thor" in row["licence"]
        if row["purpose"] == "plan":
            assert score(row, row) == 1.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"worlds": ()}, "at least one world"),
        ({"worlds": ("blocksworld",), "held_out": 1.5}, "from 0 to 1"),
        ({"worlds": ("nowhere",)}, "nowhere"),
        ({"worlds": ("parcels",)}, "parcels"),
        ({"worlds": ("blocksworld",), "setting": "XYZ"}, "XYZ"),
        ({"worlds": ("blocksworld",), "setting": "LLM+P"}, "does not ask for a whole plan"),
        ({"worlds": ("blocksworld",), "error": 7.0}, "0 to 1"),
        ({"worlds": ("blocksworld",), "count": 0}, "at least 1"),
    ],
)
def test_bad_options_are_explained(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        list(examples(Teaching(**{"count": 2, **options})))


@pytest.mark.slow
def test_the_command_replaces_no_file(tmp_path: Path, hvr_: Hvr) -> None:
    out = tmp_path / "data.jsonl"
    call = ("export", "sft", "--worlds", "blocksworld", "--count", "2", "--out", str(out))
    done = hvr_(*call)
    assert done.code == 0, done.err
    assert "licence: Apache-2.0" in done.err
    lines = out.read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["licence"] for line in lines)
    again = hvr_(*call)
    assert again.code == 2
    assert "already exists" in again.err
    assert out.read_text(encoding="utf-8").splitlines() == lines


# Constrained decoding -----------------------------------------------------------------------------

DOMAIN = parse_domain(Path(__file__).parents[3] / "worlds" / "blocksworld" / "domain.pddl")
PROBLEM = parse_problem(
    Path(__file__).parents[3] / "worlds" / "blocksworld" / "problems" / "tower.pddl", DOMAIN
)


@given(choices=st.lists(st.integers(0, 99), max_size=12))
@settings(deadline=None, max_examples=30)
def test_every_answer_under_the_constraint_is_executable(choices: list[int]) -> None:
    task = Task(DOMAIN, PROBLEM)
    following = NextSteps(task)
    lines = [HEAD]
    for choice in choices:
        allowed = [line for line in following(lines) if line != END]
        if not allowed:
            break
        lines.append(allowed[choice % len(allowed)])
    steps = parse_plan("\n".join(line.partition(" ")[2].replace(",", "") for line in lines[1:]))
    assert Validator(task).check(steps).executed == len(steps)


def test_a_plan_may_end_only_after_a_step() -> None:
    following = NextSteps(Task(DOMAIN, PROBLEM), most=1)
    (head,) = following(())
    first = following((head,))
    assert END not in first
    assert following((head, first[0])) == (END,)

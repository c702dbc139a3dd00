"""A dry run proves or refutes the goal exactly as execution does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.models.choice import ModelChoice
from hvr.runs.report.run_page import read_story
from hvr.runs.request import Options
from hvr.runs.result import Run
from hvr.runs.spine import plan
from tests.command_line import Hvr
from tests.extras import needs
from tests.model_server import Behaviour, Question
from tests.models.servers import OpenAIServer

needs("openai")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HVR_LLM_API_KEY", "a key")


def no_steps(question: Question) -> str:
    """A model with empty answers."""
    del question
    return json.dumps({"objects": [], "plan": [], "blocks": [], "actions": [], "steps": []})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "setting", "spec"),
    [
        ("T2", "HVR", "scripted:error=0.9,seed=1"),
        ("T2", "LLM", "scripted:error=0.5,seed=2"),
        ("T1", "HVR+", "scripted:error=0.1,seed=1"),
        ("T1", "LLM+P", "scripted:error=0.1,seed=1"),
    ],
)
def test_a_dry_run_says_what_carrying_it_out_shows(task: str, setting: str, spec: str) -> None:
    def ending(*, execute: bool) -> Run:
        choice = ModelChoice(spec=spec, setting=setting)
        folder = Path("done" if execute else "dry")
        return plan(task=task, options=Options(model=choice, save=folder, execute=execute))

    dry, done = ending(execute=False), ending(execute=True)
    foreseen = dry.would_reach if dry.finished is None else dry.reached
    assert foreseen is not None
    assert foreseen == done.reached
    outcome = read_story(dry.folder).outcome
    assert ("does not reach" in outcome or "not reached" in outcome) == (not foreseen)


@pytest.mark.parametrize(
    ("request_text", "code", "word"),
    [
        ("open the fridge", 1, "goal not reached"),
        ("close the fridge", 0, "the goal already holds"),
        ("contemplate the universe", 1, "the plan has no steps"),
    ],
)
@pytest.mark.slow
def test_a_plan_without_steps_is_enough_only_where_the_goal_holds_already(
    hvr_: Hvr, request_text: str, code: int, word: str
) -> None:
    with OpenAIServer(Behaviour(no_steps)) as server:
        model = ("--llm", "openai:m", "--base-url", server.url, "--setting", "LLM")
        dry = hvr_("plan", request_text, *model, "--dry-run", "-q", "--no-verify")
        done = hvr_("plan", request_text, *model, "-q", "--no-verify")
    assert dry.code == done.code == code, dry.out + dry.err + done.out + done.err
    assert word in dry.out
    assert ("already holds" in dry.out) == (code == 0)


@pytest.mark.slow
def test_the_symbolic_plan_is_proven(hvr_: Hvr) -> None:
    ended = hvr_("plan", "open the fridge", "--dry-run", "-q", "--no-verify")
    assert (ended.code, "valid, goal reached" in ended.out) == (0, True)
    ended = hvr_("plan", "close the fridge", "--dry-run", "-q", "--no-verify")
    assert (ended.code, "the goal already holds" in ended.out) == (0, True)
    ended = hvr_("plan", "open the fridge, then close it", "--dry-run", "--json", "--no-verify")
    document = json.loads(ended.out)
    assert (ended.code, document["would_reach"]) == (0, None)
    assert "only the first of 2 stages" in document["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--llm", "scripted:error=0.2,seed=123")])
def test_a_dry_run_claims_nothing_of_what_has_to_be_looked_for(
    hvr_: Hvr, options: tuple[str, ...]
) -> None:
    hidden = hvr_("plan", "--task", "T21", "--dry-run", *options)
    assert hidden.code == 2
    assert "a dry run cannot search for fork-1 and spoon-1: leave out --dry-run" in hidden.err

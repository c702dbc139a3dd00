"""`hvr llm`: a one-line check of a model, and totals of a transcript."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hvr.models.errors import ModelError
from hvr.models.model import Usage
from hvr.models.recording import RecordingModel
from tests.command_line import Hvr
from tests.extras import needs
from tests.models.llm_fakes import Fake, Outcome, ask, said
from tests.models.servers import OpenAIServer, Reply

needs("openai")

Run = Callable[..., tuple[int, str]]
KEY = "sk-proj-abcdefghijklmnop1234567890"


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HVR_LLM", "HVR_LLM_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HVR_LLM_API_KEY", KEY)


@pytest.fixture
def run(hvr_: Hvr) -> Run:
    """Runs a command of `hvr llm` and returns its exit code and output."""

    def command(*arguments: str) -> tuple[int, str]:
        ended = hvr_("llm", *arguments)
        return ended.code, ended.out + ended.err

    return command


def test_a_model_that_answers(run: Run) -> None:
    with OpenAIServer([Reply("ready\nwhen you are")]) as server:
        code, line = run("check", "openai:m", "--base-url", server.url)
        found = json.loads(run("check", "openai:m", "--base-url", server.url, "--json")[1])
    assert code == 0 and line.count("\n") == 1
    assert line.startswith("openai:m answers 'ready when you are' (")
    assert line.endswith("11 tokens in, 7 out)\n")
    assert found["answers"] and found["answered_by"] == "m-2024-07-18"
    assert found["usage"]["cost"] is None


def test_a_model_that_does_not_answer(run: Run) -> None:
    with OpenAIServer([Reply(status=401, message=f"bad key {KEY}")]) as server:
        code, line = run("check", "openai:m", "--base-url", server.url)
        assert code == 1 and line.count("\n") == 1 and KEY not in line
        assert "openai:m does not answer: " in line and "key is missing or wrong" in line
        code, text = run("check", "openai:m", "--base-url", server.url, "--json")
    assert code == 1 and KEY not in text and json.loads(text)["answers"] is False


def test_questions_that_cannot_be_asked(run: Run, tmp_path: Path) -> None:
    code, text = run("check")
    assert code == 2 and "name a model" in text
    code, text = run("check", "nonsense")
    assert code == 2 and "unknown model" in text
    code, text = run("usage", str(tmp_path / "none.jsonl"))
    assert code == 2 and "no transcript found" in text


def test_sums_of_a_transcript_by_purpose(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    known = Usage(input=100, output=20, cached=40, reasoning=3, cost=0.25)
    outcomes: list[Outcome] = [
        said(usage=known),
        said(usage=known),
        said(usage=Usage(input=5)),
        ModelError("late", kind="timeout"),
    ]
    recording = RecordingModel(Fake(outcomes), file)
    for purpose in ("block", "block", "macro"):
        recording.answer(ask(purpose=purpose))
    with pytest.raises(ModelError):
        recording.answer(ask(purpose="macro"))
    sums = json.loads(run("usage", str(file), "--json")[1])
    assert sums["purposes"]["block"]["input"]["value"] == 200
    assert sums["purposes"]["block"]["cost"]["value"] == 0.5
    assert sums["purposes"]["macro"]["failed"] == 1
    assert sums["total"]["cost"] == {"value": None, "known": 0.5, "unknown_parts": 2}
    assert sums["total"]["calls"] == 4
    code, table = run("usage", str(tmp_path))
    assert code == 0 and "fake:one" in table and "block" in table and "unknown" in table
    assert "≥ 0.5" in table and "is unknown" in table

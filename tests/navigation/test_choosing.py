"""`hvr tools run --llm`: a real client, a local server, scripted answers."""

from __future__ import annotations

import json

import pytest

from tests.command_line import Hvr
from tests.llm.servers import OpenAIServer, Received, Reply

pytestmark = pytest.mark.slow
REQUEST = "I am bob@example.org and want to pick up my parcel on Friday"


@pytest.fixture(autouse=True)
def _client(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "test")


def obedient(asked: Received) -> Reply:
    """A model that reads the goal, takes the first choice, and accepts what is proposed."""
    system, user = asked.body["messages"][0]["content"], asked.body["messages"][1]["content"]
    told = json.loads(user)
    if "Which tools" in system:
        values = {"email": "bob@example.org", "day": "friday"}
        return Reply(json.dumps({"done": ["book_pickup"], "values": values}))
    if "comes first" in system:
        return Reply(json.dumps({"call": told["admissible"][0]["name"]}))
    return Reply(json.dumps({"arguments": told["proposed"]}))


def run(hvr_: Hvr, server: OpenAIServer) -> tuple[int, dict[str, object] | str]:
    done = hvr_("tools", "run", "parcels", REQUEST, "--llm", "openai:test", "--base-url",
                server.url, "--yes", "--json")  # fmt: skip
    return done.code, json.loads(done.out) if done.out else done.err


def test_a_request_is_read_and_carried_out(hvr_: Hvr) -> None:
    with OpenAIServer(obedient) as server:
        code, told = run(hvr_, server)
    assert code == 0, told
    assert isinstance(told, dict)
    calls = told["calls"]
    assert isinstance(calls, list) and calls[-1]["arguments"] == {
        "parcel_id": "P-1003", "slot_id": "S-11",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("step", "answer", "why"),
    [
        ("Which tools", {"done": ["rm -rf"]}, "there is no tool"),
        ("Which tools", {"done": ["get_parcel"], "values": {"parcel_id": "P-1"}}, "does not say"),
        ("Fill the", {"arguments": {"email": "eve@example.org"}}, "neither in the request"),
        ("Fill the", {"arguments": {"email": 3}}, "of type string"),
        ("Fill the", "Ignore previous instructions", "no JSON object"),
    ],
)
def test_a_model_is_kept_to_what_is_admissible(
    hvr_: Hvr, step: str, answer: object, why: str
) -> None:
    def disobedient(asked: Received) -> Reply:
        if step in asked.body["messages"][0]["content"]:
            return Reply(answer if isinstance(answer, str) else json.dumps(answer))
        return obedient(asked)

    with OpenAIServer(disobedient) as server:
        code, told = run(hvr_, server)
    assert code == 4 and why in str(told)

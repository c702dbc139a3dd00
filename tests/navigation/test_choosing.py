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
    """A model that reads the goal and takes the first choice."""
    system, user = asked.body["messages"][0]["content"], asked.body["messages"][1]["content"]
    told = json.loads(user)
    if "Which tools" in system:
        values = {"email": "bob@example.org", "day": "friday"}
        return Reply(json.dumps({"done": ["book_pickup"], "values": values}))
    return Reply(json.dumps({"call": told["admissible"][0]["name"]}))


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
        ("Which tools", {"done": ["get_parcel"], "values": {"day": "Fri"}}, "does not say"),
        ("Which tools", "Ignore previous instructions", "no JSON object"),
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


def test_a_look_up_that_is_wanted_and_one_that_serves_are_both_offered(hvr_: Hvr) -> None:
    """The step of a wanted look-up has another name than its tool."""
    asked_for: list[str] = []

    def model(asked: Received) -> Reply:
        system, user = asked.body["messages"][0]["content"], asked.body["messages"][1]["content"]
        asked_for.append(user)
        if "Which tools" in system:
            values = {"parcel_id": "P-1002", "reason": "late"}
            return Reply(json.dumps({"done": ["get_parcel", "cancel_parcel"], "values": values}))
        return Reply(json.dumps({"call": json.loads(user)["admissible"][-1]["name"]}))

    with OpenAIServer(model) as server:
        done = hvr_("tools", "run", "parcels", "Show parcel P-1002, cancel it since it is late",
                    "--llm", "openai:test", "--base-url", server.url, "--yes-destructive",
                    "--json")  # fmt: skip
    assert done.code == 0, done.out + done.err
    called = [call["tool"] for call in json.loads(done.out)["calls"]]
    assert "get_parcel" in called and called.count("cancel_parcel") == 1
    # Nothing that a tool returned is ever shown to the model.
    assert all("results" not in user for user in asked_for)

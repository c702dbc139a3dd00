"""`hvr plan --llm …`, end to end: the real SDKs against good and bad local servers."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import hvr.runs.spine
from hvr.models.choice import ModelChoice
from hvr.policies.llm import prompts
from hvr.runs.request import Options
from hvr.runs.tasks import GroundTruth, Optimum, PaperTask, load_task
from tests import warm
from tests.command_line import Ended, Hvr
from tests.extras import needs
from tests.model_server import MACROS, PICKING, Behaviour, Question, make_coffee
from tests.models.servers import GeminiServer, OpenAIServer, Reply

needs("openai", "google.genai")

KEY = "sk-verysecret0123456789abcdefghij"
TEXT = ("--setting", "HVR+-structured")
"""For models whose answers in text are tested."""

COFFEE = ("plan", "make coffee", "--scene", "FloorPlan1")
Server = type[OpenAIServer] | type[GeminiServer]
SERVERS: Mapping[str, Server] = {"openai": OpenAIServer, "gemini": GeminiServer}
REPEATED = (
    "llm.jsonl", "plan.json", "plan.pddl", "planning.json", "problem.pddl", "subgraph.json",
    "trace.jsonl",
)  # fmt: skip
"""Files that a replay reproduces byte for byte."""

ASKED = ["select", "macro_plan", "conditions", "blocks", "correct_block"]
"""The number of requests for making coffee."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("HVR_") or name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name)
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HVR_LLM_API_KEY", KEY)


@pytest.fixture(scope="module")
def coffee(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that made coffee; its server is gone."""
    folder = tmp_path_factory.mktemp("coffee") / "recorded"
    with OpenAIServer(Behaviour(make_coffee)) as server:
        choice = ModelChoice(spec="openai:test-model", base_url=server.url)
        options = Options(scene="FloorPlan1", policy="llm", model=choice, save=folder)
        assert hvr.runs.spine.plan("make coffee", options=options).reached
    return folder


def configure(**settings: float) -> None:
    """Write a pyproject.toml in the working folder."""
    lines = [f"{name} = {value}" for name, value in settings.items()]
    Path("pyproject.toml").write_text("\n".join(["[tool.hvr.llm]", *lines]), encoding="utf-8")


def exchanges(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a transcript after its header."""
    lines = (folder / "llm.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def account(folder: Path) -> dict[str, Any]:
    """Return a run's status."""
    said: dict[str, Any] = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    return said


def going_on(folder: Path) -> str:
    """Return the end of an error message that names a folder to resume."""
    what = f"; the model's answers are saved in {folder}"
    return f"{what}; resume with hvr plan --resume {folder}"


def one_line(ended: Ended) -> str:
    """Return the error message of a command; only announced attempts may precede it on stderr."""
    *notices, line = ended.err.splitlines(keepends=True)
    assert line.startswith("error: ") and line.endswith("\n"), ended.err
    assert all("; asking again" in notice for notice in notices), ended.err
    return line


def leaks(folder: Path, ended: Ended) -> list[str]:
    """Return the places that contain the key."""
    said = [name for name in ("out", "err") if KEY in getattr(ended, name)]
    files = (path for path in folder.rglob("*") if path.is_file())
    return said + [str(path) for path in files if KEY.encode() in path.read_bytes()]


# A run that goes well -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
def test_a_request_becomes_a_plan_that_reaches_its_goal(
    provider: str, hvr_: Hvr, tmp_path: Path
) -> None:
    behaviour, folder = Behaviour(make_coffee), tmp_path / "run"
    with SERVERS[provider](behaviour) as server:
        ended = hvr_(
            *COFFEE, "--llm", f"{provider}:test-model", "--base-url", server.url, "--save", folder
        )
        sent = server.received
    assert (ended.code, ended.err) == (0, "")
    assert behaviour.purposes == ASKED
    if provider == "openai":
        assert {r.headers["authorization"] for r in sent} == {f"Bearer {KEY}"}
        assert {r.body["model"] for r in sent} == {"test-model"}
    else:
        assert {r.headers["x-goog-api-key"] for r in sent} == {KEY}
        assert all(r.path.endswith("/models/test-model:generateContent") for r in sent)
    for words in (
        f"macro plan:\n  1. {MACROS[0]}\n  2. {MACROS[1]}\n",
        "macro plan: 2 of 2 verified\n",
        f"1. {MACROS[0]} [model]: (navigate_to_obj mug-1) (navigate_to_obj coffeemachine-1)",
        f"1. {MACROS[0]} [navigation]: (navigate_to_obj coffeemachine-1) (put_on mug-1",
        "check of 1 (correction 0 of 2): step 2 (put_on mug-1 coffeemachine-1) cannot be done: "
        "(holding mug-1)",
        f"1. {MACROS[0]} [correction]: (navigate_to_obj mug-1) (pick_up mug-1)",
        "check of 1: valid\n",
        "check of 2: valid\n",
        "goal reached in 9 steps",
        f"{provider}:test-model: 5 calls, tokens 55 in, 35 out, cost unknown",
    ):
        assert words in ended.out
    assert {p.name for p in folder.iterdir()} == {
        *REPEATED, "domain.pddl", "task.json", "ledger.sqlite", "graph", "graph.ttl",
        "scene-before.json", "scene-after.json",
    }  # fmt: skip
    assert [e["purpose"] for e in exchanges(folder)] == ASKED
    assert not any(e["error"] for e in exchanges(folder))
    record = json.loads((folder / "planning.json").read_text(encoding="utf-8"))
    assert [b["tries"] for b in record["blocks"]] == [1, 0]
    assert [b["verified_before"] for b in record["blocks"]] == [False, True]
    assert [b["achieved"] for b in record["blocks"]] == [True, True]
    plan = (folder / "plan.pddl").read_text(encoding="utf-8")
    assert plan.count("\n(") + plan.startswith("(") == 9
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    assert task["reached"] is True and task["model"] == f"{provider}:test-model"
    assert leaks(folder, ended) == []


@pytest.mark.slow
def test_json_is_one_document_that_says_what_was_spent(hvr_: Hvr, tmp_path: Path) -> None:
    behaviour = Behaviour(make_coffee)
    with OpenAIServer(behaviour) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, "--setting", "VR", "--json",
            "--save", tmp_path / "run",
        )  # fmt: skip
    assert (ended.code, ended.err, ended.out.count("\n")) == (0, "", 1)
    # Without H the prompt requests the whole plan, which this script knows.
    assert behaviour.purposes == ["select", "plan"]
    said = json.loads(ended.out)
    assert said["reached"] is True and said["simulated"] is False
    assert said["model"] == "openai:m" and len(said["steps"]) == 9
    spent = said["spent"]
    assert (spent["calls"], spent["input"], spent["output"]) == (2, 22, 14)
    assert (spent["cached"], spent["reasoning"], spent["cost"]) == (6, 4, None)


# A server that misbehaves -----------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """A server's permanent behaviour from its third request on, and the resulting message."""

    reply: Reply
    kind: str
    words: str
    requests: int
    settings: Mapping[str, float]


TWICE = {"attempts": 2}
FAULTS = {
    "500s for ever": Fault(
        Reply(status=500, message="out of memory"), "server",
        "the server failed (status 500: out of memory) (tried 2 times)", 2, TWICE,
    ),
    "429s for ever": Fault(
        Reply(status=429, message="slow down", headers={"Retry-After": "3600"}), "rate",
        "the server asks to wait 3600 s", 1, TWICE,
    ),
    "a hang": Fault(Reply(hang=30), "timeout", "no answer within 1 s", 1,
                    {"timeout": 1, "attempts": 1}),
    "half a reply": Fault(
        Reply(raw=b'{"id": "chatcmpl-1", "choices": [{"mess'), "garbled", "cannot be read", 2,
        TWICE,
    ),
    "a refusal": Fault(
        Reply("I cannot help with that.", finish="content_filter"), "refused",
        "the provider's filter withheld the answer (content_filter; it begins with 'I cannot", 1,
        {},
    ),
    "a wrong key": Fault(
        Reply(status=401, message=f"Incorrect API key provided: {KEY}"), "auth",
        "the key is missing or wrong", 1, {},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("500s for ever", "gemini"),
        ("429s for ever", "openai"),
        ("a hang", "openai"),
        ("half a reply", "gemini"),
        ("a refusal", "openai"),
        ("a wrong key", "openai"),
    ],
)
def test_a_fault_ends_the_run_with_a_line_and_keeps_what_there_is(
    name: str, provider: str, hvr_: Hvr, tmp_path: Path
) -> None:
    fault, folder = FAULTS[name], tmp_path / "run"
    configure(**fault.settings)
    behaviour = Behaviour(make_coffee, after=fault.reply, since=3)
    with SERVERS[provider](behaviour) as server:
        ended = hvr_(
            *COFFEE, "--llm", f"{provider}:test-model", "--base-url", server.url, "--save", folder
        )
    assert ended.code == (2 if fault.kind == "auth" else 4)
    line = one_line(ended)
    assert fault.words in line and "test-model" in line
    assert behaviour.purposes == ["select", "macro_plan", *["conditions"] * fault.requests]
    # Earlier results are shown and kept.
    assert f"  2. {MACROS[1]}\n" in ended.out and "goal" not in ended.out
    *good, bad = exchanges(folder)
    assert [e["purpose"] for e in good] == ["select", "macro_plan"]
    assert MACROS[0] in good[1]["answer"]["text"] and bad["purpose"] == "conditions"
    assert bad["answer"] is None and bad["error"]["kind"] == fault.kind
    kept = account(folder)
    assert (kept["state"], kept["error"]) == ("broken off", "ModelError")
    assert line == f"error: {kept['message']}{going_on(folder)}\n"
    trace = (folder / "trace.jsonl").read_text(encoding="utf-8")
    assert MACROS[0] in trace and not (folder / "plan.json").exists()
    assert leaks(folder, ended) == []


@pytest.mark.slow
def test_a_fault_that_passes_is_waited_for(hvr_: Hvr, tmp_path: Path) -> None:
    behaviour = Behaviour(make_coffee, {2: Reply(status=429, headers={"Retry-After": "1"})})
    with OpenAIServer(behaviour) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, "--dry-run",
            "--save", tmp_path / "run",
        )  # fmt: skip
    assert ended.code == 0 and "9 steps, valid, goal reached" in ended.out
    assert "; asking again" in ended.err and ended.err.count("\n") == 1
    assert behaviour.purposes == ["select", "macro_plan", *ASKED[1:]]
    assert [e["purpose"] for e in exchanges(tmp_path / "run")] == ASKED


@pytest.mark.slow
def test_gemini_says_that_a_key_is_wrong_in_its_own_way(hvr_: Hvr, tmp_path: Path) -> None:
    reply = Reply(status=400, message="API key not valid.", param="API_KEY_INVALID")
    with GeminiServer(Behaviour(make_coffee, {2: reply})) as server:
        ended = hvr_(
            *COFFEE, "--llm", "gemini:m", "--base-url", server.url, "--save", tmp_path / "run"
        )
    assert ended.code == 2 and "the key is missing or wrong" in one_line(ended)


GERMAN = "Gerne! Der Roboter sollte zuerst zur Tasse fahren und dann Kaffee kochen. Viel Erfolg!"
CHINESE = "好的，机器人先去拿杯子，然后把杯子放在咖啡机上，最后打开咖啡机。"
LONG = {
    "actions": "Actions:\n" + "\n".join(f"{i}. (pick_up, mug-1)" for i in range(1, 9_000)),
    "conditions": "1. Brew\nPreconditions: " + "(holding mug-1) " * 6_000 + "(" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "provider"), [(GERMAN, "openai"), (CHINESE, "gemini")], ids=["German", "Chinese"]
)
def test_a_model_that_only_talks_leaves_a_clear_statement(
    answer: str, provider: str, hvr_: Hvr, tmp_path: Path
) -> None:
    def talk(asked: Question) -> str:
        return make_coffee(asked) if asked.purpose == "select" else answer

    folder = tmp_path / "run"
    with SERVERS[provider](Behaviour(talk)) as server:
        ended = hvr_(
            *COFFEE, "--llm", f"{provider}:m", "--base-url", server.url, "--save", folder,
            "--setting", "HVR-structured",
        )  # fmt: skip
    assert (ended.code, ended.err) == (1, "")
    # Between this and the model's usage comes the verifier's message about an empty plan.
    assert any(line.startswith("goal not reached: ") for line in ended.out.splitlines()), ended.out
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    assert task["reached"] is False and task["verdict"]
    assert {e["answer"]["text"] for e in exchanges(folder) if e["purpose"] != "select"} == {answer}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "kind"), [(3, "conditions"), (5, "actions")])
def test_an_answer_of_200_kb_is_read(kind: str, number: int, hvr_: Hvr, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with OpenAIServer(Behaviour(make_coffee, {number: Reply(LONG[kind])})) as server:
        ended = hvr_(
            *COFFEE, *TEXT, "--llm", "openai:m", "--base-url", server.url, "--save", folder
        )
    assert ended.code in (0, 1) and ended.err == ""
    assert "goal reached in" in ended.out or "goal not reached: " in ended.out
    # Whitespace at the ends is no part of an answer.
    assert exchanges(folder)[number - 1]["answer"]["text"].strip() == LONG[kind].strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "Brew [/b] coffee [model] ☕ [red]now",  # markup of the terminal's library
        "Brew coffee\x1b[2J\x00 now \ud83d",  # half an emoji, as a tokenizer may cut it
    ],
    ids=["markup", "control"],
)
def test_strange_characters_of_a_model_do_no_harm(name: str, hvr_: Hvr, tmp_path: Path) -> None:
    def answer(asked: Question) -> str:
        # The name may come back without what cannot be shown.
        text = re.sub(r"^(Macro action: )Brew.*$", rf"\1{MACROS[0]}", asked.text, flags=re.M)
        return make_coffee(replace(asked, text=text)).replace(MACROS[0], name)

    folder = tmp_path / "run"
    with OpenAIServer(Behaviour(answer)) as server:
        ended = hvr_(
            *COFFEE, *TEXT, "--llm", "openai:m", "--base-url", server.url, "--save", folder
        )
    assert (ended.code, ended.err) == (0, "")
    assert "goal reached in" in ended.out and "\x1b" not in ended.out
    if name.isprintable():
        assert f"  1. {name}\n" in ended.out
    again = hvr_("plan", "--llm", f"replay:{folder}", "--dry-run", "--save", tmp_path / "again")
    assert (again.code, again.err) == (0, "")
    assert differing(folder, tmp_path / "again", ("llm.jsonl", "planning.json")) == []


@pytest.mark.slow
def test_a_key_that_the_model_says_is_not_kept(hvr_: Hvr, tmp_path: Path) -> None:
    def answer(asked: Question) -> str:
        said = make_coffee(asked)
        return said.replace(MACROS[1], f"{MACROS[1]} {KEY}") if "plan" in asked.purpose else said

    folder = tmp_path / "run"
    with OpenAIServer(Behaviour(answer)) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, "--dry-run", "--save", folder
        )
    assert (ended.code, ended.err) == (0, "")
    assert leaks(folder, ended) == []


# Interrupts and budgets -------------------------------------------------------------------------


@pytest.mark.slow
def test_an_interrupt_ends_the_run_at_once_and_keeps_what_there_is(tmp_path: Path) -> None:
    folder, out, err = tmp_path / "run", tmp_path / "out", tmp_path / "err"
    behaviour = Behaviour(make_coffee, after=Reply(hang=600), since=3)
    with OpenAIServer(behaviour) as server, out.open("wb") as stdout, err.open("wb") as stderr:
        process = warm.Popen(
            [sys.executable, "-m", "hvr", *COFFEE, "--llm", "openai:m", "--base-url", server.url,
             "--save", str(folder)],
            stdout=stdout, stderr=stderr, cwd=tmp_path,
        )  # fmt: skip
        try:
            waited = time.monotonic() + 600
            while len(behaviour.purposes) < 3 and process.poll() is None:
                assert time.monotonic() < waited, "the third question does not come"
                time.sleep(0.05)
            # The macro plan is shown as it comes, not at the end.
            assert f"  2. {MACROS[1]}\n" in out.read_text(encoding="utf-8")
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            code = process.wait(timeout=600)
        finally:
            process.kill()
            process.wait()
    said = err.read_text(encoding="utf-8")
    assert code == 130 and "Traceback" not in said and said.count("\n") <= 2, said
    assert [e["purpose"] for e in exchanges(folder)][:2] == ["select", "macro_plan"]
    kept = account(folder)
    assert kept["error"] == "KeyboardInterrupt"


@pytest.mark.slow
def test_a_budget_of_calls_is_hard(hvr_: Hvr, tmp_path: Path) -> None:
    behaviour, folder = Behaviour(make_coffee), tmp_path / "run"
    with OpenAIServer(behaviour) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, "--max-calls", "2",
            "--save", folder,
        )  # fmt: skip
    assert ended.code == 4 and behaviour.purposes == ASKED[:2]
    assert "the budget of 2 calls does not allow another request" in one_line(ended)
    assert f"  1. {MACROS[0]}\n" in ended.out
    assert [bool(e["error"]) for e in exchanges(folder)] == [False, False, True]
    kept = account(folder)
    assert kept["error"] == "BudgetError"


@pytest.mark.slow
def test_a_budget_of_tokens_is_hard(hvr_: Hvr, tmp_path: Path) -> None:
    with OpenAIServer(Behaviour(make_coffee)) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, "--max-tokens", "1500",
            "--json", "--save", tmp_path / "run",
        )  # fmt: skip
        assert 0 < len(server.received) < len(ASKED)
    assert ended.code == 4 and "the budget of 1500 tokens" in one_line(ended)
    said = json.loads(ended.out)
    assert said["exit_code"] == 4 and "1500 tokens" in said["error"]


@pytest.mark.slow
def test_a_budget_of_dollars_needs_a_price(hvr_: Hvr, tmp_path: Path) -> None:
    with OpenAIServer(Behaviour(make_coffee)) as server:
        asked = (*COFFEE, "--llm", "openai:m", "--base-url", server.url, "--max-dollars", "0.001")
        ended = hvr_(*asked, "--save", tmp_path / "run")
        assert ended.code == 2 and "price of openai:m" in one_line(ended)
        assert not (tmp_path / "run").exists() and server.received == []
        Path("pyproject.toml").write_text(
            "[tool.hvr.llm.prices]\nm = {input = 1.0, output = 1000.0}\n", encoding="utf-8"
        )
        ended = hvr_(*asked, "--save", tmp_path / "run")
    assert ended.code == 4 and "the budget of 0.001 US dollars" in one_line(ended)


# Replay -------------------------------------------------------------------------------------------


def differing(first: Path, second: Path, names: tuple[str, ...] = REPEATED) -> list[str]:
    """Return the files that differ between two runs."""
    return [n for n in names if (first / n).read_bytes() != (second / n).read_bytes()]


@pytest.mark.slow
def test_a_replay_repeats_a_run_to_the_byte(
    coffee: Path, hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HVR_LLM_API_KEY")
    second, third = tmp_path / "second", tmp_path / "third"
    ended = hvr_("plan", "--llm", f"replay:{coffee}", "--save", second)
    assert (ended.code, ended.err) == (0, "")
    assert "goal reached in 9 steps" in ended.out and "openai:test-model: 5 calls" in ended.out
    assert differing(coffee, second) == []
    # A replay can be replayed.
    again = hvr_("plan", "--llm", f"replay:{second / 'llm.jsonl'}", "--dry-run", "--save", third)
    assert again.code == 0
    assert differing(coffee, third, ("llm.jsonl", "planning.json", "plan.json")) == []


@pytest.mark.slow
def test_a_replay_has_the_options_of_the_run(hvr_: Hvr, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    options = ("--setting", "HVR+-elimination", "--temperature", "0.7")
    with OpenAIServer(Behaviour(make_coffee)) as server:
        ended = hvr_(
            *COFFEE, "--llm", "openai:m", "--base-url", server.url, *options, "--dry-run",
            "--save", first,
        )  # fmt: skip
    assert ended.err == ""
    again = hvr_("plan", "--llm", f"replay:{first}", "--dry-run", "--save", second)
    assert (again.code, again.err) == (ended.code, "") and differing(first, second) == []
    before, after = (
        json.loads((folder / "task.json").read_text(encoding="utf-8")) for folder in (first, second)
    )
    assert after["setting"] == before["setting"] and after["scene"] == "FloorPlan1"


@pytest.mark.slow
def test_a_replay_of_a_simulated_model_says_that_it_is_one(hvr_: Hvr, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    asked = ("--task", "T2", "--scene", "FloorPlan1", "--llm", "scripted:error=0.3")
    ended = hvr_("plan", *asked, "--dry-run", "--quiet", "--save", first)
    again = hvr_("plan", "--llm", f"replay:{first}", "--dry-run", "--quiet", "--save", second)
    for said, folder in ((ended, first), (again, second)):
        assert said.err == "" and "(simulated, no language model): " in said.out
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        assert task["simulated"] is True and task["task"] == "T2"
    assert again.code == ended.code and differing(first, second) == []


@pytest.mark.slow
def test_a_replay_repeats_a_failure(hvr_: Hvr, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    broken = Behaviour(make_coffee, {4: Reply(status=401, message="expired")})
    with OpenAIServer(broken) as server:
        ended = hvr_(*COFFEE, "--llm", "openai:m", "--base-url", server.url, "--save", first)
    again = hvr_("plan", "--llm", f"replay:{first}", "--save", second)
    assert again.code == ended.code and "expired" in one_line(again)
    assert again.err.replace(str(second), str(first)) == ended.err
    assert account(second)["message"] == account(first)["message"]
    assert differing(first, second, ("llm.jsonl", "trace.jsonl")) == []


@pytest.mark.slow
def test_a_replay_with_other_prompts_shows_the_difference(
    coffee: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    own = tmp_path / "prompts"
    own.mkdir()
    text = (Path(prompts.__file__).parent / "macro_plan.txt").read_text(encoding="utf-8")
    changed = text.replace("one short sentence", "one very short sentence")
    (own / "macro_plan.txt").write_text(changed, encoding="utf-8")
    second = tmp_path / "second"
    ended = hvr_("plan", "--llm", f"replay:{coffee}", "--save", second, "--prompts", own)
    assert ended.code == 2 and ended.err.startswith("error: ") and "Traceback" not in ended.err
    assert "no answer was recorded for this prompt (macro_plan)" in ended.err
    assert "The most similar prompt is number 2" in ended.err
    removed, added = (
        next(line for line in ended.err.splitlines() if line.startswith(f"  {sign}system"))
        for sign in "-+"
    )
    assert removed != added
    kept = account(second)
    assert kept["error"] == "CassetteError"
    assert next(e["purpose"] for e in exchanges(second)) == "select"


@pytest.mark.parametrize("what", ["nowhere", "empty", "graph.ttl"])
def test_a_replay_of_what_is_no_run(what: str, hvr_: Hvr, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "graph.ttl").write_text("@prefix k: <urn:k> .\n", encoding="utf-8")
    ended = hvr_("plan", "--llm", f"replay:{tmp_path / what}", "--save", tmp_path / "run")
    assert ended.code == 2 and str(tmp_path / what) in one_line(ended)
    assert not (tmp_path / "run").exists()


# Gold labels --------------------------------------------------------------------------------------


def stubborn(asked: Question) -> str:
    """A model that never corrects its first block, so that the planner must help."""
    if asked.macro == MACROS[0]:
        return make_coffee(replace(asked, purpose="block"))
    return make_coffee(asked)


def mislabelled(name: str) -> PaperTask:
    """Return a task with all labels wrong."""
    task = load_task(name)
    wrong = GroundTruth("FloorPlan1", task.ground_truth.blocks[1:], ())
    return task.replace(
        goal="(exists (?e - egg) (cracked ?e))",
        ground_truth=wrong,
        optimum={scene: Optimum(99, 1) for scene in task.scenes},
        paper_steps="99",
    )


@pytest.mark.slow
def test_labels_reach_nothing_that_plans_or_executes(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with OpenAIServer(Behaviour(stubborn)) as server:
        ended = hvr_(
            "plan", "--task", "T2", "--scene", "FloorPlan1", "--llm", "openai:m",
            "--base-url", server.url, "--save", first,
        )  # fmt: skip
    assert ended.code == 0, ended
    assert "[planner]" in ended.out
    loaded: list[str] = []

    def load(name: str) -> PaperTask:
        loaded.append(name)
        return mislabelled(name)

    monkeypatch.setattr("hvr.runs.request.load_task", load)
    again = hvr_("plan", "--llm", f"replay:{first}", "--save", second)
    assert loaded == ["T2"]
    assert differing(first, second, ("domain.pddl", *REPEATED)) == []
    assert (again.code, again.err) == (0, "")
    assert timeless(again.out, second) == timeless(ended.out, first)
    summaries = [account(f) | {"llm": None, "began": None, "ended": None} for f in (first, second)]
    texts = [timeless(json.dumps(s), f) for s, f in zip(summaries, (first, second), strict=True)]
    assert texts[0] == texts[1]


def timeless(text: str, folder: Path) -> str:
    """Return a text without the parts that differ between equal runs: times and folder name."""
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r'("planning_seconds": )\[[^]]*\]|("seconds": )[\d.]+', r"\1\2", text)
    return re.sub(r"\d+\.\d\d s\)", "s)", text)


# Options that cannot be used ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "llm"], ["no model given", "--llm"]),
        (["--llm", "nonsense"], ["unknown model 'nonsense'", "openai:"]),
        (["--llm", "openai:"], ["unknown model", "openai:"]),
        (["--llm", "openai:m", "--setting", "XYZ"], ["unknown setting 'XYZ'", "HVR+"]),
        (["--llm", "openai:m", "--setting", "HVR+wings"], ["HVR+wings", "planner_repair"]),
        (["--llm", "openai:m", "--prompts", "/nowhere"], ["/nowhere"]),
        (["--llm", "openai:m", "--embedder", "magic"], ["magic", "lexical"]),
        (["--llm", "openai:m", "--max-calls", "-1"], ["--max-calls", "must not be negative"]),
        (["--llm", "openai:m", "--max-tokens", "-1"], ["--max-tokens", "must not be negative"]),
        (["--llm", "scripted"], ["--task"]),
        (["--llm", "scripted:error=much"], ["--task"]),
    ],
)
def test_bad_options_are_refused_before_anything_is_asked(
    options: list[str], words: list[str], hvr_: Hvr, tmp_path: Path
) -> None:
    with OpenAIServer(Behaviour(make_coffee)) as server:
        ended = hvr_(*COFFEE, *options, "--base-url", server.url, "--save", tmp_path / "run")
        assert server.received == []
    assert ended.code == 2 and all(word in one_line(ended) for word in words)
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_is_none_is_refused(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_(*COFFEE, "--llm", "openai:m", "--base-url", "localhost:8000")
    assert ended.code == 2 and "http://" in one_line(ended)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["openai:gpt-4o-mini", "gemini:gemini-2.0-flash"])
def test_a_missing_key_is_named(
    spec: str, hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HVR_LLM_API_KEY")
    ended = hvr_(*COFFEE, "--llm", spec)
    assert ended.code == 2 and "_API_KEY" in one_line(ended)
    assert list(tmp_path.iterdir()) == []


def test_the_script_of_the_coffee_lacks_a_step_at_first() -> None:
    """The tests above rely on this."""
    asked = Question("block", f"Macro action: {MACROS[0]}")
    at_first, corrected = (
        make_coffee(replace(asked, purpose=p)) for p in ("block", "correct_block")
    )
    assert PICKING.strip() not in at_first and PICKING.strip() in corrected

"""`hvr plan --policy goal`, end to end: the real SDKs against good and bad local servers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Hvr
from tests.extras import needs
from tests.model_server import Behaviour, Question
from tests.models.servers import GeminiServer, OpenAIServer, Reply

needs("openai", "google.genai", "jsonschema")

SERVERS = {"openai": OpenAIServer, "gemini": GeminiServer}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("HVR_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HVR_LLM_API_KEY", "sk-verysecret0123456789abcdefghij")


def goal(*literals: str, **more: Any) -> str:
    """Return an answer of one stage; literals as in "on Mug CounterTop"."""
    stage = [{"predicate": p, "args": args} for p, *args in (text.split() for text in literals)]
    return json.dumps({"stages": [stage] if stage else [], **more})


COFFEE = goal("contains Mug coffee", "on Mug CounterTop")


class Script:
    """A model that writes the given goals in turn, and records its requests."""

    def __init__(self, answers: Sequence[str]) -> None:
        self.asked: list[Question] = []
        self._answers = answers

    def __call__(self, asked: Question) -> str:
        self.asked.append(asked)
        return self._answers[min(len(self.asked), len(self._answers)) - 1]


def run(
    hvr_: Hvr, script: Script, request: str = "make coffee", provider: str = "openai",
    options: Sequence[str] = ("--dry-run",),
) -> tuple[Any, list[str]]:  # fmt: skip
    """Return the outcome of the command, and the requests."""
    behaviour = Behaviour(script)
    with SERVERS[provider](behaviour) as server:
        ended = hvr_(
            "plan", request, "--policy", "goal", "--scene", "FloorPlan1", "--save", "run",
            "--llm", f"{provider}:m", "--base-url", server.url, "--no-verify",
            "--budget", "600", *options,  # on a busy machine
        )  # fmt: skip
    return ended, behaviour.purposes


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
def test_a_goal_is_said_back_planned_for_and_reached(provider: str, hvr_: Hvr) -> None:
    script = Script([COFFEE])
    ended, asked = run(hvr_, script, provider=provider, options=())
    assert (ended.code, ended.err, asked) == (0, "", ["goal"])
    assert "read as: the mug contains coffee and is on a counter top" in ended.out
    assert "goal reached in 9 steps (by the model's reading and by hvr's own)" in ended.out
    assert "shortest, proven" in ended.out and ": 1 call," in ended.out
    text = script.asked[0].text
    assert "coffee: contains coffee, in one Mug or Cup" in text
    assert "CoffeeMachine: " in text and "(contains x l): " in text


WRONG: Mapping[str, tuple[str, str]] = {
    "a wrong type": (goal("contains Mug Plate"), "'Plate' is no liquid"),
    "an unknown predicate": (goal("brewed Mug"), "there is no predicate 'brewed'"),
    "an unknown kind": (goal("on Laptop CounterTop"), "'Laptop'"),
    "an impossible state": (goal("cooked Mug"), "a mug lacks the affordance Cookable"),
    "nothing": (goal(), "the goal has no condition"),
    "what is so already": (goal("on Spatula CounterTop"), "all of this is so already"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_sent_back_and_mended(what: str, hvr_: Hvr) -> None:
    answer, said = WRONG[what]
    script = Script([answer, COFFEE])
    ended, asked = run(hvr_, script)
    assert (ended.code, asked) == (0, ["goal", "correct_goal"]), ended
    assert said in script.asked[1].text and "9 steps, valid, goal reached" in ended.out
    drafts = json.loads(Path("run/goal.json").read_text(encoding="utf-8"))
    assert said in drafts[0]["problem"] and drafts[1]["problem"] == ""


@pytest.mark.slow
def test_a_goal_that_stays_wrong_ends_the_run_with_what_is_wrong(hvr_: Hvr) -> None:
    ended, asked = run(hvr_, Script([goal("cooked Mug"), goal("cooked Cup"), goal("cooked Plate")]))
    assert (ended.code, asked) == (1, ["goal", "correct_goal", "correct_goal"])
    assert "still wrong after 2 corrections" in ended.err and "Cookable" in ended.err
    assert len(json.loads(Path("run/goal.json").read_text(encoding="utf-8"))) == 3


def test_a_goal_that_repeats_a_wrong_one_is_not_asked_for_again(hvr_: Hvr) -> None:
    ended, asked = run(hvr_, Script([goal("cooked Mug")]))
    assert (ended.code, asked) == (1, ["goal", "correct_goal"])


@pytest.mark.slow
def test_what_is_so_already_is_no_error_where_nothing_else_is_asked(hvr_: Hvr) -> None:
    ended, asked = run(
        hvr_, Script([goal("on Spatula CounterTop")]), "put a spatula on the counter top"
    )
    assert (ended.code, asked) == (0, ["goal", "correct_goal"])
    assert "0 steps, the goal already holds" in ended.out


def test_a_model_that_finds_no_goal_is_believed(hvr_: Hvr) -> None:
    answer = goal(cannot="there is no piano in a kitchen")
    ended, asked = run(hvr_, Script([answer]), "play the piano")
    assert (ended.code, asked) == (1, ["goal"])
    assert "the model finds no goal in this request: there is no piano" in ended.err


@pytest.mark.slow
def test_what_the_model_left_out_is_no_plain_success(hvr_: Hvr) -> None:
    answer = json.loads(COFFEE) | {"left_out": ["quickly"]}
    ended, _ = run(hvr_, Script([json.dumps(answer)]), "make coffee quickly", options=())
    assert ended.code == 0 and "hvr did not read 'quickly'" in ended.out


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["I cannot do that.", '{"stages": "coffee"}', '{"goal": 1}'])
def test_an_answer_in_another_form_is_asked_for_again_and_then_named(
    answer: str, hvr_: Hvr
) -> None:
    ended, asked = run(hvr_, Script([answer]))
    assert (ended.code, asked) == (4, ["goal", "goal"])
    assert "is not the requested JSON" in ended.err


def test_a_refusal_of_the_provider_is_named(hvr_: Hvr) -> None:
    behaviour = Behaviour(Script([COFFEE]), {1: Reply("No.", finish="content_filter")})
    with OpenAIServer(behaviour) as server:
        ended = hvr_("plan", "make coffee", "--policy", "goal", "--llm", "openai:m",
                     "--base-url", server.url, "--save", "run")  # fmt: skip
    assert ended.code == 4 and "the provider's filter withheld the answer" in ended.err


@pytest.mark.slow
def test_stages_are_planned_one_after_the_other(hvr_: Hvr) -> None:
    stages = [[{"predicate": "opened", "args": ["Fridge"]}],
              [{"predicate": "opened", "args": ["Fridge"], "holds": False}]]  # fmt: skip
    script = Script([json.dumps({"stages": stages})])
    ended, asked = run(hvr_, script, "open the fridge and close it", options=())
    assert (ended.code, asked) == (0, ["goal"])
    assert "the fridge is open; then the fridge is" in ended.out
    assert ended.out.count("\nplan: ") == 2


@pytest.mark.slow
def test_a_run_is_repeated_from_its_folder(hvr_: Hvr) -> None:
    first, _ = run(hvr_, Script([WRONG["an unknown predicate"][0], COFFEE]))
    again = hvr_("plan", "--llm", "replay:run", "--save", "again", "--no-verify", "--quiet")
    assert (first.code, again.code, again.err) == (0, 0, ""), first.err
    for name in ("goal.json", "plan.pddl", "llm.jsonl"):
        assert Path("run", name).read_bytes() == Path("again", name).read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--policy", "goal", "--setting", "HVR"],
            "policy 'goal' supports only the --setting LLM+P",
        ),
        (
            ["--policy", "llm", "--setting", "LLM+P"],
            "--setting 'LLM+P' belongs to the policy 'goal'",
        ),
    ],
)
def test_a_setting_of_another_policy_is_refused(
    options: list[str], said: str, hvr_: Hvr, tmp_path: Path
) -> None:
    ended = hvr_("plan", "make coffee", "--llm", "openai:m", "--base-url", "http://127.0.0.1:9/v1",
                 "--save", tmp_path / "run", *options)  # fmt: skip
    assert ended.code == 2 and said in ended.err

"""`hvr judge` as people and scripts call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Hvr
from tests.judging.test_symbolic import GRIPPER

PROBLEM = """(define (problem p) (:domain gripper) (:objects ball bag a b c)
(:init (at ball a) (at bag a) (robot a) (free)) (:goal (at ball b)))"""
GOOD = "(pick ball a)\n(move a b)\n(drop ball b)\n"
WORDY = "(pick bag a)\n(drop bag a)\n" + GOOD
TASK = ("--domain", "domain.pddl", "--problem", "problem.pddl")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"domain.pddl": GRIPPER, "problem.pddl": PROBLEM, "good.plan": GOOD,
             "wordy.plan": WORDY, "short.plan": "(pick ball a)\n"}  # fmt: skip
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("plan", "code", "word"),
    [("good", 0, "clean"), ("wordy", 1, "2 superfluous"), ("short", 1, "2 missing")],
)
def test_the_exit_code_says_what_came_out(hvr_: Hvr, plan: str, code: int, word: str) -> None:
    result = hvr_("judge", f"{plan}.plan", *TASK)
    assert result.code == code
    assert word in result.out


def test_a_fixed_plan_is_clean(hvr_: Hvr) -> None:
    assert hvr_("judge", "wordy.plan", *TASK, "--fix", "fixed.plan").code == 1
    assert Path("fixed.plan").read_text(encoding="utf-8").startswith(GOOD)
    assert hvr_("judge", "fixed.plan", *TASK).code == 0
    assert hvr_("judge", "wordy.plan", *TASK, "--fix").out.startswith(GOOD)


def test_json_has_steps_reasons_and_evidence(hvr_: Hvr) -> None:
    document = json.loads(hvr_("judge", "wordy.plan", *TASK, "--json").out)
    assert document["outcome"] == "criticised"
    assert [c["step"] for c in document["critiques"]] == [1, 2]
    assert document["critiques"][0]["evidence"]


def test_sarif_points_at_the_steps(hvr_: Hvr) -> None:
    log = json.loads(hvr_("judge", "wordy.plan", *TASK, "--sarif").out)
    results = log["runs"][0]["results"]
    lines = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results]
    assert lines == [1, 2]


def test_the_page_has_the_verdict(hvr_: Hvr) -> None:
    hvr_("judge", "wordy.plan", *TASK, "--html", "page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    assert "REMOVE" in text and "(holds bag)" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("good.plan",),
        ("no.plan", *TASK),
        ("good.plan", *TASK, "--goal", "make coffee"),
        ("good.plan", *TASK, "--json", "--sarif"),
        ("good.plan", *TASK, "--html", "no/folder/page.html"),
    ],
)
def test_what_cannot_be_judged_is_said(hvr_: Hvr, arguments: tuple[str, ...]) -> None:
    result = hvr_("judge", *arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


@pytest.mark.slow
def test_a_kitchen_plan_is_judged_by_its_sentence(hvr_: Hvr) -> None:
    steps = [
        "(navigate_to_obj fridge-1)", "(open_obj fridge-1)", "(navigate_to_obj apple-1)",
        "(pick_up apple-1)", "(navigate_to_obj fridge-1)", "(navigate_to_obj fridge-1)",
        "(put_in apple-1 fridge-1)",
    ]  # fmt: skip
    Path("apple.plan").write_text("\n".join(steps), encoding="utf-8")
    result = hvr_("judge", "apple.plan", "--goal", "put the apple in the fridge", "--json")
    document = json.loads(result.out)
    assert result.code == 1
    said = [(c["kind"], c["actions"]) for c in document["critiques"]]
    assert said == [
        ("REMOVE", ["(navigate_to_obj fridge-1)"]),
        ("MISSING", ["(close_obj fridge-1)"]),
    ]
    unread = hvr_("judge", "apple.plan", "--goal", "frobnicate the apple")
    assert unread.code == 2 and "undecided" in unread.out
    Path("strange.plan").write_text("(navigate_to_obj mug-77)\n", encoding="utf-8")
    strange = hvr_("judge", "strange.plan", "--goal", "put the apple in the fridge")
    assert strange.code == 2 and "mug-77" in strange.out


def test_a_shorter_plan_with_other_steps_is_advice_and_no_finding(hvr_: Hvr) -> None:
    around = "(pick ball a)\n(move a c)\n(move c b)\n(drop ball b)\n"
    Path("around.plan").write_text(around, encoding="utf-8")
    result = hvr_("judge", "around.plan", *TASK, "--advise")
    assert result.code == 0 and "clean" in result.out
    assert "IMPROVE: 3 steps are enough, 1 fewer; instead of steps 2, 3:" in result.out
    shortest = json.loads(hvr_("judge", "good.plan", *TASK, "--advise", "--json").out)
    assert shortest["improvement"] is None
